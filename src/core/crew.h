/*
 * Threads that work together on one call: tasks, and pieces of a task.
 *
 * A task is run by one thread; the ready one of highest priority comes first. Inside a task work can be cut
 * into pieces, which threads without a task help with, before they take another task: a large front at the
 * top of a tree is what the others wait for. What is computed does not depend on who runs a piece or when.
 *
 * A thread that finds nothing to do spins a little and then sleeps (spin.h), whatever OMP_WAIT_POLICY says:
 * one that never spins costs a system call for every piece, one that never sleeps takes a core from whoever
 * has work for it. OpenMP only provides the threads.
 */
#pragma once

#include "core/context.h"

typedef struct sd_crew sd_crew;
typedef void sd_piece(void *what, int32_t piece);

/* With room for so many tasks that are ready at the same time. One run at a time; memory is kept between
 * runs. */
saddle_status sd_crew_make(sd_context *c, int64_t tasks, sd_crew **crew);
void sd_crew_free(sd_context *c, sd_crew *crew);

/* Runs first(what, 0), in the caller's thread, and all tasks that follow from it, with at most so many
 * threads. */
void sd_crew_run(sd_crew *crew, int threads, sd_piece *first, void *what);

/* Within a run: body(what, item) becomes a task. Of equal priorities the lower item comes first. */
void sd_crew_post(sd_crew *crew, double priority, sd_piece *body, void *what, int32_t item);

/* Within a task: body(what, 0 .. count - 1), by any threads; returns when all are done. In order where crew
 * is NULL. */
void sd_crew_each(sd_crew *crew, int32_t count, sd_piece *body, void *what);

/* The same in two halves: between them the task can do something else, which is more urgent and may be cut
 * into pieces too. What start returns is for join; `what` must last until then. */
typedef struct sd_pieces sd_pieces;
sd_pieces *sd_crew_start(sd_crew *crew, int32_t count, sd_piece *body, void *what);
void sd_crew_join(sd_crew *crew, sd_pieces *pieces);
