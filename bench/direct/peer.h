/*
 * A peer's driver (bench/peers/) as a child process, with which `saddle bench direct` takes turns. The
 * drivers stand in the folder "peers" beside the program, or wherever --peers says.
 */
#pragma once

#include "bench/bench.h"
#include "bench/child.h"
#include "bench/peers/peer.h"
#include "bench/problem.h"

/* The peers, one for each of their settings that is compared: peer_kinds names their drivers. */
enum {
    PEER_MUMPS,
    PEER_CHOLMOD,
    PEER_CHOLMOD_LDLT,
    PEER_PARDISO,
    PEER_MATCHING,
    PEER_QDLDL,
    PEER_LAPACK,
    PEER_CUDSS, /* on a GPU */
    PEER_CUDSS_MATCHING,
    PEER_MUMPS_POSDEF, /* from here on only where all are asked for */
    PEER_MUMPS_COMPRESSED,
    PEER_SSIDS,
    PEER_SSIDS_MATCHING,
    PEER_SUPERLU,
    PEER_SUPERLU_SYMMETRIC,
    PEERS
};
extern const struct peer_kind {
    const char *name, *driver, *setting; /* name: in JSON */
} peer_kinds[PEERS];

/* Where the drivers of these peers (a bit for each) are, in this folder, "none", or NULL for the one beside
 * the program: their paths, "" where there is none. */
void peers_find(const char *folder, unsigned wanted, char programs[PEERS][4096]);
/* Says on standard output which of them were not found; nothing where all were, or none are wanted. */
void peers_tell_missing(const char *folder, unsigned wanted, char (*programs)[4096]);

/* The file that the peers read: what was made is written among the system's temporary files, *temporary then
 * being true and the file the caller's to remove. An exit status, with the message on standard error. */
int peers_matrix(const bench_problem *problem, const char *operand, char *path, size_t path_size,
                 bool *temporary);

/* What a line of JSON says: a number, NaN where there is none; a text, false where there is none. */
double peer_told_number(const char *line, const char *key);
bool peer_told_text(const char *line, const char *key, char *text, size_t text_size);

/* What a peer told. Numbers that are not known are NaN, and so are all where it did not run. */
typedef struct peer_result {
    bool ran;
    char error[256]; /* why it did not; "" where it was not there */
    char version[64], ordering[32];
#define ROW(name) double name;
    PEER_NUMBERS(ROW)
#undef ROW
} peer_result;

typedef struct peer_process {
    child child;
    double limit;    /* seconds that it may take in all */
    int turns;       /* that it took */
    char line[4096]; /* what it said last */
    bool told;       /* line holds its last words */
    char error[256]; /* why it was given up */
} peer_process;

/* Starts the driver of a peer on a matrix, if it was found, and waits until it has read it. It is given up
 * after --limit seconds of its own. Nothing is told here of a failure: peer_end tells. */
void peer_start(peer_process *p, int which, char (*programs)[4096], const char *matrix, int threads,
                const arguments *a);

/* Lets it take a turn, and waits. One that is slow, and has spent a third of its time, is asked no more. */
void peer_turn(peer_process *p);

/* Lets it solve and tell, waits for its end, and kills it where it is late. */
void peer_end(peer_process *p, peer_result *result);

/* What is told of a peer that was not started. */
peer_result peer_nothing(void);

/* Whether it gave an answer: a backward error of at most 1e-9 after one refinement. Its times are compared
 * only then. */
bool peer_answered(const peer_result *result);
