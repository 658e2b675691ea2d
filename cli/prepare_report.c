/* What came of a preparation, for people and for programs; see prepare.h. */
#include "cli/prepare.h"

#include <inttypes.h>
#include <math.h>

static void print_scaling(const prepare_run *r)
{
    static const char *const meaning[] = {
        [SADDLE_SCALING_MC64] = "no entry above 1, matched entries are 1",
        [SADDLE_SCALING_RUIZ] = "the largest entry of every row and column is about 1",
        [SADDLE_SCALING_AUCTION] = "no entry above 1",
        [SADDLE_SCALING_COL2] = "by the 2-norms of the columns",
        [SADDLE_SCALING_NONE] = "not scaled",
    };
    char word[32];
    if (r->p.scaling == SADDLE_SCALING_USER)
        printf("%-12sgiven: %s\n", "scaling", argument_text(r->run.a, "scaling"));
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
        lack = rank ? ", less than n: the matrix is singular" : ", some rows unmatched";
    printf("%-12s%s %" PRId64 "%s; sum of log|a| %.6g, scaled %.3g\n", "matching",
           rank ? "structural rank" : "size", p->structural_rank, lack, p->log_product, p->log_scaled);
}

static void print_pairs(const saddle_preparation *p)
{
    if (p->pairs != SADDLE_ON)
        printf("%-12soff: %s\n", "pairs",
               p->symmetric ? "rows are ordered individually" : "rows and columns have the same order");
    else if (p->symmetric)
        printf("%-12son: %" PRId64 " kept together, %" PRId64 " single rows\n", "pairs", p->two_by_two,
               p->n - 2 * p->two_by_two);
    else
        printf("%-12son: rows are permuted so that matched entries are on the diagonal\n", "pairs");
}

static void print_order(const prepare_run *r)
{
    const saddle_preparation *p = &r->p;
    char word[32];
    if (p->order == SADDLE_ORDER_USER)
        printf("%-12sgiven: %s", "order", argument_text(r->run.a, "order"));
    else
        printf("%-12s%s", "order", saddle_option_word("order", p->order, word, sizeof word));
    if (p->orderings > 1) printf(", the better of two orders, with and without pairs");
    if (p->dense_rows > 0)
        printf("; %" PRId64 " dense row%s last", p->dense_rows, p->dense_rows == 1 ? "" : "s");
    putchar('\n');
    printf("%-12s%" PRId64 " entries of L, %.3g operations, elimination tree of height %" PRId64 "\n", "fill",
           p->factor_nnz, p->factor_flops, p->tree_height);
}

static void print_number(const char *name, double number)
{
    if (isnan(number))
        printf("%s unknown", name);
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
        printf("%-12s%s: %" PRId64 " of at most %d rows, largest %" PRId64 "\n", "blocks",
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
           r->run.time_read, p->time_matching, p->time_scaling, p->time_pairs, p->time_graph, p->time_order);
    printf("%-12scounts %.3f, block %.3f, measure %.3f, total %.3f s\n", "", p->time_counts, p->time_blocking,
           p->time_measures, r->run.time_total);
    printf("%-12s%.1f MB peak\n", "memory", 1e-6 * (double)r->run.memory.peak);
}

void print_preparation(const prepare_run *r)
{
    const saddle_preparation *p = &r->p;
    printf("%-12s%s: n %" PRId64 ", nnz %" PRId64 ", %s\n", "matrix", r->run.name, p->n, p->nnz,
           p->symmetric ? "symmetric" : "general");
    print_scaling(r);
    print_matching(p);
    print_pairs(p);
    print_order(r);
    print_blocks(r);
    print_costs(r);
    for (int k = 0; k < r->written; ++k)
        printf("%s%s", k == 0 ? "written     " : k == 4 ? ",\n            " : ", ", r->files[k]);
    if (r->written) printf(" in %s\n", argument_text(r->run.a, "out"));
}

static void json_choices(json *j, const prepare_run *r)
{
    const saddle_options *asked = &r->run.a->library;
    const saddle_preparation *p = &r->p;
    json_choice(j, "scaling", r->prepared ? p->scaling : asked->scaling);
    json_choice(j, "order", r->prepared ? p->order : asked->order);
    json_choice(j, "pairs", r->prepared ? p->pairs : asked->pairs);
    json_choice(j, "blocking", r->prepared ? p->blocking : asked->blocking);
    const bool blocked = r->prepared && p->blocking != SADDLE_BLOCKING_NONE;
    json_count(j, "block_size", blocked ? p->block_size : -1);
    json_count(j, "orderings", r->prepared ? p->orderings : -1);
}

static void json_found(json *j, const prepare_run *r)
{
    const saddle_preparation *p = &r->p;
    const bool known = r->prepared, ratio = p->nnz > 0 && p->stored_entries >= 0;
    JSON_OBJECT(j, "matching", known, J_COUNT("structural_rank", proves_rank(p) ? p->structural_rank : -1),
                J_NUMBER("log_product", p->log_product), J_NUMBER("log_scaled", p->log_scaled));
    JSON_PUT(j, known, J_COUNT("two_by_two", p->two_by_two), J_COUNT("dense_rows", p->dense_rows));
    JSON_OBJECT(j, "factor", known, J_COUNT("nnz", p->factor_nnz), J_NUMBER("flops", p->factor_flops),
                J_COUNT("tree_height", p->tree_height));
    JSON_OBJECT(j, "blocks", known, J_COUNT("count", p->blocks), J_COUNT("largest", p->largest_block),
                J_COUNT("levels", p->levels), J_COUNT("stored_entries", p->stored_entries),
                J_NUMBER("stored_ratio", ratio ? (double)p->stored_entries / (double)p->nnz : NAN));
    JSON_OBJECT(j, "dominance", known, J_NUMBER("least", p->dominance_least),
                J_NUMBER("mean", p->dominance_mean), J_NUMBER("largest", p->dominance_largest));
    JSON_PUT(j, known, J_NUMBER("off_diagonal_dominance", p->off_diagonal_dominance),
             J_NUMBER("block_off_diagonal_dominance", p->block_off_diagonal_dominance));
}

void json_preparation(json *j, const void *what)
{
    const prepare_run *r = what;
    const saddle_preparation *p = &r->p;
    JSON_OBJECT(j, "matrix", true, J_TEXT("name", r->run.name), J_COUNT("n", r->run.n),
                J_COUNT("nnz", r->prepared ? p->nnz : -1),
                J_TEXT("symmetry", run_symmetry(&r->run, r->prepared ? p->symmetric : -1)));
    json_choices(j, r);
    json_found(j, r);
    json_object(j, "time");
    json_number(j, "read", r->run.time_read);
    JSON_PUT(j, r->prepared, J_NUMBER("matching", p->time_matching), J_NUMBER("scaling", p->time_scaling),
             J_NUMBER("pairs", p->time_pairs), J_NUMBER("graph", p->time_graph),
             J_NUMBER("order", p->time_order), J_NUMBER("counts", p->time_counts),
             J_NUMBER("blocking", p->time_blocking), J_NUMBER("measures", p->time_measures));
    json_number(j, "total", r->run.time_total);
    json_close(j);
    JSON_OBJECT(j, "bytes", true, J_COUNT("peak", r->run.memory.peak));
    json_ending(j, r->run.exit, r->run.message);
}
