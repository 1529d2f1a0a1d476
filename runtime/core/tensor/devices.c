/* The kinds of devices that programs register, beside the CPU and `meta`. A kind is never taken back: tensors may be on it. */
#include <stdio.h>

#include "storage.h"

static ow_device_kind kinds[OW_DEVICE_KINDS - OW_REGISTERED_DEVICES];
static int registered;

const ow_device_kind *ow_device_row(ow_device device) {
    int number = ow_device_kind_of(device) - OW_REGISTERED_DEVICES;
    return number >= 0 && number < registered ? &kinds[number] : NULL;
}

static int index_of(ow_device device) { return (int)(device >> OW_DEVICE_INDEX); }

int ow_device_register(const ow_device_kind *kind) {
    const int room = OW_DEVICE_KINDS - OW_REGISTERED_DEVICES;
    if (registered == room) {
        ow_fail(OW_RUNTIME_ERROR, "%d kinds of devices are registered, and there is no room for %s", room, kind->name);
        return 0;
    }
    kinds[registered] = *kind;
    return OW_REGISTERED_DEVICES + registered++;
}

int ow_device_exists(ow_device device) {
    const ow_device_kind *kind = ow_device_row(device);
    return kind ? index_of(device) < kind->count : device == OW_CPU || device == OW_META;
}

const char *ow_device_type(ow_device device) {
    const ow_device_kind *kind = ow_device_row(device);
    return kind ? kind->name : device == OW_CPU ? "cpu" : "meta";
}

const char *ow_device_text(char *text, size_t capacity, ow_device device) {
    const ow_device_kind *kind = ow_device_row(device);
    if (kind) snprintf(text, capacity, "%s:%d", kind->name, index_of(device));
    else snprintf(text, capacity, "%s", ow_device_type(device));
    return text;
}

int ow_device_copy(ow_device device, void *to, const void *from, int64_t nbytes) {
    const ow_device_kind *kind = ow_device_row(device);
    return kind->copy(kind, device, to, from, nbytes);
}
