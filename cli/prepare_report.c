/* What came of a preparation, for people and for programs; see prepare.h. */
#include "cli/json.h"
#include "cli/prepare.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

/* The word that a choice has come to; NULL where that is not known: `auto` is not an answer. */
static const char *decided(const prepare_run *r, const char *name, int asked, int found, char *text,
                           size_t size)
{
    const int k = r->prepared ? found : asked;
    if (k < 0 || !*saddle_option_word(name, k, text, size) || strcmp(text, "auto") == 0) return NULL;
    return text;
}

static void print_scaling(const prepare_run *r)
{
    static const char *const meaning[] = {
        [SADDLE_SCALING_MC64] = "no entry above 1, matched ones are 1",
        [SADDLE_SCALING_RUIZ] = "the largest entry of every row and column is about 1",
        [SADDLE_SCALING_AUCTION] = "no entry above 1",
        [SADDLE_SCALING_COL2] = "by the 2-norms of the columns",
        [SADDLE_SCALING_NONE] = "the matrix as it is",
    };
    char word[32];
    if (r->p.scaling == SADDLE_SCALING_USER)
        printf("%-12sgiven: %s\n", "scaling", argument_text(r->a, "scaling"));
    else
        printf("%-12s%s: %s\n", "scaling", saddle_option_word("scaling", r->p.scaling, word, sizeof word),
               meaning[r->p.scaling]);
}

/* An auction may leave rows unmatched that could be matched: only a whole matching or the optimum proves a
 * rank. */
static bool proves_rank(const saddle_preparation *p)
{
    return p->scaling != SADDLE_SCALING_AUCTION || p->structural_rank == p->n;
}

static void print_matching(const saddle_preparation *p)
{
    const char *lack = "";
    if (p->structural_rank < 0) return;
    const bool rank = proves_rank(p);
    if (p->structural_rank < p->n)
        lack = rank ? ", less than n: the matrix is singular" : ", rows were left unmatched";
    printf("%-12s%s %" PRId64 "%s; sum of log|a| %.6g, scaled %.3g\n", "matching",
           rank ? "structural rank" : "size", p->structural_rank, lack, p->log_product, p->log_scaled);
}

static void print_pairs(const saddle_preparation *p)
{
    if (p->pairs != SADDLE_ON)
        printf("%-12soff: %s\n", "pairs",
               p->symmetric ? "rows are ordered one by one" : "rows and columns have the same order");
    else if (p->symmetric)
        printf("%-12son: %" PRId64 " kept together, %" PRId64 " single rows\n", "pairs", p->two_by_two,
               p->n - 2 * p->two_by_two);
    else
        printf("%-12son: rows are permuted, matched entries stand on the diagonal\n", "pairs");
}

static void print_order(const prepare_run *r)
{
    const saddle_preparation *p = &r->p;
    char word[32];
    if (p->order == SADDLE_ORDER_USER)
        printf("%-12sgiven: %s", "order", argument_text(r->a, "order"));
    else
        printf("%-12s%s", "order", saddle_option_word("order", p->order, word, sizeof word));
    if (p->orderings > 1) printf(", made with and without pairs: the better");
    if (p->dense_rows > 0)
        printf("; %" PRId64 " dense row%s last", p->dense_rows, p->dense_rows == 1 ? "" : "s");
    putchar('\n');
    printf("%-12s%" PRId64 " entries of L, %.3g operations, elimination tree of height %" PRId64 "\n", "fill",
           p->factor_nnz, p->factor_flops, p->tree_height);
}

static void print_number(const char *name, double number)
{
    if (isnan(number))
        printf("%s not known", name);
    else if (isinf(number))
        printf("%s infinite", name);
    else
        printf("%s %.3g", name, number);
}

static void print_blocks(const prepare_run *r)
{
    const saddle_preparation *p = &r->p;
    char word[32];
    if (p->blocking == SADDLE_BLOCKING_NONE)
        printf("%-12snone: single rows\n", "blocks");
    else
        printf("%-12s%s: %" PRId64 " of at most %d rows, the largest of %" PRId64 "\n", "blocks",
               saddle_option_word("blocking", p->blocking, word, sizeof word), p->blocks, p->block_size,
               p->largest_block);
    printf("%-12s%" PRId64 " level sets; %" PRId64 " entries stored", "", p->levels, p->stored_entries);
    if (p->nnz > 0) printf(", %.3g times nnz", (double)p->stored_entries / (double)p->nnz);
    printf("\n%-12s", "dominance");
    print_number("least", p->dominance_least);
    print_number(", mean", p->dominance_mean);
    print_number(", largest", p->dominance_largest);
    puts("  |B_ii| - sum |B_ij|, by block rows");
    printf("%-12s", "");
    print_number("off-diagonal", p->off_diagonal_dominance);
    print_number(" by rows,", p->block_off_diagonal_dominance);
    puts(" by blocks: means of sum |b_ij| / |b_ii|");
}

static void print_costs(const prepare_run *r)
{
    const saddle_preparation *p = &r->p;
    printf("%-12sread %.3f, match %.3f, scale %.3f, pair %.3f, graph %.3f, order %.3f,\n", "time",
           r->time_read, p->time_matching, p->time_scaling, p->time_pairs, p->time_graph, p->time_order);
    printf("%-12scounts %.3f, block %.3f, measure %.3f, total %.3f s\n", "", p->time_counts, p->time_blocking,
           p->time_measures, r->time_total);
    printf("%-12s%.1f MB at most\n", "memory", 1e-6 * (double)r->memory.peak);
}

void print_preparation(const prepare_run *r)
{
    const saddle_preparation *p = &r->p;
    printf("%-12s%s: n %" PRId64 ", nnz %" PRId64 ", %s\n", "matrix", r->name, p->n, p->nnz,
           p->symmetric ? "symmetric" : "general");
    print_scaling(r);
    print_matching(p);
    print_pairs(p);
    print_order(r);
    print_blocks(r);
    print_costs(r);
    for (int k = 0; k < r->written; ++k)
        printf("%s%s", k == 0 ? "written     " : k == 4 ? ",\n            " : ", ", r->files[k]);
    if (r->written) printf(" in %s\n", argument_text(r->a, "out"));
}

static int64_t if_known(const prepare_run *r, int64_t count)
{
    return r->prepared ? count : -1;
}

static double number_if_known(const prepare_run *r, double number)
{
    return r->prepared ? number : NAN;
}

static void json_matrix(json *j, const prepare_run *r)
{
    const char *symmetry = NULL;
    if (r->prepared)
        symmetry = r->p.symmetric ? "symmetric" : "general";
    else if (r->n >= 0 && r->shape != SADDLE_GENERAL)
        symmetry = "symmetric";
    json_object(j, "matrix");
    json_text(j, "name", r->name);
    json_count(j, "n", r->n);
    json_count(j, "nnz", if_known(r, r->p.nnz));
    json_text(j, "symmetry", symmetry);
    json_close(j);
}

static void json_choices(json *j, const prepare_run *r)
{
    const saddle_options *asked = &r->a->library;
    const saddle_preparation *p = &r->p;
    char text[32];
    json_text(j, "scaling", decided(r, "scaling", asked->scaling, p->scaling, text, sizeof text));
    json_text(j, "order", decided(r, "order", asked->order, p->order, text, sizeof text));
    json_text(j, "pairs", decided(r, "pairs", asked->pairs, p->pairs, text, sizeof text));
    json_text(j, "blocking", decided(r, "blocking", asked->blocking, p->blocking, text, sizeof text));
    const bool blocked = r->prepared && p->blocking != SADDLE_BLOCKING_NONE;
    json_count(j, "block_size", blocked ? p->block_size : -1);
    json_count(j, "orderings", if_known(r, p->orderings));
}

static void json_found(json *j, const prepare_run *r)
{
    const saddle_preparation *p = &r->p;
    json_object(j, "matching");
    json_count(j, "structural_rank", if_known(r, proves_rank(p) ? p->structural_rank : -1));
    json_number(j, "log_product", number_if_known(r, p->log_product));
    json_number(j, "log_scaled", number_if_known(r, p->log_scaled));
    json_close(j);
    json_count(j, "two_by_two", if_known(r, p->two_by_two));
    json_count(j, "dense_rows", if_known(r, p->dense_rows));
    json_object(j, "factor");
    json_count(j, "nnz", if_known(r, p->factor_nnz));
    json_number(j, "flops", number_if_known(r, p->factor_flops));
    json_count(j, "tree_height", if_known(r, p->tree_height));
    json_close(j);
}

static void json_measures(json *j, const prepare_run *r)
{
    const saddle_preparation *p = &r->p;
    const bool ratio = r->prepared && p->nnz > 0 && p->stored_entries >= 0;
    json_object(j, "blocks");
    json_count(j, "count", if_known(r, p->blocks));
    json_count(j, "largest", if_known(r, p->largest_block));
    json_count(j, "levels", if_known(r, p->levels));
    json_count(j, "stored_entries", if_known(r, p->stored_entries));
    json_number(j, "stored_ratio", ratio ? (double)p->stored_entries / (double)p->nnz : NAN);
    json_close(j);
    json_object(j, "dominance");
    json_number(j, "least", number_if_known(r, p->dominance_least));
    json_number(j, "mean", number_if_known(r, p->dominance_mean));
    json_number(j, "largest", number_if_known(r, p->dominance_largest));
    json_close(j);
    json_number(j, "off_diagonal_dominance", number_if_known(r, p->off_diagonal_dominance));
    json_number(j, "block_off_diagonal_dominance", number_if_known(r, p->block_off_diagonal_dominance));
}

static void json_costs(json *j, const prepare_run *r)
{
    const saddle_preparation *p = &r->p;
    const struct {
        const char *key;
        double seconds;
    } rows[] = {
        {"matching", p->time_matching}, {"scaling", p->time_scaling},   {"pairs", p->time_pairs},
        {"graph", p->time_graph},       {"order", p->time_order},       {"counts", p->time_counts},
        {"blocking", p->time_blocking}, {"measures", p->time_measures},
    };
    json_object(j, "time");
    json_number(j, "read", r->time_read);
    for (int k = 0; k < (int)(sizeof rows / sizeof rows[0]); ++k)
        json_number(j, rows[k].key, number_if_known(r, rows[k].seconds));
    json_number(j, "total", r->time_total);
    json_close(j);
    json_object(j, "bytes");
    json_count(j, "peak", r->memory.peak);
    json_close(j);
}

int write_preparation_json(const prepare_run *r, const char *path)
{
    json j;
    const int status = json_begin(&j, path);
    if (status != EXIT_DONE) return status;
    json_matrix(&j, r);
    json_choices(&j, r);
    json_found(&j, r);
    json_measures(&j, r);
    json_costs(&j, r);
    json_count(&j, "status", r->exit);
    json_text(&j, "message", r->message[0] ? r->message : NULL);
    return json_end(&j);
}
