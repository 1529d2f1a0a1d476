/* What generated kernels build on: symbols per instruction-set level, SIMD mathematics, defined integer arithmetic. */
#ifndef OPWEAVE_KERNEL_H
#define OPWEAVE_KERNEL_H

#include <complex.h>
#undef I /* a name that operators may use */
#include <math.h>
#include <stddef.h>
#include <string.h>

#include "scalar_math.h"
#include "opweave.h"

/* The same text stands for all dtypes and operands: a comparison may be decided by the dtype alone, as that of an unsigned
 * integer with zero is, and not every expression needs all operands. */
#pragma GCC diagnostic ignored "-Wtautological-compare"
#pragma GCC diagnostic ignored "-Wtype-limits"
#pragma GCC diagnostic ignored "-Wunused-parameter"

/* ---- symbols per level -------------------------------------------------------------------------------- */

#define OW_JOIN_(a, b, c) a##b##_##c
#define OW_JOIN(a, b, c) OW_JOIN_(a, b, c)
#define OW_SYMBOL(name) OW_JOIN(ow_, name, OW_LEVEL)

/* The addresses of one table at every level, for a descriptor. A library outside the tree is compiled for one level, whose
 * table is then that of all: it is loaded where the processor has it. */
#if defined OW_ONE_LEVEL
#define OW_TABLES(name) {[0 ... OW_NLEVELS - 1] = &OW_SYMBOL(name)}
#define OW_DECLARE_TABLES(type, name) extern const type OW_SYMBOL(name)
#elif OW_NLEVELS == 3
#define OW_TABLES(name) {&ow_##name##_v1, &ow_##name##_v3, &ow_##name##_v4}
#define OW_DECLARE_TABLES(type, name) extern const type ow_##name##_v1, ow_##name##_v3, ow_##name##_v4
#else
#define OW_TABLES(name) {&ow_##name##_v1}
#define OW_DECLARE_TABLES(type, name) extern const type ow_##name##_v1
#endif

/* ---- loops that wait for memory ------------------------------------------------------------------------ */

/* Loops in which little is computed take vectors of 32 bytes also where the processor has those of 64: memory is what they
 * wait for. A vector of 64 bytes that is not aligned lies across two cache lines, always, and reads that lie up to four
 * lines behind the last write, their pages apart, wait for it: a third of the time is lost to either. */
#if defined(__AVX512F__) && !defined(__clang__)
#define OW_STREAMS __attribute__((target("prefer-vector-width=256")))
#else
#define OW_STREAMS
#endif

/* ---- SIMD mathematics --------------------------------------------------------------------------------- */

/* glibc's libmvec, reached by telling the compiler that vector forms exist; it then calls them from its own loops. */
#if defined(OW_HAVE_LIBMVEC) && defined(__x86_64__)
#define OW_SIMD __attribute__((simd("notinbranch"), const, nothrow, leaf))
#define OW_SIMD_MATH1(name) \
    OW_SIMD double name(double); \
    OW_SIMD float name##f(float);
#define OW_SIMD_MATH2(name) \
    OW_SIMD double name(double, double); \
    OW_SIMD float name##f(float, float);
OW_SIMD_MATH1(exp)
OW_SIMD_MATH1(log)
OW_SIMD_MATH1(sin)
OW_SIMD_MATH1(cos)
OW_SIMD_MATH1(tan)
OW_SIMD_MATH1(tanh)
OW_SIMD_MATH1(sinh)
OW_SIMD_MATH1(cosh)
OW_SIMD_MATH1(asin)
OW_SIMD_MATH1(acos)
OW_SIMD_MATH1(atan)
OW_SIMD_MATH1(asinh)
OW_SIMD_MATH1(acosh)
OW_SIMD_MATH1(atanh)
OW_SIMD_MATH1(erf)
OW_SIMD_MATH1(erfc)
OW_SIMD_MATH1(log1p)
OW_SIMD_MATH1(expm1)
OW_SIMD_MATH1(log2)
OW_SIMD_MATH1(log10)
OW_SIMD_MATH1(exp2)
OW_SIMD_MATH1(cbrt)
OW_SIMD_MATH2(pow)
OW_SIMD_MATH2(atan2)
#endif

/* Reads once from each page of a row of which a loop may use nothing. Vector instructions read such a row under a mask,
 * and take thousands of cycles for a mask of zeros in a page that is not marked as accessed: it never comes to be, once the
 * system has cleared the mark. */
static inline void ow_touch(const char *row, int64_t nbytes) {
    for (int64_t i = 0; i < nbytes; i += 4096) (void)*(const volatile char *)(row + i);
}

/* ---- rows that are not contiguous ----------------------------------------------------------------------- */

#define OW_STAGE 256 /* elements whose copies, or intermediate values, stay in the level-1 cache */
/* Elements of rows with gaps that are copied at a time where little is computed: so few that all operands come from memory
 * side by side, which is up to twice as fast as one page of each after the other. The copies start with a cache line:
 * vectors across two take a quarter longer where they are read as parts of complex numbers. */
#define OW_GATHERED 128

/* n elements `stride` bytes apart as a row: where they are, or as copies in the buffer; and the way back. One element
 * repeated, every other one, or all of them backwards, is what compilers make vector instructions of. The kernels of the
 * core share the functions of their level (levels/row_copies.c), others have their own. */
#if defined OW_SHARED_ROWS
#define ow_gather(size) OW_JOIN(ow_gather_, size, OW_LEVEL)
#define ow_scatter(size) OW_JOIN(ow_scatter_, size, OW_LEVEL)
#define OW_ROW_FUNCTION __attribute__((visibility("hidden")))
#else
#define ow_gather(size) ow_gather_##size
#define ow_scatter(size) ow_scatter_##size
#define OW_ROW_FUNCTION static __attribute__((noinline, unused))
#endif
/* Of each size of items: `each(size, type)`. */
#define OW_ITEMS(each) each(1, uint8_t) each(2, uint16_t) each(4, uint32_t) each(8, uint64_t) each(16, double _Complex)
#define OW_DECLARE_ROWS(size, type) \
    OW_ROW_FUNCTION void ow_gather(size)(void *buffer, const char *from, int64_t stride, int64_t n); \
    OW_ROW_FUNCTION void ow_scatter(size)(char *to, const void *buffer, int64_t stride, int64_t n);
OW_ITEMS(OW_DECLARE_ROWS)
#undef OW_DECLARE_ROWS
#if !defined OW_SHARED_ROWS
#include "row_copies.h"
#endif

/* By a size that is known when compiling. */
static inline const void *ow_copied_row(void *buffer, const char *from, int64_t stride, int64_t n, int size) {
    if (size == 1) ow_gather(1)(buffer, from, stride, n);
    else if (size == 2) ow_gather(2)(buffer, from, stride, n);
    else if (size == 4) ow_gather(4)(buffer, from, stride, n);
    else if (size == 8) ow_gather(8)(buffer, from, stride, n);
    else ow_gather(16)(buffer, from, stride, n);
    return buffer;
}
static inline const void *ow_row(void *buffer, const char *from, int64_t stride, int64_t n, int size) {
    return stride == size ? from : ow_copied_row(buffer, from, stride, n, size);
}
static inline void ow_put_row(char *to, const void *buffer, int64_t stride, int64_t n, int size) {
    if (size == 1) ow_scatter(1)(to, buffer, stride, n);
    else if (size == 2) ow_scatter(2)(to, buffer, stride, n);
    else if (size == 4) ow_scatter(4)(to, buffer, stride, n);
    else if (size == 8) ow_scatter(8)(to, buffer, stride, n);
    else ow_scatter(16)(to, buffer, stride, n);
}

/* ---- complex numbers ----------------------------------------------------------------------------------- */

/* By parts: arithmetic with the imaginary unit would make NaN of infinities. */
static inline float _Complex ow_c64(float re, float im) {
    float _Complex value;
    __real__ value = re;
    __imag__ value = im;
    return value;
}

static inline double _Complex ow_c128(double re, double im) {
    double _Complex value;
    __real__ value = re;
    __imag__ value = im;
    return value;
}

/* The square root with a real part that is not negative, in double precision, where squares of float32 numbers neither
 * overflow nor underflow: a third of the time of the library's, which is left what is not finite. */
static inline float _Complex ow_csqrtf(float _Complex x) {
    double re = fabs((double)__real__ x), im = fabs((double)__imag__ x), length = sqrt(re * re + im * im);
    if (!(length < INFINITY)) return csqrtf(x);
    double large = sqrt(0.5 * (length + re)), small = length > 0 ? im / (2 * large) : 0;
    int is_negative = __real__ x < 0;
    return ow_c64((float)(is_negative ? small : large), copysignf((float)(is_negative ? large : small), __imag__ x));
}

/* libmvec takes 16 times as long for what is not in (-1, 1). */
static inline float ow_atanhf(float x) {
    int inside = fabsf(x) < 1;
    float near = atanhf(inside ? x : 0);
    return inside ? near : fabsf(x) == 1 ? copysignf(INFINITY, x) : NAN;
}

/* ---- integer arithmetic with every case defined -------------------------------------------------------- */

/* Division and remainder, rounded down (floordiv, rem) as Python has them or towards zero (truncdiv, fmod) as C has. A
 * zero divisor sets *err and yields zero; the one quotient that overflows wraps. Integers of up to 32 bits divide
 * exactly in double precision, which vectorises. */
#define OW_INT_DIVISION_SMALL(suffix, type, wide) \
    static inline type ow_floordiv_##suffix(type a, type b, int *err) { \
        *err |= b == 0; \
        wide divisor = b == 0 ? 1 : b; \
        return (type)(int64_t)floor((double)a / (double)divisor); \
    } \
    static inline type ow_rem_##suffix(type a, type b, int *err) { \
        *err |= b == 0; \
        wide divisor = b == 0 ? 1 : b; \
        return (type)((int64_t)a - (int64_t)floor((double)a / (double)divisor) * (int64_t)divisor); \
    } \
    static inline type ow_truncdiv_##suffix(type a, type b, int *err) { \
        *err |= b == 0; \
        wide divisor = b == 0 ? 1 : b; \
        return (type)(int64_t)trunc((double)a / (double)divisor); \
    } \
    static inline type ow_fmod_##suffix(type a, type b, int *err) { \
        *err |= b == 0; \
        wide divisor = b == 0 ? 1 : b; \
        return (type)((int64_t)a - (int64_t)trunc((double)a / (double)divisor) * (int64_t)divisor); \
    }
OW_INT_DIVISION_SMALL(u8, uint8_t, int32_t)
OW_INT_DIVISION_SMALL(i8, int8_t, int32_t)
OW_INT_DIVISION_SMALL(i16, int16_t, int32_t)
OW_INT_DIVISION_SMALL(i32, int32_t, int64_t)

static inline int64_t ow_floordiv_i64(int64_t a, int64_t b, int *err) {
    *err |= b == 0;
    if (b == 0) return 0;
    if (b == -1) return (int64_t)(0 - (uint64_t)a);
    int64_t q = a / b;
    return q - ((a % b != 0) & ((a ^ b) < 0));
}
static inline int64_t ow_rem_i64(int64_t a, int64_t b, int *err) {
    *err |= b == 0;
    if ((b == 0) | (b == -1)) return 0;
    int64_t r = a % b;
    return r + (((r != 0) & ((r ^ b) < 0)) ? b : 0);
}
static inline int64_t ow_truncdiv_i64(int64_t a, int64_t b, int *err) {
    *err |= b == 0;
    if (b == 0) return 0;
    return b == -1 ? (int64_t)(0 - (uint64_t)a) : a / b;
}
static inline int64_t ow_fmod_i64(int64_t a, int64_t b, int *err) {
    *err |= b == 0;
    return (b == 0) | (b == -1) ? 0 : a % b;
}
static inline uint64_t ow_floordiv_u64(uint64_t a, uint64_t b, int *err) {
    *err |= b == 0;
    return b == 0 ? 0 : a / b;
}
static inline uint64_t ow_rem_u64(uint64_t a, uint64_t b, int *err) {
    *err |= b == 0;
    return b == 0 ? 0 : a % b;
}
static inline uint64_t ow_truncdiv_u64(uint64_t a, uint64_t b, int *err) { return ow_floordiv_u64(a, b, err); }
static inline uint64_t ow_fmod_u64(uint64_t a, uint64_t b, int *err) { return ow_rem_u64(a, b, err); }

/* Integer powers wrap; a negative exponent gives the integer part of the true value, as in torch. */
#define OW_INT_POWER(suffix, type) \
    static inline type ow_ipow_##suffix(type base, type exponent) { \
        if (exponent < 0) return base == 1 ? 1 : base == (type)-1 ? (exponent & 1 ? (type)-1 : 1) : 0; \
        uint64_t result = 1, factor = (uint64_t)base; \
        for (uint64_t e = (uint64_t)exponent; e; e >>= 1, factor *= factor) \
            if (e & 1) result *= factor; \
        return (type)result; \
    }
static inline uint64_t ow_ipow_u64(uint64_t base, uint64_t exponent) {
    uint64_t result = 1;
    for (; exponent; exponent >>= 1, base *= base)
        if (exponent & 1) result *= base;
    return result;
}
static inline uint8_t ow_ipow_u8(uint8_t base, uint8_t exponent) { return (uint8_t)ow_ipow_u64(base, exponent); }
OW_INT_POWER(i8, int8_t)
OW_INT_POWER(i16, int16_t)
OW_INT_POWER(i32, int32_t)
OW_INT_POWER(i64, int64_t)

/* Greatest common divisor and least common multiple, of magnitudes; what does not fit wraps. The binary algorithm (J. Stein,
 * 1967) takes half the time of Euclid's divisions, one of which comes first where many subtractions would. */
#define OW_BINARY_GCD(utype, suffix, trailing_zeros) \
    static inline utype ow_common_##suffix(utype a, utype b) { \
        if (!a || !b) return a | b; \
        utype low = a < b ? a : b, high = a < b ? b : a; \
        if (high >> 6 > low) { \
            high %= low; \
            if (!high) return low; \
        } \
        int twos = trailing_zeros(low | high); \
        low >>= trailing_zeros(low); \
        high >>= trailing_zeros(high); \
        while (low != high) { \
            utype difference = low < high ? high - low : low - high; \
            low = low < high ? low : high; \
            high = difference >> trailing_zeros(difference); \
        } \
        return low << twos; \
    }
OW_BINARY_GCD(uint32_t, u32, __builtin_ctz)
OW_BINARY_GCD(uint64_t, u64, __builtin_ctzll)
#undef OW_BINARY_GCD
#define OW_UNSIGNED_MAGNITUDE(utype, a) (a)
#define OW_SIGNED_MAGNITUDE(utype, a) ((a) < 0 ? (utype)0 - (utype)(a) : (utype)(a))
#define OW_COMMON(suffix, type, utype, common, magnitude) \
    static inline type ow_gcd_##suffix(type a, type b) { return (type)common(magnitude(utype, a), magnitude(utype, b)); } \
    static inline type ow_lcm_##suffix(type a, type b) { \
        utype x = magnitude(utype, a), y = magnitude(utype, b), divisor = common(x, y); \
        return (type)(divisor ? x / divisor * y : 0); \
    }
OW_COMMON(u8, uint8_t, uint32_t, ow_common_u32, OW_UNSIGNED_MAGNITUDE)
OW_COMMON(i8, int8_t, uint32_t, ow_common_u32, OW_SIGNED_MAGNITUDE)
OW_COMMON(i16, int16_t, uint32_t, ow_common_u32, OW_SIGNED_MAGNITUDE)
OW_COMMON(i32, int32_t, uint32_t, ow_common_u32, OW_SIGNED_MAGNITUDE)
OW_COMMON(i64, int64_t, uint64_t, ow_common_u64, OW_SIGNED_MAGNITUDE)
OW_COMMON(u64, uint64_t, uint64_t, ow_common_u64, OW_UNSIGNED_MAGNITUDE)
#undef OW_COMMON

/* Bits that are set, zeros before the first and after the last of them (all, where none is): by steps that have vector forms,
 * which the processor's instructions for one number have not. */
static inline uint32_t ow_count_u32(uint32_t x) {
    x -= x >> 1 & 0x55555555u;
    x = (x & 0x33333333u) + (x >> 2 & 0x33333333u);
    x = (x + (x >> 4)) & 0x0f0f0f0fu;
    x += x >> 8;
    return (x + (x >> 16)) & 63;
}
static inline uint64_t ow_count_u64(uint64_t x) {
    x -= x >> 1 & 0x5555555555555555u;
    x = (x & 0x3333333333333333u) + (x >> 2 & 0x3333333333333333u);
    x = (x + (x >> 4)) & 0x0f0f0f0f0f0f0f0fu;
    x += x >> 8;
    x += x >> 16;
    return (x + (x >> 32)) & 127;
}
static inline uint32_t ow_below_u32(uint32_t x) { return x |= x >> 1, x |= x >> 2, x |= x >> 4, x |= x >> 8, x | x >> 16; }
static inline uint64_t ow_below_u64(uint64_t x) {
    return x |= x >> 1, x |= x >> 2, x |= x >> 4, x |= x >> 8, x |= x >> 16, x | x >> 32;
}
#define OW_COUNT_BITS(suffix, type, utype, wide, uwide) \
    static inline type ow_popcount_##suffix(type a) { return (type)ow_count_##wide((utype)a); } \
    static inline type ow_clz_##suffix(type a) { \
        return (type)(8 * (int)sizeof(type) - (int)ow_count_##wide(ow_below_##wide((utype)a))); \
    } \
    static inline type ow_ctz_##suffix(type a) { return (type)ow_count_##wide((utype)(~(uwide)a & ((uwide)a - 1))); }
OW_COUNT_BITS(u8, uint8_t, uint8_t, u32, uint32_t)
OW_COUNT_BITS(i8, int8_t, uint8_t, u32, uint32_t)
OW_COUNT_BITS(i16, int16_t, uint16_t, u32, uint32_t)
OW_COUNT_BITS(i32, int32_t, uint32_t, u32, uint32_t)
OW_COUNT_BITS(i64, int64_t, uint64_t, u64, uint64_t)
OW_COUNT_BITS(u64, uint64_t, uint64_t, u64, uint64_t)
#undef OW_COUNT_BITS

/* The bits of a number as an integer, and back. */
static inline int32_t ow_bits_f32(float x) {
    int32_t bits;
    memcpy(&bits, &x, sizeof bits);
    return bits;
}
static inline int64_t ow_bits_f64(double x) {
    int64_t bits;
    memcpy(&bits, &x, sizeof bits);
    return bits;
}
static inline float ow_from_bits_i32(int32_t bits) {
    float x;
    memcpy(&x, &bits, sizeof x);
    return x;
}
static inline double ow_from_bits_i64(int64_t bits) {
    double x;
    memcpy(&x, &bits, sizeof x);
    return x;
}

/* The integer part; the least integer for what is none or beyond 64 bits, as processors give it. */
static inline int64_t ow_integer_f64(double x) { return (x >= -0x1p63) & (x < 0x1p63) ? (int64_t)x : INT64_MIN; }
static inline int64_t ow_integer_f32(float x) { return ow_integer_f64(x); }

/* Shifts by a count outside [0, width) give what an infinitely wide shift would. */
#define OW_SHIFT(suffix, type, utype) \
    static inline type ow_shl_##suffix(type a, type n) { \
        int valid = (n >= 0) & (n < (type)(8 * sizeof(type))); \
        return (type)(valid ? (utype)((utype)a << (valid ? n : 0)) : 0); \
    } \
    static inline type ow_shr_##suffix(type a, type n) { \
        int valid = (n >= 0) & (n < (type)(8 * sizeof(type))); \
        return (type)(a >> (valid ? n : (type)(8 * sizeof(type) - 1))); \
    }
OW_SHIFT(i8, int8_t, uint8_t)
OW_SHIFT(i16, int16_t, uint16_t)
OW_SHIFT(i32, int32_t, uint32_t)
OW_SHIFT(i64, int64_t, uint64_t)
static inline uint8_t ow_shl_u8(uint8_t a, uint8_t n) { return (uint8_t)(n < 8 ? a << (n & 7) : 0); }
static inline uint8_t ow_shr_u8(uint8_t a, uint8_t n) { return (uint8_t)(n < 8 ? a >> (n & 7) : 0); }
static inline uint64_t ow_shl_u64(uint64_t a, uint64_t n) { return n < 64 ? a << (n & 63) : 0; }
static inline uint64_t ow_shr_u64(uint64_t a, uint64_t n) { return n < 64 ? a >> (n & 63) : 0; }

#endif
