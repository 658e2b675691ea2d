/* See problem.h. */
#define _GNU_SOURCE
#include "bench/problem.h"

#include "cli/command.h"
#include "cli/families.h"
#include "cli/paths.h"

#include <libgen.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

/* FAMILY_SIZE[xSTATESxINPUTS][:P]: its family, or NULL. */
static const family *parse_problem(const char *text, int64_t *size, family_stages *stages, double *param)
{
    char name[32], *end;
    const char *bar = strrchr(text, '_');
    if (!bar || bar[1] < '0' || bar[1] > '9' || (size_t)(bar - text) >= sizeof name) return NULL;
    snprintf(name, sizeof name, "%.*s", (int)(bar - text), text);
    *size = strtoll(bar + 1, &end, 10);
    *param = NAN;
    *stages = family_stages_default;
    const family *f = family_find(name);
    if (*end == 'x' && f && family_has_stages(f)) {
        stages->states = strtoll(end + 1, &end, 10);
        stages->inputs = *end == 'x' ? strtoll(end + 1, &end, 10) : 0;
    }
    if (*end == ':' && end[1]) *param = strtod(end + 1, &end);
    return *end ? NULL : f;
}

void bench_json_matrix(json *j, const bench_matrix *m)
{
    JSON_PUT(j, true, J_TEXT("name", m->name), J_TEXT("group", m->group), J_COUNT("n", m->n),
             J_COUNT("nnz", m->nnz));
}

static void name_matrix(bench_problem *p, const char *operand)
{
    bench_matrix *m = &p->matrix;
    char *path = p->generated ? NULL : realpath(operand, NULL);
    matrix_name(operand, m->name, sizeof m->name);
    snprintf(m->group, sizeof m->group, "%s", path ? basename(dirname(path)) : "generated");
    free(path);
}

saddle_status bench_problem_load(bench_problem *p, const char *operand, const saddle_hooks *hooks,
                                 char *message)
{
    struct stat is;
    int64_t size = 0;
    double param = NAN;
    family_stages stages;
    const family *f = stat(operand, &is) == 0 ? NULL : parse_problem(operand, &size, &stages, &param);
    *p = (bench_problem){.generated = f != NULL, .hooks = *hooks};
    name_matrix(p, operand);
    message[0] = 0;
    return f ? family_generate_stages(f->name, size, &stages, param, 1, &p->A, message)
             : saddle_read_matrix(operand, &p->hooks, &p->A, message);
}

int bench_problem_open(bench_problem *p, const char *operand, const saddle_hooks *hooks)
{
    char message[SADDLE_MESSAGE_SIZE];
    saddle_facts facts;
    saddle_status status = bench_problem_load(p, operand, hooks, message);
    if (status != SADDLE_OK) return fail(exit_status(status), "%s", message);
    status = saddle_inspect(&p->A, hooks, &facts, message);
    p->symmetric = facts.symmetric;
    p->matrix.n = facts.rows;
    p->matrix.nnz = facts.nnz;
    if (status == SADDLE_OK) return EXIT_DONE;
    bench_problem_free(p);
    return fail(exit_status(status), "%s: %s", operand, message);
}

void bench_problem_free(bench_problem *p)
{
    if (p->generated)
        family_free(&p->A);
    else
        saddle_matrix_free(&p->A, &p->hooks);
    memset(&p->A, 0, sizeof p->A);
}
