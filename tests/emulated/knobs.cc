/* The knobs, and what reads them. */
#include "knobs.h"
#include "parts.h"

namespace
{
emulated_knobs all;
}

extern "C" __attribute__((visibility("default"))) emulated_knobs *emulated_knobs_of()
{
    return &all;
}

bool emulated::events_are_late()
{
    return all.late;
}

int emulated_look(const int *at)
{
    ++all.looked;
    return all.looks > 0 && all.looked >= all.looks ? 1 : *static_cast<const volatile int *>(at);
}
