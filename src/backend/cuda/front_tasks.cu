/* In which order, and in which pieces, blocks of threads take up the fronts in a solve: front_solve.cuh. */
#include "backend/cuda/front_solve.cuh"

#include <string.h>

namespace sd_cuda
{
namespace
{

/* Numbers of a panel that a warp takes alone, and of a piece for a block, at least. */
constexpr int64_t CHAIN_NUMBERS = 8192, PIECE_NUMBERS = 8192;
constexpr int64_t FEW_BLOCKS = 16; /* of columns */

/* Counts where there are no arrays yet. */
struct listing {
    const sd_tree *t;
    const sd_schedule *s;
    solve_task *task;
    int64_t *begin;
    int32_t *front;
    int64_t tasks, chains, fronts, rooms;
};

int64_t columns_of(const sd_tree *t, int32_t f)
{
    return t->first[f + 1] - t->first[f];
}
int64_t rows_of(const sd_tree *t, int32_t f)
{
    return columns_of(t, f) + t->row_ptr[f + 1] - t->row_ptr[f];
}
bool is_alone(const sd_tree *t, int32_t f)
{
    return rows_of(t, f) * columns_of(t, f) <= CHAIN_NUMBERS;
}

void add_task(listing *l, int64_t front, int64_t piece, int64_t pieces, int64_t room)
{
    if (l->task)
        l->task[l->tasks] = {static_cast<int32_t>(front), static_cast<int32_t>(piece),
                             static_cast<int32_t>(pieces), static_cast<int32_t>(room)};
    ++l->tasks;
}

/* A chain of these fronts; `first` is the first chain of the level. */
void add_chain(listing *l, const int32_t *front, int64_t count, int64_t first)
{
    if ((l->chains - first) % SOLVE_WARPS == 0) add_task(l, -1 - l->chains, 0, 0, -1);
    if (l->task) {
        ++l->task[l->tasks - 1].piece;
        for (int64_t k = 0; k < count; ++k) l->front[l->fronts + k] = front[k];
        l->begin[l->chains] = l->fronts;
        l->begin[l->chains + 1] = l->fronts + count;
    }
    ++l->chains;
    l->fronts += count;
}

/* Delays make a front larger, and then its pieces, of which there are no more. A front of few blocks of
 * columns has few blocks of threads at work backward, unless the rows below it are shared out too. */
void add_pieces(listing *l, int32_t f)
{
    const int64_t blocks = (rows_of(l->t, f) + SQUARE - 1) / SQUARE, numbers = SQUARE * columns_of(l->t, f);
    const int64_t together = (PIECE_NUMBERS + numbers - 1) / numbers,
                  pieces = (blocks + together - 1) / together;
    const int64_t units = (columns_of(l->t, f) + SQUARE - 1) / SQUARE;
    const bool shared = units <= FEW_BLOCKS && pieces >= 2 * ((units + together - 1) / together);
    for (int64_t k = 0; k < pieces; ++k) add_task(l, f, k, pieces, shared ? l->rooms + k * units : -1);
    if (shared) l->rooms += pieces * units;
}

void list_all(listing *l)
{
    const sd_schedule *s = l->s;
    l->tasks = l->chains = l->fronts = l->rooms = 0;
    for (int32_t level = 0; level < s->levels; ++level) {
        for (int32_t k = s->large_ptr[level]; k < s->large_ptr[level + 1]; ++k)
            if (!is_alone(l->t, s->large_front[k])) add_pieces(l, s->large_front[k]);
        const int64_t first = l->chains;
        for (int32_t c = s->cluster_ptr[level]; c < s->cluster_ptr[level + 1]; ++c)
            add_chain(l, s->cluster_front + s->cluster_from[c], s->cluster_from[c + 1] - s->cluster_from[c],
                      first);
        for (int32_t k = s->large_ptr[level]; k < s->large_ptr[level + 1]; ++k)
            if (is_alone(l->t, s->large_front[k])) add_chain(l, s->large_front + k, 1, first);
    }
}

} /* namespace */

int64_t count_tasks(const sd_tree *t, const sd_schedule *s, solve_tasks *tasks)
{
    listing l = {t, s, NULL, NULL, NULL, 0, 0, 0, 0};
    list_all(&l);
    tasks->count = static_cast<int>(l.tasks);
    tasks->listed = static_cast<int>(l.fronts);
    tasks->rooms = static_cast<int32_t>(l.rooms);
    const int64_t rows = t->row_ptr[t->fronts], lists = t->n + 3 * rows + 1;
    return l.tasks * static_cast<int64_t>(sizeof *l.task) + 8 * (l.chains + 1) + 4 * l.fronts + 4 * lists;
}

saddle_status make_tasks(sd_engine *e, const sd_tree *t, const sd_schedule *s, solve_tasks *tasks)
{
    const char *what = "order of solves";
    const saddle_hooks *hooks = &e->context->hooks;
    listing l = {t, s, NULL, NULL, NULL, 0, 0, 0, 0};
    list_all(&l);
    const int64_t task_bytes = l.tasks * static_cast<int64_t>(sizeof *l.task);
    const int64_t begin_bytes = (l.chains + 1) * static_cast<int64_t>(sizeof *l.begin);
    const int64_t front_bytes = l.fronts * static_cast<int64_t>(sizeof *l.front);
    char *memory = static_cast<char *>(
        hooks->allocate(static_cast<size_t>(task_bytes + begin_bytes + front_bytes), hooks->user));
    if (!memory)
        return e->status =
                   fail(e->context, SADDLE_OUT_OF_MEMORY, "out of memory: cannot allocate the %s", what);
    l.task = reinterpret_cast<solve_task *>(memory);
    l.begin = reinterpret_cast<int64_t *>(memory + task_bytes);
    l.front = reinterpret_cast<int32_t *>(memory + task_bytes + begin_bytes);
    l.begin[0] = 0;
    list_all(&l);
    tasks->count = static_cast<int>(l.tasks);
    tasks->listed = static_cast<int>(l.fronts);
    tasks->rooms = static_cast<int32_t>(l.rooms);
    tasks->task = static_cast<solve_task *>(copy_to_device(e, l.task, task_bytes, what));
    tasks->begin = static_cast<int64_t *>(copy_to_device(e, l.begin, begin_bytes, what));
    tasks->front = static_cast<int32_t *>(copy_to_device(e, l.front, front_bytes, what));
    hooks->release(memory, hooks->user);
    return e->status;
}

saddle_status make_lists(sd_engine *e, const sd_tree *t, row_lists *lists)
{
    const char *what = "order of solves";
    const saddle_hooks *hooks = &e->context->hooks;
    const int64_t rows = t->row_ptr[t->fronts], places = t->n + rows;
    if (places > UINT32_MAX - 1)
        return e->status = fail(e->context, SADDLE_NOT_SUPPORTED,
                                "the fronts have %lld rows, and on a GPU at most %lld are supported",
                                static_cast<long long>(places), static_cast<long long>(UINT32_MAX) - 1);
    const int64_t bytes = (places + 2 + 2 * rows) * static_cast<int64_t>(sizeof(uint32_t));
    uint32_t *ptr = static_cast<uint32_t *>(hooks->allocate(static_cast<size_t>(bytes), hooks->user));
    if (!ptr)
        return e->status =
                   fail(e->context, SADDLE_OUT_OF_MEMORY, "out of memory: cannot allocate the %s", what);
    uint32_t *from = ptr + places + 2, *owner = from + rows;
    memset(ptr, 0, static_cast<size_t>(bytes));
    /* Where a list begins is counted two places on, so that it stands in its place when it is filled. */
    for (int32_t f = 0; f < t->fronts; ++f) {
        for (int64_t i = t->row_ptr[f]; i < t->row_ptr[f + 1]; ++i) owner[i] = static_cast<uint32_t>(f);
        if (t->parent[f] < 0) continue;
        uint32_t *above = ptr + t->first[t->parent[f]] + t->row_ptr[t->parent[f]];
        for (int64_t i = t->row_ptr[f]; i < t->row_ptr[f + 1]; ++i) ++above[t->place[i] + 2];
    }
    for (int64_t k = 1; k < places + 2; ++k) ptr[k] += ptr[k - 1];
    for (int32_t f = 0; f < t->fronts; ++f) /* children of a front come in the order of their numbers */
        if (t->parent[f] >= 0) {
            uint32_t *above = ptr + t->first[t->parent[f]] + t->row_ptr[t->parent[f]];
            for (int64_t i = t->row_ptr[f]; i < t->row_ptr[f + 1]; ++i)
                from[above[t->place[i] + 1]++] = static_cast<uint32_t>(i);
        }
    lists->ptr = static_cast<uint32_t *>(
        copy_to_device(e, ptr, (places + 1) * static_cast<int64_t>(sizeof *ptr), what));
    lists->from =
        static_cast<uint32_t *>(copy_to_device(e, from, rows * static_cast<int64_t>(sizeof *from), what));
    lists->owner =
        static_cast<int32_t *>(copy_to_device(e, owner, rows * static_cast<int64_t>(sizeof *owner), what));
    hooks->release(ptr, hooks->user);
    return e->status;
}

} /* namespace sd_cuda */
