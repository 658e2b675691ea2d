/* Text to be written, as a whole or not at all. See output.h. */
#define _XOPEN_SOURCE 700 /* realpath */

#include "io/output.h"

#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>
#include <zlib.h>

enum { BUFFER_SIZE = 1 << 16, MOST_TRIES = 100 };

typedef struct sd_gzip {
    z_stream stream;
    unsigned char packed[BUFFER_SIZE];
} sd_gzip;

bool sd_ends_with(const char *path, const char *end)
{
    const size_t length = strlen(path), wanted = strlen(end);
    return length >= wanted && strcasecmp(path + length - wanted, end) == 0;
}

/* Keeps the first failure. */
static void fail(sd_output *o, int error)
{
    if (o->status == SADDLE_OK) {
        o->status =
            sd_fail(o->context, SADDLE_FILE_WRITE, "%.300s: cannot be written: %s", o->name, strerror(error));
    }
}

static void write_bytes(sd_output *o, const void *bytes, size_t length)
{
    const char *p = bytes;
    while (length > 0 && o->status == SADDLE_OK) {
        const ssize_t n = write(o->file, p, length);
        if (n < 0 && errno == EINTR) continue;
        if (n < 0) {
            fail(o, errno);
            return;
        }
        p += n;
        length -= (size_t)n;
    }
}

/* Empties the buffer; `last` ends the gzip stream too. */
static void flush(sd_output *o, bool last)
{
    sd_gzip *g = o->gzip;
    if (!g) {
        write_bytes(o, o->buffer, o->used);
    } else {
        g->stream.next_in = (unsigned char *)o->buffer;
        g->stream.avail_in = (unsigned)o->used;
        do { /* deflate is done when it leaves room in its output */
            g->stream.next_out = g->packed;
            g->stream.avail_out = BUFFER_SIZE;
            deflate(&g->stream, last ? Z_FINISH : Z_NO_FLUSH);
            write_bytes(o, g->packed, BUFFER_SIZE - g->stream.avail_out);
        } while (g->stream.avail_out == 0 && o->status == SADDLE_OK);
    }
    o->used = 0;
}

char *sd_output_room(sd_output *o)
{
    if (o->used + SD_OUTPUT_ROOM > BUFFER_SIZE) flush(o, false);
    return o->buffer + o->used;
}

void sd_output_print(sd_output *o, const char *format, ...)
{
    char *room = sd_output_room(o);
    va_list args;
    va_start(args, format);
    const int length = vsnprintf(room, SD_OUTPUT_ROOM, format, args);
    va_end(args);
    sd_output_put(o, length < SD_OUTPUT_ROOM ? (size_t)length : SD_OUTPUT_ROOM - 1);
}

static void *gzip_allocate(void *context, unsigned count, unsigned size)
{
    return sd_alloc(context, count, size, "gzip compression");
}

static void gzip_release(void *context, void *memory)
{
    sd_free(context, memory);
}

static saddle_status gzip_start(sd_output *o)
{
    sd_gzip *g = sd_alloc(o->context, 1, sizeof *g, "gzip compression");
    if (!g) return o->context->status;
    memset(&g->stream, 0, sizeof g->stream);
    g->stream.zalloc = gzip_allocate;
    g->stream.zfree = gzip_release;
    g->stream.opaque = o->context;
    const int result = deflateInit2(&g->stream, 6, Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY);
    if (result == Z_OK) {
        o->gzip = g;
        return SADDLE_OK;
    }
    sd_free(o->context, g);
    if (result == Z_MEM_ERROR) return o->context->status;
    return sd_fail(o->context, SADDLE_FILE_WRITE, "%.300s: cannot be compressed: zlib failed with code %d",
                   o->name, result);
}

/* A new file next to the target. mkstemp would not do: it hides the file from others, and the
 * permissions that the user's mask leaves cannot be asked for without changing it. */
static int create_temporary(sd_output *o)
{
    for (int k = 0; k < MOST_TRIES; k++) {
        struct timespec now;
        clock_gettime(CLOCK_REALTIME, &now);
        const int length =
            snprintf(o->temporary, sizeof o->temporary, "%s.%ld.%06lx~", o->target, (long)getpid(),
                     ((unsigned long)now.tv_nsec + (unsigned long)k) & 0xffffff);
        if (length < 0 || (size_t)length >= sizeof o->temporary) {
            errno = ENAMETOOLONG;
            return -1;
        }
        const int file = open(o->temporary, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
        if (file >= 0 || errno != EEXIST) return file;
    }
    return -1;
}

/* Opens what is to be written to. An existing file keeps its permissions, a link stays a link. */
static void open_file(sd_output *o, const char *path)
{
    if (strcmp(path, "-") == 0) {
        o->file = STDOUT_FILENO;
        return;
    }
    struct stat about;
    const bool exists = stat(path, &about) == 0;
    o->close_file = true;
    if (exists && !S_ISREG(about.st_mode)) {
        o->file = open(path, O_WRONLY | O_CLOEXEC);
    } else if (strlen(path) >= sizeof o->target) {
        errno = ENAMETOOLONG;
    } else {
        if (!exists || !realpath(path, o->target)) snprintf(o->target, sizeof o->target, "%s", path);
        o->file = create_temporary(o);
        o->rename = o->file >= 0;
        if (o->rename && exists) (void)fchmod(o->file, about.st_mode & 07777);
    }
    if (o->file < 0) fail(o, errno);
}

saddle_status sd_output_open(sd_output *o, sd_context *c, const char *path)
{
    memset(o, 0, sizeof *o);
    o->context = c;
    o->name = strcmp(path, "-") == 0 ? "standard output" : path;
    o->file = -1;
    o->buffer = sd_alloc(c, BUFFER_SIZE, 1, "the write buffer");
    o->status = o->buffer ? SADDLE_OK : c->status;
    if (o->status == SADDLE_OK && sd_ends_with(path, ".gz")) o->status = gzip_start(o);
    if (o->status == SADDLE_OK) open_file(o, path);
    return o->status == SADDLE_OK ? SADDLE_OK : sd_output_close(o, o->status);
}

saddle_status sd_output_close(sd_output *o, saddle_status status)
{
    if (status != SADDLE_OK && o->status == SADDLE_OK) o->status = status;
    if (o->status == SADDLE_OK) flush(o, true);
    if (o->close_file && o->file >= 0 && close(o->file) != 0) fail(o, errno);
    if (o->rename && o->status == SADDLE_OK && rename(o->temporary, o->target) != 0) fail(o, errno);
    if (o->rename && o->status != SADDLE_OK) unlink(o->temporary);
    if (o->gzip) deflateEnd(&o->gzip->stream);
    sd_free_all(o->context, o->gzip, o->buffer);
    return o->status;
}
