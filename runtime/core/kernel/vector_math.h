/* Functions of rows of float32 or float64 numbers: `to` may be one of the inputs, n is a multiple of OW_PAD.
 *
 * Kernels call these in place of the functions of one number (codegen/emit/blocks.py): they may use vector instructions that
 * no compiler makes of a loop, or look at several elements at once. */
#ifndef OPWEAVE_BLOCKS_H
#define OPWEAVE_BLOCKS_H

#include "kernel.h"

/* ---- functions of one number ------------------------------------------------------------------------------ */

/* AVX-512 leaves arguments of sin and cos that are far from zero to libmvec. */
#define OW_BLOCK_LOOP(name, type, function) \
    static inline void name(type *to, const type *from, int64_t n) { \
        _Pragma("GCC ivdep") for (int64_t i = 0; i < n; i++) to[i] = function(from[i]); \
    }
#if defined(__AVX512DQ__) && defined(OW_HAVE_LIBMVEC)
#define OW_FUNCTIONS_OF_16
#include "avx512.h"
#include "avx512_f64.h"
#define OW_BLOCK(name, function) \
    static inline void ow_##name##_block(float *to, const float *from, int64_t n) { \
        for (int64_t i = 0; i < n; i += 16) _mm512_storeu_ps(to + i, ow_##name##_16(_mm512_loadu_ps(from + i))); \
    }
#define OW_BLOCK_F64(name, function) \
    static inline void ow_##name##_block_f64(double *to, const double *from, int64_t n) { \
        for (int64_t i = 0; i < n; i += 8) _mm512_storeu_pd(to + i, ow_##name##_8(_mm512_loadu_pd(from + i))); \
    }
#else
#define OW_BLOCK(name, function) OW_BLOCK_LOOP(ow_##name##_block, float, function)
#define OW_BLOCK_F64(name, function) OW_BLOCK_LOOP(ow_##name##_block_f64, double, function)
#endif
OW_BLOCK(exp, ow_expf)
OW_BLOCK(exp2, ow_exp2f)
OW_BLOCK(expm1, ow_expm1f)
OW_BLOCK(sin, sinf)
OW_BLOCK(cos, cosf)
OW_BLOCK(tanh, tanhf)
OW_BLOCK(erf, erff)
OW_BLOCK(erfc, erfcf)
OW_BLOCK(sigmoid, ow_sigmoidf)
OW_BLOCK(sqrt, sqrtf)
OW_BLOCK_F64(exp, ow_exp)
OW_BLOCK_F64(sqrt, sqrt)
#ifdef OW_FUNCTIONS_OF_16
OW_BLOCK(log, logf)
OW_BLOCK_F64(log, log)
#else
/* libmvec leaves zero and negative numbers to the library's scalar form, one after the other: a zero among five numbers made
 * logarithms take six times as long. Where there are some, it gets 1 in their place. */
#define OW_LOG_BLOCK(name, type, function) \
    static inline void name(type *to, const type *from, int64_t n) { \
        for (int64_t done = 0; done < n; done += OW_PAD) { \
            const type *some = from + done; \
            int is_beyond = 0; \
            for (int i = 0; i < OW_PAD; i++) is_beyond |= !(some[i] > 0); \
            if (__builtin_expect(is_beyond, 0)) { \
                _Pragma("GCC ivdep") for (int i = 0; i < OW_PAD; i++) { \
                    const type x = some[i], near = function(x > 0 ? x : 1); \
                    to[done + i] = x > 0 ? near : x == 0 ? -(type)INFINITY : (type)NAN; \
                } \
            } else { \
                _Pragma("GCC ivdep") for (int i = 0; i < OW_PAD; i++) to[done + i] = function(some[i]); \
            } \
        } \
    }
OW_LOG_BLOCK(ow_log_block, float, logf)
OW_LOG_BLOCK(ow_log_block_f64, double, log)
#undef OW_LOG_BLOCK
#endif
#undef OW_BLOCK
#undef OW_BLOCK_F64
#undef OW_BLOCK_LOOP

/* ---- remainder -------------------------------------------------------------------------------------------- */

/* fmodf is exact, and so is this where the quotient is below 2^28: as it is 2^-24 or more away from the integers that it does
 * not equal, rounding it to double precision reaches none of them, and neither the product nor the difference is rounded.
 * Longer quotients, and what is not finite, are left to the library. */
static inline void ow_fmod_block(float *to, const float *from_x, const float *from_y, int64_t n) {
    float rests[OW_PAD];
    for (int64_t done = 0; done < n; done += OW_PAD) {
        const float *xs = from_x + done, *ys = from_y + done;
        int32_t bits = 0; /* of all quotients */
        for (int i = 0; i < OW_PAD; i++) {
            double x = fabsf(xs[i]), y = fabsf(ys[i]), quotient = x / y;
            int32_t whole = (int32_t)(quotient < 0x1p28 ? quotient : 0x1p28);
            double product = y < INFINITY ? whole * y : 0;
            rests[i] = copysignf((float)(x - product), xs[i]);
            bits |= whole;
        }
        if (bits >> 28)
            for (int i = 0; i < OW_PAD; i++) rests[i] = fmodf(xs[i], ys[i]);
        memcpy(to + done, rests, sizeof rests);
    }
}

/* The same in double precision, of quotients below 2^53: the quotient rounds up to the integer above at most, which a fused
 * operation tells from the sign of the rest; then that and the sum with the divisor are exact. */
static inline void ow_fmod_block_f64(double *to, const double *from_x, const double *from_y, int64_t n) {
#ifdef __FMA__
    double rests[OW_PAD];
    for (int64_t done = 0; done < n; done += OW_PAD) {
        const double *xs = from_x + done, *ys = from_y + done;
        int beyond = 0;
        for (int i = 0; i < OW_PAD; i++) {
            double x = fabs(xs[i]), y = fabs(ys[i]), quotient = x / y;
            double rest = __builtin_fma(-trunc(quotient), y, x);
            rests[i] = copysign(rest < 0 ? rest + y : rest, xs[i]);
            beyond |= !(quotient < 0x1p53) | !(y < INFINITY);
        }
        if (beyond)
            for (int i = 0; i < OW_PAD; i++) rests[i] = fmod(xs[i], ys[i]);
        memcpy(to + done, rests, sizeof rests);
    }
#else
    for (int64_t i = 0; i < n; i++) to[i] = fmod(from_x[i], from_y[i]);
#endif
}

#endif
