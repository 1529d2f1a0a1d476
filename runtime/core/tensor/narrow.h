/* Conversions from float32 to formats of eight bits. The constants of a format are known where these are called. */
#ifndef OPWEAVE_NARROW_H
#define OPWEAVE_NARROW_H

#include <stdint.h>

#include "kernel/bits.h"

/* To a format with a sign, `stored` bits of the significand and exponents that exceed the numbers' by `bias`: rounds to
 * nearest even. `overflow` is the code of what lies beyond `largest`. A format without a negative zero has NaN there, which
 * has no sign then. */
static inline __attribute__((always_inline)) uint8_t ow_to_narrow(float x, int stored, int bias, uint32_t largest,
                                                                  uint32_t overflow, uint32_t nan, int has_zeros) {
    uint32_t bits = ow_bits(x), magnitude = bits & 0x7fffffff, sign = bits >> 24 & 0x80;
    int shift = 23 - stored;
    /* Subnormal results: adding a number whose last bit is theirs rounds to nearest even. */
    uint32_t aligned = (uint32_t)(127 + 1 - bias + shift) << 23;
    uint32_t subnormal = ow_bits(ow_from_bits(magnitude) + ow_from_bits(aligned)) - aligned;
    uint32_t half = (1u << (shift - 1)) - 1 + (magnitude >> shift & 1);
    uint32_t normal = (magnitude - ((uint32_t)(127 - bias) << 23) + half) >> shift;
    uint32_t code = magnitude < (uint32_t)(127 + 1 - bias) << 23 ? subnormal : normal;
    code = code > largest ? overflow : code;
    code = magnitude > 0x7f800000 ? nan : code;
    return (uint8_t)(has_zeros || (code != 0 && code != nan) ? code | sign : code);
}

/* To the powers of two that a format without sign and significand has: to the nearer one, ties to the larger one. As in torch,
 * float32's denormal numbers beyond half its smallest normal one become that. */
static inline __attribute__((always_inline)) uint8_t ow_to_powers(float x, int bias, uint32_t largest, uint32_t overflow,
                                                                  uint32_t nan) {
    uint32_t magnitude = ow_bits(x) & 0x7fffffff;
    uint32_t code = ((magnitude + 0x3fffff + (magnitude >> 23 != 0)) >> 23) - (uint32_t)(127 - bias);
    code = code > largest ? overflow : code;
    return (uint8_t)(magnitude > 0x7f800000 ? nan : code);
}

#endif
