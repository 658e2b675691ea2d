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
 * known of it then. O(n + nnz), as two or three products with the matrix.
 */
#include "prepare/prepare.h"

#include <math.h>
#include <string.h>

static const double SEPARATOR_FLOPS = 10, LEVELS_LEAST = 0.5; /* of the cube root of n */
static const double WIDEST = 3.5;                             /* times the mean: 2 to 3 for boxes */
enum { LIGHT = 2 }; /* entries of a row beside its diagonal that make no fill */

typedef struct levels {
    int32_t count, last;           /* rows that were reached, and the last of them */
    int32_t heavy, height, widest; /* rows that count; levels that have some; the most in one */
} levels;

static levels search(const sd_csr *A, int32_t root, int32_t *queue, bool *seen)
{
    levels found = {.count = 1};
    memset(seen, 0, (size_t)A->n * sizeof *seen);
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
    found.last = queue[found.count - 1];
    return found;
}

saddle_status sd_guess_flops(sd_context *c, const sd_csr *A, double *flops)
{
    *flops = NAN;
    if (A->n == 0) return SADDLE_OK;
    int32_t *queue = sd_alloc(c, A->n, sizeof *queue, "levels");
    bool *seen = sd_alloc(c, A->n, sizeof *seen, "levels");
    const saddle_status status = queue && seen ? SADDLE_OK : c->status;
    if (!status) {
        const levels first = search(A, 0, queue, seen), l = search(A, first.last, queue, seen);
        const double mean = (double)l.heavy / (l.height > 0 ? l.height : 1), width = sqrt(mean * l.widest);
        if (2 * (int64_t)l.count > A->n && l.height >= LEVELS_LEAST * cbrt(l.heavy) &&
            l.widest <= WIDEST * mean)
            *flops = SEPARATOR_FLOPS * width * width * width;
    }
    sd_free_all(c, queue, seen);
    return status;
}
