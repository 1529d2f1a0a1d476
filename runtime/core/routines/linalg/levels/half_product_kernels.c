/* See half_product_kernels.h. Neither AVX-512 BF16 nor tiles are parts of a level: the processor is asked for them. */
#include "half_product_kernels.h"

#include <string.h>

#include "kernel/half.h"
#include "tile_product_kernels.h"

#define NAME(name, level) NAMED(name, level)
#define NAMED(name, level) ow_##name##_product_##level
ow_half_product NAME(half, OW_LEVEL)(void);

#if defined __AVX512BW__ && defined __GNUC__
#include "word_squares.h"

#define INLINE static inline __attribute__((always_inline))

/* ---- results ------------------------------------------------------------------------------------------------------- */

enum { LANES = 16, MOST_SUMS = 1024 };

INLINE __m512 wide_of(__m256i halves) { return _mm512_castsi512_ps(_mm512_slli_epi32(_mm512_cvtepu16_epi32(halves), 16)); }

/* As ow_f32_to_bf16. */
INLINE __m256i half_of(__m512 x) {
    const __m512i bits = _mm512_castps_si512(x), odd = _mm512_and_si512(_mm512_srli_epi32(bits, 16), _mm512_set1_epi32(1));
    const __m512i rounded = _mm512_srli_epi32(_mm512_add_epi32(bits, _mm512_add_epi32(odd, _mm512_set1_epi32(0x7fff))), 16);
    const __mmask16 is_nan = _mm512_cmp_ps_mask(x, x, _CMP_UNORD_Q);
    return _mm512_cvtepi32_epi16(_mm512_mask_mov_epi32(rounded, is_nan, _mm512_set1_epi32(0x7fc0)));
}

/* Elements of a row that `mask` has, `step` apart. */
INLINE __m256i load_halves(const uint16_t *from, int64_t step, int n, __mmask16 mask) {
    if (step == 1) return _mm256_maskz_loadu_epi16(mask, from);
    uint16_t each[LANES] = {0};
    for (int j = 0; j < n; j++) each[j] = from[j * step];
    return _mm256_loadu_si256((const __m256i *)each);
}

INLINE void store_vector(const ow_half_result *r, const float *sums, int64_t row, int64_t column, int n) {
    const __mmask16 mask = (__mmask16)((1u << n) - 1);
    __m512 x = _mm512_mul_ps(_mm512_set1_ps(r->alpha), _mm512_loadu_ps(sums));
    if (r->addend && r->beta != 0) {
        const uint16_t *addend = r->addend + row * r->addend_row + column * r->addend_column;
        x = _mm512_add_ps(x, _mm512_mul_ps(_mm512_set1_ps(r->beta), wide_of(load_halves(addend, r->addend_column, n, mask))));
    }
    const int64_t step = r->column_stride, at = row * r->row_stride + column * step;
    float *wide = (float *)r->to + at;
    uint16_t *half = (uint16_t *)r->to + at;
    if (step == 1 && r->is_wide) _mm512_mask_storeu_ps(wide, mask, x);
    else if (step == 1) _mm256_mask_storeu_epi16(half, mask, half_of(x));
    else {
        float each[LANES];
        _mm512_storeu_ps(each, x);
        for (int j = 0; j < n; j++)
            if (r->is_wide) wide[j * step] = each[j];
            else half[j * step] = ow_f32_to_bf16(each[j]);
    }
}

static void store(const void *result, const void *sums, int width, int64_t row, int64_t column, int64_t rows, int64_t columns) {
    for (int64_t i = 0; i < rows; i++)
        for (int64_t j = 0; j < columns; j += LANES)
            store_vector(result, (const float *)sums + i * width + j, row + i, column + j, (int)(columns - j < LANES ? columns - j : LANES));
}

/* Tiles are whole squares: where columns of the result are beside one another, they become rows. */
static void store_squares(const void *result, const void *sums, int width, int64_t row, int64_t column, int64_t rows,
                          int64_t columns) {
    const ow_half_result *r = result;
    if (r->row_stride != 1 || r->column_stride == 1) {
        store(result, sums, width, row, column, rows, columns);
        return;
    }
    float turned[MOST_SUMS];
    for (int i = 0; i < width; i += LANES)
        for (int j = 0; j < width; j += LANES)
            ow_turn_square((uint32_t *)turned + j * width + i, width, (const uint32_t *)sums + i * width + j, width);
    ow_half_result other = *r;
    other.addend_row = r->addend_column;
    other.addend_column = r->addend_row;
    other.row_stride = r->column_stride;
    other.column_stride = r->row_stride;
    store(&other, turned, width, column, row, columns, rows);
}

/* ---- panels of float32 --------------------------------------------------------------------------------------------- */

static void pair_panel(uint32_t *to, const float *panel, int width, int64_t inner, int64_t units) {
    const __m512i upper = _mm512_set1_epi32((int)0xffff0000);
    for (int64_t u = 0; u < units; u++, panel += 2 * width)
        for (int j = 0; j < width; j += LANES, to += LANES) {
            const __m512i first = 2 * u < inner ? _mm512_loadu_si512(panel + j) : _mm512_setzero_si512();
            const __m512i second = 2 * u + 1 < inner ? _mm512_loadu_si512(panel + width + j) : _mm512_setzero_si512();
            _mm512_storeu_si512(to, _mm512_or_si512(_mm512_srli_epi32(first, 16), _mm512_and_si512(second, upper)));
        }
}

/* ---- products of pairs --------------------------------------------------------------------------------------------- */

#define ROWS 8
#define VECTORS 3
#define COLUMNS (16 * VECTORS)
#define TARGET __attribute__((target("avx512bf16")))
#define UNROLL _Pragma("GCC unroll 8")

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

#define PACK(name, lines) \
    static void name(uint32_t *to, const void *from, int64_t line, int64_t step, int64_t count, int64_t inner, uint8_t flip, \
                     int is_signed, int32_t *sums) { \
        (void)flip, (void)is_signed, (void)sums; \
        pack(lines, to, from, line, step, count, inner); \
    }
PACK(pack_rows, ROWS)
PACK(pack_columns, COLUMNS)

TARGET static void multiply(void *tile, const void *rows, int64_t line, int64_t next, const uint32_t *b, int64_t units,
                            int begins) {
    const uint32_t *a = rows;
    float *to = tile;
    __m512 sums[ROWS][VECTORS];
    (void)line, (void)next;
    UNROLL for (int i = 0; i < ROWS; i++) UNROLL for (int v = 0; v < VECTORS; v++)
        sums[i][v] = begins ? _mm512_setzero_ps() : _mm512_loadu_ps(to + i * COLUMNS + 16 * v);
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
        _mm512_storeu_ps(to + i * COLUMNS + 16 * v, sums[i][v]);
}

static const ow_unit_kernel pairs = {2, ROWS, COLUMNS, 1, 0, 0, pack_rows, pack_columns, NULL, NULL, multiply};

ow_half_product NAME(half, OW_LEVEL)(void) {
    const ow_tile_product *tiles = NAME(tile, OW_LEVEL)();
    if (tiles) return (ow_half_product){&tiles->halves, store_squares, pair_panel};
    return (ow_half_product){__builtin_cpu_supports("avx512bf16") ? &pairs : NULL, store, pair_panel};
}
#else
ow_half_product NAME(half, OW_LEVEL)(void) { return (ow_half_product){NULL, NULL, NULL}; }
#endif
