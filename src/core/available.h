/*
 * How much memory this machine has left. Linux promises more than there is and kills the process that uses
 * it; whoever is about to take much asks first, and can say what is missing.
 */
#pragma once

#include <stdint.h>

/* Bytes that can be taken without others' being written out: by the kernel's estimate with what is free of
 * the swap, and where the process is in a container (control groups, version 2) at most what that leaves. -1:
 * not known, as on other systems than Linux. */
int64_t sd_memory_available(void);
