/* Solvers of the library: what the caller's options mean to them, and how they come to a pattern. */
#include "adapters/spral/keep.h"

#include "adapters/common/environment.h"

#include <stdio.h>
#include <string.h>

/* Of Saddle's thresholds. */
static const double U_LEAST = 1e-10, U_MOST = 0.5;

int ssids_solver_options(const ssids_options *options, saddle_scaling scaling, int64_t threads,
                         saddle_options *to, bool *print, char *message)
{
    saddle_options o = saddle_options_default();
    o.method = SADDLE_METHOD_DIRECT; /* whose order, D and inertia the caller asks for */
    o.pairs = SADDLE_OFF;
    o.scaling = scaling;
    /* nothing of the plan depends on values then, and it has to stay what the caller was told */
    if (scaling == SADDLE_SCALING_NONE) o.replan = SADDLE_OFF;
    o.threshold = options->u >= U_LEAST ? options->u <= U_MOST ? options->u : U_MOST : U_LEAST;
    o.device = options->use_gpu ? SADDLE_DEVICE_AUTO : SADDLE_DEVICE_CPU;
    o.threads = threads;
    saddle_status status = door_environment(&o, print, message);
    if (!status && o.order == SADDLE_ORDER_USER && options->ordering != 0) {
        snprintf(message, SADDLE_MESSAGE_SIZE, "SADDLE_OPTIONS: order=user: the program gives no order");
        status = SADDLE_BAD_OPTION;
    }
    *to = o;
    if (!status) return SSIDS_SUCCESS;
    /* a user who set SADDLE_OPTIONS is told, even if the program is silent */
    if (options->print_level < 0 || options->unit_error < 0) fprintf(stderr, "saddle: %s\n", message);
    return SSIDS_UNKNOWN;
}

/* The solver that was analysed, if no other fkeep has it. */
static void take_spare(ssids_akeep *a, ssids_solver *s)
{
    pthread_mutex_lock(&a->lock);
    *s = a->spare;
    a->spare.solver = NULL;
    pthread_mutex_unlock(&a->lock);
}

/* The akeep's order, from the next factorization on. */
static saddle_status give_order(const ssids_akeep *a, ssids_solver *s)
{
    const saddle_given given = {.permutation = a->permutation};
    s->options.order = SADDLE_ORDER_USER;
    return saddle_set_given(s->solver, a->pattern.n, &given);
}

/* A new solver, in the order of the akeep. */
static saddle_status make(const ssids_akeep *a, ssids_solver *s, const saddle_options *options, char *message)
{
    const saddle_matrix pattern = ssids_view(&a->pattern, NULL);
    s->options = *options;
    s->options.order = SADDLE_ORDER_USER;
    saddle_status status = saddle_create(&s->solver, &s->options, NULL, message);
    if (status) return status;
    status = give_order(a, s);
    return status ? status : saddle_analyse(s->solver, &pattern);
}

/* Other options for a solver that there is. With another scaling it plans anew; it does not order anew. */
static saddle_status adapt(const ssids_akeep *a, ssids_solver *s, const saddle_options *options)
{
    const saddle_options before = s->options;
    const bool own = before.order != SADDLE_ORDER_USER; /* the order that the solver has found itself */
    saddle_status status = SADDLE_OK;
    s->options = *options;
    s->options.order = before.order;
    if (own && before.scaling != options->scaling) status = give_order(a, s);
    return status ? status : saddle_set_options(s->solver, &s->options);
}

/* Whether a solver with these options is one for those: its order is the akeep's in any case. */
static bool serves(const ssids_solver *s, const saddle_options *options)
{
    saddle_options o = *options;
    o.order = s->options.order;
#define SAME(name, ...) &&s->options.name == o.name
    return true SADDLE_OPTION_TABLE(SAME, SAME, SAME, SAME);
#undef SAME
}

int ssids_prepare_solver(ssids_akeep *a, ssids_solver *s, const saddle_options *options, char *message)
{
    if (!s->solver) take_spare(a, s);
    if (s->solver && serves(s, options)) return SSIDS_SUCCESS;
    if (s->solver && s->options.device != options->device) saddle_destroy(&s->solver); /* it cannot change */
    const saddle_status status = s->solver ? adapt(a, s, options) : make(a, s, options, message);
    if (status && s->solver) snprintf(message, SADDLE_MESSAGE_SIZE, "%s", saddle_message(s->solver));
    if (status) saddle_destroy(&s->solver);
    return ssids_flag_of(status);
}
