/* Roots of unity in the precision that tables of twiddle factors need. */
#include <math.h>
#include <stdlib.h>

#include "fft.h"
#include "tensor/tensor.h"

#define PI 3.141592653589793238462643383279502884L

/* exp(-2 pi i k / n), 0 <= k < n, by an angle of at most an eighth of a turn: the multiples of an eighth are exact. */
static void computed(int64_t k, int64_t n, long double root[2]) {
    int64_t eighths = 8 * (k % n), octant = eighths / n, rest = eighths % n; /* n is below 2^60 */
    int64_t within = octant % 2 ? n - rest : rest;
    long double angle = PI / 4 * (long double)within / (long double)n;
    long double cosine = cosl(angle), sine = sinl(angle);
    if (within == n) cosine = sine = sqrtl(0.5L);
    int swapped = octant == 1 || octant == 2 || octant == 5 || octant == 6;
    long double re = swapped ? sine : cosine, im = swapped ? cosine : sine;
    root[0] = octant >= 2 && octant < 6 ? -re : re;
    root[1] = octant < 4 ? -im : im;
}

int ow_fft_roots_begin(ow_fft_roots *roots, int64_t n) {
    *roots = (ow_fft_roots){.n = n};
    while ((int64_t)1 << 2 * roots->shift < n) roots->shift++;
    const int64_t low = (int64_t)1 << roots->shift, high = ((n - 1) >> roots->shift) + 1;
    roots->low = malloc((size_t)low * sizeof *roots->low);
    roots->high = malloc((size_t)high * sizeof *roots->high);
    if (!roots->low || !roots->high) {
        ow_fft_roots_end(roots);
        return ow_fail(OW_OUT_OF_MEMORY, "no memory for the roots of unity of a transform of %lld elements",
                       (long long)n) != NULL;
    }
    for (int64_t k = 0; k < low; k++) computed(k, n, roots->low[k]);
    for (int64_t k = 0; k < high; k++) computed(k << roots->shift, n, roots->high[k]);
    return 1;
}

void ow_fft_root(const ow_fft_roots *roots, int64_t k, long double root[2]) {
    const long double *a = roots->high[k >> roots->shift], *b = roots->low[k & (((int64_t)1 << roots->shift) - 1)];
    root[0] = a[0] * b[0] - a[1] * b[1];
    root[1] = a[0] * b[1] + a[1] * b[0];
}

void ow_fft_roots_end(ow_fft_roots *roots) {
    free(roots->low);
    free(roots->high);
    roots->low = roots->high = NULL;
}
