/* The tables, the JSON and the picture of `saddle bench ldlt --part setup` and `--part growth`. */
#include "bench/ldlt/made.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define GOAL_FASTER 5.0 /* than the direct factorization */
#define GOAL_BYTES 0.2  /* of its factors */
#define GOAL_SETUP 1.1  /* exponents */
#define GOAL_TOTAL_2D 1.5
#define GOAL_TOTAL_3D 1.4

double made_goal(int axes)
{
    return axes == 3 ? GOAL_TOTAL_3D : GOAL_TOTAL_2D;
}

bool made_opens(const made_report *t, int k)
{
    for (int i = 0; i < k; ++i)
        if (strcmp(t->rows[i].family, t->rows[k].family) == 0) return false;
    return true;
}

void print_made_header(const made_report *t)
{
    if (t->growth) {
        printf("%-12s%9s%10s%9s%9s%9s%7s%10s%9s%9s\n", "ldlt", "n", "nnz", "prepare", "factor", "solve",
               "its", "backward", "/ nnz", "total s");
        return;
    }
    printf("%-12s%8s%9s%24s%17s%9s%17s\n", "", "", "", "ldlt", "direct", "faster", "than direct");
    printf("%-12s%8s%9s%8s%7s%9s%8s%9s%9s%8s%9s\n", "", "n", "setup", "its", "MB", "error", "factor", "error",
           "factor", "setup", "bytes");
}

static double megabytes(const ldlt_result *r)
{
    return r->run && r->bytes >= 0 && isfinite(r->factor) ? 1e-6 * (double)r->bytes : NAN;
}

/* What the direct solver's figure is over that of ldlt; only where both solve. */
static double ratio(const made_row *row, double direct, double ldlt)
{
    return row->ldlt.solved && row->direct.solved ? direct / ldlt : NAN;
}

static void print_setup_row(const made_row *row)
{
    const ldlt_result *r = &row->ldlt, *d = &row->direct;
    printf("%-12.12s%8" PRId64, row->family, row->n);
    print_column("%.2f", 9, ldlt_setup(r));
    print_column("%.0f", 8, ldlt_iterations(r));
    print_column("%.0f", 7, megabytes(r));
    print_column("%.0e", 9, ldlt_backward(r));
    print_column("%.2f", 8, d->factor);
    print_column("%.0e", 9, ldlt_backward(d));
    print_column("%.2f", 9, ratio(row, d->factor, ldlt_setup(r)));
    print_column("%.2f", 8, ratio(row, ldlt_setup(d), ldlt_setup(r)));
    print_column("%.3f", 9, 1.0 / ratio(row, megabytes(d), megabytes(r)));
    if (!r->solved) printf("  ldlt: %.60s", r->why);
    if (!d->solved) printf("  direct %.60s", d->why);
    putchar('\n');
}

void print_made_row(const made_report *t, const made_row *row)
{
    const ldlt_result *r = &row->ldlt;
    if (t->growth) {
        printf("%-12.12s%9" PRId64 "%10" PRId64, row->family, row->n, row->nnz);
        print_column("%.3f", 9, r->analysis);
        print_column("%.3f", 9, r->factor);
        print_column("%.3f", 9, r->solve[0]);
        print_column("%.0f", 7, r->iterations[0] < 0 ? NAN : (double)r->iterations[0]);
        print_column("%.0e", 10, r->backward[0]);
        print_column("%.2f", 9, ldlt_stored(r, row->nnz));
        print_column("%.3f", 9, made_total(row));
        printf("%s%.60s\n", r->solved ? "" : "  no: ", r->solved ? "" : r->why);
    } else {
        print_setup_row(row);
    }
    fflush(stdout);
}

static const char *verdict(double is, double most)
{
    return isnan(is) ? "" : is <= most ? "met" : "NOT met";
}

static void print_exponents(const made_report *t)
{
    printf("\n%-12s%7s%8s%7s%10s%8s%7s\n", "exponents", "sizes", "setup", "goal", "", "total", "goal");
    for (int k = 0; k < t->count; ++k) {
        const made_row *row = &t->rows[k];
        if (!made_opens(t, k)) continue;
        const double setup = made_exponent(t, row->family, made_setup),
                     total = made_exponent(t, row->family, made_total), goal = made_goal(row->axes);
        int sizes = 0;
        for (int i = 0; i < t->count; ++i)
            sizes += strcmp(t->rows[i].family, row->family) == 0 && t->rows[i].ldlt.solved;
        printf("%-12s%7d", row->family, sizes);
        print_column("%.2f", 8, setup);
        printf("%7.1f%10s", GOAL_SETUP, verdict(setup, GOAL_SETUP));
        print_column("%.2f", 8, total);
        printf("%7.1f%10s\n", goal, verdict(total, goal));
    }
    printf("(seconds ~ nnz^p by least squares over what was solved; setup: prepare and factor; total: with a "
           "solve "
           "of\nb = A times ones to 1e-12)\n");
}

void print_made_summary(const made_report *t)
{
    int both = 0, faster = 0, smaller = 0;
    if (t->growth) {
        print_exponents(t);
        return;
    }
    for (int k = 0; k < t->count; ++k) {
        const made_row *row = &t->rows[k];
        const double times = ratio(row, row->direct.factor, ldlt_setup(&row->ldlt));
        if (!isfinite(times)) continue;
        ++both;
        faster += times >= GOAL_FASTER;
        smaller += 1.0 / ratio(row, megabytes(&row->direct), megabytes(&row->ldlt)) <= GOAL_BYTES;
    }
    printf("\nwhere both solve: setup at least %.0f times as fast as the direct factorization on %d of %d, "
           "factors of "
           "at most\n%.1f of its bytes on %d of %d\n",
           GOAL_FASTER, faster, both, GOAL_BYTES, smaller, both);
}

static void json_exponents(json *j, const made_report *t)
{
    json_array(j, "exponents");
    for (int k = 0; k < t->count; ++k) {
        const made_row *row = &t->rows[k];
        if (!made_opens(t, k)) continue;
        json_object(j, NULL);
        json_text(j, "family", row->family);
        json_number(j, "setup", made_exponent(t, row->family, made_setup));
        json_number(j, "setup_goal", GOAL_SETUP);
        json_number(j, "total", made_exponent(t, row->family, made_total));
        json_number(j, "total_goal", made_goal(row->axes));
        json_close(j);
    }
    json_close(j);
}

int write_made_json(const void *report, const char *path)
{
    const made_report *t = report;
    json j;
    const int status = ldlt_json_begin(&j, path, t->bench, t->growth ? "growth" : "setup");
    if (status != EXIT_DONE) return status;
    json_array(&j, "rows");
    for (int k = 0; k < t->count; ++k) {
        const made_row *row = &t->rows[k];
        json_object(&j, NULL);
        json_text(&j, "family", row->family);
        json_count(&j, "size", row->size);
        json_count(&j, "n", row->n);
        json_count(&j, "nnz", row->nnz);
        ldlt_json_result(&j, "ldlt", &row->ldlt);
        if (row->direct.run) ldlt_json_result(&j, "direct", &row->direct);
        json_number(&j, "times_as_fast_as_factor", ratio(row, row->direct.factor, ldlt_setup(&row->ldlt)));
        json_number(&j, "times_as_fast_as_setup",
                    ratio(row, ldlt_setup(&row->direct), ldlt_setup(&row->ldlt)));
        json_number(&j, "bytes_ratio", 1.0 / ratio(row, megabytes(&row->direct), megabytes(&row->ldlt)));
        json_close(&j);
    }
    json_close(&j);
    if (t->growth) json_exponents(&j, t);
    return json_end(&j);
}
