/* Storages: counted memory that tensors share. */
#include "storage.h"

static void *memory_of(ow_device place, int64_t nbytes) {
    if (!place) return ow_alloc(nbytes);
    return place == OW_META || !nbytes ? OW_NOWHERE : ow_device_allocate(place, nbytes);
}

ow_storage *ow_storage_create(int64_t nbytes, int64_t header) {
    const ow_device place = ow_place & ~OW_PLANNED;
    const int fits = nbytes <= OW_INLINE_BYTES && !place;
    ow_storage *s = ow_alloc(fits ? header + nbytes : header);
    if (!s) return NULL;
    s->refs = 1;
    s->flags = (fits ? OW_STORAGE_INLINE : place == OW_META ? OW_STORAGE_DESCRIBED : 0) | ow_inference_flag() |
               place << OW_STORAGE_DEVICE;
    s->version = 0;
    s->nbytes = s->capacity = nbytes;
    s->deleter = NULL;
    s->context = NULL;
    s->block = fits ? header + nbytes : header;
    s->holders = 1;
    s->data = fits ? (char *)s + header : memory_of(place, nbytes);
    if (__builtin_expect(!s->data, 0)) {
        ow_dealloc(s, header);
        return NULL;
    }
    return s;
}

ow_storage *ow_storage_new(int64_t nbytes) {
    if (nbytes < 0) return ow_fail(OW_RUNTIME_ERROR, "a storage cannot have %lld bytes", (long long)nbytes);
    return ow_storage_create(nbytes, OW_STORAGE_BYTES);
}

ow_storage *ow_storage_foreign(void *data, int64_t nbytes, void (*deleter)(ow_storage *), void *context,
                               uint32_t flags) {
    ow_storage *s = ow_alloc(OW_STORAGE_BYTES);
    if (!s) return NULL;
    *s = (ow_storage){.refs = 1, .flags = flags | ow_inference_flag(), .data = data, .nbytes = nbytes, .deleter = deleter,
                      .context = context, .block = OW_STORAGE_BYTES, .capacity = nbytes, .holders = 1};
    return s;
}

static void free_own_data(ow_storage *s) {
    const ow_device device = s->flags >> OW_STORAGE_DEVICE;
    if (s->flags & (OW_STORAGE_INLINE | OW_STORAGE_DESCRIBED)) return;
    if (!device) ow_dealloc(s->data, s->capacity);
    else if (s->data != OW_NOWHERE) ow_device_release(device, s->data, s->capacity);
}

/* Releases a storage that only counts writes to the memory of another one. */
static void release_memory(ow_storage *s) { ow_storage_release(s->context); }

ow_storage *ow_storage_apart(ow_storage *s, uint32_t version) {
    ow_storage *memory = ow_storage_memory(s);
    ow_storage *apart = ow_storage_foreign(memory->data, memory->nbytes, release_memory, memory, 0);
    if (!apart) return NULL;
    apart->flags = memory->flags & ~(uint32_t)OW_STORAGE_INLINE;
    apart->version = version;
    ow_storage_retain(memory);
    return apart;
}

ow_storage *ow_storage_memory(ow_storage *s) { return s->deleter == release_memory ? s->context : s; }

int ow_storage_resizable(const ow_storage *s) {
    const ow_storage *memory = s->deleter == release_memory ? s->context : s;
    if (!memory->deleter && !(memory->flags & OW_STORAGE_EXPORTED)) return 1;
    ow_fail(OW_RUNTIME_ERROR, "Trying to resize storage that is not resizable");
    return 0;
}

int ow_storage_reuse(ow_storage *s, int64_t nbytes) {
    if (nbytes > s->capacity) return 0;
    s->nbytes = nbytes;
    return 1;
}

int ow_storage_move(char *to, const ow_storage *s) {
    const ow_device device = s->flags >> OW_STORAGE_DEVICE;
    if (s->flags & OW_STORAGE_DESCRIBED || !s->nbytes) return 1;
    if (device) return ow_device_copy(device, to, s->data, s->nbytes);
    memcpy(to, s->data, (size_t)s->nbytes);
    return 1;
}

int ow_storage_grow(ow_storage *s, int64_t nbytes) {
    if (!(s->flags & OW_STORAGE_DESCRIBED)) {
        const ow_device device = s->flags >> OW_STORAGE_DEVICE;
        char *data = memory_of(device, nbytes);
        if (!data) return 0;
        if (!ow_storage_move(data, s)) {
            if (device) ow_device_release(device, data, nbytes);
            return 0;
        }
        free_own_data(s);
        s->flags &= ~(uint32_t)OW_STORAGE_INLINE;
        s->data = data;
    }
    s->nbytes = s->capacity = nbytes;
    return 1;
}

void ow_storage_retain(ow_storage *s) { __atomic_fetch_add(&s->refs, 1, __ATOMIC_RELAXED); }

void ow_storage_release(ow_storage *s) {
    /* The only owner need not tell anyone: nobody else can be counting. */
    if (__atomic_load_n(&s->refs, __ATOMIC_ACQUIRE) != 1 && __atomic_fetch_sub(&s->refs, 1, __ATOMIC_ACQ_REL) != 1)
        return;
    if (s->flags & OW_STORAGE_LEFT && ow_await_loops(s)) return;
    ow_storage_free(s);
}

void ow_storage_free(ow_storage *s) {
    if (s->deleter) s->deleter(s);
    else free_own_data(s);
    ow_storage_release_block(s);
}

void ow_storage_release_block(ow_storage *s) {
    if (__atomic_load_n(&s->holders, __ATOMIC_ACQUIRE) != 1 && __atomic_fetch_sub(&s->holders, 1, __ATOMIC_ACQ_REL) != 1)
        return;
    ow_dealloc(s, s->block);
}
