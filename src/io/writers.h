/* Writers of one format each, for write.c. comment may be NULL. */
#pragma once

#include "io/output.h"

saddle_status sd_write_market(sd_context *c, sd_output *o, const saddle_matrix *A, const char *comment);
saddle_status sd_write_boeing(sd_context *c, sd_output *o, const saddle_matrix *A, const char *comment);
saddle_status sd_write_market_vector(sd_output *o, int64_t n, const double *values, const char *comment);
