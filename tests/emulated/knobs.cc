/* The knobs, and what reads them. */
#include "knobs.h"
#include "parts.h"

#include <cstdio>
#include <cstdlib>

namespace
{
emulated_knobs all;

/* Events are late from the beginning, for tests of programs: whoever waits for one says so, once. */
bool are_late_always()
{
    static const bool late = getenv("SADDLE_EMULATED_LATE") != nullptr;
    static bool said;
    if (late && !said) fputs("emulated: an event is late\n", stderr);
    said = late;
    return late;
}
}

extern "C" __attribute__((visibility("default"))) emulated_knobs *emulated_knobs_of()
{
    return &all;
}

extern "C" __attribute__((visibility("default"))) void *emulated_memory_take(size_t bytes)
{
    return emulated::take_memory(bytes, false);
}

extern "C" __attribute__((visibility("default"))) void emulated_memory_give(void *data)
{
    emulated::give_memory(data);
}

bool emulated::events_are_late()
{
    return all.late || are_late_always();
}

int emulated_look(const int *at)
{
    ++all.looked;
    return all.looks > 0 && all.looked >= all.looks ? 1 : *static_cast<const volatile int *>(at);
}
