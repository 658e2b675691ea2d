/* The context of a call: hooks, bytes in use, messages, progress. See context.h. */
#include "core/context.h"

#include "core/available.h"

#include <math.h>
#include <omp.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum {
    ALIGNMENT = 64,
    THREADS_MOST = 4096, /* the OpenMP runtime ends the program when it cannot start its threads */
    STRUCT_MOST = 65536, /* bytes: a caller's struct that says more of itself was not initialised */
    MUCH = 64 << 20      /* bytes: their pages cost far more than to ask whether the machine has them */
};

/* Stands right before what sd_alloc returns, so that it can be freed without being told its size. */
typedef struct memory_header {
    void *raw; /* NULL: it is in a nest */
    int64_t bytes;
} memory_header;

static void *default_allocate(size_t bytes, void *user)
{
    (void)user;
    return malloc(bytes);
}

static void default_release(void *memory, void *user)
{
    (void)user;
    free(memory);
}

void sd_context_init(sd_context *c, const saddle_hooks *hooks, int64_t limit)
{
    memset(c, 0, sizeof *c);
    if (hooks) c->hooks = *hooks;
    if (!c->hooks.allocate) { /* nor a release: sd_context_open refuses one without the other */
        c->hooks.allocate = default_allocate;
        c->hooks.release = default_release;
    }
    c->limit = limit;
}

saddle_status sd_context_open(sd_context *c, const saddle_hooks *hooks)
{
    const size_t least = offsetof(saddle_hooks, user) + sizeof hooks->user;
    saddle_hooks known;
    sd_context_init(c, NULL, 0);
    if (!hooks) return SADDLE_OK;
    const saddle_status status = sd_take(c, hooks, least, &known, sizeof known, "saddle_hooks");
    if (status) return status;
    if (!known.allocate != !known.release)
        return sd_fail(c, SADDLE_BAD_ARGUMENT,
                       "the hooks have %s but no %s: set both, or neither for malloc and free",
                       known.allocate ? "allocate" : "release", known.allocate ? "release" : "allocate");
    sd_context_init(c, &known, 0);
    return SADDLE_OK;
}

struct sd_parts {
    saddle_hooks hooks;
    pthread_mutex_t lock;
};

static void *allocate_alone(size_t bytes, void *user)
{
    sd_parts *parts = user;
    pthread_mutex_lock(&parts->lock);
    void *memory = parts->hooks.allocate(bytes, parts->hooks.user);
    pthread_mutex_unlock(&parts->lock);
    return memory;
}

static void release_alone(void *memory, void *user)
{
    sd_parts *parts = user;
    pthread_mutex_lock(&parts->lock);
    parts->hooks.release(memory, parts->hooks.user);
    pthread_mutex_unlock(&parts->lock);
}

sd_parts *sd_parts_begin(sd_context *c, int count, sd_context *part)
{
    sd_parts *parts = sd_alloc(c, 1, sizeof *parts, "parts of a call");
    if (!parts) return NULL;
    parts->hooks = c->hooks;
    pthread_mutex_init(&parts->lock, NULL);
    const saddle_hooks alone = {
        .size = sizeof alone, .allocate = allocate_alone, .release = release_alone, .user = parts};
    for (int k = 0; k < count; ++k) {
        sd_context_init(&part[k], &alone, 0);
        part[k].threads = c->threads;
        part[k].in_team = true;
    }
    return parts;
}

saddle_status sd_parts_end(sd_context *c, sd_parts *parts, int count, const sd_context *part,
                           const saddle_status *status)
{
    saddle_status first = SADDLE_OK;
    int64_t peak = c->bytes;
    for (int k = 0; k < count; ++k) peak += part[k].peak;
    if (peak > c->peak) c->peak = peak;
    for (int k = count - 1; k >= 0; --k) {
        c->bytes += part[k].bytes;
        if (status[k]) first = sd_fail(c, status[k], "%s", part[k].message);
    }
    pthread_mutex_destroy(&parts->lock);
    sd_free(c, parts);
    return first;
}

bool sd_context_can_nest(const sd_context *c)
{
    return c->hooks.allocate == default_allocate;
}

void sd_context_nest(sd_context *c, void *memory, size_t bytes)
{
    if (!sd_context_can_nest(c)) return;
    c->nest = memory;
    c->nest_bytes = bytes;
}

saddle_status sd_fail(sd_context *c, saddle_status status, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    vsnprintf(c->message, sizeof c->message, format, args);
    va_end(args);
    c->status = status;
    return status;
}

saddle_status sd_tell(const sd_context *c, saddle_status status, char *message)
{
    if (message) memcpy(message, c->message, sizeof c->message);
    return status;
}

saddle_status sd_take(sd_context *c, const void *from, size_t least, void *ours, size_t size,
                      const char *what)
{
    size_t given;
    memcpy(&given, from, sizeof given);
    if (given < least || given > STRUCT_MOST) {
        return sd_fail(c, SADDLE_BAD_ARGUMENT, "a %s has size %zu: it must be sizeof(%s), which is %zu", what,
                       given, what, size);
    }
    for (const char *p = from; given > size; --given) {
        if (p[given - 1]) {
            return sd_fail(c, SADDLE_BAD_ARGUMENT,
                           "a %s has a member that this version of Saddle, %s, does not know", what,
                           saddle_version());
        }
    }
    memset(ours, 0, size);
    memcpy(ours, from, given);
    memcpy(ours, &size, sizeof size);
    return SADDLE_OK;
}

void sd_give(const void *ours, size_t size, void *to, size_t room)
{
    memcpy(to, ours, size < room ? size : room);
}

/* Memory for `bytes`, header and all, with a place for it on a boundary; NULL: there is none. */
static char *find_memory(sd_context *c, size_t bytes, void **raw)
{
    char *from = c->nest;
    *raw = NULL;
    if (bytes <= c->nest_bytes) {
        c->nest += bytes;
        c->nest_bytes -= bytes;
    } else {
        from = *raw = c->hooks.allocate(bytes, c->hooks.user);
    }
    if (!from) return NULL;
    char *memory = from + sizeof(memory_header);
    return memory + (ALIGNMENT - (uintptr_t)memory % ALIGNMENT);
}

/* Whether the machine has them, where the memory is malloc's, which would promise them all the same. Asked
 * whenever another so many bytes come into use. */
static bool is_available(sd_context *c, size_t bytes, const char *what)
{
    const int64_t wanted = (int64_t)bytes;
    if ((c->bytes + wanted) / MUCH == c->bytes / MUCH || c->hooks.allocate != default_allocate) return true;
    const int64_t left = sd_memory_available();
    if (left < 0 || wanted + MUCH <= left) return true;
    sd_fail(
        c, SADDLE_OUT_OF_MEMORY,
        "out of memory: cannot allocate %lld bytes for %s, with %lld bytes in use: the machine has %lld left",
        (long long)wanted, what, (long long)c->bytes, (long long)left);
    return false;
}

void *sd_alloc(sd_context *c, int64_t count, size_t size, const char *what)
{
    const size_t overhead = sizeof(memory_header) + ALIGNMENT;
    if (count < 0 || (uint64_t)count > ((size_t)INT64_MAX / 2 - overhead) / size) {
        sd_fail(c, SADDLE_OUT_OF_MEMORY, "out of memory: %s of %lld items cannot be addressed", what,
                (long long)count);
        return NULL;
    }
    const size_t bytes = (size_t)count * size + overhead;
    const int64_t used = sd_bytes_in_use(c);
    if (c->limit > 0 && used + (int64_t)bytes > c->limit) {
        sd_fail(c, SADDLE_MEMORY_LIMIT,
                "memory limit: %s needs %lld bytes in addition to %lld in use: raise max_memory by at least "
                "%lld",
                what, (long long)bytes, (long long)used, (long long)(used + (int64_t)bytes - c->limit));
        return NULL;
    }
    if (!is_available(c, bytes, what)) return NULL;
    void *raw;
    char *memory = find_memory(c, bytes, &raw);
    if (!memory) {
        sd_fail(c, SADDLE_OUT_OF_MEMORY,
                "out of memory: cannot allocate %lld bytes for %s, with %lld bytes in use", (long long)bytes,
                what, (long long)c->bytes);
        return NULL;
    }
    const memory_header header = {raw, (int64_t)bytes};
    memcpy(memory - sizeof header, &header, sizeof header);
    c->bytes += (int64_t)bytes;
    c->total += (int64_t)bytes;
    if (c->bytes > c->peak) c->peak = c->bytes;
    return memory;
}

void *sd_alloc_zero(sd_context *c, int64_t count, size_t size, const char *what)
{
    void *memory = sd_alloc(c, count, size, what);
    if (memory) memset(memory, 0, (size_t)count * size);
    return memory;
}

void sd_free(sd_context *c, void *memory)
{
    if (!memory) return;
    memory_header header;
    memcpy(&header, (char *)memory - sizeof header, sizeof header);
    c->bytes -= header.bytes;
    if (header.raw) c->hooks.release(header.raw, c->hooks.user);
}

void sd_free_list(sd_context *c, void *const *memory, size_t count)
{
    for (size_t k = 0; k < count; ++k) sd_free(c, memory[k]);
}

saddle_status sd_progress(sd_context *c, const char *stage, int64_t done, int64_t total, double residual)
{
    if (!c->hooks.progress) return SADDLE_OK;
    const saddle_progress progress = {stage, done, total, residual};
    if (c->hooks.progress(&progress, c->hooks.user) == 0) return SADDLE_OK;
    return sd_fail(c, SADDLE_CANCELLED, "cancelled in stage %s at %lld", stage, (long long)done);
}

void sd_log(sd_context *c, int level, const char *format, ...)
{
    if (!c->hooks.log) return;
    char line[SADDLE_MESSAGE_SIZE];
    va_list args;
    va_start(args, format);
    vsnprintf(line, sizeof line, format, args);
    va_end(args);
    c->hooks.log(level, line, c->hooks.user);
}

double sd_seconds(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

int sd_thread_count(int64_t threads)
{
    if (threads > 0) return threads < THREADS_MOST ? (int)threads : THREADS_MOST;
    const char *set = getenv("OMP_NUM_THREADS");
    const long wanted = set ? strtol(set, NULL, 10) : 0;
    return wanted > 0 && wanted <= THREADS_MOST ? (int)wanted : omp_get_num_procs();
}

/* The process in which this thread first asked for a team. A child of fork() has one thread, which inherits
 * this; OpenMP's own record of the team is inherited too, but its threads are not, and it would wait for them
 * without end. Threads that the child starts itself ask for the first time. */
static _Thread_local pid_t team_owner;

int sd_team(int threads)
{
    if (threads <= 1) return threads;
    const pid_t here = getpid();
    if (team_owner == 0) team_owner = here;
    return team_owner == here ? threads : 1;
}

int sd_team_of_call(sd_context *c, int threads)
{
    const int team = sd_team(threads);
    if (team < threads)
        sd_log(c, SADDLE_LOG_WARNING,
               "this process is a fork of one that used threads, which it does not have: running with 1 of "
               "%d threads",
               threads);
    return team;
}
