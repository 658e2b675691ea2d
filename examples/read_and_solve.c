/*
 * Files: read a matrix, inspect it, solve for b = A times ones, measure, write the solution.
 *
 *     read_and_solve A.mtx[.gz] x.mtx
 */
#include <saddle/saddle.h>

#include <stdio.h>
#include <stdlib.h>

int main(int argc, char **argv)
{
    if (argc != 3) {
        fprintf(stderr, "usage: read_and_solve A.mtx[.gz] x.mtx\n");
        return 2;
    }
    char message[SADDLE_MESSAGE_SIZE] = "";
    saddle_matrix A = {0};
    saddle_facts facts = {.size = sizeof facts};
    saddle_info info = saddle_info_default();
    saddle_errors errors;
    double *b = NULL, *x = NULL;

    saddle_status status = saddle_read_matrix(argv[1], NULL, &A, message);
    if (status != SADDLE_OK) goto done;
    status = saddle_inspect(&A, NULL, &facts, message);
    if (status != SADDLE_OK) goto done;
    printf("n = %lld, %lld entries, %s, %lld zeros on the diagonal\n", (long long)facts.rows,
           (long long)facts.nnz, facts.symmetric ? "symmetric" : "general", (long long)facts.zero_diagonal);

    b = malloc((size_t)A.rows * sizeof *b);
    x = malloc((size_t)A.columns * sizeof *x);
    if (!b || !x) {
        snprintf(message, sizeof message, "out of memory");
        status = SADDLE_OUT_OF_MEMORY;
        goto done;
    }
    for (int64_t i = 0; i < A.columns; ++i) x[i] = 1;
    status = saddle_multiply(&A, 1, x, A.rows, b, A.rows, 0, NULL, message);
    if (status != SADDLE_OK) goto done;

    status = saddle_solve_once(&A, b, x, NULL, &info);
    snprintf(message, sizeof message, "%s", info.message);
    if (status != SADDLE_OK && status != SADDLE_NOT_CONVERGED) goto done;
    printf("%lld iterations, relative residual %.1e\n", (long long)info.iterations, info.relative_residual);

    /* To verify the solver's own figures: */
    const saddle_status measured = saddle_measure(&A, b, x, NULL, 0, NULL, &errors, message);
    if (measured == SADDLE_OK) printf("measured again: %.1e\n", errors.relative_residual);
    const saddle_status written = saddle_write_vector(argv[2], A.columns, x, "read_and_solve", message);
    if (written != SADDLE_OK) status = written;

done:
    if (status != SADDLE_OK) fprintf(stderr, "%s: %s\n", saddle_status_text(status), message);
    free(b);
    free(x);
    saddle_matrix_free(&A, NULL);
    return status == SADDLE_OK ? 0 : 1;
}
