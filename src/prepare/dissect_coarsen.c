/*
 * Coarser graphs: matching along heavy edges, and contraction (G. Karypis and V. Kumar, A fast and high
 * quality multilevel scheme for partitioning irregular graphs, SIAM J. Sci. Comput. 20 (1998)).
 *
 * Vertices of low degree choose first, since they have the least choice. Where that leaves more than half
 * single, as the leaves of stars are, those with a neighbour in common are matched too; done where fewer are
 * single it made separators worse (by a quarter of the operations on the faces and cells of a plane mixed
 * finite element).
 */
#include "prepare/dissect.h"

#include <string.h>

enum { DEGREES = 64 }; /* that are told apart */

static int32_t degree_of(const sd_part *g, int32_t v)
{
    const int32_t degree = g->ptr[v + 1] - g->ptr[v];
    return degree < DEGREES ? degree : DEGREES - 1;
}

/* The vertices by ascending degree, otherwise as they are or shuffled. */
static void visit_order(const sd_part *g, bool shuffled, uint64_t *random, int32_t *order, int32_t *plain)
{
    int32_t next[DEGREES + 1] = {0};
    for (int32_t v = 0; v < g->n; ++v) plain[v] = v;
    for (int32_t v = g->n - 1; shuffled && v > 0; --v) {
        const int32_t w = sd_draw(random, v + 1), swap = plain[v];
        plain[v] = plain[w];
        plain[w] = swap;
    }
    for (int32_t v = 0; v < g->n; ++v) ++next[degree_of(g, v) + 1];
    for (int32_t d = 0; d < DEGREES; ++d) next[d + 1] += next[d];
    for (int32_t v = 0; v < g->n; ++v) order[next[degree_of(g, plain[v])]++] = plain[v];
}

/* Each with its single neighbour across the heaviest edge. Returns how many stay single. */
static int32_t match_heavy(const sd_part *g, int64_t heaviest, const int32_t *order, int32_t *mate)
{
    int32_t single = 0;
    for (int32_t v = 0; v < g->n; ++v) mate[v] = -1;
    for (int32_t i = 0; i < g->n; ++i) {
        const int32_t v = order[i];
        int32_t best = -1, weight = 0;
        if (mate[v] >= 0) continue;
        for (int32_t k = g->ptr[v]; k < g->ptr[v + 1]; ++k) {
            const int32_t w = g->ind[k], heavy = g->weight ? g->weight[k] : 1;
            if (heavy <= weight || mate[w] >= 0 || (int64_t)g->size[v] + g->size[w] > heaviest) continue;
            best = w;
            weight = heavy;
        }
        single += best < 0;
        if (best < 0) continue;
        mate[v] = best;
        mate[best] = v;
    }
    return single; /* that found nobody: some of them were found later on */
}

/* Those that are single and have a neighbour in common. */
static void match_across(const sd_part *g, int64_t heaviest, const int32_t *order, int32_t *mate)
{
    for (int32_t i = 0; i < g->n; ++i) {
        const int32_t v = order[i];
        int32_t waiting = -1;
        for (int32_t k = g->ptr[v]; k < g->ptr[v + 1]; ++k) {
            const int32_t w = g->ind[k];
            if (mate[w] >= 0) continue;
            if (waiting < 0 || (int64_t)g->size[waiting] + g->size[w] > heaviest) {
                waiting = w;
                continue;
            }
            mate[waiting] = w;
            mate[w] = waiting;
            waiting = -1;
        }
    }
}

/* map[v]: the pair of v; `first` has a vertex of each. Returns the number of pairs. */
static int32_t number_pairs(int32_t n, const int32_t *mate, int32_t *map, int32_t *first)
{
    int32_t pairs = 0;
    for (int32_t v = 0; v < n; ++v) {
        if (mate[v] >= 0 && mate[v] < v) continue;
        first[pairs] = v;
        map[v] = pairs;
        if (mate[v] >= 0) map[mate[v]] = pairs;
        ++pairs;
    }
    return pairs;
}

/* The neighbours of v added to the list of pair p, which begins at `begin`; returns where it ends, -1 where
 * there is no room. */
static int64_t add_list(const sd_part *g, int32_t v, int32_t p, const int32_t *map, int32_t *seen,
                        sd_part *coarse, int64_t begin, int64_t end, int64_t room)
{
    for (int32_t k = g->ptr[v]; k < g->ptr[v + 1]; ++k) {
        const int32_t q = map[g->ind[k]], weight = g->weight ? g->weight[k] : 1;
        if (q == p) continue;
        if (seen[q] >= begin) {
            coarse->weight[seen[q]] += weight;
            continue;
        }
        if (end >= room) return -1;
        seen[q] = (int32_t)end;
        coarse->ind[end] = q;
        coarse->weight[end++] = weight;
    }
    return end;
}

static bool contract(const sd_part *g, const int32_t *mate, const int32_t *map, const int32_t *first,
                     int32_t *seen, sd_region *r, sd_part *coarse)
{
    const sd_region before = *r;
    coarse->rows = g->rows;
    coarse->ptr = sd_words(r, (int64_t)coarse->n + 1);
    coarse->size = sd_words(r, coarse->n);
    const int64_t room = (r->end - r->at) / 2;
    int64_t edges = 0;
    bool fits = coarse->ptr && coarse->size;
    coarse->ind = r->at;
    coarse->weight = r->at + room;
    for (int32_t p = 0; p < coarse->n && fits; ++p) seen[p] = -1;
    for (int32_t p = 0; p < coarse->n && fits; ++p) {
        const int32_t v = first[p], w = mate[v];
        const int64_t begin = edges;
        coarse->ptr[p] = (int32_t)edges;
        coarse->size[p] = g->size[v] + (w >= 0 ? g->size[w] : 0);
        edges = add_list(g, v, p, map, seen, coarse, begin, edges, room);
        if (w >= 0 && edges >= 0) edges = add_list(g, w, p, map, seen, coarse, begin, edges, room);
        fits = edges >= 0;
    }
    if (!fits) {
        *r = before;
        return false;
    }
    coarse->ptr[coarse->n] = (int32_t)edges;
    memmove(coarse->ind + edges, coarse->weight, (size_t)edges * sizeof *coarse->weight);
    coarse->weight = coarse->ind + edges;
    r->at += 2 * edges;
    return true;
}

bool sd_coarsen(const sd_part *g, int64_t heaviest, bool shuffled, uint64_t *random, sd_region *r,
                int32_t *map, sd_part *coarse)
{
    /* work at the end of the region: it is free again afterwards */
    sd_region work = {r->end - 3 * (int64_t)g->n, r->end};
    if (work.at < r->at) return false;
    int32_t *order = sd_words(&work, g->n), *mate = sd_words(&work, g->n), *first = sd_words(&work, g->n);
    visit_order(g, shuffled, random, order, mate);
    if (match_heavy(g, heaviest, order, mate) > g->n / 2) match_across(g, heaviest, order, mate);
    *coarse = (sd_part){.n = number_pairs(g->n, mate, map, first)};
    if (coarse->n > g->n - g->n / 8) return false;
    sd_region front = {r->at, order};
    const bool made = contract(g, mate, map, first, order, &front, coarse);
    if (made) r->at = front.at;
    return made;
}
