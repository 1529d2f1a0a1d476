/* Functions of rows of complex numbers z = a + b i, as those of vector_math.h: part by part from functions of real numbers, of
 * which compilers make vectors, as they do not of the library's. complex64 is computed in double precision, too. What the
 * formulas do not reach, infinities and NaN among it, is left to the library. */
#ifndef OPWEAVE_COMPLEX_ROWS_H
#define OPWEAVE_COMPLEX_ROWS_H

#include "special.h"

/* Both from exp(|x|) - 1, which loses no digits around zero. */
static inline double ow_sinh_of_near(double x) {
    double m = expm1(fabs(x));
    return copysign(0.5 * (m + m / (m + 1)), x);
}
static inline double ow_cosh_of_near(double x) {
    double m = expm1(fabs(x));
    return 1 + 0.5 * m * (m / (m + 1));
}

/* cos(x + 0.0) is another call than the sine of the same number: GCC would make one of both, which has no vector form. */
#define OW_COS(x) cos((x) + 0.0)
#define OW_FINITE(x) (fabs(x) < INFINITY)
#define OW_LARGER(x, y) ((x) > (y) ? (x) : (y))

#define OW_COMPLEX_ROWS(name, near, re, im) \
    static inline double _Complex ow_##name##_of_near(double _Complex z) { \
        const double a = __real__ z, b = __imag__ z; \
        return ow_c128(re, im); \
    } \
    static inline int ow_##name##_is_near(double _Complex z) { \
        const double a = __real__ z, b = __imag__ z; \
        return near; \
    } \
    static inline double _Complex ow_##name(double _Complex z) { return name(z); } \
    static inline double _Complex ow_##name##f_of_near(double _Complex z) { return ow_##name##_of_near(z); } \
    static inline int ow_##name##f_is_near(double _Complex z) { return ow_##name##_is_near(z); } \
    static inline float _Complex ow_##name##f(float _Complex z) { return name##f(z); } \
    OW_NEAR_BLOCK(ow_##name##_block_c64, float _Complex, ow_##name##f) \
    OW_NEAR_BLOCK(ow_##name##_block_c128, double _Complex, ow_##name)

OW_COMPLEX_ROWS(cexp, (fabs(a) < 700) & OW_FINITE(b), exp(a) * OW_COS(b), exp(a) * sin(b))
OW_COMPLEX_ROWS(csin, OW_FINITE(a) & (fabs(b) < 700), sin(a) * ow_cosh_of_near(b), OW_COS(a) * ow_sinh_of_near(b))
OW_COMPLEX_ROWS(ccos, OW_FINITE(a) & (fabs(b) < 700), OW_COS(a) * ow_cosh_of_near(b), -(sin(a) * ow_sinh_of_near(b)))
OW_COMPLEX_ROWS(csinh, (fabs(a) < 700) & OW_FINITE(b), ow_sinh_of_near(a) * OW_COS(b), ow_cosh_of_near(a) * sin(b))
OW_COMPLEX_ROWS(ccosh, (fabs(a) < 700) & OW_FINITE(b), ow_cosh_of_near(a) * OW_COS(b), ow_sinh_of_near(a) * sin(b))

/* Tangents, by Kahan's denominator, a sum of squares (Branch Cuts for Complex Elementary Functions, 1987). */
static inline double ow_squares(double x, double y) { return x * x + y * y; }
OW_COMPLEX_ROWS(ctanh, (fabs(a) < 20) & OW_FINITE(b),
                ow_sinh_of_near(a) * ow_cosh_of_near(a) / ow_squares(ow_sinh_of_near(a), OW_COS(b)),
                sin(b) * OW_COS(b) / ow_squares(ow_sinh_of_near(a), OW_COS(b)))
OW_COMPLEX_ROWS(ctan, OW_FINITE(a) & (fabs(b) < 20),
                sin(a) * OW_COS(a) / ow_squares(ow_sinh_of_near(b), OW_COS(a)),
                ow_sinh_of_near(b) * ow_cosh_of_near(b) / ow_squares(ow_sinh_of_near(b), OW_COS(a)))

/* What rounding took from the square of x. */
static inline double ow_square_rest(double x, double square) {
#ifdef __FMA__
    return __builtin_fma(x, x, -square);
#else
    double high = x * 0x1.0000002p27; /* Veltkamp's splitting: half of the digits, and the others */
    high -= high - x;
    double low = x - high;
    return low * low - (square - high * high - 2 * high * low);
#endif
}
/* log |z|: beside the unit circle of what the exact squares exceed 1 by. */
static inline double ow_log_of_length(double a, double b) {
    double large = OW_LARGER(fabs(a), fabs(b)), small = fabs(a) > fabs(b) ? fabs(b) : fabs(a);
    double p = large * large, q = small * small;
    double more = p < 0.5 ? (p - 0.5) + (q - 0.5) : (p - 1) + q; /* exact where little is left */
    more = (more + ow_square_rest(large, p)) + ow_square_rest(small, q);
    return 0.5 * (fabs(more) < 0.5 ? log1p(more) : log(p + q));
}
OW_COMPLEX_ROWS(clog, (fabs(a) < 1e150) & (fabs(b) < 1e150) & (OW_LARGER(fabs(a), fabs(b)) > 1e-150), ow_log_of_length(a, b),
                atan2(b, a))

#undef OW_COMPLEX_ROWS
#undef OW_COS
#undef OW_FINITE
#undef OW_LARGER

#endif
