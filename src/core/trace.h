#pragma once
#include <stdint.h>
#include <x86intrin.h>
void sd_trace(char kind, const void *body, int32_t item, uint64_t t0);
#define TT() __rdtsc()
