/*
 * The program saddle-bench, which `saddle bench` starts: times beside a peer or a floor that is measured in
 * the same run, as ratios, with the accuracy beside the time.
 */
#include "cli/program.h"

/* In the order of the help. */
#define BENCH_TABLE(ROW)                                                                                     \
    ROW(read)                                                                                                \
    ROW(spmv)                                                                                                \
    ROW(prepare)                                                                                             \
    ROW(direct)                                                                                              \
    ROW(calls)                                                                                               \
    ROW(many)                                                                                                \
    ROW(blocks)                                                                                              \
    ROW(ldlt)                                                                                                \
    ROW(trisolve)                                                                                            \
    ROW(sequence)                                                                                            \
    ROW(auto)                                                                                                \
    ROW(reproduce)                                                                                           \
    ROW(standing)

#define ROW(name) extern const command command_##name;
BENCH_TABLE(ROW)
#undef ROW

int main(int argc, char **argv)
{
#define ROW(name) &command_##name,
    static const command *const commands[] = {BENCH_TABLE(ROW) NULL};
#undef ROW
    static const program bench = {
        .name = "saddle bench",
        .noun = "benchmark",
        .stands = "WHAT",
        .about = "Benchmarks. Times are compared with a peer or a lower bound measured in the same run.",
        .hint =
            "A matrix FAMILY_SIZE[:P] that is not a file, such as lap3d_30:1.5, is generated (saddle gen);\n"
            "ocp and mpc may name the states and inputs of a stage: ocp_100x8x3.",
        .commands = commands,
    };
    return program_main(&bench, argc, argv);
}
