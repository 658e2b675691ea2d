/* Writing matrices and vectors, in the format that the name of the file says. See saddle.h, section 8. */
#include "io/io.h"
#include "io/walk.h"
#include "matrix/csr.h"

saddle_status sd_write_matrix(sd_context *c, const char *path, const saddle_matrix *A, const char *comment)
{
    const bool boeing = sd_ends_with(path, ".rb") || sd_ends_with(path, ".rb.gz");
    const bool market = sd_ends_with(path, ".mtx") || sd_ends_with(path, ".mtx.gz") || strcmp(path, "-") == 0;
    if (!boeing && !market) {
        return sd_fail(c, SADDLE_BAD_ARGUMENT,
                       "%.300s: the name of a matrix file must end in .mtx, .mtx.gz, .rb or .rb.gz, or be -",
                       path);
    }
    saddle_status status = sd_check_view(c, path, A);
    if (status != SADDLE_OK) return status;
    sd_output output;
    status = sd_output_open(&output, c, path);
    if (status != SADDLE_OK) return status;
    status = boeing ? sd_write_boeing(c, &output, A, comment) : sd_write_market(c, &output, A, comment);
    return sd_output_close(&output, status);
}

static saddle_status write_vector(sd_context *c, const char *path, int64_t n, const double *values,
                                  const char *comment)
{
    if (sd_ends_with(path, ".rb") || sd_ends_with(path, ".rb.gz")) {
        return sd_fail(c, SADDLE_BAD_ARGUMENT,
                       "%.300s: a vector is written as Matrix Market: the name must end in .mtx or .mtx.gz",
                       path);
    }
    sd_output output;
    const saddle_status status = sd_output_open(&output, c, path);
    if (status != SADDLE_OK) return status;
    return sd_output_close(&output, sd_write_market_vector(&output, n, values, comment));
}

saddle_status saddle_write_matrix(const char *path, const saddle_matrix *A, const char *comment,
                                  char *message)
{
    sd_context c;
    saddle_matrix view;
    sd_context_init(&c, NULL, 0);
    saddle_status status = path ? sd_view_take(&c, A, &view)
                                : sd_fail(&c, SADDLE_BAD_ARGUMENT, "saddle_write_matrix: the path is NULL");
    if (!status) status = sd_write_matrix(&c, path, &view, comment);
    return sd_tell(&c, status, message);
}

saddle_status saddle_write_vector(const char *path, int64_t n, const double *values, const char *comment,
                                  char *message)
{
    sd_context c;
    sd_context_init(&c, NULL, 0);
    if (!path || n < 0 || (n > 0 && !values)) {
        return sd_tell(
            &c,
            sd_fail(&c, SADDLE_BAD_ARGUMENT, "saddle_write_vector: path or values is NULL, or n is negative"),
            message);
    }
    return sd_tell(&c, write_vector(&c, path, n, values, comment), message);
}
