/* Four threads add to one sum: a race, which ThreadSanitizer must find. */
#include <stdio.h>

int main(void)
{
    double sum = 0;
#pragma omp parallel for num_threads(4)
    for (int i = 0; i < 100000; ++i) sum += i;
    printf("%g\n", sum);
    return 0;
}
