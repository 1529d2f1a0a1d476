/* Sums of weights in the bins of a histogram.
 *
 * Parts of the values have sums of their own, which are added in order. How many there are follows from the sizes alone, so
 * that rounded sums do not depend on the number of threads. */
#include "index_get.h"

enum { COST = 8 /* of a value, in units of a float32 addition */, LEAST_PART = 1 << 16, MOST_PARTS = 16 };

typedef struct {
    const void *values, *weights, *edges;
    int64_t numel, bins, parts;
    ow_bin_rule rule;
    double *sums; /* of each part: one for every bin, and one for the values that lie in none */
} histogram;

/* The bin of a value, whatever the edges are; the number of bins where it lies in none. */
#define OW_ADD_TO_BINS(suffix, type)                                                                                     \
    static inline int64_t bin_##suffix(const type *edges, int64_t bins, ow_bin_rule rule, type value) {                  \
        const type low = edges[0], high = edges[rule == OW_BINS_OF_RANGE ? 1 : bins];                                    \
        int64_t bin = 0;                                                                                                 \
        if (!(value >= low && value <= high)) return bins;                                                               \
        if (rule == OW_BINS_LISTED) {                                                                                    \
            for (int64_t count = bins, half; count > 1; count -= half) {                                                 \
                half = count / 2;                                                                                        \
                bin += edges[bin + half] <= value ? half : 0;                                                            \
            }                                                                                                            \
            return bin;                                                                                                  \
        }                                                                                                                \
        if (rule == OW_BINS_OF_RANGE && !(low < high)) return bins / 2; /* the range is less than its ends' last digit */\
        const type place = (value - low) * (type)bins / (high - low);                                                    \
        bin = place < (type)bins ? (int64_t)place : bins - 1;                                                            \
        if (bin >= bins) bin = bins - 1;                                                                                 \
        if (rule == OW_BINS_OF_RANGE) return bin;                                                                        \
        while (bin > 0 && value < edges[bin]) bin--;                                                                     \
        while (bin + 1 < bins && value >= edges[bin + 1]) bin++;                                                         \
        return bin;                                                                                                      \
    }                                                                                                                    \
                                                                                                                         \
    static inline void add_range_##suffix(const histogram *h, ow_bin_rule rule, double *sums, int64_t begin, int64_t end) {\
        const volatile type *values = h->values; /* read once: another thread may write them */                          \
        const type *weights = h->weights;                                                                                \
        for (int64_t k = begin; k < end; k++)                                                                            \
            sums[bin_##suffix(h->edges, h->bins, rule, values[k])] += weights ? (double)weights[k] : 1.0;                \
    }                                                                                                                    \
                                                                                                                         \
    static void add_parts_##suffix(void *context, int64_t first, int64_t stop) {                                         \
        const histogram *h = context;                                                                                    \
        for (int64_t part = first; part < stop; part++) {                                                                \
            double *sums = h->sums + part * (h->bins + 1);                                                               \
            const int64_t begin = h->numel / h->parts * part;                                                            \
            const int64_t end = part + 1 < h->parts ? begin + h->numel / h->parts : h->numel;                            \
            memset(sums, 0, sizeof *sums * (size_t)(h->bins + 1));                                                       \
            if (h->rule == OW_BINS_OF_RANGE) add_range_##suffix(h, OW_BINS_OF_RANGE, sums, begin, end);                  \
            else if (h->rule == OW_BINS_EVEN) add_range_##suffix(h, OW_BINS_EVEN, sums, begin, end);                     \
            else add_range_##suffix(h, OW_BINS_LISTED, sums, begin, end);                                                \
        }                                                                                                                \
    }

OW_ADD_TO_BINS(f32, float)
OW_ADD_TO_BINS(f64, double)

static int is_list(const ow_tensor *t, int dtype, int64_t numel) {
    return t->dtype == dtype && t->ndim == 1 && t->numel == numel && t->flags & OW_CONTIGUOUS;
}

int ow_add_to_bins(const ow_tensor *values, const ow_tensor *weights, const ow_tensor *edges, ow_bin_rule rule,
                   ow_tensor *sums) {
    const int dtype = values->dtype;
    const int64_t numel = values->numel, bins = sums->numel;
    if (dtype != OW_FLOAT32 && dtype != OW_FLOAT64) return 0;
    if (!is_list(values, dtype, numel) || (weights && !is_list(weights, dtype, numel)) || !is_list(sums, OW_FLOAT64, bins) ||
        !is_list(edges, dtype, rule == OW_BINS_OF_RANGE ? 2 : bins + 1))
        return 0;
    if (!numel || !bins) return 1;
    histogram h = {values->data, weights ? weights->data : NULL, edges->data, numel, bins, 1, rule, NULL};
    h.parts = numel / (bins > LEAST_PART ? bins : LEAST_PART);
    h.parts = h.parts < 1 ? 1 : h.parts > MOST_PARTS ? MOST_PARTS : h.parts;
    const int64_t nbytes = (int64_t)sizeof(double) * h.parts * (bins + 1);
    if (!(h.sums = ow_alloc(nbytes))) return 0;
    const int done = ow_long_for(h.parts, 1, COST * (double)numel, dtype == OW_FLOAT32 ? add_parts_f32 : add_parts_f64, &h);
    for (int64_t part = 0; part < h.parts && done; part++)
        for (int64_t bin = 0; bin < bins; bin++) ((double *)sums->data)[bin] += h.sums[part * (bins + 1) + bin];
    ow_dealloc(h.sums, nbytes);
    return done;
}
