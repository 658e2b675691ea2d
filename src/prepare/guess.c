/*
 * What a complete factorization would cost, guessed before anything is ordered: from the levels of a
 * breadth-first search, which separate the matrix as the separators of a nested dissection do. If the matrix
 * is that of a mesh, with levels of w rows, factoring takes about ten times the cube of w, most of it for the
 * largest separators (A. George, Nested dissection of a regular finite element mesh, SIAM J. Numer. Anal. 10
 * (1973)). Levels are wider or narrower than separators, by up to 3 times for boxes of 7 and 27 points; the
 * geometric mean of the widest and the mean level is off by a factor of 10 in the operations there.
 *
 * Rows with one or two entries beside the diagonal, as those of the fluxes of a mixed method, are eliminated
 * without fill and do not count.
 *
 * A matrix with few levels, or with a few that have most of the rows, is not that of a mesh, and nothing is
 * known of it then. O(n + nnz), as a few products with the matrix.
 */
#include "prepare/prepare.h"

#include <math.h>

static const double SEPARATOR_FLOPS = 10, LEVELS_LEAST = 0.5; /* of the cube root of n */
static const double WIDEST = 3.5;                             /* times the mean: 2 to 3 for boxes */
enum { LIGHT = 2 }; /* entries of a row beside its diagonal that make no fill */

typedef struct levels {
    int32_t count, heavy;   /* rows that were reached, and those that count */
    int32_t height, widest; /* levels that have some of these, and the most in one */
} levels;

static levels search(const sd_csr *A, int32_t root, int32_t *queue, bool *seen)
{
    levels found = {.count = 1};
    seen[root] = true;
    queue[0] = root;
    for (int32_t k = 0; k < found.count;) {
        const int32_t end = found.count, before = found.heavy;
        for (; k < end; ++k) {
            found.heavy += A->ptr[queue[k] + 1] - A->ptr[queue[k]] > LIGHT + 1;
            for (int64_t e = A->ptr[queue[k]]; e < A->ptr[queue[k] + 1]; ++e) {
                const int32_t w = A->ind[e];
                if (seen[w]) continue;
                seen[w] = true;
                queue[found.count++] = w;
            }
        }
        found.height += found.heavy > before;
        if (found.heavy - before > found.widest) found.widest = found.heavy - before;
    }
    return found;
}

/* A row to begin with: at the end of a mesh, or at least at its boundary, rows have the fewest entries. */
static int32_t find_end(const sd_csr *A)
{
    int64_t least = INT64_MAX;
    int32_t end = 0;
    for (int32_t i = 0; i < A->n; ++i) {
        const int64_t entries = A->ptr[i + 1] - A->ptr[i];
        if (entries <= LIGHT + 1 || entries >= least) continue;
        least = entries;
        end = i;
    }
    return end;
}

static double guess(const levels *l, int32_t n)
{
    const double mean = (double)l->heavy / (l->height > 0 ? l->height : 1);
    if (2 * (int64_t)l->count <= n || l->height < LEVELS_LEAST * cbrt(l->heavy) || l->widest > WIDEST * mean)
        return NAN;
    return SEPARATOR_FLOPS * pow(mean * l->widest, 1.5);
}

saddle_status sd_guess_flops(sd_context *c, const sd_csr *A, double *flops)
{
    sd_csr half = *A, whole = {0};
    saddle_status status = SADDLE_OK;
    *flops = NAN;
    if (A->n == 0) return SADDLE_OK;
    half.val = NULL; /* of the pattern alone */
    if (A->half) status = sd_csr_expand(c, &half, &whole);
    const sd_csr *all = A->half ? &whole : A;
    int32_t *queue = sd_alloc(c, A->n, sizeof *queue, "levels");
    bool *seen = sd_alloc_zero(c, A->n, sizeof *seen, "levels");
    if (!queue || !seen) status = c->status;
    if (!status) {
        const levels l = search(all, find_end(all), queue, seen);
        *flops = guess(&l, A->n);
    }
    sd_free_all(c, queue, seen);
    sd_csr_free(c, &whole);
    return status;
}
