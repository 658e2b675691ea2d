/* All templates of the kernels on blocks, in their order: included once a precision by blocks.c. */
#include "backend/cpu/front_vector.h"

#include "backend/cpu/front_lanes.h"

#include "backend/cpu/block_vector.h"

#include "backend/cpu/block_transpose.h"

#include "backend/cpu/block_work.h"

#include "backend/cpu/block_elimination.h"

#include "backend/cpu/block_symmetric.h"

#include "backend/cpu/block_huard.h"

#include "backend/cpu/block_factor.h"

#include "backend/cpu/block_matrix.h"
