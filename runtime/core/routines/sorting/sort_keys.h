/* Unsigned keys in whose order torch puts the values of every dtype: NaN last, both zeros alike. */
#ifndef OPWEAVE_KEYS_H
#define OPWEAVE_KEYS_H

#include "isa/target_clones.h"
#include "tensor/tensor.h"

/* From the bits of a floating value of `width` bits whose infinity has the bits `infinity`; branch-free. */
#define OW_FLOATING_KEY(type, width, infinity)                                                       \
    static inline type ow_floating_key_##width##_##infinity(type bits) {                             \
        const type sign = (type)1 << (width - 1);                                                    \
        type magnitude = bits & (type)~sign;                                                         \
        type negative = (type)-(type)((bits >> (width - 1)) & (magnitude != 0));                     \
        return magnitude > infinity ? (type)~(type)0 : (type)((magnitude ^ negative) + sign);        \
    }
OW_FLOATING_KEY(uint16_t, 16, 0x7c00)
OW_FLOATING_KEY(uint16_t, 16, 0x7f80)
OW_FLOATING_KEY(uint32_t, 32, 0x7f800000)
OW_FLOATING_KEY(uint64_t, 64, 0x7ff0000000000000)
#undef OW_FLOATING_KEY

#define OW_SAME_KEY(bits) (bits)
#define OW_KEYS_BOTH(type, map)                                                                            \
    {                                                                                                      \
        const type *dense = (const type *)x;                                                               \
        if (stride == (int64_t)sizeof(type))                                                               \
            for (int64_t j = 0; j < n; j++) keys[j] = (uint64_t)(type)map(dense[j]) ^ flip;                \
        else                                                                                               \
            for (int64_t j = 0; j < n; j++) keys[j] = (uint64_t)(type)map(*(const type *)(x + j * stride)) ^ flip; \
        break;                                                                                             \
    }
#define OW_SIGNED_8(bits) ((bits) ^ 0x80)
#define OW_SIGNED_16(bits) ((bits) ^ 0x8000)
#define OW_SIGNED_32(bits) ((bits) ^ 0x80000000)
#define OW_SIGNED_64(bits) ((bits) ^ 0x8000000000000000)

/* The keys of n elements `stride` bytes apart, each xor `flip`. Returns the least. Always inlined, so that it is compiled
 * for the instruction set of its caller. */
static inline __attribute__((always_inline)) uint64_t ow_load_keys(int dtype, const char *x, int64_t stride, int64_t n,
                                                                   uint64_t flip, uint64_t *keys) {
    uint64_t least = UINT64_MAX;
    switch (dtype) {
    case OW_BOOL:
    case OW_UINT8: OW_KEYS_BOTH(uint8_t, OW_SAME_KEY)
    case OW_UINT16: OW_KEYS_BOTH(uint16_t, OW_SAME_KEY)
    case OW_UINT32: OW_KEYS_BOTH(uint32_t, OW_SAME_KEY)
    case OW_UINT64: OW_KEYS_BOTH(uint64_t, OW_SAME_KEY)
    case OW_INT8: OW_KEYS_BOTH(uint8_t, OW_SIGNED_8)
    case OW_INT16: OW_KEYS_BOTH(uint16_t, OW_SIGNED_16)
    case OW_INT32: OW_KEYS_BOTH(uint32_t, OW_SIGNED_32)
    case OW_INT64: OW_KEYS_BOTH(uint64_t, OW_SIGNED_64)
    case OW_FLOAT16: OW_KEYS_BOTH(uint16_t, ow_floating_key_16_0x7c00)
    case OW_BFLOAT16: OW_KEYS_BOTH(uint16_t, ow_floating_key_16_0x7f80)
    case OW_FLOAT32: OW_KEYS_BOTH(uint32_t, ow_floating_key_32_0x7f800000)
    default: OW_KEYS_BOTH(uint64_t, ow_floating_key_64_0x7ff0000000000000)
    }
    for (int64_t j = 0; j < n; j++) least = keys[j] < least ? keys[j] : least;
    return least;
}

#endif
