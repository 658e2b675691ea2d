/* Rutherford-Boeing and Harwell-Boeing files. */
#include "fuzz_reader.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    fuzz_reader(data, size, ".rb");
    return 0;
}
