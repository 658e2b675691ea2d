/* See run.h. */
#include "cli/run.h"

#include "cli/progress.h"

#include <inttypes.h>
#include <math.h>
#include <stdarg.h>
#include <string.h>
#include <sys/stat.h>

void run_begin(run *r, const arguments *a)
{
    *r = (run){.a = a, .path = a->operands[0], .n = -1, .time_read = NAN, .began = seconds()};
    matrix_name(r->path, r->name, sizeof r->name);
    r->hooks = progress_begin(a);
    memory_begin(&r->memory, a->library.max_memory, &r->hooks);
}

saddle_status run_read(run *r, const char *what)
{
    const double began = seconds();
    const saddle_status status = saddle_read_matrix(r->path, &r->hooks, &r->A, r->message);
    r->time_read = seconds() - began;
    if (status != SADDLE_OK) return status;
    r->n = r->A.rows;
    r->shape = (int)r->A.shape;
    if (!what || r->A.rows == r->A.columns) return SADDLE_OK;
    return run_fail(r, SADDLE_NOT_SUPPORTED,
                    "%.200s: the matrix has %" PRId64 " rows and %" PRId64 " columns: only square %s",
                    r->path, r->A.rows, r->A.columns, what);
}

saddle_status run_fail(run *r, saddle_status status, const char *format, ...)
{
    va_list list;
    va_start(list, format);
    vsnprintf(r->message, sizeof r->message, format, list);
    va_end(list);
    return status;
}

void run_settle(run *r, saddle_status status)
{
    char where[160];
    const bool failed = status != SADDLE_OK && status != SADDLE_NOT_CONVERGED;
    if (failed && progress_interrupted()) {
        progress_where(where, sizeof where);
        status = run_fail(r, SADDLE_CANCELLED, "interrupted %s", where);
    } else {
        status = memory_settle(&r->memory, status, r->message);
    }
    if (failed && !r->message[0]) run_fail(r, status, "%s", saddle_status_text(status));
    r->status = status;
    r->exit = exit_status(status);
}

void run_end(run *r, saddle_status status)
{
    progress_end();
    r->time_total = seconds() - r->began;
    run_settle(r, status);
}

void run_output(run *r, int exit)
{
    if (exit == EXIT_DONE) return;
    if (r->exit == EXIT_DONE || r->exit == EXIT_NOT_REACHED) r->exit = exit;
}

void run_json(run *r, json_writer *write, const void *what)
{
    const char *path = argument_text(r->a, "json");
    if (path && !r->json_refused && r->exit != EXIT_USAGE) run_output(r, json_write(path, write, what));
}

const char *run_symmetry(const run *r, int symmetric)
{
    if (symmetric >= 0) return symmetric ? "symmetric" : "general";
    return r->n >= 0 && r->shape != SADDLE_GENERAL ? "symmetric" : NULL;
}

bool is_standard(const arguments *a, const char *name)
{
    const char *text = argument_text(a, name);
    return text && strcmp(text, "-") == 0;
}

static int check_two(const arguments *a, const char *name, const char *other)
{
    const char *one = argument_text(a, name), *two = argument_text(a, other);
    if (!one || !two || strcmp(one, two) != 0 || strncmp(one, "/dev/", 5) == 0) return EXIT_DONE;
    if (strcmp(one, "-") == 0)
        return usage_error(a, "only one of --%s and --%s can be standard output", name, other);
    return usage_error(a, "--%s and --%s name the same file, %s: one would overwrite the other", name, other,
                       one);
}

/* A device may be read and written. */
static bool overwrites(const char *path, const char *operand)
{
    struct stat is;
    if (strcmp(path, "-") == 0) return false;
    return strcmp(path, operand) == 0 ||
           (stat(path, &is) == 0 && S_ISREG(is.st_mode) && same_file(path, operand));
}

int outputs_check(const arguments *a, const char *const *names, int count)
{
    for (int k = 0; k < count; ++k) {
        const char *path = argument_text(a, names[k]);
        for (int i = 0; path && i < a->operand_count; ++i) {
            if (overwrites(path, a->operands[i]))
                return usage_error(a, "--%s %s would overwrite the matrix", names[k], path);
        }
        for (int i = 0; i < k; ++i) {
            const int status = check_two(a, names[i], names[k]);
            if (status != EXIT_DONE) return status;
        }
    }
    return EXIT_DONE;
}
