/*
 * Text to be read line by line. See text.h.
 *
 * gzip is undone with zlib's inflate rather than gzread: its memory comes from the caller's
 * allocator, memory can be a source, progress is known in compressed bytes, and a file that was cut
 * off can be told from one that is corrupt.
 */
#include "io/text.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <poll.h>
#include <stdarg.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

enum {
    BUFFER_SIZE = 1 << 18, /* stays in the second-level cache */
    INPUT_SIZE = 1 << 16,  /* compressed bytes */
    WAIT_MILLISECONDS = 100
};

typedef struct sd_gunzip {
    z_stream stream;
    bool between; /* a member has ended and no other has begun */
    unsigned char input[INPUT_SIZE];
} sd_gunzip;

saddle_status sd_text_fail(sd_text *t, saddle_status status, const char *format, ...)
{
    char what[SADDLE_MESSAGE_SIZE];
    va_list args;
    va_start(args, format);
    vsnprintf(what, sizeof what, format, args);
    va_end(args);
    if (t->line == 0) return sd_fail(t->context, status, "%s: %s", t->name, what);
    return sd_fail(t->context, status, "%s:%lld: %s", t->name, (long long)t->line, what);
}

/* Returns when there is something to read, or the end; asks the caller meanwhile whether to go on. A read
 * that blocks would be ended by a signal, but not by one that came just before it. */
static saddle_status wait_for_input(sd_text *t)
{
    struct pollfd wanted = {.fd = t->file, .events = POLLIN};
    while (t->waits && poll(&wanted, 1, WAIT_MILLISECONDS) <= 0) {
        const saddle_status status = sd_progress(t->context, "read", t->bytes_read, t->bytes_total, NAN);
        if (status != SADDLE_OK) return status;
    }
    return SADDLE_OK;
}

/* Bytes of the source as they are; *got is 0 only at its end. */
static saddle_status read_source(sd_text *t, void *to, size_t room, size_t *got)
{
    if (t->file < 0) {
        *got = t->memory_left < room ? t->memory_left : room;
        if (*got > 0) memcpy(to, t->memory, *got);
        t->memory += *got;
        t->memory_left -= *got;
        t->bytes_read += (int64_t)*got;
        return SADDLE_OK;
    }
    for (;;) {
        const saddle_status status = wait_for_input(t);
        if (status != SADDLE_OK) return status;
        const ssize_t n = read(t->file, to, room);
        if (n >= 0) {
            *got = (size_t)n;
            t->bytes_read += n;
            return SADDLE_OK;
        }
        if (errno != EINTR && errno != EAGAIN)
            return sd_text_fail(t, SADDLE_FILE_OPEN, "cannot be read: %s", strerror(errno));
    }
}

static void *gunzip_allocate(void *context, unsigned count, unsigned size)
{
    return sd_alloc(context, count, size, "gzip decompression");
}

static void gunzip_release(void *context, void *memory)
{
    sd_free(context, memory);
}

/* Starts to unpack; the first bytes of the file, which are in the text's buffer, are its input. */
static saddle_status gunzip_start(sd_text *t)
{
    sd_gunzip *g = sd_alloc(t->context, 1, sizeof *g, "gzip decompression");
    if (!g) return t->context->status;
    memset(&g->stream, 0, sizeof g->stream);
    g->stream.zalloc = gunzip_allocate;
    g->stream.zfree = gunzip_release;
    g->stream.opaque = t->context;
    g->between = false;
    const int result = inflateInit2(&g->stream, 15 + 16);
    if (result != Z_OK) {
        sd_free(t->context, g);
        if (result == Z_MEM_ERROR) return t->context->status;
        return sd_text_fail(t, SADDLE_FILE_OPEN, "cannot be decompressed: zlib failed with code %d", result);
    }
    g->stream.avail_in = (unsigned)(t->end - t->buffer);
    memcpy(g->input, t->buffer, g->stream.avail_in);
    g->stream.next_in = g->input;
    t->gunzip = g;
    t->end = t->buffer;
    return SADDLE_OK;
}

/* Between two members: zeros are padding, anything else must begin a member, which inflate checks. */
static void gunzip_next_member(sd_gunzip *g)
{
    while (g->stream.avail_in > 0 && *g->stream.next_in == 0) {
        g->stream.next_in++;
        g->stream.avail_in--;
    }
    if (g->stream.avail_in == 0) return;
    inflateReset(&g->stream);
    g->between = false;
}

/* Unpacked bytes; *got is 0 only at the end. */
static saddle_status gunzip_read(sd_text *t, void *to, size_t room, size_t *got)
{
    sd_gunzip *g = t->gunzip;
    g->stream.next_out = to;
    g->stream.avail_out = (unsigned)room;
    while (g->stream.avail_out == room) {
        if (g->stream.avail_in == 0) {
            size_t n = 0;
            const saddle_status status = read_source(t, g->input, INPUT_SIZE, &n);
            if (status != SADDLE_OK) return status;
            if (n == 0 && !g->between) {
                return sd_malformed(t, "the gzip data end prematurely: the file is truncated");
            }
            if (n == 0) break;
            g->stream.next_in = g->input;
            g->stream.avail_in = (unsigned)n;
        }
        if (g->between) gunzip_next_member(g);
        if (g->between) continue;
        const int result = inflate(&g->stream, Z_NO_FLUSH);
        if (result == Z_STREAM_END) {
            g->between = true;
        } else if (result == Z_MEM_ERROR) {
            return t->context->status;
        } else if (result != Z_OK && result != Z_BUF_ERROR) {
            return sd_malformed(t, "the gzip data are corrupt (%s)",
                                g->stream.msg ? g->stream.msg : "unknown");
        }
    }
    *got = room - g->stream.avail_out;
    return SADDLE_OK;
}

/* Moves what is left to the front of the buffer and reads on behind it. */
static saddle_status refill(sd_text *t)
{
    const size_t left = (size_t)(t->end - t->at);
    memmove(t->buffer, t->at, left);
    t->at = t->buffer;
    t->end = t->buffer + left;
    size_t got = 0;
    saddle_status status = t->gunzip ? gunzip_read(t, t->end, BUFFER_SIZE - left, &got)
                                     : read_source(t, t->end, BUFFER_SIZE - left, &got);
    if (status != SADDLE_OK) return status;
    t->ended = got == 0;
    t->end += got;
    return sd_progress(t->context, "read", t->bytes_read, t->bytes_total, NAN);
}

saddle_status sd_text_refill_line(sd_text *t, sd_span *line)
{
    bool comment = false; /* of any length; other lines must fit in the buffer */
    for (;;) {
        const char *stop = memchr(t->at, '\n', (size_t)(t->end - t->at));
        if (!stop && t->ended && (t->at < t->end || comment)) stop = t->end;
        if (stop) {
            line->begin = comment ? stop : t->at;
            line->end = stop;
            t->at += stop - t->at + (stop < t->end);
            t->line++;
            return SADDLE_OK;
        }
        if (t->ended) {
            line->begin = line->end = NULL;
            return SADDLE_OK;
        }
        if (t->end - t->at == BUFFER_SIZE) {
            comment = comment || *t->at == '%';
            if (!comment) {
                t->line++;
                return sd_text_fail(
                    t, SADDLE_FILE_FORMAT,
                    "the line is longer than %d characters: this is not a text file of a matrix",
                    BUFFER_SIZE);
            }
            t->at = t->end;
        }
        const saddle_status status = refill(t);
        if (status != SADDLE_OK) return status;
    }
}

/* Allocates the buffer and looks at the first two bytes. */
static saddle_status start(sd_text *t)
{
    t->buffer = sd_alloc(t->context, BUFFER_SIZE, 1, "the read buffer");
    if (!t->buffer) return t->context->status;
    t->at = t->end = t->buffer;
    while (t->end - t->buffer < 2) {
        size_t got = 0;
        const saddle_status status =
            read_source(t, t->end, (size_t)(INPUT_SIZE - (t->end - t->buffer)), &got);
        if (status != SADDLE_OK) return status;
        t->end += got;
        if (got == 0) break;
    }
    if (t->end - t->buffer < 2 || memcmp(t->buffer, "\x1f\x8b", 2) != 0) return SADDLE_OK;
    return gunzip_start(t);
}

static void begin(sd_text *t, sd_context *c, const char *name)
{
    memset(t, 0, sizeof *t);
    t->context = c;
    t->file = -1;
    const size_t length = strlen(name);
    if (length < sizeof t->name) {
        memcpy(t->name, name, length + 1);
    } else { /* the end of a path says more than its beginning */
        snprintf(t->name, sizeof t->name, "...%s", name + length - (sizeof t->name - 4));
    }
}

saddle_status sd_text_open(sd_text *t, sd_context *c, const char *path)
{
    const bool standard = strcmp(path, "-") == 0;
    begin(t, c, standard ? "standard input" : path);
    /* not blocking: a pipe that nobody writes to yet is waited for where it is read */
    t->file = standard ? STDIN_FILENO : open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    t->close_file = !standard;
    struct stat about;
    if (t->file < 0 || fstat(t->file, &about) != 0) {
        const saddle_status status =
            sd_text_fail(t, SADDLE_FILE_OPEN, "cannot be opened: %s", strerror(errno));
        sd_text_close(t);
        return status;
    }
    t->waits = !S_ISREG(about.st_mode);
    if (!t->waits) t->bytes_total = (int64_t)about.st_size;
    const saddle_status status = start(t);
    if (status != SADDLE_OK) sd_text_close(t);
    return status;
}

saddle_status sd_text_open_memory(sd_text *t, sd_context *c, const char *name, const void *bytes,
                                  size_t length)
{
    begin(t, c, name);
    t->memory = bytes;
    t->memory_left = length;
    t->bytes_total = (int64_t)length;
    const saddle_status status = start(t);
    if (status != SADDLE_OK) sd_text_close(t);
    return status;
}

void sd_text_close(sd_text *t)
{
    if (t->gunzip) inflateEnd(&t->gunzip->stream);
    sd_free_all(t->context, t->gunzip, t->buffer);
    if (t->close_file && t->file >= 0) close(t->file);
}

sd_span sd_trim(sd_span span)
{
    span.begin = sd_skip_blanks(span.begin, span.end);
    while (span.end > span.begin && sd_is_blank(span.end[-1])) span.end--;
    return span;
}

sd_span sd_next_word(sd_span *line)
{
    sd_span word;
    word.begin = sd_skip_blanks(line->begin, line->end);
    word.end = word.begin;
    while (word.end < line->end && !sd_is_blank(*word.end)) word.end++;
    line->begin = word.end;
    return word;
}

bool sd_span_is(sd_span span, const char *word)
{
    const char *p = span.begin;
    for (; p < span.end && *word; p++, word++) {
        const char ch = *p >= 'A' && *p <= 'Z' ? (char)(*p + 32) : *p;
        if (ch != *word) return false;
    }
    return p == span.end && !*word;
}

const char *sd_quote(sd_span span, char quoted[SD_QUOTE])
{
    size_t k = 0;
    const char *p = span.begin;
    for (; p < span.end && k < SD_QUOTE - 4; p++, k++) quoted[k] = *p >= 32 && *p < 127 ? *p : '?';
    for (int dots = 0; p < span.end && dots < 3; dots++) quoted[k++] = '.';
    quoted[k] = '\0';
    return quoted;
}
