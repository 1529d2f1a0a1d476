/* Memory of registered devices. Blocks that tensors leave are kept for the next tensors of their size: a device does what it
 * is told in order, and its own allocator may take longer than a kernel. */
#include <pthread.h>
#include <stdlib.h>

#include "storage.h"

/* Sizes are multiples of GRAIN, and from 16 of these on of a sixteenth of the power of two below them. */
enum { GRAIN = 512, STEPS = 16, LEAST = 13, CLASSES = STEPS * (64 - LEAST + 1) };

typedef struct block {
    void *data;
    struct block *next;
} block;

/* The memory of one device. */
typedef struct {
    ow_device_memory counted;
    block *kept[CLASSES];
} pool;

static pool *pools[OW_DEVICE_KINDS][OW_DEVICES_OF_KIND];
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;

static void before_fork(void) { pthread_mutex_lock(&mutex); }
static void after_fork(void) { pthread_mutex_unlock(&mutex); }
__attribute__((constructor)) static void start(void) { pthread_atfork(before_fork, after_fork, after_fork); }

/* The class of a size, which is rounded up to the largest of the class. */
static int class_of(int64_t *nbytes) {
    const uint64_t last = (uint64_t)*nbytes - 1;
    const int power = last < 1u << LEAST ? LEAST : 63 - __builtin_clzll(last), shift = power - 4;
    if (last < 1u << LEAST) {
        *nbytes = (int64_t)((last / GRAIN + 1) * GRAIN);
        return (int)(last / GRAIN);
    }
    *nbytes = (int64_t)(((last >> shift) + 1) << shift);
    return STEPS * (power - LEAST + 1) + (int)(last >> shift & (STEPS - 1));
}

/* NULL where there is no memory for it; with the mutex. */
static pool *pool_of(ow_device device) {
    pool **p = &pools[ow_device_kind_of(device)][device >> OW_DEVICE_INDEX];
    return *p ? *p : (*p = calloc(1, sizeof **p));
}

static void count(int64_t *current, int64_t *peak, int64_t change) {
    *current += change;
    if (*current > *peak) *peak = *current;
}

/* A block that is kept, or NULL. */
static void *take(ow_device device, int class, int64_t nbytes) {
    void *data = NULL;
    pthread_mutex_lock(&mutex);
    pool *p = pool_of(device);
    block *first = p ? p->kept[class] : NULL;
    if (first) {
        data = first->data;
        p->kept[class] = first->next;
        count(&p->counted.allocated, &p->counted.most_allocated, nbytes);
    }
    pthread_mutex_unlock(&mutex);
    free(first);
    return data;
}

/* 1 if the block is kept, and so counted as one that no tensor holds. */
static int keep(ow_device device, int class, void *data, int64_t nbytes) {
    block *b = malloc(sizeof *b);
    if (!b) return 0;
    pthread_mutex_lock(&mutex);
    pool *p = pool_of(device);
    if (p) {
        *b = (block){data, p->kept[class]};
        p->kept[class] = b;
        count(&p->counted.allocated, &p->counted.most_allocated, -nbytes);
    }
    pthread_mutex_unlock(&mutex);
    if (!p) free(b);
    return p != NULL;
}

static void count_memory(ow_device device, int64_t allocated, int64_t reserved) {
    pthread_mutex_lock(&mutex);
    pool *p = pool_of(device);
    if (p) {
        count(&p->counted.allocated, &p->counted.most_allocated, allocated);
        count(&p->counted.reserved, &p->counted.most_reserved, reserved);
    }
    pthread_mutex_unlock(&mutex);
}

void *ow_device_allocate(ow_device device, int64_t nbytes) {
    const ow_device_kind *kind = ow_device_row(device);
    if (nbytes > INT64_MAX / 2) return ow_fail(OW_OUT_OF_MEMORY, "out of memory: %lld bytes", (long long)nbytes);
    const int class = kind->keeps_blocks ? class_of(&nbytes) : 0;
    void *data = kind->keeps_blocks ? take(device, class, nbytes) : NULL;
    if (data) return data;
    data = kind->allocate(kind, device, nbytes);
    if (data) count_memory(device, nbytes, nbytes);
    return data;
}

void ow_device_release(ow_device device, void *data, int64_t nbytes) {
    const ow_device_kind *kind = ow_device_row(device);
    const int class = kind->keeps_blocks ? class_of(&nbytes) : 0;
    if (kind->keeps_blocks && keep(device, class, data, nbytes)) return;
    count_memory(device, -nbytes, -nbytes);
    kind->release(kind, device, data, nbytes);
}

/* The size of a class, of which any other size of it is rounded up. */
static int64_t size_of(int class) {
    if (class < STEPS) return (int64_t)(class + 1) * GRAIN;
    const int shift = class / STEPS + LEAST - 1 - 4;
    return (int64_t)(STEPS + class % STEPS + 1) << shift;
}

int64_t ow_device_empty_cache(ow_device device) {
    const ow_device_kind *kind = ow_device_row(device);
    int64_t released = 0;
    for (int class = 0; class < CLASSES; class++) {
        pthread_mutex_lock(&mutex);
        pool *p = pools[ow_device_kind_of(device)][device >> OW_DEVICE_INDEX];
        block *b = p ? p->kept[class] : NULL;
        if (p) p->kept[class] = NULL;
        pthread_mutex_unlock(&mutex);
        while (b) {
            block *next = b->next;
            kind->release(kind, device, b->data, size_of(class));
            released += size_of(class);
            free(b);
            b = next;
        }
    }
    count_memory(device, 0, -released);
    return released;
}

ow_device_memory ow_device_memory_of(ow_device device, int resets_peaks) {
    ow_device_memory counted = {0};
    pthread_mutex_lock(&mutex);
    pool *p = pool_of(device);
    if (p && resets_peaks) p->counted.most_allocated = p->counted.allocated, p->counted.most_reserved = p->counted.reserved;
    if (p) counted = p->counted;
    pthread_mutex_unlock(&mutex);
    return counted;
}
