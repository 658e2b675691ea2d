/*
 * `saddle bench direct --part fronts`: the assembly tree of each matrix in the order that the direct solver
 * plans for it, with fronts as in SSIDS (assembly.h), beside the fronts that the solver makes itself of the
 * same order. Nothing is factored.
 */
#include "bench/direct/fronts.h"

#include "bench/direct/assembly.h"
#include "cli/progress.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

typedef struct fronts_row {
    bench_matrix matrix;
    saddle_info info; /* of the plan */
    assembly_counts counts;
} fronts_row;

typedef struct fronts_report {
    const arguments *a;
    saddle_hooks hooks;
    int64_t count;
    fronts_row *rows;
} fronts_report;

/* The planned order, n of it, and what is known of the plan. */
static saddle_status plan(const fronts_report *t, const saddle_matrix *A, int32_t *order, saddle_info *info,
                          char *message)
{
    saddle_options o = t->a->library;
    saddle_solver *solver = NULL;
    bench_set(&o, "method=direct device=cpu simplicial=off");
    saddle_status status = saddle_create(&solver, &o, &t->hooks, message);
    if (status != SADDLE_OK) return status;
    status = saddle_analyse(solver, A);
    if (status == SADDLE_OK) status = saddle_get_order(solver, order);
    if (status == SADDLE_OK) status = saddle_query(solver, info);
    if (status != SADDLE_OK) snprintf(message, SADDLE_MESSAGE_SIZE, "%s", saddle_message(solver));
    saddle_destroy(&solver);
    return status;
}

static saddle_status count(const fronts_report *t, const saddle_matrix *A, fronts_row *row, char *message)
{
    saddle_matrix lower;
    memset(&lower, 0, sizeof lower);
    saddle_status status = saddle_convert(A, SADDLE_COLUMNS, SADDLE_LOWER, &t->hooks, &lower, message);
    int32_t *order = malloc(((size_t)A->rows + 1) * sizeof *order);
    if (status == SADDLE_OK) status = order ? plan(t, A, order, &row->info, message) : SADDLE_OUT_OF_MEMORY;
    if (status == SADDLE_OK && !assembly_count(&lower, order, &row->counts)) status = SADDLE_OUT_OF_MEMORY;
    if (status == SADDLE_OUT_OF_MEMORY) snprintf(message, SADDLE_MESSAGE_SIZE, "out of memory");
    saddle_matrix_free(&lower, &t->hooks);
    free(order);
    return status;
}

static void print_row(const fronts_row *row, bool first)
{
    const assembly_counts *c = &row->counts;
    const double flops = c->factor + c->assemble + c->contribution;
    if (first)
        printf("%-18s%10s%9s%9s%10s%10s%21s%29s\n%-18s%10s%9s%9s%10s%10s%7s%7s%7s%7s%7s%7s%8s\n", "", "", "",
               "", "", "", "% of operations", "% of entries by children", "matrix", "n", "fronts", "largest",
               "nnz(L)", "Gflop", "f", "a", "c", "0", "1", "more", "waiting");
    printf("%-17.17s %10" PRId64 "%9" PRId64 "%9" PRId64, row->matrix.name, row->matrix.n, c->fronts,
           c->largest);
    PRINT_COLUMNS("10.3g 10.3g 7.1f 7.1f 7.1f 7.1f 7.1f 7.1f 8.1f", (double)c->nnz, 1e-9 * flops,
                  1e2 * c->factor / flops, 1e2 * c->assemble / flops, 1e2 * c->contribution / flops,
                  1e2 * c->none / c->entries, 1e2 * c->one / c->entries, 1e2 * c->several / c->entries,
                  1e2 * c->waiting / c->entries);
    putchar('\n');
    fflush(stdout);
}

static void write_sizes(json *j, const assembly_counts *c)
{
    json_array(j, "sizes");
    for (int k = 0; k < ASSEMBLY_SIZES; ++k)
        if (c->sizes[k].fronts > 0)
            JSON_OBJECT(j, NULL, true, J_COUNT("from", (int64_t)1 << k), J_COUNT("to", ((int64_t)2 << k) - 1),
                        J_COUNT("fronts", c->sizes[k].fronts), J_NUMBER("flops", c->sizes[k].flops));
    json_close(j);
}

static void write_rows(json *j, const void *what)
{
    const fronts_report *t = what;
    bench_json_head(j, "direct");
    json_text(j, "part", "fronts");
    json_count(j, "least_columns", ASSEMBLY_LEAST);
    json_array(j, "rows");
    for (const fronts_row *row = t->rows; row < t->rows + t->count; ++row) {
        const assembly_counts *c = &row->counts;
        json_object(j, NULL);
        bench_json_matrix(j, &row->matrix);
        JSON_PUT(j, true, J_COUNT("fronts", c->fronts), J_COUNT("leaves", c->leaves),
                 J_COUNT("largest", c->largest), J_COUNT("factor_nnz", c->nnz));
        JSON_OBJECT(j, "flops", true, J_NUMBER("factor", c->factor), J_NUMBER("assembly", c->assemble),
                    J_NUMBER("contribution", c->contribution));
        JSON_OBJECT(j, "entries", true, J_NUMBER("all", c->entries), J_NUMBER("none", c->none),
                    J_NUMBER("one", c->one), J_NUMBER("several", c->several),
                    J_NUMBER("waiting", c->waiting));
        write_sizes(j, c);
        json_object(j, "planned");
        json_info(j, true, &row->info, "factor_nnz=planned_nnz flops=planned_flops critical_flops");
        json_close(j);
        json_close(j);
    }
    json_close(j);
}

static int count_one(fronts_report *t, const char *operand, bool print)
{
    char message[SADDLE_MESSAGE_SIZE] = "";
    bench_problem p;
    fronts_row *row = &t->rows[t->count];
    const int opened = bench_problem_open(&p, operand, &t->hooks);
    if (opened != EXIT_DONE) return opened;
    *row = (fronts_row){.matrix = p.matrix, .info = saddle_info_default()};
    const saddle_status status = p.symmetric ? count(t, &p.A, row, message) : SADDLE_NOT_SUPPORTED;
    if (!p.symmetric) snprintf(message, sizeof message, "is not symmetric");
    bench_problem_free(&p);
    if (progress_interrupted()) return fail(EXIT_INTERRUPTED, "interrupted at %s", operand);
    if (status != SADDLE_OK) return fail(exit_status(status), "%s: %s", operand, message);
    if (print) print_row(row, t->count == 0);
    t->count++;
    return EXIT_DONE;
}

int fronts_run(const arguments *a)
{
    const bool print = bench_prints(a);
    fronts_report t = {.a = a};
    int status = EXIT_DONE;
    if (argument_given(a, "anchors")) return usage_error(a, "--anchors is not for --part fronts");
    if (a->operand_count == 0) return usage_error(a, "no matrix is given");
    t.rows = calloc((size_t)a->operand_count + 1, sizeof *t.rows);
    if (!t.rows) return fail(EXIT_MEMORY, "out of memory for the rows");
    t.hooks = progress_begin(a);
    for (int k = 0; k < a->operand_count && status != EXIT_INTERRUPTED; ++k) {
        const int one = count_one(&t, a->operands[k], print);
        if (one != EXIT_DONE) status = one;
    }
    progress_end();
    if (print && t.count > 0)
        printf("\nfronts as in SSIDS, which merges below %d columns; f, a, c: own columns, assembly, "
               "contribution\n"
               "blocks; entries of fronts with children: how many of these contribute; waiting: not all of "
               "them\n",
               ASSEMBLY_LEAST);
    status = bench_save(a, status, write_rows, &t);
    free(t.rows);
    return status;
}
