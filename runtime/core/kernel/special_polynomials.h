/* Orthogonal polynomials of the degree trunc(n); part of special.h. Negative degrees give 0, as in torch; degrees that are
 * no number, or not finite, NaN. Infinite arguments have the sign of the leading term. */
#ifndef OPWEAVE_SPECIAL_POLYNOMIALS_H
#define OPWEAVE_SPECIAL_POLYNOMIALS_H

/* n modulo 2 of a degree: without a call of the library, which would be the longest part of small degrees. */
static inline int ow_is_odd(double n) { return n != 2 * trunc(0.5 * n); }

/* ---- recurrences ----------------------------------------------------------------------------------------------- */

typedef enum {
    OW_CHEBYSHEV_T, OW_CHEBYSHEV_U, OW_CHEBYSHEV_V, OW_CHEBYSHEV_W,
    OW_HERMITE_H, OW_HERMITE_HE, OW_LAGUERRE_L, OW_LEGENDRE_P,
} ow_polynomial_kind;

/* As many numbers as a vector register holds: rows of them stay in registers through all steps. */
#if defined(__AVX512F__)
#define OW_WIDE 8
#elif defined(__AVX__)
#define OW_WIDE 4
#else
#define OW_WIDE 2
#endif
typedef double ow_wide __attribute__((vector_size(8 * OW_WIDE)));
typedef int64_t ow_wide_mask __attribute__((vector_size(8 * OW_WIDE)));

/* start: the polynomial of degree 1, and that of degree 0; Laguerre's has in its place the difference of the two, which is
 * small near x = 0. step: from degree k to k + 1, DLMF 18.9.1. Of a number, and of a register of them. */
#define OW_RECURRENCE_OF(type, name) \
    static inline void name##_start(type x, ow_polynomial_kind kind, type *before, type *value) { \
        int is_double = kind == OW_CHEBYSHEV_U || kind == OW_CHEBYSHEV_V || kind == OW_CHEBYSHEV_W || kind == OW_HERMITE_H; \
        *before = kind == OW_LAGUERRE_L ? -x : x - x + 1.0; \
        *value = kind == OW_LAGUERRE_L ? 1.0 - x : is_double ? 2.0 * x : x; \
        *value += kind == OW_CHEBYSHEV_V ? -1.0 : kind == OW_CHEBYSHEV_W ? 1.0 : 0.0; \
    } \
    static inline void name##_step(type x, double k, ow_polynomial_kind kind, type *before, type *value) { \
        if (kind == OW_LAGUERRE_L) { \
            *before = (k * *before - x * *value) / (k + 1); \
            *value += *before; \
            return; \
        } \
        type next = kind <= OW_CHEBYSHEV_W  ? 2.0 * x * *value - *before \
                    : kind == OW_HERMITE_H  ? 2.0 * (x * *value - k * *before) \
                    : kind == OW_HERMITE_HE ? x * *value - k * *before \
                                            : ((2 * k + 1) * x * *value - k * *before) / (k + 1); \
        *before = *value; \
        *value = next; \
    }
OW_RECURRENCE_OF(double, ow_recurrence)
OW_RECURRENCE_OF(ow_wide, ow_recurrences)
#undef OW_RECURRENCE_OF

static inline ow_wide ow_wide_where(ow_wide_mask mask, ow_wide x, ow_wide y) {
    return (ow_wide)(((ow_wide_mask)x & mask) | ((ow_wide_mask)y & ~mask));
}

/* The polynomials of a block, in step. None where an argument or a degree is not small: those are taken singly. What a step
 * beyond an element's degree makes is not looked at; up to it none overflows: those of Chebyshev's polynomials are few. */
static inline __attribute__((always_inline)) int ow_recurrence_block(double *result, const double *x, const double *n,
                                                                     ow_polynomial_kind kind, int largest) {
    enum { ABREAST = 2 }; /* registers of elements: a step waits for the one before, not for those of others */
    const double small = kind <= OW_CHEBYSHEV_W ? 0x1p40 : 8;
    int outside = 0, most = 0;
    for (int i = 0; i < OW_PAD; i++) outside |= !((fabs(x[i]) <= small) & (x[i] != 0) & (n[i] >= 0) & (n[i] <= largest));
    if (outside) return 0;
    for (int i = 0; i < OW_PAD; i++) most = (int)n[i] > most ? (int)n[i] : most;
    for (int i = 0; i < OW_PAD; i += ABREAST * OW_WIDE) {
        ow_wide argument[ABREAST], degree[ABREAST], before[ABREAST], value[ABREAST], found[ABREAST];
        for (int j = 0; j < ABREAST; j++) {
            memcpy(&argument[j], x + i + j * OW_WIDE, sizeof argument[j]);
            memcpy(&degree[j], n + i + j * OW_WIDE, sizeof degree[j]);
            ow_recurrences_start(argument[j], kind, &before[j], &value[j]);
            found[j] = ow_wide_where(degree[j] < 1, argument[j] - argument[j] + 1.0, value[j]);
        }
        for (int k = 1; k < most; k++) {
            for (int j = 0; j < ABREAST; j++) {
                ow_recurrences_step(argument[j], k, kind, &before[j], &value[j]);
                found[j] = ow_wide_where(degree[j] >= k + 1.0, value[j], found[j]);
            }
        }
        for (int j = 0; j < ABREAST; j++) memcpy(result + i + j * OW_WIDE, &found[j], sizeof found[j]);
    }
    return 1;
}

#define OW_SHIFTED(x) (2 * (x) - 1)
#define OW_SAME_BLOCK(room, from) ((void)(room), (from))
static inline const double *ow_shifted_block(double *room, const double *from) {
    for (int i = 0; i < OW_PAD; i++) room[i] = OW_SHIFTED(from[i]);
    return room;
}

/* Functions of rows, as those of vector_math.h. Doubles are read where they are: loads of copies on the stack waited for stores. */
#define OW_POLYNOMIAL_FORMS(name, argument, kind, largest) \
    OW_FLOAT_FORM2(name) \
    static inline void name##_block_f64(double *to, const double *from_x, const double *from_n, int64_t count) { \
        double room[OW_PAD]; \
        for (; count > 0; count -= OW_PAD, to += OW_PAD, from_x += OW_PAD, from_n += OW_PAD) { \
            if (!ow_recurrence_block(to, argument(room, from_x), from_n, kind, largest)) \
                for (int i = 0; i < OW_PAD; i++) to[i] = name(from_x[i], from_n[i]); \
        } \
    } \
    static inline void name##_block(float *to, const float *from_x, const float *from_n, int64_t count) { \
        double x[OW_PAD], n[OW_PAD]; \
        for (; count > 0; count -= OW_PAD, to += OW_PAD, from_x += OW_PAD, from_n += OW_PAD) { \
            for (int i = 0; i < OW_PAD; i++) x[i] = from_x[i], n[i] = from_n[i]; \
            name##_block_f64(x, x, n, OW_PAD); \
            for (int i = 0; i < OW_PAD; i++) to[i] = (float)x[i]; \
        } \
    }

/* ---- Chebyshev ------------------------------------------------------------------------------------------------- */

#define OW_SMALL_DEGREE 16 /* up to here the recurrence, which has no error for small integers */

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

/* DLMF 18.5.1 to 18.5.4, continued beyond 1. A negative argument exchanges V and W. */
static inline double ow_chebyshev_polynomial(double x, double n, ow_polynomial_kind kind) {
    n = trunc(n);
    if (!(n > 0 && n < INFINITY)) return n == 0 ? 1 : n < 0 ? 0 : NAN;
    double sign = 1;
    if (signbit(x)) {
        x = -x;
        sign = ow_is_odd(n) ? -1 : 1;
        kind = kind == OW_CHEBYSHEV_V ? OW_CHEBYSHEV_W : kind == OW_CHEBYSHEV_W ? OW_CHEBYSHEV_V : kind;
    }
    if (!(x < INFINITY)) return sign * x;
    if (n <= OW_SMALL_DEGREE) {
        double before, value;
        ow_recurrence_start(x, kind, &before, &value);
        for (int k = 1; k < n && value < INFINITY; k++) ow_recurrence_step(x, k, kind, &before, &value);
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
        return ow_chebyshev_polynomial(OW_SHIFTED(x), n, kind); \
    } \
    OW_POLYNOMIAL_FORMS(ow_chebyshev_polynomial_##letter, OW_SAME_BLOCK, kind, OW_SMALL_DEGREE) \
    OW_POLYNOMIAL_FORMS(ow_shifted_chebyshev_polynomial_##letter, ow_shifted_block, kind, OW_SMALL_DEGREE)

OW_CHEBYSHEV_POLYNOMIAL(t, OW_CHEBYSHEV_T)
OW_CHEBYSHEV_POLYNOMIAL(u, OW_CHEBYSHEV_U)
OW_CHEBYSHEV_POLYNOMIAL(v, OW_CHEBYSHEV_V)
OW_CHEBYSHEV_POLYNOMIAL(w, OW_CHEBYSHEV_W)
#undef OW_CHEBYSHEV_POLYNOMIAL

/* ---- Hermite, Laguerre, Legendre ------------------------------------------------------------------------------- */

#define OW_LARGEST_DEGREE 0x1p20 /* some milliseconds; what is beyond and no constant is NaN */

/* The recurrence, scaled so that only the result overflows: an intermediate infinity less another one would be NaN. A step
 * overflows only where x is so large that the leading term alone matters. */
static inline __attribute__((always_inline)) double ow_recurrence(double x, double n, ow_polynomial_kind kind) {
    n = trunc(n);
    if (!(n > 0 && n < INFINITY)) return n == 0 ? 1 : n < 0 ? 0 : NAN;
    if (isnan(x)) return x;
    double sign = ow_is_odd(n) ? -1 : 1, leading = (kind == OW_LAGUERRE_L ? x > 0 : x < 0) ? sign : 1;
    if (isinf(x)) return leading * INFINITY;
    if (kind == OW_LAGUERRE_L && x == 0) return 1;
    if (kind == OW_LEGENDRE_P && fabs(x) == 1) return leading;
    if (kind != OW_LAGUERRE_L && x == 0 && sign < 0) return x;
    if (n > OW_LARGEST_DEGREE) return NAN;
    double before, value;
    ow_recurrence_start(x, kind, &before, &value);
    int exponent = 0;
    for (double k = 1; k < n; k += 1) {
        ow_recurrence_step(x, k, kind, &before, &value);
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
    OW_POLYNOMIAL_FORMS(name, OW_SAME_BLOCK, kind, 64)

OW_RECURRENCE(ow_hermite_polynomial_h, OW_HERMITE_H)
OW_RECURRENCE(ow_hermite_polynomial_he, OW_HERMITE_HE)
OW_RECURRENCE(ow_laguerre_polynomial_l, OW_LAGUERRE_L)
OW_RECURRENCE(ow_legendre_polynomial_p, OW_LEGENDRE_P)
#undef OW_RECURRENCE
#undef OW_LARGEST_DEGREE
#undef OW_WIDE
#endif
