/* Mathematical functions of 16 float32 numbers, in instructions that no compiler makes of a loop: permutations that look up
 * the coefficients of an interval, `scalef` and `getmant`, which take denormal numbers in one step.
 *
 * What is short in instructions is quick: as many as two begin in a cycle, and latency hides behind the next elements.
 * tools/fit_avx512.py computed the tables. An element's result depends on nothing but its value. */
#ifndef OPWEAVE_AVX512_H
#define OPWEAVE_AVX512_H

#include <immintrin.h>

#include "avx512_tables.h"

#define OW_ALL(number) _mm512_set1_ps(number)

/* The entries of a table of 32 numbers that the low five bits of each index choose. */
static inline __m512 ow_look_up(const float *table, __m512i index) {
    return _mm512_permutex2var_ps(_mm512_loadu_ps(table), index, _mm512_loadu_ps(table + 16));
}

/* Numbers with the sign bits of others. */
static inline __m512 ow_with_sign(__m512 number, __m512i sign) {
    const __m512i bit = _mm512_set1_epi32((int)0x80000000);
    return _mm512_castsi512_ps(_mm512_ternarylogic_epi32(bit, sign, _mm512_castps_si512(number), 0xca));
}

/* ---- exponential ---------------------------------------------------------------------------------------- */

/* 2^k exp(r) for k that is a multiple of 1/32, in the low bits of `shifted`, and the slope of exp from zero to r. */
static inline __m512 ow_power_of_two(__m512 shifted, __m512 k, __m512 r, __m512 slope) {
    __m512 power = ow_look_up(ow_exp2_table[0], _mm512_castps_si512(shifted));
    return _mm512_scalef_ps(_mm512_fmadd_ps(_mm512_mul_ps(power, r), slope, power), k);
}

/* The same with the slope that has the cubic term. */
static inline __m512 ow_power_of_two_cubic(__m512 shifted, __m512 k, __m512 r) {
    __m512 slope = _mm512_fmadd_ps(_mm512_fmadd_ps(OW_ALL(0x1.555556p-3f), r, OW_ALL(0.5f)), r, OW_ALL(1));
    return ow_power_of_two(shifted, k, r, slope);
}

/* The multiple k of 1/32, in the low bits of `shifted`, and the rest r of x = sign (k ln 2) + r for x of [-105, 105] and a
 * sign of 1 or -1. The upper part of ln 2 has so few bits that its product with k is exact. */
static inline __m512 ow_exp_rest(__m512 x, float sign, __m512 *shifted, __m512 *k) {
    const __m512 magic = OW_ALL(0x1.8p18f); /* added, it leaves k in the low bits of the significand */
    *shifted = _mm512_fmadd_ps(x, OW_ALL(sign * 0x1.715476p0f), magic);
    *k = _mm512_sub_ps(*shifted, magic);
    __m512 r = _mm512_fmadd_ps(*k, OW_ALL(sign * -0x1.63p-1f), x);
    return _mm512_fmadd_ps(*k, OW_ALL(sign * 0x1.bd0106p-13f), r);
}

/* exp(x) for x of [-105, 90]: `scalef` takes the whole part of k, the table its fraction, and |r| <= ln 2 / 64 leaves a
 * parabola, whose slope at zero makes up for the cubic term. */
static inline __m512 ow_exp_reduced(__m512 x) {
    __m512 shifted, k, r = ow_exp_rest(x, 1, &shifted, &k);
    return ow_power_of_two(shifted, k, r, _mm512_fmadd_ps(OW_ALL(0.5f), r, OW_ALL(0x1.0000f6p0f)));
}

/* The same with the cubic term, for x + lost, where `lost` is what was lost in rounding to x. */
static inline __m512 ow_exp_of_sum(__m512 x, __m512 lost) {
    __m512 shifted, k, r = _mm512_add_ps(ow_exp_rest(x, 1, &shifted, &k), lost);
    return ow_power_of_two_cubic(shifted, k, r);
}

/* The order of the operands lets NaN pass. */
static inline __m512 ow_exp_16(__m512 x) {
    return ow_exp_reduced(_mm512_min_ps(OW_ALL(90.0f), _mm512_max_ps(OW_ALL(-105.0f), x)));
}

/* 2^x: as above, without a rounding of x - k, and with the cubic term. */
static inline __m512 ow_exp2_16(__m512 x) {
    const __m512 magic = OW_ALL(0x1.8p18f);
    __m512 near = _mm512_min_ps(OW_ALL(130.0f), _mm512_max_ps(OW_ALL(-152.0f), x)); /* NaN passes */
    __m512 shifted = _mm512_add_ps(near, magic), k = _mm512_sub_ps(shifted, magic);
    __m512 r = _mm512_mul_ps(_mm512_sub_ps(near, k), OW_ALL(0x1.62e43p-1f));
    return ow_power_of_two_cubic(shifted, k, r);
}

/* exp(x) - 1: as above with integral k, and a parabola times a polynomial that the maximum norm fits to |r| <= ln 2 / 2. It
 * is 2^k p + (2^k - 1), half of it at first, because 2^k may be too large; what equals x must not lose a bit so. */
static inline __m512 ow_expm1_16(__m512 x) {
    const __m512 magic = OW_ALL(0x1.8p23f), half = OW_ALL(0.5f);
    __m512 near = _mm512_min_ps(OW_ALL(89.0f), _mm512_max_ps(OW_ALL(-105.0f), x)); /* NaN passes */
    __m512 shifted = _mm512_fmadd_ps(near, OW_ALL(0x1.715476p0f), magic), k = _mm512_sub_ps(shifted, magic);
    __m512 r = _mm512_fmadd_ps(k, OW_ALL(-0x1.63p-1f), near);
    r = _mm512_fmadd_ps(k, OW_ALL(0x1.bd0106p-13f), r);
    __m512 p = _mm512_fmadd_ps(OW_ALL(0x1.6bebdap-10f), r, OW_ALL(0x1.122886p-7f));
    p = _mm512_fmadd_ps(p, r, OW_ALL(0x1.555676p-5f));
    p = _mm512_fmadd_ps(p, r, OW_ALL(0x1.5554aep-3f));
    p = _mm512_fmadd_ps(p, r, OW_ALL(0x1.fffffep-2f));
    p = _mm512_fmadd_ps(_mm512_mul_ps(r, r), p, r);
    __m512 power = _mm512_scalef_ps(half, k), result = _mm512_fmadd_ps(power, p, _mm512_sub_ps(power, half));
    __mmask16 tiny = _mm512_cmp_ps_mask(_mm512_abs_ps(x), OW_ALL(0x1p-25f), _CMP_LT_OQ);
    return _mm512_mask_mov_ps(_mm512_add_ps(result, result), tiny, x);
}

/* 1 / (1 + exp(-x)), by one step from the approximate reciprocal. Further from zero the sum could overflow, but there the
 * function is exp(x) or 1; NaN passes. */
static inline __m512 ow_sigmoid_16(__m512 x) {
    __m512 shifted, k, r = ow_exp_rest(x, -1, &shifted, &k);
    __m512 power = _mm512_scalef_ps(ow_look_up(ow_exp2_table[0], _mm512_castps_si512(shifted)), k);
    __m512 fall = _mm512_fnmadd_ps(_mm512_fnmadd_ps(OW_ALL(0.5f), r, OW_ALL(0x1.0000f6p0f)), r, OW_ALL(1)); /* exp(-r) */
    __m512 sum = _mm512_fmadd_ps(power, fall, OW_ALL(1)), inverse = _mm512_rcp14_ps(sum);
    __m512 result = _mm512_fmadd_ps(_mm512_fnmadd_ps(sum, inverse, OW_ALL(1)), inverse, inverse);
    __mmask16 far = _mm512_cmp_ps_mask(_mm512_abs_ps(x), OW_ALL(87), _CMP_NLE_UQ);
    if (__builtin_expect(far, 0)) result = _mm512_mask_mov_ps(result, far, ow_exp_16(_mm512_min_ps(OW_ALL(0), x)));
    return result;
}

/* ---- logarithm ------------------------------------------------------------------------------------------ */

/* x = 2^k m with m of [0.75, 1.5): log(x) = k ln 2 - log(1 / m') + log1p(m / m' - 1) for the entry m' next to m. Around 1
 * the first two are zero. `getexp` makes infinities of zero and infinity, `getmant` NaN of negative numbers. */
static inline __m512 ow_log_16(__m512 x) {
    __m512 m = _mm512_getmant_ps(x, _MM_MANT_NORM_p75_1p5, _MM_MANT_SIGN_nan);
    __m512 k = _mm512_sub_ps(_mm512_getexp_ps(x), _mm512_getexp_ps(m));
    __m512i index = _mm512_srli_epi32(_mm512_castps_si512(m), 18);
    __m512 r = _mm512_fmadd_ps(m, ow_look_up(ow_log_table[0], index), OW_ALL(-1));
    __m512 q = _mm512_fmadd_ps(OW_ALL(-0x1.f7a38p-3f), r, OW_ALL(0x1.556496p-2f));
    q = _mm512_fmadd_ps(q, r, OW_ALL(-0x1.000012p-1f));
    __m512 whole = _mm512_fmadd_ps(k, OW_ALL(0x1.62e43p-1f), ow_look_up(ow_log_table[1], index));
    return _mm512_add_ps(whole, _mm512_fmadd_ps(_mm512_mul_ps(r, r), q, r));
}

/* ---- square root ------------------------------------------------------------------------------------------ */

/* sqrt(x), correctly rounded (Markstein's final step; tried with every significand), in half the instruction's time. Where a
 * product could underflow or overflow, the instruction does it. */
static inline __m512 ow_sqrt_16(__m512 x) {
    __m512 inverse = _mm512_rsqrt14_ps(x), root = _mm512_mul_ps(x, inverse), half = _mm512_mul_ps(inverse, OW_ALL(0.5f));
    __m512 rest = _mm512_fnmadd_ps(root, half, OW_ALL(0.5f));
    root = _mm512_fmadd_ps(root, rest, root);
    half = _mm512_fmadd_ps(half, rest, half);
    root = _mm512_fmadd_ps(_mm512_fnmadd_ps(root, root, x), half, root);
    __mmask16 usual = _mm512_cmp_ps_mask(x, OW_ALL(0x1p-90f), _CMP_GE_OQ);
    usual &= _mm512_cmp_ps_mask(x, OW_ALL(0x1p90f), _CMP_LE_OQ);
    return __builtin_expect(usual == 0xffff, 1) ? root : _mm512_sqrt_ps(x);
}

/* ---- odd functions that reach 1 -------------------------------------------------------------------------- */

/* A polynomial in the distance of |x| from the nearest multiple of `width`, with the sign of x. `last` lies in the last
 * interval, where the function is 1. */
static inline __attribute__((always_inline)) __m512 ow_odd_16(__m512 x, const float (*rows)[32], int degree, float width,
                                                              float last) {
    __m512 magnitude = _mm512_min_ps(OW_ALL(last), _mm512_abs_ps(x)); /* NaN passes */
    const __m512 magic = OW_ALL(0x1.8p23f);
    __m512 shifted = _mm512_fmadd_ps(magnitude, OW_ALL(1 / width), magic);
    __m512 t = _mm512_fnmadd_ps(_mm512_sub_ps(shifted, magic), OW_ALL(width), magnitude);
    __m512i index = _mm512_castps_si512(shifted);
    __m512 p = ow_look_up(rows[degree], index);
#pragma GCC unroll 8
    for (int power = degree - 1; power >= 0; power--) p = _mm512_fmadd_ps(p, t, ow_look_up(rows[power], index));
    return ow_with_sign(p, _mm512_castps_si512(x));
}

static inline __m512 ow_erf_16(__m512 x) { return ow_odd_16(x, ow_erf_table, 5, 17.0f / 128, 4.15f); }
static inline __m512 ow_tanh_16(__m512 x) { return ow_odd_16(x, ow_tanh_table, 6, 75.0f / 256, 9.2f); }

/* erfc(|x|) = exp(-x^2) p, with what x^2 loses in rounding; p is a polynomial in the distance of |x| from the
 * middle of an eighth of an octave of 1 + |x|. From 10.1 on the product is zero. */
static inline __m512 ow_erfc_16(__m512 x) {
    __m512 y = _mm512_min_ps(OW_ALL(10.1f), _mm512_abs_ps(x)); /* NaN passes */
    __m512i bits = _mm512_castps_si512(_mm512_add_ps(OW_ALL(1), y)), index = _mm512_srli_epi32(bits, 20);
    __m512i middle = _mm512_or_si512(_mm512_slli_epi32(index, 20), _mm512_set1_epi32(1 << 19));
    __m512 t = _mm512_sub_ps(y, _mm512_sub_ps(_mm512_castsi512_ps(middle), OW_ALL(1)));
    __m512 p = ow_look_up(ow_erfc_table[5], index);
#pragma GCC unroll 5
    for (int power = 4; power >= 0; power--) p = _mm512_fmadd_ps(p, t, ow_look_up(ow_erfc_table[power], index));
    __m512 minus_square = _mm512_mul_ps(y, _mm512_sub_ps(_mm512_setzero_ps(), y));
    __m512 lost = _mm512_fnmsub_ps(y, y, minus_square);
    __m512 result = _mm512_mul_ps(p, ow_exp_of_sum(minus_square, lost));
    return _mm512_mask_sub_ps(result, _mm512_movepi32_mask(_mm512_castps_si512(x)), OW_ALL(2), result);
}

/* ---- sine and cosine ------------------------------------------------------------------------------------- */

/* Beyond, multiples of pi in three parts would lose digits; infinities and NaN count as beyond. */
#define OW_NEAR 0x1p15f

/* sin(x - k pi), with the other sign where `turns` is odd; what rounding carries beyond 1 becomes 1. The parts of pi have one
 * sign, so that none of them takes the sign from a negative zero. */
static inline __m512 ow_sine_of_rest(__m512 x, __m512 k, __m512i turns) {
    __m512 r = _mm512_fmadd_ps(k, OW_ALL(-0x1.921fb4p1f), x);
    r = _mm512_fmadd_ps(k, OW_ALL(-0x1.4442dp-23f), r);
    r = _mm512_fmadd_ps(k, OW_ALL(-0x1.846988p-47f), r);
    __m512 square = _mm512_mul_ps(r, r);
    __m512 p = _mm512_fmadd_ps(OW_ALL(0x1.61a18ap-19f), square, OW_ALL(-0x1.9fb686p-13f));
    p = _mm512_fmadd_ps(p, square, OW_ALL(0x1.11104ep-7f));
    p = _mm512_fmadd_ps(p, square, OW_ALL(-0x1.555554p-3f));
    __m512 size = _mm512_range_ps(_mm512_fmadd_ps(_mm512_mul_ps(r, square), p, r), OW_ALL(1), 0xa); /* the smaller one's */
    return ow_with_sign(size, _mm512_xor_si512(_mm512_castps_si512(r), _mm512_slli_epi32(turns, 31)));
}

/* The results of one in the place of those of elements that lie beyond, lane by lane. */
extern __m512 _ZGVeN16v_sinf(__m512), _ZGVeN16v_cosf(__m512);
static __attribute__((noinline, cold)) __m512 ow_sin_beyond(__m512 x, __m512 result, __mmask16 beyond) {
    return _mm512_mask_mov_ps(result, beyond, _ZGVeN16v_sinf(x));
}
static __attribute__((noinline, cold)) __m512 ow_cos_beyond(__m512 x, __m512 result, __mmask16 beyond) {
    return _mm512_mask_mov_ps(result, beyond, _ZGVeN16v_cosf(x));
}
static inline __mmask16 ow_is_beyond(__m512 x) {
    return _mm512_cmp_ps_mask(_mm512_abs_ps(x), OW_ALL(OW_NEAR), _CMP_NLE_UQ);
}

static inline __m512 ow_sin_16(__m512 x) {
    const __m512 magic = OW_ALL(0x1.8p23f);
    __m512 shifted = _mm512_fmadd_ps(x, OW_ALL(0x1.45f306p-2f), magic);
    __m512 result = ow_sine_of_rest(x, _mm512_sub_ps(shifted, magic), _mm512_castps_si512(shifted));
    __mmask16 beyond = ow_is_beyond(x);
    return __builtin_expect(beyond, 0) ? ow_sin_beyond(x, result, beyond) : result;
}

/* cos(x) = sin(x - (n - 1/2) pi), negative where n is odd. */
static inline __m512 ow_cos_16(__m512 x) {
    const __m512 magic = OW_ALL(0x1.8p23f), half = OW_ALL(0.5f);
    __m512 shifted = _mm512_add_ps(_mm512_fmadd_ps(x, OW_ALL(0x1.45f306p-2f), half), magic);
    __m512 k = _mm512_sub_ps(_mm512_sub_ps(shifted, magic), half);
    __m512 result = ow_sine_of_rest(x, k, _mm512_castps_si512(shifted));
    __mmask16 beyond = ow_is_beyond(x);
    return __builtin_expect(beyond, 0) ? ow_cos_beyond(x, result, beyond) : result;
}

#endif
