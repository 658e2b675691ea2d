/* `saddle doctor`: what was found on this machine, whether it works, and what to do about it. */
#include "cli/json.h"
#include "cli/manual.h"
#include "cli/probe.h"
#include "cli/program.h"
#include "cli/progress.h"

#include <inttypes.h>
#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <zlib.h>

typedef enum finding_state { FOUND, WARNING, MISSING, BROKEN } finding_state;
static const char *const state_words[] = {"ok", "warning", "missing", "broken"};
static const char *const state_colours[] = {"\033[32m", "\033[33m", "\033[33m", "\033[31m"};

typedef struct finding {
    const char *name;
    finding_state state;
    char detail[SADDLE_MESSAGE_SIZE];
    char advice[256]; /* what to do; "" where nothing is */
} finding;

enum { FINDINGS_MOST = 24 };

typedef struct diagnosis {
    int count;
    finding list[FINDINGS_MOST];
} diagnosis;

static finding *add(diagnosis *d, const char *name, finding_state state, const char *advice,
                    const char *format, ...) __attribute__((format(printf, 5, 6)));

static finding *add(diagnosis *d, const char *name, finding_state state, const char *advice,
                    const char *format, ...)
{
    va_list list;
    finding *f = &d->list[d->count];
    if (d->count + 1 < FINDINGS_MOST) ++d->count;
    f->name = name;
    f->state = state;
    snprintf(f->advice, sizeof f->advice, "%s", advice);
    va_start(list, format);
    vsnprintf(f->detail, sizeof f->detail, format, list);
    va_end(list);
    return f;
}

static void look_at_threads(diagnosis *d, int cores)
{
    const char *text = getenv("OMP_NUM_THREADS");
    char *end = NULL;
    /* A list, "4,2", is for nested teams: the first number counts. */
    const long threads = text ? strtol(text, &end, 10) : cores;
    if (text && (end == text || (*end && *end != ',') || threads < 1 || threads > 4096)) {
        add(d, "threads", WARNING, "set OMP_NUM_THREADS to a whole number, or use --threads",
            "OMP_NUM_THREADS is \"%s\"", text);
    } else if (threads > cores) {
        add(d, "threads", WARNING, "more threads than cores will be slower: lower OMP_NUM_THREADS",
            "OMP_NUM_THREADS is %s, this process may use %d cores", text, cores);
    } else {
        add(d, "threads", FOUND, "", "%ld of %d cores that this process may use", threads, cores);
    }
}

static void look_at_machine(diagnosis *d)
{
    machine_probe m;
    probe_machine(&m);
    add(d, "cpu", FOUND, "", "%s, %s", m.cpu, m.simd);
    look_at_threads(d, m.cores);
    if (m.memory < 0)
        add(d, "memory", WARNING, "use --max-memory to set a limit", "the amount could not be determined");
    else
        add(d, "memory", FOUND, "", "%.1f GB, %.1f GB available", 1e-9 * (double)m.memory,
            1e-9 * (double)(m.available > 0 ? m.available : 0));
}

/* The library takes 32-bit indices: another METIS under the same name would read them wrongly. */
static void look_at_ordering(diagnosis *d, const char *name, const ordering_probe *p)
{
    static const char *const again = "reinstall it (scripts/packages) and rebuild saddle";
    if (!p->found)
        add(d, name, BROKEN, again, "saddle is not linked with it");
    else if (p->index_bits != 32)
        add(d, name, BROKEN, again, "%s has %d-bit indices; saddle requires 32-bit indices", p->library,
            p->index_bits);
    else if (!p->works)
        add(d, name, BROKEN, again, "%s failed to order a graph of four vertices", p->library);
    else
        add(d, name, FOUND, "", "%s, %d-bit indices, ordered a small graph", p->library, p->index_bits);
}

/* Any BLAS gives right results. OpenBLAS without threads has no locks, so the library lets its calls wait
 * for each other; of another BLAS nothing is known but that the reference one, libblas, is slow. */
static void look_at_blas(diagnosis *d)
{
    static const char *const install = "install OpenBLAS with threads: apt-get install libopenblas0-pthread";
    blas_probe blas;
    probe_blas(&blas);
    const char *what = blas.config[0] ? blas.config : blas.library;
    if (!blas.found)
        add(d, "blas", WARNING, install, "cannot determine which BLAS saddle is linked with");
    else if (blas.flavour == BLAS_SERIAL)
        add(d, "blas", WARNING, install, "%s, serial: its calls run one at a time, so threads help little",
            what);
    else if (blas.flavour == BLAS_UNKNOWN && strncmp(blas.library, "libblas", 7) == 0)
        add(d, "blas", WARNING, install, "%s, the reference BLAS: factorizations will be slow", what);
    else if (blas.flavour == BLAS_UNKNOWN)
        add(d, "blas", WARNING, "make sure that it uses one thread per call, or install libopenblas0-pthread",
            "%s: not OpenBLAS; its number of threads is unknown", what);
    else
        add(d, "blas", FOUND, "", "%s, %s, in %s", what, blas_flavour_text(blas.flavour), blas.library);
}

/* Which of its kernels OpenBLAS takes: it may not know the processor. The program helps itself, others that
 * use the library have to be told. */
static void look_at_blas_core(diagnosis *d)
{
    const char *taken, *core = saddle_blas_core(&taken), *told = getenv(BLAS_TAKEN);
    const char *set = getenv("OPENBLAS_CORETYPE");
    char advice[160];
    if (core) {
        snprintf(advice, sizeof advice, "%s OPENBLAS_CORETYPE=%s", set ? "unset it, or set" : "set", core);
        add(d, "blas kernels", WARNING, advice, "%s%s does not use all instructions of this processor", taken,
            set ? ", chosen by OPENBLAS_CORETYPE," : "");
    } else if (told && set) {
        snprintf(advice, sizeof advice, "for programs that use the library, set OPENBLAS_CORETYPE=%s", set);
        add(d, "blas kernels", WARNING, advice,
            "OpenBLAS does not know this processor and takes %s; saddle has set OPENBLAS_CORETYPE=%s for "
            "itself",
            told, set);
    } else if (taken) {
        add(d, "blas kernels", FOUND, "", "%s", taken);
    }
}

static void look_at_libraries(diagnosis *d)
{
    ordering_probe metis, amd;
    look_at_blas(d);
    look_at_blas_core(d);
    probe_metis(&metis);
    look_at_ordering(d, "metis", &metis);
    probe_amd(&amd);
    look_at_ordering(d, "amd", &amd);
    if (zlibVersion()[0] == ZLIB_VERSION[0])
        add(d, "zlib", FOUND, "", "%s", zlibVersion());
    else
        add(d, "zlib", BROKEN, "rebuild saddle, or install the zlib that it was built with",
            "%s, but saddle was built with %s", zlibVersion(), ZLIB_VERSION);
}

static void look_at_devices(diagnosis *d)
{
    char message[SADDLE_MESSAGE_SIZE] = "";
    if (saddle_describe_device("cuda", 0, message) == SADDLE_OK) {
        add(d, "gpu", FOUND, "", "%s", message);
        return;
    }
    add(d, "gpu", MISSING,
        "nothing to do if you do not want a GPU; otherwise install the NVIDIA driver and CUDA, and rebuild",
        "%s", message);
}

/* The variables that are set; with -v also what the others would do. */
static void look_at_environment(diagnosis *d, bool verbose)
{
    const environment_row *e;
    for (int k = 0; (e = environment_at(k)); ++k) {
        const char *value = getenv(e->name);
        if (!value && verbose) add(d, e->name, FOUND, "", "not set: %s", e->help);
        if (!value) continue;
        const bool file = strcmp(e->name, "SADDLE_CUDA_MODULE") == 0;
        if (file && access(value, R_OK) != 0)
            add(d, e->name, WARNING, "set it to the module's file, or unset it", "\"%s\" cannot be read",
                value);
        else
            add(d, e->name, FOUND, "", "\"%s\"", value);
    }
}

/* Everything at once: [2 1; 1 -1] x = (3, 0) has the solution (1, 1). */
static void try_a_solve(diagnosis *d)
{
    static const int32_t start[] = {0, 2, 3}, rows[] = {0, 1, 1};
    static const double values[] = {2, 1, -1}, b[] = {3, 0};
    double x[2] = {0, 0};
    saddle_matrix A = saddle_symmetric(2, start, rows, values);
    saddle_info info = saddle_info_default();
    const saddle_status status = saddle_solve_once(&A, b, x, NULL, &info);
    const double error = fmax(fabs(x[0] - 1), fabs(x[1] - 1));
    if (status == SADDLE_OK && error < 1e-8)
        add(d, "solver", FOUND, "", "solved an indefinite 2x2 system, error %.0e", error);
    else
        add(d, "solver", BROKEN, "rebuild saddle (scripts/build) and run its tests (scripts/test)",
            "failed to solve an indefinite 2x2 system: %s",
            info.message[0] ? info.message : saddle_status_text(status));
}

static void print_findings(const diagnosis *d)
{
    const bool colour = colour_wanted(stdout);
    for (int k = 0; k < d->count; ++k) {
        const finding *f = &d->list[k];
        printf("%-20s%s%-9s%s%s\n", f->name, colour ? state_colours[f->state] : "", state_words[f->state],
               colour ? "\033[0m" : "", f->detail);
        if (f->advice[0]) printf("%29s-> %s\n", "", f->advice);
    }
}

static void json_findings(json *j, const void *what)
{
    const diagnosis *d = what;
    json_text(j, "commit", saddle_commit());
    json_array(j, "findings");
    for (const finding *f = d->list; f < d->list + d->count; ++f)
        JSON_OBJECT(j, NULL, true, J_TEXT("name", f->name), J_TEXT("state", state_words[f->state]),
                    J_TEXT("detail", f->detail), J_TEXT("advice", f->advice[0] ? f->advice : NULL));
    json_close(j);
}

static int run_doctor(const arguments *a)
{
    static diagnosis d;
    const char *path = argument_text(a, "json");
    int status = EXIT_DONE;
    add(&d, "saddle", FOUND, "", "%s, commit %s", saddle_version(), saddle_commit());
    look_at_machine(&d);
    look_at_libraries(&d);
    look_at_devices(&d);
    look_at_environment(&d, argument_given(a, "verbose"));
    try_a_solve(&d);
    if (!argument_given(a, "quiet") && !(path && strcmp(path, "-") == 0)) print_findings(&d);
    if (path) status = json_write(path, json_findings, &d);
    for (int k = 0; k < d.count; ++k) {
        if (d.list[k].state != BROKEN) continue;
        fail(EXIT_NOT_REACHED, "%s is broken: %s", d.list[k].name, d.list[k].detail);
        if (status == EXIT_DONE) status = EXIT_NOT_REACHED;
    }
    return status;
}

static const option doctor_options[] = {
    OPTION_TEXT("json", "FILE|-", NULL, "write the findings as JSON"),
    OPTION_END,
};

const command command_doctor = {
    .name = "doctor",
    .operands = "",
    .help = "check what is available on this machine: BLAS, threads, METIS, GPU",
    .about =
        "Checks what saddle can use on this machine and tries it out: processor, threads, memory, BLAS and "
        "its flavour, METIS, AMD, zlib, GPU, environment. Each line says ok, warning, missing or broken, and "
        "what to do about it. The exit status is 1 only if something that saddle requires is broken.",
    .options = doctor_options,
    .library = "",
    .least = 0,
    .most = 0,
    .run = run_doctor,
};
