/* Special functions that neither <math.h> nor libmvec has, for float64; float32 computes in float64 and rounds, often with
 * shorter series, unless single precision itself is enough.
 *
 * Straight-line code over functions that libmvec has, so that loops vectorise; sums whose length depends on the argument
 * are ordinary functions. Formulas are from the Digital Library of Mathematical Functions (https://dlmf.nist.gov) unless
 * another source is given; tools/fit_special.py computed the polynomials. Kernels that call one of these functions include
 * this file after kernel.h, whose prototypes vectorise its loops too. The files special_*.h are parts of it. */
#ifndef OPWEAVE_SPECIAL_H
#define OPWEAVE_SPECIAL_H

#include <math.h>
#include <stdint.h>

#include "functions.h"

#define OW_PI 3.14159265358979323846
#define OW_SQRT_HALF 0.70710678118654752440
#define OW_FLOAT_FORM1(name) \
    static inline float name##f(float x) { return (float)name(x); }
#define OW_FLOAT_FORM2(name) \
    static inline float name##f(float x, float y) { return (float)name(x, y); }

/* A Chebyshev series, by Clenshaw's recurrence. */
#define OW_TERMS(series) ((int)(sizeof(series) / sizeof(series[0])))
#define OW_CHEBYSHEV(t, series) ow_chebyshev(t, series, OW_TERMS(series))
static inline __attribute__((always_inline)) double ow_chebyshev(double t, const double *series, int count) {
    double last = 0, b = 0;
#pragma GCC unroll 32
    for (int k = count - 1; k > 0; k--) {
        double next = 2 * t * b - last + series[k];
        last = b;
        b = next;
    }
    return t * b - last + series[0];
}
static inline __attribute__((always_inline)) float ow_chebyshevf(float t, const double *series, int count) {
    float last = 0, b = 0;
#pragma GCC unroll 32
    for (int k = count - 1; k > 0; k--) {
        float next = ow_multiply_add(2 * t, b, (float)series[k] - last);
        last = b;
        b = next;
    }
    return ow_multiply_add(t, b, (float)series[0] - last);
}

/* ---- error function: scaled, inverse ---------------------------------------------------------------------- */

/* exp(x * x) * erfc(x): what x * x lost in rounding is multiplied back; DLMF 7.12.1 far out. */
static inline double ow_erfcx(double x) {
    double square = x * x, lost = fma(x, x, -square);
    double near = exp(square) * (1 + lost) * erfc(x);
    double z = 1 / (2 * square);
    double far = 1 - z * (1 - 3 * z * (1 - 5 * z * (1 - 7 * z * (1 - 9 * z * (1 - 11 * z * (1 - 13 * z))))));
    far *= 0.56418958354775628695 / x;
    return x < -27 ? INFINITY : x < 25 ? near : x >= 25 ? far : x;
}
OW_FLOAT_FORM1(ow_erfcx)

/* y with erf(y) = a and erfc(y) = c, for a = 1 - c in [0, 1): Winitzki's approximation ("A handy approximation for the
 * error function and its inverse", 2008), then Halley's steps, two for double precision and one for single: on erf(y) - a
 * near zero, where it is exact, else on log(erfc(y)) - log(c), which is nearly a parabola however small c is. A vector
 * computes both. */
static inline __attribute__((always_inline)) double ow_inverse_erf(double a, double c, int steps) {
    double l = log(c * (1 + a)), t = 2 / (OW_PI * 0.147) + 0.5 * l, log_c = log(c);
    double y = a < 0.01 ? 0.88622692545275801 * a : sqrt(sqrt(t * t - l / 0.147) - t);
#pragma GCC unroll 2
    for (int step = 0; step < steps; step++) {
        double square = y * y, u = (erf(y) - a) * 0.88622692545275801 * exp(square < 1 ? square : 1);
        double near = u / (1 + y * u);
        double scaled = 0.88622692545275801 * ow_erfcx(y), f = log(ow_erfcx(y)) - square - log_c;
        double far = -f * scaled / (1 - f * (y * scaled - 0.5));
        y -= a < 0.5 ? near : far;
    }
    return c > 0 ? y : c == 0 ? INFINITY : NAN;
}

/* erfinv(x) / x is nearly linear in w = -log(1 - x^2), and in its square root far out (Giles, "Approximating the erfinv
 * function", 2012). In double precision w is no larger than 36.1: series in w / 3.125 - 1, (sqrt(w) - 3.25) / 0.75 and
 * (sqrt(w) - 5.125) / 1.125. */
static const double ow_erfinv_near[24] = {
    0x1.a16357b9a6014p+0, 0x1.7690021bfa659p-1, -0x1.5bea2e253860ap-6, -0x1.af48f8c60268bp-8,
    0x1.fee28749b3e8bp-10, -0x1.28ec06faad32ap-13, -0x1.9d7f9eeabc325p-15, 0x1.ef0657a47bfbcp-17,
    -0x1.482191d4d49a6p-21, -0x1.122e09736920ap-21, 0x1.f1cc722468c1bp-24, 0x1.99c9b736ca149p-30,
    -0x1.686b16c6e6ae3p-28, 0x1.d446dccbea891p-31, 0x1.5c31ba3c31f33p-34, -0x1.c08cea036c64ep-35,
    0x1.7e8a5e7e81206p-38, 0x1.6bbebed34b139p-40, -0x1.061cf6da41d70p-41, 0x1.b4f98efc0df66p-46,
    0x1.2780b45fe4ad7p-46, -0x1.1c9889075da3dp-48, -0x1.680b2736424cdp-55, 0x1.a64454acc72d9p-53,
};
static const double ow_erfinv_middle[20] = {
    0x1.8af9afe2709ecp+1, 0x1.81458c0b8c3a9p-1, 0x1.0414aa0475c83p-9, -0x1.1843af076c062p-11,
    0x1.1137e792c6025p-13, -0x1.edd11a3e555dap-16, 0x1.5f0cc7fdd708bp-18, -0x1.211d7b96fc7afp-21,
    -0x1.f61d1f31c522cp-26, 0x1.9aa9025ee461fp-26, -0x1.2f22d31ff1609p-28, 0x1.e4f6dc0e1aab7p-33,
    0x1.640a029761e1bp-34, -0x1.7cbaf40ebacd9p-36, 0x1.10873d9553352p-39, 0x1.affbc24f588ffp-43,
    -0x1.7358bcec59a15p-44, 0x1.76c918bdadbe5p-47, 0x1.0ff2666665b18p-55, -0x1.1c6b809e24fb6p-52,
};
static const double ow_erfinv_far[19] = {
    0x1.3e7864acc46f0p+2, 0x1.22e649910da8dp+0, -0x1.4b203cb72775fp-14, -0x1.368b2fe9d83f9p-14,
    0x1.e622f295ac1a1p-17, -0x1.187bbd187619ap-19, 0x1.22cee10667733p-22, -0x1.29ac33247d9bfp-25,
    0x1.56a49cecfb66ap-28, -0x1.020c91b0cdda5p-30, 0x1.f5a40218a1b51p-33, -0x1.08d5f7c0c3b26p-34,
    0x1.08eef34dbf6d5p-36, -0x1.d2d8dbda24be9p-39, 0x1.54ce1567eee1ep-41, -0x1.6ccbb8bdeba81p-44,
    0x1.243cf9347552cp-48, 0x1.dd3fd960f7ff6p-50, -0x1.7477fec7ef986p-51,
};
static inline double ow_erfinv(double x) {
    double w = -log((1 - x) * (1 + x)), root = sqrt(w);
    double near = OW_CHEBYSHEV(w / 3.125 - 1, ow_erfinv_near);
    double middle = OW_CHEBYSHEV((root - 3.25) / 0.75, ow_erfinv_middle);
    double far = OW_CHEBYSHEV((root - 5.125) / 1.125, ow_erfinv_far);
    double factor = w < 6.25 ? near : root < 4 ? middle : far;
    return x * (w < INFINITY ? factor : w);
}

/* In single precision w is no larger than 16: polynomials in w / 2.5 - 1 and (sqrt(w) - 3.125) / 0.9. */
static const float ow_erfinvf_near[10] = {
    0x1.805c5ep0f, 0x1.3bb316p-1f, -0x1.abc3dap-6f, -0x1.40b2aep-6f, 0x1.177cbap-7f, -0x1.fd2dp-12f, -0x1.bb63dep-11f,
    0x1.2b9aa4p-12f, 0x1.2ab34cp-15f, -0x1.1dd256p-15f,
};
static const float ow_erfinvf_far[10] = {
    0x1.7aaa3cp1f, 0x1.ce837ap-1f, 0x1.76358cp-8f, -0x1.fa7c92p-9f, 0x1.45051ep-9f, -0x1.868fdap-10f, 0x1.6e8f5ep-11f,
    -0x1.3fb672p-13f, -0x1.3fdeaap-14f, 0x1.9a5696p-15f,
};
static inline float ow_erfinvf(float x) {
    float w = -logf((1 - x) * (1 + x)), t = ow_multiply_add(w, 0.4f, -1), u = (sqrtf(w) - 3.125f) * (1 / 0.9f);
    float near = ow_erfinvf_near[9], far = ow_erfinvf_far[9];
#pragma GCC unroll 9
    for (int power = 8; power >= 0; power--) {
        near = ow_multiply_add(near, t, ow_erfinvf_near[power]);
        far = ow_multiply_add(far, u, ow_erfinvf_far[power]);
    }
    return x * (w < 5 ? near : far);
}

/* The quantile of the standard normal distribution. */
static inline __attribute__((always_inline)) double ow_ndtri_by(double p, int steps) {
    double c = p < 0.5 ? 2 * p : 2 * (1 - p);
    double y = 1.41421356237309505 * ow_inverse_erf(1 - c, c, steps);
    return p < 0.5 ? -y : p >= 0.5 ? y : NAN;
}
static inline double ow_ndtri(double p) { return ow_ndtri_by(p, 2); }
static inline float ow_ndtrif(float p) { return (float)ow_ndtri_by(p, 1); }

/* ---- gamma function and its relatives ---------------------------------------------------------------------- */

static inline double ow_lgamma(double x) {
    int sign;
    return lgamma_r(x, &sign);
}

/* Both for single precision: the asymptotic series 5.11.1 and 5.11.2 hold from 8 on, where 5.5.1 and 5.5.2 take smaller
 * arguments; 5.5.3 and 5.5.4 reflect negative ones. A vector computes all of it. */
static inline float ow_lgammaf(float x) {
    int reflected = x < 0.5f;
    double a = reflected ? 1 - (double)x : x, product = a;
#pragma GCC unroll 8
    for (int k = 1; k < 8; k++) product *= a + k;
    product = a < 8 ? product : 1;
    double large = a < 8 ? a + 8 : a, inverse = 1 / large, z = inverse * inverse;
    double series = inverse * (1.0 / 12 - z * (1.0 / 360 - z * (1.0 / 1260 - z / 1680)));
    double value = (large - 0.5) * log(large) - large + 0.91893853320467274178 + series;
    double sine = reflected ? sin(OW_PI * ((double)x - rint(x))) : 1;
    double other = log(reflected ? OW_PI * product / fabs(sine) : product);
    value = reflected ? other - value : value - other;
    value = x == 1 || x == 2 ? 0 : value; /* the difference may be anything near it */
    return (float)(fabsf(x) < INFINITY ? value : (double)x * x);
}
static inline float ow_digammaf(float x) {
    double a = x < 0 ? 1 - (double)x : x, product = a, slope = 1;
#pragma GCC unroll 8
    for (int k = 1; k < 8; k++) {
        slope = slope * (a + k) + product;
        product *= a + k;
    }
    double large = a < 8 ? a + 8 : a, inverse = 1 / large, z = inverse * inverse;
    double series = z * (1.0 / 12 - z * (1.0 / 120 - z * (1.0 / 252 - z / 240)));
    double value = log(large) - 0.5 * inverse - series - (a < 8 ? slope / product : 0);
    double fraction = (double)x - rint(x), tangent = tan(OW_PI * fraction);
    double reflected = value - (tangent != 0 ? OW_PI / tangent : NAN);
    return x == 0 ? copysignf(INFINITY, -x) : (float)(x < 0 ? reflected : value);
}

/* DLMF 5.5.2 raises the argument to where the asymptotic series 5.11.2 holds, 5.5.4 reflects negative ones. */
static inline double ow_digamma(double x) {
    if (x == 0) return copysign(INFINITY, -x);
    double reflected = 0;
    if (x < 0) {
        double fraction = x - rint(x);
        if (!(fraction != 0)) return NAN;
        reflected = -OW_PI / tan(OW_PI * fraction);
        x = 1 - x;
    }
    int steps = x < 10 ? (int)ceil(10 - x) : 0;
    double large = x + steps, z = 1 / (large * large);
    double series = z * (1.0 / 12 - z * (1.0 / 120 - z * (1.0 / 252 - z * (1.0 / 240 - z * (1.0 / 132 - z *
                    (691.0 / 32760 - z / 12))))));
    double value = log(large) - 0.5 / large - (large < INFINITY ? series : 0);
    while (steps--) value -= 1 / (x + steps); /* the largest term comes last */
    return value + reflected;
}

/* Hurwitz's zeta function for x > 1 and q > 0, the sum of (q + k)^-x, by the formula of Euler and Maclaurin (DLMF 25.11.5
 * and 2.10.1). */
static inline double ow_zeta_right(double x, double q) {
    static const double factors[] = { /* B(2k) / (2k)! */
        1.0 / 12, -1.0 / 720, 1.0 / 30240, -1.0 / 1209600, 1.0 / 47900160, -691.0 / 1307674368000.0,
        1.0 / 74724249600.0, -3617.0 / 10670622842880000.0, 43867.0 / 5109094217170944000.0,
    };
    double sum = 0;
    for (; q < 10 + x; q += 1) { /* beyond, the terms of the series fall */
        double term = pow(q, -x);
        sum += term;
        if (term <= 1e-17 * sum) return sum;
    }
    double tail = pow(q, 1 - x);
    if (tail == 0) return sum;
    double series = 0.5, rising = x, scale = 1 / q;
    for (int k = 0; k < 9; k++) {
        series += factors[k] * rising * scale;
        rising *= (x + 2 * k + 1) * (x + 2 * k + 2);
        scale /= q * q;
    }
    return sum + tail / (x - 1) + tail / q * series;
}

/* Left of zero only whole x give real numbers; the terms of negative base are those of two series further right, so that
 * no sum is as long as q is large. */
static inline double ow_zeta(double x, double q) {
    if (x == 1) return INFINITY;
    if (x < 1) return NAN;
    if (q <= 0 && q == floor(q)) return INFINITY;
    if (isnan(x) || isnan(q) || (q <= 0 && x != floor(x))) return NAN;
    if (q > 0) return ow_zeta_right(x, q);
    double sign = fmod(x, 2) == 1 ? -1 : 1;
    return ow_zeta_right(x, q - floor(q)) + sign * ow_zeta_right(x, -q - floor(-q)) - sign * ow_zeta_right(x, 1 - q);
}
OW_FLOAT_FORM2(ow_zeta)

#include "special_bessel.h"
#include "special_airy.h"
#include "special_igamma.h"
#include "special_polynomials.h"

#undef OW_FLOAT_FORM1
#undef OW_FLOAT_FORM2
#endif
