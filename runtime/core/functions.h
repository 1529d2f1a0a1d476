/* Mathematical functions that libmvec does not have, or not fast enough, as branch-free code that vectorises.
 *
 * Fused multiply-adds are explicit, so that scalar and vector forms round alike. */
#ifndef OPWEAVE_FUNCTIONS_H
#define OPWEAVE_FUNCTIONS_H

#include <math.h>
#include <stdint.h>
#include <string.h>

static inline uint32_t ow_bits(float x) {
    uint32_t bits;
    memcpy(&bits, &x, sizeof bits);
    return bits;
}

static inline float ow_from_bits(uint32_t bits) {
    float x;
    memcpy(&x, &bits, sizeof x);
    return x;
}

static inline float ow_multiply_add(float a, float b, float c) {
#ifdef __FMA__
    return __builtin_fmaf(a, b, c);
#else
    return a * b + c;
#endif
}

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
