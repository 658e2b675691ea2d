/*
 * `saddle info`: what a matrix is. All facts come from saddle_inspect; here they get their words, for
 * people and as JSON. What is wrong with the file itself (indices out of range, NaN) the reader
 * refuses; what is odd about it (entries that stand twice) the reader warns of, and the warnings
 * stand with the facts.
 */
#include "cli/outfile.h"
#include "cli/plot.h"
#include "cli/solve.h"

#include <inttypes.h>
#include <math.h>
#include <stdarg.h>
#include <stddef.h>

enum { WARNINGS = 12, WARNING_SIZE = 320 };

typedef struct look {
    run run;
    saddle_facts facts;
    bool read, known; /* whether the file was read; whether all facts were found */
    int warnings;
    char warning[WARNINGS][WARNING_SIZE];
} look;

static void warn(look *l, const char *format, ...) __attribute__((format(printf, 2, 3)));

static void warn(look *l, const char *format, ...)
{
    va_list list;
    va_start(list, format);
    if (l->warnings < WARNINGS) vsnprintf(l->warning[l->warnings++], WARNING_SIZE, format, list);
    va_end(list);
}

/* The reader's warnings; the rest of the log is not for this report. The hooks' user is the run's memory. */
static void keep_warning(int level, const char *line, void *user)
{
    look *l = (look *)(void *)((char *)user - offsetof(look, run.memory));
    if (level == SADDLE_LOG_WARNING) warn(l, "%s", line);
}

static void find_warnings(look *l)
{
    const saddle_facts *f = &l->facts;
    if (f->empty_rows)
        warn(l, "%" PRId64 " row%s no nonzero: the matrix is singular", f->empty_rows,
             f->empty_rows == 1 ? " has" : "s have");
    if (f->smallest > 0 && f->largest / f->smallest > 1e16)
        warn(l, "the entries span %.0f decades: scaling matters", log10(f->largest / f->smallest));
}

/* Why the kind is what it is, by what saddle_inspect looks at, in its order. */
static const char *kind_reason(const saddle_facts *f)
{
    if (!f->symmetric) return "the matrix is not symmetric";
    if (f->kind == SADDLE_KIND_SPD)
        return "the diagonal is positive, every row dominant, and one strictly in each component";
    if (f->kind == SADDLE_KIND_UNKNOWN)
        return "cannot be decided from the entries alone; a factorization decides it";
    if (f->negative_diagonal > 0 && f->rows > f->negative_diagonal + f->zero_diagonal)
        return "the diagonal has both signs";
    if (f->zero_diagonal > f->empty_rows) return "a zero diagonal entry with nonzeros in its row";
    return "an entry is larger than the geometric mean of its two diagonal entries";
}

static const char *symmetry_text(const saddle_facts *f)
{
    if (f->symmetric) return "symmetric in structure and value";
    return f->pattern_symmetric ? "symmetric in structure, not in value" : "not symmetric";
}

static void print_size(const look *l)
{
    const saddle_facts *f = &l->facts;
    printf("%-12s%s: %" PRId64 " x %" PRId64, "matrix", l->run.name, f->rows, f->columns);
    if (l->known) printf(", %" PRId64 " entries", f->nnz);
    if (l->known && f->rows > 0) printf(", %.3g per row", (double)f->nnz / (double)f->rows);
    putchar('\n');
    if (l->run.A.shape != SADDLE_GENERAL)
        printf("%-12s%" PRId64 " entries with the diagonal\n", "triangle", f->entries);
}

static void print_diagonal(const saddle_facts *f)
{
    printf("%-12s%" PRId64 " positive, %" PRId64 " negative, %" PRId64 " zero", "diagonal",
           f->rows - f->negative_diagonal - f->zero_diagonal, f->negative_diagonal, f->zero_diagonal);
    if (f->missing_diagonal) printf(" (%" PRId64 " not stored)", f->missing_diagonal);
    putchar('\n');
}

static void print_dominance(const saddle_facts *f)
{
    printf("%-12s%" PRId64 " of %" PRId64 " rows strictly dominant", "dominance", f->dominant_rows, f->rows);
    if (isfinite(f->least_dominance)) printf("; smallest |a_ii| / sum |a_ij| is %.3g", f->least_dominance);
    putchar('\n');
}

static void print_facts(const look *l)
{
    const saddle_facts *f = &l->facts;
    print_size(l);
    if (l->known) {
        printf("%-12s%s\n", "symmetry", symmetry_text(f));
        printf("%-12s%s: %s\n", "kind", f->kind == SADDLE_KIND_SPD ? "positive definite" : kind_word(f->kind),
               kind_reason(f));
        print_diagonal(f);
        print_dominance(f);
        printf("%-12sone %.6g, infinity %.6g, Frobenius %.6g\n", "norms", f->norm_one, f->norm_inf,
               f->norm_frobenius);
        printf("%-12slargest %.6g, smallest nonzero %.6g in magnitude; %" PRId64 " explicit zeros\n",
               "values", f->largest, f->smallest, f->explicit_zeros);
        printf("%-12s%" PRId64 " to %" PRId64 " nonzeros; bandwidth %" PRId64 "; %" PRId64 " empty\n", "rows",
               f->shortest_row, f->longest_row, f->bandwidth, f->empty_rows);
    }
    for (int k = 0; k < l->warnings; ++k) printf("%-12s%s\n", k ? "" : "warnings", l->warning[k]);
}

static void json_facts(json *j, const void *what)
{
    const look *l = what;
    const saddle_facts *f = &l->facts;
    const bool known = l->known;
    json_object(j, "matrix");
    json_text(j, "name", l->run.name);
    JSON_PUT(j, l->read, J_COUNT("rows", f->rows), J_COUNT("columns", f->columns),
             J_COUNT("entries", f->entries));
    JSON_PUT(j, known, J_COUNT("nnz", f->nnz), J_TEXT("symmetry", f->symmetric ? "symmetric" : "general"),
             J_TRUTH("pattern_symmetric", f->pattern_symmetric), J_TEXT("kind", kind_word(f->kind)),
             J_TEXT("why", kind_reason(f)));
    json_close(j);
    JSON_OBJECT(j, "diagonal", known, J_COUNT("positive", f->rows - f->negative_diagonal - f->zero_diagonal),
                J_COUNT("negative", f->negative_diagonal), J_COUNT("zero", f->zero_diagonal),
                J_COUNT("missing", f->missing_diagonal));
    JSON_OBJECT(j, "rows", known, J_COUNT("shortest", f->shortest_row), J_COUNT("longest", f->longest_row),
                J_COUNT("empty", f->empty_rows), J_COUNT("bandwidth", f->bandwidth),
                J_COUNT("dominant", f->dominant_rows));
    JSON_PUT(j, known, J_COUNT("explicit_zeros", f->explicit_zeros),
             J_NUMBER("least_dominance", f->least_dominance));
    JSON_OBJECT(j, "norms", known, J_NUMBER("one", f->norm_one), J_NUMBER("infinity", f->norm_inf),
                J_NUMBER("frobenius", f->norm_frobenius));
    JSON_PUT(j, known, J_NUMBER("largest", f->largest), J_NUMBER("smallest", f->smallest));
    json_array(j, "warnings");
    for (int k = 0; k < l->warnings; ++k) json_text(j, NULL, l->warning[k]);
    json_close(j);
    json_ending(j, l->run.exit, l->run.message);
}

/* Reads and inspects. A message of saddle_inspect does not know the file: its name goes before it. */
static saddle_status examine(look *l)
{
    run *r = &l->run;
    char inner[SADDLE_MESSAGE_SIZE] = "";
    saddle_status status = run_read(r, NULL);
    l->read = status == SADDLE_OK;
    if (!l->read) return status;
    status = saddle_inspect(&r->A, &r->hooks, &l->facts, inner);
    l->known = status == SADDLE_OK;
    if (!l->known) return run_fail(r, status, "%.200s: %.300s", r->path, inner);
    find_warnings(l);
    return status;
}

static int tell(look *l)
{
    run *r = &l->run;
    const char *plot = argument_text(r->a, "plot");
    if (l->read && !argument_given(r->a, "quiet") && !is_standard(r->a, "json")) print_facts(l);
    if (r->status != SADDLE_OK) fail(r->exit, "%s", r->message);
    run_json(r, json_facts, l);
    /* a rectangular matrix can be drawn, too */
    if (plot && l->read) run_output(r, plot_pattern(plot, &r->A, r->name));
    return r->exit;
}

static int run_info(const arguments *a)
{
    static look l;
    int status = plot_check(argument_text(a, "plot"));
    if (status == EXIT_DONE) status = outfile_refuse(argument_text(a, "plot"));
    if (status == EXIT_DONE) status = outfile_refuse(argument_text(a, "json"));
    if (status != EXIT_DONE) return status;
    run_begin(&l.run, a);
    l.run.hooks.log = keep_warning;
    run_end(&l.run, examine(&l));
    status = tell(&l);
    saddle_matrix_free(&l.run.A, &l.run.hooks);
    return status;
}

static const option info_options[] = {
    OPTION_TEXT("plot", "FILE", NULL, "draw the sparsity pattern (.svg or .png)"),
    OPTION_TEXT("json", "FILE|-", NULL, "write the facts as one JSON object"),
    OPTION_END,
};

const command command_info = {
    .name = "info",
    .operands = "A.mtx[.gz]",
    .help = "describe a matrix: size, symmetry, definiteness if known, diagonal, dominance",
    .about = "Reads a matrix, checks it and describes it: size, symmetry in structure and value, whether it "
             "is positive definite or indefinite if the entries show it, diagonal, dominance, norms, row "
             "lengths, bandwidth, and anything unusual. The exit status is 3 if the matrix cannot be used.",
    .examples = "  saddle info A.mtx.gz --plot A.png\n"
                "  saddle gen stokes2d 20 | saddle info -\n",
    .options = info_options,
    .library = "max_memory",
    .least = 1,
    .most = 1,
    .run = run_info,
};
