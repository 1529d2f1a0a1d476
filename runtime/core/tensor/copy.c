/* Copies with casting and broadcasting, and the memory order of clones.
 *
 * A copy between two layouts of one dtype whose fast dimensions differ (a transposition) goes through square tiles, so
 * that both sides are read and written a cache line at a time. */
#include "families/driver.h"
#include "families/iterate.h"

/* The cast loop in the clothes of an elementwise loop: `params` carries the function. */
static int cast_as_loop(char *const *ptr, const int64_t *stride, int64_t n, const ow_scalar *params, int64_t index) {
    (void)index;
    ((ow_cast)(uintptr_t)params[0].i)(ptr[0], stride[0], ptr[1], stride[1], n);
    return OW_OK;
}

/* ---- transposition ------------------------------------------------------------------------------------ */

#define TILE 16

/* A square of as many elements each way as a vector of 16 bytes has: every step interleaves the first half of the vectors
 * with the second, and after as many steps as doublings lead to their number rows have become columns. */
#define LOW_8 0, 16, 1, 17, 2, 18, 3, 19, 4, 20, 5, 21, 6, 22, 7, 23
#define HIGH_8 8, 24, 9, 25, 10, 26, 11, 27, 12, 28, 13, 29, 14, 30, 15, 31
#define LOW_16 0, 8, 1, 9, 2, 10, 3, 11
#define HIGH_16 4, 12, 5, 13, 6, 14, 7, 15
#define LOW_32 0, 4, 1, 5
#define HIGH_32 2, 6, 3, 7
#define LOW_64 0, 2
#define HIGH_64 1, 3
#define UNROLLED _Pragma("GCC unroll 16")
#define SQUARE(bits) \
    typedef uint##bits##_t vector_##bits __attribute__((vector_size(16))); \
    enum { SIDE_##bits = 128 / bits }; \
    static inline void square_##bits(char *to, int64_t to_row, const char *from, int64_t from_column) { \
        vector_##bits lines[SIDE_##bits], mixed[SIDE_##bits]; \
        UNROLLED for (int k = 0; k < SIDE_##bits; k++) memcpy(&lines[k], from + k * from_column, 16); \
        UNROLLED for (int step = 1; step < SIDE_##bits; step *= 2) { \
            UNROLLED for (int k = 0; k < SIDE_##bits / 2; k++) { \
                vector_##bits first = lines[k], second = lines[k + SIDE_##bits / 2]; \
                mixed[2 * k] = __builtin_shufflevector(first, second, LOW_##bits); \
                mixed[2 * k + 1] = __builtin_shufflevector(first, second, HIGH_##bits); \
            } \
            UNROLLED for (int k = 0; k < SIDE_##bits; k++) lines[k] = mixed[k]; \
        } \
        UNROLLED for (int k = 0; k < SIDE_##bits; k++) memcpy(to + k * to_row, &lines[k], 16); \
    }
SQUARE(8)
SQUARE(16)
SQUARE(32)
SQUARE(64)
typedef struct {
    uint64_t low, high;
} uint128_t;
enum { SIDE_128 = 1 };
static inline void square_128(char *to, int64_t to_row, const char *from, int64_t from_column) {
    (void)to_row, (void)from_column;
    memcpy(to, from, 16);
}

/* Copies a rows × columns block: destination contiguous along columns, source contiguous along rows. */
#define TRANSPOSE(bits) \
    static void transpose_##bits(char *to, int64_t to_row, const char *from, int64_t from_column, int64_t rows, \
                                 int64_t columns) { \
        if (rows == TILE && columns == TILE) { \
            for (int r = 0; r < TILE; r += SIDE_##bits) \
                for (int c = 0; c < TILE; c += SIDE_##bits) \
                    square_##bits(to + r * to_row + c * (bits / 8), to_row, from + c * from_column + r * (bits / 8), \
                                  from_column); \
            return; \
        } \
        for (int64_t r = 0; r < rows; r++) \
            for (int64_t c = 0; c < columns; c++) \
                ((uint##bits##_t *)(to + r * to_row))[c] = ((const uint##bits##_t *)(from + c * from_column))[r]; \
    }
TRANSPOSE(8)
TRANSPOSE(16)
TRANSPOSE(32)
TRANSPOSE(64)
TRANSPOSE(128)

void ow_transpose(char *to, int64_t to_row, const char *from, int64_t from_column, int64_t rows, int64_t columns,
                  int64_t itemsize) {
    for (int64_t row = 0; row < rows; row += TILE, to += TILE * to_row, from += TILE * itemsize) {
        int64_t height = rows - row < TILE ? rows - row : TILE;
        for (int64_t column = 0; column < columns; column += TILE) {
            int64_t width = columns - column < TILE ? columns - column : TILE;
            char *a = to + column * itemsize;
            const char *b = from + column * from_column;
            switch (itemsize) {
            case 1: transpose_8(a, to_row, b, from_column, height, width); break;
            case 2: transpose_16(a, to_row, b, from_column, height, width); break;
            case 4: transpose_32(a, to_row, b, from_column, height, width); break;
            case 8: transpose_64(a, to_row, b, from_column, height, width); break;
            default: transpose_128(a, to_row, b, from_column, height, width); break;
            }
        }
    }
}

typedef struct {
    const ow_iter *iter;
    int across; /* the dimension in which the source is contiguous */
    int64_t itemsize;
} transposition;

/* Bands of TILE rows of the result; `begin` and `end` count bands over all outer dimensions. */
static void transpose_bands(void *context, int64_t begin, int64_t end) {
    const transposition *t = context;
    const ow_iter *iter = t->iter;
    int64_t columns = iter->shape[0], rows = iter->shape[t->across];
    int64_t bands = (rows + TILE - 1) / TILE;
    for (int64_t at = begin; at < end; at++) {
        int64_t row = at % bands * TILE, rest = at / bands;
        char *to = iter->data[0] + row * iter->strides[0][t->across];
        const char *from = iter->data[1] + row * iter->strides[1][t->across];
        for (int d = 1; d < iter->ndim; d++) {
            if (d == t->across) continue;
            to += rest % iter->shape[d] * iter->strides[0][d];
            from += rest % iter->shape[d] * iter->strides[1][d];
            rest /= iter->shape[d];
        }
        int64_t height = rows - row < TILE ? rows - row : TILE;
        ow_transpose(to, iter->strides[0][t->across], from, iter->strides[1][0], height, columns, t->itemsize);
    }
}

/* The dimension along which the source is contiguous while the destination is along dimension 0; 0: no such. */
static int transposed_dimension(const ow_iter *iter, int64_t itemsize) {
    if (iter->strides[0][0] != itemsize || iter->strides[1][0] == itemsize || iter->shape[0] < TILE) return 0;
    for (int d = 1; d < iter->ndim; d++)
        if (iter->strides[1][d] == itemsize && iter->shape[d] >= TILE) return d;
    return 0;
}

/* ---- copy --------------------------------------------------------------------------------------------- */

/* 1, or 0 with the error set where it was interrupted. */
static int copy_into(ow_tensor *dst, const ow_tensor *src) {
    ow_iter iter;
    int64_t itemsize = ow_itemsize(dst->dtype);
    iter.noperands = 2;
    iter.written = 1;
    iter.ndim = dst->ndim;
    iter.numel = dst->numel;
    if (!iter.numel) return 1;
    memcpy(iter.shape, dst->sizes, sizeof(int64_t) * dst->ndim);
    ow_iter_operand(&iter, 0, dst);
    ow_iter_operand(&iter, 1, src);
    ow_iter_arrange(&iter);
    iter.cast[0] = iter.cast[1] = NULL;
    iter.itemsize[0] = itemsize;
    iter.itemsize[1] = ow_itemsize(src->dtype);
    iter.rows = 0;
    int across = dst->dtype == src->dtype ? transposed_dimension(&iter, itemsize) : 0;
    if (across) {
        transposition t = {&iter, across, itemsize};
        int64_t bands = (iter.shape[across] + TILE - 1) / TILE;
        for (int d = 1; d < iter.ndim; d++)
            if (d != across) bands *= iter.shape[d];
        double work = 2.0 * (double)iter.numel;
        return ow_long_for(bands, 1 + 8192 / (TILE * iter.shape[0]), work, transpose_bands, &t);
    }
    ow_scalar params = {.i = (int64_t)(uintptr_t)ow_cast_loop(dst->dtype, src->dtype)};
    return ow_iter_run(&iter, cast_as_loop, &params, 1.0) == OW_OK;
}

int ow_check_expands(ow_tensor *src, ow_tensor *dst) {
    int64_t shape[OW_MAX_DIMS];
    ow_tensor *both[] = {dst, src};
    int ndim = ow_broadcast_shape(both, 2, shape);
    return ndim >= 0 && (ow_has_shape(dst, ndim, shape) || ow_fail_shape_mismatch(dst, ndim, shape));
}

int ow_check_copy(ow_tensor *dst, ow_tensor *src) {
    if (dst == src) return 1;
    if (!ow_check_expands(src, dst)) return 0;
    return !(ow_is_guarded(dst->storage) || ow_internal_overlap(dst)) || ow_check_writable(dst, NULL, 0);
}

int ow_copy_checked(ow_tensor *dst, ow_tensor *src) {
    int overlap = dst == src ? 1 : ow_memory_overlap(dst, src);
    if (overlap == 1 && dst->dtype == src->dtype) return 1; /* the same elements in the same places */
    if (!overlap) return copy_into(dst, src);
    ow_tensor *separate = ow_clone(src, src->dtype, 0);
    if (!separate) return 0;
    int done = copy_into(dst, separate);
    ow_tensor_free(separate);
    return done;
}

int ow_copy(ow_tensor *dst, ow_tensor *src) { return ow_check_copy(dst, src) && ow_copy_checked(dst, src); }

ow_tensor *ow_without_repeats(const ow_tensor *t) {
    int64_t sizes[OW_MAX_DIMS];
    for (int d = 0; d < t->ndim; d++) sizes[d] = t->strides[d] || !t->sizes[d] ? t->sizes[d] : 1;
    return ow_tensor_view(t->storage, t->data, t->dtype, t->ndim, sizes, t->strides);
}

ow_tensor *ow_empty_like(ow_tensor *t, int dtype, int order) {
    int64_t strides[OW_MAX_DIMS];
    const int64_t *layout = NULL;
    if (order >= OW_CHANNELS_LAST) {
        int ndim = order == OW_CHANNELS_LAST ? 4 : 5;
        if (t->ndim != ndim)
            return ow_fail(OW_RUNTIME_ERROR, "required rank %d tensor to use channels_last%s format", ndim,
                           ndim == 5 ? "_3d" : "");
        ow_channels_last_strides(ndim, t->sizes, strides);
        layout = strides;
    } else if (order == OW_PRESERVE_ORDER) {
        ow_dense_strides(t, strides);
        layout = strides;
    }
    return ow_tensor_new(dtype < 0 ? t->dtype : dtype, t->ndim, t->sizes, layout);
}

ow_tensor *ow_clone(ow_tensor *t, int dtype, int order) {
    ow_tensor *result = ow_empty_like(t, dtype, order);
    if (!result || copy_into(result, t)) return result;
    ow_tensor_free(result);
    return NULL;
}
