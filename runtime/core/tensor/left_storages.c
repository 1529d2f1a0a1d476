/* Storages that tensors leave for other memory while loops run without the interpreter's lock.
 *
 * A loop goes through addresses, and holds no references. Python code of other threads, or of a signal's handler, may give
 * a tensor other memory meanwhile (`x.data = y`, resize_): what it had is freed when no loop runs any more. */
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

#include "tensor.h"

static _Atomic int loops;

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static ow_storage **waiting;
static int64_t count, room;

int ow_loops_run(void) { return atomic_load(&loops) != 0; }

void ow_loop_begins(void) { atomic_fetch_add(&loops, 1); }

/* One of those that wait; NULL: there is none. */
static ow_storage *take(void) {
    pthread_mutex_lock(&mutex);
    ow_storage *s = count ? waiting[--count] : NULL;
    pthread_mutex_unlock(&mutex);
    return s;
}

void ow_loop_ends(void) {
    if (atomic_fetch_sub(&loops, 1) != 1 || !__atomic_load_n(&count, __ATOMIC_RELAXED)) return;
    for (ow_storage *s; (s = take());) ow_storage_free(s);
}

int ow_await_loops(ow_storage *s) {
    if (!ow_loops_run()) return 0;
    pthread_mutex_lock(&mutex);
    if (count == room) {
        int64_t more = 2 * room + 16;
        ow_storage **larger = realloc(waiting, (size_t)more * sizeof *larger);
        if (larger) {
            waiting = larger;
            room = more;
        }
    }
    if (count < room) waiting[count++] = s; /* else it is never freed, which is better than too early */
    pthread_mutex_unlock(&mutex);
    return 1;
}
