/* Arrays in a GPU's memory, as a caller has them: by the driver's own interface, which is loaded where there
 * is one. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

typedef struct device_arrays device_arrays;

/* Device number 0; NULL where there is no driver or no device. */
device_arrays *device_arrays_open(void);
void device_arrays_close(device_arrays *d);

/* NULL on failure. What is made is freed with the device. */
void *device_array_of(device_arrays *d, const void *host, size_t bytes);
bool device_array_get(device_arrays *d, const void *array, void *host, size_t bytes);
void device_array_free(device_arrays *d, void *array);
