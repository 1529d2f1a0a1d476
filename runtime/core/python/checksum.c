/* The checksum of zip files (CRC-32) by carry-less multiplication: several times as fast as tables, so that it costs little
 * beside the copy of what it is about. */
#include "abi/api.h"

#if defined __x86_64__
#include <wmmintrin.h>

/* x^n modulo the polynomial, reflected: for n = 4 * 128 + 32, 4 * 128 - 32, 128 + 32 and 128 - 32. They carry a part of the
 * message over the next four blocks of 16 bytes, or over the next one. */
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

int64_t checksum(uintptr_t data, int64_t nbytes, uint32_t before) {
    if (!__builtin_cpu_supports("pclmul") || nbytes < 64 || nbytes % 64) return -1;
    unsigned char bytes[16];
    uint32_t state = 0;
    _mm_storeu_si128((__m128i *)bytes, folded((const char *)data, nbytes, ~before));
    for (int k = 0; k < 16; k++) {
        state ^= bytes[k];
        for (int bit = 0; bit < 8; bit++) state = (state >> 1) ^ (0xedb88320u & -(state & 1));
    }
    return (uint32_t)~state;
}

#else

int64_t checksum(uintptr_t data, int64_t nbytes, uint32_t before) {
    (void)data, (void)nbytes, (void)before;
    return -1;
}

#endif
