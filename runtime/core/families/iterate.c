/* Strided iteration: order and merge dimensions once, then run a loop over rows, whole or in cast chunks. */
#include "driver.h"
#include "iterate.h"

#include <stdlib.h>

int ow_broadcast_shape(ow_tensor *const *inputs, int n, int64_t *shape) {
    int ndim = 0;
    for (int k = 0; k < n; k++)
        if (inputs[k] && inputs[k]->ndim > ndim) ndim = inputs[k]->ndim;
    for (int d = 0; d < ndim; d++) shape[d] = 1;
    for (int k = 0; k < n; k++) {
        const ow_tensor *t = inputs[k];
        if (!t) continue;
        for (int d = t->ndim - 1; d >= 0; d--) { /* the last mismatch is the one to report */
            int at = ndim - t->ndim + d;
            int64_t size = t->sizes[d];
            if (size == shape[at] || size == 1) continue;
            if (shape[at] != 1) {
                ow_fail(OW_RUNTIME_ERROR,
                        "The size of tensor a (%lld) must match the size of tensor b (%lld) at non-singleton "
                        "dimension %d",
                        (long long)shape[at], (long long)size, at);
                return -1;
            }
            shape[at] = size;
        }
    }
    return ndim;
}

/* Foreign memory may have any stride along a dimension of one element, the least number among them. */
static uint64_t magnitude(int64_t stride) {
    return stride < 0 ? -(uint64_t)stride : (uint64_t)stride;
}

/* 1 if dimension a should be outside dimension b, -1 if inside, 0 if the operands do not decide. */
static int slower(const int64_t *shape, int noperands, int64_t strides[][OW_MAX_DIMS], int a, int b) {
    for (int k = 0; k < noperands; k++) {
        uint64_t sa = magnitude(strides[k][a]), sb = magnitude(strides[k][b]);
        if (!sa || !sb) continue;
        if (sa < sb) return -1;
        if (sa > sb) return 1;
        if (shape[a] > shape[b]) return 1;
    }
    return 0;
}

void ow_iter_order(int ndim, const int64_t *shape, int noperands, int64_t strides[][OW_MAX_DIMS], int *order) {
    for (int d = 0; d < ndim; d++) order[d] = ndim - 1 - d;
    for (int i = 1; i < ndim; i++) {
        int moved = i;
        for (int j = i - 1; j >= 0; j--) {
            int relation = slower(shape, noperands, strides, order[j], order[moved]);
            if (relation > 0) {
                int swap = order[j];
                order[j] = order[moved];
                order[moved] = swap;
                moved = j;
            } else if (relation < 0) {
                break;
            }
        }
    }
}

void ow_dense_strides(const ow_tensor *t, int64_t *strides) {
    int64_t own[1][OW_MAX_DIMS], step = 1;
    int order[OW_MAX_DIMS];
    memcpy(own[0], t->strides, sizeof(int64_t) * t->ndim);
    if (t->flags & OW_DENSE) {
        memcpy(strides, t->strides, sizeof(int64_t) * t->ndim);
        return;
    }
    ow_iter_order(t->ndim, t->sizes, 1, own, order);
    for (int i = 0; i < t->ndim; i++) {
        strides[order[i]] = step;
        step *= t->sizes[order[i]] > 0 ? t->sizes[order[i]] : 1;
    }
}

void ow_iter_operand(ow_iter *iter, int k, const ow_tensor *t) {
    int64_t itemsize = t->numel ? ow_itemsize(t->dtype) : 0; /* without elements a stride may be beyond any count of bytes */
    int lead = iter->ndim - t->ndim;
    iter->data[k] = t->data;
    for (int d = 0; d < lead; d++) iter->strides[k][d] = 0;
    for (int d = 0; d < t->ndim; d++)
        iter->strides[k][lead + d] = t->sizes[d] == 1 ? 0 : t->strides[d] * itemsize;
}

/* Rows shorter than this are better run across: the fastest dimension that is much longer becomes the inner one. */
#define SHORT_ROW 8

static void put_long_dimension_inside(ow_iter *iter) {
    if (iter->ndim < 2 || iter->shape[0] >= SHORT_ROW) return;
    int chosen = 1;
    while (chosen < iter->ndim && iter->shape[chosen] < 4 * iter->shape[0]) chosen++;
    if (chosen == iter->ndim) return;
    int64_t size = iter->shape[0];
    iter->shape[0] = iter->shape[chosen];
    iter->shape[chosen] = size;
    for (int k = 0; k < iter->noperands; k++) {
        int64_t stride = iter->strides[k][0];
        iter->strides[k][0] = iter->strides[k][chosen];
        iter->strides[k][chosen] = stride;
    }
}

void ow_iter_arrange(ow_iter *iter) {
    int order[OW_MAX_DIMS];
    int64_t shape[OW_MAX_DIMS], strides[OW_MAX_OPERANDS][OW_MAX_DIMS];
    ow_iter_order(iter->ndim, iter->shape, iter->noperands, iter->strides, order);
    int ndim = 0;
    for (int i = 0; i < iter->ndim; i++) {
        int d = order[i];
        if (iter->shape[d] == 1) continue;
        int merge = ndim > 0;
        for (int k = 0; merge && k < iter->noperands; k++)
            merge = iter->strides[k][d] == strides[k][ndim - 1] * shape[ndim - 1];
        if (merge) {
            shape[ndim - 1] *= iter->shape[d];
            continue;
        }
        shape[ndim] = iter->shape[d];
        for (int k = 0; k < iter->noperands; k++) strides[k][ndim] = iter->strides[k][d];
        ndim++;
    }
    if (!ndim) { /* 0-dim, or every dimension of size one */
        shape[0] = 1;
        for (int k = 0; k < iter->noperands; k++) strides[k][0] = 0;
        ndim = 1;
    }
    iter->ndim = ndim;
    memcpy(iter->shape, shape, sizeof(int64_t) * (size_t)ndim);
    for (int k = 0; k < iter->noperands; k++)
        memcpy(iter->strides[k], strides[k], sizeof(int64_t) * (size_t)ndim);
    put_long_dimension_inside(iter);
}

/* An operand of another dtype takes that of the result before the wider one, which has the kernel, computes with it. */
static void round_to_narrow(const ow_iter *iter, int k, char *values, int64_t n) {
    _Alignas(64) char narrow[OW_BLOCK * OW_MAX_ITEMSIZE];
    int64_t size = iter->narrow_size[k];
    iter->narrow[k](narrow, size, values, iter->itemsize[k], n);
    iter->widen[k](values, iter->itemsize[k], narrow, size, n);
}

/* So does the result before it becomes one of the wider dtype of `out`. */
static void store_result(const ow_iter *iter, int k, char *to, const char *values, int64_t n) {
    _Alignas(64) char narrow[OW_BLOCK * OW_MAX_ITEMSIZE];
    int64_t size = iter->itemsize[k];
    if (iter->narrow[k]) {
        iter->narrow[k](narrow, iter->narrow_size[k], values, size, n);
        values = narrow;
        size = iter->narrow_size[k];
    }
    iter->cast[k](to, iter->strides[k][0], values, size, n);
}

/* 1 if operand k has one element for a whole row (stride 0). */
static int serves_row(const ow_iter *iter, int k) {
    return k >= iter->written && !iter->strides[k][0] && k >= iter->rows;
}

/* So many elements of a row are converted at a time: all, where nothing but what serves the row needs it. */
static int64_t chunk_of(const ow_iter *iter) {
    for (int k = 0; k < iter->noperands; k++)
        if (iter->cast[k] && !serves_row(iter, k)) return OW_BLOCK;
    return INT64_MAX;
}

/* One row of n elements through stack buffers: cast in, compute, cast out. */
static int run_cast_row(const ow_iter *iter, char *const *data, int64_t n, ow_loop loop, const ow_scalar *params) {
    _Alignas(64) char buffer[OW_MAX_OPERANDS][OW_BLOCK * OW_MAX_ITEMSIZE];
    int status = OW_OK;
    for (int64_t done = 0, count, chunk = chunk_of(iter); done < n; done += count) {
        count = n - done < chunk ? n - done : chunk;
        char *ptr[OW_MAX_OPERANDS];
        int64_t stride[OW_MAX_OPERANDS];
        for (int k = iter->noperands - 1; k >= 0; k--) {
            int64_t step = iter->strides[k][0];
            char *at = data[k] + done * step;
            if (!iter->cast[k]) {
                ptr[k] = at;
                stride[k] = step;
                continue;
            }
            ptr[k] = buffer[k];
            stride[k] = iter->itemsize[k];
            if (k < iter->written) continue;
            int64_t converted = serves_row(iter, k) ? 1 : count;
            iter->cast[k](buffer[k], iter->itemsize[k], at, step, converted);
            if (iter->narrow[k]) round_to_narrow(iter, k, buffer[k], converted);
            if (serves_row(iter, k)) stride[k] = 0;
        }
        int result = loop(ptr, stride, count, params, 0);
        if (result) status = result;
        for (int k = 0; k < iter->written; k++)
            if (iter->cast[k]) store_result(iter, k, data[k] + done * iter->strides[k][0], buffer[k], count);
    }
    return status;
}

typedef struct {
    const ow_iter *iter;
    ow_loop loop;
    const ow_scalar *params;
    int casts;
    int tiles; /* see shares_lines() */
    int status; /* the last error a worker met; any will do */
} run_state;

enum { LINE = 64, TILE_LENGTH = 64, TILE_ROWS = 16 }; /* bytes of a cache line; elements of a tile's rows, and these */

/* 1 if an operand has the elements of one row in different cache lines and those of the next row beside them, as a
 * transposed one does. Of rows one by one, each line comes from memory many times; of tiles of rows, once. */
static int shares_lines(const ow_iter *iter) {
    if (iter->ndim < 2 || iter->shape[0] < TILE_LENGTH) return 0;
    for (int k = 0; k < iter->noperands; k++)
        if (llabs(iter->strides[k][0]) >= LINE && iter->strides[k][1] && llabs(iter->strides[k][1]) < LINE) return 1;
    return 0;
}

static int run_row(const run_state *state, char *const *data, const int64_t *stride, int64_t n, int64_t begin) {
    return state->casts ? run_cast_row(state->iter, data, n, state->loop, state->params)
                        : state->loop(data, stride, n, state->params, begin);
}

/* Rows of n elements tile by tile. Inputs that are transposed become rows on the way, which takes less than reading their
 * elements one by one. */
static int run_tiles(const run_state *state, char *const *data, int64_t n, int64_t rows, int64_t begin) {
    const ow_iter *iter = state->iter;
    _Alignas(64) char buffer[OW_MAX_OPERANDS][TILE_ROWS * TILE_LENGTH * OW_MAX_ITEMSIZE];
    int status = OW_OK;
    for (int64_t done = 0; done < n; done += TILE_LENGTH) {
        int64_t count = n - done < TILE_LENGTH ? n - done : TILE_LENGTH;
        char *first[OW_MAX_OPERANDS];
        int64_t stride[OW_MAX_OPERANDS], step[OW_MAX_OPERANDS];
        for (int k = 0; k < iter->noperands; k++) {
            int64_t size = iter->itemsize[k];
            first[k] = data[k] + done * iter->strides[k][0];
            stride[k] = iter->strides[k][0];
            step[k] = iter->strides[k][1];
            if (k < iter->written || state->casts || step[k] != size || llabs(stride[k]) < LINE) continue;
            ow_transpose(buffer[k], TILE_LENGTH * size, first[k], stride[k], rows, count, size);
            first[k] = buffer[k];
            stride[k] = size;
            step[k] = TILE_LENGTH * size;
        }
        for (int64_t row = 0; row < rows; row++) {
            char *at[OW_MAX_OPERANDS];
            for (int k = 0; k < iter->noperands; k++) at[k] = first[k] + row * step[k];
            int result = run_row(state, at, stride, count, begin + row * n + done);
            if (result) status = result;
        }
    }
    return status;
}

/* Elements [begin, end) in iteration order: find the place of `begin`, then go row by row. */
static void run_range(void *context, int64_t begin, int64_t end) {
    run_state *state = context;
    const ow_iter *iter = state->iter;
    int64_t position[OW_MAX_DIMS];
    char *data[OW_MAX_OPERANDS];
    int64_t stride[OW_MAX_OPERANDS];
    for (int k = 0; k < iter->noperands; k++) {
        data[k] = iter->data[k];
        stride[k] = iter->strides[k][0];
    }
    int64_t rest = begin;
    for (int d = 0; d < iter->ndim; d++) {
        position[d] = rest % iter->shape[d];
        rest /= iter->shape[d];
        for (int k = 0; k < iter->noperands; k++) data[k] += position[d] * iter->strides[k][d];
    }
    int status = OW_OK;
    while (begin < end) {
        int64_t n = iter->shape[0] - position[0], rows = 1;
        if (n > end - begin) {
            n = end - begin;
        } else if (state->tiles && !position[0]) {
            rows = iter->shape[1] - position[1] < TILE_ROWS ? iter->shape[1] - position[1] : TILE_ROWS;
            if (rows > (end - begin) / n) rows = (end - begin) / n;
        }
        int result = rows > 1 ? run_tiles(state, data, n, rows, begin) : run_row(state, data, stride, n, begin);
        if (result) status = result;
        begin += n * rows;
        if (position[0]) { /* only the first row may start in its midst */
            for (int k = 0; k < iter->noperands; k++) data[k] -= position[0] * stride[k];
            position[0] = 0;
        }
        for (int d = 1; d < iter->ndim; d++, rows = 1) {
            position[d] += rows;
            for (int k = 0; k < iter->noperands; k++) data[k] += rows * iter->strides[k][d];
            if (position[d] < iter->shape[d]) break;
            for (int k = 0; k < iter->noperands; k++) data[k] -= position[d] * iter->strides[k][d];
            position[d] = 0;
        }
    }
    if (status) __atomic_store_n(&state->status, status, __ATOMIC_RELAXED);
}

#define LONG_ROW 8   /* elements; memory for what serves shorter ones would be worth as much as the operands' */
#define GRAIN 8192 /* elements of a float32 add that are worth another thread */

static int has_casts(const ow_iter *iter) {
    for (int k = 0; k < iter->noperands; k++)
        if (iter->cast[k]) return 1;
    return 0;
}

static int run(const ow_iter *iter, ow_loop loop, const ow_scalar *params, double cost) {
    run_state state = {iter, loop, params, has_casts(iter), shares_lines(iter), OW_OK};
    double work = (double)iter->numel * cost;
    if (work < 2 * GRAIN) {
        run_range(&state, 0, iter->numel);
        return state.status;
    }
    /* Boundaries fall on whole rows or, of long ones, on whole chunks: vectors start where they would in a serial run. */
    int64_t grain = (int64_t)(GRAIN / cost) & ~(int64_t)(OW_BLOCK - 1);
    if (grain < OW_BLOCK) grain = OW_BLOCK;
    int64_t tiles = TILE_ROWS * iter->shape[0];
    if (state.tiles && iter->numel / tiles >= ow_num_threads()) grain = tiles;
    else if (iter->ndim > 1 && iter->shape[0] <= grain) grain -= grain % iter->shape[0];
    if (!ow_long_for(iter->numel, grain, work, run_range, &state)) return OW_INTERRUPTED;
    return state.status;
}

/* The dimension along which operand k is a column that needs a cast, each of its elements serving a row; 0: it is none. */
static int column_of(const ow_iter *iter, int k) {
    int along = 0;
    if (!iter->cast[k] || !serves_row(iter, k) || iter->shape[0] < LONG_ROW) return 0;
    for (int d = 1; d < iter->ndim; d++) {
        if (!iter->strides[k][d]) continue;
        if (along) return 0;
        along = d;
    }
    return along;
}

/* In bytes, so that another one may follow. */
static int64_t column_size(const ow_iter *iter, int k) {
    int along = column_of(iter, k);
    return along ? (iter->shape[along] * iter->itemsize[k] + OW_MAX_ITEMSIZE - 1) & -(int64_t)OW_MAX_ITEMSIZE : 0;
}

/* Casts whole columns into `room`, which takes a fraction of the time of one element before every row. */
static void convert_columns(ow_iter *iter, char *room) {
    for (int k = iter->written; k < iter->noperands; k++) {
        int along = column_of(iter, k);
        if (!along) continue;
        int64_t itemsize = iter->itemsize[k], step = iter->strides[k][along], size = column_size(iter, k);
        for (int64_t done = 0, count; done < iter->shape[along]; done += count) {
            count = iter->shape[along] - done < OW_BLOCK ? iter->shape[along] - done : OW_BLOCK;
            char *converted = room + done * itemsize;
            iter->cast[k](converted, itemsize, iter->data[k] + done * step, step, count);
            if (iter->narrow[k]) round_to_narrow(iter, k, converted, count);
        }
        iter->cast[k] = iter->narrow[k] = NULL;
        iter->data[k] = room;
        iter->strides[k][along] = itemsize;
        room += size;
    }
}

int ow_iter_run(const ow_iter *iter, ow_loop loop, const ow_scalar *params, double cost) {
    if (iter->numel == 0) return OW_OK;
    int64_t size = 0;
    for (int k = iter->written; k < iter->noperands; k++) size += column_size(iter, k);
    char *columns = size ? malloc((size_t)size) : NULL; /* without them the casts are done row by row */
    if (!columns) return run(iter, loop, params, cost);
    ow_iter converted = *iter;
    convert_columns(&converted, columns);
    int status = run(&converted, loop, params, cost);
    free(columns);
    return status;
}
