/* Orthogonal polynomials of the degree trunc(n); part of special.h. Negative degrees give 0, as in torch; degrees that are
 * no number, or not finite, NaN. Infinite arguments have the sign of the leading term. */
#ifndef OPWEAVE_SPECIAL_POLYNOMIALS_H
#define OPWEAVE_SPECIAL_POLYNOMIALS_H

/* n modulo 2 of a degree: without a call of the library, which would be the longest part of small degrees. */
static inline int ow_is_odd(double n) { return n != 2 * trunc(0.5 * n); }

/* ---- Chebyshev ------------------------------------------------------------------------------------------------- */

typedef enum { OW_CHEBYSHEV_T, OW_CHEBYSHEV_U, OW_CHEBYSHEV_V, OW_CHEBYSHEV_W } ow_chebyshev_kind;

/* cos (or sin) of m theta / 2 for x = cos(theta) in [0, 1): near zero theta is pi / 2 - asin(x), whose first part is reduced
 * exactly, so that an error is as small as m * x. m modulo 8 is given because m may be rounded. */
static inline double ow_chebyshev_wave(double x, double m, int eighths, int cosine) {
    static const double cosines[8] = {1, OW_SQRT_HALF, 0, -OW_SQRT_HALF, -1, -OW_SQRT_HALF, 0, OW_SQRT_HALF};
    if (x >= 0.5) {
        double angle = 0.5 * m * acos(x);
        return cosine ? cos(angle) : sin(angle);
    }
    double angle = 0.5 * m * asin(x), c = cosines[eighths], s = cosines[(eighths + 6) % 8];
    return cosine ? c * cos(angle) + s * sin(angle) : s * cos(angle) - c * sin(angle);
}

/* cosh (or sinh) of m acosh(x) / 2, over a divisor, for x > 1: far out the power of x + sqrt(x * x - 1) with the digits that
 * rounding took from the sum, of which the power would make large errors. */
static inline double ow_chebyshev_growth(double x, double m, int cosine, double divisor) {
    double y = 0.5 * m * acosh(x);
    if (y < 2) return (cosine ? cosh(y) : sinh(y)) / divisor;
    double square = x * x, rest = fma(x, x, -square), below = square - 1;
    rest += (square - below) - 1;
    double root = sqrt(below), base = x + root;
    double lost = (x - base) + root + (fma(-root, root, below) + rest) / (2 * root);
    if (x > 0x1p30) base = 2 * x, lost = -0.5 / x;
    double power = pow(base, 0.25 * m), inverse = 1 / (power * power * power);
    if (power == INFINITY) return power;
    return 0.5 * power / divisor * (power * exp(0.5 * m * lost / base) + (cosine ? inverse : -inverse));
}

/* DLMF 18.5.1 to 18.5.4, continued beyond 1; small degrees by the recurrence, which has no error for small integers.
 * A negative argument exchanges V and W. */
static inline double ow_chebyshev_polynomial(double x, double n, ow_chebyshev_kind kind) {
    n = trunc(n);
    if (!(n > 0 && n < INFINITY)) return n == 0 ? 1 : n < 0 ? 0 : NAN;
    double sign = 1;
    if (signbit(x)) {
        x = -x;
        sign = ow_is_odd(n) ? -1 : 1;
        kind = kind == OW_CHEBYSHEV_V ? OW_CHEBYSHEV_W : kind == OW_CHEBYSHEV_W ? OW_CHEBYSHEV_V : kind;
    }
    if (!(x < INFINITY)) return sign * x;
    if (n <= 16) {
        double before = 1, value = kind == OW_CHEBYSHEV_T ? x : 2 * x;
        value += kind == OW_CHEBYSHEV_V ? -1 : kind == OW_CHEBYSHEV_W ? 1 : 0;
        for (int k = 1; k < n && value < INFINITY; k++) {
            double next = 2 * x * value - before;
            before = value;
            value = next;
        }
        return sign * value;
    }
    int extra = kind == OW_CHEBYSHEV_T ? 0 : kind == OW_CHEBYSHEV_U ? 2 : 1;
    int cosine = kind == OW_CHEBYSHEV_T || kind == OW_CHEBYSHEV_V;
    double m = 2 * n + extra;
    double divisor = kind == OW_CHEBYSHEV_T   ? 1
                     : kind == OW_CHEBYSHEV_U ? sqrt(1 + x) * sqrt(fabs(1 - x))
                     : kind == OW_CHEBYSHEV_V ? sqrt(0.5 + 0.5 * x)
                                              : sqrt(0.5 * fabs(1 - x));
    if (x == 1) return sign * (kind == OW_CHEBYSHEV_U ? n + 1 : kind == OW_CHEBYSHEV_W ? m : 1);
    if (x > 1) return sign * ow_chebyshev_growth(x, m, cosine, divisor);
    return sign * ow_chebyshev_wave(x, m, ((int)(2 * fmod(n, 4)) + extra) % 8, cosine) / divisor;
}

#define OW_CHEBYSHEV_POLYNOMIAL(letter, kind) \
    static inline double ow_chebyshev_polynomial_##letter(double x, double n) { \
        return ow_chebyshev_polynomial(x, n, kind); \
    } \
    static inline double ow_shifted_chebyshev_polynomial_##letter(double x, double n) { \
        return ow_chebyshev_polynomial(2 * x - 1, n, kind); \
    } \
    OW_FLOAT_FORM2(ow_chebyshev_polynomial_##letter) \
    OW_FLOAT_FORM2(ow_shifted_chebyshev_polynomial_##letter)

OW_CHEBYSHEV_POLYNOMIAL(t, OW_CHEBYSHEV_T)
OW_CHEBYSHEV_POLYNOMIAL(u, OW_CHEBYSHEV_U)
OW_CHEBYSHEV_POLYNOMIAL(v, OW_CHEBYSHEV_V)
OW_CHEBYSHEV_POLYNOMIAL(w, OW_CHEBYSHEV_W)
#undef OW_CHEBYSHEV_POLYNOMIAL

/* ---- Hermite, Laguerre, Legendre ------------------------------------------------------------------------------- */

typedef enum { OW_HERMITE_H, OW_HERMITE_HE, OW_LAGUERRE_L, OW_LEGENDRE_P } ow_recurrence_kind;

#define OW_LARGEST_DEGREE 0x1p20 /* some milliseconds; what is beyond and no constant is NaN */

/* The recurrences of DLMF 18.9.1, scaled so that only the result overflows: an intermediate infinity less another one
 * would be NaN. A single step overflows only where x is so large that the leading term alone matters. */
static inline __attribute__((always_inline)) double ow_recurrence(double x, double n, ow_recurrence_kind kind) {
    n = trunc(n);
    if (!(n > 0 && n < INFINITY)) return n == 0 ? 1 : n < 0 ? 0 : NAN;
    if (isnan(x)) return x;
    double sign = ow_is_odd(n) ? -1 : 1, leading = (kind == OW_LAGUERRE_L ? x > 0 : x < 0) ? sign : 1;
    if (isinf(x)) return leading * INFINITY;
    if (kind == OW_LAGUERRE_L && x == 0) return 1;
    if (kind == OW_LEGENDRE_P && fabs(x) == 1) return leading;
    if (kind != OW_LAGUERRE_L && x == 0 && sign < 0) return x;
    if (n > OW_LARGEST_DEGREE) return NAN;
    double before = 1, value = kind == OW_HERMITE_H ? 2 * x : x;
    if (kind == OW_LAGUERRE_L) before = -x, value = 1 - x; /* not the value before but the difference: small near x = 0 */
    int exponent = 0;
    for (double k = 1; k < n; k += 1) {
        if (kind == OW_LAGUERRE_L) {
            before = (k * before - x * value) / (k + 1);
            value += before;
        } else {
            double next = kind == OW_HERMITE_H    ? 2 * (x * value - k * before)
                          : kind == OW_HERMITE_HE ? x * value - k * before
                                                  : ((2 * k + 1) * x * value - k * before) / (k + 1);
            before = value;
            value = next;
        }
        if (fabs(value) > 0x1p900) {
            if (isinf(value)) return leading * INFINITY;
            value *= 0x1p-900;
            before *= 0x1p-900;
            exponent += 900;
        }
    }
    return ldexp(value, exponent);
}

#define OW_RECURRENCE(name, kind) \
    static inline double name(double x, double n) { return ow_recurrence(x, n, kind); } \
    OW_FLOAT_FORM2(name)

OW_RECURRENCE(ow_hermite_polynomial_h, OW_HERMITE_H)
OW_RECURRENCE(ow_hermite_polynomial_he, OW_HERMITE_HE)
OW_RECURRENCE(ow_laguerre_polynomial_l, OW_LAGUERRE_L)
OW_RECURRENCE(ow_legendre_polynomial_p, OW_LEGENDRE_P)
#undef OW_RECURRENCE
#undef OW_LARGEST_DEGREE
#endif
