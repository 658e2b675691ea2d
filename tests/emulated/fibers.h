/* Fibers: stacks that one thread of the host runs in turn. */
#pragma once

#include <cstddef>

namespace emulated
{

/* A place to come back to: that of the host's thread, or of a stack. */
struct context {
    void *registers = nullptr; /* where they were saved */
    void *low = nullptr;       /* of the stack */
    size_t bytes = 0;
    size_t number = 0;
    void *fake = nullptr; /* what AddressSanitizer keeps of it */
};

/* A stack that begins with life(), which must not return; from a pool, to which give_stack returns it. The
 * one that runs may be given back just before it is left for good. */
context *take_stack(void (*life)());
void give_stack(context *stack);

/* Goes on with `to`; returns when another comes back. Without `from` the stack that runs is left for good. */
void jump(context *from, context *to);

/* The first thing in a life. */
void arrive();

/* The thread of the host, from which the first jump goes and to which the last one comes back. */
extern context host;

} /* namespace emulated */
