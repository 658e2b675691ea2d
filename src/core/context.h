/*
 * The context of a call: the caller's hooks, the bytes in use, and the message of the last failure.
 *
 * Every public call has one on its stack (a solver keeps one), and everything below it takes it as
 * its first argument. So the rule for errors is the same everywhere: a function that fails has
 * written why into the context and returns a negative status; its caller cleans up once and passes the status
 * on.
 */
#pragma once

#include "saddle/saddle.h"

#include <stdbool.h>

typedef struct sd_context {
    saddle_hooks hooks;
    int64_t limit; /* most bytes in use at once, 0 for none */
    int64_t bytes, peak;
    int64_t total; /* all that was ever allocated, freed or not */
    char *nest;    /* what is left of the call's own memory: see sd_context_nest */
    size_t nest_bytes;
    int64_t elsewhere;    /* bytes of another context that count against the same limit */
    int threads;          /* that may be started; 0 is 1 */
    bool in_team;         /* they have been, and wait for tasks */
    saddle_status status; /* of the last failure */
    char message[SADDLE_MESSAGE_SIZE];
} sd_context;

/* hooks may be NULL, otherwise they are ours or have been taken. */
void sd_context_init(sd_context *c, const saddle_hooks *hooks, int64_t limit);

/* The same with a caller's hooks, of whatever version. c can be used whatever the status. */
saddle_status sd_context_open(sd_context *c, const saddle_hooks *hooks);

/*
 * Parts of a call that run at the same time, each with a context of its own, in one team: the caller's
 * allocator is used by one at a time, nothing is logged or told of progress. Begin makes one, end gives back
 * its bytes and, where *status is bad, its message. For calls without a memory limit: a part does not know
 * what the others use.
 */
typedef struct sd_parts sd_parts;
sd_parts *sd_parts_begin(sd_context *c, int count, sd_context *part);
saddle_status sd_parts_end(sd_context *c, sd_parts *parts, int count, const sd_context *part,
                           const saddle_status *status);

/* Gives a context memory of the caller's stack frame, or some that was kept from another call, which sd_alloc
 * uses as long as it lasts: for a small system malloc would cost as much as its arrays are used for, and
 * large blocks come as pages that are yet to be cleared. Nothing of it may outlive the call. A caller's own
 * allocator sees every allocation all the same. */
void sd_context_nest(sd_context *c, void *memory, size_t bytes);
bool sd_context_can_nest(const sd_context *c);

/* Writes the message and returns status, so that a failure is one line: return sd_fail(c, ...). */
saddle_status sd_fail(sd_context *c, saddle_status status, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* Hands the message over to the caller's buffer (which may be NULL) and returns status. */
saddle_status sd_tell(const sd_context *c, saddle_status status, char *message);

/* Takes over a struct of the caller's that begins with its size and may be of another version: into `ours`,
 * of `size` bytes, where what the caller's does not have is 0. `least` is the length of its first version;
 * `what` names it. SADDLE_BAD_ARGUMENT where its size is none, or where it has a member, not 0, that ours
 * lacks. */
saddle_status sd_take(sd_context *c, const void *from, size_t least, void *ours, size_t size,
                      const char *what);

/* Fills in a struct of the caller's that is `room` bytes long and may be of another version: what both
 * have is copied from ours, of `size` bytes, and what only a newer caller has is left alone. */
void sd_give(const void *ours, size_t size, void *to, size_t room);

/* What counts against the limit. */
static inline int64_t sd_bytes_in_use(const sd_context *c)
{
    return c->elsewhere + c->bytes;
}

/* count * size bytes, on a 64-byte boundary, not initialised (sd_alloc) or zero (sd_alloc_zero);
 * NULL on failure, with c->status (out of memory, or the limit) and the message written. A count of 0 gives
 * memory that can be freed. `what` says in the message what it was for. */
void *sd_alloc(sd_context *c, int64_t count, size_t size, const char *what);
void *sd_alloc_zero(sd_context *c, int64_t count, size_t size, const char *what);

/* Memory of any context with the same hooks; NULL does nothing. sd_free_all frees each of several. */
void sd_free(sd_context *c, void *memory);
void sd_free_list(sd_context *c, void *const *memory, size_t count);
#define sd_free_all(c, ...)                                                                                  \
    sd_free_list(c, (void *const[]){__VA_ARGS__}, sizeof((void *const[]){__VA_ARGS__}) / sizeof(void *))

/* Reports progress; SADDLE_CANCELLED, with the message, if the caller needs to stop. */
saddle_status sd_progress(sd_context *c, const char *stage, int64_t done, int64_t total, double residual);

void sd_log(sd_context *c, int level, const char *format, ...) __attribute__((format(printf, 3, 4)));

/* Seconds on a clock that only goes forward. */
double sd_seconds(void);

/* The number of threads that an option of `threads` means. */
int sd_thread_count(int64_t threads);

/* How many of `threads` may be started in this call: all, or 1 after a fork() that lost the team that this
 * thread had. sd_team_of_call logs it. */
int sd_team(int threads);
int sd_team_of_call(sd_context *c, int threads);
