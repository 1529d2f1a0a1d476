/* Mathematical functions of 8 float64 numbers, built like those of avx512.h. */
#ifndef OPWEAVE_AVX512_F64_H
#define OPWEAVE_AVX512_F64_H

#include <immintrin.h>
#include <math.h>

#include "avx512_tables.h"

#define OW_ALL_F64(number) _mm512_set1_pd(number)

/* The entries of a table of 16 numbers that the low four bits of each index choose. */
static inline __m512d ow_look_up_f64(const double *table, __m512i index) {
    return _mm512_permutex2var_pd(_mm512_loadu_pd(table), index, _mm512_loadu_pd(table + 8));
}

/* exp(x) for x = k ln 2 + r with k a multiple of 1/16: the table has the power of its fraction, `scalef` takes its whole
 * part, and the maximum norm fits the polynomial to |r| <= ln 2 / 32. The order of the operands lets NaN pass. */
static inline __m512d ow_exp_8(__m512d x) {
    const __m512d magic = OW_ALL_F64(0x1.8p48); /* added, it leaves k in the low bits of the significand */
    x = _mm512_min_pd(OW_ALL_F64(710.0), _mm512_max_pd(OW_ALL_F64(-746.0), x));
    __m512d shifted = _mm512_fmadd_pd(x, OW_ALL_F64(0x1.71547652b82fep0), magic), k = _mm512_sub_pd(shifted, magic);
    __m512d r = _mm512_fmadd_pd(k, OW_ALL_F64(-0x1.62e42fefa39efp-1), x);
    r = _mm512_fmadd_pd(k, OW_ALL_F64(-0x1.abc9e3b39803fp-56), r);
    __m512d power = ow_look_up_f64(ow_exp2_table_f64[0], _mm512_castpd_si512(shifted));
    __m512d q = _mm512_fmadd_pd(OW_ALL_F64(0x1.6c185ea3e41bep-10), r, OW_ALL_F64(0x1.11123b482971fp-7));
    q = _mm512_fmadd_pd(q, r, OW_ALL_F64(0x1.555555545dd35p-5));
    q = _mm512_fmadd_pd(q, r, OW_ALL_F64(0x1.555555548ebc0p-3));
    q = _mm512_fmadd_pd(q, r, OW_ALL_F64(0x1.0000000000005p-1));
    __m512d p = _mm512_fmadd_pd(_mm512_mul_pd(r, r), q, r);
    return _mm512_scalef_pd(_mm512_fmadd_pd(power, p, power), k);
}

/* sqrt(x), correctly rounded, in less than half the instruction's time: two steps of Newton's method from the approximate
 * reciprocal are at most one unit in the last place away, and the sign of an exact rest says whether a neighbour is nearer
 * (Tuckerman's test). Where that could underflow or overflow, the instruction does it. */
static inline __m512d ow_sqrt_8(__m512d x) {
    __m512d inverse = _mm512_rsqrt14_pd(x), root = _mm512_mul_pd(x, inverse), half = _mm512_mul_pd(inverse, OW_ALL_F64(0.5));
    __m512d rest = _mm512_fnmadd_pd(root, half, OW_ALL_F64(0.5));
    root = _mm512_fmadd_pd(root, rest, root);
    half = _mm512_fmadd_pd(half, rest, half);
    root = _mm512_fmadd_pd(_mm512_fnmadd_pd(root, root, x), half, root);
    const __m512i one = _mm512_set1_epi64(1);
    __m512d below = _mm512_castsi512_pd(_mm512_sub_epi64(_mm512_castpd_si512(root), one));
    __m512d above = _mm512_castsi512_pd(_mm512_add_epi64(_mm512_castpd_si512(root), one));
    __mmask8 is_less = _mm512_cmp_pd_mask(_mm512_fnmadd_pd(root, above, x), _mm512_setzero_pd(), _CMP_GT_OQ);
    __mmask8 is_more = _mm512_cmp_pd_mask(_mm512_fnmadd_pd(root, below, x), _mm512_setzero_pd(), _CMP_LE_OQ);
    root = _mm512_mask_mov_pd(_mm512_mask_mov_pd(root, is_less, above), is_more, below);
    __mmask8 usual = _mm512_cmp_pd_mask(x, OW_ALL_F64(0x1p-900), _CMP_GE_OQ) & _mm512_cmp_pd_mask(x, OW_ALL_F64(0x1p900), _CMP_LE_OQ);
    return __builtin_expect(usual == 0xff, 1) ? root : _mm512_sqrt_pd(x);
}

/* log(x) as ow_log_16 has it. The upper parts of ln 2 and of the table add up exactly; what the sum with r loses comes back
 * with the lower parts. Infinities have nothing to lose. */
static inline __m512d ow_log_8(__m512d x) {
    __m512d m = _mm512_getmant_pd(x, _MM_MANT_NORM_p75_1p5, _MM_MANT_SIGN_nan);
    __m512d k = _mm512_sub_pd(_mm512_getexp_pd(x), _mm512_getexp_pd(m));
    __m512i index = _mm512_srli_epi64(_mm512_castpd_si512(m), 48);
    __m512d r = _mm512_fmadd_pd(m, ow_look_up_f64(ow_log_table_f64[0], index), OW_ALL_F64(-1));
    __m512d whole = _mm512_fmadd_pd(k, OW_ALL_F64(0x1.62e42fefa38p-1), ow_look_up_f64(ow_log_table_f64[1], index));
    __m512d lower = _mm512_fmadd_pd(k, OW_ALL_F64(0x1.ef35793c7673p-45), ow_look_up_f64(ow_log_table_f64[2], index));
    __m512d q = _mm512_fmadd_pd(OW_ALL_F64(-0x1.674c57646ed53p-4), r, OW_ALL_F64(0x1.c5ad04aa25224p-4));
    q = _mm512_fmadd_pd(q, r, OW_ALL_F64(-0x1.000af7918b2cap-3));
    q = _mm512_fmadd_pd(q, r, OW_ALL_F64(0x1.2492d426ff0c4p-3));
    q = _mm512_fmadd_pd(q, r, OW_ALL_F64(-0x1.5555542de3f8cp-3));
    q = _mm512_fmadd_pd(q, r, OW_ALL_F64(0x1.9999997fa3ac7p-3));
    q = _mm512_fmadd_pd(q, r, OW_ALL_F64(-0x1.0000000000232p-2));
    q = _mm512_fmadd_pd(q, r, OW_ALL_F64(0x1.5555555556054p-2));
    q = _mm512_fmadd_pd(q, r, OW_ALL_F64(-0x1.0000000000001p-1));
    __m512d sum = _mm512_add_pd(whole, r), lost = _mm512_add_pd(_mm512_sub_pd(whole, sum), r);
    lower = _mm512_fmadd_pd(_mm512_mul_pd(r, r), q, _mm512_add_pd(lost, lower));
    __mmask8 finite = _mm512_cmp_pd_mask(_mm512_abs_pd(sum), OW_ALL_F64(INFINITY), _CMP_LT_OQ);
    return _mm512_mask_add_pd(sum, finite, sum, lower);
}

#endif
