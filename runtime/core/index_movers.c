/* Movers of blocks of 1 to 16 bytes and of longer ones, between computed places and regular ones. */
#include "index_space.h"

/* Blocks of a few elements need not be aligned to their own size: memcpy of a constant size is one plain load or store. */
#define MOVERS(size) \
    static void get_##size(char *base, const int64_t *offsets, char *other, int64_t stride, int64_t n, int64_t nbytes) { \
        (void)nbytes; \
        if (stride == size) \
            for (int64_t j = 0; j < n; j++) memcpy(other + j * size, base + offsets[j], size); \
        else \
            for (int64_t j = 0; j < n; j++) memcpy(other + j * stride, base + offsets[j], size); \
    } \
    static void put_##size(char *base, const int64_t *offsets, char *other, int64_t stride, int64_t n, int64_t nbytes) { \
        (void)nbytes; \
        for (int64_t j = 0; j < n; j++) memcpy(base + offsets[j], other + j * stride, size); \
    }
MOVERS(1)
MOVERS(2)
MOVERS(4)
MOVERS(8)
MOVERS(16)

static void get_block(char *base, const int64_t *offsets, char *other, int64_t stride, int64_t n, int64_t nbytes) {
    for (int64_t j = 0; j < n; j++) memcpy(other + j * stride, base + offsets[j], (size_t)nbytes);
}

static void put_block(char *base, const int64_t *offsets, char *other, int64_t stride, int64_t n, int64_t nbytes) {
    for (int64_t j = 0; j < n; j++) memcpy(base + offsets[j], other + j * stride, (size_t)nbytes);
}

ow_mover ow_mover_get(int64_t nbytes) {
    switch (nbytes) {
    case 1: return get_1;
    case 2: return get_2;
    case 4: return get_4;
    case 8: return get_8;
    case 16: return get_16;
    default: return get_block;
    }
}

ow_mover ow_mover_put(int64_t nbytes) {
    switch (nbytes) {
    case 1: return put_1;
    case 2: return put_2;
    case 4: return put_4;
    case 8: return put_8;
    case 16: return put_16;
    default: return put_block;
    }
}
