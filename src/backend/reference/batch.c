/* The reference's kernels on batches of small dense blocks: the templates next to this file, in both
 * precisions; and the application of factors in single to vectors in double. */
#include "backend/reference/batch.h"

#include <float.h>

#define PUBLIC_NAME(x) sd_reference_##x
#define PUBLIC_OF(x) PUBLIC_NAME(x)
#define PUBLIC(x) PUBLIC_OF(NAME(x))
#define TEMPLATE "backend/reference/batch_kernels.inc"
#include "backend/both_precisions.inc"
