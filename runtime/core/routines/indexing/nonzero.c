/* Where a tensor is not zero: one pass that counts, in blocks, and one that writes the places. Another thread may overwrite
 * the mask in between: a block's places are as many as were counted, the first ones or the first one of the tensor again. */
#include "index_get.h"
#include "tensor/storage.h"

#define BLOCK 8192    /* elements that are counted together: boundaries do not depend on the number of threads */
#define COUNT_WORK 0.5 /* per element, in units of a float32 addition */
#define WRITE_WORK 2.0

typedef struct {
    const uint8_t *mask; /* contiguous; any byte but zero is true */
    int64_t numel;
    int64_t *before; /* of every block and of the end: first its count, then the number of true elements before it */
    int64_t *positions;
    int64_t count; /* of them all: the length of a column */
    int ndim;
    const int64_t *sizes;
} mask_state;

/* One bit of each byte that is not zero. */
static inline uint64_t true_bytes(const uint8_t *at) {
    uint64_t word;
    memcpy(&word, at, sizeof word);
    word |= word >> 4 & 0x0f0f0f0f0f0f0f0f;
    word |= word >> 2 & 0x0303030303030303;
    return (word | word >> 1) & 0x0101010101010101;
}

static int64_t count_block(const uint8_t *mask, int64_t n) {
    int64_t count = 0, j = 0;
    while (j + 8 <= n) {
        uint64_t sums = 0; /* of eight columns; 31 words cannot overflow a byte */
        for (int words = 0; words < 31 && j + 8 <= n; words++, j += 8) sums += true_bytes(mask + j);
        count += (int64_t)((sums & 0x00ff00ff00ff00ff) * 0x0001000100010001 >> 48);
        count += (int64_t)((sums >> 8 & 0x00ff00ff00ff00ff) * 0x0001000100010001 >> 48);
    }
    for (; j < n; j++) count += mask[j] != 0;
    return count;
}

static void count_blocks(void *context, int64_t begin, int64_t end) {
    const mask_state *s = context;
    for (int64_t block = begin; block < end; block++) {
        int64_t first = block * BLOCK, n = s->numel - first < BLOCK ? s->numel - first : BLOCK;
        s->before[block] = count_block(s->mask + first, n);
    }
}

/* The numbers of the true elements among n <= OW_INDEX_CHUNK, counted from `first`. */
static int64_t list_places(const uint8_t *mask, int64_t first, int64_t n, int64_t *positions) {
    int64_t count = 0, j = 0;
    for (; j + 8 <= n; j += 8) {
        if (!true_bytes(mask + j)) continue;
        for (int64_t i = j; i < j + 8; i++) {
            positions[count] = first + i;
            count += mask[i] != 0;
        }
    }
    for (; j < n; j++)
        if (mask[j]) positions[count++] = first + j;
    return count;
}

/* Rows of coordinates from numbers of elements, which ascend. */
static void write_coordinates(const mask_state *s, const int64_t *positions, int64_t n, int64_t row) {
    int64_t position[OW_MAX_DIMS], last = s->ndim - 1, size = s->sizes[last], rest = positions[0] / size;
    int64_t start = rest * size;
    for (int d = (int)last - 1; d >= 0; d--) {
        position[d] = rest % s->sizes[d];
        rest /= s->sizes[d];
    }
    for (int64_t j = 0; j < n; j++) {
        while (positions[j] - start >= size) {
            start += size;
            for (int d = (int)last - 1; d >= 0 && ++position[d] == s->sizes[d]; d--) position[d] = 0;
        }
        for (int d = 0; d < last; d++) s->positions[d * s->count + row + j] = position[d];
        s->positions[last * s->count + row + j] = positions[j] - start;
    }
}

static void write_blocks(void *context, int64_t begin, int64_t end) {
    const mask_state *s = context;
    int64_t positions[OW_INDEX_CHUNK + 1]; /* the last one is written, but not kept */
    for (int64_t block = begin; block < end; block++) {
        int64_t first = block * BLOCK, stop = first + BLOCK < s->numel ? first + BLOCK : s->numel;
        int64_t row = s->before[block], last = s->before[block + 1];
        for (; first < stop; first += OW_INDEX_CHUNK) {
            int64_t n = stop - first < OW_INDEX_CHUNK ? stop - first : OW_INDEX_CHUNK;
            int64_t count = list_places(s->mask + first, first, n, positions);
            if (count > last - row) count = last - row;
            if (!count || !s->ndim) continue;
            if (s->ndim == 1) memcpy(s->positions + row, positions, sizeof(int64_t) * (size_t)count);
            else write_coordinates(s, positions, count, row);
            row += count;
        }
        for (; row < last; row++)
            for (int d = 0; d < s->ndim; d++) s->positions[d * s->count + row] = 0;
    }
}

static ow_tensor *list_true(const ow_tensor *mask, int ndim, const int64_t *sizes) {
    mask_state s = {(const uint8_t *)mask->data, mask->numel, NULL, NULL, 0, ndim, sizes};
    int64_t blocks = (s.numel + BLOCK - 1) / BLOCK, nbytes = (blocks + 1) * (int64_t)sizeof(int64_t);
    if (!(s.before = ow_alloc(nbytes))) return NULL;
    double work = (double)s.numel;
    void *token = ow_gil_release((int64_t)work);
    int done = ow_parallel_for(blocks, 4, COUNT_WORK * work, count_blocks, &s);
    for (int64_t block = 0; block < blocks && done; block++) {
        int64_t count = s.before[block];
        s.before[block] = s.count;
        s.count += count;
    }
    s.before[blocks] = s.count;
    ow_gil_acquire(token);
    int64_t shape[] = {s.count, ndim}, strides[] = {1, s.count};
    ow_tensor *result = done ? ow_tensor_new(OW_INT64, 2, shape, strides) : NULL;
    if (result) {
        s.positions = (int64_t *)result->data;
        done = ow_long_for(blocks, 1, WRITE_WORK * work, write_blocks, &s);
    }
    ow_dealloc(s.before, nbytes);
    if (done) return result;
    ow_tensor_free(result);
    return NULL;
}

static ow_tensor *places_of(ow_tensor *t) {
    int direct = t->dtype == OW_BOOL && t->flags & OW_CONTIGUOUS;
    ow_tensor *mask = direct ? t : ow_clone(t, OW_BOOL, 1);
    if (!mask) return NULL;
    ow_tensor *result = list_true(mask, t->ndim, t->sizes);
    if (!direct) ow_tensor_free(mask);
    return result;
}

ow_tensor *ow_nonzero(ow_tensor *t) {
    char text[48];
    if (!ow_is_readable(t))
        return ow_fail(OW_NOT_IMPLEMENTED, "the shape of this result depends on the values of a tensor, and tensors on the "
                                           "device %s have none",
                       ow_is_meta(t) ? "meta" : ow_device_text(text, sizeof text, ow_device_of(t)));
    const ow_device place = ow_place;
    ow_place = OW_CPU; /* the mask has elements, whatever is selected by it */
    ow_tensor *result = places_of(t);
    ow_place = place;
    return result;
}
