/* The reference backend: kernels.inc in both precisions. */
#include "backend/host.h"
#include "backend/reference/batch.h"
#include "core/dd.h"

#define real double
#define NAME(x) x##_double
#define ABS(x) fabs(x)
#include "backend/reference/kernels.inc"
#undef real
#undef NAME
#undef ABS

#define real float
#define NAME(x) x##_single
#define ABS(x) fabsf(x)
#include "backend/reference/kernels.inc"

const sd_backend sd_backend_reference = {SD_HOST_FUNCTIONS, .name = "reference",
                                         .kernels = {
#define KERNEL(name, parameters, arguments) .name = name##_double,
                                             {
#include "backend/kernels.def"
#undef KERNEL
#define KERNEL(name, parameters, arguments) .name = sd_reference_##name##_double,
#include "backend/batch.def"
                                             },
#undef KERNEL
#define KERNEL(name, parameters, arguments) .name = name##_single,
                                             {
#include "backend/kernels.def"
#undef KERNEL
#define KERNEL(name, parameters, arguments) .name = sd_reference_##name##_single,
#include "backend/batch.def"
                                             },
#undef KERNEL
                                         }};
