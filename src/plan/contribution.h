/*
 * How contribution blocks are laid out: the lower triangle of order q that a front leaves, in block columns
 * of SD_REST_WIDTH columns, each a dense rectangle from its first diagonal entry down. So it takes little
 * more than the triangle and can be multiplied into by gemm.
 */
#pragma once

#include <stdint.h>

enum { SD_REST_WIDTH = 128 };

/* Where block column b of a rest of order q begins, and its entry (i, j), i >= j. */
static inline int64_t sd_rest_block(int32_t q, int64_t b)
{
    return SD_REST_WIDTH * (b * q - SD_REST_WIDTH * (b * (b - 1) / 2));
}
static inline int64_t sd_rest_at(int32_t q, int32_t i, int32_t j)
{
    const int64_t b = j / SD_REST_WIDTH, first = b * SD_REST_WIDTH;
    return sd_rest_block(q, b) + (j - first) * (q - first) + (i - first);
}
/* Numbers in a rest of order q. */
static inline int64_t sd_rest_size(int32_t q)
{
    const int64_t whole = q / SD_REST_WIDTH, last = q % SD_REST_WIDTH;
    return sd_rest_block(q, whole) + last * last;
}
/* Numbers that are kept for it: an even number, so that two of them can be moved at a time. */
static inline int64_t sd_rest_room(int32_t q)
{
    return (sd_rest_size(q) + 1) / 2 * 2;
}
