/* Movers of blocks of 1 to 16 bytes and of longer ones, between computed places and regular ones. */
#include "index_space.h"

enum { MOST_FETCHED = 4096 }; /* bytes of the next block that are on their way while one is copied */

/* Unrolled: what a loop that moves one element does for itself takes as long as moving it. */
#define EACH(n) _Pragma("GCC unroll 4") for (int64_t j = 0; j < (n); j++)

/* Blocks of a few elements need not be aligned to their own size: memcpy of a constant size is one plain load or store. */
#define DIRECT(name, size, to, from)                                                                               \
    static void name##_direct_##size(char *base, const int64_t *indices, int64_t scale, int64_t step, char *other, \
                                     int64_t stride, int64_t n) {                                                  \
        if (scale == size && step == 0 && stride == size)                                                          \
            EACH(n) {                                                                                              \
                char *address = base + indices[j] * size, *value = other + j * size;                               \
                memcpy(to, from, size);                                                                            \
            }                                                                                                      \
        else                                                                                                       \
            EACH(n) {                                                                                              \
                char *address = base + indices[j] * scale + j * step, *value = other + j * stride;                 \
                memcpy(to, from, size);                                                                            \
            }                                                                                                      \
    }
#define MOVERS(size)                                                                                                     \
    static void get_##size(char *base, const int64_t *offsets, char *other, int64_t stride, int64_t n, int64_t nbytes) { \
        (void)nbytes;                                                                                                    \
        EACH(n) memcpy(other + j * stride, base + offsets[j], size);                                                     \
    }                                                                                                                    \
    static void put_##size(char *base, const int64_t *offsets, char *other, int64_t stride, int64_t n, int64_t nbytes) { \
        (void)nbytes;                                                                                                    \
        EACH(n) memcpy(base + offsets[j], other + j * stride, size);                                                     \
    }                                                                                                                    \
    DIRECT(get, size, value, address)                                                                                    \
    DIRECT(put, size, address, value)
MOVERS(1)
MOVERS(2)
MOVERS(4)
MOVERS(8)
MOVERS(16)

#define FILLER(type, size)                                                                                                \
    static void fill_##size(char *base, const int64_t *offsets, char *other, int64_t stride, int64_t n, int64_t nbytes) { \
        type value;                                                                                                       \
        (void)stride;                                                                                                     \
        memcpy(&value, other, size);                                                                                      \
        for (int64_t j = 0; j < n; j++) {                                                                                 \
            type *block = (type *)(base + offsets[j]);                                                                    \
            for (int64_t i = 0; i < nbytes / size; i++) block[i] = value;                                                 \
        }                                                                                                                 \
    }
FILLER(uint8_t, 1)
FILLER(uint16_t, 2)
FILLER(uint32_t, 4)
FILLER(uint64_t, 8)

typedef struct ow_pair {
    uint64_t parts[2];
} ow_pair;
FILLER(ow_pair, 16)

static void get_block(char *base, const int64_t *offsets, char *other, int64_t stride, int64_t n, int64_t nbytes) {
    for (int64_t j = 0; j < n; j++) memcpy(other + j * stride, base + offsets[j], (size_t)nbytes);
}

static void put_block(char *base, const int64_t *offsets, char *other, int64_t stride, int64_t n, int64_t nbytes) {
    for (int64_t j = 0; j < n; j++) {
        const char *next = base + offsets[j + 1 < n ? j + 1 : j]; /* which no processor foresees */
        for (int64_t k = 0; k < nbytes && k < MOST_FETCHED; k += 64) __builtin_prefetch(next + k, 1);
        memcpy(base + offsets[j], other + j * stride, (size_t)nbytes);
    }
}

#define BY_SIZE(name)                                         \
    switch (nbytes) {                                         \
    case 1: return (ow_movers){name##_1, name##_direct_1};    \
    case 2: return (ow_movers){name##_2, name##_direct_2};    \
    case 4: return (ow_movers){name##_4, name##_direct_4};    \
    case 8: return (ow_movers){name##_8, name##_direct_8};    \
    case 16: return (ow_movers){name##_16, name##_direct_16}; \
    default: return (ow_movers){name##_block, NULL};          \
    }

ow_movers ow_movers_get(int64_t nbytes) { BY_SIZE(get) }

ow_movers ow_movers_put(int64_t nbytes) { BY_SIZE(put) }

ow_movers ow_movers_fill(int64_t itemsize) {
    switch (itemsize) {
    case 1: return (ow_movers){fill_1, NULL};
    case 2: return (ow_movers){fill_2, NULL};
    case 4: return (ow_movers){fill_4, NULL};
    case 8: return (ow_movers){fill_8, NULL};
    default: return (ow_movers){fill_16, NULL};
    }
}
