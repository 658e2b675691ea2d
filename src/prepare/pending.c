/* What is still being built: each of these goes when its own file arrives. */
#include "prepare/matching.h"
#include "prepare/pairs.h"
#include "prepare/prepare.h"
#include "prepare/scaling.h"
#define PENDING(name, args)                                                                                  \
    saddle_status name args                                                                                  \
    {                                                                                                        \
        return sd_fail(c, SADDLE_NOT_SUPPORTED, #name " is not built yet");                                  \
    }
#pragma GCC diagnostic ignored "-Wunused-parameter"
PENDING(sd_match_product, (sd_context * c, const sd_csr *A, bool symmetric, sd_matching *m))
PENDING(sd_match_auction, (sd_context * c, const sd_csr *A, bool symmetric, sd_matching *m))
void sd_matching_free(sd_context *c, sd_matching *m)
{
}
void sd_matching_objective(const sd_csr *A, const int32_t *row_of, const double *row_scale,
                           const double *col_scale, double *log_product, double *log_scaled)
{
}
PENDING(sd_scale_ruiz, (sd_context * c, const sd_csr *A, bool s, double *row_scale, double *col_scale))
PENDING(sd_scale_col2, (sd_context * c, const sd_csr *A, bool s, double *row_scale, double *col_scale))
PENDING(sd_scale_check, (sd_context * c, const double *scale, int32_t n, const char *what))
PENDING(sd_pairs_split,
        (sd_context * c, const sd_csr *A, const int32_t *row_of, const double *scale, int32_t *partner))
int32_t sd_pairs_parts(int32_t n, const int32_t *partner, int32_t *part)
{
    return 0;
}
PENDING(sd_pairs_need, (sd_context * c, const sd_csr *A, const double *scale, sd_need *need))
saddle_status saddle_prepare_sized(const saddle_matrix *A, const saddle_options *options,
                                   const saddle_given *given, const saddle_hooks *hooks,
                                   saddle_preparation *preparation, size_t size, char *message)
{
    return SADDLE_NOT_SUPPORTED;
}
void saddle_preparation_free(saddle_preparation *preparation, const saddle_hooks *hooks)
{
}
