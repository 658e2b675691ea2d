/* Many systems: the plan in device memory, the factors, and the runner's table. */
#include "backend/cuda/systems.cuh"

struct sd_systems_run {
    sd_cuda::systems_plan w;
    sd_cuda::systems_factors f;
    int64_t capacity; /* systems */
    int8_t *signs;
};

namespace sd_cuda
{
namespace
{

/* A copy on the device of `count` things. */
template <class type> const type *put(sd_engine *e, const type *host, int64_t count)
{
    return static_cast<const type *>(
        copy_to_device(e, host, count * static_cast<int64_t>(sizeof(type)), "plan of many systems"));
}

systems_steps put_steps(sd_engine *e, const sd_steps &steps, int workers)
{
    return {static_cast<int>(steps.count), put(e, steps.step, steps.count * workers)};
}

void put_plan(sd_engine *e, const sd_systems_plan *plan, systems_plan *w)
{
    const sd_rounds *r = plan->rounds;
    w->n = r->n;
    w->workers = r->workers;
    w->entries = r->entries;
    w->nnz = static_cast<int>(r->nnz);
    w->matchings = r->matchings;
    w->largest_exponent = plan->largest_exponent;
    w->factor = put_steps(e, r->factor, r->workers);
    w->forward = put_steps(e, r->forward, r->workers);
    w->backward = put_steps(e, r->backward, r->workers);
    w->start = put(e, r->start, r->entries + 2 * static_cast<int64_t>(r->n));
    w->pivot = put(e, r->pivot, r->n);
    w->place = put(e, r->place, r->nnz);
    w->row_ptr = put(e, r->row_ptr, r->n + 1);
    w->row = put(e, r->row, r->row_ptr[r->n]);
    w->matched = put(e, r->matched, r->matchings);
    w->position = put(e, r->position, r->n);
    w->scale = put(e, plan->scale, r->n);
    w->random = put(e, plan->random, r->n);
    if (!plan->source_ptr) return;
    w->source_ptr = put(e, plan->source_ptr, r->nnz + 1);
    w->source = put(e, plan->source, plan->source_ptr[r->nnz]);
}

saddle_status make(sd_engine *e, const sd_systems_plan *plan, sd_systems_run **made)
{
    sd_context *c = e->context;
    sd_systems_run *run = *made =
        static_cast<sd_systems_run *>(c->hooks.allocate(sizeof(sd_systems_run), c->hooks.user));
    if (!run)
        return fail(c, SADDLE_OUT_OF_MEMORY, "out of memory: cannot allocate %d bytes for many systems",
                    static_cast<int>(sizeof *run));
    *run = {};
    put_plan(e, plan, &run->w);
    return e->status;
}

void give_back(sd_engine *e, const void *memory)
{
    e->backend->release(e, const_cast<void *>(memory));
}

void free_factors(sd_engine *e, sd_systems_run *run)
{
    const systems_factors &f = run->f;
    const void *const all[] = {f.a, f.l, f.inverse, f.norm, f.exponent, f.outcome};
    for (const void *memory : all) give_back(e, memory);
    run->f = {};
    run->capacity = 0;
}

void release(sd_engine *e, sd_systems_run *run)
{
    if (!run) return;
    const systems_plan &w = run->w;
    const void *const all[] = {w.factor.step, w.forward.step, w.backward.step, w.start,   w.pivot,
                               w.place,       w.row_ptr,      w.row,           w.matched, w.position,
                               w.scale,       w.random,       w.source_ptr,    w.source,  run->signs};
    free_factors(e, run);
    for (const void *memory : all) give_back(e, memory);
    e->context->hooks.release(run, e->context->hooks.user);
}

/* Of the factors of one system. */
int64_t factor_bytes(int64_t nnz, int64_t entries, int64_t n)
{
    return (nnz + entries + 2 * n + 1) * static_cast<int64_t>(sizeof(double)) +
           static_cast<int64_t>(sizeof(int) + sizeof(sd_system_outcome));
}

int64_t bytes(const sd_rounds *r)
{
    const int64_t n = r->n, work = r->entries + 2 * n > 8 * n ? r->entries + 2 * n : 8 * n;
    return factor_bytes(r->nnz, r->entries, n) + work * static_cast<int64_t>(sizeof(double));
}

saddle_status reserve(sd_engine *e, sd_systems_run *run, int64_t systems)
{
    if (systems <= run->capacity) return e->status;
    free_factors(e, run);
    const int64_t capacity = (systems + GROUP - 1) / GROUP * GROUP, number = sizeof(double);
    const systems_plan &w = run->w;
    systems_factors &f = run->f;
    f.a = static_cast<double *>(get_room(e, capacity * w.nnz * number, "values of many systems"));
    f.l = static_cast<double *>(get_room(e, capacity * w.entries * number, "factors of many systems"));
    f.inverse = static_cast<double *>(get_room(e, capacity * 2 * w.n * number, "pivots of many systems"));
    f.norm = static_cast<double *>(get_room(e, capacity * number, "many systems"));
    f.exponent =
        static_cast<int *>(get_room(e, capacity * static_cast<int64_t>(sizeof(int)), "many systems"));
    f.outcome = static_cast<sd_system_outcome *>(
        get_room(e, capacity * static_cast<int64_t>(sizeof(sd_system_outcome)), "many systems"));
    const saddle_status status = e->status;
    if (status)
        free_factors(e, run);
    else
        run->capacity = capacity;
    return status;
}

saddle_status factor(sd_engine *e, sd_systems_run *run, int64_t count, const void *values, int64_t stride,
                     bool single, const sd_systems_rule *rule)
{
    const sd_pivoting &p = rule->pivoting;
    systems_rule on = {p.rule,        p.rule == SD_PIVOT_THRESHOLD ? 1 / p.u : INFINITY,
                       p.small,       p.regularise,
                       rule->suspect, rule->stale,
                       rule->grown,   rule->misscaled,
                       NULL};
    if (p.signs) {
        if (!run->signs) run->signs = static_cast<int8_t *>(get_room(e, run->w.n, "signs"));
        if (run->signs) e->backend->upload(e, p.signs, run->signs, run->w.n);
        on.signs = run->signs;
    }
    if (!e->status) launch_system_factors(e, run->w, run->f, count, values, stride, single, on);
    return e->status;
}

saddle_status fetch(sd_engine *e, const sd_systems_run *run, int64_t count, sd_system_outcome *outcome)
{
    e->backend->download(e, run->f.outcome, outcome, count * static_cast<int64_t>(sizeof *outcome));
    return e->status;
}

saddle_status solve(sd_engine *e, const sd_systems_run *run, int64_t count, const double *b, int64_t ldb,
                    double *x, int64_t ldx, const sd_systems_goal *goal, sd_system_outcome *outcome)
{
    const int64_t size = count * static_cast<int64_t>(sizeof *outcome);
    void *found = get_room(e, size, "outcomes of many systems");
    if (!found) return e->status;
    launch_system_solves(e, run->w, run->f, count, b, ldb, x, ldx, *goal,
                         static_cast<sd_system_outcome *>(found));
    if (!e->status) e->backend->download(e, found, outcome, size);
    e->backend->release(e, found);
    return e->status;
}

/* The numbers of one system from those of its group. */
__global__ void __launch_bounds__(BLOCK) pick_values(const double *from, int64_t count, double *to)
{
    const int64_t k = static_cast<int64_t>(blockIdx.x) * BLOCK + threadIdx.x;
    if (k < count) to[k] = from[k * GROUP];
}

saddle_status values_of(sd_engine *e, const sd_systems_run *run, int64_t system, double *values)
{
    const int64_t nnz = run->w.nnz, size = nnz * static_cast<int64_t>(sizeof *values);
    void *to = get_room(e, size, "values of a system");
    if (!to) return e->status;
    launch(e, "values of a system", pick_values, (nnz + BLOCK - 1) / BLOCK,
           run->f.a + system / GROUP * nnz * GROUP + system % GROUP, nnz, static_cast<double *>(to));
    if (!e->status) e->backend->download(e, to, values, size);
    e->backend->release(e, to);
    return e->status;
}

} /* namespace */

extern const sd_systems_runner systems_runner = {make,   release, bytes, reserve,
                                                 factor, solve,   fetch, values_of};

} /* namespace sd_cuda */
