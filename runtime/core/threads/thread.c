/* Creation of a thread's state, and its end: the magazines go back to the central lists. */
#include <pthread.h>
#include <stdlib.h>

#include "memory/allocator.h"

__thread ow_thread *ow_self;
__thread uint32_t ow_excluded_keys, ow_included_keys;
__thread ow_device ow_place, ow_default_device;
ow_thread *ow_threads;

static pthread_key_t thread_key;
static pthread_once_t thread_once = PTHREAD_ONCE_INIT;
static int have_key;

/* Runs when a thread ends. A later destructor that allocates makes a new state, for which this runs again. */
static void thread_end(void *pointer) {
    ow_thread *t = pointer;
    for (int c = 0; c < OW_CLASSES; c++) ow_small_drain(t, c, 0);
    pthread_mutex_lock(&ow_memory_mutex);
    ow_statistics_flush(t);
    if (t->previous) t->previous->next = t->next;
    else ow_threads = t->next;
    if (t->next) t->next->previous = t->previous;
    pthread_mutex_unlock(&ow_memory_mutex);
    ow_self = NULL;
    free(t);
}

static void make_key(void) { have_key = pthread_key_create(&thread_key, thread_end) == 0; }

ow_thread *ow_thread_create(void) {
    pthread_once(&thread_once, make_key);
    ow_thread *t = have_key ? calloc(1, sizeof *t) : NULL;
    if (!t) return NULL;
    for (int c = 0; c < OW_CLASSES; c++) t->magazines[c].capacity = ow_small_capacity(c);
    if (pthread_setspecific(thread_key, t) != 0) {
        free(t);
        return NULL;
    }
    pthread_mutex_lock(&ow_memory_mutex);
    t->next = ow_threads;
    if (ow_threads) ow_threads->previous = t;
    ow_threads = t;
    pthread_mutex_unlock(&ow_memory_mutex);
    return ow_self = t;
}
