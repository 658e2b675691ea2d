/* Small symmetric blocks that the host makes, by their eigenvalues, and that a backend multiplies with. */
#pragma once

#include "backend/batch_memory.h"

/* Blocks of numbers on the host, block k from square[k] on, become |M| or sign(M). */
void sd_sign_blocks(int32_t blocks, const int32_t *start, const int64_t *square, sd_precision precision,
                    int threads, bool absolute, void *numbers);

/* f, made for its plan, becomes inverses that are these numbers of the host, as the plan lays them. */
saddle_status sd_batch_set_inverses(sd_engine *e, const void *numbers, sd_batch_factors *f);
