/*
 * The policy of `auto`: which methods are tried, how strong, in which order.
 *
 * It goes by what the direct solver would cost, counted in operations, never in seconds, so that the same
 * matrix is treated the same way everywhere:
 *
 *     predicted cost of the direct solver     what is tried, in this order
 *     -----------------------------------     ---------------------------------------------------------
 *     not known, one solve is expected        the cheapest iteration, which races the direct solver (below);
 *                                             if it is given up the direct solver is planned, and what
 *                                             follows is decided by the other rows
 *     not known, general                      the cheapest iteration, given up after `iterations`, or sooner
 *                                             where ordering a small matrix costs less; then direct, planned
 *                                             only then
 *     up to `expensive` operations, fits      direct
 *     up to `hopeless`, symmetric, not known  direct
 *     definite
 *     more, symmetric, not known definite     ldlt with each `tau` in turn, direct where it fits; a
 *                                             factorization that comes to `share` of the direct solver's
 *                                             operations is given up, an iteration after `iterations`
 *     more, definite or general               the cheapest iteration, with as many iterations as half of
 *                                             the direct solver's cost pays for; then direct
 *     it does not fit the memory              the same without direct; none after diagonal
 *     nor does ldlt, or ilu                   diagonal, none
 *     guessed to be far more, not definite    the same, but the direct solver is planned only when it is
 *                                             needed
 *     guessed to be worth it, definite        diagonal, with as many iterations as what is guessed, or
 *                                             half an order, pays for; then direct, planned only then
 *     the order alone is expensive, definite  diagonal, then direct, which is planned only when it is
 *     or general                              needed
 *     a named iteration: nothing is planned   as where it does not fit
 *
 * The cheapest iteration is with the diagonal, or with ilu where A is general and three rows in four or fewer
 * are dominant: few such systems are solved with their diagonal. What was enough is where the next
 * factorization of the same pattern begins. Where the cheapest iteration was given up it is not tried again.
 *
 * The race (solve/race.h) is judged after a share of what the direct solver is predicted to cost, in
 * iterations, and lost as soon as the iterations that are predicted cost more than another share of it: see
 * sd_race_rule. What the factorization costs is guessed from the pattern, but not before the first judgement:
 * what converges at once does not pay for it.
 */
#pragma once

#include "method/method.h"

enum { SD_TAUS = 3, SD_RUNGS_MOST = SD_TAUS + 2 };

/*
 * What the direct solver and an iteration cost, in nanoseconds of the machine they were measured on (only
 * their ratios count): for n rows and z entries, and f operations guessed, 0 where nothing can be,
 *
 *     an iteration      step_row n + step_entry z
 *     the direct solver order_row n + order_entry z, and then root sqrt(f n) + flop f
 */
typedef struct sd_race_rule {
    int64_t entries; /* of the least matrix that it is run for */
    double order_row, order_entry, root, flop, step_row, step_entry;
    double first_order, first_factor; /* shares of the two that are spent before it is judged */
    double most;                      /* share of both that must not be exceeded, */
    double general;                   /* times this for GMRES, whose iterations become longer */
    double signed_first, signed_most; /* iterations of SQMR, where the diagonal has both signs */
} sd_race_rule;

/*
 * What a factorization with new values and a verified solve takes, in seconds, on a notional CPU of 16
 * threads and on a notional GPU, for what is counted (sd_counts):
 *
 *     the CPU    row n + entry z + critical c + flop f
 *     the GPU    call + front F + level h + critical c + flop f + delay d + suspect s,
 *                and `again` where the inertia is examined by further factorizations
 *
 * with n rows and z entries of the matrix, F fronts, h of them on the longest way to a root, f operations, c
 * of them on the longest chain, d columns delayed and s pivots looked at in the factorization before. Not the
 * machine at hand: the same calls must go the same way everywhere. Where there is no GPU, or another one,
 * only time is lost.
 */
typedef struct sd_device_rule {
    struct {
        double row, entry, critical, flop;
    } host;
    struct {
        double call, front, level, critical, flop, delay, suspect, again;
    } gpu;
    double open;                   /* a GPU is opened */
    double plan_front, plan_entry; /* and gets a plan and memory, by fronts and entries of the factors */
} sd_device_rule;

/* The constants; tests may set others. */
typedef struct sd_policy {
    double expensive;      /* operations of a factorization */
    double hopeless;       /* the same, beyond which a weaker one is tried before it in any case */
    double product;        /* operations of a factorization that cost as much as an entry in an iteration */
    double share;          /* of the direct solver's operations, for a preconditioner */
    double tau[SD_TAUS];   /* of ldlt, the weakest first */
    int64_t iterations;    /* before a smaller tau is tried */
    int64_t order_entries; /* of a matrix whose order alone is expensive */
    double order;          /* operations that take half the time of an order, for each entry of the matrix */
    int64_t guess_entries; /* of a matrix whose cost is guessed before it is ordered */
    double beyond;         /* times `hopeless`: where the guess is enough, indefinite */
    double worth; /* operations for each entry, guessed, from which on iterations are tried first, definite */
    sd_race_rule race;
    sd_device_rule device;
} sd_policy;

/* Where each comes from: policy.c. */
extern const sd_policy sd_policy_default;

/* What the policy decides by. */
typedef struct sd_outlook {
    bool symmetric, definite; /* as far as it is known without factoring */
    bool positive;            /* there is nothing negative on the diagonal */
    bool dominant;            /* more than three rows in four are strictly diagonally dominant */
    bool once;                /* one factorization is expected, and one solve with it */
    bool lost;                /* the cheapest iteration was tried, and given up */
    int64_t n, nnz;
    bool krylov_named; /* by the caller */
    bool planned;      /* the direct solver is, at this cost, */
    bool fits;         /* and the memory allows it */
    bool scarce;       /* the memory does not even allow ldlt or ilu */
    double flops;
    double guess; /* of flops, where nothing is planned; 0: none */
    int learned;  /* the rung that was enough before; 0: the first, or nothing is known */
} sd_outlook;

/* A method to be tried, and how strong. */
typedef struct sd_rung {
    const sd_method *method;
    double tau;
} sd_rung;

typedef struct sd_ladder {
    int rungs;
    sd_rung rung[SD_RUNGS_MOST];
    int first;          /* rung 0 here is that number of the whole ladder: what is learned is counted so */
    int64_t iterations; /* of a rung that is not the last resort */
    double most_flops;  /* of a factorization before the direct solver's; 0: no limit */
    bool cheapest;      /* rung 0 is the cheapest iteration */
    bool race;          /* and races the direct solver, and what follows is not decided yet */
} sd_ladder;

/* Whether what the direct solver costs is to be guessed before it may be planned. */
bool sd_policy_guesses(const sd_policy *policy, const sd_outlook *outlook);

/* Whether the direct solver is to be planned before anything is decided. */
bool sd_policy_plans(const sd_policy *policy, const sd_outlook *outlook);

/* Whether the cheapest iteration races a direct solver that is not planned. */
bool sd_policy_races(const sd_policy *policy, const sd_outlook *outlook);

/* Iterations of the race: before it is judged, and that it may be predicted to take. By outlook->guess. */
void sd_policy_race(const sd_policy *policy, const sd_outlook *outlook, double *first, double *most);

/* Seconds that a factorization with a solve is predicted to take on the host, and less on a device. */
double sd_policy_host_time(const sd_policy *policy, const sd_counts *counts);
double sd_policy_gain(const sd_policy *policy, const sd_counts *counts);
/* Whether device auto moves to a GPU now: before the first factorization where this one pays for it; later
 * where as many do as are expected, or as there have been, if these are more. So little is lost if none
 * follows, and a solver that is used for long is on the GPU for most of it. */
bool sd_policy_moves(const sd_policy *policy, const sd_counts *counts, int64_t expected, int64_t done);

sd_ladder sd_policy_ladder(const sd_policy *policy, const sd_outlook *outlook);

/* The ladder of a method that was named. */
sd_ladder sd_ladder_of(const sd_method *method);
