/* See half_product_kernels.h. AVX-512 BF16 is no part of a level: the processor is asked for it. */
#include "half_product_kernels.h"

#include <string.h>

#define NAME(level) NAMED(level)
#define NAMED(level) ow_half_product_##level
const ow_half_product *NAME(OW_LEVEL)(void);

#if defined __AVX512BW__ && defined __GNUC__
#include <immintrin.h>

#define ROWS 8
#define VECTORS 3
#define COLUMNS (16 * VECTORS)
#define TARGET __attribute__((target("avx512bf16")))
#define UNROLL _Pragma("GCC unroll 8")
#define INLINE static inline __attribute__((always_inline))

INLINE uint32_t pair(const uint16_t *from, int64_t step, int64_t left) {
    return from[0] | (left > 1 ? (uint32_t)from[step] << 16 : 0);
}

INLINE void pack(const int lines, uint32_t *to, const uint16_t *from, int64_t line_stride, int64_t inner_stride,
                 int64_t count, int64_t inner) {
    for (int64_t k = 0; k < inner; k += 2, to += lines, from += 2 * inner_stride) {
        if (count == lines && line_stride == 1 && k + 1 < inner) {
            const uint16_t *next = from + inner_stride;
            for (int i = 0; i < lines; i++) to[i] = from[i] | (uint32_t)next[i] << 16;
        } else if (count == lines && inner_stride == 1 && k + 1 < inner) {
            for (int i = 0; i < lines; i++) memcpy(to + i, from + i * line_stride, sizeof *to);
        } else {
            for (int i = 0; i < lines; i++) to[i] = i < count ? pair(from + i * line_stride, inner_stride, inner - k) : 0;
        }
    }
}

static void pack_rows(uint32_t *to, const uint16_t *from, int64_t line, int64_t step, int64_t count, int64_t inner) {
    pack(ROWS, to, from, line, step, count, inner);
}

static void pack_columns(uint32_t *to, const uint16_t *from, int64_t line, int64_t step, int64_t count, int64_t inner) {
    pack(COLUMNS, to, from, line, step, count, inner);
}

TARGET static void multiply(float *tile, const uint32_t *a, const uint32_t *b, int64_t units) {
    __m512 sums[ROWS][VECTORS];
    UNROLL for (int i = 0; i < ROWS; i++) UNROLL for (int v = 0; v < VECTORS; v++) sums[i][v] = _mm512_setzero_ps();
    for (int64_t k = 0; k < units; k++, a += ROWS, b += COLUMNS) {
        __m512i right[VECTORS];
        UNROLL for (int v = 0; v < VECTORS; v++) right[v] = _mm512_loadu_si512(b + 16 * v);
        UNROLL for (int i = 0; i < ROWS; i++) {
            const __m512i left = _mm512_set1_epi32((int)a[i]);
            UNROLL for (int v = 0; v < VECTORS; v++)
                sums[i][v] = _mm512_dpbf16_ps(sums[i][v], (__m512bh)right[v], (__m512bh)left);
        }
    }
    UNROLL for (int i = 0; i < ROWS; i++) UNROLL for (int v = 0; v < VECTORS; v++)
        _mm512_storeu_ps(tile + i * COLUMNS + 16 * v, sums[i][v]);
}

static const ow_half_product pairs = {ROWS, COLUMNS, pack_rows, pack_columns, multiply};
const ow_half_product *NAME(OW_LEVEL)(void) { return __builtin_cpu_supports("avx512bf16") ? &pairs : NULL; }
#else
const ow_half_product *NAME(OW_LEVEL)(void) { return NULL; }
#endif
