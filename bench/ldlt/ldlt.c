/*
 * `saddle bench ldlt`: block LDL' preconditioners beside the direct solver.
 *
 *   (no part)   every matrix by every recipe: solved or not, iterations, stored entries, seconds
 *   anchors     the matrices that have published figures
 *   setup       generated 3-D problems: the setup of ldlt beside the direct factorization
 *   backends    iterations on the reference, the CPU and a GPU beside each other
 *   growth      doubling series of generated problems: exponents of time against entries
 *   symildl     SYM-ILDL, an incomplete LDL' of others, by its defaults and at the same fill
 *   --ablate    Table I and Figure 3 of Stretching Jacobi
 */
#include "bench/ldlt/ldlt.h"

#include "cli/progress.h"
#include "cli/run.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

enum { PART_ALL, PART_SETUP, PART_ANCHORS, PART_GROWTH, PART_BACKENDS, PART_SYMILDL }; /* words of --part */

static bool is_made(const arguments *a)
{
    return argument_choice(a, "part") == PART_SETUP || argument_choice(a, "part") == PART_GROWTH;
}

/* Options that would do nothing, and outputs that cannot be. */
static int check_usage(const arguments *a)
{
    static const char *const outputs[] = {"json", "plot"};
    const int part = argument_choice(a, "part");
    const bool ablate = argument_given(a, "ablate");
    if (ablate && part != PART_ALL) return usage_error(a, "--ablate and --part are mutually exclusive");
    if (argument_given(a, "size") && !is_made(a))
        return usage_error(a, "--size applies to --part setup and --part growth");
    if (argument_given(a, "methods") && (is_made(a) || ablate || part == PART_SYMILDL))
        return usage_error(a,
                           "--methods applies to matrices, not to --ablate, --part setup, --part growth or "
                           "--part symildl");
    if (argument_given(a, "peers") && part != PART_SYMILDL)
        return usage_error(a, "--peers applies to --part symildl");
    if (argument_given(a, "device") && part == PART_BACKENDS)
        return usage_error(a, "--part backends runs on all devices: select some with --methods");
    if (argument_given(a, "plot") && !ablate && part != PART_GROWTH && part != PART_BACKENDS)
        return usage_error(a, "--plot applies to --ablate, --part growth and --part backends");
    int status = bench_check_operands(a);
    if (status == EXIT_DONE) status = bench_check_files(a);
    if (status == EXIT_DONE) status = plot_check(argument_text(a, "plot"));
    return status == EXIT_DONE ? outputs_check(a, outputs, 2) : status;
}

int ldlt_walk(ldlt_bench *t, const bench_operands *o, void (*measure)(ldlt_bench *t, void *report),
              void *report)
{
    int status = EXIT_DONE;
    for (int64_t k = 0; k < o->count; ++k) {
        const int loaded = ldlt_load(t, o->paths[k]);
        if (loaded == EXIT_DONE) {
            measure(t, report);
            ldlt_unload(t);
        } else {
            status = loaded;
        }
        progress_end();
        if (loaded != EXIT_INTERRUPTED && progress_interrupted())
            return fail(EXIT_INTERRUPTED, "interrupted at %s", o->paths[k]);
        if (progress_interrupted()) break;
    }
    return status;
}

int ldlt_end(const ldlt_bench *t, int status, int64_t count, void (*print)(const void *report),
             json_writer *write, const void *report, void *rows)
{
    if (count > 0 && bench_prints(t->a)) {
        print(report);
        bench_print_run(t->a);
    }
    if (count > 0) status = bench_draw(t->a, status, write, report);
    free(rows);
    return status;
}

static int run_part(ldlt_bench *t, bench_operands *o)
{
    const int part = argument_choice(t->a, "part");
    if (argument_given(t->a, "ablate")) return ldlt_ablate(t, o);
    if (is_made(t->a)) return ldlt_made(t, part == PART_GROWTH);
    if (part == PART_BACKENDS) return ldlt_backends(t, o);
    if (part == PART_SYMILDL) return ldlt_symildl(t, o);
    return ldlt_matrices(t, o, part == PART_ANCHORS);
}

static int run_ldlt(const arguments *a)
{
    ldlt_bench t = {.a = a, .limit = argument_real(a, "limit"), .watch = {.core = bench_core_time(a)}};
    static const char *const folders[] = {"indefinite", "kkt"};
    bench_operands operands = {0, 0, NULL};
    int status = check_usage(a);
    if (status == EXIT_DONE && !is_made(a)) status = bench_operands_find(&operands, a, folders, 2);
    if (status == EXIT_DONE) {
        t.watch.hooks = progress_begin(a);
        status = run_part(&t, &operands);
        progress_end();
    }
    bench_operands_free(&operands);
    return status;
}

static const option command_options[] = {
    OPTION_CHOICE("part", "all|setup|anchors|growth|backends|symildl", "what to measure; all: the matrices"),
    OPTION_TEXT("methods", "NAME[,NAME...]", NULL,
                "only these, out of ldlt, ldlt-none, jacobi, paper, auto, direct; with --part backends: "
                "reference, cpu, cuda"),
    OPTION_FLAG("ablate", 0, "Table I and Figure 3 of \"Stretching Jacobi\" for the matrices"),
    OPTION_COUNT("size", "ROWS", 0, 0, 100000000,
                 "rows of the problems of --part setup (0: 200,000), of the largest ones of --part growth "
                 "(0: 1,000,000)"),
    OPTION_COUNT("threads", "N", 1, 1, 4096, "threads of Saddle"),
    OPTION_REAL("limit", "SECONDS", 60.0, 0.1, 1e6, "time limit of a run"),
    OPTION_TEXT("peers", "DIR|none", NULL, "symildl: folder of the drivers; by default next to saddle"),
    BENCH_PLOT("what --ablate, --part growth or --part backends measured, one panel each"),
    BENCH_JSON,
    OPTION_END,
};

const command command_ldlt = {
    .name = "ldlt",
    .operands = "[A.mtx[.gz]|DIR...]",
    .help = "block LDL' preconditioners, compared with the direct solver",
    .about =
        "For each matrix, or each in a folder (by default the folders indefinite and kkt of "
        "SADDLE_MATRICES): whether --method ldlt with its defaults solves it (backward error 1e-12, and "
        "residual or componentwise error 1e-8, in 100 iterations, for A times ones and a random right-hand "
        "side), with iterations, errors, stored entries, levels, pivots and seconds, compared with the "
        "direct solver. The totals also count ldlt --fill none, jacobi --fill none --fallback none, --paper, "
        "auto and direct (--methods selects some).\n\n"
        "--part anchors: the matrices with published figures; setup: generated 3-D problems, the setup of "
        "ldlt against the direct factorization in time and memory; growth: generated problems of doubling "
        "size, and the exponents of their times (operands of these two are families, FAMILY[:P]); backends: "
        "the iterations of ldlt on each backend, with the factors as first computed (first) and with the "
        "same values factored on the pattern known by then (again); symildl: SYM-ILDL, whose program has to "
        "be "
        "there, by its defaults and with at most as many entries. --ablate: dominance, small pivots, block "
        "size, pivoting, sweeps and times, and the errors after four cycles of GMRES(25).",
    .examples = "  saddle bench ldlt matrices/kkt --methods ldlt,direct --json ldlt.json\n"
                "  saddle bench ldlt --part growth darcy3d --size 250000\n"
                "  saddle bench ldlt matrices/kkt --part backends --methods cpu,cuda\n"
                "  saddle bench ldlt matrices/kkt --part symildl --json symildl.json\n"
                "  saddle bench ldlt A.mtx B.mtx --ablate --plot figure3.png\n",
    .options = command_options,
    .library = "scaling|order|pairs|device|blocking|block_size",
    .most = INT_MAX,
    .run = run_ldlt,
};
