/* Matrix Market files, plain and gzipped. */
#include "fuzz_reader.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    fuzz_reader(data, size, ".mtx");
    return 0;
}
