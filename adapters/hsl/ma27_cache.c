/* A list under one lock. What takes long, freeing a solver, is done outside of it. */
#include "adapters/hsl/ma27_cache.h"

#include <pthread.h>
#include <stdlib.h>

static struct {
    pthread_mutex_t lock;
    hsl_kept *first;
    uint64_t numbers, calls;
} cache = {.lock = PTHREAD_MUTEX_INITIALIZER};

uint64_t hsl_number(void)
{
    pthread_mutex_lock(&cache.lock);
    const uint64_t number = ++cache.numbers;
    pthread_mutex_unlock(&cache.lock);
    return number * UINT64_C(0x9e3779b97f4a7c15); /* spread: garbage in an array is no number of ours */
}

void hsl_keep_free(hsl_kept *kept)
{
    while (kept) {
        hsl_kept *const next = kept->next;
        hsl_engine_free(kept->engine);
        hsl_pattern_free(&kept->pattern);
        free(kept->values);
        free(kept);
        kept = next;
    }
}

/* With the lock held. */
static hsl_kept *find(uint64_t number)
{
    for (hsl_kept *k = cache.first; k; k = k->next)
        if (k->number == number) return k;
    return NULL;
}

hsl_kept *hsl_keep_take(uint64_t number)
{
    pthread_mutex_lock(&cache.lock);
    hsl_kept *kept = find(number);
    if (kept && kept->users != 0) kept = NULL;
    if (kept) kept->users = -1;
    pthread_mutex_unlock(&cache.lock);
    return kept;
}

hsl_kept *hsl_keep_share(uint64_t number, uint64_t factors)
{
    pthread_mutex_lock(&cache.lock);
    hsl_kept *kept = find(number);
    if (kept && (kept->users < 0 || kept->factors != factors)) kept = NULL;
    if (kept) ++kept->users;
    pthread_mutex_unlock(&cache.lock);
    return kept;
}

hsl_kept *hsl_keep_new(uint64_t number)
{
    hsl_kept *const kept = calloc(1, sizeof *kept);
    if (!kept) return NULL;
    kept->number = number;
    kept->users = -1;
    return kept;
}

/* Takes out of the list, with the lock held. */
static hsl_kept *take_out(hsl_kept **link)
{
    hsl_kept *const kept = *link;
    *link = kept->next;
    kept->next = NULL;
    return kept;
}

/* The oldest solver that nobody uses, if there are too many; with the lock held. */
static hsl_kept *take_oldest(void)
{
    int idle = 0;
    hsl_kept **oldest = NULL;
    for (hsl_kept **link = &cache.first; *link; link = &(*link)->next) {
        if ((*link)->users != 0) continue;
        ++idle;
        if (!oldest || (*link)->used < (*oldest)->used) oldest = link;
    }
    return idle > HSL_KEPT ? take_out(oldest) : NULL;
}

/* A newcomer that another of the same number has come before is not kept. */
void hsl_keep_give_back(hsl_kept *kept)
{
    hsl_kept *surplus = NULL;
    if (!kept) return;
    pthread_mutex_lock(&cache.lock);
    hsl_kept *const listed = find(kept->number);
    if (!listed) {
        kept->next = cache.first;
        cache.first = kept;
    }
    if (listed && listed != kept) {
        surplus = kept;
    } else {
        kept->users = kept->users > 0 ? kept->users - 1 : 0;
        kept->used = ++cache.calls;
        surplus = take_oldest();
    }
    pthread_mutex_unlock(&cache.lock);
    hsl_keep_free(surplus);
}

void hsl_keep_overwrite(const void *array)
{
    hsl_kept *lost = NULL;
    pthread_mutex_lock(&cache.lock);
    for (hsl_kept **link = &cache.first; *link;) {
        if ((*link)->array == array && (*link)->users == 0) {
            hsl_kept *const kept = take_out(link);
            kept->next = lost;
            lost = kept;
        } else {
            link = &(*link)->next;
        }
    }
    pthread_mutex_unlock(&cache.lock);
    hsl_keep_free(lost);
}

int hsl_keep_count(void)
{
    int count = 0;
    pthread_mutex_lock(&cache.lock);
    for (const hsl_kept *k = cache.first; k; k = k->next) ++count;
    pthread_mutex_unlock(&cache.lock);
    return count;
}

/* When the library is unloaded. */
__attribute__((destructor)) static void free_all(void)
{
    hsl_keep_free(cache.first);
    cache.first = NULL;
}
