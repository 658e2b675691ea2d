/* For the writers: any view of a matrix, entry by entry; and the writers, each of one format. */
#pragma once

#include "io/output.h"

/* What is done with each entry, counted from 0; other than success ends the walk. */
typedef saddle_status (*sd_visitor)(void *user, int32_t row, int32_t col, double value);

/* name is the file's, for messages. Whether sd_walk can go through the view without reading where there is
 * nothing. */
saddle_status sd_check_view(sd_context *c, const char *name, const saddle_matrix *A);

/* Visits the entries in the order in which they are stored, of a symmetric matrix those of the lower
 * triangle, wherever they are. Fails at an entry out of range, in the wrong triangle, or not finite. */
saddle_status sd_walk(sd_context *c, const char *name, const saddle_matrix *A, sd_visitor visit, void *user);

/* A comment may be NULL. */
saddle_status sd_write_market(sd_context *c, sd_output *o, const saddle_matrix *A, const char *comment);
saddle_status sd_write_boeing(sd_context *c, sd_output *o, const saddle_matrix *A, const char *comment);
saddle_status sd_write_market_vector(sd_output *o, int64_t n, const double *values, const char *comment);
