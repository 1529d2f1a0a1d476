/* Special functions that neither <math.h> nor libmvec has, for float64; float32 computes in float64 and rounds.
 *
 * Straight-line code over functions that libmvec has, so that loops vectorise; sums whose length depends on the argument
 * are ordinary functions. Formulas are from the Digital Library of Mathematical Functions (https://dlmf.nist.gov) unless
 * another source is given; tools/fit_special.py computed the polynomials. Kernels that call one of these functions include
 * this file after kernel.h, whose prototypes vectorise its loops too. */
#ifndef OPWEAVE_SPECIAL_H
#define OPWEAVE_SPECIAL_H

#include <math.h>
#include <stdint.h>

#define OW_PI 3.14159265358979323846
#define OW_FLOAT_FORM1(name) \
    static inline float name##f(float x) { return (float)name(x); }
#define OW_FLOAT_FORM2(name) \
    static inline float name##f(float x, float y) { return (float)name(x, y); }

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
 * error function and its inverse", 2008), then two of Halley's steps: on erf(y) - a near zero, where it is exact, else on
 * log(erfc(y)) - log(c), which is nearly a parabola however small c is. A vector computes both. */
static inline double ow_inverse_erf(double a, double c) {
    double l = log(c * (1 + a)), t = 2 / (OW_PI * 0.147) + 0.5 * l, log_c = log(c);
    double y = a < 0.01 ? 0.88622692545275801 * a : sqrt(sqrt(t * t - l / 0.147) - t);
#pragma GCC unroll 2
    for (int step = 0; step < 2; step++) {
        double square = y * y, u = (erf(y) - a) * 0.88622692545275801 * exp(square < 1 ? square : 1);
        double near = u / (1 + y * u);
        double scaled = 0.88622692545275801 * ow_erfcx(y), f = log(ow_erfcx(y)) - square - log_c;
        double far = -f * scaled / (1 - f * (y * scaled - 0.5));
        y -= a < 0.5 ? near : far;
    }
    return c > 0 ? y : c == 0 ? INFINITY : NAN;
}

static inline double ow_erfinv(double x) {
    double a = fabs(x);
    return copysign(ow_inverse_erf(a, 1 - a), x);
}
OW_FLOAT_FORM1(ow_erfinv)

/* The quantile of the standard normal distribution. */
static inline double ow_ndtri(double p) {
    double c = p < 0.5 ? 2 * p : 2 * (1 - p);
    double y = 1.41421356237309505 * ow_inverse_erf(1 - c, c);
    return p < 0.5 ? -y : p >= 0.5 ? y : NAN;
}
OW_FLOAT_FORM1(ow_ndtri)

/* ---- gamma function and its relatives ---------------------------------------------------------------------- */

static inline double ow_lgamma(double x) {
    int sign;
    return lgamma_r(x, &sign);
}
OW_FLOAT_FORM1(ow_lgamma)

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
OW_FLOAT_FORM1(ow_digamma)

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

/* ---- Bessel functions ---------------------------------------------------------------------------------------- */

static inline double ow_bessel_j0(double x) { return j0(x); }
static inline double ow_bessel_j1(double x) { return j1(x); }
static inline double ow_bessel_y0(double x) { return x < 0 ? NAN : x == 0 ? -INFINITY : y0(x); }
static inline double ow_bessel_y1(double x) { return x < 0 ? NAN : x == 0 ? -INFINITY : y1(x); }
OW_FLOAT_FORM1(ow_bessel_j0)
OW_FLOAT_FORM1(ow_bessel_j1)
OW_FLOAT_FORM1(ow_bessel_y0)
OW_FLOAT_FORM1(ow_bessel_y1)

/* exp(-|x|) I0(x) and the like as Chebyshev series: near zero in |x| / 4 - 1, from 8 on in 16 / |x| - 1. */
static const double ow_i0_near[29] = {
    0x1.5a84e9035a22ap-2, -0x1.37febc057cd8dp-2, 0x1.5f7ac77ac88c0p-3, -0x1.84b70342d06eap-4,
    0x1.93e8acea8a32dp-5, -0x1.84e9ef121b6f0p-6, 0x1.59961f3dde3ddp-7, -0x1.1b65e201aa849p-8,
    0x1.adc758a12100ep-10, -0x1.2e2fd1f15eb52p-11, 0x1.8b51b74107cabp-13, -0x1.e2b2659c41d5ap-15,
    0x1.13f58be9a2859p-16, -0x1.2866fcba56427p-18, 0x1.2bf24978cf4acp-20, -0x1.1ec638f227f8dp-22,
    0x1.03b769d4d6435p-24, -0x1.beaf68c0b30abp-27, 0x1.6d903a454cb34p-29, -0x1.1d4fe13ae9556p-31,
    0x1.a98becc743c10p-34, -0x1.2fc957a946abcp-36, 0x1.9fe2fe19bd324p-39, -0x1.1164c62ee1af0p-41,
    0x1.59b464b262627p-44, -0x1.a5022c297fbebp-47, 0x1.ee6d893f65ebap-50, -0x1.184eb721ebbb4p-52,
    0x1.33362977da589p-55,
};
static const double ow_i0_far[23] = {
    0x1.9be62aca809cbp-2, 0x1.b998ca2e59049p-9, 0x1.20fa378999e52p-14, 0x1.8412bc101c586p-19,
    0x1.b8007d9cd616ep-23, 0x1.8569280d6d56dp-26, 0x1.d2c64a9225b87p-29, 0x1.0f9ccc0f46f75p-31,
    0x1.a24feabe8004fp-37, -0x1.1511d08397425p-35, -0x1.d0fd7357e7bf2p-37, -0x1.f904303178d66p-40,
    0x1.94347fa268cecp-41, 0x1.b1c8c6b83c073p-42, 0x1.156ff0d5fc545p-46, -0x1.75d99cf68bb32p-45,
    -0x1.583fe7e65629ap-47, 0x1.12a919094e6d7p-48, 0x1.fee7da3eafb1fp-50, -0x1.8aee7d908de38p-52,
    -0x1.4600babd21fe4p-52, 0x1.3f3dd076041cdp-55, 0x1.9be1812d98421p-55,
};
static const double ow_i1_near[28] = {
    0x1.02a63724a7ffap-3, -0x1.694d10469192ep-3, 0x1.a46dad536f53cp-4, -0x1.b1bbc537c9ebcp-5,
    0x1.951e3e7bb2349p-6, -0x1.5a29f7913a26ap-7, 0x1.1065349d3a1b4p-8, -0x1.8cc620b3cd4a4p-10,
    0x1.0c95db6c6df7dp-11, -0x1.533cad3d694fep-13, 0x1.911b542c70d0bp-15, -0x1.bd5f9b8debbcfp-17,
    0x1.d1c4ed511afc5p-19, -0x1.cc0798363992ap-21, 0x1.ae344b347d108p-23, -0x1.7dd3e24b8c3e8p-25,
    0x1.4258e02395010p-27, -0x1.0361b28ea67e6p-29, 0x1.8ea34b43fdf6cp-32, -0x1.2510397eb07dep-34,
    0x1.9cee2b21d3154p-37, -0x1.173835fb70366p-39, 0x1.6af784779d955p-42, -0x1.c628e1c8f0b3bp-45,
    0x1.11d7f0615290cp-47, -0x1.3eaaa7e0d1573p-50, 0x1.663e3e593bfacp-53, -0x1.857d0c38a0576p-56,
};
static const double ow_i1_far[23] = {
    0x1.8ea18b55b1514p-2, -0x1.3fda053fcdb4cp-7, -0x1.cfd7f804aa9a6p-14, -0x1.048df49ca0373p-18,
    -0x1.0dbfd2e9e5443p-22, -0x1.c415394bb46c1p-26, -0x1.0790b9ad53528p-28, -0x1.334ca5423dd80p-31,
    -0x1.4dcf9d4504c0cp-36, 0x1.1e1a1f1587865p-35, 0x1.f101f653c457bp-37, 0x1.1e7d3f6439fa3p-39,
    -0x1.953e1076ab493p-41, -0x1.cbc458e73e255p-42, -0x1.7a9482e6d22a0p-46, 0x1.80d3c26b3281ep-45,
    0x1.776e1762d31e8p-47, -0x1.12db5138afbc7p-48, -0x1.0efcd8bc4d22ap-49, 0x1.7d68e5f04a2d1p-52,
    0x1.55915fceb588ap-52, -0x1.2806c9c773320p-55, -0x1.acea3b2532277p-55,
};

/* Clenshaw's recurrence. */
#define OW_CHEBYSHEV(t, series) ow_chebyshev(t, series, (int)(sizeof(series) / sizeof(series[0])))
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

static inline double ow_i0e(double x) {
    double a = fabs(x), inverse = 1 / a;
    double near = OW_CHEBYSHEV(0.25 * a - 1, ow_i0_near), far = OW_CHEBYSHEV(16 * inverse - 1, ow_i0_far) * sqrt(inverse);
    return a <= 8 ? near : far;
}
OW_FLOAT_FORM1(ow_i0e)

static inline double ow_i1e(double x) {
    double a = fabs(x), inverse = 1 / a;
    double near = OW_CHEBYSHEV(0.25 * a - 1, ow_i1_near) * a, far = OW_CHEBYSHEV(16 * inverse - 1, ow_i1_far) * sqrt(inverse);
    double value = a <= 8 ? near : far;
    return x < 0 ? -value : value;
}
OW_FLOAT_FORM1(ow_i1e)

/* The exponential alone would overflow where the product does not. An infinite argument gives NaN, as in torch. */
static inline double ow_i0(double x) {
    double half = exp(0.5 * fabs(x));
    return ow_i0e(x) * half * half;
}
OW_FLOAT_FORM1(ow_i0)

static inline double ow_i1(double x) {
    double half = exp(0.5 * fabs(x));
    return ow_i1e(x) * half * half;
}
OW_FLOAT_FORM1(ow_i1)

#undef OW_FLOAT_FORM1
#undef OW_FLOAT_FORM2
#endif
