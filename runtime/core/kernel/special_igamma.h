/* The incomplete gamma functions; part of special.h.
 *
 * An error of an exponent is a relative one of the result, hence long double, which has more digits on most machines. */
#ifndef OPWEAVE_SPECIAL_IGAMMA_H
#define OPWEAVE_SPECIAL_IGAMMA_H

#define OW_LARGE_A 100 /* from here on powers are taken by their logarithms */
#define OW_NEGLIGIBLE 0x1p-55 /* of a term in a sum */

/* x / a - 1 - log(x / a), without cancellation where the two are close: log1p by the series of atanh. */
static inline long double ow_igamma_exponent(long double a, long double x) {
    long double mu = (x - a) / a;
    if (!(fabsl(mu) < 0.4L)) return mu - logl(x / a);
    long double s = mu / (2 + mu), square = s * s, sum = 0;
    for (int odd = 33; odd >= 3; odd -= 2) sum = sum * square + 1.0L / odd;
    return mu * s - 2 * s * square * sum;
}

/* x^a exp(-x) / gamma(a + 1), by halves so that neither factor overflows, and of arguments that are not rounded; DLMF
 * 5.11.1 where a is large. */
static inline double ow_igamma_term(double a, double x) {
    if (a < OW_LARGE_A) {
        if (x > 3000) return 0;
        double half = pow(x, 0.5 * a) * exp(-0.5 * x), gamma = a < 0.5 ? tgamma(1 + a) : a * tgamma(a);
        return half / gamma * half;
    }
    double z = 1 / (a * a), stirling = (1.0 / 12 - z * (1.0 / 360 - z * (1.0 / 1260 - z / 1680))) / a;
    return (double)expl(-a * ow_igamma_exponent(a, x) - stirling) / sqrt(2 * OW_PI * a);
}

/* P by DLMF 8.11.4, for x <= a or small x. */
static inline double ow_igamma_series(double a, double x) {
    double factor = ow_igamma_term(a, x), term = 1, sum = 1;
    if (factor == 0) return 0;
    for (double k = a + 1; term > OW_NEGLIGIBLE * sum; k += 1) {
        term *= x / k;
        sum += term;
    }
    return factor * sum;
}

/* Q for x > a by the continued fraction DLMF 8.9.2, which may take a hundred steps: numerators p and denominators q of its
 * convergents by their recurrence, which divides nothing, until two in turn agree. */
static inline double ow_igammac_fraction(double a, double x) {
    double factor = a * ow_igamma_term(a, x);
    if (factor == 0) return 0;
    long double b = x + 1 - (long double)a, p0 = 1, p1 = b, q0 = 0, q1 = 1, now = 0, before = 1;
    for (double k = 1; fabsl(now - before) > OW_NEGLIGIBLE * now && k < 10000; k += 1) {
        long double numerator = k * (long double)(a - k), p, q;
        b += 2;
        p = b * p1 + numerator * p0;
        q = b * q1 + numerator * q0;
        now = q * p1;
        before = q1 * p;
        p0 = p1, p1 = p, q0 = q1, q1 = q;
        if (p > 0x1p300) p0 *= 0x1p-300, p1 *= 0x1p-300, q0 *= 0x1p-300, q1 *= 0x1p-300;
    }
    return (double)(factor * q1 / p1);
}

/* Would 1 - P lose digits? The logarithm is that of x^a. */
static inline int ow_igamma_is_small(double a, double x, double logarithm) {
    return x <= 0.5 ? logarithm >= -0.4 : (x <= 1.1) & (x * 1.1 >= a);
}

/* Q for such a and x: 1 - x^a / gamma(a + 1) less the rest of DLMF 8.7.1. */
static inline double ow_igammac_small(double a, double x, double logarithm) {
    double factor = 1, sum = 0, term = 1;
    for (int n = 1; fabs(term) > OW_NEGLIGIBLE * fabs(sum); n++) {
        factor *= -x / n;
        term = factor / (a + n);
        sum += term;
    }
    double after = 1 + a, log_gamma = ow_lgamma(after) + (a - (after - 1)) * ow_digamma(after);
    double power = logarithm - log_gamma;
    return -expm1(power) - a * exp(power) * sum;
}

/* Temme's uniform expansion DLMF 8.12.3, 8.12.4 and 8.12.7 for a of at least OW_LARGE_A and |x - a| <= 0.4 a: P left of a,
 * else Q. Series in eta of its coefficients by tools/fit_special.py. */
static const double ow_temme0[19] = {
    -0x1.5555555555555p-2, 0x1.5555555555555p-4, -0x1.e573ac901e574p-7, 0x1.2f684bda12f68p-10,
    0x1.71de3a556c734p-12, -0x1.76e06fec7273bp-13, 0x1.48c5892f7cd83p-15, -0x1.255370652afc1p-19,
    -0x1.f1b22f594c6b5p-20, 0x1.bd6d21e4b4109p-21, -0x1.7b5f9a2d0465cp-23, 0x1.ccf5ceb7f0d9fp-28,
    0x1.6097d55c37c1cp-27, -0x1.2d2197c7a2faap-28, 0x1.f6e66d24d5c8ap-31, -0x1.c0d9b6edf2b0bp-36,
    -0x1.0070a87340428p-34, 0x1.ac9475c463659p-36, -0x1.61ca701fd754ap-38,
};
static const double ow_temme1[17] = {
    -0x1.e573ac901e574p-10, -0x1.c71c71c71c71cp-9, 0x1.5ac056b015ac0p-9, -0x1.0394f6f09e723p-10,
    0x1.af83440e53dbcp-13, -0x1.af83440e53dbcp-22, -0x1.2fa4ae89e5af0p-16, 0x1.00a9cabd6b83ep-17,
    -0x1.b0bdfcc629cbap-20, 0x1.3f59230a8357cp-28, 0x1.280f2cde3f847p-23, -0x1.ee23d0cba8aeep-25,
    0x1.9aa7a30de114cp-27, -0x1.349fbca3a377bp-36, -0x1.1564ecff73d58p-30, 0x1.c9b434bf3c34ep-32,
    -0x1.78a5056f8ce45p-34,
};
static const double ow_temme2[15] = {
    0x1.0ee643b990ee6p-8, -0x1.5f7268edab4c8p-9, 0x1.948b0fcd6e9e0p-11, 0x1.0db20a88f4696p-19,
    -0x1.c253efaa1a932p-14, 0x1.bbf43daf4fe53p-15, -0x1.ac2d05890f2c3p-17, 0x1.26154ae39151dp-25,
    0x1.7058929663937p-20, -0x1.522cb05171911p-21, 0x1.32ac81c15d3d7p-23, -0x1.c24bd0e740a6cp-33,
    -0x1.e437343a46f5dp-27, 0x1.ac0d455e25360p-28, -0x1.77c5829460139p-30,
};
static const double ow_temme3[11] = {
    0x1.547d93b34e2b6p-11, 0x1.e13ce465fa859p-13, -0x1.ebfb188b7ca00p-12, 0x1.18b9b5bf2d984p-12,
    -0x1.3d2a3a29b5d9dp-14, -0x1.0152a1871f27ap-22, 0x1.73df462204ef4p-17, -0x1.7cd6f27b3f020p-18,
    0x1.7e0201539310ep-20, -0x1.6c2dcffbefeefp-23, 0x1.5bde8ef4c4dc7p-24,
};
static const double ow_temme4[9] = {
    -0x1.c3e0b02da7bf9p-11, 0x1.9b0ff6874f2c4p-11, -0x1.3999a85a4237ap-12, -0x1.88f2ae1def9d0p-20,
    0x1.16908b48ce058p-14, -0x1.4ce3fd902bcadp-15, 0x1.7db4c02846e81p-17, -0x1.c71c074985d3fp-20,
    0x1.de37d9f09164cp-21,
};
static const double ow_temme5[7] = {
    -0x1.6128ac5a4fa71p-12, -0x1.247604839c038p-14, 0x1.22be87360ef1fp-12, -0x1.a2042c5148e27p-13,
    0x1.1d1e9cb24760bp-14, -0x1.c823fc1b3cc36p-17, 0x1.0d0e229150428p-17,
};
static const double ow_temme6[4] = {
    0x1.168ef1b0931c8p-11, -0x1.36773bdb97b48p-11, 0x1.1c0950d3ecb9dp-12, -0x1.5600945495b37p-14,
};

static inline double ow_igamma_uniform(double a, double x) {
    long double exponent = ow_igamma_exponent(a, x);
    double eta = copysign(sqrt(2 * (double)exponent), x - a), z = 1 / a, sum = 0;
    sum = sum * z + OW_POLYNOMIAL(eta, ow_temme6);
    sum = sum * z + OW_POLYNOMIAL(eta, ow_temme5);
    sum = sum * z + OW_POLYNOMIAL(eta, ow_temme4);
    sum = sum * z + OW_POLYNOMIAL(eta, ow_temme3);
    sum = sum * z + OW_POLYNOMIAL(eta, ow_temme2);
    sum = sum * z + OW_POLYNOMIAL(eta, ow_temme1);
    sum = sum * z + OW_POLYNOMIAL(eta, ow_temme0);
    sum /= sqrt(2 * OW_PI * a);
    exponent *= a;
    return (double)expl(-exponent) * (0.5 * ow_erfcx(sqrt((double)exponent)) + (x < a ? -sum : sum));
}

/* P, or Q if `upper`: the smaller one is computed, the other one is its complement. Where the value has no limit it is
 * NaN, as in torch. */
static inline double ow_incomplete_gamma(double a, double x, int upper) {
    if (!(a >= 0 && x >= 0)) return NAN;
    if (a == 0 || x == INFINITY) return (a == 0 && x == 0) || a == INFINITY ? NAN : !upper;
    if (x == 0 || a == INFINITY) return upper;
    int right = 1;
    double logarithm = a * log(x), value;
    if (a >= OW_LARGE_A && fabs(x - a) <= 0.4 * a) {
        right = x >= a;
        value = ow_igamma_uniform(a, x);
    } else if (ow_igamma_is_small(a, x, logarithm)) {
        value = ow_igammac_small(a, x, logarithm);
    } else if (x > 1 && x > a) {
        value = ow_igammac_fraction(a, x);
    } else {
        right = 0;
        value = ow_igamma_series(a, x);
    }
    return right == upper ? value : 1 - value;
}

static inline double ow_igamma(double a, double x) { return ow_incomplete_gamma(a, x, 0); }
static inline double ow_igammac(double a, double x) { return ow_incomplete_gamma(a, x, 1); }
OW_FLOAT_FORM2(ow_igamma)
OW_FLOAT_FORM2(ow_igammac)

#include "special_igamma_rows.h"

#undef OW_LARGE_A
#undef OW_NEGLIGIBLE
#endif
