/* See timings.h. Every time is the best of --repeat runs. */
#include "bench/timings.h"

#include "cli/progress.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

const option timings_options[] = {BENCH_REPEAT, BENCH_JSON, OPTION_END};

void add_timing(timings *t, const char *what, double time, int64_t bytes, const char *floor, double error)
{
    timing *row = &t->rows[t->count++];
    *row = (timing){what, time, bytes, floor, NAN, error};
    for (int k = 0; floor && k < t->count; ++k) {
        if (strcmp(t->rows[k].what, floor) == 0) row->ratio = time / t->rows[k].seconds;
    }
}

double better_time(const timings *t, const char *what, double best, double began)
{
    const double time = seconds() - began;
    if (argument_given(t->a, "verbose")) fprintf(stderr, "saddle: %s: %.6f s\n", what, time);
    return fmin(best, time);
}

static void print_rows(const timings *t)
{
    printf("%s: n %" PRId64 ", %" PRId64 " entries stored; best of %" PRId64 "\n", t->a->operands[0], t->n,
           t->entries, t->repeat);
    printf("%-22s%12s%12s%16s%10s\n", "", "seconds", "MB/s", "ratio", "error");
    for (int k = 0; k < t->count; ++k) {
        const timing *row = &t->rows[k];
        char ratio[40] = "", error[16] = "";
        if (row->floor) snprintf(ratio, sizeof ratio, "%.2f %s", row->ratio, row->floor);
        if (isfinite(row->error)) snprintf(error, sizeof error, "%.1e", row->error);
        printf("%-22s%12.6f%12.1f%16s%10s\n", row->what, row->seconds,
               1e-6 * (double)row->bytes / row->seconds, ratio, error);
    }
}

static void write_json(json *j, const void *report)
{
    const timings *t = report;
    bench_json_head(j, t->a->command->name);
    JSON_PUT(j, true, J_TEXT("file", t->a->operands[0]), J_COUNT("n", t->n), J_COUNT("entries", t->entries));
    json_array(j, "rows");
    for (const timing *row = t->rows; row < t->rows + t->count; ++row)
        JSON_OBJECT(j, NULL, true, J_TEXT("what", row->what), J_NUMBER("seconds", row->seconds),
                    J_NUMBER("megabytes_per_second", 1e-6 * (double)row->bytes / row->seconds),
                    J_TEXT("floor", row->floor), J_NUMBER("ratio", row->ratio),
                    J_NUMBER("error", row->error));
    json_close(j);
}

int timings_run(const arguments *a, int (*measure)(timings *t, const char *path))
{
    timings t = {.a = a, .repeat = argument_count(a, "repeat")};
    int status = bench_check_operands(a);
    if (status != EXIT_DONE) return status;
    t.hooks = progress_begin(a);
    status = measure(&t, a->operands[0]);
    progress_end();
    if (status != EXIT_DONE) return status;
    if (bench_prints(a)) print_rows(&t);
    return bench_save(a, status, write_json, &t);
}
