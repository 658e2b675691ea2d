/* See probe.h. What is linked is asked by name, so that another version or flavour of it is seen as it is. */
#define _GNU_SOURCE
#include "cli/probe.h"

#include "saddle/saddle.h"

#include <dlfcn.h>
#include <errno.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

/* A function of a library that saddle is linked with, and the file it comes from. */
static bool find_linked(const char *name, void *function, char *file, size_t file_size)
{
    Dl_info info;
    void *symbol = dlsym(RTLD_DEFAULT, name);
    memcpy(function, &symbol, sizeof symbol);
    if (!symbol || !dladdr(symbol, &info) || !info.dli_fname) return false;
    char *path = realpath(info.dli_fname, NULL);
    const char *whole = path ? path : info.dli_fname, *slash = strrchr(whole, '/');
    snprintf(file, file_size, "%s", slash ? slash + 1 : whole);
    free(path);
    return true;
}

void probe_blas(blas_probe *b)
{
    void (*dgemm)(void);
    int (*parallel)(void);
    const char *(*text)(void);
    char file[64];
    memset(b, 0, sizeof *b);
    b->flavour = BLAS_UNKNOWN;
    b->found = find_linked("dgemm_", &dgemm, b->library, sizeof b->library);
    if (!b->found) return;
    if (find_linked("openblas_get_parallel", &parallel, file, sizeof file)) b->flavour = parallel();
    if (find_linked("openblas_get_config", &text, file, sizeof file))
        snprintf(b->config, sizeof b->config, "%s", text());
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

/* Whether order holds 0 to 3, each once. */
static bool orders_four(const int64_t *order)
{
    int seen = 0;
    for (int k = 0; k < 4; ++k)
        if (order[k] >= 0 && order[k] < 4) seen |= 1 << order[k];
    return seen == 15;
}

/* The path of four vertices. */
#define PATH_START                                                                                           \
    {                                                                                                        \
        0, 1, 3, 5, 6                                                                                        \
    }
#define PATH_NEXT                                                                                            \
    {                                                                                                        \
        1, 0, 2, 1, 3, 2                                                                                     \
    }

#define METIS_TRIAL(name, index)                                                                             \
    static bool name(int (*order)(index *, index *, index *, index *, index *, index *, index *))            \
    {                                                                                                        \
        index n = 4, start[] = PATH_START, next[] = PATH_NEXT, perm[4], back[4];                             \
        if (order(&n, start, next, NULL, NULL, perm, back) != 1) return false;                               \
        return orders_four((const int64_t[]){perm[0], perm[1], perm[2], perm[3]});                           \
    }
METIS_TRIAL(metis_works_32, int32_t)
METIS_TRIAL(metis_works_64, int64_t)

/*
 * METIS does not tell how wide its indices are. Its default options are 40 indices of -1: in a
 * buffer of 80 32-bit zeros they fill one half or all of it.
 */
static int metis_index_bits(void)
{
    char file[64];
    int (*set_defaults)(void *options);
    int32_t options[80] = {0};
    if (!find_linked("METIS_SetDefaultOptions", &set_defaults, file, sizeof file)) return 0;
    set_defaults(options);
    return options[79] == -1 ? 64 : 32;
}

void probe_metis(ordering_probe *p)
{
    int (*order_32)(int32_t *, int32_t *, int32_t *, int32_t *, int32_t *, int32_t *, int32_t *);
    int (*order_64)(int64_t *, int64_t *, int64_t *, int64_t *, int64_t *, int64_t *, int64_t *);
    memset(p, 0, sizeof *p);
    p->found = find_linked("METIS_NodeND", &order_32, p->library, sizeof p->library);
    if (!p->found) return;
    memcpy(&order_64, &order_32, sizeof order_64);
    p->index_bits = metis_index_bits();
    /* METIS may call exit: the trial runs in a child. */
    fflush(NULL);
    const pid_t child = fork();
    if (child == 0) {
        const bool works = p->index_bits == 64 ? metis_works_64(order_64) : metis_works_32(order_32);
        _exit(works ? 17 : 1);
    }
    int status;
    p->works =
        child > 0 && waitpid(child, &status, 0) == child && WIFEXITED(status) && WEXITSTATUS(status) == 17;
}

void probe_amd(ordering_probe *p)
{
    int (*order)(int n, const int *start, const int *next, int *perm, double *control, double *info);
    const int start[] = PATH_START, next[] = PATH_NEXT;
    int perm[4];
    memset(p, 0, sizeof *p);
    p->found = find_linked("amd_order", &order, p->library, sizeof p->library);
    p->index_bits = 32; /* amd_l_order is the one with 64 */
    p->works = p->found && order(4, start, next, perm, NULL, NULL) == 0 &&
               orders_four((const int64_t[]){perm[0], perm[1], perm[2], perm[3]});
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
    char text[128], *end;
    if (!line_of(path, key, text, sizeof text)) return -1;
    errno = 0;
    const long long value = strtoll(text, &end, 10);
    return end == text || errno || value > INT64_MAX / factor ? -1 : value * factor;
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
        fputs("BLAS: unknown\n", out);
    const bool cuda = saddle_describe_device("cuda", 0, device) == SADDLE_OK;
    fprintf(out, "CUDA: %s\n", cuda ? device : "none found (run saddle doctor for the reason)");
}
