/*
 * Threads, warps and blocks of a launch. Threads are fibers, which switch where they wait for one another,
 * where they yield and at their end. In the order in which they may run they do; with SADDLE_EMULATED_SEED
 * set to a number, in one that is drawn, as is that of the blocks.
 */
#include "fibers.h"
#include "parts.h"

#include <algorithm>
#include <cfenv>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <mutex>
#include <vector>

uint3 threadIdx, blockIdx;
dim3 blockDim, gridDim;

namespace emulated
{
namespace
{

constexpr int WARP = 32, WINDOW = 8;
constexpr uint64_t SPINS = 1u << 30; /* without a thread that ends, until a launch counts as hanging */

struct block;

struct warp {
    unsigned alive = 0, waits = 0;
    unsigned mask[WARP];
    action act[WARP];
    void *given[WARP];
};

struct thread {
    uint3 index;
    block *in;
    int number;     /* in the block */
    context *stack; /* from its first step on */
    place at;       /* where it waits */
    votes result;   /* of the barrier */
    bool ended;

    warp &of() const;
    int lane() const
    {
        return number % WARP;
    }
};

struct block {
    uint3 index;
    std::vector<thread> threads;
    std::vector<warp> warps;
    std::vector<thread *> waiting; /* at the barrier */
    int alive, yes;
    void *shared;
};

warp &thread::of() const
{
    return in->warps[static_cast<size_t>(number / WARP)];
}

/* Threads that may run: a ring with room for all that are alive, a power of two. */
class queue
{
    std::vector<thread *> ring;
    size_t first = 0, count = 0;

    thread *&at(size_t k)
    {
        return ring[(first + k) & (ring.size() - 1)];
    }

  public:
    size_t size() const
    {
        return count;
    }
    void push(thread *t)
    {
        if (count == ring.size()) {
            std::rotate(ring.begin(), ring.begin() + static_cast<ptrdiff_t>(first), ring.end());
            first = 0;
            ring.resize(std::max<size_t>(1024, 2 * count));
        }
        at(count++) = t;
    }
    thread *pop(size_t k)
    {
        std::swap(at(0), at(k));
        thread *const t = at(0);
        first = (first + 1) & (ring.size() - 1);
        --count;
        return t;
    }
};

/* The launch that runs: one at a time. */
struct launched {
    const cudaLaunchConfig_t *shape;
    any_kernel kernel;
    const std::function<void()> *body;
    bool cooperative;
    bool many; /* blocks were alive at once */
    uint64_t blocks, begun;
    std::vector<uint32_t> order; /* of blocks, where it was drawn */
    std::vector<block *> alive;
    uint64_t spins;
    bool drawn;
    uint64_t random;
};

launched now;
thread *current;
queue ready;
std::vector<std::unique_ptr<block>> idle;

uint64_t draw(uint64_t below)
{
    now.random ^= now.random << 13;
    now.random ^= now.random >> 7;
    now.random ^= now.random << 17;
    return now.random % below;
}

/* ---- messages ---- */

void say_where(const thread &from, const thread &to)
{
    fprintf(stderr, "  block (%u, %u, %u) thread (%u, %u, %u)", from.in->index.x, from.in->index.y,
            from.in->index.z, from.index.x, from.index.y, from.index.z);
    if (&from != &to) fprintf(stderr, " to (%u, %u, %u)", to.index.x, to.index.y, to.index.z);
    fprintf(stderr, ": %s, %s:%d\n", from.at.what, from.at.file, from.at.line);
}

bool is_alike(const thread &a, const thread &b)
{
    return a.ended == b.ended && a.at.what == b.at.what && a.at.line == b.at.line;
}

[[noreturn]] void stuck(const char *why)
{
    constexpr int LINES = 32;
    const cudaLaunchConfig_t &s = *now.shape;
    fprintf(stderr, "emulated: %s in kernel %s, %u x %u x %u blocks of %u x %u x %u threads:\n", why,
            name_of(now.kernel), s.gridDim.x, s.gridDim.y, s.gridDim.z, s.blockDim.x, s.blockDim.y,
            s.blockDim.z);
    int lines = 0;
    for (const block *b : now.alive) {
        for (size_t k = 0; k < b->threads.size() && lines < LINES;) {
            const size_t first = k;
            while (k < b->threads.size() && is_alike(b->threads[first], b->threads[k])) ++k;
            if (b->threads[first].ended) continue;
            say_where(b->threads[first], b->threads[k - 1]);
            ++lines;
        }
    }
    abort();
}

/* ---- blocks begin and end ---- */

void begin_block()
{
    if (now.alive.empty()) begin_shared(now.kernel);
    now.many = !now.alive.empty();
    if (idle.empty()) idle.push_back(std::make_unique<block>());
    block *const b = idle.back().release();
    idle.pop_back();
    const uint64_t number = now.order.empty() ? now.begun : now.order[now.begun];
    ++now.begun;
    const dim3 grid = gridDim, shape = blockDim;
    b->index = {static_cast<unsigned>(number % grid.x), static_cast<unsigned>(number / grid.x % grid.y),
                static_cast<unsigned>(number / grid.x / grid.y)};
    const size_t count = static_cast<size_t>(shape.x) * shape.y * shape.z,
                 bytes = now.shape->dynamicSmemBytes;
    b->threads.resize(count);
    b->warps.assign((count + WARP - 1) / WARP, warp());
    b->alive = static_cast<int>(count);
    b->yes = 0;
    b->shared = bytes ? take_memory(bytes, false) : nullptr;
    now.alive.push_back(b);
    for (size_t k = 0; k < count; ++k) {
        thread &t = b->threads[k];
        t = thread();
        t.index = {static_cast<unsigned>(k % shape.x), static_cast<unsigned>(k / shape.x % shape.y),
                   static_cast<unsigned>(k / shape.x / shape.y)};
        t.in = b;
        t.number = static_cast<int>(k);
        t.at = {"not begun", "", 0};
        t.of().alive |= 1u << t.lane();
        ready.push(&t);
    }
}

void end_block(block *b)
{
    if (b->shared) give_memory(b->shared);
    now.alive.erase(std::find(now.alive.begin(), now.alive.end(), b));
    idle.emplace_back(b);
    if (now.alive.empty()) end_shared(now.kernel, now.many);
}

/* ---- one thread after the other ---- */

void run_as(thread *t)
{
    current = t;
    threadIdx = t->index;
    blockIdx = t->in->index;
}

/* The thread to run next; NULL where all blocks are done. */
thread *next_thread()
{
    if (ready.size() == 0 && now.alive.empty() && now.begun < now.blocks) begin_block();
    if (ready.size() > 0) return ready.pop(now.drawn ? draw(ready.size()) : 0);
    if (!now.alive.empty()) stuck("deadlock");
    return nullptr;
}

void end_thread();

/* What a stack does: threads that begin, one after the other, until one goes on that has a stack already. */
void live()
{
    arrive();
    for (;;) {
        context *const own = current->stack;
        (*now.body)();
        end_thread();
        thread *const next = next_thread();
        if (next && !next->stack) {
            next->stack = own;
            run_as(next);
            continue;
        }
        give_stack(own);
        if (next) run_as(next);
        jump(nullptr, next ? next->stack : &host);
    }
}

/* Until the one that runs is taken from the queue again. */
void wait_at(place at)
{
    thread *const self = current;
    self->at = at;
    thread *const next = next_thread();
    if (next == self) return;
    if (!next->stack) next->stack = take_stack(live);
    run_as(next);
    jump(self->stack, next->stack);
}

/* ---- warps ---- */

/* Does what the lanes of the mask came for, if all are there; wakes all but the one that runs. */
bool act_together(block *b, int number, unsigned mask, action act)
{
    warp &w = b->warps[static_cast<size_t>(number)];
    const unsigned lanes = mask & w.alive;
    if ((w.waits & lanes) != lanes) return false;
    bool all = true;
    each_lane(lanes, [&](int k) { all = all && w.mask[k] == mask && w.act[k] == act; });
    if (!all) return false;
    act(w.given, lanes);
    w.waits &= ~lanes;
    each_lane(lanes, [&](int k) {
        thread *const t = &b->threads[static_cast<size_t>(number * WARP + k)];
        if (t != current) ready.push(t);
    });
    return true;
}

/* ---- blocks ---- */

bool open_barrier(block *b)
{
    const int all = static_cast<int>(b->waiting.size());
    if (all < b->alive) return false;
    for (thread *t : b->waiting) {
        t->result = {all, b->yes};
        if (t != current) ready.push(t);
    }
    b->waiting.clear();
    b->yes = 0;
    return true;
}

/* Others may have waited for this one only. */
void end_thread()
{
    thread *const t = current;
    block *const b = t->in;
    warp &w = t->of();
    t->ended = true;
    now.spins = 0;
    w.alive &= ~(1u << t->lane());
    for (unsigned rest = w.waits; rest;) {
        const int k = __builtin_ctz(rest);
        rest &= ~w.mask[k] & (rest - 1);
        act_together(b, t->number / WARP, w.mask[k], w.act[k]);
    }
    if (--b->alive == 0)
        end_block(b);
    else if (!b->waiting.empty())
        open_barrier(b);
}

/* ---- launches ---- */

std::mutex one_launch;
std::vector<std::pair<any_kernel, int>> dynamic_bytes; /* that kernels may ask for */
constexpr int AT_HOME = 2; /* blocks on a multiprocessor, so that grids are small */

size_t allowed_bytes(any_kernel kernel)
{
    for (const auto &k : dynamic_bytes)
        if (k.first == kernel) return static_cast<size_t>(k.second);
    return USUAL_SHARED;
}

int fitting(int threads, size_t shared_bytes)
{
    if (threads < 1 || threads > THREADS || shared_bytes > MOST_SHARED) return 0;
    const int by_shared = static_cast<int>((MOST_SHARED + 1024) / (shared_bytes + 1024));
    return std::min({AT_HOME, ON_PROCESSOR / ((threads + WARP - 1) / WARP * WARP), by_shared});
}

bool is_possible(const cudaLaunchConfig_t &s, any_kernel kernel)
{
    const dim3 g = s.gridDim, b = s.blockDim;
    return g.x > 0 && g.x < 1u << 31 && g.y > 0 && g.y < 1 << 16 && g.z > 0 && g.z < 1 << 16 && b.x > 0 &&
           b.y > 0 && b.z > 0 && b.z <= 64 && static_cast<uint64_t>(b.x) * b.y * b.z <= THREADS &&
           s.dynamicSmemBytes <= allowed_bytes(kernel);
}

/* Draws the order of threads and blocks, where the environment asks for it. */
void begin_drawing()
{
    const char *const seed = getenv("SADDLE_EMULATED_SEED");
    now.drawn = seed && *seed;
    now.order.clear();
    if (!now.drawn) return;
    static uint64_t launches;
    now.random =
        (strtoull(seed, nullptr, 0) * 2 + 1) * 0x9e3779b97f4a7c15u + ++launches * 0x2545f4914f6cdd1du;
    if (now.random == 0) now.random = 1;
    if (now.cooperative || now.blocks > 1 << 20) return;
    for (uint32_t k = 0; k < now.blocks; ++k) now.order.push_back(k);
    for (size_t k = now.blocks; k > 1; --k) std::swap(now.order[k - 1], now.order[draw(k)]);
}

} /* namespace */

int lane()
{
    return current->lane();
}

void refuse(place at, const char *why)
{
    current->at = at;
    fprintf(stderr, "emulated: kernel %s: %s\n", name_of(now.kernel), why);
    say_where(*current, *current);
    abort();
}

void together(unsigned mask, void *given, action act, place at)
{
    thread *const self = current;
    warp &w = self->of();
    const int k = self->lane();
    if (!(mask >> k & 1)) refuse(at, "the lane is not in its own mask");
    w.waits |= 1u << k;
    w.mask[k] = mask;
    w.act[k] = act;
    w.given[k] = given;
    if (!act_together(self->in, self->number / WARP, mask, act)) wait_at(at);
}

void shuffle(void *const *given, unsigned lanes)
{
    uint64_t value[WARP];
    each_lane(lanes, [&](int k) { value[k] = static_cast<shuffled *>(given[k])->value; });
    each_lane(lanes, [&](int k) {
        shuffled *const s = static_cast<shuffled *>(given[k]);
        s->value = lanes >> s->from & 1 ? value[s->from] : GARBAGE;
    });
}

votes meet(bool yes, place at)
{
    thread *const self = current;
    self->in->waiting.push_back(self);
    self->in->yes += yes;
    if (!open_barrier(self->in)) wait_at(at);
    return self->result;
}

cudaError_t launch(const cudaLaunchConfig_t &shape, any_kernel kernel, const std::function<void()> &body)
{
    finish(shape.stream);
    const std::lock_guard<std::mutex> lock(one_launch);
    if (!is_possible(shape, kernel)) return cudaErrorInvalidConfiguration;
    now.shape = &shape;
    now.kernel = kernel;
    now.body = &body;
    now.cooperative = false;
    for (unsigned k = 0; k < shape.numAttrs; ++k)
        if (shape.attrs[k].id == cudaLaunchAttributeCooperative)
            now.cooperative = shape.attrs[k].val.cooperative;
    gridDim = shape.gridDim;
    blockDim = shape.blockDim;
    now.blocks = static_cast<uint64_t>(gridDim.x) * gridDim.y * gridDim.z;
    now.begun = now.spins = 0;
    const int threads = static_cast<int>(blockDim.x * blockDim.y * blockDim.z);
    if (now.cooperative &&
        now.blocks > static_cast<uint64_t>(PROCESSORS * fitting(threads, shape.dynamicSmemBytes)))
        return cudaErrorCooperativeLaunchTooLarge;
    begin_drawing();
    do begin_block();
    while (now.cooperative && now.begun < now.blocks);
    thread *const first = next_thread();
    first->stack = take_stack(live);
    run_as(first);
    jump(&host, first->stack);
    return cudaSuccess;
}

cudaError_t set_attribute(any_kernel kernel, cudaFuncAttribute attribute, int value)
{
    if (attribute != cudaFuncAttributeMaxDynamicSharedMemorySize) return cudaSuccess;
    if (value < 0 || static_cast<size_t>(value) > MOST_SHARED) return cudaErrorInvalidValue;
    const std::lock_guard<std::mutex> lock(one_launch);
    dynamic_bytes.insert(dynamic_bytes.begin(), {kernel, value});
    return cudaSuccess;
}

cudaError_t get_attributes(cudaFuncAttributes *attributes, any_kernel kernel)
{
    const std::lock_guard<std::mutex> lock(one_launch);
    *attributes = {};
    attributes->maxThreadsPerBlock = THREADS;
    attributes->maxDynamicSharedSizeBytes = static_cast<int>(allowed_bytes(kernel));
    return cudaSuccess;
}

cudaError_t occupancy(int *blocks, any_kernel kernel, int threads, size_t shared_bytes)
{
    const std::lock_guard<std::mutex> lock(one_launch);
    *blocks = shared_bytes <= allowed_bytes(kernel) ? fitting(threads, shared_bytes) : 0;
    return cudaSuccess;
}

/* Values that the compiler does not see, between two calls: it does not know of rounding modes. */
static double fma_rounded(double a, double b, double c, int mode)
{
    volatile double with[3] = {a, b, c};
    fesetround(mode);
    volatile double result = std::fma(with[0], with[1], with[2]);
    fesetround(FE_TONEAREST);
    return result;
}
double fma_up(double a, double b, double c)
{
    return fma_rounded(a, b, c, FE_UPWARD);
}
double fma_down(double a, double b, double c)
{
    return fma_rounded(a, b, c, FE_DOWNWARD);
}

} /* namespace emulated */

void *emulated_shared_memory()
{
    return emulated::current->in->shared;
}

/* The blocks behind may have to run for this one to go on: as on a device, some are alive with it. */
void emulated_yield()
{
    using namespace emulated;
    current->at = {"emulated_yield", "", 0};
    if (++now.spins > SPINS) stuck("threads that wait for what none of them writes");
    ready.push(current);
    if (now.begun < now.blocks && now.alive.size() < WINDOW) begin_block();
    wait_at(current->at);
}
