/* The JSON of `saddle bench ldlt`. */
#include "bench/ldlt/ldlt.h"

#include <math.h>

void ldlt_json_head(json *j, const ldlt_bench *t, const char *part)
{
    bench_json_head(j, "ldlt");
    JSON_PUT(j, true, J_TEXT("part", part), J_COUNT("threads", argument_count(t->a, "threads")),
             J_NUMBER("limit", t->limit), J_TRUTH("core_time", bench_core_time(t->a)));
}

void ldlt_json_result(json *j, const char *key, const ldlt_result *r)
{
    json_object(j, key);
    JSON_PUT(j, true, J_TRUTH("solved", r->solved), J_TEXT("why", r->why[0] ? r->why : NULL),
             J_NUMBER("analysis", r->analysis), J_NUMBER("factor", r->factor));
    json_info(j, true, &r->info,
              "stored=factor_nnz bytes=factor_bytes blocks levels tau=fill_tau pushed_back generations "
              "perturbed sweeps fallback pattern_residual reconstruction_error");
    json_array(j, "right_hand_sides");
    for (int k = 0; k < LDLT_SIDES; ++k) {
        if (r->iterations[k] < 0) continue;
        JSON_OBJECT(j, NULL, true, J_TEXT("rhs", ldlt_side_names[k]), J_COUNT("iterations", r->iterations[k]),
                    J_NUMBER("backward_error", r->backward[k]),
                    J_NUMBER("componentwise_error", r->componentwise[k]),
                    J_NUMBER("relative_residual", r->residual[k]), J_NUMBER("solve", r->solve[k]));
    }
    json_close(j);
    json_close(j);
}

static void json_total(json *j, const ldlt_report *t, ldlt_recipe recipe)
{
    const ldlt_total one = ldlt_total_of(t, recipe);
    JSON_OBJECT(j, ldlt_recipe_names[recipe], true, J_COUNT("solved", one.solved), J_COUNT("of", one.run),
                J_NUMBER("stored_median", one.stored_median), J_COUNT("large", one.large),
                J_COUNT("large_a_third", one.large_a_third),
                J_COUNT("missed", t->wanted[LDLT_DIRECT] ? one.missed : -1));
}

void json_ldlt(json *j, const void *report)
{
    const ldlt_report *t = report;
    ldlt_json_head(j, t->bench, t->anchors ? "anchors" : "matrices");
    json_array(j, "rows");
    for (const ldlt_row *row = t->rows; row < t->rows + t->count; ++row) {
        json_object(j, NULL);
        bench_json_matrix(j, &row->matrix);
        json_object(j, "methods");
        for (int k = 0; k < LDLT_RECIPES; ++k)
            if (row->results[k].run) ldlt_json_result(j, ldlt_recipe_names[k], &row->results[k]);
        json_close(j);
        if (row->to_residual.run) ldlt_json_result(j, "ldlt_to_residual", &row->to_residual);
        json_close(j);
    }
    json_close(j);
    json_object(j, "totals");
    for (int k = 0; k < LDLT_RECIPES; ++k)
        if (t->wanted[k]) json_total(j, t, (ldlt_recipe)k);
    json_close(j);
}
