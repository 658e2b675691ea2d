/* The reference backend: kernels.inc in both precisions. */
#include "backend/host.h"
#include "backend/reference/batch.h"
#include "core/dd.h"

#define TEMPLATE "backend/reference/kernels.inc"
#include "backend/both_precisions.inc"

#define BACKEND sd_backend_reference
#define BACKEND_NAME "reference"
#define BACKEND_SUBSTITUTES false
#define BATCH(name) sd_reference_##name
#include "backend/host_table.inc"
