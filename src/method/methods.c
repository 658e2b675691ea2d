/* The table of methods, and what they have in common: see method.h. */
#include "method/method.h"

#include "core/info.h"
#include "core/options.h"
#include "prepare/prepare.h"

#include <math.h>
#include <string.h>
#include <unistd.h>

static const sd_method *const methods[] = {&sd_method_none, &sd_method_diagonal, &sd_method_bjacobi,
                                           &sd_method_ldlt, &sd_method_jacobi,   &sd_method_direct,
                                           &sd_method_ic,   &sd_method_ilu};
enum { METHODS = sizeof methods / sizeof methods[0] };

static const double ALWAYS_THERE =
    1e7; /* bytes: to ask for the machine's memory would cost more than a use of it */

static const double SMALL_DIAGONAL = 1e-3; /* relative to the largest entry of its row */

const sd_method *sd_method_of(int number)
{
    for (int k = 0; k < METHODS; ++k)
        if (methods[k]->number == number) return methods[k];
    return NULL;
}

saddle_status sd_cost_fits(sd_context *c, const char *name, sd_cost cost)
{
    const double megabyte = 1e6, need = (double)cost.bytes;
    if (c->limit > 0 && cost.bytes > c->limit) {
        return sd_fail(c, SADDLE_MEMORY_LIMIT,
                       "%s needs about %.0f MB, %.0f MB more than max_memory allows: raise it by that, or "
                       "choose another method",
                       name, ceil(need / megabyte), ceil((need - (double)c->limit) / megabyte));
    }
    if (need <= ALWAYS_THERE) return SADDLE_OK;
    const double machine = (double)sysconf(_SC_PHYS_PAGES) * (double)sysconf(_SC_PAGESIZE);
    if (machine > 0 && need > machine) {
        return sd_fail(c, SADDLE_OUT_OF_MEMORY,
                       "%s needs about %.0f MB but this machine has %.0f MB: choose another method", name,
                       ceil(need / megabyte), machine / megabyte);
    }
    return SADDLE_OK;
}

void sd_report(const sd_method *method, const void *factors, saddle_info *info)
{
#define FORGET2(one, two) info->one = sd_info_unknown.one, info->two = sd_info_unknown.two
#define FORGET4(one, two, three, four) FORGET2(one, two), FORGET2(three, four)
    FORGET4(factor_nnz, factor_flops, factor_bytes, levels);
    FORGET4(two_by_two, perturbed, pushed_back, generations);
    FORGET4(inertia_positive, inertia_negative, inertia_zero, rank);
    FORGET4(fronts, largest_front, delayed, factorization);
    FORGET4(largest_l, stale, regularised_positive, regularised_negative);
    FORGET4(blocks, block_size, block_kernel, replaced_blocks);
    FORGET4(single_blocks, fill_tau, sweeps, sweeps_exact);
    FORGET4(replanned, fallback, trisolve, pattern_residual);
    FORGET4(inertia_certain, negative_least, negative_most, inertia_doubt);
    FORGET4(reconstruction_error, inertia_risk, simplicial, sequences);
    FORGET2(waits, profile_assembly), FORGET4(profile_factor, profile_contribution, profile_other, tiles_0);
    FORGET4(tiles_1, tiles_2, tiles_3, tiles_4), FORGET4(tiles_5, tiles_6, tiles_7, tiles_8);
    FORGET2(device_bytes, offloaded_bytes), FORGET2(shift, restarts);
    FORGET4(trisolve_sweeps, trisolve_residual, dominance, block_dominance);
#undef FORGET4
#undef FORGET2
    method->report(factors, info);
}

saddle_status sd_check_given(sd_context *c, const sd_problem *p)
{
    if (!p->given || p->given_n == p->A->n) return SADDLE_OK;
    return sd_fail(c, SADDLE_BAD_ARGUMENT, "scaling or order was given for n = %lld, but n is %d",
                   (long long)p->given_n, p->A->n);
}

saddle_status sd_whole_matrix(sd_context *c, const sd_csr *A, sd_csr *whole, const sd_csr **all)
{
    *all = A->half ? whole : A;
    return A->half ? sd_csr_expand(c, A, whole) : SADDLE_OK;
}

saddle_status sd_plan_preparation(sd_context *c, const sd_problem *p, sd_prepare_step *prepare, void **plan,
                                  saddle_info *info)
{
    sd_csr whole = {0};
    const sd_csr *A;
    saddle_preparation *made = *plan = sd_alloc_zero(c, 1, sizeof *made, "plan");
    saddle_status status = made ? sd_check_given(c, p) : c->status;
    if (!status) status = sd_whole_matrix(c, p->A, &whole, &A);
    if (!status) {
        made->size = sizeof *made;
        status = prepare(c, p, A, made);
    }
    sd_csr_free(c, &whole);
    if (!status) info->time_prepare += made->time_total;
    return status;
}

void sd_free_preparation(sd_context *c, void *plan)
{
    sd_preparation_free(c, plan);
    sd_free(c, plan);
}

saddle_switch sd_pairs_for(const saddle_options *options, bool wanted)
{
    return wanted || options->blocking == SADDLE_BLOCKING_PAIRS ? SADDLE_ON : SADDLE_OFF;
}

bool sd_has_small_diagonal(const sd_csr *A)
{
    for (int32_t i = 0; i < A->n; ++i) {
        double diagonal = 0, largest = 0;
        for (int64_t k = A->ptr[i]; k < A->ptr[i + 1]; ++k) {
            const double size = fabs(A->val[k]);
            if (A->ind[k] == i) diagonal = size;
            if (size > largest) largest = size;
        }
        if (diagonal < SMALL_DIAGONAL * largest) return true;
    }
    return false;
}

sd_precision sd_iteration_precision(const sd_problem *p)
{
    return p->options->precision == SADDLE_PRECISION_DOUBLE ? SD_DOUBLE : SD_SINGLE;
}

static void apply_hosted(const void *self, sd_engine *e, const sd_vector *r, sd_vector *z)
{
    const sd_hosted *by = self;
    sd_vector_get(e, r, by->r);
    if (!e->status) by->apply(by->self, by->r, by->z);
    sd_vector_put(e, by->z, z);
}

static void release_hosted(sd_engine *e, void *owned)
{
    sd_hosted *by = owned;
    by->release(e, by->self);
    sd_free_all(e->context, by->r, by->z, by);
}

saddle_status sd_precondition_hosted(sd_engine *e, const sd_hosted *by, sd_preconditioner *M)
{
    sd_context *c = e->context;
    sd_hosted *own = sd_alloc_zero(c, 1, sizeof *own, "preconditioner");
    *M = (sd_preconditioner){.apply = apply_hosted, .self = own, .owned = own, .release = release_hosted};
    if (!own) {
        by->release(e, by->self);
        return e->status = c->status;
    }
    *own = *by;
    own->r = sd_alloc(c, by->n, sizeof *own->r, "preconditioner");
    own->z = sd_alloc_zero(c, by->n, sizeof *own->z, "preconditioner");
    if (!own->r || !own->z) e->status = c->status;
    return e->status;
}

int sd_krylov_for(const sd_problem *p, bool symmetric, bool positive)
{
    if (!p->facts->symmetric || !symmetric) return SADDLE_KRYLOV_GMRES;
    if (!positive) return SADDLE_KRYLOV_SQMR;
    return p->facts->kind == SADDLE_KIND_SPD ? SADDLE_KRYLOV_CG : SADDLE_KRYLOV_MINRES;
}

/* ---- options that do not apply ---- */

/* Read whatever the method is. */
static const char everywhere[] =
    "|method|krylov|restart|maxiter|tol|stop|device|precision|threads|max_memory|"
    "device_index|";

/* Read only where another option has one of these words, by all methods that read it or by those that are
 * named; the first row of an option and a method holds. */
static const struct {
    const char *name, *needs, *words, *methods;
} conditions[] = {{"sweeps", "setup", "|sweeps|", "|ic|ilu|"},
                  {"fallback", "trisolve", "|block-jacobi|jacobi|", "|ic|ilu|"},
                  {"trisolve_sweeps", "trisolve", "|block-jacobi|jacobi|", "|ic|ilu|"},
                  {"tune", "trisolve", "|auto|", "|ic|ilu|"},
                  {"fill_tau", "fill", "|tau|", "|ic|ilu|"},
                  {"restart", "krylov", "|auto|gmres|fgmres|", NULL},
                  {"regularise", "factorization", "|static|", NULL},
                  {"fill_level", "fill", "|level|", NULL},
                  {"fill_tau", "fill", "|auto|tau|", NULL},
                  {"trisolve_sweeps", "trisolve", "|auto|block-jacobi|jacobi|", NULL},
                  {"relax", "method", "|jacobi|", NULL},
                  {"level", "fill", "|auto|", NULL},
                  {"fill_most", "fill", "|tau|", NULL},
                  {"verify", "krylov", "|none|refine|", NULL},
                  {"presolve", "device", "|cuda|", NULL},
                  {"device_memory", "device", "|auto|cuda|", NULL},
                  {"profile", "device", "|cuda|", NULL}}; /* of auto it is not known yet */
enum { CONDITIONS = sizeof conditions / sizeof conditions[0] };

/* Whether an option has another value than its default. */
static bool is_set(const saddle_options *options, const char *name)
{
    const saddle_options usual = saddle_options_default();
    char text[64], usual_text[64];
    saddle_options_get(options, name, text, sizeof text);
    saddle_options_get(&usual, name, usual_text, sizeof usual_text);
    return strcmp(text, usual_text) != 0;
}

void sd_report_unused(sd_context *c, const saddle_options *options)
{
    const sd_method *method = sd_method_of(options->method);
    char value[64], word[24];
    if (!c->hooks.log) return; /* nobody listens, and texts take longer than a small system */
    saddle_option_word("method", options->method, word, sizeof word);
    for (int k = 0; saddle_option_at(k); ++k) {
        const char *name = saddle_option_at(k)->name;
        if (!is_set(options, name)) continue;
        if (method && !sd_has_word(everywhere, name) && !sd_has_word(method->options, name)) {
            sd_log(c, SADDLE_LOG_WARNING, "option %s has no effect with method %s", name, word);
            continue;
        }
        for (int j = 0; j < CONDITIONS; ++j) {
            if (strcmp(conditions[j].name, name) != 0) continue;
            if (conditions[j].methods && !sd_has_word(conditions[j].methods, word)) continue;
            saddle_options_get(options, conditions[j].needs, value, sizeof value);
            if (!sd_has_word(conditions[j].words, value))
                sd_log(c, SADDLE_LOG_WARNING, "option %s has no effect with %s %s", name, conditions[j].needs,
                       value);
            break;
        }
    }
}
