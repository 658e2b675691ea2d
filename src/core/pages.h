/*
 * Memory for arrays, the large ones in large pages.
 *
 * A page of 4 KiB costs a fault when it is touched for the first time, half of the time of many a first
 * factorization, and an entry of the TLB whenever it is touched again, as gathers along a sparse matrix do.
 * Linux backs memory with pages of 2 MiB where it is asked to (madvise; its setting `madvise`, which is
 * common, does so for those who ask only, `never` for nobody).
 */
#pragma once

#include <stddef.h>

/* As malloc, and freed by free. */
void *sd_pages_allocate(size_t bytes);
