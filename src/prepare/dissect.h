/*
 * What the files of the nested dissection share: graphs in one piece of memory, and separators.
 *
 * A part of the dissection is a graph in a region, a range of the memory that was allocated once for the
 * whole graph. All that is done with a part happens in its region: its coarser graphs, its separator, its
 * order. Then the region is divided among the two sides, which are parts of their own. So parts share
 * nothing, threads that order them need neither locks nor an allocator, and memory does not depend on how
 * many there are.
 */
#pragma once

#include "prepare/graph.h"

/* Words of 32 bits that a part takes for each vertex and each stored edge: the graph, the coarser ones (at
 * most three times its edges, with their weights), and the work arrays of separate and order. */
enum { SD_VERTEX_WORDS = 32, SD_EDGE_WORDS = 7 };

typedef struct sd_region {
    int32_t *at, *end;
} sd_region;

/* The next `count` words; NULL where there are not as many. */
static inline int32_t *sd_words(sd_region *r, int64_t count)
{
    int32_t *words = r->at;
    if (r->end - r->at < count) return NULL;
    r->at += count;
    return words;
}

/* Lists of neighbours as in sd_graph. */
typedef struct sd_part {
    int32_t n;
    int32_t *ptr, *ind;
    int32_t *size;   /* rows of each vertex */
    int32_t *weight; /* of each stored edge; NULL: 1 each */
    int64_t rows;
} sd_part;

/* A sequence of numbers of its own (G. Marsaglia, Xorshift RNGs, J. Stat. Softw. 8 (2003)); below `range`. */
static inline int32_t sd_draw(uint64_t *random, int32_t range)
{
    *random ^= *random << 13;
    *random ^= *random >> 7;
    *random ^= *random << 17;
    return (int32_t)((*random >> 11) % (uint64_t)range);
}

/*
 * The next coarser graph: neighbours joined by a heavy edge become one vertex of at most `heaviest` rows;
 * map[v] is the vertex of v. `shuffled`: in a random order. False where it is hardly smaller than g or does
 * not fit the region; then nothing is taken from it.
 */
bool sd_coarsen(const sd_part *g, int64_t heaviest, bool shuffled, uint64_t *random, sd_region *r,
                int32_t *map, sd_part *coarse);

/*
 * A separator of g: side[v] is 0 or 1, or 2 in the separator, which is small, and neither side has more than
 * 13/20 of the rows where that can be had. False where there is no room: the region is too small.
 */
bool sd_separate(const sd_part *g, uint64_t random, sd_region r, int32_t *side);

/* What sd_separate is made of: a separator that is improved. */
typedef struct sd_cut {
    const sd_part *g;
    int32_t *side;
    int64_t rows[3];         /* of either side, and of the separator */
    int64_t most;            /* rows of a side */
    int32_t *reach;          /* 2 each vertex of the separator: rows of its neighbours on either side */
    int32_t *border, *place; /* its vertices, and where each is among them; -1: elsewhere */
    int32_t borders;
    int32_t *heap, *key, *at; /* of a pass: vertices, the rows each gains, where each is in the heap; -1 */
    int32_t heaped;
    int32_t *moved, *pulled, *first; /* of a pass: vertices, what followed them, and from where */
} sd_cut;

/* Room for graphs of up to n vertices: at most SD_CUT_WORDS (n + 1). */
enum { SD_CUT_WORDS = 10 };
bool sd_cut_room(sd_cut *t, int32_t n, sd_region *r);

/* The separator that g and side describe. */
void sd_cut_begin(sd_cut *t, const sd_part *g, int32_t *side);

/* Better by moving vertices of the separator to a side, whose neighbours on the other follow into it. */
void sd_cut_refine(sd_cut *t);

/* From nothing: a side grown from a random vertex, then refined. */
void sd_cut_grow(sd_cut *t, const sd_part *g, int32_t *side, uint64_t *random);

/* What is compared: rows beyond the most of a side, then the separator over the product of its sides, then
 * the difference of the sides. */
typedef struct sd_score {
    int64_t excess, difference;
    double ratio;
} sd_score;
sd_score sd_cut_score(const sd_cut *t);
bool sd_better(sd_score a, sd_score b);
