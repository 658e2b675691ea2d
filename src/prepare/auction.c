#include "prepare/matching.h"
saddle_status sd_match_auction(sd_context *c, const sd_csr *A, bool symmetric, sd_matching *m)
{
    return sd_match_product(c, A, symmetric, m);
}
