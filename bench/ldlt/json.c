/* The JSON of `saddle bench ldlt`. */
#include "bench/ldlt/ldlt.h"

#include <math.h>

int ldlt_json_begin(json *j, const char *path, const ldlt_bench *t, const char *part)
{
    const int status = bench_json_begin(j, path, "ldlt");
    if (status != EXIT_DONE) return status;
    json_text(j, "part", part);
    json_count(j, "threads", argument_count(t->a, "threads"));
    json_number(j, "limit", t->limit);
    json_truth(j, "core_time", ldlt_core_time(t->a));
    return EXIT_DONE;
}

void ldlt_json_matrix(json *j, const ldlt_matrix *m)
{
    json_text(j, "name", m->name);
    json_text(j, "group", m->group);
    json_count(j, "n", m->n);
    json_count(j, "nnz", m->nnz);
}

static void json_sides(json *j, const ldlt_result *r)
{
    json_array(j, "right_hand_sides");
    for (int k = 0; k < LDLT_SIDES; ++k) {
        if (r->iterations[k] < 0) continue;
        json_object(j, NULL);
        json_text(j, "rhs", ldlt_side_names[k]);
        json_count(j, "iterations", r->iterations[k]);
        JSON_NUMBERS(j, true, {"backward_error", r->backward[k]},
                     {"componentwise_error", r->componentwise[k]}, {"relative_residual", r->residual[k]},
                     {"solve", r->solve[k]});
        json_close(j);
    }
    json_close(j);
}

void ldlt_json_result(json *j, const char *key, const ldlt_result *r)
{
    json_object(j, key);
    json_truth(j, "solved", r->solved);
    json_text(j, "why", r->why[0] ? r->why : NULL);
    json_number(j, "analysis", r->analysis);
    json_number(j, "factor", r->factor);
    JSON_COUNTS(j, true, {"stored", r->stored}, {"bytes", r->bytes}, {"blocks", r->blocks},
                {"levels", r->levels});
    json_number(j, "tau", r->tau);
    JSON_COUNTS(j, true, {"pushed_back", r->pushed_back}, {"generations", r->generations},
                {"perturbed", r->perturbed}, {"sweeps", r->sweeps});
    json_truth(j, "fallback", r->fallback);
    json_number(j, "pattern_residual", r->pattern_residual);
    json_number(j, "reconstruction_error", r->reconstruction);
    json_sides(j, r);
    json_close(j);
}

static void json_total(json *j, const ldlt_report *t, ldlt_recipe recipe)
{
    const ldlt_total one = ldlt_total_of(t, recipe);
    json_object(j, ldlt_recipe_names[recipe]);
    json_count(j, "solved", one.solved);
    json_count(j, "of", one.run);
    json_number(j, "stored_median", one.stored_median);
    json_count(j, "large", one.large);
    json_count(j, "large_a_third", one.large_a_third);
    json_count(j, "missed", t->wanted[LDLT_DIRECT] ? one.missed : -1);
    json_close(j);
}

int write_ldlt_json(const void *report, const char *path)
{
    const ldlt_report *t = report;
    json j;
    const int status = ldlt_json_begin(&j, path, t->bench, t->anchors ? "anchors" : "matrices");
    if (status != EXIT_DONE) return status;
    json_array(&j, "rows");
    for (int i = 0; i < t->count; ++i) {
        const ldlt_row *row = &t->rows[i];
        json_object(&j, NULL);
        ldlt_json_matrix(&j, &row->matrix);
        json_object(&j, "methods");
        for (int k = 0; k < LDLT_RECIPES; ++k)
            if (row->results[k].run) ldlt_json_result(&j, ldlt_recipe_names[k], &row->results[k]);
        json_close(&j);
        if (row->to_residual.run) ldlt_json_result(&j, "ldlt_to_residual", &row->to_residual);
        json_close(&j);
    }
    json_close(&j);
    json_object(&j, "totals");
    for (int k = 0; k < LDLT_RECIPES; ++k)
        if (t->wanted[k]) json_total(&j, t, (ldlt_recipe)k);
    json_close(&j);
    return json_end(&j);
}
