/* Reading matrices and vectors: what a file is is known by its first line. See saddle.h, section 8. */
#include "io/io.h"
#include "matrix/csr.h"

#include <stdio.h>

/* Failures of the allocator and the caller's wish to stop know nothing of the file: names it. */
static saddle_status name_file(sd_text *t, saddle_status status)
{
    if (status != SADDLE_OUT_OF_MEMORY && status != SADDLE_MEMORY_LIMIT && status != SADDLE_CANCELLED) {
        return status;
    }
    char message[SADDLE_MESSAGE_SIZE];
    memcpy(message, t->context->message, sizeof message);
    return sd_text_fail(t, status, "%s", message);
}

static saddle_status first_line(sd_text *t, sd_span *line)
{
    const saddle_status status = sd_text_line(t, line);
    if (status != SADDLE_OK) return status;
    /* The byte order mark that some editors put before UTF-8. */
    if (line->end - line->begin >= 3 && memcmp(line->begin, "\xef\xbb\xbf", 3) == 0) line->begin += 3;
    if (line->begin) return SADDLE_OK;
    return sd_malformed(t, "the file is empty");
}

/* Reads a text that was opened with this status, a matrix or, where A is NULL, a vector, and closes it. */
static saddle_status read_text(sd_text *t, saddle_status status, saddle_matrix *A, int64_t *n,
                               double **values)
{
    sd_span line;
    if (status) return name_file(t, status);
    status = first_line(t, &line);
    if (!status) {
        status = !A                          ? sd_market_vector(t, line, n, values)
                 : sd_is_market_banner(line) ? sd_market_matrix(t, line, A)
                                             : sd_boeing_matrix(t, A);
    }
    status = name_file(t, status);
    sd_text_close(t);
    return status;
}

saddle_status sd_read_matrix(sd_context *c, const char *path, saddle_matrix *A)
{
    sd_text text;
    memset(A, 0, sizeof *A);
    return read_text(&text, sd_text_open(&text, c, path), A, NULL, NULL);
}

saddle_status sd_read_matrix_memory(sd_context *c, const char *name, const void *bytes, size_t length,
                                    saddle_matrix *A)
{
    sd_text text;
    memset(A, 0, sizeof *A);
    return read_text(&text, sd_text_open_memory(&text, c, name, bytes, length), A, NULL, NULL);
}

saddle_status saddle_read_matrix_sized(const char *path, const saddle_hooks *hooks, saddle_matrix *A,
                                       size_t size, char *message)
{
    sd_context c;
    saddle_matrix read = {0};
    saddle_status status = sd_context_open(&c, hooks);
    if (!path || !A || size < SD_VIEW_LEAST) {
        sd_fail(&c, SADDLE_BAD_ARGUMENT, "saddle_read_matrix: path or A is NULL, or size is too small");
        return sd_tell(&c, c.status, message);
    }
    if (!status) status = sd_read_matrix(&c, path, &read);
    sd_view_give(&read, A, size);
    return sd_tell(&c, status, message);
}

saddle_status saddle_read_vector(const char *path, const saddle_hooks *hooks, int64_t *n, double **values,
                                 char *message)
{
    sd_context c;
    sd_text text;
    saddle_status status = sd_context_open(&c, hooks);
    if (!status && (!path || !n || !values))
        status = sd_fail(&c, SADDLE_BAD_ARGUMENT, "saddle_read_vector: path, n or values is NULL");
    if (status) return sd_tell(&c, status, message);
    *n = 0;
    *values = NULL;
    status = read_text(&text, sd_text_open(&text, &c, path), NULL, n, values);
    return sd_tell(&c, status, message);
}

void saddle_vector_free(double *values, const saddle_hooks *hooks)
{
    sd_context c;
    if (!sd_context_open(&c, hooks)) sd_free(&c, values);
}
