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
#include <string.h>

#include "scalar_math.h"

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

/* A polynomial, its coefficients lowest first. */
#define OW_POLYNOMIAL(t, coefficients) ow_polynomial(t, coefficients, OW_TERMS(coefficients))
static inline __attribute__((always_inline)) double ow_polynomial(double t, const double *coefficients, int count) {
    double square = t * t, sums[2] = {0, 0}; /* of even and odd powers, which do not wait for each other */
#pragma GCC unroll 32
    for (int power = count - 1; power >= 0; power--)
        sums[power % 2] = ow_multiply_add_f64(sums[power % 2], square, coefficients[power]);
    return ow_multiply_add_f64(sums[1], t, sums[0]);
}

/* A function of rows, as those of vector_math.h: function_of_near() of all elements, which is short, and the function itself of
 * those of them that do not lie near; once for an element that is repeated, as the one that short rows are padded with. */
#define OW_NEAR_BLOCK(name, type, function) \
    static inline void name(type *to, const type *from, int64_t n) { \
        type results[OW_PAD]; \
        int is_far[OW_PAD]; \
        for (int64_t done = 0; done < n; done += OW_PAD) { \
            int outside = 0; \
            for (int i = 0; i < OW_PAD; i++) { \
                results[i] = (type)function##_of_near(from[done + i]); \
                outside |= is_far[i] = !function##_is_near(from[done + i]); \
            } \
            if (outside) \
                for (int i = 0; i < OW_PAD; i++) { \
                    const type *x = from + done + i; \
                    if (!is_far[i]) continue; \
                    results[i] = i && !memcmp(x - 1, x, sizeof *x) ? results[i - 1] : (type)function(*x); \
                } \
            memcpy(to + done, results, sizeof results); \
        } \
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

/* erfinv(x) / x is nearly linear in w = -log(1 - x^2), and in its square root far out (Giles, "Approximating the erfinv
 * function", 2012): polynomials in w / 3.125 - 1, and in what maps an interval of sqrt(w) to [-1, 1]. The last two are for
 * the quantiles of less than 2^-54, up to those of the least number. */
static const double ow_erfinv_near[24] = {
    0x1.a755e7c99ae86p+0, 0x1.8040caa12786bp-1, -0x1.e2b19456a0d5cp-5, -0x1.7259eca3a0e6ap-6,
    0x1.23c5aee6d7623p-6, -0x1.0f249df1e0f4cp-8, -0x1.4d5dd2f601d97p-10, 0x1.4316b4de70ff3p-10,
    -0x1.153c9cea11803p-12, -0x1.ea4472a80be62p-14, 0x1.879bf9b660a90p-14, -0x1.f83eaa8301e2fp-17,
    -0x1.79ad54de00827p-17, 0x1.de7b6e9c9a48dp-18, -0x1.712e9bbf5975bp-21, -0x1.1c4e17253da66p-20,
    0x1.24f0792b27f89p-21, -0x1.65c703ccb827bp-27, -0x1.c39d8ba95df48p-24, 0x1.51b6d83b10caep-25,
    0x1.37b6d2ede04acp-27, -0x1.286d931b525f7p-27, -0x1.7943526054c85p-34, 0x1.ace756859e33ap-31,
};
static const double ow_erfinv_middle[20] = {
    0x1.8abcc380d5a48p+1, 0x1.8204fa4162bfep-1, 0x1.8bfc9e26dfb37p-9, -0x1.9eda88e4edf52p-10,
    0x1.9d4ce38384382p-11, -0x1.a418d38ea8f4bp-12, 0x1.63d0379a6fdbap-13, -0x1.8d8d2c4d6c518p-15,
    0x1.42e80153ed977p-19, 0x1.5816978484bd6p-18, -0x1.65a656321fc74p-19, 0x1.1aa5371458edap-21,
    0x1.8e0acf581261dp-24, -0x1.96ba0ea5b03c7p-24, 0x1.cac565c9c525ap-26, -0x1.8cc7d3d10b18ap-32,
    -0x1.75c6cc2676b11p-29, 0x1.0ec4879b52beap-30, 0x1.147b976123a7cp-38, -0x1.18da3d1cfd72fp-34,
};
static const double ow_erfinv_far[20] = {
    0x1.3e79eb73b06f4p+2, 0x1.22f42cba319dcp+0, -0x1.1a24434a33273p-12, -0x1.0ca5c8d783892p-12,
    0x1.b29f5dfa787edp-14, -0x1.f59052ad933d0p-16, 0x1.fdda8d1063d7ep-18, -0x1.e7793d7929bf9p-20,
    0x1.d2952cb725dc4p-22, -0x1.0195fedf65781p-23, 0x1.938f098e29c6fp-25, -0x1.b5cb8a291e7ddp-26,
    0x1.02ec16ac91644p-26, -0x1.1890ced5b5b4fp-27, 0x1.fe491323c6d59p-29, -0x1.90844ae793855p-30,
    0x1.1ab121a7526c1p-31, -0x1.f6579828f15ecp-35, -0x1.74ae24b36f2d9p-34, 0x1.32b74222def20p-35,
};
static const double ow_erfinv_beyond[21] = {
    0x1.4085f03c5bd66p+3, 0x1.f2eb00eff0dc5p+1, -0x1.516e00839d3a6p-8, 0x1.16bf633601792p-10,
    -0x1.37fa0aae21bf2p-13, -0x1.611307c4c81a5p-16, 0x1.0fce39bffda15p-15, -0x1.51f1ffdb3c4d1p-16,
    0x1.55f8ba120cc3ap-17, -0x1.3b2f77611d498p-18, 0x1.13542d53ac6d9p-19, -0x1.d0c4597ce6d9fp-21,
    0x1.7e198f8a29ceep-22, -0x1.30c6f2efb6b00p-23, 0x1.e4633d8b079fbp-25, -0x1.9e754bd8fb058p-26,
    0x1.3f8aee3c085a2p-27, -0x1.0c1f67b291b31p-29, 0x1.a3dd92449ab33p-31, -0x1.14a2e4f23ec5bp-30,
    0x1.978c3bf47d60ap-32,
};
static const double ow_erfinv_end[18] = {
    0x1.4ee29afa386fep+4, 0x1.c0fae7c6fb93ep+2, -0x1.f0ca45917685dp-9, 0x1.fda1c660d020ep-11,
    -0x1.0788e3115fb54p-12, 0x1.0e39066280ff1p-14, -0x1.0e4843764fa02p-16, 0x1.01b6a91cb114dp-18,
    -0x1.c04547f514539p-21, 0x1.3b88ec6c4aceep-23, -0x1.58a91cde8a356p-27, -0x1.22d36f8887a5fp-27,
    0x1.d912592677582p-28, -0x1.d2e5b93e18540p-29, 0x1.1084eeea607ebp-30, -0x1.cfe88402cfa09p-32,
    0x1.d1d60ca02af22p-32, -0x1.5777a58ec6600p-33,
};
static inline double ow_erfinv_close(double w) { return OW_POLYNOMIAL(ow_multiply_add_f64(w, 0.32, -1), ow_erfinv_near); }
static inline double ow_erfinv_by(double w) {
    double root = sqrt(w);
    double middle = OW_POLYNOMIAL((root - 3.25) * (1 / 0.75), ow_erfinv_middle);
    double far = OW_POLYNOMIAL((root - 5.125) * (1 / 1.125), ow_erfinv_far);
    double beyond = OW_POLYNOMIAL((root - 10.125) * (1 / 3.875), ow_erfinv_beyond);
    double end = OW_POLYNOMIAL((root - 21) * (1 / 7.0), ow_erfinv_end);
    double outer = root < 4 ? middle : root < 6.25 ? far : root < 14 ? beyond : end;
    return w < 6.25 ? ow_erfinv_close(w) : w < INFINITY ? outer : w;
}
static inline double ow_erfinv_w(double x) { return -log((1 - x) * (1 + x)); }
static inline double ow_erfinv(double x) { return x * ow_erfinv_by(ow_erfinv_w(x)); }
static inline int ow_erfinv_is_near(double x) { return !(ow_erfinv_w(x) >= 6.25); } /* NaN, too, is short */
static inline __attribute__((always_inline)) double ow_erfinv_of_near(double x) {
    return x * ow_erfinv_close(ow_erfinv_w(x));
}
OW_NEAR_BLOCK(ow_erfinv_block_f64, double, ow_erfinv)

/* The quantile of the standard normal distribution is sqrt(2) * erfinv(2 * p - 1). */
static inline double ow_ndtri_w(double p) {
    double v = 4 * p * (1 - p), w = -log(v > 0 ? v : 1); /* vector forms of log take long for what is not positive */
    return v > 0 ? w : v == 0 ? INFINITY : NAN;
}
static inline double ow_ndtri_x(double p) { return 1.41421356237309505 * (2 * p - 1); }
static inline double ow_ndtri(double p) { return ow_ndtri_x(p) * ow_erfinv_by(ow_ndtri_w(p)); }
static inline int ow_ndtri_is_near(double p) {
    double w = ow_ndtri_w(p);
    return !(w >= 6.25) || w == INFINITY;
}
static inline __attribute__((always_inline)) double ow_ndtri_of_near(double p) {
    double w = ow_ndtri_w(p), root = ow_erfinv_close(w);
    return ow_ndtri_x(p) * (w < INFINITY ? root : w);
}
OW_FLOAT_FORM1(ow_ndtri)

/* Integers lie outside (0, 1), where there is nothing to compute; NaN does not. */
#define OW_NDTRI_BLOCK(name, type) \
    OW_NEAR_BLOCK(name##_inside, type, ow_ndtri) \
    static inline void name(type *to, const type *from, int64_t n) { \
        for (int64_t done = 0; done < n; done += OW_PAD) { \
            int inside = 0; \
            for (int i = 0; i < OW_PAD; i++) inside |= !((from[done + i] <= 0) | (from[done + i] >= 1)); \
            if (inside) { \
                name##_inside(to + done, from + done, OW_PAD); \
                continue; \
            } \
            for (int i = 0; i < OW_PAD; i++) { \
                type p = from[done + i]; \
                to[done + i] = p == 0 ? -(type)INFINITY : p == 1 ? (type)INFINITY : (type)NAN; \
            } \
        } \
    }
OW_NDTRI_BLOCK(ow_ndtri_block_f64, double)
OW_NDTRI_BLOCK(ow_ndtri_block, float)
#undef OW_NDTRI_BLOCK

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

/* ---- gamma function and its relatives ---------------------------------------------------------------------- */

static inline double ow_lgamma(double x) {
    int sign;
    return lgamma_r(x, &sign);
}

/* log(gamma(1 + a)) / (a * (a - 1)) for t = a - 1, up to a = 2 */
static const double ow_lgamma_near[26] = {
    0x1.b0ee6072093cfp-2, -0x1.9ae6509ea10a1p-4, 0x1.0e0c9df292d5bp-5, -0x1.95ce223a9bc8bp-7,
    0x1.4797485484c1ep-8, -0x1.145121fa7189fp-9, 0x1.dfebcef929400p-11, -0x1.a96a3f7fb4c4ep-12,
    0x1.7ed74e12dbab9p-13, -0x1.5c86d000e3f00p-14, 0x1.402c4c8d56f0ap-15, -0x1.284da3da45530p-16,
    0x1.1413732576744p-17, -0x1.025e72952c6b1p-18, 0x1.e1243e40c0ff4p-20, -0x1.c5d73b8ef91fcp-21,
    0x1.d20d224f8ec65p-22, -0x1.bb2317a3ff0d5p-23, 0x1.bbabe3a7ed217p-25, -0x1.a205c5a078659p-26,
    0x1.d6561d85a8c01p-25, -0x1.c5fb91d86f96dp-26, -0x1.c138d72451ee9p-27, 0x1.b4d1a7280a00cp-28,
    0x1.9532528835fbep-28, -0x1.8843be8ffad56p-29,
};

/* For x > 0: Stirling's series, DLMF 5.11.1, from 7.5 on; below, 5.5.1 moves x to a number of [1, 2.5), by few enough steps
 * that no digits are lost beside the zeros. Single precision needs fewer terms. */
static inline __attribute__((always_inline)) double ow_lgamma_right(double x, int single) {
    double whole = rint(x), t = x < 1 ? x - 1 : x < 2.5 ? x - 2 : x - whole, product = 1;
#pragma GCC unroll 5
    for (int k = 1; k <= 5; k++) product *= whole >= k + 2 ? x - k : 1;
    double logarithm = log(x < 1 || x >= 7.5 ? x : product);
    double near = (1 + t) * t * OW_POLYNOMIAL(t, ow_lgamma_near) + (x < 1 ? -logarithm : logarithm);
    double inverse = 1 / x, z = inverse * inverse;
    double rest = single ? 1.0 / 1680 : 1.0 / 1680 - z * (1.0 / 1188 - z * (691.0 / 360360 - z * (1.0 / 156 - z *
                                        (3617.0 / 122400 - z * (43867.0 / 244188)))));
    double series = inverse * (1.0 / 12 - z * (1.0 / 360 - z * (1.0 / 1260 - z * rest)));
    double far = (x - 0.5) * (logarithm - 1) + 0.41893853320467274178 + series;
    return x < 7.5 ? near : far;
}
static inline int ow_lgamma_is_near(double x) { return x > 0; }
static inline __attribute__((always_inline)) double ow_lgamma_of_near(double x) { return ow_lgamma_right(x, 0); }
OW_NEAR_BLOCK(ow_lgamma_block_f64, double, ow_lgamma)

/* For single precision 5.5.3 reflects what is not positive; a vector does so only where one of its elements needs it. */
static inline __attribute__((always_inline)) float ow_lgamma_by(float x, int reflects) {
    if (!reflects) return (float)ow_lgamma_right(x, 1);
    int reflected = x <= 0;
    double right = ow_lgamma_right(reflected ? 1 - (double)x : x, 1);
    double left = log(OW_PI / fabs(sin(OW_PI * ((double)x - rint(x))))) - right;
    return (float)(x == -INFINITY ? INFINITY : reflected ? left : right);
}
static inline void ow_lgamma_block(float *to, const float *from, int64_t n) {
    float results[OW_PAD];
    for (int64_t done = 0; done < n; done += OW_PAD) {
        const float *xs = from + done;
        int reflects = 0;
        for (int i = 0; i < OW_PAD; i++) reflects |= xs[i] <= 0;
        if (reflects)
            for (int i = 0; i < OW_PAD; i++) results[i] = ow_lgamma_by(xs[i], 1);
        else
            for (int i = 0; i < OW_PAD; i++) results[i] = ow_lgamma_by(xs[i], 0);
        memcpy(to + done, results, sizeof results);
    }
}
static inline float ow_lgammaf(float x) { return ow_lgamma_by(x, 1); }

/* For single precision: the asymptotic series 5.11.2 holds from 8 on, where 5.5.2 takes smaller arguments; 5.5.4 reflects
 * negative ones. */
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

/* DLMF 5.5.2 raises the argument to where the asymptotic series 5.11.2 holds, two terms by one division and the largest last;
 * 5.5.4 reflects negative ones. */
static inline int ow_digamma_is_near(double x) { return x > 0; }
static inline __attribute__((always_inline)) double ow_digamma_of_near(double x) {
    double large = x < 10 ? x + 10 : x, z = 1 / (large * large), sum = 0;
    double series = z * (1.0 / 12 - z * (1.0 / 120 - z * (1.0 / 252 - z * (1.0 / 240 - z * (1.0 / 132 - z *
                    (691.0 / 32760 - z / 12))))));
#pragma GCC unroll 5
    for (int k = 8; k >= 0; k -= 2) sum += (2 * x + (2 * k + 1)) / ((x + k) * (x + (k + 1)));
    return log(large) - 0.5 / large - series - (x < 10 ? sum : 0);
}
static inline double ow_digamma(double x) {
    if (x == 0) return copysign(INFINITY, -x);
    if (!(x < 0)) return ow_digamma_of_near(x);
    double fraction = x - rint(x);
    return fraction != 0 ? ow_digamma_of_near(1 - x) - OW_PI / tan(OW_PI * fraction) : NAN;
}
OW_NEAR_BLOCK(ow_digamma_block_f64, double, ow_digamma)

/* Hurwitz's zeta function for x > 1 and q > 0, the sum of (q + k)^-x, by the formula of Euler and Maclaurin (DLMF 25.11.5
 * and 2.10.1), eight terms at a time. Single precision needs no more than double precision's logarithm for its powers. */
static inline double ow_zeta_power(double q, double x, int single) {
    return single ? q == 1 ? 1 : exp(-x * log(q)) : pow(q, -x);
}
static inline __attribute__((always_inline)) double ow_zeta_right(double x, double q, int single) {
    static const double factors[] = { /* B(2k) / (2k)! */
        1.0 / 12, -1.0 / 720, 1.0 / 30240, -1.0 / 1209600, 1.0 / 47900160, -691.0 / 1307674368000.0,
        1.0 / 74724249600.0, -3617.0 / 10670622842880000.0, 43867.0 / 5109094217170944000.0,
        -174611.0 / 802857662698291200000.0, 77683.0 / 14101100039391805440000.0,
        -236364091.0 / 1693824136731743669452800000.0,
    };
    double sum = 0, terms[8];
    for (; q < (single ? 3 : 6) + x; q += 8) { /* beyond, the terms of the series fall */
        for (int k = 0; k < 8; k++) terms[k] = ow_zeta_power(q + k, x, single);
        for (int k = 0; k < 8; k++) sum += terms[k];
        if (terms[7] <= (single ? 1e-10 : 1e-17) * sum) return sum;
    }
    double tail = ow_zeta_power(q, x - 1, single);
    if (tail == 0) return sum;
    double series = 0.5, inverse = 1 / q, rising = x * inverse;
    for (int k = 0; k < (single ? 5 : 12); k++) {
        series += factors[k] * rising;
        rising *= (x + 2 * k + 1) * inverse * ((x + 2 * k + 2) * inverse);
    }
    return sum + tail / (x - 1) + tail * inverse * series;
}

/* Left of zero only whole x give real numbers; the terms of negative base are those of two series further right, so that
 * no sum is as long as q is large. */
static inline __attribute__((always_inline)) double ow_zeta_by(double x, double q, int single) {
    if (x == 1) return INFINITY;
    if (x < 1) return NAN;
    if (q <= 0 && q == floor(q)) return INFINITY;
    if (isnan(x) || isnan(q) || (q <= 0 && x != floor(x))) return NAN;
    if (q > 0) return ow_zeta_right(x, q, single);
    double sign = fmod(x, 2) == 1 ? -1 : 1, left = ow_zeta_right(x, -q - floor(-q), single);
    return ow_zeta_right(x, q - floor(q), single) + sign * left - sign * ow_zeta_right(x, 1 - q, single);
}
static inline double ow_zeta(double x, double q) { return ow_zeta_by(x, q, 0); }
static inline float ow_zetaf(float x, float q) { return (float)ow_zeta_by(x, q, 1); }

#include "special_bessel.h"
#include "special_airy.h"
#include "special_igamma.h"
#include "special_polynomials.h"

#undef OW_FLOAT_FORM1
#undef OW_FLOAT_FORM2
#endif
