/*
 * Stacks and the switch between them. On x86-64 a switch saves the registers that a function must keep and
 * takes about as long as a call; elsewhere ucontext does it, with a system call.
 */
#include "fibers.h"

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <sys/mman.h>
#include <unistd.h>
#include <vector>

#if defined(__SANITIZE_ADDRESS__)
#define WITH_ASAN 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define WITH_ASAN 1
#endif
#endif
#ifdef WITH_ASAN
#include <sanitizer/common_interface_defs.h>
#endif

#if !defined(__x86_64__) || defined(EMULATED_UCONTEXT)
#define EMULATED_UCONTEXT 1
#include <ucontext.h>
#endif

namespace emulated
{

context host;

namespace
{

/* Kernels have some KiB of arrays at most, which instrumentation makes larger. Only what is touched counts.
 */
#ifdef WITH_ASAN
constexpr size_t STACK = 512 << 10;
#else
constexpr size_t STACK = 128 << 10;
#endif

struct pool {
    std::vector<context *> all, idle;
    ~pool()
    {
        for (context *c : all) {
#ifdef EMULATED_UCONTEXT
            delete static_cast<ucontext_t *>(c->registers);
#endif
            munmap(static_cast<char *>(c->low) - getpagesize(),
                   c->bytes + static_cast<size_t>(getpagesize()));
            delete c;
        }
    }
};
pool stacks;

#ifdef WITH_ASAN
context *left; /* by the last jump */
#endif

/* Below the stack a page that stops what runs over its end. */
context *new_stack()
{
    const size_t page = static_cast<size_t>(getpagesize());
    void *const room = mmap(nullptr, STACK + page, PROT_READ | PROT_WRITE,
                            MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (room == MAP_FAILED || mprotect(room, page, PROT_NONE)) {
        fprintf(stderr, "emulated: no memory for the stack of a thread\n");
        abort();
    }
    context *const made = new context;
    made->low = static_cast<char *>(room) + page;
    made->bytes = STACK;
#ifdef EMULATED_UCONTEXT
    made->registers = new ucontext_t;
#endif
    made->number = stacks.all.size();
    stacks.all.push_back(made);
    return made;
}

#ifdef EMULATED_UCONTEXT

void prepare(context *c, void (*life)())
{
    ucontext_t *const u = static_cast<ucontext_t *>(c->registers);
    getcontext(u);
    u->uc_stack.ss_sp = c->low;
    u->uc_stack.ss_size = c->bytes;
    u->uc_link = nullptr;
    makecontext(u, life, 0);
}

void exchange(context *from, context *to)
{
    static ucontext_t of_host;
    if (!host.registers) host.registers = &of_host;
    if (from)
        swapcontext(static_cast<ucontext_t *>(from->registers), static_cast<ucontext_t *>(to->registers));
    else
        setcontext(static_cast<ucontext_t *>(to->registers));
}

#else

/* The registers that a function keeps are pushed, the stack pointer goes to *from, and the same backwards. */
extern "C" void emulated_exchange(void **from, void *to);
asm(".pushsection .text\n"
    ".hidden emulated_exchange\n"
    ".globl emulated_exchange\n"
    ".type emulated_exchange, @function\n"
    "emulated_exchange:\n"
    "    pushq %rbp\n"
    "    pushq %rbx\n"
    "    pushq %r12\n"
    "    pushq %r13\n"
    "    pushq %r14\n"
    "    pushq %r15\n"
    "    movq %rsp, (%rdi)\n"
    "    movq %rsi, %rsp\n"
    "    popq %r15\n"
    "    popq %r14\n"
    "    popq %r13\n"
    "    popq %r12\n"
    "    popq %rbx\n"
    "    popq %rbp\n"
    "    ret\n"
    ".size emulated_exchange, . - emulated_exchange\n"
    ".popsection\n");

/* Six registers, life, and no address for it to return to; aligned as at a call. Stacks begin at different
 * places of their pages, so that their ends do not meet in one line of the cache. */
void prepare(context *c, void (*life)())
{
    char *const end = static_cast<char *>(c->low) + c->bytes - c->number % 32 * 128;
    uint64_t *const top = reinterpret_cast<uint64_t *>(end) - 10;
    for (int k = 0; k < 10; ++k) top[k] = 0;
    top[6] = reinterpret_cast<uint64_t>(life);
    c->registers = top;
}

void exchange(context *from, context *to)
{
    void *unused;
    emulated_exchange(from ? &from->registers : &unused, to->registers);
}

#endif

} /* namespace */

context *take_stack(void (*life)())
{
    context *taken;
    if (stacks.idle.empty()) {
        taken = new_stack();
    } else {
        taken = stacks.idle.back();
        stacks.idle.pop_back();
    }
    taken->fake = nullptr;
    prepare(taken, life);
    return taken;
}

void give_stack(context *stack)
{
    stacks.idle.push_back(stack);
}

void jump(context *from, context *to)
{
#ifdef WITH_ASAN
    left = from;
    __sanitizer_start_switch_fiber(from ? &from->fake : nullptr, to->low, to->bytes);
#endif
    exchange(from, to);
#ifdef WITH_ASAN
    __sanitizer_finish_switch_fiber(from->fake, nullptr, nullptr);
#endif
}

/* AddressSanitizer alone knows where the host's stack is, and says so to whom comes from it. */
void arrive()
{
#ifdef WITH_ASAN
    const void *low = nullptr;
    size_t bytes = 0;
    __sanitizer_finish_switch_fiber(nullptr, &low, &bytes);
    if (left != &host) return;
    host.low = const_cast<void *>(low);
    host.bytes = bytes;
#endif
}

} /* namespace emulated */
