/* Solves with the triangles of an incomplete factorization. */
#pragma once

#include "factor/triangles.h"
#include "solve/swept.h"

/* For solves of this kind (swept.h), of so many right-hand sides at once, which lie one after the other;
 * after both frames are there. Sweeps over blocks need triangles that have some. */
sd_two_triangles sd_triangles_view(const sd_triangles *t, sd_trisolve_kind kind, int columns);
