/* The reference's kernels on blocks, which are what all others are held against. */
#include "block_oracle.h"

/* Errors in units of rounding_error that are allowed. */
enum { ROUNDINGS = 4 };

static void every_factorization_multiplies_back_to_its_block(void **state)
{
    (void)state;
    rng r = rng_start("multiplies back");
    for (int step = 0; step < SD_JORDAN * SD_PRECISIONS; ++step) {
        const sd_block_kernel kernel = (sd_block_kernel)(step / SD_PRECISIONS);
        const sd_precision precision = (sd_precision)(step % SD_PRECISIONS);
        batch b = batch_of_kinds(&r, precision, sd_block_symmetric(kernel), BLOCK_KINDS, 2);
        bench s;
        bench_open(&s, &sd_backend_reference, 1);
        const sd_block_rule rule = {.kernel = kernel};
        factors f = factor_batch(&s.e, &b, &rule);
        double worst = 0;
        for (int32_t k = 0; k < b.blocks; ++k) {
            assert_well_formed(&b, &f, k);
            if (f.state[k].status) continue;
            const double error = rounding_error(&b, &f, k);
            if (!(error <= ROUNDINGS))
                fail_msg("%s in %s: %g roundings (%s, %d rows)", kernel_names[kernel],
                         precision_name(precision), error, kind_names[b.kind[k]], batch_size(&b, k));
            if (error > worst) worst = error;
        }
        print_message("           %-22s %s: %.2f roundings at most\n", kernel_names[kernel],
                      precision_name(precision), worst);
        free_factors(&f);
        bench_close(&s);
        batch_free(&b);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_factorization_multiplies_back_to_its_block),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
