/* Transposition of squares of 16 × 16 words of 32 bits in registers. */
#ifndef OPWEAVE_WORD_SQUARES_H
#define OPWEAVE_WORD_SQUARES_H

#include <immintrin.h>
#include <stdint.h>

/* Rows are `to_row` and `from_row` words apart. */
static inline void ow_turn_square(uint32_t *to, int64_t to_row, const uint32_t *from, int64_t from_row) {
    __m512i x[16], y[16];
    for (int i = 0; i < 16; i++) x[i] = _mm512_loadu_si512(from + i * from_row);
    for (int i = 0; i < 16; i += 2) { /* pairs of words of two rows */
        y[i] = _mm512_unpacklo_epi32(x[i], x[i + 1]);
        y[i + 1] = _mm512_unpackhi_epi32(x[i], x[i + 1]);
    }
    for (int i = 0; i < 16; i += 4) { /* words of four rows */
        x[i] = _mm512_unpacklo_epi64(y[i], y[i + 2]);
        x[i + 1] = _mm512_unpackhi_epi64(y[i], y[i + 2]);
        x[i + 2] = _mm512_unpacklo_epi64(y[i + 1], y[i + 3]);
        x[i + 3] = _mm512_unpackhi_epi64(y[i + 1], y[i + 3]);
    }
    for (int i = 0; i < 16; i += 8) /* of eight rows */
        for (int j = 0; j < 4; j++) {
            y[i + j] = _mm512_shuffle_i32x4(x[i + j], x[i + j + 4], 0x88);
            y[i + j + 4] = _mm512_shuffle_i32x4(x[i + j], x[i + j + 4], 0xdd);
        }
    for (int j = 0; j < 8; j++) {
        _mm512_storeu_si512(to + j * to_row, _mm512_shuffle_i32x4(y[j], y[j + 8], 0x88));
        _mm512_storeu_si512(to + (j + 8) * to_row, _mm512_shuffle_i32x4(y[j], y[j + 8], 0xdd));
    }
}

#endif
