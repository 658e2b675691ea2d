/* See probe.h. Libraries are loaded at run time: what is not there is reported, not an error. */
#define _GNU_SOURCE
#include "cli/probe.h"

#include "saddle/saddle.h"

#include <dlfcn.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

/* A function of a library, as a pointer of the right kind: ISO C has no cast for it. */
static bool find_function(void *library, const char *name, void *function)
{
    void *symbol = dlsym(library, name);
    memcpy(function, &symbol, sizeof symbol);
    return symbol != NULL;
}

void probe_blas(blas_probe *b)
{
    static const char *const names[] = {"libopenblas.so.0", "libblas.so.3"};
    void *library = NULL;
    memset(b, 0, sizeof *b);
    b->flavour = BLAS_UNKNOWN;
    for (int k = 0; k < 2 && !library; ++k) {
        library = dlopen(names[k], RTLD_LAZY | RTLD_LOCAL);
        if (library) snprintf(b->library, sizeof b->library, "%s", names[k]);
    }
    if (!library) return;
    b->found = true;
    int (*parallel)(void);
    const char *(*text)(void);
    if (find_function(library, "openblas_get_parallel", &parallel)) b->flavour = parallel();
    if (find_function(library, "openblas_get_config", &text)) {
        snprintf(b->config, sizeof b->config, "%s", text());
    }
}

const char *blas_flavour_text(int flavour)
{
    switch (flavour) {
    case BLAS_SERIAL: return "serial";
    case BLAS_PTHREADS: return "pthreads";
    case BLAS_OPENMP: return "OpenMP";
    default: return "flavour unknown";
    }
}

/*
 * METIS does not tell how wide its indices are. Its default options are 40 indices of -1: in a
 * buffer of 80 32-bit zeros they fill one half or all of it.
 */
static int metis_index_bits(void *library)
{
    int (*set_defaults)(void *options);
    int32_t options[80] = {0};
    if (!find_function(library, "METIS_SetDefaultOptions", &set_defaults)) return 0;
    set_defaults(options);
    return options[79] == -1 ? 64 : 32;
}

/* Orders the path of four vertices and checks that a permutation comes back. */
#define METIS_TRIAL(name, index)                                                                             \
    static bool name(void *library)                                                                          \
    {                                                                                                        \
        int (*order)(index *, index *, index *, index *, index *, index *, index *);                         \
        index n = 4, start[] = {0, 1, 3, 5, 6}, next[] = {1, 0, 2, 1, 3, 2}, perm[4], back[4], seen = 0;     \
        if (!find_function(library, "METIS_NodeND", &order)) return false;                                   \
        if (order(&n, start, next, NULL, NULL, perm, back) != 1) return false;                               \
        for (int k = 0; k < 4; ++k) {                                                                        \
            if (perm[k] >= 0 && perm[k] < 4) seen |= (index)1 << perm[k];                                    \
        }                                                                                                    \
        return seen == 15;                                                                                   \
    }
METIS_TRIAL(metis_works_32, int32_t)
METIS_TRIAL(metis_works_64, int64_t)

void probe_metis(metis_probe *m)
{
    memset(m, 0, sizeof *m);
    void *library = dlopen("libmetis.so.5", RTLD_LAZY | RTLD_LOCAL);
    if (!library) return;
    m->found = true;
    m->index_bits = metis_index_bits(library);
    /* METIS may call exit: the trial runs in a child. */
    fflush(NULL);
    const pid_t child = fork();
    if (child == 0) {
        const bool works = m->index_bits == 64   ? metis_works_64(library)
                           : m->index_bits == 32 ? metis_works_32(library)
                                                 : false;
        _exit(works ? 17 : 1);
    }
    int status;
    m->works =
        child > 0 && waitpid(child, &status, 0) == child && WIFEXITED(status) && WEXITSTATUS(status) == 17;
    dlclose(library);
}

/* The first line of a file that begins with `key`: what follows its colon. */
static bool line_of(const char *path, const char *key, char *text, size_t text_size)
{
    FILE *file = fopen(path, "r");
    char line[512];
    bool found = false;
    if (!file) return false;
    while (!found && fgets(line, sizeof line, file)) {
        if (strncmp(line, key, strlen(key)) != 0) continue;
        const char *value = strchr(line, ':');
        value = value ? value + 1 : line;
        value += strspn(value, " \t");
        snprintf(text, text_size, "%.*s", (int)strcspn(value, "\n"), value);
        found = true;
    }
    fclose(file);
    return found;
}

static int64_t number_of(const char *path, const char *key, int64_t factor)
{
    char text[128];
    char *end = text;
    if (!line_of(path, key, text, sizeof text)) return -1;
    const long long value = strtoll(text, &end, 10);
    return end == text ? -1 : value * factor;
}

static const char *simd_level(void)
{
#if defined(__x86_64__) || defined(__i386__)
    if (__builtin_cpu_supports("avx512f")) return "AVX-512";
    if (__builtin_cpu_supports("avx2")) return __builtin_cpu_supports("fma") ? "AVX2 with FMA" : "AVX2";
    if (__builtin_cpu_supports("avx")) return "AVX";
    return "SSE2";
#elif defined(__aarch64__)
    return "NEON";
#else
    return "none known";
#endif
}

void probe_machine(machine_probe *m)
{
    cpu_set_t set;
    memset(m, 0, sizeof *m);
    if (!line_of("/proc/cpuinfo", "model name", m->cpu, sizeof m->cpu))
        snprintf(m->cpu, sizeof m->cpu, "unknown");
    m->simd = simd_level();
    m->cores =
        sched_getaffinity(0, sizeof set, &set) == 0 ? CPU_COUNT(&set) : (int)sysconf(_SC_NPROCESSORS_ONLN);
    m->memory = number_of("/proc/meminfo", "MemTotal", 1024);
    m->available = number_of("/proc/meminfo", "MemAvailable", 1024);
    const int64_t limit = number_of("/sys/fs/cgroup/memory.max", "", 1);
    const int64_t used = number_of("/sys/fs/cgroup/memory.current", "", 1);
    if (limit >= 0 && (m->memory < 0 || limit < m->memory)) {
        m->memory = limit;
        if (used >= 0 && limit - used < m->available) m->available = limit > used ? limit - used : 0;
    }
}

void print_version(FILE *out)
{
    blas_probe blas;
    char device[SADDLE_MESSAGE_SIZE] = "";
    probe_blas(&blas);
    fprintf(out, "saddle %s (commit %s)\n", saddle_version(), saddle_commit());
    if (blas.found)
        fprintf(out, "BLAS: %s (%s)\n", blas.config[0] ? blas.config : blas.library,
                blas_flavour_text(blas.flavour));
    else
        fputs("BLAS: none found\n", out);
    const bool cuda = saddle_device("cuda", 0, device) == SADDLE_OK;
    fprintf(out, "CUDA: %s\n", cuda ? device : "none found (saddle doctor says why)");
}
