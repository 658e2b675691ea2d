/* What `auto` tries: see policy.h. */
#include "solver/policy.h"

#include <math.h>

/*
 * Measured on one core of an AMD EPYC (Zen 4), OpenBLAS 0.3.21 (docs/direct.md, docs/ldlt.md):
 * - expensive: the direct solver runs at 20 to 30 Gflop/s, so this is a second or two, before which nothing
 *   else is worth trying; and a complete factorization beyond it is large enough for factors in single to
 *   halve the time of a solve.
 * - product: an iteration reads an entry from memory at 1 to 2 Gflop/s.
 * - share: small blocks run at a tenth of the speed of large fronts.
 * - tau: 1e-2 is enough for most of the 118 matrices of docs/ldlt.md; 1e-4 is nearly complete.
 * - iterations: those of 96 of the 112 systems that ldlt solves are below 100; what needs more than 300 is
 *   solved sooner with a smaller tau.
 * - order_entries: ordering takes 1 to 2 microseconds an entry, 10 seconds here.
 * - order: 0.3 to 1 microseconds an entry (src/prepare/choose.c), of which half; 400 iterations.
 * - guess_entries: smaller ones are ordered in some 20 milliseconds.
 * - hopeless: five minutes on one core. Once the order is paid for the direct solver is ahead of ldlt on
 * Stokes flow in space with 2e12 operations (half the time on 16 cores) and on shifted Laplacians (a tenth on
 * two); on control problems in space of a million rows it is not (docs/auto.md).
 * - beyond: the guess is off by up to 4 times (src/prepare/guess.c).
 * - worth: 75 iterations. Boxes of 22^3 points and more are above it, and need fewer than what is guessed
 *   pays for; planes of 2,000,000 are below it, need many more, and are quick to factor.
 * - race: two cores of the same machine, 28 generated problems and 215 real ones (docs/auto.md). The direct
 *   solver takes about a microsecond a row and 60 ns an entry where the factorization costs nothing; for
 * boxes the rest lies between the root of the operations and the operations. An iteration of CG or MINRES
 * takes 1 to 2 ns an entry and a vector. A race that is lost was to cost a twentieth to a tenth of the
 * direct solver, and costs up to a half (docs/auto.md). More than 0.65 of it must not be predicted:
 * predictions are optimistic. With a diagonal of both signs what SQMR does not solve in a few iterations it
 * seldom solves at all.
 * - device: fitted by bench/device_model.py, which prints how well, to 35 systems of up to 1 Gflop and 18
 * larger ones on 16 threads of an Emerald Rapids and on an H200 (tests/data/device/figures.tsv).
 * gpu.suspect and gpu.again are what lp_bnl2 and mip_air04 take longer there than the rest explains. open is
 * what a process pays for its first CUDA context, 0.21 s where it was measured (2026-11-18-h200/presolve.json
 * in bench/results) and more on slower hosts; a second solver of the process pays 0.2 to 0.5 milliseconds
 * (2026-11-16-h200/small_solve.txt), which cannot be told before.
 * plan_entry: the first factorization of lap3d_90 takes 0.29 s longer than others (docs/gpu.md), at 5.8e8
 * entries; plan_front: sd_schedule_make, on one core of Zen 4.
 * - race.entries: smaller systems are solved in less than a millisecond.
 */
const sd_policy sd_policy_default = {
    .expensive = 3e10,
    .product = 20,
    .share = 0.1,
    .tau = {1e-2, 1e-3, 1e-4},
    .iterations = 300,
    .order_entries = 8000000,
    .order = 8000,
    .guess_entries = 50000,
    .beyond = 4,
    .worth = 1500,
    .hopeless = 1e13,
    .race = {.entries = 4000,
             .order_row = 1000,
             .order_entry = 60,
             .root = 20,
             .flop = 1 / 30.0,
             .step_row = 3,
             .step_entry = 1.2,
             .first_order = 0.07,
             .first_factor = 0.05,
             .most = 0.65,
             .general = 0.5,
             .signed_first = 4,
             .signed_most = 60},
    .device = {.host = {.row = 33e-9, .entry = 22e-9, .critical = 103e-12, .flop = 2.2e-12},
               .gpu = {.call = 1.34e-3,
                       .front = 0.18e-6,
                       .level = 179e-6,
                       .critical = 14.8e-12,
                       .flop = 5.2e-14,
                       .delay = 0.4e-6,
                       .suspect = 40e-6,
                       .again = 0.4},
               .open = 0.3,
               .plan_front = 0.1e-6,
               .plan_entry = 0.5e-9}};

double sd_policy_host_time(const sd_policy *policy, const sd_counts *k)
{
    const sd_device_rule *r = &policy->device;
    return r->host.row * k->rows + r->host.entry * k->entries + r->host.critical * k->critical +
           r->host.flop * k->flops;
}

double sd_policy_gain(const sd_policy *policy, const sd_counts *k)
{
    const sd_device_rule *r = &policy->device;
    return sd_policy_host_time(policy, k) - r->gpu.call - r->gpu.front * k->fronts -
           r->gpu.level * k->levels - r->gpu.critical * k->critical - r->gpu.flop * k->flops -
           r->gpu.delay * k->delayed - r->gpu.suspect * k->suspects - (k->again ? r->gpu.again : 0);
}

bool sd_policy_moves(const sd_policy *policy, const sd_counts *k, int64_t expected, int64_t done)
{
    const sd_device_rule *r = &policy->device;
    const double cost = r->open + r->plan_front * k->fronts + r->plan_entry * k->factor_entries;
    return sd_policy_gain(policy, k) * (double)(done == 0 ? 1 : expected > done ? expected : done) > cost;
}

bool sd_policy_guesses(const sd_policy *policy, const sd_outlook *o)
{
    return !o->planned && !o->krylov_named && o->symmetric && o->nnz >= policy->guess_entries;
}

bool sd_policy_races(const sd_policy *policy, const sd_outlook *o)
{
    return o->once && !o->planned && !o->lost && !o->krylov_named && o->nnz >= policy->race.entries;
}

void sd_policy_race(const sd_policy *policy, const sd_outlook *o, double *first, double *most)
{
    const sd_race_rule *r = &policy->race;
    const double n = (double)o->n, z = (double)o->nnz, step = r->step_row * n + r->step_entry * z;
    const double order = (r->order_row * n + r->order_entry * z) / step;
    const double factor = (r->root * sqrt(o->guess * n) + r->flop * o->guess) / step;
    *first = r->first_order * order + r->first_factor * factor;
    *most = r->most * (o->symmetric ? 1 : r->general) * (order + factor);
    if (!o->symmetric || o->positive) return;
    *first = r->signed_first;
    *most = r->signed_most;
}

/* Whether what is guessed is so much that something else is tried before the direct solver is planned. */
static bool is_beyond(const sd_policy *policy, const sd_outlook *o)
{
    const double enough =
        o->definite ? policy->worth * (double)(o->nnz + o->n) : policy->beyond * policy->hopeless;
    return !o->planned && o->symmetric && o->guess > enough && !(o->definite && o->lost);
}

bool sd_policy_plans(const sd_policy *policy, const sd_outlook *o)
{
    const bool huge = o->nnz > policy->order_entries && !(o->guess > 0);
    const bool later = !o->symmetric || (huge && o->definite);
    return !o->krylov_named && !sd_policy_races(policy, o) && !(later && !o->lost) && !is_beyond(policy, o);
}

static void add(sd_ladder *l, const sd_method *method, double tau)
{
    l->rung[l->rungs++] = (sd_rung){method, tau};
}

sd_ladder sd_ladder_of(const sd_method *method)
{
    sd_ladder l = {.iterations = INT64_MAX};
    add(&l, method, NAN);
    return l;
}

/* Block LDL' from the threshold on that was enough before, then the direct solver where it fits or may fit.
 */
static sd_ladder by_ldlt(const sd_policy *policy, const sd_outlook *o)
{
    const bool direct = o->fits || is_beyond(policy, o);
    sd_ladder l = {.first = o->learned,
                   .iterations = policy->iterations,
                   .most_flops = direct ? policy->share * (o->fits ? o->flops : o->guess) : 0};
    for (int k = o->learned; k < SD_TAUS; ++k) add(&l, &sd_method_ldlt, policy->tau[k]);
    if (direct) add(&l, &sd_method_direct, NAN);
    if (l.rungs == 0) add(&l, &sd_method_ldlt, policy->tau[SD_TAUS - 1]);
    return l;
}

static const sd_method *cheapest(const sd_outlook *o)
{
    return o->symmetric || o->scarce || o->dominant ? &sd_method_diagonal : &sd_method_ilu;
}

/* Iterations of a general system whose direct solver is not planned: those of a small one are limited by
 * what the order of it costs at least. */
static int64_t before_planning(const sd_policy *policy, const sd_outlook *o)
{
    double first, most;
    sd_policy_race(policy, o, &first, &most);
    return o->nnz < policy->guess_entries && most < (double)policy->iterations ? (int64_t)most
                                                                               : policy->iterations;
}

static sd_ladder by_cheapest(const sd_policy *policy, const sd_outlook *o)
{
    sd_ladder l = {.iterations = INT64_MAX, .cheapest = true};
    const bool last = !o->krylov_named && !o->scarce && (o->fits || !o->planned);
    add(&l, cheapest(o), NAN);
    if (!last || (o->symmetric && !o->fits && !is_beyond(policy, o))) {
        if (l.rung[0].method != &sd_method_diagonal) add(&l, &sd_method_diagonal, NAN);
        add(&l, &sd_method_none, NAN);
    }
    if (!last) return l;
    if (!o->symmetric && !o->planned) l.iterations = before_planning(policy, o);
    if (o->planned) l.iterations = (int64_t)(0.5 * o->flops / (policy->product * (double)(o->nnz + o->n)));
    if (is_beyond(policy, o))
        l.iterations = (int64_t)(fmin(o->guess / (double)(o->nnz + o->n), policy->order) / policy->product);
    add(&l, &sd_method_direct, NAN);
    return l;
}

sd_ladder sd_policy_ladder(const sd_policy *policy, const sd_outlook *o)
{
    const bool definite = o->definite || !o->symmetric;
    if (o->fits && o->flops <= (definite ? policy->expensive : policy->hopeless))
        return sd_ladder_of(&sd_method_direct);
    if (o->fits && definite && o->lost) return sd_ladder_of(&sd_method_direct);
    if (sd_policy_races(policy, o)) {
        sd_ladder l = sd_ladder_of(cheapest(o));
        l.cheapest = l.race = true;
        return l;
    }
    if (!o->krylov_named && o->symmetric && !o->definite && !o->scarce) return by_ldlt(policy, o);
    return by_cheapest(policy, o);
}
