/*
 * How far each thread of a parallel region has come in steps that all make in the same order: one says when
 * it has made a step, and waits for the others where it needs what they made. Unlike at a barrier, it can do
 * something else in between. They wait as waiters.h says.
 */
#pragma once

#include "core/waiters.h"

typedef struct sd_pace_thread {
    atomic_int made; /* steps */
    char apart[60];  /* from what other threads write */
} sd_pace_thread;

typedef struct sd_pace {
    int threads;
    sd_pace_thread *thread; /* the caller's, one for each */
    sd_waiters waiters;
} sd_pace;

/* The one that makes it frees it when none waits. */
void sd_pace_make(sd_pace *pace, int threads, sd_pace_thread *room);
void sd_pace_free(sd_pace *pace);

/* Thread t has made so many steps in all: what it has written is there for all that have waited for them. */
void sd_pace_made(sd_pace *pace, int t, int32_t steps);

/* Returns when all threads but t have made so many steps. */
void sd_pace_await(sd_pace *pace, int t, int32_t steps);
