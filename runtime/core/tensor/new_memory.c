/* What is in new memory where a program asked for the same at each run: what shows that an element was never written. */
#include "storage.h"

int ow_fills_new_memory = 0;

void ow_fill_new_memory(const ow_storage *s, char *data, int dtype) {
    static const float undefined = __builtin_nanf("");
    int integer = ow_dtype_kinds[dtype] <= OW_KIND_INTEGER;
    const char *value = integer ? (const char *)&ow_dtype_bounds[dtype][1] : (const char *)&undefined;
    int64_t count = (s->data + s->nbytes - data) / ow_itemsize(dtype);
    if (s->flags & OW_STORAGE_DESCRIBED || s->flags >> OW_STORAGE_DEVICE || count <= 0) return;
    ow_cast_loop(dtype, integer ? OW_INT64 : OW_FLOAT32)(data, ow_itemsize(dtype), value, 0, count);
}
