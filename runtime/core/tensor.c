/* Handles: creation, views, numbers, release and resizing. */
#include "storage.h"

/* Gives the handle room for ndim dimensions. 0 with the error set. */
static inline int place_dims(ow_tensor *t, int ndim) {
    t->ndim = (uint8_t)ndim;
    t->sizes = t->inline_dims;
    t->strides = t->inline_dims + OW_INLINE_DIMS;
    if (__builtin_expect(ndim <= OW_INLINE_DIMS, 1)) return 1;
    t->sizes = ow_alloc(2 * ndim * (int64_t)sizeof(int64_t));
    if (!t->sizes) return 0;
    t->strides = t->sizes + ndim;
    return 1;
}

static inline void copy_dims(int64_t *to, const int64_t *from, int n) {
    for (int d = 0; d < n; d++) to[d] = from[d];
}

ow_tensor *ow_tensor_new(int dtype, int ndim, const int64_t *sizes, const int64_t *strides) {
    int64_t numel;
    if (!ow_numel(ndim, sizes, &numel)) return NULL;
    int64_t nbytes = ow_extent(ndim, sizes, strides, numel, ow_itemsize(dtype));
    if (nbytes < 0) return NULL;
    ow_storage *s = ow_storage_create(nbytes, OW_STORAGE_BYTES + OW_HANDLE_BYTES);
    if (!s) return NULL;
    ow_tensor *t = (ow_tensor *)((char *)s + OW_STORAGE_BYTES);
    t->keys = 0;
    t->dtype = (uint8_t)dtype;
    t->flags = OW_CONTIGUOUS | OW_DENSE;
    t->state = OW_EMBEDDED;
    t->data = s->data;
    t->numel = numel;
    t->storage = s;
    if (!place_dims(t, ndim)) {
        ow_storage_release(s);
        return NULL;
    }
    copy_dims(t->sizes, sizes, ndim);
    if (strides) {
        copy_dims(t->strides, strides, ndim);
        ow_tensor_refresh(t);
    } else if (!ow_contiguous_strides(ndim, sizes, t->strides)) {
        ow_tensor_free(t);
        return NULL;
    }
    return t;
}

ow_tensor *ow_tensor_view(ow_storage *storage, char *data, int dtype, int ndim, const int64_t *sizes,
                          const int64_t *strides) {
    ow_tensor *t = ow_alloc(sizeof *t);
    if (!t) return NULL;
    if (!place_dims(t, ndim)) {
        ow_dealloc(t, sizeof *t);
        return NULL;
    }
    t->keys = 0;
    t->dtype = (uint8_t)dtype;
    t->flags = 0;
    t->state = 0;
    t->data = data;
    t->storage = storage;
    copy_dims(t->sizes, sizes, ndim);
    copy_dims(t->strides, strides, ndim);
    ow_tensor_refresh(t);
    ow_storage_retain(storage);
    return t;
}

ow_tensor *ow_tensor_alias(const ow_tensor *t) {
    return ow_tensor_view(t->storage, t->data, t->dtype, t->ndim, t->sizes, t->strides);
}

static ow_tensor *number(int dtype, const void *value) {
    ow_tensor *t = ow_tensor_new(dtype, 0, NULL, NULL);
    if (!t) return NULL;
    t->flags |= OW_NUMBER;
    memcpy(t->data, value, (size_t)ow_itemsize(dtype));
    return t;
}

ow_tensor *ow_tensor_number_i(int64_t value) { return number(OW_INT64, &value); }

ow_tensor *ow_tensor_number_u(uint64_t value) { return number(OW_UINT64, &value); }

ow_tensor *ow_tensor_number_d(double value) { return number(OW_FLOAT64, &value); }

ow_tensor *ow_tensor_number_c(double _Complex value) { return number(OW_COMPLEX128, &value); }

ow_tensor *ow_tensor_number_b(int value) { return number(OW_BOOL, &(uint8_t){value != 0}); }

void ow_tensor_free(ow_tensor *t) {
    if (!t) return;
    ow_storage *s = t->storage;
    if (t->sizes != t->inline_dims) ow_dealloc(t->sizes, 2 * t->ndim * (int64_t)sizeof(int64_t));
    if (!(t->state & OW_EMBEDDED)) ow_dealloc(t, sizeof *t);
    ow_storage_release(s);
}

/* Makes the storage of `t` hold at least nbytes. 0 with the error set. */
static int reserve(ow_tensor *t, int64_t nbytes) {
    ow_storage *s = t->storage;
    int64_t offset = t->data - s->data;
    if (nbytes <= s->nbytes) return 1;
    if (!ow_storage_resizable(s)) return 0;
    if (ow_storage_reuse(s, nbytes)) return 1;
    if (ow_storage_memory(s) == s && __atomic_load_n(&s->refs, __ATOMIC_ACQUIRE) == 1) {
        if (!ow_storage_grow(s, nbytes)) return 0;
    } else { /* others hold addresses inside the old memory */
        ow_storage *replacement = ow_storage_replace(s, nbytes);
        if (!replacement) return 0;
        t->storage = replacement;
    }
    t->data = t->storage->data + offset;
    return 1;
}

/* Writes new sizes and strides. 0 with the error set and nothing changed. */
static int set_dims(ow_tensor *t, int ndim, const int64_t *sizes, const int64_t *strides) {
    int64_t *old = t->sizes == t->inline_dims ? NULL : t->sizes;
    int old_ndim = t->ndim;
    if (ndim != old_ndim && !place_dims(t, ndim)) {
        t->ndim = (uint8_t)old_ndim;
        t->sizes = old ? old : t->inline_dims;
        t->strides = t->sizes + (old ? old_ndim : OW_INLINE_DIMS);
        return 0;
    }
    if (old && ndim != old_ndim) ow_dealloc(old, 2 * old_ndim * (int64_t)sizeof(int64_t));
    copy_dims(t->sizes, sizes, ndim);
    copy_dims(t->strides, strides, ndim);
    ow_tensor_refresh(t);
    return 1;
}

int ow_tensor_resize(ow_tensor *t, int ndim, const int64_t *sizes) {
    int64_t numel, nbytes, end, strides[OW_MAX_DIMS], copy[OW_MAX_DIMS];
    if (!ow_numel(ndim, sizes, &numel)) return 0;
    if ((nbytes = ow_extent(ndim, sizes, NULL, numel, ow_itemsize(t->dtype))) < 0) return 0;
    if (!ow_contiguous_strides(ndim, sizes, strides)) return 0;
    copy_dims(copy, sizes, ndim); /* they may be the handle's own */
    if (numel && (__builtin_add_overflow(nbytes, t->data - t->storage->data, &end) || !reserve(t, end))) {
        if (!ow_error_pending()) ow_fail(OW_RUNTIME_ERROR, "numel: integer multiplication overflow");
        return 0;
    }
    return set_dims(t, ndim, copy, strides);
}
