/* What came of a solve, for people and for programs; see solve.h. */
#include "cli/progress.h"
#include "cli/solve.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

const char *run_reason(const solve_run *r)
{
    if (r->run.status == SADDLE_CANCELLED) return saddle_reason_text(SADDLE_REASON_CANCELLED);
    if (r->solved && r->info.reason != SADDLE_REASON_NONE) return saddle_reason_text(r->info.reason);
    return saddle_status_text(r->run.status);
}

void run_method(const solve_run *r, char *text, size_t text_size)
{
    char method[24], krylov[24];
    snprintf(text, text_size, "%s + %s", saddle_option_word("method", r->info.method, method, sizeof method),
             saddle_option_word("krylov", r->info.krylov, krylov, sizeof krylov));
}

int64_t run_history(const solve_run *r)
{
    const saddle_info *i = &r->info;
    if (!r->solved || !r->history) return 0;
    return i->history_length < i->history_room ? i->history_length : i->history_room;
}

const char *kind_word(saddle_kind kind)
{
    return kind == SADDLE_KIND_SPD ? "spd" : kind == SADDLE_KIND_INDEFINITE ? "indefinite" : "unknown";
}

/* What to try where the direct solver did not suffice: its factors are of another matrix, or A is singular
 * for all that they can tell. */
static const char *direct_advice(const saddle_info *info, int precision)
{
    if (info->krylov == SADDLE_KRYLOV_NONE) return "--krylov none does not refine: try --krylov auto";
    if (precision == SADDLE_PRECISION_SINGLE) return "try --precision mixed or double, or a larger --tol";
    if (info->factorization == SADDLE_FACTORIZATION_STATIC)
        return "try --factorization ldlt, or a smaller --regularise";
    if (info->inertia_zero > 0) return "the matrix is singular: check it and the right-hand side";
    return "raise --tol; --condition estimates how close to singular the matrix is";
}

/* What to try after this. */
static const char *advice(const saddle_info *info, int precision)
{
    switch (info->reason) {
    case SADDLE_REASON_INCONSISTENT:
        return "to the rounding of the matrix' entries no x satisfies the system: check the matrix and the "
               "right-hand side";
    case SADDLE_REASON_MEMORY: return "raise --max-memory, or lower --restart";
    default: break;
    }
    if (info->method == SADDLE_METHOD_DIRECT) return direct_advice(info, precision);
    switch (info->reason) {
    case SADDLE_REASON_NO_ITERATION: return "--krylov none does not iterate: choose another, or auto";
    case SADDLE_REASON_MAXITER:
        if (precision == SADDLE_PRECISION_SINGLE)
            return "try --precision mixed or double, raise --maxiter, or try another --krylov";
        return info->method == SADDLE_METHOD_NONE
                   ? "raise --maxiter, or try --method diagonal or another --krylov"
                   : "raise --maxiter, or try another --krylov or --method";
    case SADDLE_REASON_PRECISION: return "try --precision mixed or double, or a larger --tol";
    case SADDLE_REASON_STAGNATION:
        return "the residual no longer decreases: raise --tol or --restart, or try another --krylov";
    case SADDLE_REASON_DIVERGENCE:
    case SADDLE_REASON_OVERFLOW: return "try --krylov minres (symmetric) or gmres, or another --method";
    case SADDLE_REASON_BREAKDOWN_RHO:
    case SADDLE_REASON_BREAKDOWN_SIGMA:
    case SADDLE_REASON_BREAKDOWN_OMEGA:
        return "the recurrence broke down: try --krylov minres (symmetric) or gmres";
    case SADDLE_REASON_NOT_POSITIVE: return "CG requires a positive definite matrix: try --krylov minres";
    case SADDLE_REASON_PRECONDITIONER:
        return "MINRES and CG require a positive definite preconditioner: try --krylov gmres";
    case SADDLE_REASON_UNSYMMETRIC_PRECONDITIONER:
        return "this iteration requires a symmetric preconditioner: try --block-kernel ldlt (bjacobi), "
               "--trisolve-sweeps N (ldlt, ic), or --krylov fcg (positive definite) or fgmres";
    case SADDLE_REASON_NOT_SYMMETRIC: return "this iteration requires a symmetric matrix: try --krylov gmres";
    default: return "try another --krylov or --method";
    }
}

static void print_error(const char *head, const char *name, double value, const char *meaning)
{
    char text[24];
    snprintf(text, sizeof text, isfinite(value) ? "%.1e" : "unknown", value);
    printf("%-12s%-18s%-9s%s\n", head, name, text, meaning);
}

static void print_matrix(const solve_run *r)
{
    static const char *const kinds[] = {"definiteness unknown", "positive definite", "indefinite"};
    const saddle_info *i = &r->info;
    printf("%-12s%s: n %" PRId64 ", nnz %" PRId64 ", %s%s%s\n", "matrix", r->run.name, i->n, i->nnz,
           i->symmetric ? "symmetric" : "general", i->symmetric ? ", " : "",
           i->symmetric ? kinds[i->kind] : "");
}

static void print_tried(const saddle_info *i)
{
    char method[24], krylov[24];
    for (int k = 0; k < i->tried && k < SADDLE_TRIED_MAX; ++k) {
        printf("%-12s%s + %s, gave up: %s\n", k ? "" : "tried",
               saddle_option_word("method", i->tried_list[k].method, method, sizeof method),
               saddle_option_word("krylov", i->tried_list[k].krylov, krylov, sizeof krylov),
               saddle_reason_text(i->tried_list[k].why_left));
    }
}

/* What was planned before any number was computed, and what it came to. */
static void print_direct(const solve_run *r)
{
    const saddle_info *i = &r->info;
    char word[24];
    const bool columns = i->simplicial == 1;
    printf("%-12s%" PRId64 " %s, %.2e entries, %.2e operations", "plan", columns ? i->n : i->fronts,
           columns ? "columns" : "fronts", (double)i->planned_nnz, i->planned_flops);
    printf(", about %.*f MB\n", i->planned_bytes < 10000000, 1e-6 * (double)i->planned_bytes);
    if (i->critical_flops > 0)
        printf("%-12s%.2e operations follow each other: threads gain at most %.1f times\n", "critical",
               i->critical_flops, i->planned_flops / i->critical_flops);
    printf("%-12s%s, %.2e entries, %.2e operations", "factor",
           saddle_option_word("factorization", i->factorization, word, sizeof word), (double)i->factor_nnz,
           (double)i->factor_flops);
    if (i->factorization == SADDLE_FACTORIZATION_LDLT)
        printf(", %" PRId64 " 2x2 pivots, %" PRId64 " delayed", i->two_by_two, i->delayed);
    putchar('\n');
    if (i->factorization == SADDLE_FACTORIZATION_STATIC) {
        printf("%-12s%" PRId64 " positive and %" PRId64 " negative, %" PRId64 " of them regularised\n",
               "pivots", i->regularised_positive, i->regularised_negative, i->perturbed);
    }
    if (isfinite(i->largest_l))
        printf("%-12slargest entry of L %.3g, 1/threshold %.3g\n", "check", i->largest_l,
               1 / r->run.a->library.threshold);
    if (i->stale > 0) {
        printf("%-12s%" PRId64 " matched entries are small after scaling: try --scaling mc64\n", "matching",
               i->stale);
    }
}

static void print_blocks(const saddle_info *i)
{
    char word[24];
    printf("%-12s%" PRId64 " of at most %" PRId64 " rows, kernel %s, %.2e entries", "blocks", i->blocks,
           i->block_size, saddle_option_word("block_kernel", i->block_kernel, word, sizeof word),
           (double)i->factor_nnz);
    if (i->single_blocks > 0) printf(", %" PRId64 " in single precision", i->single_blocks);
    putchar('\n');
    if (i->replaced_blocks > 0)
        printf("%-12s%" PRId64
               " blocks could not be factored and were replaced by multiples of the identity\n",
               "", i->replaced_blocks);
}

static void print_ldlt(const saddle_info *i)
{
    printf("%-12s%" PRId64 " of at most %" PRId64 " rows in %" PRId64
           " levels, %.2e entries, %.1f times those of A",
           "blocks", i->blocks, i->block_size, i->levels, (double)i->factor_nnz,
           (double)i->factor_nnz / (double)(i->nnz > 0 ? i->nnz : 1));
    if (!isnan(i->fill_tau)) printf(", tau %.0e", i->fill_tau);
    if (i->single_blocks > 0) printf(", in single precision");
    putchar('\n');
    printf("%-12s%" PRId64 " 2x2, %" PRId64 " perturbed, %" PRId64 " blocks pushed back\n", "pivots",
           i->two_by_two, i->perturbed, i->pushed_back);
    if (i->fallback)
        printf("%-12sdiverged: factored on the exact level schedule instead\n", "sweeps");
    else if (i->sweeps > 0)
        printf("%-12s%" PRId64 ", residual %.1e on the pattern%s\n", "sweeps", i->sweeps, i->pattern_residual,
               i->sweeps_exact ? " (enough sweeps to be exact)" : "");
    if (!isnan(i->reconstruction_error))
        printf("%-12s|LDL' - A| / |A| is %.1e, residual %.1e on the pattern\n", "check",
               i->reconstruction_error, i->pattern_residual);
}

static void print_incomplete(const saddle_info *i)
{
    char word[24];
    saddle_option_word("trisolve", i->trisolve, word, sizeof word);
    printf("%-12s%" PRId64 " entries, %.1f times those of A, %" PRId64 " levels", "factor", i->factor_nnz,
           (double)i->factor_nnz / (double)(i->nnz > 0 ? i->nnz : 1), i->levels);
    if (!isnan(i->fill_tau)) printf(", tau %.0e", i->fill_tau);
    if (i->shift > 0) printf(", diagonal shifted by %.2g", i->shift);
    putchar('\n');
    if (i->sweeps > 0)
        printf("%-12s%" PRId64 ", residual %.1e on the pattern\n", "sweeps", i->sweeps, i->pattern_residual);
    printf("%-12s%s", "triangles", word);
    if (i->trisolve_sweeps > 0) printf(", %" PRId64 " sweeps", i->trisolve_sweeps);
    if (i->trisolve_sweeps == 0) printf(", as many sweeps as needed");
    if (i->trisolve_sweeps >= 0) printf(", residual %.1e", i->trisolve_residual);
    if (i->blocks > 0) printf(", %" PRId64 " blocks of at most %" PRId64 " rows", i->blocks, i->block_size);
    if (i->fallback) printf(" (sweeps left a residual of %.1e)", i->trisolve_residual);
    putchar('\n');
}

/* A count that is not certain, and why. */
static void print_doubt(const saddle_info *i)
{
    char doubt[64];
    saddle_info_get(i, "inertia_doubt", doubt, sizeof doubt);
    printf("%-12sin doubt: %" PRId64 " to %" PRId64 " negative: %s\n", "", i->negative_least,
           i->negative_most, doubt);
}

static void print_factor(const solve_run *r)
{
    const saddle_info *i = &r->info;
    if (i->fronts >= 0) {
        print_direct(r);
    } else if (i->restarts >= 0) { /* of ic and ilu alone */
        print_incomplete(i);
    } else if (i->blocks >= 0 && i->levels >= 0) {
        print_ldlt(i);
    } else if (i->blocks >= 0) {
        print_blocks(i);
    } else if (i->factor_nnz > 0) {
        printf("%-12s%" PRId64 " entries, %.2g operations, %" PRId64 " pivots perturbed\n", "factor",
               i->factor_nnz, (double)i->factor_flops, i->perturbed);
    }
    if (i->inertia_positive >= 0) {
        printf("%-12s%" PRId64 " positive, %" PRId64 " negative, %" PRId64 " zero eigenvalues\n", "inertia",
               i->inertia_positive, i->inertia_negative, i->inertia_zero);
        if (!i->inertia_certain) print_doubt(i);
    }
    if (i->rank >= 0 && i->rank < i->n)
        printf("%-12s%" PRId64 " of %" PRId64 ": the matrix is singular\n", "rank", i->rank, i->n);
    if (!argument_given(r->run.a, "condition")) return;
    if (isnan(r->condition))
        printf("%-12sunknown: there are no factors to estimate it from\n", "condition");
    else if (isinf(r->condition))
        printf("%-12sinfinite: the matrix is singular\n", "condition");
    else
        printf("%-12sabout %.1e, 1-norm\n", "condition", r->condition);
}

/* The first solve is none of the direct solver's steps. */
static void print_iterations(const saddle_info *i)
{
    const bool refines = !isnan(i->first_error) && i->krylov == SADDLE_KRYLOV_REFINE;
    const int64_t steps = refines && i->iterations > 0 ? i->iterations - 1 : i->iterations;
    if (refines)
        printf("%-12s%" PRId64 " step%s\n", "refinement", steps, steps == 1 ? "" : "s");
    else
        printf("%-12s%" PRId64 "\n", "iterations", steps);
}

static void print_residual(const char *head, const solve_run *r, int64_t k)
{
    printf("%-12sresidual %-9" PRId64 "%.1e\n", head, k + 1, r->history[k]);
}

/* With -v: every option as it was used, and about ten points of the way down. */
static void print_details(const solve_run *r)
{
    const saddle_option *o;
    char value[40];
    for (int k = 0; (o = saddle_option_at(k)); ++k) {
        if (!argument_taken(r->run.a, o)) continue;
        saddle_options_get(&r->run.a->library, o->name, value, sizeof value);
        printf("%-12s%-18s%s\n", k ? "" : "options", o->name, value);
    }
    const int64_t length = run_history(r), step = length > 10 ? length / 10 : 1;
    for (int64_t k = 0; k < length - 1; k += step) print_residual(k ? "" : "history", r, k);
    if (length > 0) print_residual(length > 1 ? "" : "history", r, length - 1);
}

static void print_last_line(const solve_run *r)
{
    const bool colour = colour_wanted(stdout), solved = r->run.status == SADDLE_OK;
    if (colour) fputs(solved ? "\033[1;32m" : "\033[1;31m", stdout);
    if (solved && r->info.reason == SADDLE_REASON_ZERO_RHS)
        printf("solved: b = 0, so x = 0");
    else if (solved)
        printf("solved: %s at most %g", run_reason(r), r->run.a->library.tol);
    else if (r->run.status == SADDLE_CANCELLED)
        printf("NOT solved: %s", r->run.message);
    else
        printf("NOT solved: %s; %s", run_reason(r), advice(&r->info, r->run.a->library.precision));
    puts(colour ? "\033[0m" : "");
}

void print_report(const solve_run *r)
{
    const saddle_info *i = &r->info;
    char method[64], device[24], precision[24];
    run_method(r, method, sizeof method);
    print_matrix(r);
    print_tried(i);
    printf("%-12s%s on %s, %s precision, %" PRId64 " thread%s\n", "method", method,
           saddle_option_word("device", i->device, device, sizeof device),
           saddle_option_word("precision", i->precision, precision, sizeof precision), i->threads,
           i->threads == 1 ? "" : "s");
    print_factor(r);
    print_iterations(i);
    if (argument_given(r->run.a, "verbose")) print_details(r);
    print_error("errors", "relative residual", i->relative_residual, "|b - Ax| / |b|, 2-norm");
    print_error("", "backward", i->backward_error, "|b - Ax| / (|A| |x| + |b|), infinity norm");
    print_error("", "componentwise", i->componentwise_error, "the same ratio, maximum over rows");
    if (isfinite(i->first_error)) {
        print_error("", "unrefined", i->first_error, "backward error before refinement");
    }
    if (r->solution_known) {
        print_error("", "forward", r->forward_error, "|x - x*| / |x*|, infinity norm; the exact x* is ones");
    }
    printf("%-12sread %.3f, prepare %.3f, plan %.3f, factor %.3f, solve %.3f, total %.3f s\n", "time",
           r->run.time_read, i->time_prepare, i->time_plan, i->time_factor, i->time_solve, r->run.time_total);
    printf("%-12s%.1f MB peak\n", "memory", 1e-6 * (double)r->run.memory.peak);
    if (r->x_written) {
        printf("%-12s%swritten to %s\n", "x",
               r->run.status == SADDLE_OK ? "" : "the best found, not a solution; ",
               argument_text(r->run.a, "out"));
    }
    print_last_line(r);
}

static void json_choices(json *j, const solve_run *r)
{
    const saddle_options *asked = &r->run.a->library;
    const saddle_info *found = &r->info;
    json_choice(j, "method", r->analysed ? found->method : asked->method);
    json_choice(j, "krylov", r->analysed ? found->krylov : asked->krylov);
    json_choice(j, "device", r->analysed ? found->device : asked->device);
    json_choice(j, "precision", r->analysed ? found->precision : asked->precision);
    json_count(j, "threads", r->analysed ? found->threads : asked->threads ? asked->threads : -1);
}

static void json_outcome(json *j, const solve_run *r)
{
    json_truth(j, "converged", r->solved && r->info.converged);
    json_text(j, "reason", run_reason(r));
    json_info(j, r->solved, &r->info, "iterations backward_error componentwise_error relative_residual");
    json_number(j, "forward_error", r->forward_error);
    json_info(j, r->solved, &r->info, "first_error");
    json_number(j, "condition", r->condition);
    json_info(j, r->analysed, &r->info, "rank");
    json_object(j, "inertia");
    json_info(j, r->analysed, &r->info,
              "positive=inertia_positive negative=inertia_negative zero=inertia_zero");
    char doubt[64];
    const bool counted = r->analysed && r->info.inertia_positive >= 0;
    saddle_info_get(&r->info, "inertia_doubt", doubt, sizeof doubt);
    json_info(j, counted, &r->info, "certain=inertia_certain negative_least negative_most");
    json_text(j, "doubt", counted && !r->info.inertia_certain ? doubt : NULL);
    json_info(j, counted, &r->info, "risk=inertia_risk");
    json_close(j);
}

static void json_costs(json *j, const solve_run *r)
{
    json_object(j, "time");
    json_number(j, "read", r->run.time_read);
    json_info(j, r->analysed, &r->info, "prepare=time_prepare plan=time_plan factor=time_factor");
    json_info(j, r->solved, &r->info, "solve=time_solve");
    json_number(j, "total", r->run.time_total);
    json_close(j);
    json_object(j, "bytes");
    json_info(j, r->analysed, &r->info, "factor=factor_bytes");
    json_count(j, "peak", r->run.memory.peak);
    json_info(j, r->analysed, &r->info, "device=device_bytes offloaded=offloaded_bytes");
    json_close(j);
}

/* The parts of a factorization on a GPU, in seconds, and its tiles of pivots by eighths that were accepted.
 */
static void json_profile(json *j, const solve_run *r)
{
    json_object(j, "profile");
    json_info(j, r->analysed, &r->info,
              "assembly=profile_assembly factor=profile_factor contribution=profile_contribution "
              "presolve=profile_presolve other=profile_other");
    json_info(j, r->analysed, &r->info,
              "tiles_0 tiles_1 tiles_2 tiles_3 tiles_4 tiles_5 tiles_6 tiles_7 tiles_8");
    json_close(j);
}

static void json_factor(json *j, const solve_run *r)
{
    const saddle_info *i = &r->info;
    json_object(j, "factor");
    json_info(j, r->analysed, i,
              "nnz=factor_nnz flops=factor_flops blocks block_size levels fronts largest_front two_by_two "
              "perturbed delayed pushed_back sweeps");
    json_info(j, r->analysed && i->sweeps >= 0, i, "sweeps_exact");
    json_info(j, r->analysed, i,
              "fallback factorization planned_nnz planned_flops critical_flops planned_bytes largest_l stale "
              "block_kernel "
              "replaced_blocks single_blocks fill_tau generations pattern_residual reconstruction_error "
              "trisolve trisolve_sweeps trisolve_residual shift restarts dominance block_dominance "
              "replanned replans rescalings simplicial sequences waits");
    json_profile(j, r);
    json_close(j);
}

static void json_tried(json *j, const saddle_info *i)
{
    char method[24], krylov[24];
    for (int k = 0; k < i->tried && k < SADDLE_TRIED_MAX; ++k) {
        saddle_option_word("method", i->tried_list[k].method, method, sizeof method);
        saddle_option_word("krylov", i->tried_list[k].krylov, krylov, sizeof krylov);
        JSON_OBJECT(j, NULL, true, J_TEXT("method", method), J_TEXT("krylov", krylov),
                    J_TEXT("why_left", saddle_reason_text(i->tried_list[k].why_left)));
    }
}

void json_run(json *j, const void *what)
{
    const solve_run *r = what;
    JSON_OBJECT(j, "matrix", true, J_TEXT("name", r->run.name), J_COUNT("n", r->run.n),
                J_COUNT("nnz", r->analysed ? r->info.nnz : -1),
                J_TEXT("symmetry", run_symmetry(&r->run, r->analysed ? r->info.symmetric : -1)),
                J_TEXT("kind", r->analysed ? kind_word(r->info.kind) : NULL));
    json_choices(j, r);
    json_outcome(j, r);
    json_costs(j, r);
    json_factor(j, r);
    json_array(j, "tried");
    if (r->solved) json_tried(j, &r->info);
    json_close(j);
    json_numbers(j, "history", r->history, run_history(r));
    json_ending(j, r->run.exit, r->run.message);
}
