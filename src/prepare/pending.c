/* What is still being built: each of these goes when its own file arrives. */
#include "prepare/blocking.h"
#include "prepare/etree.h"
#include "prepare/measures.h"
#include "prepare/order.h"
#include "prepare/prepare.h"
#define PENDING(name, args)                                                                                  \
    saddle_status name args                                                                                  \
    {                                                                                                        \
        return sd_fail(c, SADDLE_NOT_SUPPORTED, #name " is not built yet");                                  \
    }
#pragma GCC diagnostic ignored "-Wunused-parameter"
PENDING(sd_order_graph, (sd_context * c, const sd_graph *g, int order, int32_t *perm, int64_t *dense))
PENDING(sd_order_check, (sd_context * c, const int32_t *perm, int32_t n, const char *what))
PENDING(sd_predict_fill, (sd_context * c, const sd_graph *g, const int32_t *perm, sd_fill *fill))
PENDING(sd_block_graph,
        (sd_context * c, const sd_graph *g, int blocking, int32_t most, int32_t *part, int32_t *parts))
int32_t sd_block_cut(int32_t n, const int32_t *perm, const int32_t *partner, int32_t most, int32_t *start)
{
    return 0;
}
PENDING(sd_measure_blocks, (sd_context * c, const sd_csr *A, saddle_preparation *p))
saddle_status saddle_prepare_sized(const saddle_matrix *A, const saddle_options *options,
                                   const saddle_given *given, const saddle_hooks *hooks,
                                   saddle_preparation *preparation, size_t size, char *message)
{
    return SADDLE_NOT_SUPPORTED;
}
void saddle_preparation_free(saddle_preparation *preparation, const saddle_hooks *hooks)
{
}
