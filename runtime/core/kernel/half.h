/* Conversions between float32 and the half formats, as rows (vectorised) and one by one. */
#ifndef OPWEAVE_HALF_H
#define OPWEAVE_HALF_H

#include <math.h>
#include <stdint.h>

#include "opweave.h"

#if defined(__F16C__)
#include <immintrin.h>
#endif

#include "bits.h"

/* ---- bfloat16: the upper half of a float32; rounds to nearest even, NaN stays NaN ---------------------- */

static inline float ow_bf16_to_f32(uint16_t h) { return ow_from_bits((uint32_t)h << 16); }

static inline uint16_t ow_f32_to_bf16(float x) {
    uint32_t bits = ow_bits(x);
    uint32_t rounded = (bits + 0x7fff + (bits >> 16 & 1)) >> 16;
    return (uint16_t)((bits & 0x7fffffff) > 0x7f800000 ? 0x7fc0 : rounded);
}

/* ---- float16 (IEEE binary16) --------------------------------------------------------------------------- */

#if defined(__F16C__)
static inline float ow_f16_to_f32(uint16_t h) { return _cvtsh_ss(h); }
static inline uint16_t ow_f32_to_f16(float x) { return _cvtss_sh(x, 0); }
#else
static inline float ow_f16_to_f32(uint16_t h) {
    /* Scaling by 2^112 moves the exponent and normalises denormals; infinities and NaN need their exponent filled. */
    uint32_t magnitude = (uint32_t)(h & 0x7fff) << 13;
    float scaled = ow_from_bits(magnitude) * 0x1p112f;
    uint32_t bits = ow_bits(scaled) | ((h & 0x7c00) == 0x7c00 ? 0x7f800000u : 0);
    /* The hardware conversion makes signalling NaNs quiet. */
    bits |= (h & 0x7fff) > 0x7c00 ? 0x00400000u : 0;
    return ow_from_bits(bits | (uint32_t)(h & 0x8000) << 16);
}
static inline uint16_t ow_f32_to_f16(float x) {
    uint32_t bits = ow_bits(x), sign = bits >> 16 & 0x8000;
    bits &= 0x7fffffff;
    /* Denormal results: adding 0.5 aligns the binary point, so that the addition rounds to nearest even. */
    uint32_t denormal = ow_bits(ow_from_bits(bits) + 0.5f) - 0x3f000000;
    uint32_t normal = (bits - 0x38000000 + 0xfff + (bits >> 13 & 1)) >> 13;
    uint32_t result = bits < 0x38800000 ? denormal : normal;
    result = bits >= 0x47800000 ? 0x7c00 : result;
    result = bits > 0x7f800000 ? 0x7e00 | (bits >> 13 & 0x3ff) : result;
    return (uint16_t)(sign | result);
}
#endif

/* ---- complex32: a pair of float16 ----------------------------------------------------------------------- */

static inline float _Complex ow_c32_to_c64(ow_complex32 x) {
    float _Complex wide;
    __real__ wide = ow_f16_to_f32(x.re);
    __imag__ wide = ow_f16_to_f32(x.im);
    return wide;
}

static inline ow_complex32 ow_c64_to_c32(float _Complex x) {
    return (ow_complex32){ow_f32_to_f16(__real__ x), ow_f32_to_f16(__imag__ x)};
}

/* ---- rows ---------------------------------------------------------------------------------------------- */

static inline void ow_row_f16_to_f32(float *to, const uint16_t *from, int64_t n) {
    int64_t i = 0;
#if defined(__AVX512F__)
    for (; i + 16 <= n; i += 16)
        _mm512_storeu_ps(to + i, _mm512_cvtph_ps(_mm256_loadu_si256((const __m256i *)(from + i))));
#elif defined(__F16C__)
    for (; i + 8 <= n; i += 8) _mm256_storeu_ps(to + i, _mm256_cvtph_ps(_mm_loadu_si128((const __m128i *)(from + i))));
#endif
    for (; i < n; i++) to[i] = ow_f16_to_f32(from[i]);
}

static inline void ow_row_f32_to_f16(uint16_t *to, const float *from, int64_t n) {
    int64_t i = 0;
#if defined(__AVX512F__)
    for (; i + 16 <= n; i += 16)
        _mm256_storeu_si256((__m256i *)(to + i), _mm512_cvtps_ph(_mm512_loadu_ps(from + i), 0));
#elif defined(__F16C__)
    for (; i + 8 <= n; i += 8) _mm_storeu_si128((__m128i *)(to + i), _mm256_cvtps_ph(_mm256_loadu_ps(from + i), 0));
#endif
    for (; i < n; i++) to[i] = ow_f32_to_f16(from[i]);
}

static inline void ow_row_bf16_to_f32(float *to, const uint16_t *from, int64_t n) {
    for (int64_t i = 0; i < n; i++) to[i] = ow_bf16_to_f32(from[i]);
}

static inline void ow_row_f32_to_bf16(uint16_t *to, const float *from, int64_t n) {
    for (int64_t i = 0; i < n; i++) to[i] = ow_f32_to_bf16(from[i]);
}

static inline void ow_row_c32_to_c64(float _Complex *to, const ow_complex32 *from, int64_t n) {
    ow_row_f16_to_f32((float *)to, (const uint16_t *)from, 2 * n);
}

static inline void ow_row_c64_to_c32(ow_complex32 *to, const float _Complex *from, int64_t n) {
    ow_row_f32_to_f16((uint16_t *)to, (const float *)from, 2 * n);
}

/* ---- lanes: as many elements as a vector register holds float32, for rows that stay in registers -------- */

#if defined(__F16C__) && defined(__AVX2__)
#ifdef __AVX512DQ__
#define OW_LANES 16
#define OW_VECTOR __m512
#define OW_INTRINSIC(name) _mm512_##name
#else
#define OW_LANES 8
#define OW_VECTOR __m256
#define OW_INTRINSIC(name) _mm256_##name
#endif
typedef float ow_lanes __attribute__((vector_size(4 * OW_LANES)));
typedef uint32_t ow_lane_bits __attribute__((vector_size(4 * OW_LANES)));
typedef struct {
    ow_lanes a, b;
} ow_lane_pair; /* 2 * OW_LANES elements, in the order that the format loads with least work */

static inline ow_lanes ow_all_lanes(float x) { return x - (ow_lanes){0}; }

/* ---- choices */

#ifdef __AVX512DQ__
typedef __mmask16 ow_lane_mask;
#define OW_COMPARISON(name, operator, predicate) \
    static inline ow_lane_mask ow_##name##_lanes(ow_lanes x, ow_lanes y) { \
        return _mm512_cmp_ps_mask((__m512)x, (__m512)y, predicate); \
    }
static inline ow_lanes ow_where_lanes(ow_lane_mask mask, ow_lanes x, ow_lanes y) {
    return (ow_lanes)_mm512_mask_blend_ps(mask, (__m512)y, (__m512)x);
}
#else
typedef ow_lane_bits ow_lane_mask;
#define OW_COMPARISON(name, operator, predicate) \
    static inline ow_lane_mask ow_##name##_lanes(ow_lanes x, ow_lanes y) { return (ow_lane_mask)(x operator y); }
static inline ow_lanes ow_where_lanes(ow_lane_mask mask, ow_lanes x, ow_lanes y) {
    return (ow_lanes)_mm256_blendv_ps((__m256)y, (__m256)x, (__m256)mask);
}
#endif
OW_COMPARISON(eq, ==, _CMP_EQ_OQ)
OW_COMPARISON(ne, !=, _CMP_NEQ_UQ)
OW_COMPARISON(lt, <, _CMP_LT_OQ)
OW_COMPARISON(le, <=, _CMP_LE_OQ)
OW_COMPARISON(gt, >, _CMP_GT_OQ)
OW_COMPARISON(ge, >=, _CMP_GE_OQ)
#undef OW_COMPARISON
static inline ow_lane_mask ow_not_lanes(ow_lane_mask mask) { return (ow_lane_mask)~mask; }

/* ---- functions of lanes, as those of numbers have them */

/* Of numbers that a half format holds. One step of Newton's method after the approximate instruction is no correct rounding
 * to float32, but gives the same halves (tried with every one), also of the reciprocal, in half the time. */
static inline ow_lanes ow_sqrt_lanes(ow_lanes x) {
#ifdef __AVX512DQ__
    __m512 number = (__m512)x, inverse = _mm512_rsqrt14_ps(number), root = _mm512_mul_ps(number, inverse);
    __m512 half = _mm512_mul_ps(inverse, _mm512_set1_ps(0.5f));
    root = _mm512_fmadd_ps(_mm512_fnmadd_ps(root, root, number), half, root);
    __mmask16 usual = _mm512_cmp_ps_mask(number, _mm512_set1_ps(0x1p-90f), _CMP_GE_OQ);
    usual &= _mm512_cmp_ps_mask(number, _mm512_set1_ps(0x1p90f), _CMP_LE_OQ);
    return (ow_lanes)(__builtin_expect(usual == 0xffff, 1) ? root : _mm512_sqrt_ps(number));
#else
    return (ow_lanes)_mm256_sqrt_ps((__m256)x);
#endif
}
static inline ow_lanes ow_abs_lanes(ow_lanes x) { return (ow_lanes)((ow_lane_bits)x & 0x7fffffff); }
static inline ow_lanes ow_copysign_lanes(ow_lanes x, ow_lanes y) {
    return (ow_lanes)(((ow_lane_bits)x & 0x7fffffff) | ((ow_lane_bits)y & 0x80000000));
}
#ifdef __AVX512DQ__
#define OW_ROUND(name, mode) \
    static inline ow_lanes ow_##name##_lanes(ow_lanes x) { return (ow_lanes)_mm512_roundscale_ps((__m512)x, mode); }
#else
#define OW_ROUND(name, mode) \
    static inline ow_lanes ow_##name##_lanes(ow_lanes x) { return (ow_lanes)_mm256_round_ps((__m256)x, mode); }
#endif
OW_ROUND(floor, _MM_FROUND_TO_NEG_INF | _MM_FROUND_NO_EXC)
OW_ROUND(ceil, _MM_FROUND_TO_POS_INF | _MM_FROUND_NO_EXC)
OW_ROUND(trunc, _MM_FROUND_TO_ZERO | _MM_FROUND_NO_EXC)
OW_ROUND(rint, _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC)

/* x, but `instead` where y is NaN. */
static inline ow_lanes ow_unless_nan(ow_lanes x, ow_lanes y, ow_lanes instead) {
    return ow_where_lanes(ow_ne_lanes(y, y), instead, x);
}

/* The instructions choose x when an operand is NaN. */
#define OW_EXTREMUM(name, instruction) \
    static inline ow_lanes ow_##name##_lanes(ow_lanes x, ow_lanes y) { \
        return ow_unless_nan((ow_lanes)OW_INTRINSIC(instruction)((OW_VECTOR)y, (OW_VECTOR)x), y, y); \
    }
OW_EXTREMUM(maximum, max_ps)
OW_EXTREMUM(minimum, min_ps)
#undef OW_ROUND
#undef OW_EXTREMUM

/* So many elements come before those that fill registers whose stores do not cross a cache line, which takes twice as long;
 * none where the row is too short to tell. */
static inline int64_t ow_unaligned(const uint16_t *to, int64_t length) {
    return length < 16 * OW_LANES ? 0 : (int64_t)((0 - (uintptr_t)to / sizeof *to) % (2 * OW_LANES));
}

/* A buffer for two registers of elements with the n that there are, and the first of them in the other places. */
static inline const uint16_t *ow_filled(uint16_t *buffer, const uint16_t *from, int64_t n) {
#ifdef __AVX512BW__
    __m512i first = _mm512_set1_epi16((short)*from);
    _mm512_storeu_si512(buffer, _mm512_mask_loadu_epi16(first, (1u << n) - 1, from));
#else
    for (int i = 0; i < 2 * OW_LANES; i++) buffer[i] = *from;
    memcpy(buffer, from, sizeof *buffer * (size_t)n);
#endif
    return buffer;
}

static inline void ow_put_part(uint16_t *to, const uint16_t *buffer, int64_t n) {
#ifdef __AVX512BW__
    _mm512_mask_storeu_epi16(to, (1u << n) - 1, _mm512_loadu_si512(buffer));
#else
    memcpy(to, buffer, sizeof *to * (size_t)n);
#endif
}

/* ---- signs: all elements in the first register, whatever their format; the second one is not used */

static inline ow_lane_pair ow_load_signs(const uint16_t *from) {
    ow_lane_pair loaded = {{0}, {0}};
    memcpy(&loaded.a, from, sizeof loaded.a);
    return loaded;
}
static inline void ow_store_signs(uint16_t *to, ow_lane_pair x) { memcpy(to, &x.a, sizeof x.a); }

static inline ow_lanes ow_all_signs(float x) { return (ow_lanes)((ow_lane_bits){0} + (signbit(x) ? 0x80008000 : 0)); }
static inline ow_lanes ow_neg_signs(ow_lanes x) { return (ow_lanes)((ow_lane_bits)x ^ 0x80008000); }
static inline ow_lanes ow_abs_signs(ow_lanes x) { return (ow_lanes)((ow_lane_bits)x & 0x7fff7fff); }
static inline ow_lanes ow_copysign_signs(ow_lanes x, ow_lanes y) {
    return (ow_lanes)(((ow_lane_bits)x & 0x7fff7fff) | ((ow_lane_bits)y & 0x80008000));
}

/* ---- float16: the first half and the second one */

static inline ow_lanes ow_widened_f16(const uint16_t *from) {
#ifdef __AVX512DQ__
    return (ow_lanes)_mm512_cvtph_ps(_mm256_loadu_si256((const __m256i *)from));
#else
    return (ow_lanes)_mm256_cvtph_ps(_mm_loadu_si128((const __m128i *)from));
#endif
}

static inline void ow_narrow_f16(uint16_t *to, ow_lanes x) {
#ifdef __AVX512DQ__
    _mm256_storeu_si256((__m256i *)to, _mm512_cvtps_ph((__m512)x, 0));
#else
    _mm_storeu_si128((__m128i *)to, _mm256_cvtps_ph((__m256)x, 0));
#endif
}

static inline ow_lane_pair ow_load_f16(const uint16_t *from) {
    return (ow_lane_pair){ow_widened_f16(from), ow_widened_f16(from + OW_LANES)};
}
static inline void ow_store_f16(uint16_t *to, ow_lane_pair x) {
    ow_narrow_f16(to, x.a);
    ow_narrow_f16(to + OW_LANES, x.b);
}

/* ---- bfloat16: the elements with even numbers and the others, the upper halves of 32 bits. They need no instruction that
 * moves elements. */

static inline ow_lane_pair ow_load_bf16(const uint16_t *from) {
    ow_lane_bits both;
    memcpy(&both, from, sizeof both);
    return (ow_lane_pair){(ow_lanes)(both << 16), (ow_lanes)(both & 0xffff0000)};
}

/* Of numbers that bfloat16 holds. */
static inline void ow_store_exact_bf16(uint16_t *to, ow_lane_pair x) {
    ow_lane_bits both = (ow_lane_bits)x.a >> 16 | ((ow_lane_bits)x.b & 0xffff0000);
    memcpy(to, &both, sizeof both);
}

static inline ow_lanes ow_rounded_to_bf16(ow_lanes x) {
    ow_lane_bits bits = (ow_lane_bits)x;
    return ow_unless_nan((ow_lanes)(bits + 0x7fff + (bits >> 16 & 1)), x, ow_all_lanes(NAN));
}
static inline void ow_store_bf16(uint16_t *to, ow_lane_pair x) {
    ow_store_exact_bf16(to, (ow_lane_pair){ow_rounded_to_bf16(x.a), ow_rounded_to_bf16(x.b)});
}
#endif

#endif
