/* Loops of Fourier transforms, compiled once for each instruction-set level, for float and for double. */
#ifndef OPWEAVE_FFT_KERNELS_H
#define OPWEAVE_FFT_KERNELS_H

#include "../fft.h"

/* Complex numbers in memory: those of one signal are `step` apart, signals side by side `line`, both counted in real
 * numbers; the imaginary parts lie `im` behind the real ones. The inverse of a transform is the transform with the two parts
 * swapped, in what is read and in what is written. */
#define OW_FFT_NO_PARTS INT64_MIN /* im of real numbers */
typedef struct ow_fft_access {
    void *re;
    int64_t step, line, im;
} ow_fft_access;

/* Where block b of n signals side by side begins: the last one overlaps the one before, so that all lanes have work. */
static inline int64_t ow_fft_start_of_block(int64_t b, int64_t n, int64_t lanes) {
    return b * lanes + lanes <= n || n < lanes ? b * lanes : n - lanes;
}

typedef enum ow_fft_kind {
    OW_FFT_COMPLEX,
    OW_FFT_REAL,       /* the first n / 2 + 1 elements of the transform of n real numbers; */
    OW_FFT_REAL_WHOLE, /* all of them */
    OW_FFT_HERMITIAN   /* n real numbers, n times those of which OW_FFT_REAL is given */
} ow_fft_kind;

/* What becomes of each signal. Real numbers of even n are accessed in pairs, as complex ones. */
typedef struct ow_fft_job {
    ow_fft_kind kind;
    int64_t n;
    const ow_fft_plan *plan; /* of length n; of n / 2 for real numbers of even n */
    int64_t length;          /* of a block: the largest number of elements that it has on the way */
    double scale;            /* by which results are multiplied */
} ow_fft_job;

typedef struct ow_fft_kernels {
    int lanes;
    int largest_power; /* of two, that is a good radix */
    uint64_t radices;  /* bit r: there are passes of radix r */

    /* `count` <= lanes signals. `work` has room for two blocks, and is aligned for vectors. */
    int64_t (*bytes_of_block)(int64_t length);
    void (*block)(const ow_fft_job *job, ow_fft_access in, ow_fft_access out, int count, void *work);

    /* One signal as n1 × n2 elements: transforms groups [begin, end) of the columns and multiplies by roots of unity, into
     * planes of n1 × pitch elements; then groups of the rows. There are n2 / lanes groups of columns and n1 / lanes of rows,
     * or one. */
    int64_t (*pitch)(int64_t n2);
    void (*columns)(const ow_fft_plan *plan, ow_fft_access in, void *planes, int64_t begin, int64_t end, void *work);
    void (*rows)(const ow_fft_plan *plan, const void *planes, ow_fft_access out, double scale, int64_t begin, int64_t end,
                 void *work);

    /* One signal: copies `count` elements, times a number; and times a table of complex numbers. */
    void (*copy)(ow_fft_access in, ow_fft_access out, int64_t count, double scale);
    void (*multiply)(ow_fft_access in, const void *table, ow_fft_access out, int64_t count, double scale);
    /* Elements n / 2 < k < n of a spectrum of n real numbers, as conjugates of the others. */
    void (*mirror)(ow_fft_access x, int64_t n);
    /* From the transform of n pairs of real numbers, that of the 2 n numbers, n + 1 elements; and back, but for a factor of 2.
     * n is at least `lanes`. */
    void (*to_halves)(const ow_fft_plan *plan, ow_fft_access in, ow_fft_access out, double scale);
    void (*from_halves)(const ow_fft_plan *plan, ow_fft_access in, ow_fft_access out);
} ow_fft_kernels;

#endif
