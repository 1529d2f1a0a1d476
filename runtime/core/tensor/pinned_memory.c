/* Storages of the CPU whose memory a registered device has allocated: it copies to and from such memory without a detour. */
#include <pthread.h>

#include "storage.h"

/* A process that was forked has a copy of such memory, which is not its own to give back. So a storage says of which process
 * it is: above the number of the kind of device, how many forks have led to the process. */
static uintptr_t forks;

static void after_fork(void) { forks++; }
__attribute__((constructor)) static void start(void) { pthread_atfork(NULL, NULL, after_fork); }

static void release_pinned(ow_storage *s) {
    const uintptr_t owner = (uintptr_t)s->context;
    const ow_device_kind *kind = ow_device_row((ow_device)(owner & (OW_DEVICES_OF_KIND - 1)));
    if (owner >> OW_DEVICE_INDEX == forks) kind->release_pinned(kind, s->data, s->capacity);
}

ow_storage *ow_storage_pinned(ow_device device, int64_t nbytes) {
    const ow_device_kind *kind = ow_device_row(device);
    if (!kind || !kind->allocate_pinned)
        return ow_fail(OW_RUNTIME_ERROR, "the device %s does not allocate pinned memory", ow_device_type(device));
    if (!nbytes) return ow_storage_new(0);
    void *data = kind->allocate_pinned(kind, nbytes);
    if (!data) return NULL;
    const uintptr_t owner = forks << OW_DEVICE_INDEX | (uintptr_t)ow_device_kind_of(device);
    ow_storage *s = ow_storage_foreign(data, nbytes, release_pinned, (void *)owner, 0);
    if (!s) kind->release_pinned(kind, data, nbytes);
    return s;
}

ow_device ow_pinned_for(ow_storage *s) {
    s = ow_storage_memory(s);
    const uintptr_t owner = (uintptr_t)s->context;
    return s->deleter == release_pinned && owner >> OW_DEVICE_INDEX == forks ? owner & (OW_DEVICES_OF_KIND - 1) : OW_CPU;
}
