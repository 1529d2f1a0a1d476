/* The allocator's statistics: read by _base/memory.py in the order of the lists in allocator.h. */
#include "allocator.h"

ow_statistic ow_statistics[OW_NSTATISTICS][OW_NPOOLS];
int64_t ow_counters[OW_NCOUNTERS];

static void add(ow_statistic *s, int64_t allocated, int64_t freed, int64_t high) {
    if (s->current + high > s->peak) s->peak = s->current + high;
    s->current += allocated - freed;
    if (s->current > s->peak) s->peak = s->current;
    s->allocated += allocated;
    s->freed += freed;
}

void ow_statistic_add(int which, int pool, int64_t amount) {
    int64_t allocated = amount > 0 ? amount : 0, freed = amount < 0 ? -amount : 0;
    add(&ow_statistics[which][pool], allocated, freed, 0);
    add(&ow_statistics[which][OW_POOL_ALL], allocated, freed, 0);
}

/* A thread counts its small objects itself and reports when it comes here anyway. The peak of bytes is exact for one
 * thread; when several allocate at once, each one's excursions count from its last report. */
void ow_statistics_flush(ow_thread *t) {
    static const int pools[] = {OW_POOL_SMALL, OW_POOL_ALL};
    int64_t taken = atomic_load_explicit(&t->taken, memory_order_relaxed);
    int64_t returned = atomic_load_explicit(&t->returned, memory_order_relaxed);
    int64_t taken_bytes = atomic_load_explicit(&t->taken_bytes, memory_order_relaxed);
    int64_t returned_bytes = atomic_load_explicit(&t->returned_bytes, memory_order_relaxed);
    for (int k = 0; k < 2; k++) {
        add(&ow_statistics[OW_STAT_allocation][pools[k]], taken, returned, 0);
        add(&ow_statistics[OW_STAT_allocated_bytes][pools[k]], taken_bytes, returned_bytes, t->high_bytes);
    }
    atomic_store_explicit(&t->taken, 0, memory_order_relaxed);
    atomic_store_explicit(&t->returned, 0, memory_order_relaxed);
    atomic_store_explicit(&t->taken_bytes, 0, memory_order_relaxed);
    atomic_store_explicit(&t->returned_bytes, 0, memory_order_relaxed);
    t->high_bytes = 0;
}

/* What the other threads have not reported yet, so that current values are true at the time of the call. */
static void add_unreported(ow_statistic *allocation, ow_statistic *bytes) {
    for (const ow_thread *t = ow_threads; t; t = t->next) {
        add(allocation, atomic_load_explicit(&t->taken, memory_order_relaxed),
            atomic_load_explicit(&t->returned, memory_order_relaxed), 0);
        add(bytes, atomic_load_explicit(&t->taken_bytes, memory_order_relaxed),
            atomic_load_explicit(&t->returned_bytes, memory_order_relaxed), 0);
    }
}

void ow_statistics_read(int64_t *out, int32_t n) {
    ow_statistic copy[OW_NSTATISTICS][OW_NPOOLS];
    int64_t counters[OW_NCOUNTERS];
    ow_thread *self = ow_thread_get();
    pthread_mutex_lock(&ow_memory_mutex);
    if (self) ow_statistics_flush(self);
    memcpy(copy, ow_statistics, sizeof copy);
    memcpy(counters, ow_counters, sizeof counters);
    for (int pool = OW_POOL_ALL; pool <= OW_POOL_SMALL; pool++)
        add_unreported(&copy[OW_STAT_allocation][pool], &copy[OW_STAT_allocated_bytes][pool]);
    pthread_mutex_unlock(&ow_memory_mutex);

    int32_t k = 0;
    for (int which = 0; which < OW_NSTATISTICS; which++)
        for (int pool = 0; pool < OW_NPOOLS; pool++) {
            const ow_statistic *s = &copy[which][pool];
            const int64_t values[] = {s->current, s->peak, s->allocated, s->freed};
            for (int v = 0; v < 4 && k < n; v++) out[k++] = values[v];
        }
    for (int c = 0; c < OW_NCOUNTERS && k < n; c++) out[k++] = counters[c];
}

void ow_statistics_reset_peak(void) {
    ow_thread *self = ow_thread_get();
    pthread_mutex_lock(&ow_memory_mutex);
    if (self) ow_statistics_flush(self);
    for (int which = 0; which < OW_NSTATISTICS; which++)
        for (int pool = 0; pool < OW_NPOOLS; pool++)
            ow_statistics[which][pool].peak = ow_statistics[which][pool].current;
    pthread_mutex_unlock(&ow_memory_mutex);
}
