/* What the kernels of rows are made of: lanes of elements, each with an accumulator of its own. */
#ifndef OPWEAVE_ROW_LANES_H
#define OPWEAVE_ROW_LANES_H

#include <string.h>

#include "rows.h"

#define LANES 64 /* elements at a time, and independent accumulators */
#define SHORT 16 /* tails are padded to a multiple */
#define WIDTH OW_ROW_WIDTH
/* Keeps a loop scalar, as the same expression is for a single row: vector forms of functions differ in the last bit. */
#define ONE_BY_ONE __asm__ volatile("")

/* The accumulators that n elements touch, as a power of two. */
static inline int64_t lanes_of(int64_t n) {
    int64_t used = 1;
    while (used < n && used < LANES) used *= 2;
    return used;
}

/* Where the SHORT elements begin that are computed for those from `done` on: at the end of a row, at some that have been
 * computed already. A row of fewer begins at 0. */
static inline int64_t start_of(int64_t n, int64_t done) {
    return done + SHORT <= n ? done : n < SHORT ? 0 : n - SHORT;
}

/* The last elements of a row, fewer than SHORT: computed as many, which the last of them fills up. */
static inline const void *padded(void *to, const void *x, int64_t n, int64_t size) {
    for (int64_t j = 0; j < SHORT; j++) memcpy((char *)to + j * size, (const char *)x + (j < n ? j : n - 1) * size, (size_t)size);
    return to;
}

#endif
