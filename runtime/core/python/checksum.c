/* The checksum of zip files (CRC-32) by carry-less multiplication: several times as fast as tables, so that it costs little
 * beside the copy of what it is about. */
#include "abi/api.h"

#if defined __x86_64__
#include <immintrin.h>

/* x^n modulo the polynomial, reflected: for n = k * 128 + 32 and k * 128 - 32, where k is 16, 4 and 1. They carry a part of
 * the message over the next k blocks of 16 bytes. */
#define OVER_SIXTEEN _mm_set_epi64x(0x1322d1430, 0x11542778a)
#define OVER_FOUR _mm_set_epi64x(0x1c6e41596, 0x154442bd4)
#define OVER_ONE _mm_set_epi64x(0x0ccaa009e, 0x1751997d0)

__attribute__((target("pclmul"))) static inline __m128i carried(__m128i part, __m128i powers) {
    return _mm_xor_si128(_mm_clmulepi64_si128(part, powers, 0x00), _mm_clmulepi64_si128(part, powers, 0x11));
}

static inline __m128i block(const char *data, int k) { return _mm_loadu_si128((const __m128i *)data + k); }

/* Sixteen bytes that have the same checksum as n bytes, a multiple of 64. */
__attribute__((target("pclmul"))) static __m128i folded(const char *data, int64_t n, uint32_t state) {
    __m128i parts[4];
    for (int k = 0; k < 4; k++) parts[k] = block(data, k);
    parts[0] = _mm_xor_si128(parts[0], _mm_cvtsi32_si128((int)state));
    for (const char *end = data + n; (data += 64) < end;)
        for (int k = 0; k < 4; k++) parts[k] = _mm_xor_si128(carried(parts[k], OVER_FOUR), block(data, k));
    __m128i all = parts[0];
    for (int k = 1; k < 4; k++) all = _mm_xor_si128(carried(all, OVER_ONE), parts[k]);
    return all;
}

#define WIDE __attribute__((target("avx512f,vpclmulqdq")))

WIDE static inline __m512i carried_wide(__m512i parts, __m512i powers) {
    return _mm512_xor_si512(_mm512_clmulepi64_epi128(parts, powers, 0x00), _mm512_clmulepi64_epi128(parts, powers, 0x11));
}

/* The same of a multiple of 256 bytes, four blocks by an instruction. */
WIDE static __m128i folded_wide(const char *data, int64_t n, uint32_t state) {
    const __m512i over_sixteen = _mm512_broadcast_i32x4(OVER_SIXTEEN), over_four = _mm512_broadcast_i32x4(OVER_FOUR);
    __m512i parts[4];
    for (int k = 0; k < 4; k++) parts[k] = _mm512_loadu_si512(data + 64 * k);
    parts[0] = _mm512_xor_si512(parts[0], _mm512_zextsi128_si512(_mm_cvtsi32_si128((int)state)));
    for (const char *end = data + n; (data += 256) < end;)
        for (int k = 0; k < 4; k++)
            parts[k] = _mm512_xor_si512(carried_wide(parts[k], over_sixteen), _mm512_loadu_si512(data + 64 * k));
    for (int k = 1; k < 4; k++) parts[k] = _mm512_xor_si512(carried_wide(parts[k - 1], over_four), parts[k]);
    __m128i blocks[4], all;
    _mm512_storeu_si512(blocks, parts[3]);
    all = blocks[0];
    for (int k = 1; k < 4; k++) all = _mm_xor_si128(carried(all, OVER_ONE), blocks[k]);
    return all;
}

static uint32_t reduced(__m128i block) {
    unsigned char bytes[16];
    uint32_t state = 0;
    _mm_storeu_si128((__m128i *)bytes, block);
    for (int k = 0; k < 16; k++) {
        state ^= bytes[k];
        for (int bit = 0; bit < 8; bit++) state = (state >> 1) ^ (0xedb88320u & -(state & 1));
    }
    return state;
}

int64_t checksum(uintptr_t data, int64_t nbytes, uint32_t before) {
    if (!__builtin_cpu_supports("pclmul") || nbytes < 64 || nbytes % 64) return -1;
    const int is_wide = __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("vpclmulqdq");
    const int64_t wide = is_wide ? nbytes - nbytes % 256 : 0;
    uint32_t state = ~before;
    if (wide) state = reduced(folded_wide((const char *)data, wide, state));
    if (nbytes > wide) state = reduced(folded((const char *)data + wide, nbytes - wide, state));
    return (uint32_t)~state;
}

#else

int64_t checksum(uintptr_t data, int64_t nbytes, uint32_t before) {
    (void)data, (void)nbytes, (void)before;
    return -1;
}

#endif
