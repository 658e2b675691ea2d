/* Rounds of a sequence: see rounds.h. */
#include "plan/rounds.h"

#include <stdlib.h>
#include <string.h>

enum { TERMS_MOST = 20000000 }; /* beyond it other ways are faster */

/* A term as it is found, and the round that it can be subtracted in. */
typedef struct found_term {
    int32_t out, round;
    sd_term term;
} found_term;

/* What is needed on the way. */
typedef struct making {
    const sd_sequence *s;
    const sd_csr *A;
    int32_t *node_of, *round; /* of k, of a node */
    int64_t *reach_ptr;       /* the nodes of row k: reach[reach_ptr[k] ..], with entry a of node b */
    sd_term *reach;
    int32_t *source;  /* of each entry of the tree: the entry of A */
    int32_t *reached; /* of the row at work: entry of L of a node; -1 */
    sd_rounds *r;
    found_term *term; /* NULL: they are counted */
    int64_t terms;
} making;

static saddle_status allocate(sd_context *c, making *m)
{
    const int64_t n = m->s->n, tree_entries = m->s->entry_ptr[n];
    sd_rounds *r = m->r;
    m->node_of = sd_alloc(c, n, sizeof *m->node_of, "rounds");
    m->round = sd_alloc_zero(c, n, sizeof *m->round, "rounds");
    m->reach_ptr = sd_alloc_zero(c, n + 2, sizeof *m->reach_ptr, "rounds");
    m->reach = sd_alloc(c, r->entries, sizeof *m->reach, "rounds");
    m->source = sd_alloc(c, tree_entries, sizeof *m->source, "rounds");
    m->reached = sd_alloc(c, n, sizeof *m->reached, "rounds");
    r->start = sd_alloc(c, r->entries + 2 * n, sizeof *r->start, "rounds");
    r->pivot = sd_alloc(c, n, sizeof *r->pivot, "rounds");
    r->place = sd_alloc(c, r->nnz, sizeof *r->place, "rounds");
    r->row_ptr = sd_alloc_zero(c, n + 2, sizeof *r->row_ptr, "rounds");
    r->row = sd_alloc(c, 2 * r->nnz, sizeof *r->row, "rounds");
    r->position = sd_alloc(c, n, sizeof *r->position, "rounds");
    r->matched = sd_alloc(c, n, sizeof *r->matched, "rounds");
    const bool all = m->node_of && m->round && m->reach_ptr && m->reach && m->source && m->reached &&
                     r->start && r->pivot && r->place && r->row_ptr && r->row && r->position && r->matched;
    return all ? SADDLE_OK : c->status;
}

/* Which node every k is of, the round of every node, and how many rounds there are. */
static void find_rounds(making *m)
{
    const sd_sequence *s = m->s;
    sd_rounds *r = m->r;
    for (int32_t j = 0; j < s->nodes; ++j) {
        const sd_node *node = &s->node[j];
        for (int32_t c = 0; c < node->width; ++c) m->node_of[node->k + c] = j;
        r->pivot[node->k] = node->width == 2 ? ~node->k : node->k;
        if (node->width == 2) r->pivot[node->k + 1] = -1 - s->n;
    }
    for (int32_t j = 0; j < s->nodes; ++j) {
        if (m->round[j] >= r->rounds) r->rounds = m->round[j] + 1;
        for (int64_t e = s->node[j].begin; e < s->node[j].end; ++e) {
            int32_t *const above = &m->round[m->node_of[s->row[e]]];
            if (*above <= m->round[j]) *above = m->round[j] + 1;
        }
    }
}

/* The nodes of every row, ascending. */
static void list_reach(making *m)
{
    const sd_sequence *s = m->s;
    int64_t *ptr = m->reach_ptr + 1; /* that of k is moved on while it is filled in */
    for (int32_t j = 0; j < s->nodes; ++j)
        for (int64_t e = s->node[j].begin; e < s->node[j].end; e += s->node[j].width) ++ptr[s->row[e] + 1];
    for (int32_t k = 0; k < s->n; ++k) ptr[k + 1] += ptr[k];
    for (int32_t j = 0; j < s->nodes; ++j)
        for (int64_t e = s->node[j].begin; e < s->node[j].end; e += s->node[j].width)
            m->reach[ptr[s->row[e]]++] = (sd_term){(int32_t)e, j};
}

/* ---- terms ---- */

static void add_term(making *m, int32_t out, int32_t round, int32_t a, int32_t b)
{
    if (m->term) m->term[m->terms] = (found_term){out, round, {a, b}};
    ++m->terms;
}

/* Terms with both columns of a node, which can be subtracted once it is done. */
static void add_node(making *m, int32_t out, int32_t node, int32_t a, int32_t b)
{
    for (int32_t c = 0; c < m->s->node[node].width; ++c) add_term(m, out, m->round[node] + 1, a + c, b + c);
}

/* The number in row k, whose nodes are marked, and column j: the nodes that both have. */
static void add_number(making *m, int32_t j, int32_t out)
{
    for (int64_t t = m->reach_ptr[j]; t < m->reach_ptr[j + 1]; ++t) {
        const sd_term in = m->reach[t];
        if (m->reached[in.b] >= 0) add_node(m, out, in.b, in.a, m->reached[in.b]);
    }
}

/* All numbers of a factorization, row by row. */
static void find_factor_terms(making *m)
{
    const sd_sequence *s = m->s;
    const int32_t entries = m->r->entries;
    for (int32_t k = 0; k < s->n && m->terms <= TERMS_MOST; ++k) {
        const int32_t first = s->node[m->node_of[k]].k;
        for (int64_t t = m->reach_ptr[k]; t < m->reach_ptr[k + 1]; ++t)
            m->reached[m->reach[t].b] = m->reach[t].a;
        for (int64_t t = m->reach_ptr[k]; t < m->reach_ptr[k + 1]; ++t) {
            const sd_node *node = &s->node[m->reach[t].b];
            for (int32_t c = 0; c < node->width; ++c) add_number(m, node->k + c, m->reach[t].a + c);
        }
        if (k > first) add_number(m, first, entries + 2 * first + 1);
        add_number(m, k, entries + 2 * k);
        for (int64_t t = m->reach_ptr[k]; t < m->reach_ptr[k + 1]; ++t) m->reached[m->reach[t].b] = -1;
    }
}

/* x_k -= l_ki x_i */
static void find_forward_terms(making *m)
{
    for (int32_t k = 0; k < m->s->n; ++k)
        for (int64_t t = m->reach_ptr[k]; t < m->reach_ptr[k + 1]; ++t)
            add_node(m, k, m->reach[t].b, m->reach[t].a, m->s->node[m->reach[t].b].k);
}

/* The same with L', from the last round on. */
static void find_backward_terms(making *m)
{
    const sd_sequence *s = m->s;
    for (int32_t k = 0; k < s->n; ++k) {
        const sd_node *node = &s->node[m->node_of[k]];
        for (int64_t e = node->begin + (k - node->k); e < node->end; e += node->width)
            add_term(m, k, m->r->rounds - 1 - m->round[m->node_of[s->row[e]]], (int32_t)e, s->row[e]);
    }
}

/* Terms by rounds, in each by the numbers that they belong to, as they were found. ptr has rounds + 2
 * numbers. */
static saddle_status find_terms(sd_context *c, making *m, void (*find)(making *), int64_t *ptr,
                                found_term **to)
{
    const int32_t rounds = m->r->rounds;
    m->term = NULL;
    m->terms = 0;
    find(m);
    *to = NULL;
    if (m->terms > TERMS_MOST) return SADDLE_OK;
    const int64_t terms = m->terms;
    m->term = sd_alloc(c, terms, sizeof *m->term, "rounds");
    *to = sd_alloc(c, terms, sizeof **to, "rounds");
    const saddle_status status = m->term && *to ? SADDLE_OK : c->status;
    if (!status) {
        m->terms = 0;
        find(m);
        memset(ptr, 0, ((size_t)rounds + 2) * sizeof *ptr);
        int64_t *const next = ptr + 1;
        for (int64_t t = 0; t < terms; ++t) ++next[m->term[t].round + 1];
        for (int32_t r = 0; r < rounds; ++r) next[r + 1] += next[r];
        for (int64_t t = 0; t < terms; ++t) (*to)[next[m->term[t].round]++] = m->term[t];
    }
    sd_free(c, m->term);
    m->term = NULL;
    return status;
}

/* ---- steps ---- */

/* A number of a round and its terms. */
typedef struct task {
    int64_t begin;
    int32_t steps, count;
} task;

static int compare_tasks(const void *a, const void *b)
{
    const task *p = a, *q = b;
    if (p->steps != q->steps) return p->steps > q->steps ? -1 : 1;
    return p->begin < q->begin ? -1 : p->begin > q->begin;
}

/* Steps that are being made. */
typedef struct writing {
    sd_steps *to;
    int64_t room;
    int32_t workers;
    task *task;                    /* of a round */
    int64_t load[SD_WORKERS_MOST]; /* steps of each worker in it */
} writing;

/* Room for `more` idle steps of all workers, the last of which ends with a meeting. */
static saddle_status extend(sd_context *c, writing *w, int64_t more)
{
    sd_steps *const to = w->to;
    if (to->count + more > w->room) {
        const int64_t room = 2 * (to->count + more);
        sd_step *larger = sd_alloc(c, room * w->workers, sizeof *larger, "rounds");
        if (!larger) return c->status;
        if (to->count > 0) memcpy(larger, to->step, (size_t)(to->count * w->workers) * sizeof *larger);
        sd_free(c, to->step);
        to->step = larger;
        w->room = room;
    }
    for (int64_t k = 0; k < more * w->workers; ++k)
        to->step[to->count * w->workers + k] = (sd_step){.out = 0, .what = 0};
    for (int32_t k = 0; k < w->workers && more > 0; ++k)
        to->step[(to->count + more - 1) * w->workers + k].what = SD_STEP_MEET;
    return SADDLE_OK;
}

/* The worker with the least to do gets the next task. */
static int32_t least_loaded(const writing *w)
{
    int32_t least = 0;
    for (int32_t k = 1; k < w->workers; ++k)
        if (w->load[k] < w->load[least]) least = k;
    return least;
}

/* The numbers of a round, which has terms begin .. end; how many. */
static int64_t list_tasks(const found_term *term, int64_t begin, int64_t end, task *to)
{
    int64_t count = 0;
    for (int64_t t = begin; t < end; ++t) {
        if (t > begin && term[t].out == term[t - 1].out) {
            ++to[count - 1].count;
        } else {
            to[count++] = (task){.begin = t, .count = 1};
        }
    }
    for (int64_t k = 0; k < count; ++k) to[k].steps = (to[k].count + SD_STEP_TERMS - 1) / SD_STEP_TERMS;
    qsort(to, (size_t)count, sizeof *to, compare_tasks);
    return count;
}

/* Adds the steps of a round, the longest first. */
static saddle_status write_terms(sd_context *c, writing *w, const found_term *term, int64_t begin,
                                 int64_t end)
{
    const int64_t count = list_tasks(term, begin, end, w->task);
    int64_t longest = 0;
    memset(w->load, 0, sizeof w->load);
    for (int64_t k = 0; k < count; ++k) {
        int64_t *const load = &w->load[least_loaded(w)];
        *load += w->task[k].steps;
        if (*load > longest) longest = *load;
    }
    const saddle_status status = extend(c, w, longest);
    if (status) return status;
    memset(w->load, 0, sizeof w->load);
    for (int64_t k = 0; k < count; ++k) {
        const task *at = &w->task[k];
        const int32_t worker = least_loaded(w);
        for (int32_t t = 0; t < at->count; ++t) {
            const int64_t s = w->to->count + w->load[worker] + t / SD_STEP_TERMS;
            sd_step *const step = &w->to->step[s * w->workers + worker];
            step->out = term[at->begin].out;
            step->term[t % SD_STEP_TERMS] = term[at->begin + t].term;
            ++step->what; /* one term more */
        }
        w->load[worker] += at->steps;
    }
    w->to->count += longest;
    return SADDLE_OK;
}

/* Items of a round: its pivots and the entries of their columns. */
static saddle_status write_items(sd_context *c, writing *w, const sd_term *item, int64_t count)
{
    const int64_t steps = (count + w->workers - 1) / w->workers;
    const saddle_status status = extend(c, w, steps);
    for (int64_t k = 0; k < count && !status; ++k) {
        sd_step *const step = &w->to->step[w->to->count * w->workers + k];
        step->out = item[k].a;
        step->term[0].b = item[k].b;
        step->what |= SD_STEP_ITEM;
    }
    if (!status) w->to->count += steps;
    return status;
}

/* Items by rounds; ptr has rounds + 2 numbers. */
static void list_items(const making *m, int64_t *ptr, sd_term *item)
{
    const sd_sequence *s = m->s;
    int64_t *const next = ptr + 1;
    memset(ptr, 0, ((size_t)m->r->rounds + 2) * sizeof *ptr);
    for (int32_t j = 0; j < s->nodes; ++j)
        next[m->round[j] + 1] += 1 + (s->node[j].end - s->node[j].begin) / s->node[j].width;
    for (int32_t r = 0; r < m->r->rounds; ++r) next[r + 1] += next[r];
    for (int32_t j = 0; j < s->nodes; ++j) {
        const sd_node *node = &s->node[j];
        int64_t *const at = &next[m->round[j]];
        const int32_t pivot = m->r->pivot[node->k];
        item[(*at)++] = (sd_term){-1, pivot};
        for (int64_t e = node->begin; e < node->end; e += node->width)
            item[(*at)++] = (sd_term){(int32_t)e, pivot};
    }
}

/* Writes all steps of one kind; those of the factorization have items after the terms of each round. */
static saddle_status make_steps(sd_context *c, making *m, void (*find)(making *), bool items, sd_steps *to,
                                bool *possible)
{
    const int32_t rounds = m->r->rounds;
    const int64_t most = m->r->entries + (int64_t)m->s->n;
    writing w = {.to = to, .workers = m->r->workers};
    found_term *term = NULL;
    sd_term *item = items ? sd_alloc(c, most, sizeof *item, "rounds") : NULL;
    int64_t *ptr = sd_alloc(c, rounds + 2, sizeof *ptr, "rounds");
    int64_t *item_ptr = sd_alloc(c, rounds + 2, sizeof *item_ptr, "rounds");
    saddle_status status = ptr && item_ptr && (item || !items) ? SADDLE_OK : c->status;
    if (!status) status = find_terms(c, m, find, ptr, &term);
    *possible = status == SADDLE_OK && term != NULL;
    if (*possible) {
        if (items) list_items(m, item_ptr, item);
        w.task = sd_alloc(c, m->terms, sizeof *w.task, "rounds");
        if (!w.task) status = c->status;
    }
    for (int32_t r = 0; r < rounds && *possible && !status; ++r) {
        status = write_terms(c, &w, term, ptr[r], ptr[r + 1]);
        if (!status && items) status = write_items(c, &w, item + item_ptr[r], item_ptr[r + 1] - item_ptr[r]);
    }
    sd_free_all(c, item, ptr, item_ptr, term, w.task);
    return status;
}

/* ---- the matrix ---- */

/* Where entries are, and the rows of the whole matrix: those of rows before come first, then the row's own.
 */
static void list_matrix(making *m)
{
    const sd_csr *A = m->A;
    sd_rounds *r = m->r;
    int32_t *ptr = r->row_ptr + 1;
    for (int32_t i = 0; i < A->n; ++i) {
        for (int64_t e = A->ptr[i]; e < A->ptr[i + 1]; ++e) {
            r->place[e] = (sd_term){i, A->ind[e]};
            ++ptr[i + 1];
            if (A->ind[e] != i) ++ptr[A->ind[e] + 1];
        }
    }
    for (int32_t i = 0; i < A->n; ++i) ptr[i + 1] += ptr[i];
    for (int32_t i = 0; i < A->n; ++i)
        for (int64_t e = A->ptr[i]; e < A->ptr[i + 1]; ++e)
            if (A->ind[e] != i) r->row[ptr[A->ind[e]]++] = (sd_term){(int32_t)e, i};
    for (int32_t i = 0; i < A->n; ++i)
        for (int64_t e = A->ptr[i]; e < A->ptr[i + 1]; ++e)
            r->row[ptr[i]++] = (sd_term){(int32_t)e, A->ind[e]};
}

/* What numbers begin as. */
static void list_starts(making *m, const sd_tree *tree, const int64_t *matched)
{
    const sd_sequence *s = m->s;
    sd_rounds *r = m->r;
    for (int64_t e = 0; e < r->nnz; ++e)
        if (tree->target[e] >= 0) m->source[tree->target[e]] = (int32_t)e;
    for (int32_t j = 0; matched && j < s->n; ++j)
        if (matched[j] >= 0) r->matched[r->matchings++] = m->source[matched[j]];
    memcpy(r->position, s->place, (size_t)s->n * sizeof *s->place);
    for (int32_t k = 0; k < s->n; ++k) m->reached[k] = -1;
    for (int64_t k = 0; k < r->entries + 2 * (int64_t)s->n; ++k) r->start[k] = -1;
    for (int32_t k = 0; k < s->n; ++k) {
        const int32_t own = m->node_of[k];
        for (int64_t t = m->reach_ptr[k]; t < m->reach_ptr[k + 1]; ++t)
            m->reached[m->reach[t].b] = m->reach[t].a;
        for (int64_t e = s->entry_ptr[k]; e < s->entry_ptr[k + 1]; ++e) {
            const int32_t j = s->column[e], node = m->node_of[j], first = s->node[node].k;
            const int32_t at =
                node != own ? m->reached[node] + (j - first) : r->entries + (j == k ? 2 * k : 2 * first + 1);
            r->start[at] = m->source[s->from[e]];
        }
        for (int64_t t = m->reach_ptr[k]; t < m->reach_ptr[k + 1]; ++t) m->reached[m->reach[t].b] = -1;
    }
}

/* About half as many workers as numbers that become complete in a round. */
static int32_t workers_for(const sd_rounds *r)
{
    int32_t workers = SD_WORKERS_LEAST;
    while (workers < SD_WORKERS_MOST && 2 * (int64_t)workers * r->rounds < r->entries + (int64_t)r->n)
        workers *= 2;
    return workers;
}

saddle_status sd_rounds_make(sd_context *c, const sd_sequence *s, const sd_csr *A, const sd_tree *tree,
                             const int64_t *matched, sd_rounds *r, bool *possible)
{
    const int64_t entries = s->nodes > 0 ? s->node[s->nodes - 1].end : 0;
    *r = (sd_rounds){.n = s->n, .nnz = A->nnz, .entries = (int32_t)entries};
    *possible = A->half && entries <= TERMS_MOST && A->nnz <= TERMS_MOST && s->n <= TERMS_MOST;
    if (!*possible) return SADDLE_OK;
    making m = {.s = s, .A = A, .r = r};
    saddle_status status = allocate(c, &m);
    if (!status) {
        find_rounds(&m);
        list_reach(&m);
        list_matrix(&m);
        list_starts(&m, tree, matched);
        r->workers = workers_for(r);
        status = make_steps(c, &m, find_factor_terms, true, &r->factor, possible);
    }
    if (!status && *possible) status = make_steps(c, &m, find_forward_terms, false, &r->forward, possible);
    if (!status && *possible) status = make_steps(c, &m, find_backward_terms, false, &r->backward, possible);
    sd_free_all(c, m.node_of, m.round, m.reach_ptr, m.reach, m.source, m.reached);
    return status;
}

void sd_rounds_free(sd_context *c, sd_rounds *r)
{
    sd_free_all(c, r->factor.step, r->forward.step, r->backward.step, r->start, r->pivot, r->place,
                r->row_ptr, r->row, r->matched, r->position);
    *r = (sd_rounds){0};
}
