/* What conversions between dtypes (generated/core/casts.c) share: rounding of numbers out of range, and detours. */
#ifndef OPWEAVE_CASTS_H
#define OPWEAVE_CASTS_H

#include "kernel.h"

#define BLOCK 256 /* elements that pass through a buffer at a time: a float32 one of halves, one of rows with gaps */
#define FEW 8     /* elements that are not worth it */

/* Out-of-range floats become the smallest integer; narrower integers keep the low bits. x86's instructions do that, but C
 * leaves it open, so other processors are told. */
#ifdef __x86_64__
#define IN_RANGE(condition) 1
#else
#define IN_RANGE(condition) (condition)
#endif
static inline int32_t float_to_i32(float x) {
    return IN_RANGE((x >= -0x1p31f) & (x < 0x1p31f)) ? (int32_t)x : INT32_MIN;
}
static inline int32_t double_to_i32(double x) {
    return IN_RANGE((x > -0x1p31 - 1) & (x < 0x1p31)) ? (int32_t)x : INT32_MIN;
}
static inline int64_t float_to_i64(float x) {
    return IN_RANGE((x >= -0x1p63f) & (x < 0x1p63f)) ? (int64_t)x : INT64_MIN;
}
static inline int64_t double_to_i64(double x) {
    return IN_RANGE((x >= -0x1p63) & (x < 0x1p63)) ? (int64_t)x : INT64_MIN;
}
/* Numbers from 2^63 on need a conversion of their own; negative ones wrap. */
static inline uint64_t float_to_u64(float x) {
    return (x >= 0x1p63f) & (x < 0x1p64f) ? (uint64_t)(int64_t)(x - 0x1p63f) + (UINT64_C(1) << 63) : (uint64_t)float_to_i64(x);
}
static inline uint64_t double_to_u64(double x) {
    return (x >= 0x1p63) & (x < 0x1p64) ? (uint64_t)(int64_t)(x - 0x1p63) + (UINT64_C(1) << 63) : (uint64_t)double_to_i64(x);
}

typedef void (*cast_loop)(char *, int64_t, const char *, int64_t, int64_t);

/* Rows with gaps by way of some without. */
static void by_rows(cast_loop cast, char *dst, int64_t dst_stride, int dst_size, const char *src, int64_t src_stride,
                    int src_size, int64_t n) {
    _Alignas(64) char from[BLOCK * sizeof(double _Complex)], to[sizeof from];
    for (int64_t at = 0; at < n; at += BLOCK) {
        int64_t count = n - at < BLOCK ? n - at : BLOCK;
        const char *row = ow_row(from, src + at * src_stride, src_stride, count, src_size);
        char *out = dst_stride == dst_size ? dst + at * dst_stride : to;
        cast(out, dst_size, row, src_size, count);
        if (out == to) ow_put_row(dst + at * dst_stride, to, dst_stride, count, dst_size);
    }
}

/* ---- formats of eight bits: by way of float32 ----------------------------------------------------------- */

static void cast_u8_to_u8(char *dst, int64_t dst_stride, const char *src, int64_t src_stride, int64_t n);

static void from_narrow(const float *values, cast_loop rest, char *dst, int64_t dst_stride, const char *src,
                        int64_t src_stride, int64_t n) {
    float wide[BLOCK];
    for (int64_t at = 0; at < n; at += BLOCK) {
        int64_t count = n - at < BLOCK ? n - at : BLOCK;
        for (int64_t i = 0; i < count; i++) wide[i] = values[*(const uint8_t *)(src + (at + i) * src_stride)];
        rest(dst + at * dst_stride, dst_stride, (const char *)wide, sizeof(float), count);
    }
}

static void to_narrow(void (*round)(uint8_t *, const float *, int64_t), cast_loop first, char *dst, int64_t dst_stride,
                      const char *src, int64_t src_stride, int64_t n) {
    float wide[BLOCK];
    uint8_t narrow[BLOCK];
    int repeats = src_stride == 0; /* converted once */
    for (int64_t at = 0; at < n; at += repeats ? n : BLOCK) {
        int64_t count = n - at < BLOCK ? n - at : BLOCK, distinct = repeats ? 1 : count;
        first((char *)wide, sizeof(float), src + at * src_stride, src_stride, distinct);
        round(narrow, wide, distinct);
        cast_u8_to_u8(dst + at * dst_stride, dst_stride, (const char *)narrow, !repeats, repeats ? n : count);
    }
}

#endif
