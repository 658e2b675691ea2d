/*
 * Tables 2 to 5 and Figure 9 of Jacobi triangular solves: orders that come with blockings (RCM with
 * adjacent rows, priority blocking, the same with dynamic weights, METIS) with exact solves, and with sweeps
 * over their blocks of at most 12 rows: iterations, levels, the best number of sweeps, times.
 */
#include "bench/trisolve/trisolve.h"

#include <math.h>
#include <stdio.h>

enum { ORDERS = 4, ORDER_SWEEPS = 25 };
static const struct {
    const char *title, *blocking;
} orders[ORDERS] = {{"RCM", "adjacent"}, {"PB", "priority"}, {"PBD", "priority-dynamic"}, {"METIS", "metis"}};

typedef struct order_point {
    double iterations, solve; /* NaN: not solved */
} order_point;

typedef struct order_result {
    trisolve_result exact;
    int count, best; /* best: sweeps; 0: none solves it */
    order_point at[SWEEPS_MOST];
} order_result;

typedef struct orders_row {
    bench_matrix matrix;
    bool late; /* the time limit was over before all was measured */
    int count, levels[LEVELS_MOST];
    order_result results[LEVELS_MOST][ORDERS];
} orders_row;

static void measure_order(trisolve_bench *t, int level, int order, order_result *o)
{
    char text[TEXT];
    const int most = trisolve_most(t, ORDER_SWEEPS);
    const char *format =
        "krylov=cg fallback=none level=%d blocking=%s block_size=12 trisolve=%s trisolve_sweeps=%d";
    snprintf(text, sizeof text, format, level, orders[order].blocking, "exact", 0);
    o->exact = trisolve_repeat(t, text, INFINITY);
    for (int k = 1; k <= most && trisolve_left(t) > 0.0; ++k) {
        snprintf(text, sizeof text, format, level, orders[order].blocking, "block-jacobi", k);
        const trisolve_result r = trisolve_repeat(t, text, INFINITY);
        order_point *p = &o->at[o->count++];
        *p = (order_point){r.solved ? trisolve_iterations(&r) : NAN, r.solved ? r.solve : NAN};
        if (r.solved && (o->best == 0 || r.solve < o->at[o->best - 1].solve)) o->best = k;
    }
}

static void measure(trisolve_bench *t, void *to)
{
    static const int usual[] = {0, 1};
    orders_row *row = to;
    row->count = trisolve_levels(t, usual, 2, row->levels);
    for (int k = 0; k < row->count; ++k)
        for (int o = 0; o < ORDERS; ++o)
            if (trisolve_left(t) > 0.0) measure_order(t, row->levels[k], o, &row->results[k][o]);
    row->late = trisolve_left(t) <= 0.0;
}

static void print_curves(const orders_row *row, int level)
{
    int most = 0;
    printf("  Figure 9, IC(%d)", row->levels[level]);
    for (int o = 0; o < ORDERS; ++o) {
        printf("%6s: its   solve s", orders[o].title);
        if (row->results[level][o].count > most) most = row->results[level][o].count;
    }
    putchar('\n');
    for (int k = 0; k < most; ++k) {
        printf("%17d", k + 1);
        for (int o = 0; o < ORDERS; ++o) {
            const order_result *r = &row->results[level][o];
            PRINT_COLUMNS("10.0f 11.4f", k < r->count ? r->at[k].iterations : NAN,
                          k < r->count ? r->at[k].solve : NAN);
        }
        putchar('\n');
    }
}

static void print_row(const trisolve_bench *t, const void *at, bool first)
{
    const orders_row *row = at;
    (void)first;
    printf("Tables 2 to 5, %-10.40s exact: its   solve s    levels    sweeps: best     its   solve s\n",
           row->matrix.name);
    for (int k = 0; k < row->count; ++k) {
        for (int o = 0; o < ORDERS; ++o) {
            const order_result *r = &row->results[k][o];
            const bool solved = r->exact.solved;
            if (!r->exact.run) continue;
            printf("  IC(%d) %-18s", row->levels[k], orders[o].title);
            PRINT_COLUMNS("15.0f 10.4f 10.0f 16.0f 8.0f 10.4f", solved ? trisolve_iterations(&r->exact) : NAN,
                          solved ? r->exact.solve : NAN,
                          r->exact.info.levels < 0 ? NAN : (double)r->exact.info.levels,
                          r->best ? (double)r->best : NAN, r->best ? r->at[r->best - 1].iterations : NAN,
                          r->best ? r->at[r->best - 1].solve : NAN);
            printf("  %s%s\n", r->exact.why, trisolve_is_shifted(&r->exact) ? "  shifted" : "");
        }
    }
    for (int k = 0; k < row->count && t->wanted[PART_FIGURE9]; ++k) print_curves(row, k);
    if (row->late) printf("  the time limit was over before all was measured\n");
}

static void write_order(json *j, const orders_row *row, int level, int order)
{
    const order_result *r = &row->results[level][order];
    json_object(j, NULL);
    JSON_PUT(j, true, J_COUNT("level", row->levels[level]), J_TEXT("order", orders[order].title),
             J_TEXT("blocking", orders[order].blocking), J_COUNT("best_sweeps", r->best ? r->best : -1));
    trisolve_json_result(j, "exact", &r->exact);
    json_array(j, "sweeps");
    for (int k = 0; k < r->count; ++k)
        JSON_OBJECT(j, NULL, true, J_COUNT("sweeps", k + 1), J_NUMBER("iterations", r->at[k].iterations),
                    J_NUMBER("solve", r->at[k].solve));
    json_close(j);
    json_close(j);
}

static void write_rows(json *j, const trisolve_bench *t, const trisolve_rows *rows)
{
    const orders_row *at = rows->at;
    (void)t;
    json_array(j, "tables2to5");
    for (const orders_row *row = at; row < at + rows->count; ++row) {
        json_object(j, NULL);
        bench_json_matrix(j, &row->matrix);
        json_truth(j, "late", row->late);
        json_array(j, "orders");
        for (int k = 0; k < row->count; ++k)
            for (int o = 0; o < ORDERS; ++o)
                if (row->results[k][o].exact.run) write_order(j, row, k, o);
        json_close(j);
        json_close(j);
    }
    json_close(j);
}

const trisolve_kind kind_orders = {
    .first = PART_TABLES2TO5,
    .last = PART_FIGURE9,
    .takes = TAKES_SYMMETRIC,
    .size = sizeof(orders_row),
    .measure = measure,
    .print_row = print_row,
    .write = write_rows,
};
