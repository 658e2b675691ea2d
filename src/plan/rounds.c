/* Rounds of a sequence: see rounds.h. */
#include "plan/rounds.h"

#include <stdlib.h>
#include <string.h>

enum { TERMS_MOST = 50000000 }; /* beyond it other ways are faster */

/* What is needed on the way. */
typedef struct making {
    const sd_sequence *s;
    const sd_csr *A;
    int32_t *node_of, *round; /* of k, of a node */
    int64_t *reach_ptr;       /* the nodes of row k: reach[reach_ptr[k] ..], with entry a of node b */
    sd_term *reach;
    int32_t *source;             /* of each entry of the tree: the entry of A */
    int32_t *entry_at, *reached; /* of the row at work: entry of A at k, entry of L of a node; -1 */
    int32_t *task_round;         /* of the list at work */
    sd_rounds *r;
    bool counted; /* tasks and terms are counted, not written */
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
    m->entry_at = sd_alloc(c, n, sizeof *m->entry_at, "rounds");
    m->reached = sd_alloc(c, n, sizeof *m->reached, "rounds");
    r->pivot = sd_alloc(c, n, sizeof *r->pivot, "rounds");
    r->item = sd_alloc(c, r->entries + n, sizeof *r->item, "rounds");
    r->place = sd_alloc(c, r->nnz, sizeof *r->place, "rounds");
    r->row_ptr = sd_alloc_zero(c, n + 2, sizeof *r->row_ptr, "rounds");
    r->row = sd_alloc(c, 2 * r->nnz, sizeof *r->row, "rounds");
    r->position = sd_alloc(c, n, sizeof *r->position, "rounds");
    r->variable = sd_alloc(c, n, sizeof *r->variable, "rounds");
    r->matched = sd_alloc(c, n, sizeof *r->matched, "rounds");
    const bool all = m->node_of && m->round && m->reach_ptr && m->reach && m->source && m->entry_at &&
                     m->reached && r->pivot && r->item && r->place && r->row_ptr && r->row && r->position &&
                     r->variable && r->matched;
    return all ? SADDLE_OK : c->status;
}

/* Which node every k is of, the round of every node, and how many rounds there are. */
static void find_rounds(making *m)
{
    const sd_sequence *s = m->s;
    sd_rounds *r = m->r;
    for (int32_t j = 0; j < s->nodes; ++j) {
        const sd_node *node = &s->node[j];
        r->pairs += node->width == 2;
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

/* Terms with both columns of a node, the second first: that is the order of the kernels. */
static void add_terms(const making *m, sd_round_list *list, int32_t node, int32_t a, int32_t b)
{
    for (int32_t c = m->s->node[node].width - 1; c >= 0; --c) {
        if (!m->counted) list->term[list->terms] = (sd_term){a + c, b + c};
        ++list->terms;
    }
}

static void add_task(const making *m, sd_round_list *list, int32_t node, int32_t out, int32_t from,
                     int64_t begin)
{
    if (!m->counted) {
        list->task[list->tasks] = (sd_task){out, from, (int32_t)begin, (int32_t)list->terms};
        m->task_round[list->tasks] = m->round[node];
        ++list->ptr[m->round[node] + 1];
    }
    ++list->tasks;
}

/* The number in row k, whose nodes are marked, and column j: the nodes that both have. */
static void add_sum(const making *m, int32_t j, int32_t out)
{
    sd_round_list *const sums = &m->r->sums;
    const int64_t begin = sums->terms;
    for (int64_t t = m->reach_ptr[j]; t < m->reach_ptr[j + 1]; ++t) {
        const sd_term in = m->reach[t];
        if (m->reached[in.b] >= 0) add_terms(m, sums, in.b, in.a, m->reached[in.b]);
    }
    add_task(m, sums, m->node_of[j], out, m->entry_at[j], begin);
}

static void mark_row(making *m, int32_t k, bool marked)
{
    const sd_sequence *s = m->s;
    for (int64_t e = s->entry_ptr[k]; e < s->entry_ptr[k + 1]; ++e)
        m->entry_at[s->column[e]] = marked ? m->source[s->from[e]] : -1;
    for (int64_t t = m->reach_ptr[k]; t < m->reach_ptr[k + 1]; ++t)
        m->reached[m->reach[t].b] = marked ? m->reach[t].a : -1;
}

/* All numbers of a factorization, row by row. */
static void list_sums(making *m)
{
    const sd_sequence *s = m->s;
    m->r->sums.tasks = m->r->sums.terms = 0;
    for (int32_t k = 0; k < s->n && m->r->sums.terms <= TERMS_MOST; ++k) {
        const int32_t own = m->node_of[k], first = s->node[own].k;
        mark_row(m, k, true);
        for (int64_t t = m->reach_ptr[k]; t < m->reach_ptr[k + 1]; ++t) {
            const sd_node *node = &s->node[m->reach[t].b];
            for (int32_t c = 0; c < node->width; ++c) add_sum(m, node->k + c, m->reach[t].a + c);
        }
        if (k > first) add_sum(m, first, m->r->entries + 2 * first + 1);
        add_sum(m, k, m->r->entries + 2 * k);
        mark_row(m, k, false);
    }
}

/* x_k = x_k - sum of l_ki x_i */
static void list_forward(making *m)
{
    const sd_sequence *s = m->s;
    sd_round_list *const list = &m->r->forward;
    list->tasks = list->terms = 0;
    for (int32_t k = 0; k < s->n; ++k) {
        const int64_t begin = list->terms;
        for (int64_t t = m->reach_ptr[k]; t < m->reach_ptr[k + 1]; ++t)
            add_terms(m, list, m->reach[t].b, m->reach[t].a, s->node[m->reach[t].b].k);
        if (list->terms > begin) add_task(m, list, m->node_of[k], k, -1, begin);
    }
}

/* The same with L'. */
static void list_backward(making *m)
{
    const sd_sequence *s = m->s;
    sd_round_list *const list = &m->r->backward;
    list->tasks = list->terms = 0;
    for (int32_t k = 0; k < s->n; ++k) {
        const sd_node *node = &s->node[m->node_of[k]];
        const int64_t begin = list->terms;
        for (int64_t e = node->begin + (k - node->k); e < node->end; e += node->width) {
            if (!m->counted) list->term[list->terms] = (sd_term){(int32_t)e, s->row[e]};
            ++list->terms;
        }
        if (list->terms > begin) add_task(m, list, m->node_of[k], k, -1, begin);
    }
}

/* What follows the sums of each round. */
static saddle_status list_items(sd_context *c, making *m)
{
    const sd_sequence *s = m->s;
    sd_rounds *r = m->r;
    int32_t *ptr = r->item_ptr = sd_alloc_zero(c, r->rounds + 2, sizeof *ptr, "rounds");
    if (!ptr) return c->status;
    ++ptr;
    for (int32_t j = 0; j < s->nodes; ++j)
        ptr[m->round[j] + 1] += 1 + (int32_t)((s->node[j].end - s->node[j].begin) / s->node[j].width);
    for (int32_t k = 0; k < r->rounds; ++k) ptr[k + 1] += ptr[k];
    for (int32_t j = 0; j < s->nodes; ++j) {
        const sd_node *node = &s->node[j];
        int32_t *const at = &ptr[m->round[j]];
        const int32_t b = r->pivot[node->k];
        r->item[(*at)++] = (sd_term){-1, b};
        for (int64_t e = node->begin; e < node->end; e += node->width)
            r->item[(*at)++] = (sd_term){(int32_t)e, b};
    }
    r->items = r->item_ptr[r->rounds];
    return SADDLE_OK;
}

/* ---- the order of tasks ---- */

typedef struct ranked {
    int32_t length, index;
} ranked;

static int compare(const void *a, const void *b)
{
    const ranked *p = a, *q = b;
    if (p->length != q->length) return p->length > q->length ? -1 : 1;
    return p->index < q->index ? -1 : p->index > q->index;
}

/* Tasks by rounds, the longest of each first. */
static saddle_status sort_tasks(sd_context *c, const making *m, sd_round_list *list)
{
    const int32_t rounds = m->r->rounds, count = (int32_t)list->tasks;
    sd_task *sorted = sd_alloc(c, count, sizeof *sorted, "rounds");
    ranked *rank = sd_alloc(c, count, sizeof *rank, "rounds");
    int32_t *next = sd_alloc(c, (int64_t)rounds + 1, sizeof *next, "rounds");
    const saddle_status status = sorted && rank && next ? SADDLE_OK : c->status;
    if (!status) {
        for (int32_t k = 0; k < rounds; ++k) list->ptr[k + 1] += list->ptr[k];
        memcpy(next, list->ptr, ((size_t)rounds + 1) * sizeof *next);
        for (int32_t t = 0; t < count; ++t)
            rank[next[m->task_round[t]]++] = (ranked){list->task[t].end - list->task[t].begin, t};
        for (int32_t k = 0; k < rounds; ++k)
            qsort(rank + list->ptr[k], (size_t)(list->ptr[k + 1] - list->ptr[k]), sizeof *rank, compare);
        for (int32_t t = 0; t < count; ++t) sorted[t] = list->task[rank[t].index];
        memcpy(list->task, sorted, (size_t)count * sizeof *sorted);
    }
    sd_free_all(c, sorted, rank, next);
    return status;
}

/* Counts what `walk` lists, then lists it. */
static saddle_status make_list(sd_context *c, making *m, void (*walk)(making *), sd_round_list *list)
{
    m->counted = true;
    walk(m);
    if (list->terms > TERMS_MOST) return SADDLE_OK;
    m->counted = false;
    list->ptr = sd_alloc_zero(c, (int64_t)m->r->rounds + 1, sizeof *list->ptr, "rounds");
    list->task = sd_alloc(c, list->tasks, sizeof *list->task, "rounds");
    list->term = sd_alloc(c, list->terms, sizeof *list->term, "rounds");
    m->task_round = sd_alloc(c, list->tasks, sizeof *m->task_round, "rounds");
    saddle_status status = list->ptr && list->task && list->term && m->task_round ? SADDLE_OK : c->status;
    if (!status) {
        walk(m);
        status = sort_tasks(c, m, list);
    }
    sd_free(c, m->task_round);
    m->task_round = NULL;
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
    for (int32_t i = 0; i < A->n; ++i)
        for (int64_t e = A->ptr[i]; e < A->ptr[i + 1]; ++e) {
            r->place[e] = (sd_term){i, A->ind[e]};
            ++ptr[i + 1];
            if (A->ind[e] != i) ++ptr[A->ind[e] + 1];
        }
    for (int32_t i = 0; i < A->n; ++i) ptr[i + 1] += ptr[i];
    for (int32_t i = 0; i < A->n; ++i)
        for (int64_t e = A->ptr[i]; e < A->ptr[i + 1]; ++e) {
            const int32_t j = A->ind[e];
            if (j != i) r->row[ptr[j]++] = (sd_term){(int32_t)e, i};
        }
    for (int32_t i = 0; i < A->n; ++i) /* that of its own row is i's turn now */
        for (int64_t e = A->ptr[i]; e < A->ptr[i + 1]; ++e)
            r->row[ptr[i]++] = (sd_term){(int32_t)e, A->ind[e]};
}

static void list_sources(making *m, const sd_tree *tree, const int64_t *matched)
{
    const sd_sequence *s = m->s;
    sd_rounds *r = m->r;
    for (int64_t e = 0; e < r->nnz; ++e)
        if (tree->target[e] >= 0) m->source[tree->target[e]] = (int32_t)e;
    for (int32_t j = 0; matched && j < s->n; ++j)
        if (matched[j] >= 0) r->matched[r->matchings++] = m->source[matched[j]];
    memcpy(r->position, s->place, (size_t)s->n * sizeof *s->place);
    memcpy(r->variable, s->variable, (size_t)s->n * sizeof *s->variable);
    for (int32_t k = 0; k < s->n; ++k) m->entry_at[k] = m->reached[k] = -1;
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
        list_sources(&m, tree, matched);
        status = make_list(c, &m, list_sums, &r->sums);
        *possible = r->sums.terms <= TERMS_MOST;
    }
    if (!status && *possible) status = make_list(c, &m, list_forward, &r->forward);
    if (!status && *possible) status = make_list(c, &m, list_backward, &r->backward);
    if (!status && *possible) status = list_items(c, &m);
    sd_free_all(c, m.node_of, m.round, m.reach_ptr, m.reach, m.source, m.entry_at, m.reached);
    return status;
}

static void free_list(sd_context *c, sd_round_list *list)
{
    sd_free_all(c, list->ptr, list->task, list->term);
}

void sd_rounds_free(sd_context *c, sd_rounds *r)
{
    free_list(c, &r->sums);
    free_list(c, &r->forward);
    free_list(c, &r->backward);
    sd_free_all(c, r->item_ptr, r->item, r->pivot, r->place, r->row_ptr, r->row, r->matched, r->position,
                r->variable);
    *r = (sd_rounds){0};
}
