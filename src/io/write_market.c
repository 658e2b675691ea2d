/* Matrix Market files: a matrix with as many digits as bring each value back exactly, a vector always
 * with 17. */
#include "core/number.h"
#include "io/walk.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* Each line of the comment behind a %. */
static void write_comment(sd_output *o, const char *comment)
{
    while (comment && *comment) {
        const size_t length = strcspn(comment, "\n");
        sd_output_print(o, "%% ");
        for (size_t k = 0; k < length; k += SD_OUTPUT_ROOM / 2) {
            const size_t part = length - k < SD_OUTPUT_ROOM / 2 ? length - k : SD_OUTPUT_ROOM / 2;
            sd_output_print(o, "%.*s", (int)part, comment + k);
        }
        sd_output_print(o, "\n");
        comment += length + (comment[length] == '\n');
    }
}

static saddle_status count_entry(void *user, int32_t row, int32_t col, double value)
{
    (void)row;
    (void)col;
    (void)value;
    ++*(int64_t *)user;
    return SADDLE_OK;
}

typedef struct market_writer {
    sd_output *output;
    bool pattern;
} market_writer;

static saddle_status write_entry(void *user, int32_t row, int32_t col, double value)
{
    const market_writer *w = user;
    char *room = sd_output_room(w->output);
    int length = sd_print_int64((int64_t)row + 1, room);
    room[length++] = ' ';
    length += sd_print_int64((int64_t)col + 1, room + length);
    if (!w->pattern) {
        room[length++] = ' ';
        length += sd_print_shortest(value, room + length);
    }
    room[length++] = '\n';
    sd_output_put(w->output, (size_t)length);
    return w->output->status;
}

saddle_status sd_write_market(sd_context *c, sd_output *o, const saddle_matrix *A, const char *comment)
{
    int64_t entries = 0;
    const saddle_status status = sd_walk(c, o->name, A, count_entry, &entries);
    if (status != SADDLE_OK) return status;
    sd_output_print(o, "%%%%MatrixMarket matrix coordinate %s %s\n", A->values ? "real" : "pattern",
                    A->shape == SADDLE_GENERAL ? "general" : "symmetric");
    write_comment(o, comment);
    sd_output_print(o, "%lld %lld %lld\n", (long long)A->rows, (long long)A->columns, (long long)entries);
    market_writer w = {o, !A->values};
    return sd_walk(c, o->name, A, write_entry, &w);
}

saddle_status sd_write_market_vector(sd_output *o, int64_t n, const double *values, const char *comment)
{
    sd_output_print(o, "%%%%MatrixMarket matrix array real general\n");
    write_comment(o, comment);
    sd_output_print(o, "%lld 1\n", (long long)n);
    for (int64_t k = 0; k < n && o->status == SADDLE_OK; k++) {
        if (!isfinite(values[k])) {
            return sd_fail(o->context, SADDLE_BAD_VALUE,
                           "%.300s: the value %g in row %lld (counted from 0) is not finite", o->name,
                           values[k], (long long)k);
        }
        char *room = sd_output_room(o);
        const int length = sd_print_double(values[k], 17, room, SD_OUTPUT_ROOM);
        room[length] = '\n';
        sd_output_put(o, (size_t)length + 1);
    }
    return o->status;
}
