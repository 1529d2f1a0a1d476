/* The small pool: requests up to 64 KiB.
 *
 * A segment holds eight slabs, a slab objects of one size class. Objects have no header: a free knows the size it was
 * asked for, and the slab follows from the address. Each thread keeps a magazine per class and exchanges batches with
 * the slabs, so most calls take no lock and touch nothing but the object itself.
 */
#include "allocator.h"

enum { SLABS = 8, SLAB_BYTES = OW_SEGMENT / SLABS, HEADER_BYTES = 1024 };

typedef struct slab {
    struct slab *previous, *next; /* in its class's list of slabs with a free object */
    void *free;                   /* returned objects */
    char *fresh, *end;            /* objects never used yet */
    int32_t used, class;
} slab;

typedef struct segment {
    struct segment *previous, *next; /* all segments */
    uint32_t idle;                   /* bit set of slabs without an object */
    slab slabs[SLABS];
} segment;

_Static_assert(sizeof(segment) <= HEADER_BYTES, "a segment's header must fit before its first slab");

static segment *segments;
static slab *partial[OW_CLASSES];

static segment *segment_of(const void *p) { return (segment *)((uintptr_t)p & ~(uintptr_t)(OW_SEGMENT - 1)); }

int32_t ow_small_capacity(int class) {
    int64_t objects = (32 << 10) / ow_class_size(class); /* half of the L1 cache, at most 128 and at least 4 objects */
    return (int32_t)(objects > 128 ? 128 : objects < 4 ? 4 : objects);
}

static void link_slab(slab *s) {
    s->previous = NULL;
    s->next = partial[s->class];
    if (s->next) s->next->previous = s;
    partial[s->class] = s;
}

static void unlink_slab(slab *s) {
    if (s->previous) s->previous->next = s->next;
    else partial[s->class] = s->next;
    if (s->next) s->next->previous = s->previous;
}

static int is_full(const slab *s) { return !s->free && s->fresh + ow_class_size(s->class) > s->end; }

static segment *new_segment(void) {
    segment *g = ow_segment_map(OW_SEGMENT, OW_POOL_SMALL);
    if (!g) return NULL;
    g->idle = (1u << SLABS) - 1;
    g->previous = NULL;
    g->next = segments;
    if (segments) segments->previous = g;
    return segments = g;
}

static slab *new_slab(int class) {
    segment *g = segments;
    while (g && !g->idle) g = g->next;
    if (!g) g = new_segment();
    if (!g) return NULL;
    int index = __builtin_ctz(g->idle);
    g->idle &= g->idle - 1;
    slab *s = &g->slabs[index];
    s->fresh = (char *)g + index * (int64_t)SLAB_BYTES + (index == 0 ? HEADER_BYTES : 0);
    s->end = (char *)g + (index + 1) * (int64_t)SLAB_BYTES;
    OW_POISON(s->fresh, s->end - s->fresh);
    s->free = NULL;
    s->used = 0;
    s->class = class;
    link_slab(s);
    return s;
}

static void *take_locked(int class) {
    slab *s = partial[class];
    if (!s && !(s = new_slab(class))) return NULL;
    void *object = s->free;
    if (object) s->free = *(void **)object;
    else {
        object = s->fresh;
        s->fresh += ow_class_size(class);
        OW_UNPOISON(object, sizeof(void *)); /* the link */
    }
    s->used++;
    if (is_full(s)) unlink_slab(s);
    return object;
}

static void return_locked(void *object) {
    segment *g = segment_of(object);
    int index = (int)(((char *)object - (char *)g) / SLAB_BYTES);
    slab *s = &g->slabs[index];
    if (is_full(s)) link_slab(s);
    *(void **)object = s->free;
    s->free = object;
    if (--s->used) return;
    unlink_slab(s);
    g->idle |= 1u << index;
    if (g->idle == (1u << SLABS) - 1 && ow_over_cap()) ow_small_release(0);
}

void ow_small_release(int all) {
    for (segment *g = segments, *next; g && (all || ow_over_cap()); g = next) {
        next = g->next;
        if (g->idle != (1u << SLABS) - 1) continue;
        if (g->previous) g->previous->next = next;
        else segments = next;
        if (next) next->previous = g->previous;
        ow_segment_unmap(g, OW_SEGMENT, OW_POOL_SMALL);
    }
}

/* When the system has no segment left, idle ones of the large pool are given back first. */
static void *take_or_release(int class) {
    void *object = take_locked(class);
    if (object) return object;
    ow_release_idle();
    object = take_locked(class);
    ow_counters[object ? OW_COUNT_num_alloc_retries : OW_COUNT_num_ooms]++;
    return object;
}

void *ow_small_refill(ow_thread *t, int class) {
    ow_magazine *m = &t->magazines[class];
    pthread_mutex_lock(&ow_memory_mutex);
    ow_statistics_flush(t);
    void *first = take_or_release(class);
    for (int32_t k = m->capacity / 2; first && k > 1; k--) {
        void *object = take_locked(class);
        if (!object) break;
        *(void **)object = m->head;
        m->head = object;
        m->count++;
    }
    pthread_mutex_unlock(&ow_memory_mutex);
    return first;
}

void ow_small_drain(ow_thread *t, int class, int32_t keep) {
    ow_magazine *m = &t->magazines[class];
    if (m->count <= keep) return;
    pthread_mutex_lock(&ow_memory_mutex);
    ow_statistics_flush(t);
    while (m->count > keep) {
        void *object = m->head;
        m->head = *(void **)object;
        m->count--;
        return_locked(object);
    }
    pthread_mutex_unlock(&ow_memory_mutex);
}

static void count_unowned(int class, int sign) {
    ow_statistic_add(OW_STAT_allocation, OW_POOL_SMALL, sign);
    ow_statistic_add(OW_STAT_allocated_bytes, OW_POOL_SMALL, sign * ow_class_size(class));
}

void *ow_small_take(int class) {
    pthread_mutex_lock(&ow_memory_mutex);
    void *object = take_or_release(class);
    if (object) count_unowned(class, 1);
    pthread_mutex_unlock(&ow_memory_mutex);
    return object;
}

void ow_small_return(void *object, int class) {
    pthread_mutex_lock(&ow_memory_mutex);
    return_locked(object);
    count_unowned(class, -1);
    pthread_mutex_unlock(&ow_memory_mutex);
}
