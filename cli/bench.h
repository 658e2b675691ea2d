/* The benchmarks of `saddle bench` that have a file of their own. Each returns an exit status. */
#ifndef CLI_BENCH_H
#define CLI_BENCH_H

#include "cli/command.h"

/* `saddle bench prepare A.mtx...` */
int bench_prepare(const arguments *a);

/* `saddle bench direct A.mtx...` */
int bench_direct(const arguments *a);

/* `saddle bench blocks [A.mtx...]` */
int bench_blocks(const arguments *a);

/* `saddle bench ldlt [A.mtx...]` */
int bench_ldlt(const arguments *a);

#endif
