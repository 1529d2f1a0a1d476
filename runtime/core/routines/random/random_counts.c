/* Counts, by rejection: the number of draws that an element takes depends on the draws. And choices by weight. */
#include <math.h>

#include "random.h"

/* An element in single or double precision, as the dtype computes. */
static double element(const char *row, int dtype, int64_t k) {
    return dtype == OW_FLOAT64 ? ((const double *)row)[k] : (double)((const float *)row)[k];
}

static int accept(ow_random_call *f) {
    (void)f;
    return 1;
}

/* ---- poisson -------------------------------------------------------------------------------------------------- */

/* W. Hörmann, The transformed rejection method for generating Poisson random variables (1993), algorithm PTRS. */
static int64_t poisson_rejection(ow_generator *g, double rate) {
    double b = 0.931 + 2.53 * sqrt(rate), a = -0.059 + 0.02483 * b, log_rate = log(rate);
    double inverse_alpha = 1.1239 + 1.1328 / (b - 3.4), v_r = 0.9277 - 3.6224 / (b - 2);
    for (;;) {
        double u = ow_draw_double(g) - 0.5, v = ow_draw_double(g), us = 0.5 - fabs(u);
        double floored = floor((2 * a / us + b) * u + rate + 0.43);
        int64_t k = floored >= -0x1p63 && floored < 0x1p63 ? (int64_t)floored : INT64_MIN;
        if (us >= 0.07 && v <= v_r) return k;
        if (k < 0 || (us < 0.013 && v > us)) continue;
        if (log(v) + log(inverse_alpha) - log(a / (us * us) + b) <=
            -rate + (double)k * log_rate - lgamma((double)k + 1))
            return k;
    }
}

/* Multiplies uniform numbers until the product is below exp(-rate). */
static int64_t poisson_product(ow_generator *g, double rate) {
    double product = 1, end = exp(-rate);
    for (int64_t k = 0;; k++) {
        product *= ow_draw_double(g);
        if (product <= end) return k;
    }
}

static void generate_poisson(ow_random_call *f, char *out, int64_t n) {
    int dtype = f->row_dtypes[0];
    int64_t *counts = (int64_t *)out;
    for (int64_t k = 0; k < n; k++) {
        double rate = element(f->rows[0], dtype, k);
        counts[k] = 0;
        if (!(rate >= 0)) ow_fail(OW_RUNTIME_ERROR, "invalid Poisson rate, expected rate to be non-negative");
        else if (rate >= 10) counts[k] = poisson_rejection(f->generator, rate);
        else if (rate > 0) counts[k] = poisson_product(f->generator, rate);
    }
    f->rows[0] += n * ow_itemsize(dtype);
}

const ow_distribution ow_distribution_poisson = {
    .kernel = "poisson_cpu", .compute = OW_INT64, .prepare = accept, .generate = generate_poisson};

/* ---- binomial ------------------------------------------------------------------------------------------------- */

/* What is computed from counts and probabilities alone is rounded to their precision. */
typedef struct {
    ow_generator *g;
    int single;
} binomial_source;

static double rounded(const binomial_source *s, double value) { return s->single ? (double)(float)value : value; }

/* What the formula of Stirling leaves of log k!: exact for small k, then its asymptotic series. */
static double stirling_tail(double k) {
    static const double tails[] = {0.0810614667953272,  0.0413406959554092,  0.0276779256849983,  0.02079067210376509,
                                   0.0166446911898211,  0.0138761288230707,  0.0118967099458917,  0.0104112652619720,
                                   0.00925546218271273, 0.00833056343336287};
    if (k < (double)(sizeof tails / sizeof *tails)) return tails[(size_t)k];
    double square = (k + 1) * (k + 1);
    return (1.0 / 12 - (1.0 / 360 - 1.0 / 1260 / square) / square) / (k + 1);
}

/* W. Hörmann, The generation of binomial random variates (1993), algorithm BTRS, with a logarithm that is missing there. */
static double binomial_rejection(const binomial_source *s, double count, double prob) {
    double variance = rounded(s, rounded(s, count * prob) * rounded(s, 1 - prob));
    double deviation = rounded(s, sqrt(variance));
    double b = 1.15 + 2.53 * deviation, a = -0.0873 + 0.0248 * b + 0.01 * prob;
    double c = rounded(s, count * prob) + 0.5, v_r = 0.92 - 4.2 / b;
    double odds = rounded(s, prob / rounded(s, 1 - prob)), alpha = (2.83 + 5.1 / b) * deviation;
    double mode = floor(rounded(s, rounded(s, count + 1) * prob));
    for (;;) {
        double u = ow_draw_double(s->g) - 0.5, v = ow_draw_double(s->g), us = 0.5 - fabs(u);
        double k = rounded(s, floor((2 * a / us + b) * u + c));
        if (k < 0 || k > count) continue;
        if (us >= 0.07 && v <= v_r) return k;
        double above = rounded(s, rounded(s, count - k) + 1), bound;
        bound = (mode + 0.5) * log((mode + 1) / (odds * (count - mode + 1))) +
                rounded(s, count + 1) * log((count - mode + 1) / above) +
                (k + 0.5) * log(odds * above / rounded(s, k + 1)) + stirling_tail(mode) + stirling_tail(count - mode) -
                stirling_tail(k) - stirling_tail(rounded(s, count - k));
        if (log(v * alpha / (a / (us * us) + b)) <= bound) return k;
    }
}

/* Adds up geometric numbers until they exceed the count. */
static double binomial_inversion(const binomial_source *s, double count, double prob) {
    double scale = s->single ? (double)log1pf(-(float)prob) : log1p(-prob), sum = 0, successes = 0;
    for (;;) {
        sum += ceil(log(ow_draw_double(s->g)) / scale);
        if (sum > count) return successes;
        successes = rounded(s, successes + 1);
    }
}

static double binomial(const binomial_source *s, double count, double prob) {
    if (count <= 0 || prob <= 0) return 0;
    if (prob >= 1) return count;
    if (isnan(prob) || isnan(count)) return NAN; /* no sum would ever exceed that count */
    double rarer = prob <= 0.5 ? prob : rounded(s, 1 - prob);
    double result = rounded(s, count * rarer) >= 10 ? binomial_rejection(s, count, rarer)
                                                  : binomial_inversion(s, count, rarer);
    return prob <= 0.5 ? result : rounded(s, count - result);
}

static void generate_binomial(ow_random_call *f, char *out, int64_t n) {
    const binomial_source source = {f->generator, f->target->dtype == OW_FLOAT32};
    double *counts = (double *)out;
    for (int64_t k = 0; k < n; k++)
        counts[k] = binomial(&source, element(f->rows[0], f->row_dtypes[0], k), element(f->rows[1], f->row_dtypes[1], k));
    for (int k = 0; k < 2; k++) f->rows[k] += n * ow_itemsize(f->row_dtypes[k]);
}

const ow_distribution ow_distribution_binomial = {
    .kernel = "binomial_cpu", .compute = OW_FLOAT64, .prepare = accept, .generate = generate_binomial};

/* ---- choices by weight ---------------------------------------------------------------------------------------- */

/* The distribution function of one row of weights. Sums and quotients are rounded to single precision for weights of that
 * or less. 1, or 0 with the error set. */
static int cumulate(const char *weights, int dtype, int64_t n, double *cumulated) {
    int single = dtype != OW_FLOAT64;
    double sum = 0;
    for (int64_t k = 0; k < n; k++) {
        double weight = element(weights, dtype, k);
        if (!(weight >= 0)) ow_fail(OW_RUNTIME_ERROR, "invalid multinomial distribution (encountering probability entry < 0)");
        if (isinf(weight))
            ow_fail(OW_RUNTIME_ERROR, "invalid multinomial distribution (encountering probability entry = infinity or NaN)");
        sum = single ? (float)(sum + weight) : sum + weight;
        cumulated[k] = sum;
    }
    if (!(sum > 0)) ow_fail(OW_RUNTIME_ERROR, "invalid multinomial distribution (sum of probabilities <= 0)");
    if (ow_error_pending()) return 0;
    for (int64_t k = 0; k < n; k++) cumulated[k] = single ? (float)(cumulated[k] / sum) : cumulated[k] / sum;
    cumulated[n - 1] = 1;
    return 1;
}

/* The first place whose value is not below u. */
static int64_t search(const double *cumulated, int64_t n, double u) {
    int64_t low = 0, high = n;
    while (low < high) {
        int64_t middle = low + (high - low) / 2;
        if (cumulated[middle] < u) low = middle + 1;
        else high = middle;
    }
    return low;
}

static int prepare_choices(ow_random_call *f) {
    const ow_tensor *w = f->inputs[0], *t = f->target;
    int same = w->ndim && w->ndim == t->ndim && (w->dtype == OW_FLOAT32 || w->dtype == OW_FLOAT64);
    for (int d = 0; same && d < w->ndim - 1; d++) same = w->sizes[d] == t->sizes[d];
    if (same && w->sizes[w->ndim - 1] && w->flags & t->flags & OW_CONTIGUOUS) return 1;
    ow_fail(OW_RUNTIME_ERROR, "%s: contiguous rows of weights are expected, one for each row of choices", f->op->name);
    return 0;
}

/* The target has a row of choices for each row of weights; both are contiguous. */
static int fill_choices(ow_random_call *f) {
    const ow_tensor *w = f->inputs[0];
    int64_t n = w->sizes[w->ndim - 1], rows = n ? w->numel / n : 0, *out = (int64_t *)f->target->data;
    int64_t count = f->target->sizes[f->target->ndim - 1];
    double *cumulated = ow_alloc(n * (int64_t)sizeof(double));
    int done = cumulated != NULL;
    for (int64_t row = 0; row < rows && done; row++) {
        done = cumulate(w->data + row * n * ow_itemsize(w->dtype), w->dtype, n, cumulated);
        for (int64_t k = 0; k < count && done; k++)
            out[row * count + k] = search(cumulated, n, ow_draw_double(f->generator));
    }
    if (cumulated) ow_dealloc(cumulated, n * (int64_t)sizeof(double));
    return done;
}

const ow_distribution ow_distribution_choices = {
    .kernel = "multinomial", .prepare = prepare_choices, .fill = fill_choices};
