/*
 * Shared variables are filled with garbage before a block begins, so that it shows where one reads what no
 * thread of its block wrote.
 *
 * They are the thread-local memory of the module, all kernels' together: some MiB, too many to fill for
 * every block. So it is learnt which pages a kernel writes: all are filled before its first block and looked
 * through after it, and again after its second, fourth, eighth, ... block.
 */
#include "parts.h"

#include <link.h>
#include <pthread.h>
#include <unordered_map>
#include <vector>

namespace emulated
{
namespace
{

constexpr size_t PAGE = 4096;

__shared__ char anchor; /* one of the variables, for there is no memory before one is touched */

struct region {
    char *low;
    size_t bytes;
};

int find_tls(struct dl_phdr_info *object, size_t, void *found)
{
    bool ours = false;
    const ElfW(Addr) here = reinterpret_cast<ElfW(Addr)>(&blockIdx);
    size_t bytes = 0;
    for (int k = 0; k < object->dlpi_phnum; ++k) {
        const ElfW(Phdr) &p = object->dlpi_phdr[k];
        const ElfW(Addr) low = object->dlpi_addr + p.p_vaddr;
        if (p.p_type == PT_LOAD && here >= low && here < low + p.p_memsz) ours = true;
        if (p.p_type == PT_TLS) bytes = p.p_memsz;
    }
    if (!ours) return 0;
    *static_cast<region *>(found) = {static_cast<char *>(object->dlpi_tls_data), bytes};
    return 1;
}

region shared_variables()
{
    region found = {nullptr, 0};
    *const_cast<volatile char *>(&anchor) = 0;
    dl_iterate_phdr(find_tls, &found);
    if (found.low > &anchor || found.low + found.bytes <= &anchor)
        give_up("the shared variables of the kernels were not found");
    return found;
}

/* What is known of a kernel. */
struct habits {
    uint64_t blocks = 0;
    std::vector<bool> writes; /* pages */
};
std::unordered_map<any_kernel, habits> known;

pthread_key_t place_of; /* the variables of a thread of the host, which has filled them once */
pthread_once_t place_once = PTHREAD_ONCE_INIT;

template <class F> void each_page(const region &r, const F &f)
{
    for (size_t k = 0; k * PAGE < r.bytes; ++k)
        f(k, r.low + k * PAGE, r.bytes - k * PAGE < PAGE ? r.bytes - k * PAGE : PAGE);
}

} /* namespace */

void fill_with_garbage(void *data, size_t bytes)
{
    const uint64_t garbage = GARBAGE;
    char *const to = static_cast<char *>(data);
    for (size_t k = 0; k < bytes; k += sizeof garbage)
        memcpy(to + k, &garbage, bytes - k < sizeof garbage ? bytes - k : sizeof garbage);
}

bool is_garbage(const void *data, size_t bytes)
{
    const uint64_t garbage = GARBAGE;
    const char *const from = static_cast<const char *>(data);
    for (size_t k = 0; k < bytes; k += sizeof garbage)
        if (memcmp(from + k, &garbage, bytes - k < sizeof garbage ? bytes - k : sizeof garbage)) return false;
    return true;
}

void begin_shared(any_kernel kernel)
{
    pthread_once(&place_once,
                 [] { pthread_key_create(&place_of, [](void *r) { delete static_cast<region *>(r); }); });
    const region *const before = static_cast<region *>(pthread_getspecific(place_of));
    const region r = before ? *before : shared_variables();
    habits &h = known[kernel];
    if (h.writes.empty() || !before) {
        if (!before) pthread_setspecific(place_of, new region(r));
        h.writes.resize(r.bytes / PAGE + 1);
        fill_with_garbage(r.low, r.bytes);
        return;
    }
    each_page(r, [&](size_t k, char *page, size_t bytes) {
        if (h.writes[k]) fill_with_garbage(page, bytes);
    });
}

void end_shared(any_kernel kernel, bool many)
{
    habits &h = known[kernel];
    ++h.blocks;
    if (h.blocks & (h.blocks - 1)) return;
    each_page(
        *static_cast<region *>(pthread_getspecific(place_of)), [&](size_t k, const char *page, size_t bytes) {
            if (is_garbage(page, bytes)) return;
            if (many && h.blocks == 1)
                give_up("kernel %s, of which all blocks are alive at once, has __shared__ variables: only "
                        "dynamic shared memory is a block's own",
                        name_of(kernel));
            h.writes[k] = true;
        });
}

} /* namespace emulated */
