/* Private to the allocator (allocator.c, small_pool.c, large_pool.c, segments.c, statistics.c) and to thread.c.
 *
 * Memory comes from the system in segments: multiples of 2 MiB, aligned to 2 MiB, so that they live in huge pages.
 * Requests up to 64 KiB are served from slabs of equal objects through magazines that each thread owns (small_pool.c);
 * larger ones by blocks that split and coalesce inside segments (large_pool.c). One mutex guards everything but the
 * magazines; every function below that is marked "locked" expects it to be held.
 */
#ifndef OPWEAVE_ALLOCATOR_H
#define OPWEAVE_ALLOCATOR_H

#include <pthread.h>

#include "threads/thread.h"

#ifndef __has_feature
#define __has_feature(name) 0
#endif
#if defined(__SANITIZE_ADDRESS__) || __has_feature(address_sanitizer)
#include <sanitizer/asan_interface.h>
#define OW_POISON(p, n) __asan_poison_memory_region((p), (size_t)(n))
#define OW_UNPOISON(p, n) __asan_unpoison_memory_region((p), (size_t)(n))
#else
#define OW_POISON(p, n) ((void)(p), (void)(n))
#define OW_UNPOISON(p, n) ((void)(p), (void)(n))
#endif

#define OW_SEGMENT ((int64_t)2 << 20)
#define OW_SMALL_LIMIT ((int64_t)64 << 10)

extern pthread_mutex_t ow_memory_mutex;

/* ---- statistics (statistics.c); runtime/_base/memory.py mirrors these two lists ------------------------------- */

#define OW_STATISTICS(X)                                                        \
    X(allocation)           /* objects and blocks in use */                     \
    X(allocated_bytes)      /* their bytes, rounded up as the allocator does */ \
    X(segment)              /* mappings obtained from the system */             \
    X(reserved_bytes)       /* their bytes */                                   \
    X(inactive_split)       /* idle blocks of segments that are partly in use */ \
    X(inactive_split_bytes) /* their bytes */

#define OW_COUNTERS(X)                                                      \
    X(num_alloc_retries) /* mappings that succeeded only after emptying the cache */ \
    X(num_ooms)          /* requests that failed */                         \
    X(memory_cap)        /* idle bytes above this go back to the system */  \
    X(memory_limit)      /* bytes this process may have: RAM and swap, or its control group's limit */

#define OW_DEFINE_STATISTIC(name) OW_STAT_##name,
#define OW_DEFINE_COUNTER(name) OW_COUNT_##name,
enum { OW_STATISTICS(OW_DEFINE_STATISTIC) OW_NSTATISTICS };
enum { OW_COUNTERS(OW_DEFINE_COUNTER) OW_NCOUNTERS };
enum { OW_POOL_ALL, OW_POOL_SMALL, OW_POOL_LARGE, OW_NPOOLS };

/* allocated and freed are sums over the life of the process. */
typedef struct ow_statistic {
    int64_t current, peak, allocated, freed;
} ow_statistic;

extern ow_statistic ow_statistics[OW_NSTATISTICS][OW_NPOOLS];
extern int64_t ow_counters[OW_NCOUNTERS];

void ow_statistic_add(int which, int pool, int64_t amount); /* locked; for the pool and for all */
void ow_statistics_flush(ow_thread *t);                     /* locked; what the thread counted by itself */
void ow_statistics_read(int64_t *out, int32_t n);
void ow_statistics_reset_peak(void);

/* ---- segments (segments.c) ------------------------------------------------------------------------------ */

void *ow_segment_map(int64_t nbytes, int pool); /* locked; a multiple of OW_SEGMENT; NULL: the system has none */
void ow_segment_unmap(void *segment, int64_t nbytes, int pool); /* locked */
int64_t ow_memory_limit(void);

/* ---- pools ---------------------------------------------------------------------------------------------- */

void *ow_small_refill(ow_thread *t, int class);               /* one object, and a batch into the magazine */
void ow_small_drain(ow_thread *t, int class, int32_t keep);   /* gives back all but `keep` objects */
void *ow_small_take(int class);                               /* without a magazine */
void ow_small_return(void *object, int class);                /* without a magazine */
void ow_small_release(int all);                               /* locked; unmap idle segments, unless under the cap */
int32_t ow_small_capacity(int class);                         /* of a magazine */

void *ow_large_alloc(int64_t nbytes);                         /* NULL: none */
void ow_large_free(void *p);
void ow_large_release(int all);                               /* locked; as ow_small_release */

int ow_over_cap(void);      /* 1 if there is more idle memory than the cap allows; called with the lock */
void ow_release_idle(void); /* locked; everything that no one uses, but for the other threads' magazines */
void ow_memory_empty_cache(void);
void ow_memory_set_cap(int64_t nbytes);

/* ---- size classes: 8 steps of 64 bytes, then 4 per doubling ---------------------------------------------- */

static inline int ow_class_of(int64_t nbytes) {
    uint64_t units = (uint64_t)(nbytes ? nbytes - 1 : 0) >> 6; /* of 64 bytes, less one */
    if (units < 8) return (int)units;
    int log2 = 63 - __builtin_clzll(units);
    return 8 + (log2 - 3) * 4 + (int)(units >> (log2 - 2)) - 4;
}

static inline int64_t ow_class_size(int class) {
    if (class < 8) return (int64_t)(class + 1) << 6;
    return (int64_t)(5 + (class & 3)) << (((class - 8) >> 2) + 7);
}

#endif
