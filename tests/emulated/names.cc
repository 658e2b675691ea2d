/*
 * The name of a kernel, for messages. Kernels are local to their files, so dladdr does not know them; the
 * symbols in the file that was loaded do.
 */
#include "parts.h"

#include <cstdarg>
#include <cstdio>
#include <cstdlib>
#include <cxxabi.h>
#include <dlfcn.h>
#include <fstream>
#include <iterator>
#include <link.h>
#include <string>
#include <vector>

namespace emulated
{
namespace
{

/* The mangled name of the function that begins so far into the module, or "". */
std::string symbol_at(const std::vector<char> &file, ElfW(Addr) offset)
{
    const auto *const header = reinterpret_cast<const ElfW(Ehdr) *>(file.data());
    const auto *const sections = reinterpret_cast<const ElfW(Shdr) *>(file.data() + header->e_shoff);
    for (int k = 0; k < header->e_shnum; ++k) {
        if (sections[k].sh_type != SHT_SYMTAB) continue;
        const auto *const symbols = reinterpret_cast<const ElfW(Sym) *>(file.data() + sections[k].sh_offset);
        const char *const names = file.data() + sections[sections[k].sh_link].sh_offset;
        for (size_t i = 0; i < sections[k].sh_size / sizeof *symbols; ++i)
            if ((symbols[i].st_info & 15) == STT_FUNC && symbols[i].st_value == offset)
                return names + symbols[i].st_name;
    }
    return "";
}

} /* namespace */

const char *name_of(any_kernel kernel)
{
    static std::string name;
    Dl_info where;
    name = "(unknown)";
    if (!dladdr(reinterpret_cast<void *>(kernel), &where)) return name.c_str();
    std::ifstream stream(where.dli_fname, std::ios::binary);
    const std::vector<char> file((std::istreambuf_iterator<char>(stream)), std::istreambuf_iterator<char>());
    if (file.size() < sizeof(ElfW(Ehdr))) return name.c_str();
    const auto *const header = reinterpret_cast<const ElfW(Ehdr) *>(file.data());
    const ElfW(Addr) base = header->e_type == ET_DYN ? reinterpret_cast<ElfW(Addr)>(where.dli_fbase) : 0;
    const std::string symbol = symbol_at(file, reinterpret_cast<ElfW(Addr)>(kernel) - base);
    if (symbol.empty()) return name.c_str();
    char *const readable = abi::__cxa_demangle(symbol.c_str(), nullptr, nullptr, nullptr);
    name = readable ? readable : symbol;
    free(readable);
    return name.c_str();
}

void give_up(const char *format, ...)
{
    va_list args;
    va_start(args, format);
    fputs("emulated: ", stderr);
    vfprintf(stderr, format, args);
    fputc('\n', stderr);
    va_end(args);
    abort();
}

} /* namespace emulated */
