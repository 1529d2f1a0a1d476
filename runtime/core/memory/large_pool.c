/* The large pool: blocks of segments, in the manner of torch's caching allocator for CUDA.
 *
 * A request takes the smallest idle block that fits, splits off what is left and, when freed, coalesces with its idle
 * neighbours. A segment whose only block is idle stays cached; the oldest such segments go back to the system when
 * more memory idles than the cap allows. Blocks carry their header in the 64 bytes before the data.
 */
#include "allocator.h"

enum { MEDIUM, LARGE, NINDEXES }; /* requests up to 1 MiB do not cut into the segments of larger ones */

typedef struct segment segment;

typedef struct block {
    int64_t size; /* with this header */
    segment *segment;
    struct block *previous;    /* in the segment; NULL: the first */
    struct block *left, *right; /* in the index of idle blocks */
    uint32_t priority;
    uint32_t used;
    char padding[16];
} block;

struct segment {
    int64_t size;
    segment *older, *newer; /* in the list of idle segments */
    int32_t index;
    char padding[36];
};

enum {
    HEADER_BYTES = 64,
    GRANULE = 4096,
    MEDIUM_LIMIT = 1 << 20,     /* largest block of a MEDIUM segment, which has OW_SEGMENT bytes */
    SHARED_LIMIT = 10 << 20,    /* requests below it share segments of SHARED_SEGMENT bytes */
    SHARED_SEGMENT = 20 << 20
};

_Static_assert(sizeof(block) == HEADER_BYTES && sizeof(segment) == HEADER_BYTES, "data must stay 64-byte aligned");

static block *index_root[NINDEXES];
static segment *oldest, *newest;

/* ---- the index: a treap ordered by size, then address ---------------------------------------------------- */

static int before(const block *a, const block *b) { return a->size != b->size ? a->size < b->size : a < b; }

static void split_tree(block *root, const block *key, block **low, block **high) {
    while (root) {
        if (before(root, key)) {
            *low = root;
            low = &root->right;
            root = root->right;
        } else {
            *high = root;
            high = &root->left;
            root = root->left;
        }
    }
    *low = *high = NULL;
}

static block *join_trees(block *low, block *high) {
    block *root = NULL, **link = &root;
    while (low && high) {
        if (low->priority >= high->priority) {
            *link = low;
            link = &low->right;
            low = low->right;
        } else {
            *link = high;
            link = &high->left;
            high = high->left;
        }
    }
    *link = low ? low : high;
    return root;
}

static void index_insert(block *b) {
    static uint32_t state = 2463534242u;
    state ^= state << 13, state ^= state >> 17, state ^= state << 5;
    b->priority = state;
    block **link = &index_root[b->segment->index];
    while (*link && (*link)->priority >= b->priority) link = before(*link, b) ? &(*link)->right : &(*link)->left;
    split_tree(*link, b, &b->left, &b->right);
    *link = b;
}

static void index_remove(block *b) {
    block **link = &index_root[b->segment->index];
    while (*link != b) link = before(*link, b) ? &(*link)->right : &(*link)->left;
    *link = join_trees(b->left, b->right);
}

static block *index_best_fit(int index, int64_t size) {
    block *best = NULL;
    for (block *b = index_root[index]; b;) {
        if (b->size < size) b = b->right;
        else {
            best = b;
            b = b->left;
        }
    }
    return best;
}

/* ---- blocks and segments ---------------------------------------------------------------------------------- */

static char *segment_end(segment *g) { return (char *)g + g->size; }

static block *first_block(segment *g) { return (block *)((char *)g + HEADER_BYTES); }

static block *following(block *b) {
    char *p = (char *)b + b->size;
    return p < segment_end(b->segment) ? (block *)p : NULL;
}

static int is_whole(const block *b) { return b->size == b->segment->size - HEADER_BYTES; }

/* An idle block enters or leaves the index, and with it the statistics or the list of idle segments. */
static void park(block *b) {
    b->used = 0;
    index_insert(b);
    if (is_whole(b)) {
        segment *g = b->segment;
        g->newer = NULL;
        g->older = newest;
        if (newest) newest->newer = g;
        else oldest = g;
        newest = g;
    } else {
        ow_statistic_add(OW_STAT_inactive_split, OW_POOL_LARGE, 1);
        ow_statistic_add(OW_STAT_inactive_split_bytes, OW_POOL_LARGE, b->size);
    }
}

static void unpark(block *b) {
    index_remove(b);
    if (is_whole(b)) {
        segment *g = b->segment;
        if (g->older) g->older->newer = g->newer;
        else oldest = g->newer;
        if (g->newer) g->newer->older = g->older;
        else newest = g->older;
    } else {
        ow_statistic_add(OW_STAT_inactive_split, OW_POOL_LARGE, -1);
        ow_statistic_add(OW_STAT_inactive_split_bytes, OW_POOL_LARGE, -b->size);
    }
}

static block *new_segment(int64_t nbytes, int index) {
    segment *g = ow_segment_map(nbytes, OW_POOL_LARGE);
    if (!g) return NULL;
    g->size = nbytes;
    g->index = index;
    block *b = first_block(g);
    b->size = nbytes - HEADER_BYTES;
    b->segment = g;
    b->previous = NULL;
    park(b);
    return b;
}

static block *find(int64_t size) {
    int index = size <= MEDIUM_LIMIT ? MEDIUM : LARGE;
    block *b = index_best_fit(index, size);
    if (b) return b;
    int64_t exact = (size + HEADER_BYTES + OW_SEGMENT - 1) / OW_SEGMENT * OW_SEGMENT;
    b = new_segment(index == LARGE && size < SHARED_LIMIT ? SHARED_SEGMENT : exact, index);
    if (b) return b;
    ow_release_idle();
    b = new_segment(exact, index);
    ow_counters[b ? OW_COUNT_num_alloc_retries : OW_COUNT_num_ooms]++;
    return b;
}

static void split(block *b, int64_t size) {
    int64_t rest = b->size - size;
    if (rest < (b->segment->index == MEDIUM ? OW_SMALL_LIMIT : MEDIUM_LIMIT)) return;
    block *after = following(b), *tail = (block *)((char *)b + size);
    OW_UNPOISON(tail, HEADER_BYTES);
    b->size = size;
    tail->size = rest;
    tail->segment = b->segment;
    tail->previous = b;
    if (after) after->previous = tail;
    park(tail);
}

void *ow_large_alloc(int64_t nbytes) {
    ow_thread *self = ow_thread_get();
    pthread_mutex_lock(&ow_memory_mutex);
    if (self) ow_statistics_flush(self);
    block *b = NULL;
    if (nbytes <= ow_memory_limit()) {
        int64_t size = (nbytes + HEADER_BYTES + GRANULE - 1) / GRANULE * GRANULE;
        b = find(size);
        if (b) {
            unpark(b);
            b->used = 1;
            split(b, size);
            ow_statistic_add(OW_STAT_allocation, OW_POOL_LARGE, 1);
            ow_statistic_add(OW_STAT_allocated_bytes, OW_POOL_LARGE, b->size);
        }
    } else {
        ow_counters[OW_COUNT_num_ooms]++;
    }
    pthread_mutex_unlock(&ow_memory_mutex);
    if (!b) return NULL;
    char *data = (char *)b + HEADER_BYTES;
    OW_POISON(data, b->size - HEADER_BYTES);
    OW_UNPOISON(data, nbytes);
    return data;
}

/* `b` swallows its right neighbour. */
static void absorb(block *b, block *next) {
    block *after = following(next);
    b->size += next->size;
    if (after) after->previous = b;
    OW_POISON(next, HEADER_BYTES);
}

void ow_large_free(void *p) {
    ow_thread *self = ow_thread_get();
    block *b = (block *)((char *)p - HEADER_BYTES);
    pthread_mutex_lock(&ow_memory_mutex);
    if (self) ow_statistics_flush(self);
    ow_statistic_add(OW_STAT_allocation, OW_POOL_LARGE, -1);
    ow_statistic_add(OW_STAT_allocated_bytes, OW_POOL_LARGE, -b->size);
    OW_POISON(p, b->size - HEADER_BYTES);
    block *next = following(b), *previous = b->previous;
    if (next && !next->used) {
        unpark(next);
        absorb(b, next);
    }
    if (previous && !previous->used) {
        unpark(previous);
        absorb(previous, b);
        b = previous;
    }
    park(b);
    if (ow_over_cap()) ow_large_release(0);
    pthread_mutex_unlock(&ow_memory_mutex);
}

void ow_large_release(int all) {
    while (oldest && (all || ow_over_cap())) {
        segment *g = oldest;
        unpark(first_block(g));
        ow_segment_unmap(g, g->size, OW_POOL_LARGE);
    }
}
