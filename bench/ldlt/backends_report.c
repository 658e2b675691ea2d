/* The table and the JSON of `saddle bench ldlt --part backends`. */
#include "bench/ldlt/backends.h"

#include <inttypes.h>
#include <math.h>

void print_backends_header(const backends_report *t)
{
    printf("%-26s", "");
    for (int b = 0; b < BACKENDS; ++b)
        if (t->wanted[b]) printf("%26s", backend_names[b]);
    printf("\n%-18s%8s", "iterations", "n");
    for (int b = 0; b < BACKENDS; ++b)
        if (t->wanted[b]) printf("%9s%9s%8s", moment_names[0], moment_names[1], "error");
    putchar('\n');
}

static bool agrees(const backends_report *t, const backends_row *row)
{
    backends_pair pairs[PAIRS_MOST];
    const int count = backends_pairs(t, pairs);
    for (int k = 0; k < count * LDLT_SIDES; ++k)
        if (backends_agree(row, &pairs[k / LDLT_SIDES], k % LDLT_SIDES) == 0) return false;
    return true;
}

void print_backends_row(const backends_report *t, const backends_row *row)
{
    char text[48];
    printf("%-17.17s %8" PRId64, row->matrix.name, row->matrix.n);
    for (int b = 0; b < BACKENDS; ++b) {
        const ldlt_result *r = row->results[b];
        if (!t->wanted[b]) continue;
        for (int m = 0; m < MOMENTS; ++m) printf("%9s", ldlt_sides_text(r[m].iterations, text, sizeof text));
        print_column("%.0e", 8, fmax(ldlt_backward(&r[MOMENT_FIRST]), ldlt_backward(&r[MOMENT_AGAIN])));
    }
    puts(agrees(t, row) ? "" : "  *");
    fflush(stdout);
}

static const ldlt_result *one_of(const backends_row *row, const backends_pair *pair)
{
    return &row->results[pair->backend][pair->moment];
}

static const ldlt_result *other_of(const backends_row *row, const backends_pair *pair)
{
    return &row->results[pair->other][pair->other_moment];
}

typedef struct tally {
    int compared, within, both_solved;
} tally;

static tally count_pair(const backends_report *t, const backends_pair *pair)
{
    tally all = {0, 0, 0};
    for (int i = 0; i < t->count * LDLT_SIDES; ++i) {
        const backends_row *row = &t->rows[i / LDLT_SIDES];
        const int agree = backends_agree(row, pair, i % LDLT_SIDES);
        if (agree < 0) continue;
        ++all.compared;
        all.within += agree;
        all.both_solved += one_of(row, pair)->solved && other_of(row, pair)->solved;
    }
    return all;
}

static void print_pair(const backends_report *t, const backends_pair *pair)
{
    const tally all = count_pair(t, pair);
    char text[64];
    snprintf(text, sizeof text, "%s %s beside %s %s", backend_names[pair->backend],
             moment_names[pair->moment], pair->other == pair->backend ? "its" : backend_names[pair->other],
             moment_names[pair->other_moment]);
    printf("%-36s%10d%10d%10d\n", text, all.compared, all.both_solved, all.within);
}

static void print_outliers(const backends_report *t, const backends_pair *pair)
{
    for (int i = 0; i < t->count * LDLT_SIDES; ++i) {
        const backends_row *row = &t->rows[i / LDLT_SIDES];
        const int side = i % LDLT_SIDES;
        if (backends_agree(row, pair, side) != 0) continue;
        printf("  %s, %s: %s %s %" PRId64 ", %s %s %" PRId64 "%s\n", row->matrix.name, ldlt_side_names[side],
               backend_names[pair->backend], moment_names[pair->moment], one_of(row, pair)->iterations[side],
               backend_names[pair->other], moment_names[pair->other_moment],
               other_of(row, pair)->iterations[side],
               one_of(row, pair)->solved && other_of(row, pair)->solved ? "" : "; not solved by both");
    }
}

/* What was not compared, and why. */
static void print_missing(const backends_report *t)
{
    for (int b = 0; b < BACKENDS; ++b)
        if (t->left_out[b][0]) printf("without %s: %.90s\n", backend_names[b], t->left_out[b]);
    for (int i = 0; i < t->count; ++i)
        for (int k = 0; k < BACKENDS * MOMENTS; ++k) {
            const ldlt_result *r = &t->rows[i].results[k / MOMENTS][k % MOMENTS];
            if (r->run && isnan(ldlt_iterations(r)) && r->why[0])
                printf("%s, %s %s: %.60s\n", t->rows[i].matrix.name, backend_names[k / MOMENTS],
                       moment_names[k % MOMENTS], r->why);
        }
}

void print_backends_summary(const backends_report *t)
{
    backends_pair pairs[PAIRS_MOST];
    const int count = backends_pairs(t, pairs);
    printf("\n%-36s%10s%10s%10s\n", "", "compared", "solved", "within");
    for (int k = 0; k < count; ++k) print_pair(t, &pairs[k]);
    printf(
        "(right-hand sides, two a matrix: A times ones and a random one, to 1e-14 within 100 iterations; "
        "solved: as\n"
        "saddle bench ldlt has it, by both; within: 2 iterations where they are below 50, 10 %% where they "
        "are not;\n"
        "first: with the factors as they were found; again: the same values factored on the known "
        "pattern)\n");
    for (int k = 0; k < count; ++k) print_outliers(t, &pairs[k]);
    print_missing(t);
}

static void json_pair(json *j, const backends_pair *pair)
{
    json_text(j, "backend", backend_names[pair->backend]);
    json_text(j, "moment", moment_names[pair->moment]);
    json_text(j, "beside_backend", backend_names[pair->other]);
    json_text(j, "beside_moment", moment_names[pair->other_moment]);
}

static void json_outliers(json *j, const backends_report *t, const backends_pair *pair)
{
    json_array(j, "outliers");
    for (int i = 0; i < t->count * LDLT_SIDES; ++i) {
        const backends_row *row = &t->rows[i / LDLT_SIDES];
        const int side = i % LDLT_SIDES;
        if (backends_agree(row, pair, side) != 0) continue;
        json_object(j, NULL);
        json_text(j, "name", row->matrix.name);
        json_text(j, "rhs", ldlt_side_names[side]);
        json_count(j, "iterations", one_of(row, pair)->iterations[side]);
        json_count(j, "beside", other_of(row, pair)->iterations[side]);
        json_close(j);
    }
    json_close(j);
}

static void json_row(json *j, const backends_report *t, const backends_row *row)
{
    json_object(j, NULL);
    ldlt_json_matrix(j, &row->matrix);
    json_object(j, "backends");
    for (int b = 0; b < BACKENDS; ++b) {
        if (!t->wanted[b]) continue;
        json_object(j, backend_names[b]);
        for (int m = 0; m < MOMENTS; ++m) ldlt_json_result(j, moment_names[m], &row->results[b][m]);
        json_close(j);
    }
    json_close(j);
    json_close(j);
}

int write_backends_json(const void *report, const char *path)
{
    const backends_report *t = report;
    json j;
    backends_pair pairs[PAIRS_MOST];
    const int count = backends_pairs(t, pairs), status = ldlt_json_begin(&j, path, t->bench, "backends");
    if (status != EXIT_DONE) return status;
    json_array(&j, "rows");
    for (int i = 0; i < t->count; ++i) json_row(&j, t, &t->rows[i]);
    json_close(&j);
    json_array(&j, "comparisons");
    for (int k = 0; k < count; ++k) {
        const tally all = count_pair(t, &pairs[k]);
        json_object(&j, NULL);
        json_pair(&j, &pairs[k]);
        json_count(&j, "compared", all.compared);
        json_count(&j, "solved", all.both_solved);
        json_count(&j, "within", all.within);
        json_outliers(&j, t, &pairs[k]);
        json_close(&j);
    }
    json_close(&j);
    json_object(&j, "left_out");
    for (int b = 0; b < BACKENDS; ++b)
        if (t->left_out[b][0]) json_text(&j, backend_names[b], t->left_out[b]);
    json_close(&j);
    return json_end(&j);
}
