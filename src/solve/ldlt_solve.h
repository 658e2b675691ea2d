/* Solves with a block LDL' in the memory of a backend. */
#pragma once

#include "factor/ldlt_preconditioner.h"
#include "solve/swept.h"

/* Its two triangles, for solves of this kind (swept.h); those over entries after sd_ldlt_place_entries. */
sd_two_triangles sd_ldlt_triangles(const sd_block_ldlt *ldlt, sd_trisolve_kind kind);
