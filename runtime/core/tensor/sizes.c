/* Sizes and strides: counting with overflow checks, C order, and the flags that follow. */
#include <stdio.h>

#include "storage.h"

const char *ow_list_text(char *text, size_t capacity, int n, const int64_t *values) {
    size_t length = (size_t)snprintf(text, capacity, "[");
    for (int k = 0; k < n && length < capacity; k++)
        length += (size_t)snprintf(text + length, capacity - length, k ? ", %lld" : "%lld", (long long)values[k]);
    if (length < capacity) snprintf(text + length, capacity - length, "]");
    return text;
}

__attribute__((cold)) static int fail_negative(int64_t size, int ndim, const int64_t *sizes) {
    char text[600];
    ow_fail(OW_RUNTIME_ERROR, "Trying to create tensor with negative dimension %lld: %s", (long long)size,
            ow_list_text(text, sizeof text, ndim, sizes));
    return 0;
}

__attribute__((cold)) static int64_t fail_extent(int ndim, const int64_t *sizes, const int64_t *strides) {
    char size_text[400], stride_text[400];
    ow_list_text(size_text, sizeof size_text, ndim, sizes);
    if (!strides) {
        ow_fail(OW_RUNTIME_ERROR, "Storage size calculation overflowed with sizes=%s", size_text);
        return -1;
    }
    ow_fail(OW_RUNTIME_ERROR, "Storage size calculation overflowed with sizes=%s and strides=%s", size_text,
            ow_list_text(stride_text, sizeof stride_text, ndim, strides));
    return -1;
}

int ow_numel(int ndim, const int64_t *sizes, int64_t *numel) {
    if (ndim < 0 || ndim > OW_MAX_DIMS) {
        ow_fail(OW_RUNTIME_ERROR, "a tensor can have at most %d dimensions, got %d", OW_MAX_DIMS, ndim);
        return 0;
    }
    int64_t n = 1;
    int overflow = 0, empty = 0;
    for (int d = 0; d < ndim; d++) {
        if (sizes[d] < 0) return fail_negative(sizes[d], ndim, sizes);
        empty |= sizes[d] == 0;
        overflow |= __builtin_mul_overflow(n, sizes[d], &n);
    }
    if (overflow && !empty) {
        ow_fail(OW_RUNTIME_ERROR, "numel: integer multiplication overflow");
        return 0;
    }
    *numel = empty ? 0 : n;
    return 1;
}

int64_t ow_extent(int ndim, const int64_t *sizes, const int64_t *strides, int64_t numel, int64_t itemsize) {
    int64_t elements = numel, nbytes;
    int overflow = 0;
    if (strides && numel) {
        elements = 1;
        for (int d = 0; d < ndim; d++) {
            int64_t span;
            if (sizes[d] == 1) continue; /* its stride is never used, and may be what a reversed view left */
            overflow |= strides[d] < 0 || __builtin_mul_overflow(sizes[d] - 1, strides[d], &span) ||
                        __builtin_add_overflow(elements, span, &elements);
        }
    }
    if (overflow || __builtin_mul_overflow(elements, itemsize, &nbytes)) return fail_extent(ndim, sizes, strides);
    return nbytes;
}

int ow_contiguous_strides(int ndim, const int64_t *sizes, int64_t *strides) {
    int64_t stride = 1;
    for (int d = ndim - 1; d >= 0; d--) {
        strides[d] = stride;
        if (sizes[d] > 1 && __builtin_mul_overflow(stride, sizes[d], &stride)) {
            ow_fail(OW_RUNTIME_ERROR, "Stride calculation overflowed");
            return 0;
        }
    }
    return 1;
}

static int is_contiguous(const ow_tensor *t) {
    int64_t expected = 1;
    if (t->numel == 0) return 1;
    for (int d = t->ndim - 1; d >= 0; d--) {
        if (t->sizes[d] == 1) continue;
        if (t->strides[d] != expected) return 0;
        expected *= t->sizes[d];
    }
    return 1;
}

/* 1 if some permutation of the dimensions is contiguous. Dimensions of size 1 do not matter. */
static int is_dense(const ow_tensor *t) {
    int64_t sizes[OW_MAX_DIMS], strides[OW_MAX_DIMS], expected = 1;
    int n = 0;
    for (int d = 0; d < t->ndim; d++) { /* insertion sort by stride */
        if (t->sizes[d] == 1) continue;
        int k = n++;
        for (; k > 0 && strides[k - 1] > t->strides[d]; k--) {
            sizes[k] = sizes[k - 1];
            strides[k] = strides[k - 1];
        }
        sizes[k] = t->sizes[d];
        strides[k] = t->strides[d];
    }
    for (int k = 0; k < n; k++) {
        if (strides[k] != expected) return 0;
        expected *= sizes[k];
    }
    return 1;
}

void ow_tensor_refresh(ow_tensor *t) {
    int64_t numel = 1;
    for (int d = 0; d < t->ndim && numel; d++) /* which ow_numel has checked, but a size of 0 may stand behind the others */
        if (__builtin_mul_overflow(numel, t->sizes[d], &numel)) numel = 0;
    t->numel = numel;
    t->flags &= (uint8_t) ~(OW_CONTIGUOUS | OW_DENSE);
    if (is_contiguous(t)) t->flags |= OW_CONTIGUOUS | OW_DENSE;
    else if (is_dense(t)) t->flags |= OW_DENSE;
}
