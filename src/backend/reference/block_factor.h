/*
 * block_factor: each block by its kernel; what cannot be factored is replaced. Included once a precision by
 * blocks.c, after block_elimination.h and block_symmetric.h. No header of its own.
 */

static bool NAME(is_finite)(const NAME(block) * m)
{
    for (int k = 0; k < m->n * m->n; ++k)
        if (!isfinite(m->a[k])) return false;
    return true;
}

/* The largest magnitude of a finite block, or 1 where that is no number to divide by. */
static real NAME(scale_of)(const NAME(block) * m)
{
    real most = 0;
    if (!NAME(is_finite)(m)) return 1;
    for (int k = 0; k < m->n * m->n; ++k)
        if (MATH(fabs)(m->a[k]) > most) most = MATH(fabs)(m->a[k]);
    return most < TINY ? 1 : most;
}

static void NAME(identity_order)(NAME(block) * m)
{
    for (int i = 0; i < m->n; ++i) m->row[i] = m->column[i] = (uint8_t)i;
}

static void NAME(replace)(NAME(block) * m, sd_block_kernel kernel, real scale, int status)
{
    const real diagonal = kernel == SD_JORDAN                             ? 1 / scale
                          : kernel == SD_LLT || kernel == SD_LLT_DIAGONAL ? MATH(sqrt)(scale)
                                                                          : scale;
    for (int j = 0; j < m->n; ++j)
        for (int i = 0; i < m->n; ++i) *NAME(at)(m, i, j) = i == j ? diagonal : 0;
    NAME(identity_order)(m);
    m->state = (sd_block_state){.status = (uint8_t)status};
}

static int NAME(factor_by)(NAME(block) * m, const sd_block_rule *rule)
{
    const real small = (real)rule->small;
    switch (rule->kernel) {
    case SD_LDU:
    case SD_LDU_PARTIAL:
    case SD_LDU_FULL: return NAME(ldu)(m, rule->kernel, small);
    case SD_LLT:
    case SD_LLT_DIAGONAL: return NAME(llt)(m, rule->kernel);
    case SD_LDLT_STATIC:
    case SD_LDLT_BUNCH_KAUFMAN:
    case SD_LDLT_COMPLETE: return NAME(ldlt)(m, rule->kernel, small);
    case SD_JORDAN: return NAME(jordan)(m);
    default: return NAME(huard)(m, rule->kernel);
    }
}

static void NAME(factor_block)(NAME(block) * m, const sd_block_rule *rule)
{
    const real scale = NAME(scale_of)(m);
    NAME(identity_order)(m);
    m->state = (sd_block_state){0};
    int status = NAME(is_finite)(m) ? NAME(factor_by)(m, rule) : SD_BLOCK_NOT_FINITE;
    if (!status && !NAME(is_finite)(m)) status = SD_BLOCK_NOT_FINITE;
    if (status) NAME(replace)(m, rule->kernel, scale, status);
    /* rows and columns went together */
    if (sd_block_symmetric(rule->kernel))
        for (int i = 0; i < m->n; ++i) m->column[i] = (uint8_t)i;
}

void PUBLIC(block_factor)(sd_engine *e, const sd_block_rule *rule, const sd_blocks *x, sd_block_factors *f)
{
    if (e->status) return;
    const sd_block_plan *plan = x->plan;
    f->kernel = rule->kernel;
    for (int32_t k = 0; k < plan->count; ++k) {
        const sd_block_job job = plan->job[k];
        NAME(block) m = {.n = rows_of_job(plan, k)};
        const size_t bytes = (size_t)(m.n * m.n) * sizeof(real);
        memcpy(m.a, (const real *)x->data + job.entry, bytes);
        NAME(factor_block)(&m, rule);
        memcpy((real *)f->data + job.entry, m.a, bytes);
        memcpy(f->row + job.row, m.row, (size_t)m.n);
        memcpy(f->column + job.row, m.column, (size_t)m.n);
        f->state[job.block] = m.state;
    }
}
