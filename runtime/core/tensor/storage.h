/* How a storage lies in memory; shared by storage.c and tensor.c.
 *
 * One block holds the header, for a new tensor its first handle, and the data when they are small:
 *
 *     | ow_storage, padded to 64 | ow_tensor, 128 | data, 64-byte aligned ... |
 *
 * A view may outlive that first handle: it keeps a reference to the storage like any other, and the block goes with
 * the last reference. The first handle may come to have other memory: then it holds the block, and the storage's data may
 * go before it.
 */
#ifndef OPWEAVE_STORAGE_H
#define OPWEAVE_STORAGE_H

#include "tensor.h"

enum {
    OW_STORAGE_BYTES = 64,
    OW_HANDLE_BYTES = 128,
    OW_INLINE_BYTES = 16 << 10 /* data up to here share the block */
};

_Static_assert(sizeof(ow_storage) <= OW_STORAGE_BYTES, "the header must leave the data aligned");
_Static_assert(sizeof(ow_tensor) <= OW_HANDLE_BYTES, "the first handle must leave the data aligned");

/* Where storages without memory begin: no address of a program, so that a use of one ends it at once. */
#define OW_NOWHERE ((char *)((uintptr_t)1 << 56))

/* The key of a kind of device; 0 of the CPU, and of `meta`, whose tensors have that of storages without memory. */
static inline uint32_t ow_device_key(ow_device device) {
    uint32_t kind = (uint32_t)ow_device_kind_of(device);
    return kind < OW_REGISTERED_DEVICES ? 0 : 1u << (OW_KEY_FIRST_DEVICE + kind - OW_REGISTERED_DEVICES);
}

/* The keys of tensors in this storage. */
static inline uint32_t ow_storage_keys(const ow_storage *s) {
    const uint32_t described = OW_STORAGE_DESCRIBED, wrapper = OW_STORAGE_WRAPPER, sparse = OW_STORAGE_SPARSE;
    if (s->flags < 1u << OW_STORAGE_DEVICE && !(s->flags & described)) return 0;
    return ow_device_key(s->flags >> OW_STORAGE_DEVICE) | (s->flags & described ? OW_KEY_META : 0) |
           (s->flags & wrapper ? OW_KEY_WRAPPER : 0) | (s->flags & sparse ? OW_KEY_SPARSE : 0) |
           (s->flags << (OW_KEY_FIRST_ADDED - OW_STORAGE_KEYS) & OW_KEY_ADDED);
}

/* The flags of a storage without memory whose tensors have these keys beside those of the device. */
static inline uint32_t ow_described_flags(ow_device device, uint32_t keys) {
    return OW_STORAGE_DESCRIBED | device << OW_STORAGE_DEVICE | (keys & OW_KEY_WRAPPER ? OW_STORAGE_WRAPPER : 0) |
           (keys & OW_KEY_SPARSE ? OW_STORAGE_SPARSE : 0) | (keys & OW_KEY_ADDED) >> (OW_KEY_FIRST_ADDED - OW_STORAGE_KEYS);
}

/* A storage whose block begins with `header` bytes, of memory of the device where the thread allocates. NULL with the error
 * set. */
ow_storage *ow_storage_create(int64_t nbytes, int64_t header);
/* Copies the contents to other memory of the same device, where there are any. 1, or 0 with the error set. */
int ow_storage_move(char *to, const ow_storage *s);
/* Moves the contents to `nbytes` of new memory. Only for the storage's single owner: views hold addresses. 1, or 0 with
 * the error set. */
int ow_storage_grow(ow_storage *s, int64_t nbytes);
/* 1 if the memory is the allocator's own and exported to nobody; 0 with the error set otherwise. */
int ow_storage_resizable(const ow_storage *s);
/* Makes the storage use `nbytes` of the memory that it has. 1, or 0 where these are too many. */
int ow_storage_reuse(ow_storage *s, int64_t nbytes);

/* ---- devices (devices.c) ------------------------------------------------------------------------------ */

/* A kind of device that a program registers. Addresses are the device's: nobody reads them here. */
typedef struct ow_device_kind {
    char name[32];
    int count;        /* of devices of the kind */
    int keeps_blocks; /* Are blocks that tensors leave for other tensors? */
    /* Memory of a device; NULL with the error set. */
    void *(*allocate)(const struct ow_device_kind *kind, ow_device device, int64_t nbytes);
    void (*release)(const struct ow_device_kind *kind, ow_device device, void *data, int64_t nbytes);
    /* Copies between two addresses of a device. 1, or 0 with the error set. */
    int (*copy)(const struct ow_device_kind *kind, ow_device device, void *to, const void *from, int64_t nbytes);
    /* Memory of the CPU that copies to and from the devices prefer; both NULL: there is none. NULL with the error set. */
    void *(*allocate_pinned)(const struct ow_device_kind *kind, int64_t nbytes);
    void (*release_pinned)(const struct ow_device_kind *kind, void *data, int64_t nbytes);
    void *context;
} ow_device_kind;

/* The number of a new kind; 0 with the error set where there is no room for another one. */
int ow_device_register(const ow_device_kind *kind);
/* 1 if there is such a device. */
int ow_device_exists(ow_device device);
/* NULL for the CPU and `meta`. */
const ow_device_kind *ow_device_row(ow_device device);
int ow_device_copy(ow_device device, void *to, const void *from, int64_t nbytes);

/* ---- memory of registered devices (device_memory.c) ---------------------------------------------------- */

/* Bytes that tensors hold, and those that the device has given, now and at most. */
typedef struct {
    int64_t allocated, most_allocated, reserved, most_reserved;
} ow_device_memory;

/* NULL with the error set. */
void *ow_device_allocate(ow_device device, int64_t nbytes);
void ow_device_release(ow_device device, void *data, int64_t nbytes);
/* Gives the device back what no tensor uses: how many bytes. */
int64_t ow_device_empty_cache(ow_device device);
ow_device_memory ow_device_memory_of(ow_device device, int resets_peaks);

/* ---- memory of the CPU for registered devices (pinned_memory.c) ---------------------------------------- */

/* A storage of the CPU whose memory a kind of device allocates. NULL with the error set. */
ow_storage *ow_storage_pinned(ow_device device, int64_t nbytes);
/* The kind of device that has allocated the memory of a storage of the CPU; OW_CPU: none. */
ow_device ow_pinned_for(ow_storage *s);

/* ---- sizes and strides (sizes.c) ------------------------------------------------------------------- */

/* "[2, 3]" as errors print it; cut short when it does not fit. */
const char *ow_list_text(char *text, size_t capacity, int n, const int64_t *values);
/* Number of elements; 0 with the error set for negative sizes, too many dimensions and overflow. */
int ow_numel(int ndim, const int64_t *sizes, int64_t *numel);
/* Bytes from the first element to the end of the last one; strides NULL: contiguous. -1 with the error set. */
int64_t ow_extent(int ndim, const int64_t *sizes, const int64_t *strides, int64_t numel, int64_t itemsize);
/* Strides of C order; sizes of 0 count as 1. 0 with the error set when they overflow (possible for empty tensors). */
int ow_contiguous_strides(int ndim, const int64_t *sizes, int64_t *strides);

#endif
