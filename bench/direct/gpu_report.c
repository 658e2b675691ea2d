/* The report of `saddle bench direct --device cuda`: tables by part, and geometric means of the ratios. */
#include "bench/direct/gpu.h"

#include "bench/direct/direct.h"
#include "bench/means.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#define READS 2.0 /* of the factors, in a solve */

static const struct {
    const char *key, *what;
    bool large_is_good;
} ratios[GPU_RATIOS] = {
    [GPU_FACTOR] = {"factor_to_cudss", "factor / cuDSS' refactor, seconds", false},
    [GPU_FACTOR_MATCHING] = {"factor_to_cudss_matching", "factor / cuDSS' with matching, seconds", false},
    [GPU_SOLVE] = {"solve_to_cudss", "solve / cuDSS, 1 right-hand side, seconds", false},
    [GPU_SOLVE_64] = {"solve_64_to_cudss", "solve / cuDSS, 64 right-hand sides, seconds", false},
    [GPU_MEMORY] = {"memory_to_cudss", "memory of the GPU / cuDSS, bytes", false},
    [GPU_OF_DGEMM] = {"dgemm", "factor / dgemm of the GPU, flop/s", true},
    [GPU_OF_READING] = {"reading", "reading the factors twice / solve, seconds", true},
    [GPU_VERIFIED] = {"verified", "verified solve / plain one, seconds", false},
    [GPU_PIVOTING] = {"pivoting", "LDL' / LL', seconds", false},
    [GPU_BAND] = {"presolve_band", "solve, presolve band / off, seconds", false},
    [GPU_WHOLE] = {"presolve_whole", "solve, presolve whole / off, seconds", false},
    [GPU_AUTO] = {"auto", "device auto / the better of CPU and GPU, seconds", false},
    [GPU_ONCE] = {"once", "the same of a single use, the GPU opened for it", false},
};

void gpu_end_row(const gpu_report *t, gpu_row *row)
{
    const peer_result none = peer_nothing(), *const matching =
                                                 peer_answered(&row->matching) ? &row->matching : &none;
    row->ratios[GPU_FACTOR] = row->factor / row->cudss.refactor;
    row->ratios[GPU_FACTOR_MATCHING] = row->factor / matching->refactor;
    row->ratios[GPU_SOLVE] = row->solve / row->cudss.solve;
    row->ratios[GPU_SOLVE_64] = row->solve_64 / row->cudss.solve_64;
    row->ratios[GPU_MEMORY] = row->device_bytes / row->cudss.device_bytes;
    row->ratios[GPU_OF_DGEMM] = row->flops / row->factor / t->dgemm;
    row->ratios[GPU_OF_READING] = READS * row->factor_bytes / t->bandwidth / row->solve;
    row->ratios[GPU_VERIFIED] = row->verified / row->solve;
    row->ratios[GPU_PIVOTING] = row->factor_ldlt / row->factor_cholesky;
    row->ratios[GPU_BAND] = row->presolve[1].solve / row->presolve[0].solve;
    row->ratios[GPU_WHOLE] = row->presolve[2].solve / row->presolve[0].solve;
    row->ratios[GPU_AUTO] = row->on_auto / fmin(row->on_cpu, row->on_gpu);
    const double once_auto = row->once_auto + (row->once_auto_moved > 0 ? t->opening : 0.0);
    row->ratios[GPU_ONCE] = once_auto / fmin(row->once_cpu, row->once_gpu + t->opening);
}

static void print_name(const gpu_row *row)
{
    printf("%-16.16s", row->matrix.name);
}

/* Of part factor; milliseconds. */
void print_gpu_header(void)
{
    printf("%-16s%8s%8s%9s%9s%7s%8s%7s%8s%7s%8s%7s%7s\n", "", "", "", "", "factor", "of", "", "solve", "",
           "64 rhs", "", "", "MB");
    printf("%-16s%8s%8s%9s%9s%7s%8s%7s%8s%7s%8s%7s%7s\n", "matrix", "n", "Gflop", "analysis", "ms", "dgemm",
           "/ cuDSS", "ms", "/ cuDSS", "ms", "/ cuDSS", "MB", "/");
}

void print_gpu_row(const gpu_row *row)
{
    print_name(row);
    printf("%8" PRId64, row->matrix.n);
    PRINT_COLUMNS("8.2f 9.3f 9.3f 7.3f 8.2f 7.2f 8.2f 7.1f 8.2f 7.0f 7.2f", 1e-9 * row->flops, row->analysis,
                  1e3 * row->factor, row->ratios[GPU_OF_DGEMM], row->ratios[GPU_FACTOR], 1e3 * row->solve,
                  row->ratios[GPU_SOLVE], 1e3 * row->solve_64, row->ratios[GPU_SOLVE_64],
                  1e-6 * row->device_bytes, row->ratios[GPU_MEMORY]);
    putchar('\n');
    fflush(stdout);
}

static void print_errors(const gpu_report *t)
{
    printf("\n%-16s%27s%34s%18s\n", "", "backward error", "cuDSS, defaults", "with matching");
    printf("%-16s%9s%9s%9s%9s%8s%6s%9s%9s%9s%9s\n", "matrix", "1 rhs", "random", "verified", "negative",
           "delays", "waits", "ms", "error", "ms", "error");
    for (int64_t k = 0; k < t->count; ++k) {
        const gpu_row *row = &t->rows[k];
        print_name(row);
        PRINT_COLUMNS("9.0e 9.0e 9.0e 9.0f 8.0f 6.0f 9.2f 9.0e 9.2f 9.0e", row->backward_error,
                      row->backward_error_random, row->backward_error_verified, row->negative, row->delayed,
                      row->waits, 1e3 * row->cudss.refactor, row->cudss.backward_error,
                      1e3 * row->matching.refactor, row->matching.backward_error);
        putchar('\n');
        if (row->negative != row->cudss.negative && row->cudss.ran)
            printf("%-16s  cuDSS counts %.0f negative eigenvalues, with matching %.0f\n", "",
                   row->cudss.negative, row->matching.negative);
    }
}

static void print_verified(const gpu_report *t)
{
    printf("\n%-16s%19s%11s%15s%10s%9s\n", "matrix", "verified solve, ms", "backward", "componentwise",
           "negative", "certain");
    for (int64_t k = 0; k < t->count; ++k) {
        const gpu_row *row = &t->rows[k];
        print_name(row);
        PRINT_COLUMNS("19.3f 11.0e 15.0e 10.0f 9.0f", 1e3 * row->verified, row->backward_error_verified,
                      row->componentwise_error_verified, row->certain_negative, row->certain);
        putchar('\n');
    }
}

/* Shares of all that was measured on the GPU, and those of the tiles. */
static void print_profile(const gpu_report *t)
{
    printf("\n%-16s%27s%9s   %s\n", "", "% of the time on the GPU", "",
           "% of tiles with so many eighths accepted");
    printf("%-16s%7s%7s%7s%7s%8s", "matrix", "f", "a", "c", "o", "ms");
    for (int k = 0; k < GPU_TILES; ++k) printf("%6d", k);
    putchar('\n');
    for (int64_t r = 0; r < t->count; ++r) {
        const gpu_row *row = &t->rows[r];
        const double whole =
            row->profile_factor + row->profile_assembly + row->profile_contribution + row->profile_other;
        double tiles = 0.0;
        for (int k = 0; k < GPU_TILES; ++k) tiles += row->tiles[k];
        print_name(row);
        PRINT_COLUMNS("7.1f 7.1f 7.1f 7.1f 8.2f", 1e2 * row->profile_factor / whole,
                      1e2 * row->profile_assembly / whole, 1e2 * row->profile_contribution / whole,
                      1e2 * row->profile_other / whole, 1e3 * whole);
        for (int k = 0; k < GPU_TILES; ++k) print_column("%.1f", 6, 1e2 * row->tiles[k] / tiles);
        putchar('\n');
    }
}

static void print_pivoting(const gpu_report *t)
{
    printf("\n%-16s%12s%12s%9s\n", "matrix", "LDL', ms", "LL', ms", "% cost");
    for (int64_t k = 0; k < t->count; ++k) {
        const gpu_row *row = &t->rows[k];
        print_name(row);
        PRINT_COLUMNS("12.3f 12.3f 9.1f", 1e3 * row->factor_ldlt, 1e3 * row->factor_cholesky,
                      1e2 * (row->ratios[GPU_PIVOTING] - 1.0));
        putchar('\n');
    }
}

/* After how many solves the extra time of the factorization has paid; not finite where it never has. */
static double break_even(const gpu_row *row, int which)
{
    const double extra = row->presolve[which].factor - row->presolve[0].factor;
    const double saved = row->presolve[0].solve - row->presolve[which].solve;
    return saved > 0.0 ? fmax(extra / saved, 0.0) : NAN;
}

static void print_presolve(const gpu_report *t)
{
    if (!t->presolve) puts("\nthis version has no option presolve: its figures are left out");
    if (!t->presolve) return;
    printf("\n%-16s%20s%30s%30s\n", "presolve:", "off", "band", "whole");
    printf("%-16s%10s%10s%10s%10s%10s%10s%10s%10s\n", "matrix", "factor ms", "solve", "factor", "solve",
           "pays at", "factor", "solve", "pays at");
    for (int64_t k = 0; k < t->count; ++k) {
        const gpu_row *row = &t->rows[k];
        print_name(row);
        PRINT_COLUMNS("10.3f 10.3f 10.3f 10.3f 10.0f 10.3f 10.3f 10.0f", 1e3 * row->presolve[0].factor,
                      1e3 * row->presolve[0].solve, 1e3 * row->presolve[1].factor,
                      1e3 * row->presolve[1].solve, break_even(row, 1), 1e3 * row->presolve[2].factor,
                      1e3 * row->presolve[2].solve, break_even(row, 2));
        putchar('\n');
    }
}

static void print_auto(const gpu_report *t)
{
    printf("\nfactor + verified solve, ms (up to 1 Gflop); all of a single use (the GPU was open: %.0f ms)\n"
           "%-16s%8s%10s%10s%10s%9s%7s%10s%10s%10s\n",
           1e3 * t->opening, "matrix", "Gflop", "cpu", "cuda", "auto", "/ better", "moves", "once: cpu",
           "cuda", "auto");
    for (int64_t k = 0; k < t->count; ++k) {
        const gpu_row *row = &t->rows[k];
        print_name(row);
        PRINT_COLUMNS("8.3f 10.3f 10.3f 10.3f 9.2f 7.0f 10.3f 10.3f 10.3f", 1e-9 * row->flops,
                      1e3 * row->on_cpu, 1e3 * row->on_gpu, 1e3 * row->on_auto, row->ratios[GPU_AUTO],
                      row->moved_at, 1e3 * row->once_cpu, 1e3 * row->once_gpu, 1e3 * row->once_auto);
        putchar('\n');
    }
}

static ratio_mean summarise(const gpu_report *t, int which, const char *group)
{
    ratio_mean m = {0};
    for (int64_t k = 0; k < t->count; ++k)
        if (strcmp(t->rows[k].matrix.group, group) == 0)
            mean_add(&m, t->rows[k].ratios[which], ratios[which].large_is_good, t->rows[k].matrix.name);
    return m;
}

static bool first_of_group(const gpu_report *t, int64_t k)
{
    for (int64_t i = 0; i < k; ++i)
        if (strcmp(t->rows[i].matrix.group, t->rows[k].matrix.group) == 0) return false;
    return true;
}

static void print_run(const gpu_report *t)
{
    const char *version = "";
    for (int64_t k = 0; k < t->count && !*version; ++k) version = t->rows[k].cudss.version;
    printf("\nSaddle %s (commit %s)%s%s\n", saddle_version(), saddle_commit(), *version ? ", " : "", version);
    printf("best of %" PRId64 " turns; arrays %s", argument_count(t->a, "repeat"),
           t->there ? "on the GPU" : "on the host");
    if (t->card[0])
        printf("; %s: dgemm %.1f Tflop/s, reads %.2f TB/s", t->card, 1e-12 * t->dgemm, 1e-12 * t->bandwidth);
    putchar('\n');
    if (t->small > 0)
        printf("left out: %" PRId64 " matrices below %g Gflop\n", t->small, argument_real(t->a, "least"));
    if (t->general > 0) printf("left out: %" PRId64 " matrices that are not symmetric\n", t->general);
}

void print_gpu_rest(const gpu_report *t)
{
    static const struct {
        int part;
        void (*print)(const gpu_report *t);
    } tables[] = {{PART_FACTOR, print_errors},     {PART_VERIFIED, print_verified},
                  {PART_PIVOTING, print_pivoting}, {PART_PROFILE, print_profile},
                  {PART_PRESOLVE, print_presolve}, {PART_AUTO, print_auto}};
    for (size_t k = 0; k < sizeof tables / sizeof tables[0] && t->count > 0; ++k)
        if (gpu_has_part(t, tables[k].part)) tables[k].print(t);
    print_run(t);
    for (int64_t k = 0; k < t->count; ++k) {
        if (!first_of_group(t, k)) continue;
        printf("\n%-50s%9s%9s%9s\n", t->rows[k].matrix.group, "matrices", "mean", "worst");
        for (int which = 0; which < GPU_RATIOS; ++which) {
            const ratio_mean m = summarise(t, which, t->rows[k].matrix.group);
            if (m.count == 0) continue;
            printf("%-50s%9d", ratios[which].what, m.count);
            PRINT_COLUMNS("9.3f 9.3f", mean_of(&m), m.worst);
            printf("  %s\n", m.name);
        }
    }
}

/* ---- JSON ---- */

static void json_row(json *j, const gpu_report *t, const gpu_row *row)
{
    json_object(j, NULL);
    bench_json_matrix(j, &row->matrix);
    json_object(j, "saddle");
    json_text(j, "error", row->error[0] ? row->error : NULL);
#define ROW(name) json_number(j, #name, row->name);
    GPU_NUMBERS(ROW)
#undef ROW
    json_numbers(j, "tiles", row->tiles, GPU_TILES);
    json_object(j, "presolve");
    for (int k = 0; k < GPU_PRESOLVES; ++k)
        JSON_OBJECT(j, gpu_presolves[k], t->presolve, J_NUMBER("factor", row->presolve[k].factor),
                    J_NUMBER("solve", row->presolve[k].solve),
                    J_NUMBER("pays_at", k > 0 ? break_even(row, k) : NAN));
    json_close(j);
    json_close(j);
    json_peer(j, peer_kinds[PEER_CUDSS].name, &row->cudss);
    json_peer(j, peer_kinds[PEER_CUDSS_MATCHING].name, &row->matching);
    json_object(j, "ratios");
    for (int k = 0; k < GPU_RATIOS; ++k) json_number(j, ratios[k].key, row->ratios[k]);
    json_close(j);
    json_close(j);
}

static void json_summary(json *j, const gpu_report *t, const char *group)
{
    json_object(j, group);
    for (int which = 0; which < GPU_RATIOS; ++which) {
        const ratio_mean m = summarise(t, which, group);
        JSON_OBJECT(j, ratios[which].key, true, J_COUNT("count", m.count), J_NUMBER("mean", mean_of(&m)),
                    J_NUMBER("worst", mean_worst(&m)), J_TEXT("worst_matrix", m.name));
    }
    json_close(j);
}

void json_gpu(json *j, const void *report)
{
    const gpu_report *t = report;
    bench_json_head(j, "direct");
    JSON_PUT(j, true, J_TEXT("device", "cuda"), J_TEXT("card", t->card[0] ? t->card : NULL),
             J_NUMBER("dgemm_gigaflops", 1e-9 * t->dgemm), J_NUMBER("gigabytes", 1e-9 * t->bandwidth),
             J_NUMBER("opening", t->opening), J_TRUTH("arrays_on_device", t->there),
             J_COUNT("repeat", argument_count(t->a, "repeat")), J_COUNT("left_out_small", t->small),
             J_COUNT("left_out_general", t->general));
    json_array(j, "rows");
    for (int64_t k = 0; k < t->count; ++k) json_row(j, t, &t->rows[k]);
    json_close(j);
    json_object(j, "summary");
    for (int64_t k = 0; k < t->count; ++k)
        if (first_of_group(t, k)) json_summary(j, t, t->rows[k].matrix.group);
    json_close(j);
}
