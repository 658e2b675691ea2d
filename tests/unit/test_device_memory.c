/*
 * Memory of a device's engine as it is dealt out on a GPU, in pieces that are used again
 * (src/backend/cuda/memory.cuh): pieces keep what is written to them, neighbours that are free become one,
 * nothing is kept where the device runs short, and solves have the bits that they have with every array by
 * itself. Panels that have to grow leave no slab behind.
 */
#include "backend_or_skip.h"
#include "device_run.h"

#include "failing_allocator.h"

enum { UNIT = 512, MEGABYTE = 1 << 20 };

typedef struct memory_of {
    sd_context c;
    sd_device d;
    sd_engine e;
} memory_of;

static void open_memory(memory_of *m, const saddle_hooks *hooks)
{
    const sd_backend *cuda = cuda_or_skip();
    setenv("SADDLE_CUDA_MEMORY", "pieces", 1);
    sd_context_init(&m->c, hooks, 0);
    open_engine_on(&m->c, cuda, 1, &m->d, &m->e);
}

static void close_memory(memory_of *m)
{
    sd_engine_close(&m->e);
    sd_device_close(&m->c, &m->d);
    assert_int_equal(m->c.bytes, 0);
    unsetenv("SADDLE_CUDA_MEMORY");
}

static char *take(memory_of *m, int64_t bytes)
{
    char *data = m->e.backend->allocate(&m->e, bytes, "a piece");
    if (!data) fail_msg("%s", m->c.message);
    assert_int_equal((uintptr_t)data % 256, 0);
    return data;
}

static void give(memory_of *m, void *data)
{
    m->e.backend->release(&m->e, data);
}

/* A piece with what was written to it: its number, over and over. */
typedef struct held {
    char *there;
    int64_t count;
    int32_t number;
} held;

static void write_to(memory_of *m, const held *h)
{
    int32_t *here = test_alloc((size_t)h->count + 1, sizeof *here);
    for (int64_t k = 0; k < h->count; ++k) here[k] = h->number;
    m->e.backend->upload(&m->e, here, h->there, h->count * (int64_t)sizeof *here);
    free(here);
}

static void check(memory_of *m, const held *h)
{
    int32_t *here = test_alloc((size_t)h->count + 1, sizeof *here);
    m->e.backend->download(&m->e, h->there, here, h->count * (int64_t)sizeof *here);
    for (int64_t k = 0; k < h->count; ++k) assert_int_equal(here[k], h->number);
    free(here);
}

static void pieces_keep_what_is_written_to_them(void **state)
{
    (void)state;
    memory_of m;
    held all[40] = {{0}};
    open_memory(&m, NULL);
    rng r = rng_start("pieces_keep_what_is_written_to_them");
    const int steps = is_about_memory() ? 200 : 1000;
    for (int step = 1; step <= steps; ++step) {
        held *h = &all[rng_below(&r, 40)];
        if (h->there) {
            check(&m, h);
            give(&m, h->there);
            h->there = NULL;
        } else {
            h->count = rng_below(&r, 8) == 0 ? rng_below(&r, 3 * MEGABYTE / 4) : rng_below(&r, 3000);
            h->number = step;
            h->there = take(&m, h->count * (int64_t)sizeof h->number);
            write_to(&m, h);
        }
        int64_t bytes = 0;
        for (int k = 0; k < 40; ++k)
            if (all[k].there) bytes += all[k].count * (int64_t)sizeof all[k].number;
        assert_int_equal(m.c.bytes, bytes);
    }
    for (int k = 0; k < 40; ++k)
        if (all[k].there) check(&m, &all[k]);
    close_memory(&m); /* with what is still in use */
}

static void free_neighbours_become_one(void **state)
{
    (void)state;
    static const int orders[][3] = {{0, 1, 2}, {0, 2, 1}, {1, 0, 2}, {1, 2, 0}, {2, 0, 1}, {2, 1, 0}};
    memory_of m;
    open_memory(&m, NULL);
    char *first = NULL;
    for (int k = 0; k < 6; ++k) {
        char *const piece[3] = {take(&m, 700), take(&m, UNIT), take(&m, 2 * UNIT - 1)}, *rest;
        assert_true(piece[1] == piece[0] + 2 * UNIT && piece[2] == piece[1] + UNIT);
        rest = take(&m, 2 * MEGABYTE - 5 * UNIT); /* of the same slab, which is full then */
        assert_true(rest == piece[2] + 2 * UNIT);
        for (int j = 0; j < 3; ++j) give(&m, piece[orders[k][j]]);
        assert_true(take(&m, 5 * UNIT) == piece[0]);
        give(&m, piece[0]);
        give(&m, rest);
        assert_true(k == 0 || piece[0] == first);
        first = piece[0];
        assert_true(take(&m, 2 * MEGABYTE) == first);
        give(&m, first);
    }
    close_memory(&m);
}

static void the_smallest_that_suffices_is_taken(void **state)
{
    (void)state;
    memory_of m;
    open_memory(&m, NULL);
    char *const large = take(&m, 6 * MEGABYTE), *const small = take(&m, 2 * MEGABYTE);
    give(&m, large);
    give(&m, small);
    assert_true(take(&m, MEGABYTE) == small);
    assert_true(take(&m, 5 * MEGABYTE) == large);
    give(&m, small);
    give(&m, large);
    close_memory(&m);
}

/* The emulated device alone can be made as small as that. */
static void what_nobody_uses_goes_where_the_device_runs_short(void **state)
{
    (void)state;
    memory_of m;
    const char *module = getenv("SADDLE_CUDA_MODULE");
    if (!module || !strstr(module, "emulated")) skip();
    setenv("SADDLE_EMULATED_MEMORY", "9000000", 1);
    open_memory(&m, NULL);
    char *const used = take(&m, MEGABYTE), *const unused = take(&m, 4 * MEGABYTE);
    give(&m, unused);
    char *const large = take(&m, 6 * MEGABYTE - 9);
    assert_null(m.e.backend->allocate(&m.e, 4 * MEGABYTE, "the last straw"));
    assert_int_equal(m.c.status, SADDLE_OUT_OF_MEMORY);
    if (!strstr(m.c.message, "the last straw")) fail_msg("%s", m.c.message);
    assert_int_equal(m.e.status, SADDLE_OK); /* to be short of memory is no failure of the device */
    give(&m, large);
    give(&m, take(&m, 4 * MEGABYTE));
    give(&m, used);
    close_memory(&m);
    unsetenv("SADDLE_EMULATED_MEMORY");
}

/* Bytes that an engine has of the emulated device, by what it says when it is asked for more than there is.
 */
static int64_t bytes_taken(sd_engine *e)
{
    assert_null(e->backend->allocate(e, INT64_C(1) << 50, "everything"));
    const char *told = strrchr(e->context->message, '(');
    assert_non_null(told);
    char *end;
    const int64_t left = strtoll(told + 1, &end, 10), all = strtoll(end + strlen(" of its "), NULL, 10);
    e->context->status = SADDLE_OK;
    return all - left;
}

/* Arrays that were made after the panels stay where they are while these make room for more. */
static void panels_that_grow_leave_nothing_behind(void **state)
{
    (void)state;
    enum { LEAVES = 600, ROOT = 500, ARRAYS = 40, ARRAY = 100000 };
    const char *module = getenv("SADDLE_CUDA_MODULE");
    if (!module || !strstr(module, "emulated")) skip();
    const sd_backend *cuda = cuda_or_skip();
    rng r = rng_start("panels_that_grow_leave_nothing_behind");
    dense d = dense_new(LEAVES + ROOT);
    for (int i = 0; i < LEAVES; ++i) {
        dense_set(&d, i, i, 1e-9);
        for (int j = 0; j < 3; ++j) set_both(&d, i, LEAVES + (7 * i + 31 * j) % ROOT, 2 + rng_unit(&r));
    }
    for (int i = LEAVES; i < d.n; ++i)
        for (int j = LEAVES; j <= i; ++j) set_both(&d, i, j, rng_unit(&r));
    setenv("SADDLE_CUDA_MEMORY", "pieces", 1);
    device_run t;
    void *array[ARRAYS];
    if (run_open(&t, cuda, &d, SD_DOUBLE, 0.01, 0)) fail_msg("%s", t.c.message);
    for (int k = 0; k < ARRAYS; ++k) array[k] = t.e.backend->allocate(&t.e, ARRAY, "an array");
    const int64_t before = bytes_taken(&t.e) - t.c.bytes;
    if (run_factor(&t, 0.01, SD_PRESOLVE_BAND, false)) fail_msg("%s", t.c.message);
    assert_true(t.result.restarts > 0 && t.result.panel_bytes > 8 * MEGABYTE);
    /* what nobody uses of it is no more than before, but for the ends of slabs */
    assert_true(bytes_taken(&t.e) - t.c.bytes < before + 4 * MEGABYTE);
    for (int k = 0; k < ARRAYS; ++k) t.e.backend->release(&t.e, array[k]);
    run_free(&t);
    dense_free(&d);
    unsetenv("SADDLE_CUDA_MEMORY");
}

static void a_host_without_memory_is_told(void **state)
{
    (void)state;
    cuda_or_skip();
    for (int64_t later = 1;; ++later) {
        memory_of m;
        failing_allocator f = {0};
        const saddle_hooks hooks = failing_hooks(&f);
        open_memory(&m, &hooks);
        f.fail_at = f.allocations + later;
        char *const a = m.e.backend->allocate(&m.e, 1000, "a piece");
        char *const b = m.e.backend->allocate(&m.e, 3 * MEGABYTE, "a piece");
        const bool failed = f.failed;
        assert_true(a && b ? true : failed && m.c.status == SADDLE_OUT_OF_MEMORY);
        f.fail_at = 0;
        m.e.status = SADDLE_OK;
        give(&m, b);
        give(&m, a);
        close_memory(&m);
        assert_int_equal(f.live, 0);
        if (!failed) break;
    }
}

static void solves_have_the_same_bits(void **state)
{
    (void)state;
    cuda_or_skip();
    rng r = rng_start("solves_have_the_same_bits");
    static const char *const ways[] = {"apart", "pieces", "pieces"};
    static const char *const lists[] = {"device=cuda,method=direct", "device=cuda,method=ldlt"};
    enum { N = 150 };
    for (int k = 0; k < 2; ++k) {
        dense d = kkt_problem(&r, N, 40, 0);
        double b[N], x[3][N];
        for (int i = 0; i < N; ++i) b[i] = rng_unit(&r);
        for (int way = 0; way < 3; ++way) {
            setenv("SADDLE_CUDA_MEMORY", ways[way], 1);
            solve_dense(&d, SADDLE_LOWER, b, x[way], lists[k]);
            assert_memory_equal(x[way], x[0], sizeof x[0]);
        }
        dense_free(&d);
    }
    unsetenv("SADDLE_CUDA_MEMORY");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(pieces_keep_what_is_written_to_them),
        cmocka_unit_test(free_neighbours_become_one),
        cmocka_unit_test(the_smallest_that_suffices_is_taken),
        cmocka_unit_test(what_nobody_uses_goes_where_the_device_runs_short),
        cmocka_unit_test(panels_that_grow_leave_nothing_behind),
        cmocka_unit_test(a_host_without_memory_is_told),
        cmocka_unit_test(solves_have_the_same_bits),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
