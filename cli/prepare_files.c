/*
 * What `saddle prepare` leaves behind: a folder of n x 1 vectors, and a picture. Every index in the files
 * is counted from 1, as everything in Matrix Market files is.
 */
#include "cli/paths.h"
#include "cli/plot.h"
#include "cli/prepare.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* The vectors, each with the comment that its file begins with. */
enum { SCALING, SCALING_ROW, SCALING_COL, PERMUTATION, ROW_PERMUTATION, PAIRS, BLOCKS, MATCHING };
static const struct {
    const char *name, *what;
} files[PREPARE_FILES] = {
    [SCALING] = {"scaling.mtx", "scaling of rows and columns: entry i scales row i and column i"},
    [SCALING_ROW] = {"scaling-row.mtx", "scaling of the rows: entry i scales row i"},
    [SCALING_COL] = {"scaling-col.mtx", "scaling of the columns: entry j scales column j"},
    [PERMUTATION] = {"permutation.mtx", "order: entry k is the old index, from 1, at new position k"},
    [ROW_PERMUTATION] = {"row-permutation.mtx", "order: entry k is the old row, from 1, at new position k"},
    [PAIRS] = {"pairs.mtx", "pairs: entry i is the other row of row i's 2x2 pair, from 1, or 0"},
    [BLOCKS] = {"blocks.mtx", "blocks: the first row of each in the new order, from 1, then n + 1"},
    [MATCHING] = {"matching.mtx", "matching: entry j is the row matched with column j, from 1, or 0"},
};

/* DIR/NAME, to be freed. */
static char *path_in(const char *folder, const char *name)
{
    const size_t size = strlen(folder) + strlen(name) + 2;
    char *path = malloc(size);
    if (path) snprintf(path, size, "%s/%s", folder, name);
    return path;
}

static saddle_status no_memory(prepare_run *r)
{
    return run_fail(&r->run, SADDLE_OUT_OF_MEMORY, "out of memory while writing into %.200s",
                    argument_text(r->run.a, "out"));
}

/* The folder that holds this one; the text has room for it. */
static void parent_of(const char *folder, char *parent)
{
    size_t length = strlen(folder);
    while (length > 1 && folder[length - 1] == '/') --length;
    while (length > 0 && folder[length - 1] != '/') --length;
    while (length > 1 && folder[length - 1] == '/') --length;
    memcpy(parent, folder, length);
    parent[length] = 0;
    if (length == 0) memcpy(parent, ".", 2);
}

/* No vector may take the place of the matrix itself. */
static saddle_status check_matrix(prepare_run *r, const char *folder)
{
    saddle_status status = SADDLE_OK;
    for (int k = 0; k < PREPARE_FILES && status == SADDLE_OK; ++k) {
        char *path = path_in(folder, files[k].name);
        if (!path) return no_memory(r);
        if (same_file(path, r->run.path))
            status = run_fail(
                &r->run, SADDLE_FILE_WRITE,
                "%.200s: cannot be written: it is the input matrix; choose another folder for --out", path);
        free(path);
    }
    return status;
}

/* Makes the folder now, not after the work: the other outputs may be meant to go into it. */
static saddle_status make_folder(prepare_run *r, const char *folder)
{
    if (mkdir(folder, 0777) == 0) {
        r->made_folder = true;
        return SADDLE_OK;
    }
    const int error = errno;
    char *parent = malloc(strlen(folder) + 2);
    if (!parent) return no_memory(r);
    parent_of(folder, parent);
    if (error == ENOENT)
        run_fail(&r->run, SADDLE_FILE_WRITE,
                 "%.200s: cannot be created: there is no folder %.200s; create it first", folder, parent);
    else
        run_fail(&r->run, SADDLE_FILE_WRITE, "%.200s: cannot be created: %s", folder, strerror(error));
    free(parent);
    return SADDLE_FILE_WRITE;
}

saddle_status check_folder(prepare_run *r)
{
    const char *folder = argument_text(r->run.a, "out");
    struct stat is;
    if (stat(folder, &is) != 0) return make_folder(r, folder);
    const int error = !S_ISDIR(is.st_mode) ? ENOTDIR : access(folder, W_OK | X_OK) != 0 ? errno : 0;
    if (!error) return check_matrix(r, folder);
    return run_fail(&r->run, SADDLE_FILE_WRITE, "%.200s: cannot be written: %s", folder, strerror(error));
}

void leave_folder(const prepare_run *r)
{
    if (r->made_folder && r->run.status != SADDLE_OK) (void)rmdir(argument_text(r->run.a, "out"));
}

bool is_vector_file(const prepare_run *r, const char *path)
{
    const char *folder = argument_text(r->run.a, "out"), *slash = strrchr(path, '/');
    char *parent = malloc(strlen(path) + 2);
    if (!parent) return false;
    parent_of(path, parent);
    bool found = false;
    for (int k = 0; k < PREPARE_FILES; ++k)
        found = found || strcmp(slash ? slash + 1 : path, files[k].name) == 0;
    found = found && same_file(parent, folder);
    free(parent);
    return found;
}

/* The index k as the files have it; what is none (-1) becomes 0. */
static void from_one(const int32_t *indices, int64_t count, double *values)
{
    for (int64_t k = 0; k < count; ++k) values[k] = indices ? (double)indices[k] + 1.0 : 0.0;
}

/* The values of a file, at most n + 1, and how many they are; -1 where this run has no such file. */
static int64_t fill_values(const prepare_run *r, int file, double *values)
{
    const saddle_preparation *p = &r->p;
    const int64_t n = p->n;
    const double *scale = NULL;
    const int32_t *indices = NULL;
    switch (file) {
    case SCALING: scale = p->symmetric ? p->row_scale : NULL; break;
    case SCALING_ROW: scale = p->symmetric ? NULL : p->row_scale; break;
    case SCALING_COL: scale = p->symmetric ? NULL : p->col_scale; break;
    case PERMUTATION: indices = p->permutation; break;
    case ROW_PERMUTATION: indices = p->symmetric ? NULL : p->row_permutation; break;
    case MATCHING: indices = p->matching; break;
    case PAIRS: from_one(p->partner, n, values); return n;
    default: from_one(p->block_start, p->blocks + 1, values); return p->blocks + 1;
    }
    if (scale) memcpy(values, scale, (size_t)n * sizeof *values);
    if (indices) from_one(indices, n, values);
    return scale || indices ? n : -1;
}

/* Whether the file is what the scaling was read from. */
static bool is_given(const prepare_run *r, const char *path)
{
    const char *scaling = argument_text(r->run.a, "scaling");
    return scaling && same_file(path, scaling);
}

/* Writes a file, or removes what an earlier run left under its name. */
static saddle_status write_file(prepare_run *r, int file, const char *path, double *values)
{
    char comment[512];
    const int64_t length = fill_values(r, file, values);
    if (length < 0) {
        if (is_given(r, path) || unlink(path) == 0 || errno == ENOENT) return SADDLE_OK;
        return run_fail(&r->run, SADDLE_FILE_WRITE, "%.200s: left by an earlier run, cannot be removed: %s",
                        path, strerror(errno));
    }
    snprintf(comment, sizeof comment, "%s\nof %s, by saddle prepare %s", files[file].what, r->run.name,
             saddle_version());
    const saddle_status status = saddle_write_vector(path, length, values, comment, r->run.message);
    if (status == SADDLE_OK) r->files[r->written++] = files[file].name;
    return status;
}

saddle_status write_folder(prepare_run *r)
{
    const char *folder = argument_text(r->run.a, "out");
    double *values = memory_take(&r->run.memory, r->p.n + 1, sizeof *values);
    saddle_status status = values ? SADDLE_OK : no_memory(r);
    for (int k = 0; k < PREPARE_FILES && status == SADDLE_OK; ++k) {
        char *path = path_in(folder, files[k].name);
        status = path ? write_file(r, k, path, values) : no_memory(r);
        free(path);
    }
    memory_give(&r->run.memory, values);
    return status;
}

/* New positions of old indices. */
static void invert(const int32_t *order, int64_t n, int32_t *at)
{
    for (int64_t k = 0; k < n; ++k) at[order[k]] = (int32_t)k;
}

/* Where every entry of the prepared matrix stands; one triangle of a symmetric one stays one. Scalings are
 * positive: signs stay. */
static void move_entries(const saddle_matrix *A, const int32_t *row_at, const int32_t *col_at, int32_t *rows,
                         int32_t *columns)
{
    for (int64_t e = 0; e < A->entries; ++e) {
        const int32_t i = row_at[A->indices[e]], j = col_at[A->col_indices[e]];
        const bool swap = (A->shape == SADDLE_LOWER && i < j) || (A->shape == SADDLE_UPPER && i > j);
        rows[e] = swap ? j : i;
        columns[e] = swap ? i : j;
    }
}

/* The first positions of pairs whose two rows are neighbours, and how many they are. */
static int64_t find_pairs(const saddle_preparation *p, int32_t *first)
{
    int64_t count = 0;
    for (int64_t k = 0; p->partner && k + 1 < p->n; ++k) {
        if (p->partner[p->permutation[k]] == p->permutation[k + 1]) first[count++] = (int32_t)k++;
    }
    return count;
}

int plot_preparation(prepare_run *r, const char *path)
{
    const saddle_preparation *p = &r->p;
    const int64_t n = p->n;
    saddle_matrix C = {0};
    char message[SADDLE_MESSAGE_SIZE] = "";
    saddle_status status =
        saddle_convert(&r->run.A, SADDLE_COORDINATES, r->run.A.shape, &r->run.hooks, &C, message);
    if (status != SADDLE_OK) return fail(exit_status(status), "%s: not drawn: %s", path, message);
    int32_t *at = memory_take(&r->run.memory, 3 * n + 1, sizeof *at);
    int32_t *moved = memory_take(&r->run.memory, 2 * C.entries + 1, sizeof *moved);
    int drawn = EXIT_MEMORY;
    if (at && moved) {
        saddle_matrix B = C;
        B.indices = moved;
        B.col_indices = moved + C.entries;
        invert(p->row_permutation, n, at);
        invert(p->permutation, n, at + n);
        move_entries(&C, at, at + n, moved, moved + C.entries);
        const plot_blocks blocks = {p->largest_block > 1 ? p->blocks : 0, p->block_start,
                                    find_pairs(p, at + 2 * n), at + 2 * n};
        char name[sizeof r->run.name + 16];
        snprintf(name, sizeof name, "%s, prepared", r->run.name);
        drawn = plot_prepared(path, &B, &blocks, name);
    } else {
        fail(drawn, "%s: out of memory while drawing the plot", path);
    }
    memory_give(&r->run.memory, moved);
    memory_give(&r->run.memory, at);
    saddle_matrix_free(&C, &r->run.hooks);
    return drawn;
}
