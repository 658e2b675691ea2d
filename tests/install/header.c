/* Every struct of saddle.h made in the ways that the header shows, in the C and the C++ of its users. */
#include <saddle/saddle.h>

int main(void)
{
    const int32_t pointers[] = {0, 1}, indices[] = {0};
    const double values[] = {2}, b[] = {1};
    double x[1], number;
    char text[SADDLE_MESSAGE_SIZE];
    saddle_matrix A = saddle_symmetric(1, pointers, indices, values),
                  B = saddle_general(1, pointers, indices, values);
    saddle_hooks hooks = saddle_hooks_default();
    saddle_options options = saddle_options_default();
    saddle_info info = saddle_info_default();
    saddle_facts facts;
    saddle_preparation preparation;
    options.method = SADDLE_METHOD_DIRECT;
    options.pairs = SADDLE_AUTO;
    options.check = SADDLE_ON;
#if !defined(__cplusplus)
    const saddle_matrix C = {.size = sizeof C,
                             .rows = 1,
                             .columns = 1,
                             .entries = 1,
                             .layout = SADDLE_COORDINATES,
                             .shape = SADDLE_FULL,
                             .indices = indices,
                             .col_indices = indices,
                             .values = values};
    const saddle_hooks quiet = {.size = sizeof quiet, .log = NULL};
    A = C;
    hooks = quiet;
#endif
    saddle_status status = saddle_solve_once(&A, b, x, &options, &info);
    if (!status) status = saddle_inspect(&B, &hooks, &facts, text);
    if (!status) status = saddle_prepare(&B, &options, NULL, &hooks, &preparation, text);
    if (!status) status = saddle_convert(&A, SADDLE_ROWS, SADDLE_UPPER, &hooks, &B, text);
    if (!status) status = saddle_read_matrix("A.mtx", &hooks, &B, text);
    if (!status) status = saddle_info_number(&info, "n", &number);
    switch (info.method) {
    case SADDLE_METHOD_DIRECT: return info.reason == SADDLE_REASON_RESIDUAL ? 0 : 1;
    default: return status == SADDLE_OK ? 0 : 1;
    }
}
