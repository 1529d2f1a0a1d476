/* Tensors and storages as Python sees them: everything of api.h that is neither an operator nor global state. */
#include "families/driver.h"
#include "tensor/shape_cache.h"
#include "tensor/size_reads.h"
#include "tensor/storage.h"

#include "abi/api.h"

/* ---- creation and release --------------------------------------------------------------------------------- */

void release(double t) {
    ow_tensor *self = ow_unpack(t);
    if (self && !(self->state & OW_OWNED)) ow_tensor_free(self);
}

double number_i(int64_t value) { return ow_pack(ow_tensor_number_i(value)); }

double number_u(uint64_t value) { return ow_pack(ow_tensor_number_u(value)); }

double number_d(double value) { return ow_pack(ow_tensor_number_d(value)); }

double number_c(double real, double imag) {
    double _Complex value;
    __real__ value = real;
    __imag__ value = imag;
    return ow_pack(ow_tensor_number_c(value));
}

double number_b(int32_t value) { return ow_pack(ow_tensor_number_b(value)); }

double empty_strided(const int64_t *sizes, const int64_t *strides, int32_t ndim, int32_t dtype) {
    return ow_pack(OW_CALL(ow_default_device, ow_tensor_new(dtype, ndim, sizes, strides)));
}

static void *fail_out_of_bounds(int ndim, const int64_t *sizes, const int64_t *strides, int64_t offset,
                                int64_t itemsize, int64_t needed, int64_t available) {
    char size_text[300], stride_text[300];
    return ow_fail(OW_RUNTIME_ERROR,
                   "setStorage: sizes %s, strides %s, storage offset %lld, and itemsize %lld requiring a storage size of "
                   "%lld are out of bounds for storage of size %lld",
                   ow_list_text(size_text, sizeof size_text, ndim, sizes),
                   ow_list_text(stride_text, sizeof stride_text, ndim, strides), (long long)offset, (long long)itemsize,
                   (long long)needed, (long long)available);
}

/* The bytes that a tensor of the given strides uses below and from its first element; 0 with the error set. */
static int reach(int ndim, const int64_t *sizes, const int64_t *strides, int64_t itemsize, int64_t *below,
                 int64_t *above) {
    int64_t low = 0, high = 1, span;
    int overflow = 0;
    for (int d = 0; d < ndim; d++) {
        overflow |= __builtin_mul_overflow(sizes[d] - 1, strides[d], &span);
        overflow |= span < 0 ? __builtin_sub_overflow(low, span, &low) : __builtin_add_overflow(high, span, &high);
    }
    overflow |= __builtin_mul_overflow(low, itemsize, below) | __builtin_mul_overflow(high, itemsize, above);
    if (!overflow) return 1;
    char size_text[300], stride_text[300];
    ow_fail(OW_RUNTIME_ERROR, "Storage size calculation overflowed with sizes=%s and strides=%s",
            ow_list_text(size_text, sizeof size_text, ndim, sizes),
            ow_list_text(stride_text, sizeof stride_text, ndim, strides));
    return 0;
}

static ow_tensor *strided(ow_tensor *t, const int64_t *sizes, const int64_t *strides, int ndim, int64_t offset,
                          int dtype) {
    ow_storage *s = t->storage;
    int64_t itemsize = ow_itemsize(dtype), numel, begin, end, below = 0, above = 0;
    if (!ow_numel(ndim, sizes, &numel)) return NULL;
    if (offset < 0) return ow_fail(OW_RUNTIME_ERROR, "Tensor: invalid storage offset %lld", (long long)offset);
    if (numel && !reach(ndim, sizes, strides, itemsize, &below, &above)) return NULL;
    if (__builtin_mul_overflow(offset, itemsize, &begin) || __builtin_add_overflow(begin, above, &end))
        return ow_fail(OW_RUNTIME_ERROR, "Tensor: storage offset %lld is too large", (long long)offset);
    if (numel && (begin < below || end > s->nbytes))
        return fail_out_of_bounds(ndim, sizes, strides, offset, itemsize, begin < below ? below : end, s->nbytes);
    return ow_tensor_view(s, (char *)((uintptr_t)s->data + (uintptr_t)begin), dtype, ndim, sizes, strides);
}

double as_strided(double t, const int64_t *sizes, const int64_t *strides, int32_t ndim, int64_t offset, int32_t dtype) {
    ow_tensor *self = ow_unpack(t);
    return ow_pack(strided(self, sizes, strides, ndim, offset, dtype < 0 ? self->dtype : dtype));
}

static void (*release_owner)(int64_t owner);

void set_release_owner(uintptr_t function) { release_owner = (void (*)(int64_t))function; }

static void free_foreign(ow_storage *s) {
    if (release_owner) release_owner((int64_t)(intptr_t)s->context);
}

static ow_tensor *foreign(uintptr_t data, int64_t nbytes, const int64_t *sizes, const int64_t *strides, int ndim,
                          int dtype, int64_t owner, uint32_t flags) {
    int64_t itemsize = ow_itemsize(dtype), numel, contiguous[OW_MAX_DIMS], below = 0, above = 0;
    if (!ow_numel(ndim, sizes, &numel)) return NULL;
    if (!strides && !ow_contiguous_strides(ndim, sizes, contiguous)) return NULL;
    if (!strides) strides = contiguous;
    if (numel) {
        if (!reach(ndim, sizes, strides, itemsize, &below, &above)) return NULL;
        if (nbytes < above || nbytes - above < below)
            return ow_fail(OW_RUNTIME_ERROR, "from_memory: the tensor needs %lld bytes, the memory has %lld",
                           (long long)(below + above), (long long)nbytes);
        if (data % ow_dtype_alignments[dtype])
            return ow_fail(OW_RUNTIME_ERROR,
                           "from_memory: address 0x%llx is not a multiple of the %lld bytes of %s; copy the array first",
                           (unsigned long long)data, (long long)ow_dtype_alignments[dtype], ow_dtype_names[dtype]);
    }
    ow_storage *s = ow_storage_foreign((void *)(data - (uintptr_t)below), nbytes, NULL, NULL, flags);
    if (!s) return NULL;
    s->deleter = free_foreign; /* from here on for storage.c: this memory cannot be resized */
    s->context = (void *)(intptr_t)owner;
    ow_tensor *t = ow_tensor_view(s, (char *)data, dtype, ndim, sizes, strides);
    if (!t) { /* the owner stays the caller's */
        ow_dealloc(s, s->block);
        return NULL;
    }
    ow_storage_release(s);
    return t;
}

double from_memory(uintptr_t data, int64_t nbytes, const int64_t *sizes, const int64_t *strides, int32_t ndim,
                   int32_t dtype, int64_t owner, int32_t readonly) {
    return ow_pack(foreign(data, nbytes, sizes, strides, ndim, dtype, owner, readonly ? OW_STORAGE_READONLY : 0));
}

/* 1 if it has dispatch keys that the core does not answer itself. */
static int has_other_keys(const ow_tensor *t) { return (ow_keys(t) & ~(uint32_t)OW_KEY_META) != 0; }

double clone_(double t, int32_t dtype, int32_t order) {
    ow_tensor *self = ow_unpack(t);
    if (has_other_keys(self)) return 0.0;
    return ow_pack(ow_is_meta(self) ? OW_CALL(OW_META, ow_empty_like(self, dtype, order)) : ow_clone(self, dtype, order));
}

double empty_like(double t, int32_t dtype, int32_t order) {
    ow_tensor *self = ow_unpack(t);
    return ow_pack(OW_CALL(ow_default_device, ow_empty_like(self, dtype, order)));
}

double copy_(double dst, double src) {
    ow_tensor *to = ow_unpack(dst), *from = ow_unpack(src);
    if (ow_keys(to) | ow_keys(from) || !ow_copy(to, from)) return 0.0;
    to->storage->version++;
    return 1.0;
}

double resize_(double t, const int64_t *sizes, int32_t ndim) {
    return ow_tensor_resize(ow_unpack(t), ndim, sizes) ? 1.0 : 0.0;
}

double resize_out(double t, const int64_t *sizes, int32_t ndim) {
    return ow_resize_out(ow_unpack(t), ndim, sizes) ? 1.0 : 0.0;
}

/* ---- what a tensor is ------------------------------------------------------------------------------------- */

void exchange(double a, double b) { ow_tensor_exchange(ow_unpack(a), ow_unpack(b)); }

/* A tensor of which Python is told all sizes, or a part of the layout. */
static const ow_tensor *told(double t, int what) {
    const ow_tensor *self = ow_unpack(t);
    ow_note_size(self, what);
    return self;
}

int32_t shape_id(double t) {
    const ow_tensor *self = told(t, OW_ALL_SIZES);
    return ow_shape_id(self->ndim, self->sizes);
}

int32_t ndim(double t) { return ow_unpack(t)->ndim; }

int64_t numel(double t) { return told(t, OW_ALL_SIZES)->numel; }

int32_t dtype(double t) { return ow_unpack(t)->dtype; }

int32_t element_dtype(double h) {
    const ow_tensor *t = ow_unpack(h);
    return t->dtype + (t->keys & OW_KEY_QUANTIZED ? OW_NSTORED : 0);
}

void sizes(double t, int64_t *out) {
    const ow_tensor *self = told(t, OW_ALL_SIZES);
    for (int d = 0; d < self->ndim; d++) out[d] = self->sizes[d];
}

void strides(double t, int64_t *out) {
    const ow_tensor *self = told(t, OW_LAYOUT);
    for (int d = 0; d < self->ndim; d++) out[d] = self->strides[d];
}

int64_t size(double t, int64_t dim) {
    const ow_tensor *self = ow_unpack(t);
    int64_t n = self->ndim;
    if (dim >= -n && dim < n) {
        const int of = (int)(dim < 0 ? dim + n : dim);
        ow_note_size(self, of);
        return self->sizes[of];
    }
    if (n == 0)
        ow_fail(OW_INDEX_ERROR, "Dimension specified as %lld but tensor has no dimensions", (long long)dim);
    else
        ow_fail(OW_INDEX_ERROR, "Dimension out of range (expected to be in range of [%lld, %lld], but got %lld)",
                (long long)-n, (long long)(n - 1), (long long)dim);
    return -1;
}

int64_t storage_offset(double t) {
    const ow_tensor *self = told(t, OW_LAYOUT);
    return (int64_t)((uintptr_t)self->data - (uintptr_t)self->storage->data) / ow_itemsize(self->dtype);
}

uintptr_t data_ptr(double t) {
    const ow_tensor *self = ow_unpack(t);
    return self->numel && !ow_is_meta(self) ? (uintptr_t)self->data : 0;
}

int32_t flags(double t) { return told(t, OW_LAYOUT)->flags; }

uint32_t keys(double t) { return ow_unpack(t)->keys; }

uint32_t device(double t) { return ow_device_of(ow_unpack(t)); }

void set_keys(double t, uint32_t keys) { ow_unpack(t)->keys = keys; }

int32_t item_kind(double t) {
    const ow_tensor *self = told(t, OW_ALL_SIZES);
    if (self->numel != 1 || !ow_is_readable(self)) return -1;
    if (self->dtype == OW_BOOL) return 0;
    if (self->dtype == OW_UINT64) return 3;
    if (ow_dtype_kinds[self->dtype] == OW_KIND_COMPLEX) return 4;
    return ow_dtype_kinds[self->dtype] == OW_KIND_FLOATING ? 2 : 1;
}

int64_t item_i(double t) {
    const ow_tensor *self = ow_unpack(t);
    int64_t value = 0;
    if (self->dtype == OW_BOOL) return *(const uint8_t *)self->data != 0;
    ow_cast_loop(OW_INT64, self->dtype)((char *)&value, sizeof value, self->data, 0, 1);
    return value;
}

double item_d(double t) {
    const ow_tensor *self = ow_unpack(t);
    double value = 0;
    ow_cast_loop(OW_FLOAT64, self->dtype)((char *)&value, sizeof value, self->data, 0, 1);
    return value;
}

/* ---- storages --------------------------------------------------------------------------------------------- */

static ow_storage *storage_at(uintptr_t storage) { return (ow_storage *)storage; }

uintptr_t storage_of(double t) { return (uintptr_t)ow_storage_memory(ow_unpack(t)->storage); }

int64_t storage_nbytes(uintptr_t storage) {
    ow_note_size(NULL, OW_LAYOUT);
    return storage_at(storage)->nbytes;
}

int32_t storage_resize(uintptr_t storage, int64_t nbytes) {
    if (!ow_storage_resizable(storage_at(storage))) return -1;
    return ow_storage_reuse(storage_at(storage), nbytes);
}

uintptr_t storage_data(uintptr_t storage) {
    const ow_storage *s = storage_at(storage);
    return s->flags & OW_STORAGE_DESCRIBED ? 0 : (uintptr_t)s->data;
}

int32_t suggested_order(double t) { return ow_suggested_order(told(t, OW_LAYOUT)); }

void count_write(double t) { ow_unpack(t)->storage->version++; }

uint32_t version(double t) { return ow_unpack(t)->storage->version; }

int64_t storage_uses(double t) {
    ow_storage *s = ow_unpack(t)->storage, *memory = ow_storage_memory(s);
    return s == memory ? s->refs : s->refs + memory->refs;
}

int32_t storage_is_inference(uintptr_t storage) { return (storage_at(storage)->flags & OW_STORAGE_INFERENCE) != 0; }
uint32_t storage_pinned_for(uintptr_t storage) { return ow_pinned_for(storage_at(storage)); }
int32_t storage_readonly(uintptr_t storage) { return (storage_at(storage)->flags & OW_STORAGE_READONLY) != 0; }

void storage_retain(uintptr_t storage) { ow_storage_retain(storage_at(storage)); }

void storage_release(uintptr_t storage) { ow_storage_release(storage_at(storage)); }

double storage_tensor(uintptr_t storage, int32_t dtype) {
    ow_storage *s = storage_at(storage);
    int64_t n = s->nbytes / ow_itemsize(dtype), stride = 1;
    return ow_pack(ow_tensor_view(s, s->data, dtype, 1, &n, &stride));
}

double storage_described(uintptr_t storage) {
    const ow_storage *s = storage_at(storage);
    ow_tensor *bytes = OW_CALL(OW_META, ow_tensor_new(OW_UINT8, 1, &s->nbytes, NULL));
    if (bytes) bytes->storage->flags |= s->flags & (OW_STORAGE_READONLY | OW_STORAGE_INFERENCE | OW_STORAGE_EXPORTED);
    if (bytes && s->deleter) bytes->storage->flags |= OW_STORAGE_EXPORTED; /* memory of others is not resized */
    return ow_pack(bytes);
}

int32_t memory_overlap(double a, double b) { return ow_memory_overlap(told(a, OW_LAYOUT), told(b, OW_LAYOUT)); }
