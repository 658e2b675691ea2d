/* What is still being built: each of these goes when its own file arrives. */
#include "prepare/blocking.h"
#include "prepare/matching.h"
#include "prepare/measures.h"
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
PENDING(sd_block_graph,
        (sd_context * c, const sd_graph *g, int blocking, int32_t most, int32_t *part, int32_t *parts))
int32_t sd_block_cut(int32_t n, const int32_t *perm, const int32_t *partner, int32_t most, int32_t *start)
{
    return 0;
}
PENDING(sd_measure_blocks, (sd_context * c, const sd_csr *A, saddle_preparation *p))
