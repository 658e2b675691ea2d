/* What errors are made of: the largest of |r|, |b| and |x|, r'r and b'b, the largest |r_i| / w_i and |b_i| /
 * w_i with w = |A||x| + |b|, of a residual r = b - Ax. */
#pragma once

typedef struct sd_residual_norms {
    double largest_r, largest_b, largest_x, square_r, square_b, ratio, share;
} sd_residual_norms;

/* Numbers between this and its inverse need no scaling before they are multiplied and squared. */
#define SD_RESIDUAL_SAFE 0x1p+200
