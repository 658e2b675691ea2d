/* `saddle bench read`: reading plain text and gzipped, beside `cat` and `gzip -dc` of the same files. */
#include "bench/child.h"
#include "bench/timings.h"
#include "cli/progress.h"

#include <errno.h>
#include <math.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static double time_program(const timings *t, const char *const *argv)
{
    double best = INFINITY;
    for (int64_t k = 0; k < t->repeat; ++k) {
        const double began = seconds();
        if (child_run(argv, "/dev/null") != 0) return NAN;
        best = better_time(t, argv[0], best, began);
    }
    return best;
}

static int time_read(timings *t, const char *path, double *best)
{
    char message[SADDLE_MESSAGE_SIZE] = "";
    *best = INFINITY;
    for (int64_t k = 0; k < t->repeat; ++k) {
        saddle_matrix A = {0};
        const double began = seconds();
        const saddle_status status = saddle_read_matrix(path, &t->hooks, &A, message);
        if (status != SADDLE_OK) return fail(exit_status(status), "%s", message);
        *best = better_time(t, "read", *best, began);
        t->n = A.rows;
        t->entries = A.entries;
        saddle_matrix_free(&A, &t->hooks);
    }
    return EXIT_DONE;
}

static bool is_gzipped(const char *path)
{
    unsigned char head[2] = {0, 0};
    FILE *file = fopen(path, "rb");
    if (!file) return false;
    const size_t got = fread(head, 1, 2, file);
    fclose(file);
    return got == 2 && head[0] == 0x1f && head[1] == 0x8b;
}

static int64_t file_size(const char *path)
{
    struct stat is;
    return stat(path, &is) == 0 ? (int64_t)is.st_size : -1;
}

static int measure_both(timings *t, const char *plain, const char *gzipped)
{
    const char *const cat[] = {"cat", "--", plain, NULL};
    const char *const gunzip[] = {"gzip", "-dc", "--", gzipped, NULL};
    const int64_t bytes = file_size(plain);
    double time;
    add_timing(t, "cat", time_program(t, cat), bytes, NULL, NAN);
    int status = time_read(t, plain, &time);
    if (status != EXIT_DONE) return status;
    add_timing(t, "read plain", time, bytes, "cat", NAN);
    add_timing(t, "gzip -dc", time_program(t, gunzip), bytes, NULL, NAN);
    status = time_read(t, gzipped, &time);
    if (status == EXIT_DONE) add_timing(t, "read gzipped", time, bytes, "gzip -dc", NAN);
    return status;
}

/* The other form of the file, plain or gzipped, is made beside the system's temporary files. */
static int measure_read(timings *t, const char *path)
{
    char other[4096];
    const bool gzipped = is_gzipped(path);
    if (access(path, R_OK) != 0) return fail(EXIT_FILE, "%s: cannot be opened: %s", path, strerror(errno));
    int status = bench_temporary("", other, sizeof other);
    if (status != EXIT_DONE) return status;
    const char *const make[] = {"gzip", gzipped ? "-dc" : "-c", "--", path, NULL};
    if (child_run(make, other) != 0)
        status = fail(EXIT_FILE, "gzip could not compress %s to %s", path, other);
    else
        status = measure_both(t, gzipped ? other : path, gzipped ? path : other);
    unlink(other);
    return status;
}

static int run_read(const arguments *a)
{
    return timings_run(a, measure_read);
}

const command command_read = {
    .name = "read",
    .operands = "A.mtx[.gz]",
    .help = "reading a matrix, compared with cat and gzip -dc",
    .about = "The time to read a matrix, as plain text and gzipped, compared with cat and gzip -dc on the "
             "same files; MB/s refer to the plain text.",
    .examples = "  saddle bench read A.mtx.gz\n",
    .options = timings_options,
    .library = "",
    .least = 1,
    .most = 1,
    .run = run_read,
};
