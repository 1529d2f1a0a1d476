/* Rows of the incomplete gamma functions; part of special.h.
 *
 * The formulas of special_igamma.h for eight or sixteen elements side by side: each loop over them is one of vectors. A
 * series goes on until the last of them ends, and stands still for those that have ended before, so that a result does not
 * depend on its neighbours. A row is sorted by formula first. Elements that lie at an end of the range, or need more digits than
 * double precision has, are computed alone. */
#ifndef OPWEAVE_SPECIAL_IGAMMA_ROWS_H
#define OPWEAVE_SPECIAL_IGAMMA_ROWS_H

#ifdef __AVX512DQ__
#include <immintrin.h>
#endif

enum { OW_IGAMMA_ROW = 256 }; /* elements that are sorted at once */
enum { OW_FEW = OW_PAD / 2 };  /* so many are not computed as sixteen */
enum { OW_IGAMMA_SMALL, OW_IGAMMA_SERIES, OW_IGAMMA_FRACTION, OW_IGAMMA_ALONE, OW_IGAMMA_WAYS };

typedef struct {
    double a[OW_PAD], x[OW_PAD], power[OW_PAD]; /* power: log(x^b / gamma(1 + b)) for b = ow_igamma_rest(a) */
    double sum[OW_PAD];
} ow_igamma_lanes;

#define OW_EACH(i) for (int i = 0; i < lanes; i++)
#define OW_ENOUGH(narrow) ((narrow) ? 0x1p-30 : OW_NEGLIGIBLE) /* for what is rounded to float32 afterwards */

/* What whole steps leave of a, below 2. */
static inline double ow_igamma_rest(double a) { return a < 2 ? a : a - (floor(a) - 1); }

/* Eight lanes as one value, so that the loops below keep them in registers, whatever those of the processor hold. Functions
 * neither take nor return one: how they would depends on the processor. */
typedef double ow_eight __attribute__((vector_size(64)));
typedef int64_t ow_eight_bits __attribute__((vector_size(64)));

static inline __attribute__((always_inline)) void ow_load_lanes(ow_eight *to, const double *from, int groups) {
    for (int g = 0; g < groups; g++) memcpy(to + g, from + 8 * g, sizeof *to);
}
#define OW_MAGNITUDE(lanes) ((ow_eight)((ow_eight_bits)(lanes) & INT64_MAX))
/* Is anything left of one of them? */
static inline __attribute__((always_inline)) int ow_any_left(const ow_eight_bits *left, int groups) {
    ow_eight_bits all = groups == 2 ? left[0] | left[1] : left[0];
#ifdef __AVX512DQ__
    return _mm512_movepi64_mask((__m512i)all) != 0;
#else
    int64_t bits = 0;
    for (int i = 0; i < 8; i++) bits |= all[i];
    return bits != 0;
#endif
}
#define OW_GROUPS(g) for (int g = 0; g < lanes / 8; g++)

/* The sum of (-x)^n / (n! (a + n)) from n = 1 on. */
static inline __attribute__((always_inline)) void ow_igamma_small_sums(ow_igamma_lanes *of, int lanes, int narrow) {
    ow_eight a[2], x[2], factor[2], sum[2];
    ow_eight_bits left[2];
    ow_load_lanes(a, of->a, lanes / 8);
    ow_load_lanes(x, of->x, lanes / 8);
    OW_GROUPS(g) sum[g] = (ow_eight){0}, factor[g] = sum[g] + 1, left[g] = (ow_eight_bits){0} - 1;
    for (int n = 1, going = 1; going; n++) {
        OW_GROUPS(g) {
            factor[g] *= x[g] * (-1.0 / n);
            ow_eight term = factor[g] / (a[g] + n);
            sum[g] += (ow_eight)((ow_eight_bits)term & left[g]);
            left[g] &= OW_MAGNITUDE(term) > OW_ENOUGH(narrow) * OW_MAGNITUDE(sum[g]);
        }
        going = ow_any_left(left, lanes / 8);
    }
    OW_GROUPS(g) memcpy(of->sum + 8 * g, sum + g, sizeof *sum);
}

/* The sum of x^n / ((a + 1) ... (a + n)) from n = 0 on, two terms by one division. */
static inline __attribute__((always_inline)) void ow_igamma_series_sums(ow_igamma_lanes *of, int lanes, int narrow) {
    ow_eight a[2], x[2], term[2], sum[2];
    ow_eight_bits left[2];
    ow_load_lanes(a, of->a, lanes / 8);
    ow_load_lanes(x, of->x, lanes / 8);
    OW_GROUPS(g) sum[g] = term[g] = (ow_eight){0} + 1, left[g] = (ow_eight_bits){0} - 1;
    for (int n = 1, going = 1; going; n += 2) {
        OW_GROUPS(g) {
            ow_eight next = a[g] + (n + 1), both = term[g] * (x[g] / ((a[g] + n) * next));
            term[g] = both * x[g];
            sum[g] += (ow_eight)((ow_eight_bits)(both * next + term[g]) & left[g]);
            left[g] &= term[g] > OW_ENOUGH(narrow) * sum[g];
        }
        going = ow_any_left(left, lanes / 8);
    }
    OW_GROUPS(g) memcpy(of->sum + 8 * g, sum + g, sizeof *sum);
}

/* The continued fraction of ow_igammac_fraction() from its end, which loses no digits, two steps by one division. The steps
 * were counted that leave 2^-52 of the result, or 2^-31, wherever a and x come here. */
static inline __attribute__((always_inline)) void ow_igamma_fraction_sums(ow_igamma_lanes *of, int lanes, int narrow) {
    double steps[OW_PAD], most = 0;
    ow_eight a[2], x[2], b[2], rest[2], step[2];
    OW_EACH(i) {
        steps[i] = 2 * floor(narrow ? 15 / of->x[i] + 0.15 * of->a[i] + 5 : 45 / of->x[i] + 0.2 * of->a[i] + 7);
        most = most > steps[i] ? most : steps[i];
    }
    ow_load_lanes(a, of->a, lanes / 8);
    ow_load_lanes(x, of->x, lanes / 8);
    ow_load_lanes(step, steps, lanes / 8);
    OW_GROUPS(g) b[g] = x[g] + 1 - a[g], rest[g] = b[g] + 2 * step[g];
    for (double k = most; k > 0; k -= 2)
        OW_GROUPS(g) {
            ow_eight before = (b[g] + 2 * (k - 1)) * rest[g] + k * (a[g] - k);
            ow_eight next = b[g] + 2 * (k - 2) + (k - 1) * (a[g] - (k - 1)) * rest[g] / before;
            ow_eight_bits counts = step[g] >= k;
            rest[g] = (ow_eight)(((ow_eight_bits)next & counts) | ((ow_eight_bits)rest[g] & ~counts));
        }
    OW_GROUPS(g) {
        a[g] /= rest[g];
        memcpy(of->sum + 8 * g, a + g, sizeof *a);
    }
}

/* sum becomes sum x^a exp(-x) / gamma(a + 1); a is reached from its rest by steps that lose no digits. */
static inline __attribute__((always_inline)) void ow_igamma_terms(ow_igamma_lanes *of, int lanes, int narrow) {
    double rest[OW_PAD];
    OW_EACH(i) {
        rest[i] = ow_igamma_rest(of->a[i]);
        of->sum[i] *= narrow ? exp(of->power[i] - of->x[i]) : exp(of->power[i]) * exp(-of->x[i]);
    }
    double most = 0;
    OW_EACH(i) most = most > of->a[i] - rest[i] ? most : of->a[i] - rest[i];
    for (int k = 1; k <= most; k++)
        OW_EACH(i) {
            double next = rest[i] + k;
            of->sum[i] *= next <= of->a[i] ? of->x[i] / next : 1;
        }
}

/* P, or Q if `upper`, into sum. */
static inline __attribute__((always_inline)) void ow_igamma_by(ow_igamma_lanes *of, int lanes, int way, int upper, int narrow) {
    if (way == OW_IGAMMA_SMALL) {
        ow_igamma_small_sums(of, lanes, narrow);
        OW_EACH(i) {
            double less = expm1(of->power[i]);
            of->sum[i] = -less - of->a[i] * (1 + less) * of->sum[i];
        }
    } else {
        if (way == OW_IGAMMA_SERIES) ow_igamma_series_sums(of, lanes, narrow);
        else ow_igamma_fraction_sums(of, lanes, narrow);
        ow_igamma_terms(of, lanes, narrow);
    }
    if (upper == (way == OW_IGAMMA_SERIES)) OW_EACH(i) of->sum[i] = 1 - of->sum[i];
}

/* Up to here the series for P takes less time than the fraction for Q. */
#define OW_SERIES_X 8

/* The formulas that n elements take, and their powers; n is a multiple of OW_FEW. The terms of P are all positive; only
 * 1 - P, where Q is asked for, would lose digits. */
static inline __attribute__((always_inline)) void ow_igamma_ways(int *ways, double *powers, const double *a,
                                                                 const double *x, int n, int upper, int narrow) {
#pragma GCC ivdep
    for (int i = 0; i < (n & -OW_FEW); i++) {
        double rest = ow_igamma_rest(a[i]), logarithm = log(x[i]), scaled = rest * logarithm;
        int fits = narrow ? (a[i] < OW_LARGE_A) & (x[i] <= 3000) : (a[i] <= 30) & (x[i] <= 700) & (fabs(scaled) <= 8);
        int way = (x[i] > (upper ? 1 : OW_SERIES_X)) & (x[i] > a[i]) ? OW_IGAMMA_FRACTION : OW_IGAMMA_SERIES;
        way = upper & ow_igamma_is_small(a[i], x[i], a[i] * logarithm) ? OW_IGAMMA_SMALL : way;
        ways[i] = fits & (a[i] > 0) & (x[i] > 0) ? way : OW_IGAMMA_ALONE;
        powers[i] = scaled - rest * (rest - 1) * OW_POLYNOMIAL(rest - 1, ow_lgamma_near);
    }
}

/* a and x are filled up to a multiple of OW_FEW. */
static inline __attribute__((always_inline)) void ow_igamma_row(double *to, const double *a, const double *x, int n,
                                                                int upper, int narrow) {
    double powers[OW_IGAMMA_ROW];
    int ways[OW_IGAMMA_ROW], places[OW_IGAMMA_WAYS][OW_IGAMMA_ROW], counts[OW_IGAMMA_WAYS] = {0};
    ow_igamma_ways(ways, powers, a, x, (n + OW_FEW - 1) / OW_FEW * OW_FEW, upper, narrow);
    for (int i = 0; i < n; i++) places[ways[i]][counts[ways[i]]++] = i;
    for (int way = 0; way < OW_IGAMMA_ALONE; way++)
        for (int done = 0; done < counts[way]; done += OW_PAD) {
            const int *place = places[way] + done;
            int left = counts[way] - done, count = left < OW_PAD ? left : OW_PAD;
            ow_igamma_lanes of;
            for (int i = 0; i < (count <= OW_FEW ? OW_FEW : OW_PAD); i++) {
                int from = place[i < count ? i : 0];
                of.a[i] = a[from], of.x[i] = x[from], of.power[i] = powers[from];
            }
            if (count <= OW_FEW) ow_igamma_by(&of, OW_FEW, way, upper, narrow);
            else ow_igamma_by(&of, OW_PAD, way, upper, narrow);
            for (int i = 0; i < count; i++) to[place[i]] = of.sum[i];
        }
    for (int i = 0; i < counts[OW_IGAMMA_ALONE]; i++) {
        int place = places[OW_IGAMMA_ALONE][i];
        to[place] = ow_incomplete_gamma(a[place], x[place], upper);
    }
}

#define OW_IGAMMA_BLOCK(name, type, upper, narrow) \
    static inline void name(type *to, const type *from_a, const type *from_x, int64_t n) { \
        double a[OW_IGAMMA_ROW], x[OW_IGAMMA_ROW], values[OW_IGAMMA_ROW]; \
        for (int64_t done = 0; done < n; done += OW_IGAMMA_ROW) { \
            int count = n - done < OW_IGAMMA_ROW ? (int)(n - done) : OW_IGAMMA_ROW; \
            for (int i = 0; i < count; i++) a[i] = from_a[done + i], x[i] = from_x[done + i]; \
            for (int i = count; i % OW_FEW; i++) a[i] = a[0], x[i] = x[0]; \
            ow_igamma_row(values, a, x, count, upper, narrow); \
            for (int i = 0; i < count; i++) to[done + i] = (type)values[i]; \
        } \
    }
OW_IGAMMA_BLOCK(ow_igamma_block, float, 0, 1)
OW_IGAMMA_BLOCK(ow_igammac_block, float, 1, 1)
OW_IGAMMA_BLOCK(ow_igamma_block_f64, double, 0, 0)
OW_IGAMMA_BLOCK(ow_igammac_block_f64, double, 1, 0)

#undef OW_IGAMMA_BLOCK
#undef OW_GROUPS
#undef OW_SERIES_X
#undef OW_MAGNITUDE
#undef OW_ENOUGH
#undef OW_EACH
#endif
