/* See problem.h. */
#define _GNU_SOURCE
#include "bench/problem.h"

#include "cli/families.h"

#include <libgen.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

/* FAMILY_SIZE[:P]: its family, or NULL. */
static const family *parse_problem(const char *text, int64_t *size, double *param)
{
    char name[32], *end;
    const char *bar = strrchr(text, '_');
    if (!bar || bar[1] < '0' || bar[1] > '9' || (size_t)(bar - text) >= sizeof name) return NULL;
    snprintf(name, sizeof name, "%.*s", (int)(bar - text), text);
    *size = strtoll(bar + 1, &end, 10);
    *param = NAN;
    if (*end == ':' && end[1]) *param = strtod(end + 1, &end);
    return *end ? NULL : family_find(name);
}

static void name_group(bench_problem *p, const char *operand)
{
    char *path = p->generated ? NULL : realpath(operand, NULL);
    snprintf(p->group, sizeof p->group, "%s", path ? basename(dirname(path)) : "generated");
    free(path);
}

saddle_status bench_problem_load(bench_problem *p, const char *operand, const saddle_hooks *hooks,
                                 char *message)
{
    struct stat is;
    int64_t size = 0;
    double param = NAN;
    const family *f = stat(operand, &is) == 0 ? NULL : parse_problem(operand, &size, &param);
    *p = (bench_problem){.generated = f != NULL, .hooks = *hooks};
    name_group(p, operand);
    message[0] = 0;
    return f ? family_generate(f->name, size, param, 1, &p->A, message)
             : saddle_read_matrix(operand, &p->hooks, &p->A, message);
}

void bench_problem_free(bench_problem *p)
{
    if (p->generated)
        family_free(&p->A);
    else
        saddle_matrix_free(&p->A, &p->hooks);
    memset(&p->A, 0, sizeof p->A);
}
