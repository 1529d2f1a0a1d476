/* Mathematical functions that libmvec does not have, or not fast enough, as branch-free code that vectorises.
 *
 * Fused multiply-adds are explicit, so that scalar and vector forms round alike. */
#ifndef OPWEAVE_FUNCTIONS_H
#define OPWEAVE_FUNCTIONS_H

#include <math.h>
#include <stdint.h>

#include "bits.h"

/* A tail shorter than this, the float32 numbers of the widest vector, is computed in a padded buffer by the vector code
 * of the loop's body: scalar and vector forms of a function differ in the last bit, and a result must not depend on where
 * its element stands. */
#define OW_PAD 16

static inline float ow_multiply_add(float a, float b, float c) {
#ifdef __FMA__
    return __builtin_fmaf(a, b, c);
#else
    return a * b + c;
#endif
}
static inline double ow_multiply_add_f64(double a, double b, double c) {
#ifdef __FMA__
    return __builtin_fma(a, b, c);
#else
    return a * b + c;
#endif
}

/* NaN of either operand, x of equal ones. The choice is one vector instruction; y + y, which is NaN where y is, keeps
 * compilers from merging it with the test, which may leave the loop when y is a number. */
#define OW_EXTREMUM(name, type, beyond) \
    static inline type name(type x, type y) { \
        type chosen = y beyond x ? y : x; \
        return y == y ? chosen : y + y; \
    }
OW_EXTREMUM(ow_maximumf, float, >)
OW_EXTREMUM(ow_minimumf, float, <)
OW_EXTREMUM(ow_maximum, double, >)
OW_EXTREMUM(ow_minimum, double, <)
#undef OW_EXTREMUM

/* That of C stays scalar in float64. */
static inline int ow_signbit(double x) { return ow_bits_of_double(x) >> 63 != 0; }

#ifdef __FMA__
/* base ** power in double precision, rounded once: 0.54 units in the last place, in half the time of libmvec.
 *
 * |base| = 2^k m with m between the roots of 1/2 and 2, and log2(m) = s P(s^2) with s = (m - 1) / (m + 1); 2^r for
 * |r| <= 1/2 is a polynomial as well. Both are fitted in the relative maximum norm, to 2^-37 and 2^-28. Zero, infinity and NaN
 * pass through the logarithm; what C's pow() makes of signs and of ones is chosen afterwards. Always inlined: loops with a
 * call in them stay scalar. */
static inline __attribute__((always_inline)) float ow_powf(float base, float power) {
    const uint64_t exponents = 0xfff0000000000000u, lift = 0x7ff0000000000000u; /* k + 0x7ff is never negative */
    double x = fabsf(base), y = power;
    uint64_t lifted = ow_bits_of_double(x) + (lift - 0x3fe6a09e667f3bcdu);
    double k = ow_double_from_bits(0x4330000000000000u | lifted >> 52) - (0x1p52 + 0x7ff);
    double m = ow_double_from_bits(ow_bits_of_double(x) - (lifted & exponents) + lift);
    double s = (m - 1) / (m + 1), z = s * s;
    double p = 0x1.5ce39e0f72792p-2;
    p = __builtin_fma(p, z, 0x1.a58dceca72ce8p-2);
    p = __builtin_fma(p, z, 0x1.27777f461993ep-1);
    p = __builtin_fma(p, z, 0x1.ec709d13c0821p-1);
    p = __builtin_fma(p, z, 0x1.71547652bed13p+1);
    double logarithm = __builtin_fma(p, s, k);
    logarithm = x > 0 ? logarithm : -INFINITY;
    logarithm = x < INFINITY ? logarithm : x;

    double exponent = y * logarithm;
    double e = exponent < 200 ? exponent : 200;
    e = e > -200 ? e : -200;
    double shifted = e + 0x1.8p52, r = e - (shifted - 0x1.8p52);
    double q = 0x1.443fffc90db59p-13;
    q = __builtin_fma(q, r, 0x1.5f48c04f62e50p-10);
    q = __builtin_fma(q, r, 0x1.3b2a1b7152befp-7);
    q = __builtin_fma(q, r, 0x1.c6aecc669b6ddp-5);
    q = __builtin_fma(q, r, 0x1.ebfbe045f4d3cp-3);
    q = __builtin_fma(q, r, 0x1.62e430d034702p-1);
    q = __builtin_fma(q, r, 1.0);
    float result = (float)ow_double_from_bits(ow_bits_of_double(q) + (ow_bits_of_double(shifted) << 52));

    float half = power * 0.5f;
    int whole = power == truncf(power), odd = whole & (half != truncf(half));
    result = exponent == exponent ? result : NAN;
    result = (base < 0) & (base > -INFINITY) & !whole ? NAN : result;
    /* By bits: a choice by what does not change in the loop, as `odd` where the power is a parameter, stays scalar. */
    result = ow_from_bits(ow_bits(result) | (ow_bits(base) & -(uint32_t)odd & 0x80000000u));
    return (power == 0) | (base == 1) | ((base == -1) & (fabsf(power) == INFINITY)) ? 1.0f : result;
}
#else
#define ow_powf powf
#endif

/* exp(x) for x <= 0, denormal results included; 0 for NaN.
 *
 * It is the square of exp(x / 2), which is normal wherever the square is not zero, so that no scaling by steps is needed.
 * x / 2 = k ln 2 + r / 2 with integral k; exp(r / 2) is a polynomial of degree 6, fitted to |r| <= ln 2 in the relative
 * maximum norm. The upper part of 2 ln 2 has so few bits that its product with k is exact. */
static inline float ow_exp_of_negative(float x) {
    x = x > -174.0f ? x : -174.0f;
    float shifted = ow_multiply_add(x, 0x1.715476p-1f, 0x1.8p23f); /* k in the low bits of the significand */
    float k = shifted - 0x1.8p23f;
    float r = ow_multiply_add(k, -0x1.63p0f, x);
    r = ow_multiply_add(k, 0x1.bd0106p-12f, r);
    float p = 0x1.6a0618p-16f;
    p = ow_multiply_add(p, r, 0x1.123bcap-12f);
    p = ow_multiply_add(p, r, 0x1.55592ep-9f);
    p = ow_multiply_add(p, r, 0x1.55548ep-6f);
    p = ow_multiply_add(p, r, 0x1.fffffcp-4f);
    p = ow_multiply_add(p, r, 0.5f);
#ifdef __FMA__
    p = ow_multiply_add(p, r, 1.0f);
    float root = ow_from_bits(ow_bits(p) + (ow_bits(shifted) << 23));
    return root * root;
#else
    /* Without fused operations the last steps would cost a unit in the last place: 1 + q squared is 1 + q (2 + q). */
    float q = p * r, scale = ow_from_bits((ow_bits(shifted) << 23) + 0x3f800000u);
    return (1.0f + q * (2.0f + q)) * scale * scale;
#endif
}

/* 1 / (1 + exp(-x)): the exponential of a negative number never overflows. NaN stays NaN. */
static inline float ow_sigmoidf(float x) {
    float e = ow_exp_of_negative(-fabsf(x));
    return (x < 0.0f ? e : x >= 0.0f ? 1.0f : x) / (1.0f + e);
}

#endif
