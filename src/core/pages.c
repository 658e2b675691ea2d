/* See pages.h. */
#define _DEFAULT_SOURCE /* madvise */
#include "core/pages.h"

#include <stdlib.h>
#include <sys/mman.h>

enum {
    LARGE_PAGE = 2 << 20,  /* of x86-64, and of most others with pages of 4 KiB */
    LARGE = 2 * LARGE_PAGE /* bytes from which on most of an array is in whole pages */
};

void *sd_pages_allocate(size_t bytes)
{
#ifdef MADV_HUGEPAGE
    void *memory = NULL;
    if (bytes >= LARGE) {
        if (posix_memalign(&memory, LARGE_PAGE, bytes)) return NULL;
        /* advice: where it is refused, the memory is as good as any other */
        (void)madvise(memory, bytes / LARGE_PAGE * LARGE_PAGE, MADV_HUGEPAGE);
        return memory;
    }
#endif
    return malloc(bytes);
}
