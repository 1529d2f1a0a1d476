/* Rows of elements that are not contiguous: the functions that kernel.h declares. */
#ifndef OPWEAVE_ROW_COPIES_H
#define OPWEAVE_ROW_COPIES_H
#include "kernel.h"

#define OW_GATHER(size, type) \
    typedef type ow_item##size __attribute__((may_alias)); \
    OW_ROW_FUNCTION void ow_gather(size)(void *buffer, const char *from, int64_t stride, int64_t n) { \
        ow_item##size *to = buffer; \
        const ow_item##size *items = (const ow_item##size *)from; \
        if (stride == 0 && n > 0) { \
            ow_item##size only = *items; \
            for (int64_t i = 0; i < n; i++) to[i] = only; \
        } else if (stride == 2 * size) \
            for (int64_t i = 0; i < n; i++) to[i] = items[2 * i]; \
        else if (stride == -size) \
            for (int64_t i = 0; i < n; i++) to[i] = items[-i]; \
        else \
            for (int64_t i = 0; i < n; i++) to[i] = *(const ow_item##size *)(from + i * stride); \
    } \
    OW_ROW_FUNCTION void ow_scatter(size)(char *to, const void *buffer, int64_t stride, int64_t n) { \
        const ow_item##size *from = buffer; \
        for (int64_t i = 0; i < n; i++) *(ow_item##size *)(to + i * stride) = from[i]; \
    }
OW_ITEMS(OW_GATHER)
#undef OW_GATHER
#endif
