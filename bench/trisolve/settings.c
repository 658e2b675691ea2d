/*
 * `saddle bench trisolve --part settings`: matrices by settings, those of --settings or the usual ones:
 * iterations, the time of an application and to solution, the accuracy beside them.
 */
#include "bench/trisolve/settings.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#define BLOCKS "trisolve=block-jacobi blocking=adjacent block_size=12"

/* Both kinds of matrices take them: method and iteration follow from the matrix. */
static const char *const usual[] = {
    "level=0 trisolve=exact",
    "level=0 trisolve=jacobi trisolve_sweeps=3",
    "level=0 " BLOCKS " trisolve_sweeps=3",
    "level=0 trisolve=auto",
    "level=1 trisolve=exact",
    "level=1 trisolve=jacobi trisolve_sweeps=3",
    "level=1 " BLOCKS " trisolve_sweeps=3",
    "level=1 trisolve=auto",
    "fill=tau:0.01 trisolve=exact",
    "fill=tau:0.01 trisolve=auto",
    "level=0 setup=sweeps trisolve=auto",
};
enum { USUAL = sizeof usual / sizeof usual[0], SETTINGS_MOST = 24 };

typedef struct settings_row {
    bench_matrix matrix;
    bool late; /* the time limit was over before all was measured */
    int count;
    char texts[SETTINGS_MOST][TEXT];
    trisolve_result results[SETTINGS_MOST];
} settings_row;

/* Setting k of the list, or the usual one; false beyond the last. */
static bool setting_at(const arguments *a, int k, char *text)
{
    const char *at = argument_text(a, "settings");
    if (!at) {
        snprintf(text, TEXT, "%s", k < USUAL ? usual[k] : "");
        return k < USUAL;
    }
    for (; k > 0 && at; --k) {
        at = strchr(at, ';');
        if (at) ++at;
    }
    if (!at) return false;
    at += strspn(at, " ");
    size_t length = strcspn(at, ";");
    while (length > 0 && at[length - 1] == ' ') --length;
    snprintf(text, TEXT, "%.*s", (int)length, at);
    return length > 0;
}

int settings_check(const arguments *a)
{
    char text[TEXT], message[SADDLE_MESSAGE_SIZE];
    saddle_options o = saddle_options_default();
    int k = 0;
    for (; setting_at(a, k, text); ++k)
        if (bench_try_set(&o, text, message) != SADDLE_OK) return usage_error(a, "--settings: %s", message);
    if (k > SETTINGS_MOST) return usage_error(a, "--settings: at most %d of them", SETTINGS_MOST);
    return k == 0 ? usage_error(a, "--settings: there is none") : EXIT_DONE;
}

static void measure(trisolve_bench *t, void *to)
{
    settings_row *row = to;
    while (row->count < SETTINGS_MOST && setting_at(t->a, row->count, row->texts[row->count]) &&
           trisolve_left(t) > 0.0) {
        const char *text = row->texts[row->count];
        trisolve_result *r = &row->results[row->count++];
        *r = trisolve_repeat(t, text, INFINITY);
        trisolve_measure_application(t, text, r);
    }
    row->late = trisolve_left(t) <= 0.0;
}

static void print_row(const trisolve_bench *t, const void *at, bool first)
{
    const settings_row *row = at;
    (void)t;
    if (first)
        printf("%-46s%6s%7s%8s%7s%9s%9s%9s%9s\n", "setting", "its", "sweeps", "tri.res", "fill", "setup s",
               "apply ms", "solve s", "residual");
    printf("%s: n = %lld, nnz = %lld\n", row->matrix.name, (long long)row->matrix.n,
           (long long)row->matrix.nnz);
    for (int k = 0; k < row->count; ++k) {
        const trisolve_result *r = &row->results[k];
        const saddle_info *i = &r->info;
        printf(strlen(row->texts[k]) > 44 ? "  %s\n%46s" : "  %-44s%s", row->texts[k], "");
        PRINT_COLUMNS("6.0f 7.0f 8.0e 7.2f 9.4f 9.4f 9.4f 9.1e", trisolve_iterations(r), trisolve_sweeps(r),
                      isnan(trisolve_sweeps(r)) ? NAN : i->trisolve_residual,
                      i->factor_nnz < 0 ? NAN : (double)i->factor_nnz / (double)row->matrix.nnz, r->setup,
                      1e3 * r->application, r->solve, i->relative_residual);
        printf("%s%s%s\n", r->solved ? "" : "  ", r->why,
               i->fallback              ? "  exact after all"
               : trisolve_is_shifted(r) ? "  shifted"
                                        : "");
    }
    if (row->late) printf("  the time limit was over before all was measured\n");
}

static void print(const trisolve_bench *t, const trisolve_rows *rows)
{
    (void)t;
    (void)rows;
    printf(
        "\nits: iterations; sweeps: over each triangle, the first of which gives D^-1 c; tri.res: relative\n"
        "residual of a triangular solve after them; fill: entries of the factors / nnz(A); apply: time of\n"
        "an iteration less that of one without a preconditioner; residual: |b - Ax| / |b|\n");
}

static void write_rows(json *j, const trisolve_bench *t, const trisolve_rows *rows)
{
    const settings_row *at = rows->at;
    (void)t;
    json_array(j, "settings");
    for (const settings_row *row = at; row < at + rows->count; ++row) {
        json_object(j, NULL);
        bench_json_matrix(j, &row->matrix);
        json_truth(j, "late", row->late);
        json_object(j, "settings");
        for (int k = 0; k < row->count; ++k) trisolve_json_result(j, row->texts[k], &row->results[k]);
        json_close(j);
        json_close(j);
    }
    json_close(j);
}

const trisolve_kind kind_settings = {
    .first = PART_SETTINGS,
    .last = PART_SETTINGS,
    .takes = TAKES_ALL,
    .size = sizeof(settings_row),
    .measure = measure,
    .print_row = print_row,
    .print = print,
    .write = write_rows,
};
