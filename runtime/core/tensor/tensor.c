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
    t->keys = ow_storage_keys(s);
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
    if (__builtin_expect(ow_fills_new_memory, 0)) ow_fill_new_memory(s, s->data, dtype);
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
    t->keys = ow_storage_keys(storage);
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
    ow_tensor *same = ow_tensor_view(t->storage, t->data, t->dtype, t->ndim, t->sizes, t->strides);
    if (same) same->keys |= t->keys & OW_OF_ELEMENTS;
    return same;
}

/* It has memory whatever the call: a number is known. */
static ow_tensor *number(int dtype, const void *value) {
    const ow_device place = ow_place;
    ow_place = OW_CPU;
    ow_tensor *t = ow_tensor_new(dtype, 0, NULL, NULL);
    ow_place = place;
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

/* The storage in whose block the handle lies; NULL: it has a block of its own. */
static inline ow_storage *home_of(ow_tensor *t) {
    return t->state & OW_EMBEDDED ? (ow_storage *)((char *)t - OW_STORAGE_BYTES) : NULL;
}

void ow_tensor_free(ow_tensor *t) {
    if (!t) return;
    ow_storage *s = t->storage, *home = home_of(t);
    if (t->sizes != t->inline_dims) ow_dealloc(t->sizes, 2 * t->ndim * (int64_t)sizeof(int64_t));
    if (!home) ow_dealloc(t, sizeof *t);
    ow_storage_release(s);
    if (home && home != s) ow_storage_release_block(home);
}

/* Takes the caller's reference to the storage, and leaves that to the one before to the caller. */
static void set_storage(ow_tensor *t, ow_storage *s) {
    ow_storage *home = home_of(t), *before = t->storage;
    t->storage = s;
    if (!home || (before == home) == (s == home)) return;
    __atomic_fetch_add(&home->holders, s == home ? -1 : 1, __ATOMIC_RELAXED);
}

/* All that a tensor says of its elements, but for the storage. */
static void take_shape(ow_tensor *to, const ow_tensor *from, const ow_tensor *inline_of) {
    int is_inline = from->sizes == inline_of->inline_dims;
    const uint32_t before = OW_KEY_CONJ | ow_storage_keys(to->storage), after = OW_KEY_CONJ | ow_storage_keys(from->storage);
    to->keys = (to->keys & ~before) | (from->keys & after);
    to->dtype = from->dtype;
    to->ndim = from->ndim;
    to->flags = from->flags;
    to->data = from->data;
    to->numel = from->numel;
    to->sizes = is_inline ? to->inline_dims : from->sizes;
    to->strides = is_inline ? to->inline_dims + OW_INLINE_DIMS : from->strides;
    memcpy(to->inline_dims, from->inline_dims, sizeof to->inline_dims);
}

void ow_tensor_exchange(ow_tensor *a, ow_tensor *b) {
    const ow_tensor before = *a;
    if (a == b) return;
    if (ow_loops_run()) {
        a->storage->flags |= OW_STORAGE_LEFT;
        b->storage->flags |= OW_STORAGE_LEFT;
    }
    take_shape(a, b, b);
    set_storage(a, b->storage);
    take_shape(b, &before, a);
    set_storage(b, before.storage);
}

/* Makes the storage of `t` hold at least nbytes. 0 with the error set. */
static int reserve(ow_tensor *t, int64_t nbytes) {
    ow_storage *s = t->storage;
    int64_t offset = t->data - s->data;
    if (nbytes <= s->nbytes) return 1;
    if (!ow_storage_resizable(s)) return 0;
    if (ow_storage_reuse(s, nbytes)) return 1;
    if (ow_storage_memory(s) == s && __atomic_load_n(&s->refs, __ATOMIC_ACQUIRE) == 1 && !ow_loops_run()) {
        if (!ow_storage_grow(s, nbytes)) return 0;
    } else { /* others hold addresses inside the old memory, or may */
        ow_storage *replacement = OW_CALL(ow_place_of(t), ow_storage_new(nbytes));
        if (!replacement) return 0;
        if (!ow_storage_move(replacement->data, s)) {
            ow_storage_release(replacement);
            return 0;
        }
        replacement->version = s->version; /* the tensor has been written to as often as before */
        set_storage(t, replacement);
        s->flags |= OW_STORAGE_LEFT;
        ow_storage_release(s);
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
    int64_t before = t->storage->nbytes, itemsize = ow_itemsize(t->dtype);
    if (numel && (__builtin_add_overflow(nbytes, t->data - t->storage->data, &end) || !reserve(t, end))) {
        if (!ow_error_pending()) ow_fail(OW_RUNTIME_ERROR, "numel: integer multiplication overflow");
        return 0;
    }
    if (__builtin_expect(ow_fills_new_memory, 0) && t->storage->nbytes > before)
        ow_fill_new_memory(t->storage, t->storage->data + (before + itemsize - 1) / itemsize * itemsize, t->dtype);
    return set_dims(t, ndim, copy, strides);
}
