/* The loops of random numbers that are compiled once for each instruction-set level. */
#ifndef OPWEAVE_RANDOM_KERNELS_H
#define OPWEAVE_RANDOM_KERNELS_H

#include <stdint.h>

#define OW_MT_WORDS 624

typedef struct ow_random_kernels {
    /* MT19937: the next block of state words; outputs of n words. */
    void (*twist)(uint32_t *state);
    void (*temper)(uint32_t *out, const uint32_t *words, int64_t n);
    /* Uniform numbers in [from, to): one draw for a float, two for a double. */
    void (*floats)(float *out, const uint32_t *draws, int64_t n, float from, float to);
    void (*doubles)(double *out, const uint32_t *draws, int64_t n, double from, double to);
    /* Blocks of 16 floats: Box-Muller of uniform numbers in [0, 1), 8 pairs a block. */
    void (*box_muller)(float *x, int64_t blocks, float mean, float std);
    /* draws[k] %= divisor - k * step */
    void (*remainders)(uint32_t *draws, int64_t n, uint32_t divisor, uint32_t step);
} ow_random_kernels;

#endif
