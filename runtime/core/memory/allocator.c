/* The allocator's front: where requests go, what is kept, what fails, what happens around fork. */
#include "allocator.h"

#include <stdio.h>

#include "isa/environment.h"

pthread_mutex_t ow_memory_mutex = PTHREAD_MUTEX_INITIALIZER;

static inline int64_t relaxed(_Atomic int64_t *counter) {
    return atomic_load_explicit(counter, memory_order_relaxed);
}

static inline void count(_Atomic int64_t *counter, int64_t amount) { /* only the owner writes: no locked instruction */
    atomic_store_explicit(counter, relaxed(counter) + amount, memory_order_relaxed);
}

static void print_bytes(char *text, size_t capacity, int64_t nbytes) {
    static const char *const units[] = {"B", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB"};
    double value = (double)nbytes;
    int unit = 0;
    for (; value >= 1024 && unit < 6; unit++) value /= 1024;
    snprintf(text, capacity, unit && value < 100 ? "%.2f %s" : "%.0f %s", value, units[unit]);
}

__attribute__((cold)) static void *out_of_memory(int64_t nbytes) {
    char asked[32], used[32], cached[32], limit[32];
    pthread_mutex_lock(&ow_memory_mutex);
    int64_t allocated = ow_statistics[OW_STAT_allocated_bytes][OW_POOL_ALL].current;
    int64_t reserved = ow_statistics[OW_STAT_reserved_bytes][OW_POOL_ALL].current;
    pthread_mutex_unlock(&ow_memory_mutex);
    print_bytes(asked, sizeof asked, nbytes);
    print_bytes(used, sizeof used, allocated);
    print_bytes(cached, sizeof cached, reserved > allocated ? reserved - allocated : 0);
    print_bytes(limit, sizeof limit, ow_memory_limit());
    return ow_fail(OW_OUT_OF_MEMORY,
                   "out of memory: you tried to allocate %lld bytes (%s), and the system granted no more; tensors hold "
                   "%s, the cache %s, and this process may use %s. Delete tensors that are no longer needed, use a "
                   "smaller dtype, or work in pieces.",
                   (long long)nbytes, asked, used, cached, limit);
}

__attribute__((noinline)) static void *small_slow(int64_t nbytes, int class) {
    ow_thread *t = ow_thread_get();
    void *p = t ? ow_small_refill(t, class) : ow_small_take(class);
    return p ? p : out_of_memory(nbytes);
}

void *ow_alloc(int64_t nbytes) {
    if (__builtin_expect((uint64_t)nbytes > (uint64_t)OW_SMALL_LIMIT, 0)) {
        if (nbytes < 0) return ow_fail(OW_RUNTIME_ERROR, "cannot allocate %lld bytes", (long long)nbytes);
        void *p = ow_large_alloc(nbytes);
        return p ? p : out_of_memory(nbytes);
    }
    int class = ow_class_of(nbytes);
    ow_thread *t = ow_self;
    void *p = t ? t->magazines[class].head : NULL;
    if (__builtin_expect(p != NULL, 1)) {
        t->magazines[class].head = *(void **)p;
        t->magazines[class].count--;
    } else {
        p = small_slow(nbytes, class);
        t = ow_self;
        if (!p) return NULL;
    }
    OW_UNPOISON(p, nbytes);
    if (__builtin_expect(!t, 0)) return p; /* ow_small_take has counted it */
    count(&t->taken, 1);
    count(&t->taken_bytes, ow_class_size(class));
    int64_t live = relaxed(&t->taken_bytes) - relaxed(&t->returned_bytes);
    if (live > t->high_bytes) t->high_bytes = live;
    return p;
}

void ow_dealloc(void *p, int64_t nbytes) {
    if (!p) return;
    if (__builtin_expect(nbytes > OW_SMALL_LIMIT, 0)) {
        ow_large_free(p);
        return;
    }
    int class = ow_class_of(nbytes);
    OW_POISON(p, ow_class_size(class));
    OW_UNPOISON(p, sizeof(void *)); /* the link */
    ow_thread *t = ow_thread_get();
    if (__builtin_expect(!t, 0)) {
        ow_small_return(p, class);
        return;
    }
    ow_magazine *m = &t->magazines[class];
    *(void **)p = m->head;
    m->head = p;
    count(&t->returned, 1);
    count(&t->returned_bytes, ow_class_size(class));
    if (__builtin_expect(++m->count > m->capacity, 0)) ow_small_drain(t, class, m->capacity / 2);
}

int ow_over_cap(void) {
    return ow_statistics[OW_STAT_reserved_bytes][OW_POOL_ALL].current -
               ow_statistics[OW_STAT_allocated_bytes][OW_POOL_ALL].current >
           ow_counters[OW_COUNT_memory_cap];
}

void ow_release_idle(void) {
    ow_large_release(1);
    ow_small_release(1);
}

static void drain_own_magazines(void) {
    for (int c = 0; ow_self && c < OW_CLASSES; c++) ow_small_drain(ow_self, c, 0);
}

void ow_memory_empty_cache(void) {
    drain_own_magazines();
    pthread_mutex_lock(&ow_memory_mutex);
    ow_release_idle();
    pthread_mutex_unlock(&ow_memory_mutex);
}

void ow_memory_set_cap(int64_t nbytes) {
    drain_own_magazines();
    pthread_mutex_lock(&ow_memory_mutex);
    ow_counters[OW_COUNT_memory_cap] = nbytes < 0 ? 0 : nbytes;
    ow_large_release(0);
    ow_small_release(0);
    pthread_mutex_unlock(&ow_memory_mutex);
}

/* A child of fork has one thread: with the lock held across the fork, no other one can have been inside. What idles in
 * the magazines of the threads that are gone stays unused. */
static void before_fork(void) { pthread_mutex_lock(&ow_memory_mutex); }
static void after_fork(void) { pthread_mutex_unlock(&ow_memory_mutex); }

/* By default a quarter of the memory may idle: enough for the temporaries of a step to be reused by the next one, and
 * little enough that a program which has finished its large work leaves most of the machine to others. */
__attribute__((constructor)) static void start(void) {
    ow_counters[OW_COUNT_memory_limit] = ow_memory_limit();
    ow_counters[OW_COUNT_memory_cap] = ow_environment_bytes("OPWEAVE_MEMORY_CAP", ow_memory_limit() / 4);
    pthread_atfork(before_fork, after_fork, after_fork);
}
