/*
 * A peer's driver (bench/peers/) as a child process, with which `saddle bench direct` takes turns. The
 * drivers stand in the folder "peers" beside the program, or wherever --peers says.
 */
#ifndef CLI_BENCH_PEER_H
#define CLI_BENCH_PEER_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

/* What a peer told. Numbers that are not known are NaN, and so are all where it did not run. */
typedef struct peer_result {
    bool ran;
    char error[256]; /* why it did not; "" where it was not there */
    char version[64], ordering[32];
    double analysis, factor, solve, solve_64; /* seconds, the best of all turns */
    double factor_nnz, flops, peak_bytes, resident_bytes;
    double delayed, two_by_two, negative;
    double backward_error, componentwise_error;               /* for b = A times ones, not refined */
    double backward_error_random, componentwise_error_random; /* for a random b */
} peer_result;

typedef struct peer_process {
    pid_t child;     /* 0 where there is none */
    int socket;      /* its standard input and output */
    double limit;    /* seconds that it may take in all */
    double left;     /* of them; time that others take is not counted */
    int turns;       /* that it took */
    char line[4096]; /* what it said last */
    size_t length;
    bool told;       /* line holds its last words */
    bool verbose;    /* what it writes to standard error is shown */
    char error[256]; /* why it was given up */
} peer_process;

/* Whether the driver of this name is there; its path. folder NULL: beside the program. */
bool peer_find(const char *name, const char *folder, char *path, size_t path_size);

/* Starts a driver on a matrix and waits until it has read it. It is given up after `limit` seconds of
 * its own. Nothing is told here of a failure: peer_end tells. */
void peer_start(peer_process *p, const char *path, const char *matrix, int threads, double limit,
                bool verbose);

/* Lets it take a turn, and waits. One that is slow, and has spent a third of its time, is asked no more. */
void peer_turn(peer_process *p);

/* Lets it solve and tell, waits for its end, and kills it where it is late. */
void peer_end(peer_process *p, peer_result *result);

/* What is told of a peer that was not started. */
peer_result peer_nothing(void);

#endif
