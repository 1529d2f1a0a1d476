/* See random_kernels.h. Every level gives the same bits: products and sums are contracted where fma is written and
 * nowhere else. */
#include "random_kernels.h"

#include <math.h>

#include "kernel/bits.h"

#define UPPER 0x80000000u
#define LOWER 0x7fffffffu
#define SHIFT 397 /* the word that is added: MT19937's m */

static inline uint32_t mixed(uint32_t word, uint32_t next) {
    uint32_t y = (word & UPPER) | (next & LOWER);
    return (y >> 1) ^ (-(next & 1) & 0x9908b0dfu);
}

static void twist(uint32_t *s) {
    int k = 0;
    for (; k < OW_MT_WORDS - SHIFT; k++) s[k] = s[k + SHIFT] ^ mixed(s[k], s[k + 1]);
    /* What is read lies SHIFT - 1 words or more behind: in two pieces no vector can meet its own results. */
    for (; k < OW_MT_WORDS - 1; k++) s[k] = s[k + SHIFT - OW_MT_WORDS] ^ mixed(s[k], s[k + 1]);
    s[k] = s[SHIFT - 1] ^ mixed(s[k], s[0]);
}

static void temper(uint32_t *out, const uint32_t *words, int64_t n) {
#pragma GCC ivdep
    for (int64_t k = 0; k < n; k++) {
        uint32_t y = words[k];
        y ^= y >> 11;
        y ^= (y << 7) & 0x9d2c5680u;
        y ^= (y << 15) & 0xefc60000u;
        out[k] = y ^ (y >> 18);
    }
}

static void floats(float *out, const uint32_t *draws, int64_t n, float from, float to) {
    float span = to - from;
#pragma GCC ivdep
    for (int64_t k = 0; k < n; k++) {
        float u = (float)(int32_t)(draws[k] & 0xffffff) * 0x1p-24f, v = fmaf(u, span, from);
        out[k] = v == to ? from : v; /* rounding may reach the end, which does not belong to the range */
    }
}

static void doubles(double *out, const uint32_t *draws, int64_t n, double from, double to) {
    double span = to - from;
#pragma GCC ivdep
    for (int64_t k = 0; k < n; k++) {
        /* 53 bits, of which the first draw has the upper 21. */
        double u = (double)(int32_t)(draws[2 * k] & 0x1fffff) * 0x1p-21 +
                   ((double)(int32_t)(draws[2 * k + 1] ^ UPPER) + 0x1p31) * 0x1p-53;
        double v = fma(u, span, from);
        out[k] = v == to ? from : v;
    }
}

/* ---- Box-Muller in single precision --------------------------------------------------------------------------- */

/* log, and sin and cos, by the polynomials and argument reductions of the Cephes library (S. L. Moshier), with the
 * treatment of special cases of avx_mathfun.h (J. Pommier and G. Garberoglio, zlib licence). Written for one element;
 * the compiler makes vectors of them. */

/* For x in (0, 1]. */
static inline float log_unit(float x) {
    x = x < 0x1p-126f ? 0x1p-126f : x;
    uint32_t bits = ow_bits(x);
    float e = (float)((int32_t)(bits >> 23) - 126);
    float m = ow_from_bits((bits & 0x7fffff) | 0x3f000000);
    int low = m < 0.707106781186547524f;
    e = low ? e - 1 : e;
    m = low ? (m - 1) + m : m - 1;
    float z = m * m, y = 7.0376836292e-2f;
    y = fmaf(y, m, -1.1514610310e-1f);
    y = fmaf(y, m, 1.1676998740e-1f);
    y = fmaf(y, m, -1.2420140846e-1f);
    y = fmaf(y, m, 1.4249322787e-1f);
    y = fmaf(y, m, -1.6668057665e-1f);
    y = fmaf(y, m, 2.0000714765e-1f);
    y = fmaf(y, m, -2.4999993993e-1f);
    y = fmaf(y, m, 3.3333331174e-1f);
    y = y * m;
    y = fmaf(y, z, e * -2.12194440e-4f);
    y = y - z * 0.5f;
    m = m + y;
    return fmaf(e, 0.693359375f, m);
}

/* For t >= 0. */
static inline void sine_cosine(float t, float *sine, float *cosine) {
    int32_t octant = ((int32_t)(t * 1.27323954473516f) + 1) & ~1;
    float y = (float)octant, x = t;
    x = fmaf(y, -0.78515625f, x);
    x = fmaf(y, -2.4187564849853515625e-4f, x);
    x = fmaf(y, -3.77489497744594108e-8f, x);
    float z = x * x;
    float c = fmaf(2.443315711809948e-5f, z, -1.388731625493765e-3f);
    c = fmaf(c, z, 4.166664568298827e-2f) * z;
    c = fmaf(c, z, -(z * 0.5f)) + 1;
    float s = fmaf(-1.9515295891e-4f, z, 8.3321608736e-3f);
    s = fmaf(s, z, -1.6666654611e-1f) * z;
    s = fmaf(s, x, x);
    int swap = (octant & 2) != 0;
    uint32_t sine_bits = ow_bits(swap ? c : s), cosine_bits = ow_bits(swap ? s : c);
    *sine = ow_from_bits(sine_bits ^ ((uint32_t)octant & 4) << 29);
    *cosine = ow_from_bits(cosine_bits ^ (~((uint32_t)octant - 2) & 4) << 29);
}

static void box_muller(float *x, int64_t blocks, float mean, float std) {
    for (int64_t b = 0; b < blocks; b++, x += 16) {
#pragma GCC ivdep
        for (int j = 0; j < 8; j++) {
            float radius = sqrtf(-2.0f * log_unit(1 - x[j])), sine, cosine;
            sine_cosine(6.283185307179586f * x[j + 8], &sine, &cosine);
            x[j] = fmaf(radius * cosine, std, mean);
            x[j + 8] = fmaf(radius * sine, std, mean);
        }
    }
}

/* ---- remainders ----------------------------------------------------------------------------------------------- */

/* Through double: the quotient of 32-bit numbers never rounds to an integer that it has not reached. Divided by two or
 * more it fits int32. */
static void remainders(uint32_t *draws, int64_t n, uint32_t divisor, uint32_t step) {
#pragma GCC ivdep
    for (int64_t k = 0; k < n; k++) {
        uint32_t d = divisor - (uint32_t)k * step, by = d < 2 ? 2 : d;
        double value = (double)(int32_t)(draws[k] ^ UPPER) + 0x1p31;
        int32_t quotient = (int32_t)(value / ((double)(int32_t)(by ^ UPPER) + 0x1p31));
        draws[k] = d < 2 ? 0 : draws[k] - (uint32_t)quotient * d;
    }
}

#define NAME(level) NAMED(level)
#define NAMED(level) ow_random_kernels_##level
const ow_random_kernels NAME(OW_LEVEL) = {twist, temper, floats, doubles, box_muller, remainders};
