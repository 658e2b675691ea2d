/* See crew.h. */
#include "core/crew.h"

#include "core/spin.h"

#include <omp.h>
#include <pthread.h>
#include <stdatomic.h>

enum {
    URGENT = 24, /* sets of pieces at a time that a task waits for, and others */
    LATER = 8
};

/* No piece to be had: more than any count, and no set of few. */
#define CLOSED UINT64_C(0xffffffff)

/*
 * A set of pieces. state is a generation and what is left: of at most FEW pieces a bit for each, of more the
 * number of the next. Whoever takes one off has the piece. The generation changes before anything else does,
 * so that who looked at another set before does not get a piece of this one; that is also why the rest is
 * written with release and read with acquire.
 *
 * Of few pieces a thread takes its own if it can, counted from the last: kernels on a front cut its rows so
 * that the last piece is always the same rows, which are still in the cache of who had them before.
 */
enum { FEW = 31 };

struct sd_pieces {
    _Alignas(64) atomic_ullong state;
    _Atomic int32_t count;
    _Atomic(sd_piece *) body;
    _Atomic(void *) what;
    _Alignas(64) _Atomic int32_t left; /* that are not done */
    atomic_flag used;
};

typedef struct task {
    double priority;
    sd_piece *body;
    void *what;
    int32_t item;
} task;

struct sd_crew {
    _Alignas(64) atomic_uint posted;      /* grows whenever there is something new to do */
    _Alignas(64) _Atomic int32_t pending; /* tasks that are not done */
    atomic_int asleep, awake;             /* threads without work that sleep, or spin */
    int threads;                          /* of the run */
    sd_spins spins, piece_spins;          /* of threads that wait for work, or for the last pieces */
    pthread_mutex_t lock;                 /* of the tasks, and of going to sleep */
    pthread_cond_t wake;
    _Atomic int64_t count; /* changes under the lock */
    task *ready;           /* a heap */
    sd_pieces pieces[URGENT + LATER];
};

saddle_status sd_crew_make(sd_context *c, int64_t tasks, sd_crew **crew)
{
    sd_crew *k = *crew = sd_alloc_zero(c, 1, sizeof *k, "threads");
    if (!k) return c->status;
    k->ready = sd_alloc(c, tasks + 1, sizeof *k->ready, "tasks");
    if (!k->ready) {
        sd_free(c, k);
        *crew = NULL;
        return c->status;
    }
    pthread_mutex_init(&k->lock, NULL);
    pthread_cond_init(&k->wake, NULL);
    for (int s = 0; s < URGENT + LATER; ++s) {
        atomic_init(&k->pieces[s].state, CLOSED);
        atomic_flag_clear(&k->pieces[s].used);
    }
    return SADDLE_OK;
}

void sd_crew_free(sd_context *c, sd_crew *k)
{
    if (!k) return;
    pthread_cond_destroy(&k->wake);
    pthread_mutex_destroy(&k->lock);
    sd_free_all(c, k->ready, k);
}

static void wake_all(sd_crew *k)
{
    pthread_mutex_lock(&k->lock);
    pthread_cond_broadcast(&k->wake);
    pthread_mutex_unlock(&k->lock);
}

/* There is work for so many more threads. Those that spin see it; only what they leave wakes others. */
static void call_up(sd_crew *k, int32_t threads)
{
    atomic_fetch_add(&k->posted, 1);
    const int32_t missing = threads - atomic_load(&k->awake);
    if (missing <= 0 || atomic_load(&k->asleep) == 0) return;
    pthread_mutex_lock(&k->lock);
    if (missing >= atomic_load(&k->asleep))
        pthread_cond_broadcast(&k->wake);
    else
        for (int32_t t = 0; t < missing; ++t) pthread_cond_signal(&k->wake);
    pthread_mutex_unlock(&k->lock);
}

/* Until something is posted after `seen`, or all is done. */
static void wait_for_work(sd_crew *k, unsigned seen)
{
    const int most = sd_spins_now(&k->spins);
    int spin = 0;
    atomic_fetch_add(&k->awake, 1);
    for (; spin < most && atomic_load_explicit(&k->posted, memory_order_relaxed) == seen; ++spin) sd_spin();
    atomic_fetch_sub(&k->awake, 1);
    sd_spun(&k->spins, spin == most);
    if (spin < most) return;
    pthread_mutex_lock(&k->lock);
    atomic_fetch_add(&k->asleep, 1);
    while (atomic_load(&k->posted) == seen && atomic_load(&k->pending) > 0)
        pthread_cond_wait(&k->wake, &k->lock);
    atomic_fetch_sub(&k->asleep, 1);
    pthread_mutex_unlock(&k->lock);
}

/* ---- pieces ---- */

/* Which thread of the run this is. */
static _Thread_local int own_number;

/* One of the pieces whose bits are set. */
static int32_t choose_piece(const sd_crew *k, unsigned long long left, int32_t count)
{
    for (int32_t piece = count - 1 - own_number; piece >= 0; piece -= k->threads)
        if (left >> piece & 1) return piece;
    return __builtin_ctzll(left);
}

/* Runs a piece of the set, if one is left. */
static bool run_piece(sd_crew *k, sd_pieces *p)
{
    unsigned long long state = atomic_load(&p->state);
    for (;;) {
        const unsigned long long left = state & CLOSED;
        const int32_t count = atomic_load(&p->count);
        sd_piece *body = atomic_load(&p->body);
        void *what = atomic_load(&p->what);
        const bool few = count <= FEW;
        if (left == CLOSED || (few ? left == 0 : left >= (unsigned long long)count)) return false;
        const int32_t piece = few ? choose_piece(k, left, count) : (int32_t)left;
        const unsigned long long next = few ? state & ~(1ULL << piece) : state + 1;
        if (!atomic_compare_exchange_weak(&p->state, &state, next)) continue;
        body(what, piece);
        if (atomic_fetch_sub(&p->left, 1) == 1 && atomic_load(&k->asleep) > 0) wake_all(k);
        return true;
    }
}

static sd_pieces *start(sd_crew *k, int first, int last, int32_t count, sd_piece *body, void *what)
{
    int s = first;
    while (s < last && atomic_flag_test_and_set(&k->pieces[s].used)) ++s;
    if (s == last) return NULL;
    sd_pieces *p = &k->pieces[s];
    const unsigned long long next = (atomic_load(&p->state) & ~CLOSED) + (CLOSED + 1);
    atomic_store(&p->state, next | CLOSED);
    atomic_store(&p->count, count);
    atomic_store(&p->body, body);
    atomic_store(&p->what, what);
    atomic_store(&p->left, count);
    atomic_store(&p->state, next | (count <= FEW ? (1ULL << count) - 1 : 0));
    call_up(k, count - 1);
    return p;
}

/* Helps with the set until it is done. The last pieces are run by others. */
static void finish(sd_crew *k, sd_pieces *p)
{
    while (run_piece(k, p)) {
    }
    const int most = sd_spins_now(&k->piece_spins);
    int spin = 0;
    for (; spin < most && atomic_load(&p->left) > 0; ++spin) sd_spin();
    if (spin > 0) sd_spun(&k->piece_spins, spin == most);
    if (spin == most) {
        pthread_mutex_lock(&k->lock);
        atomic_fetch_add(&k->asleep, 1);
        while (atomic_load(&p->left) > 0) pthread_cond_wait(&k->wake, &k->lock);
        atomic_fetch_sub(&k->asleep, 1);
        pthread_mutex_unlock(&k->lock);
    }
    atomic_flag_clear(&p->used);
}

static void run_in_order(int32_t count, sd_piece *body, void *what)
{
    for (int32_t k = 0; k < count; ++k) body(what, k);
}

void sd_crew_each(sd_crew *k, int32_t count, sd_piece *body, void *what)
{
    sd_pieces *p = k && count > 1 ? start(k, 0, URGENT, count, body, what) : NULL;
    if (p)
        finish(k, p);
    else
        run_in_order(count, body, what);
}

sd_pieces *sd_crew_start(sd_crew *k, int32_t count, sd_piece *body, void *what)
{
    sd_pieces *p = k && count > 0 ? start(k, URGENT, URGENT + LATER, count, body, what) : NULL;
    if (!p) run_in_order(count, body, what);
    return p;
}

void sd_crew_join(sd_crew *k, sd_pieces *p)
{
    if (p) finish(k, p);
}

/* A piece of whatever set has one, the urgent ones first. */
static bool help(sd_crew *k)
{
    for (int s = 0; s < URGENT + LATER; ++s)
        if (run_piece(k, &k->pieces[s])) return true;
    return false;
}

/* ---- tasks ---- */

static bool comes_before(const task *a, const task *b)
{
    return a->priority != b->priority ? a->priority > b->priority : a->item < b->item;
}

static void push(sd_crew *k, task fresh)
{
    int64_t at = k->count++;
    while (at > 0 && comes_before(&fresh, &k->ready[(at - 1) / 2])) {
        k->ready[at] = k->ready[(at - 1) / 2];
        at = (at - 1) / 2;
    }
    k->ready[at] = fresh;
}

static task pop(sd_crew *k)
{
    const task top = k->ready[0], last = k->ready[--k->count];
    int64_t at = 0;
    for (;;) {
        int64_t below = 2 * at + 1;
        if (below + 1 < k->count && comes_before(&k->ready[below + 1], &k->ready[below])) ++below;
        if (below >= k->count || !comes_before(&k->ready[below], &last)) break;
        k->ready[at] = k->ready[below];
        at = below;
    }
    k->ready[at] = last;
    return top;
}

void sd_crew_post(sd_crew *k, double priority, sd_piece *body, void *what, int32_t item)
{
    atomic_fetch_add(&k->pending, 1);
    pthread_mutex_lock(&k->lock);
    push(k, (task){priority, body, what, item});
    pthread_mutex_unlock(&k->lock);
    call_up(k, 1);
}

static void run_task(sd_crew *k, const task *t)
{
    t->body(t->what, t->item);
    if (atomic_fetch_sub(&k->pending, 1) == 1) call_up(k, INT32_MAX);
}

static bool run_ready(sd_crew *k)
{
    task t;
    if (atomic_load(&k->count) == 0) return false;
    pthread_mutex_lock(&k->lock);
    const bool found = k->count > 0;
    if (found) t = pop(k);
    pthread_mutex_unlock(&k->lock);
    if (found) run_task(k, &t);
    return found;
}

static void work(sd_crew *k)
{
    while (atomic_load(&k->pending) > 0) {
        const unsigned seen = atomic_load(&k->posted);
        if (!help(k) && !run_ready(k)) wait_for_work(k, seen);
    }
}

void sd_crew_run(sd_crew *k, int threads, sd_piece *first, void *what)
{
    const task begin = {0, first, what, 0};
    atomic_store(&k->pending, 1);
    atomic_store(&k->count, 0);
    sd_spins_begin(&k->spins, threads);
    sd_spins_begin(&k->piece_spins, threads);
    k->threads = threads;
#pragma omp parallel num_threads(threads)
    {
        own_number = omp_get_thread_num();
        if (omp_get_thread_num() == 0) run_task(k, &begin);
        work(k);
    }
}
