/* The program `saddle`: its commands. */
#include "cli/program.h"

/* In the order of the help. */
#define COMMAND_TABLE(ROW)                                                                                   \
    ROW(solve)                                                                                               \
    ROW(info)                                                                                                \
    ROW(prepare)                                                                                             \
    ROW(convert)                                                                                             \
    ROW(gen)                                                                                                 \
    ROW(bench)                                                                                               \
    ROW(doctor)                                                                                              \
    ROW(manual)

#define ROW(name) extern const command command_##name;
COMMAND_TABLE(ROW)
#undef ROW

int main(int argc, char **argv)
{
#define ROW(name) &command_##name,
    static const command *const commands[] = {COMMAND_TABLE(ROW) NULL};
#undef ROW
    static const program saddle = {
        .name = "saddle",
        .noun = "command",
        .stands = "COMMAND",
        .about = "Solves sparse linear systems Ax = b, especially symmetric indefinite ones.",
        .usual = "solve",
        .hint = "Simplest use: saddle solve A.mtx --out x.mtx",
        .commands = commands,
    };
    return program_main(&saddle, argc, argv);
}
