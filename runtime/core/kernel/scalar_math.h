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

/* sqrt(x^2 + y^2) by arithmetic alone, hence the same wherever it is computed, within 1.2 units in the last place. Where a square
 * could overflow or lose digits, both numbers are multiplied by a power of two first. Infinity wins over NaN. */
#define OW_HYPOT(name, type, absolute, root, large, shrink, small, grow) \
    static inline type name(type x, type y) { \
        type a = absolute(x), b = absolute(y), longer = a > b ? a : b; \
        type scale = longer > large ? shrink : longer < small ? grow : 1; \
        type back = longer > large ? 1 / shrink : longer < small ? 1 / grow : 1; \
        a *= scale; \
        b *= scale; \
        type length = root(a * a + b * b) * back; \
        return (a == INFINITY) | (b == INFINITY) ? (type)INFINITY : length; \
    }
OW_HYPOT(ow_hypotf, float, fabsf, sqrtf, 0x1p60f, 0x1p-70f, 0x1p-50f, 0x1p100f)
OW_HYPOT(ow_hypot, double, fabs, sqrt, 0x1p500, 0x1p-600, 0x1p-450, 0x1p600)
#undef OW_HYPOT

/* A product that is rounded before anything is added to it. GCC fuses a sum and a difference of products that stand side by
 * side, as the parts of complex numbers do, whatever -ffp-contract says; an operation on the bits that changes nothing, which
 * it does not see through, keeps them apart. */
static inline float ow_rounded_f32(float product) {
#ifdef __FMA__
    return ow_from_bits((ow_bits(product) ^ 0x80000000u) + 0x80000000u);
#else
    return product;
#endif
}
static inline double ow_rounded_f64(double product) {
#ifdef __FMA__
    return ow_double_from_bits((ow_bits_of_double(product) ^ 0x8000000000000000u) + 0x8000000000000000u);
#else
    return product;
#endif
}

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

/* ---- exponentials --------------------------------------------------------------------------------------- */

/* libmvec leaves exponentials that are infinite, zero or denormal to the library's scalar form, one number after the other: rows
 * that a mask has filled with negative infinity took seven times as long as others. These take all numbers alike, in as
 * few instructions; where the result is 0 nothing is computed that underflows, for which processors take a hundred cycles. */

/* exp(r) - 1 for |r| <= ln 2 / 2: a parabola times a polynomial that the maximum norm fits, to 2^-27 and 2^-56. Neighbours
 * are added up first, so that fewer operations wait for each other. */
static inline float ow_expm1_near(float r) {
    float s = r * r;
    float p = ow_multiply_add(0x1.6bebdap-10f, s, ow_multiply_add(0x1.122886p-7f, r, 0x1.555676p-5f));
    p = ow_multiply_add(p, s, ow_multiply_add(0x1.5554aep-3f, r, 0x1.fffffep-2f));
    return ow_multiply_add(p, s, r);
}
static inline double ow_expm1_near_f64(double r) {
    double s = r * r;
    double p = ow_multiply_add_f64(0x1.af38a9b0ec855p-26, r, 0x1.289185613a3d6p-22);
    p = ow_multiply_add_f64(p, s, ow_multiply_add_f64(0x1.71de0dae63bb3p-19, r, 0x1.a019b90d2ae7ap-16));
    p = ow_multiply_add_f64(p, s, ow_multiply_add_f64(0x1.a01a01a7c41d5p-13, r, 0x1.6c16c1788bd90p-10));
    p = ow_multiply_add_f64(p, s, ow_multiply_add_f64(0x1.11111111109b3p-7, r, 0x1.5555555553d63p-5));
    p = ow_multiply_add_f64(p, s, ow_multiply_add_f64(0x1.5555555555556p-3, r, 0x1.0000000000001p-1));
    return ow_multiply_add_f64(p, s, r);
}

/* The whole number k next to x, in the low bits of what comes back; `magic` + k is exact. */
#define OW_MAGIC 0x1.8p23f
#define OW_MAGIC_F64 0x1.8p52

/* x - k ln 2. The upper part of ln 2 has so few bits that its product with k is exact. */
static inline float ow_exp_rest_of(float x, float k) {
    return ow_multiply_add(k, 0x1.bd0106p-13f, ow_multiply_add(k, -0x1.63p-1f, x));
}
static inline double ow_exp_rest_of_f64(double x, double k) {
    return ow_multiply_add_f64(k, -0x1.cf79abc9e3b3ap-40, ow_multiply_add_f64(k, -0x1.62e42fefap-1, x));
}

/* number 2^k for k of [-2 bias, 2 bias + 1], in two steps, of which the first is exact: denormal results are rounded once. */
static inline float ow_scaled(float number, float shifted) {
    uint32_t both = ow_bits(shifted) - (ow_bits(OW_MAGIC) - 254), first = both >> 1;
    return number * ow_from_bits(first << 23) * ow_from_bits((both - first) << 23);
}
static inline double ow_scaled_f64(double number, double shifted) {
    uint64_t both = ow_bits_of_double(shifted) - (ow_bits_of_double(OW_MAGIC_F64) - 2046), first = both >> 1;
    return number * ow_double_from_bits(first << 52) * ow_double_from_bits((both - first) << 52);
}

/* The exponential of x in base e, or in base 2, by 2^k exp(r). NaN passes both bounds. Always inlined, as loops with a call
 * in them stay scalar. */
#define OW_EXP(name, type, suffix, multiply_add, magic, lowest, highest, factor, rest) \
    static inline __attribute__((always_inline)) type name(type x) { \
        int is_zero = x < lowest; \
        type near = is_zero ? 0 : x; \
        near = near > highest ? highest : near; \
        type shifted = multiply_add(near, factor, magic), k = shifted - magic; \
        type result = ow_scaled##suffix(ow_expm1_near##suffix(rest) + 1, shifted); \
        return is_zero ? 0 : result; \
    }
OW_EXP(ow_expf, float, , ow_multiply_add, OW_MAGIC, -104.0f, 89.0f, 0x1.715476p0f, ow_exp_rest_of(near, k))
OW_EXP(ow_exp2f, float, , ow_multiply_add, OW_MAGIC, -151.0f, 129.0f, 1, (near - k) * 0x1.62e43p-1f)
#ifdef __FMA__
OW_EXP(ow_exp, double, _f64, ow_multiply_add_f64, OW_MAGIC_F64, -746.0, 710.0, 0x1.71547652b82fep0, ow_exp_rest_of_f64(near, k))
#else
/* Without fused operations polynomials of degree 11 take longer than libmvec's tables, of which only those of exp have a slow
 * road: they get 0 in the place of what is far away. */
static inline double ow_exp(double x) {
    int is_far = fabs(x + 18) > 728;
    double near = exp(is_far ? 0 : x);
    return is_far ? (x > 0 ? INFINITY : 0) : near;
}
#define ow_expm1 expm1
#endif
#undef OW_EXP

/* exp(x) for x <= 0, 0 for NaN: 2^(k + 64) exp(r) is a normal number, whatever k. */
static inline float ow_exp_of_negative(float x) {
    int is_zero = !(x >= -104.0f);
    float near = is_zero ? 0 : x;
    float shifted = ow_multiply_add(near, 0x1.715476p0f, OW_MAGIC), k = shifted - OW_MAGIC;
    float p = ow_expm1_near(ow_exp_rest_of(near, k)) + 1;
    float lifted = ow_from_bits(ow_bits(p) + (ow_bits(shifted) << 23) + (64u << 23));
    return is_zero ? 0 : lifted * 0x1p-64f;
}

/* exp(x) - 1 = 2^k (exp(r) - 1) + (2^k - 1), half of it at first, because 2^k may be too large; what equals x must not lose
 * a bit so. */
#define OW_EXPM1(name, type, suffix, absolute, multiply_add, magic, lowest, highest, factor, bits, from_bits, digits, tiny) \
    static inline __attribute__((always_inline)) type name(type x) { \
        type near = x < lowest ? lowest : x; \
        near = near > highest ? highest : near; \
        type shifted = multiply_add(near, factor, magic), k = shifted - magic; \
        type p = ow_expm1_near##suffix(ow_exp_rest_of##suffix(near, k)); \
        type power = from_bits((bits(shifted) << digits) + bits((type)0.5)); \
        type half = power * p + (power - (type)0.5); \
        return absolute(x) < tiny ? x : half + half; \
    }
OW_EXPM1(ow_expm1f, float, , fabsf, ow_multiply_add, OW_MAGIC, -18.0f, 89.0f, 0x1.715476p0f, ow_bits, ow_from_bits, 23, 0x1p-25f)
#ifdef __FMA__
OW_EXPM1(ow_expm1, double, _f64, fabs, ow_multiply_add_f64, OW_MAGIC_F64, -38.0, 710.0, 0x1.71547652b82fep0, ow_bits_of_double,
         ow_double_from_bits, 52, 0x1p-54)
#endif
#undef OW_EXPM1
#undef OW_MAGIC
#undef OW_MAGIC_F64

/* 1 / (1 + exp(-x)): the exponential of a negative number never overflows. NaN stays NaN. */
static inline float ow_sigmoidf(float x) {
    float e = ow_exp_of_negative(-fabsf(x));
    return (x < 0.0f ? e : x >= 0.0f ? 1.0f : x) / (1.0f + e);
}

#endif
