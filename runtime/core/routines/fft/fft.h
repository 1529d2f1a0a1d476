/* Discrete Fourier transforms along one dimension.
 *
 * A length whose prime factors are small is transformed by passes (Stockham's algorithm) over a block: as many signals at once
 * as a vector has lanes. One signal alone is taken as a matrix whose columns, and then rows, are such blocks (the four-step
 * algorithm; D. H. Bailey, FFTs in external or hierarchical memory, 1990). Other lengths are a convolution of a length with
 * small factors (L. I. Bluestein, 1970). Real signals of even length are complex ones of half the length.
 *
 * Sums are taken in an order that follows from length, number and layout of the signals, whatever the number of threads. */
#ifndef OPWEAVE_FFT_H
#define OPWEAVE_FFT_H

#include <stdint.h>

enum { OW_FFT_PASSES = 64 };

/* What is known of a length before there is a signal. All numbers are in the precision of the transform, and w(x) is
 * exp(-2 pi i x). Tables of complex numbers are interleaved, or planes: all real parts, then all imaginary ones. */
typedef struct ow_fft_plan {
    int64_t n;
    int is_double, lanes; /* of the vectors that it was made for */

    /* Of a length with small factors; its passes from the first to the last. */
    int npasses;
    int radices[OW_FFT_PASSES];
    void *roots[OW_FFT_PASSES]; /* w(p k / rest) for p < rest / radix, 0 < k < radix, where `rest` is what is left of n */

    /* Of one signal as n1 × n2 elements; `rows` is NULL where that does not pay. */
    struct ow_fft_plan *columns, *rows; /* of lengths n1 and n2 */
    void *lane_turns;                   /* w(k1 lane / n): of each k1 the real parts of all lanes, then the imaginary ones */
    void *block_turns;                  /* w(k1 i2 / n), where block after block of columns begins with i2, for all k1 */

    /* Of any other length. */
    struct ow_fft_plan *convolution; /* of length m >= 2 n - 1; else NULL */
    void *chirp;                     /* w(k² / 2n), k < n */
    void *spectrum;                  /* the transform of the conjugate chirp on both sides of 0, divided by m; m numbers */

    void *halves; /* planes of w(k / 2n), k <= n, for real signals of 2 n elements; NULL until they are needed */
    int64_t nbytes;
} ow_fft_plan;

/* A plan that is the caller's until it is given back; NULL with the error set. `halves`: for real signals of 2 n elements. */
ow_fft_plan *ow_fft_take_plan(int64_t n, int is_double, int halves);
void ow_fft_give_back(ow_fft_plan *plan);
/* 1 if it is made of passes alone. */
static inline int ow_fft_has_passes(const ow_fft_plan *plan) { return !plan->convolution; }

/* Roots of unity as products of two tabulated ones, in extended precision where there is one. */
typedef struct ow_fft_roots {
    int64_t n;
    int shift; /* of a root's number: its upper part is tabulated in `high`, the lower one in `low` */
    long double (*low)[2], (*high)[2];
} ow_fft_roots;

int ow_fft_roots_begin(ow_fft_roots *roots, int64_t n); /* 1, or 0 with the error set */
/* The real and the imaginary part of w(k / n), 0 <= k < n. */
void ow_fft_root(const ow_fft_roots *roots, int64_t k, long double root[2]);
void ow_fft_roots_end(ow_fft_roots *roots);

#endif
