/* See byte_product_kernels.h. All sums are exact: products of two bytes are added in 32 bits, which wrap. */
#include "byte_product_kernels.h"

#include <string.h>

#include "tile_product_kernels.h"

#if defined __AVX2__
#include <immintrin.h>
#elif defined __SSE2__
#include <emmintrin.h>
#endif

/* A vector of units or of sums, and what adds the products of two vectors of units to sums. */
#if defined __AVX512BW__
typedef __m512i vector;
#define LOAD(p) _mm512_loadu_si512(p)
#define STORE(p, x) _mm512_storeu_si512(p, x)
#define EACH(p) _mm512_set1_epi32(*(p))
#define ZERO _mm512_setzero_si512()
#define ADD(x, y) _mm512_add_epi32(x, y)
#define PAIRS(sum, x, y) ADD(sum, _mm512_madd_epi16(x, y))
#define ROWS 8
#define VECTORS 2
#elif defined __AVX2__
typedef __m256i vector;
#define LOAD(p) _mm256_loadu_si256((const __m256i *)(p))
#define STORE(p, x) _mm256_storeu_si256((__m256i *)(p), x)
#define EACH(p) _mm256_set1_epi32(*(p))
#define ZERO _mm256_setzero_si256()
#define ADD(x, y) _mm256_add_epi32(x, y)
#define PAIRS(sum, x, y) ADD(sum, _mm256_madd_epi16(x, y))
#define ROWS 6
#define VECTORS 2
#elif defined __SSE2__
typedef __m128i vector;
#define LOAD(p) _mm_loadu_si128((const __m128i *)(p))
#define STORE(p, x) _mm_storeu_si128((__m128i *)(p), x)
#define EACH(p) _mm_set1_epi32(*(p))
#define ZERO _mm_setzero_si128()
#define ADD(x, y) _mm_add_epi32(x, y)
#define PAIRS(sum, x, y) ADD(sum, _mm_madd_epi16(x, y))
#define ROWS 4
#define VECTORS 2
#else
typedef int32_t vector;
#define LOAD(p) ((int32_t)*(p))
#define STORE(p, x) (*(int32_t *)(p) = (x))
#define EACH(p) (*(p))
#define ZERO 0
#define PAIRS(sum, x, y) \
    (int32_t)((uint32_t)(sum) + (uint32_t)((int16_t)(x) * (int16_t)(y)) + (uint32_t)(((x) >> 16) * ((y) >> 16)))
#define ROWS 3
#define VECTORS 4
#endif
#define WIDTH ((int)(sizeof(vector) / sizeof(int32_t)))
#define COLUMNS (VECTORS * WIDTH)

/* All sums of a tile stay in registers. */
#define MULTIPLY(name, target, DOT) \
    target static void name(void *to, const void *rows, int64_t line, int64_t next, const uint32_t *b, int64_t units, \
                            int begins) { \
        const int32_t *a = rows; \
        int32_t *tile = to; \
        vector sums[ROWS][VECTORS]; \
        (void)line, (void)next; \
        _Pragma("GCC unroll 8") for (int i = 0; i < ROWS; i++) \
            _Pragma("GCC unroll 4") for (int j = 0; j < VECTORS; j++) \
                sums[i][j] = begins ? ZERO : LOAD(tile + i * COLUMNS + j * WIDTH); \
        for (int64_t k = 0; k < units; k++, a += ROWS, b += COLUMNS) { \
            vector right[VECTORS]; \
            _Pragma("GCC unroll 4") for (int j = 0; j < VECTORS; j++) right[j] = LOAD(b + j * WIDTH); \
            _Pragma("GCC unroll 8") for (int i = 0; i < ROWS; i++) { \
                const vector left = EACH(a + i); \
                _Pragma("GCC unroll 4") for (int j = 0; j < VECTORS; j++) sums[i][j] = DOT(sums[i][j], right[j], left); \
            } \
        } \
        _Pragma("GCC unroll 8") for (int i = 0; i < ROWS; i++) \
            _Pragma("GCC unroll 4") for (int j = 0; j < VECTORS; j++) STORE(tile + i * COLUMNS + j * WIDTH, sums[i][j]); \
    }

MULTIPLY(multiply_pairs, , PAIRS)

/* ---- packing ---------------------------------------------------------------------------------------------------- */

#define INLINE static inline __attribute__((always_inline))

/* A byte as 16 bits of its value, or as the 8 bits that it has. */
INLINE uint32_t bits_of(uint8_t byte, int unit, int is_signed) {
    return unit == 4 ? byte : is_signed ? (uint16_t)(int8_t)byte : byte;
}

/* Elements `step` bytes apart as a unit; those behind the last one are zero. */
INLINE int32_t unit_of(const uint8_t *from, int64_t step, int64_t left, int unit, uint32_t flip, int is_signed) {
    uint32_t bits = 0;
    for (int q = 0; q < unit; q++) {
        const uint32_t byte = q < left ? bits_of(from[q * step], unit, is_signed) ^ (flip & 0xff) : 0;
        bits |= byte << 32 / unit * q;
    }
    return (int32_t)bits;
}

/* Lines that lie beside one another: vectors of units. */
INLINE void pack_across(int32_t *to, const uint8_t *from, int64_t step, int lines, int64_t inner, int unit, uint32_t flip,
                        int is_signed) {
    int64_t k = 0;
    for (; k + unit <= inner; k += unit, to += lines, from += unit * step) {
        const uint8_t *r0 = from, *r1 = from + step, *r2 = from + 2 * step, *r3 = from + 3 * step;
        if (unit == 4) {
#pragma GCC ivdep
            for (int i = 0; i < lines; i++)
                to[i] = (int32_t)((r0[i] | (uint32_t)r1[i] << 8 | (uint32_t)r2[i] << 16 | (uint32_t)r3[i] << 24) ^ flip);
        } else {
#pragma GCC ivdep
            for (int i = 0; i < lines; i++)
                to[i] = (int32_t)(bits_of(r0[i], 2, is_signed) | bits_of(r1[i], 2, is_signed) << 16);
        }
    }
    if (k < inner)
        for (int i = 0; i < lines; i++) to[i] = unit_of(from + i, step, inner - k, unit, flip, is_signed);
}

/* A line whose elements lie beside one another. */
INLINE void pack_along(int32_t *to, const uint8_t *from, int lines, int64_t inner, int unit, uint32_t flip, int is_signed) {
    int64_t k = 0;
    for (; k + unit <= inner; k += unit, to += lines, from += unit) {
        if (unit == 4) {
            uint32_t word;
            memcpy(&word, from, sizeof word);
            *to = (int32_t)(word ^ flip);
        } else {
            *to = (int32_t)(bits_of(from[0], 2, is_signed) | bits_of(from[1], 2, is_signed) << 16);
        }
    }
    if (k < inner) *to = unit_of(from, 1, inner - k, unit, flip, is_signed);
}

INLINE void pack_panel(int32_t *to, const uint8_t *from, int64_t line_stride, int64_t inner_stride, int64_t count,
                       int lines, int64_t inner, int unit, uint8_t flip, int is_signed) {
    const int64_t units = (inner + unit - 1) / unit;
    const uint32_t flips = unit == 4 ? flip * 0x01010101u : 0; /* 16 bits hold either kind of bytes as they are */
    if (line_stride == 1 && count == lines) {
        pack_across(to, from, inner_stride, lines, inner, unit, flips, is_signed);
        return;
    }
    if (count < lines) memset(to, 0, sizeof(int32_t) * (size_t)(units * lines));
    for (int64_t i = 0; i < count; i++, from += line_stride) {
        if (inner_stride == 1) pack_along(to + i, from, lines, inner, unit, flips, is_signed);
        else
            for (int64_t k = 0; k < units; k++)
                to[k * lines + i] = unit_of(from + k * unit * inner_stride, inner_stride, inner - k * unit, unit, flips,
                                            is_signed);
    }
}

/* The function for panels of so many lines, which are a divisor of so many vectors. DOT multiplies elements by ones to add
 * them up. */
#define PACK(name, target, lines, vectors, unit, DOT) \
    target static void name(uint32_t *panel, const void *from, int64_t line_stride, int64_t inner_stride, int64_t count, \
                            int64_t inner, uint8_t flip, int is_signed, int32_t *sums) { \
        int32_t *to = (int32_t *)panel; \
        const int64_t words = (inner + (unit)-1) / (unit) * (lines), step = (vectors) * WIDTH; \
        const int32_t one = (unit) == 4 ? 0x01010101 : 0x00010001; \
        if (is_signed) pack_panel(to, from, line_stride, inner_stride, count, lines, inner, unit, flip, 1); \
        else pack_panel(to, from, line_stride, inner_stride, count, lines, inner, unit, flip, 0); \
        if (!sums) return; \
        vector ones = EACH(&one), totals[vectors]; \
        for (int j = 0; j < (vectors); j++) totals[j] = ZERO; \
        int32_t rest[(vectors) * WIDTH] = {0}, total[(vectors) * WIDTH]; \
        for (int64_t k = 0; k < words; k += step, to += step) { \
            const int32_t *whole = words - k < step ? memcpy(rest, to, sizeof(int32_t) * (size_t)(words - k)) : to; \
            for (int j = 0; j < (vectors); j++) totals[j] = DOT(totals[j], LOAD(whole + j * WIDTH), ones); \
        } \
        for (int j = 0; j < (vectors); j++) STORE(total + j * WIDTH, totals[j]); \
        for (int i = 0; i < (lines); i++) sums[i] = 0; \
        for (int i = 0; i < (vectors) * WIDTH; i++) sums[i % (lines)] += total[i]; \
    }

PACK(pack_pairs_of_rows, , ROWS, 3, 2, PAIRS)
PACK(pack_pairs_of_columns, , COLUMNS, VECTORS, 2, PAIRS)
#define KERNEL(unit, mixed, kind) \
    {unit, ROWS, COLUMNS, 1, 0, mixed, pack_##kind##_of_rows, pack_##kind##_of_columns, NULL, NULL, multiply_##kind}
static const ow_unit_kernel pairs = KERNEL(2, 0, pairs);

/* ---- four bytes at once: AVX-512 VNNI, which is no part of a level -------------------------------------------------- */

#if defined __AVX512BW__ && defined __GNUC__
#define VNNI __attribute__((target("avx512vnni")))
#define BYTES(sum, x, y) _mm512_dpbusd_epi32(sum, x, y) /* of unsigned and signed bytes */
#define SIGNED(sum, x, ones) _mm512_dpbusd_epi32(sum, ones, x)
MULTIPLY(multiply_bytes, VNNI, BYTES)
PACK(pack_bytes_of_rows, VNNI, ROWS, 3, 4, SIGNED)
PACK(pack_bytes_of_columns, VNNI, COLUMNS, VECTORS, 4, BYTES)
static const ow_unit_kernel bytes = KERNEL(4, 1, bytes);
#define BEST (__builtin_cpu_supports("avx512vnni") ? &bytes : &pairs)
#else
#define BEST (&pairs)
#endif

#define NAME(name, level) NAMED(name, level)
#define NAMED(name, level) ow_##name##_product_##level
ow_byte_product NAME(byte, OW_LEVEL);
const ow_unit_kernel *NAME(byte, OW_LEVEL)(int first_is_signed, int second_is_signed) {
    const ow_tile_product *tiles = NAME(tile, OW_LEVEL)();
    return tiles ? &tiles->bytes[first_is_signed][second_is_signed] : BEST;
}
