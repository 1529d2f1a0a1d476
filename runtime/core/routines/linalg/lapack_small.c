/* Factorizations and solutions of small real matrices, one number after the other: in a call of OpenBLAS most time would pass before it computes. */
#include <math.h>

#include "lapack.h"

#define FACTORIZATIONS(name, real) \
    static int64_t lu_##name(int64_t m, int64_t n, real *a, int64_t lda, int64_t *pivots) { \
        int64_t status = 0; \
        for (int64_t j = 0; j < m && j < n; j++) { \
            real *column = a + j * lda; \
            int64_t largest = j; \
            for (int64_t i = j + 1; i < m; i++) \
                if (fabs((double)column[i]) > fabs((double)column[largest])) largest = i; \
            pivots[j] = largest + 1; \
            if (column[largest] == 0) { /* as all below it, so that nothing is subtracted */ \
                if (!status) status = j + 1; \
                continue; \
            } \
            for (int64_t k = 0; k < n && largest != j; k++) { \
                real moved = a[j + k * lda]; \
                a[j + k * lda] = a[largest + k * lda]; \
                a[largest + k * lda] = moved; \
            } \
            for (int64_t i = j + 1; i < m; i++) column[i] /= column[j]; \
            for (int64_t k = j + 1; k < n; k++) \
                for (int64_t i = j + 1; i < m; i++) a[i + k * lda] -= column[i] * a[j + k * lda]; \
        } \
        return status; \
    } \
    /* The lower factor; an upper one is its transpose. */ \
    static int64_t cholesky_##name(int64_t n, real *a, int64_t down, int64_t across) { \
        for (int64_t j = 0; j < n; j++) \
            for (int64_t i = j; i < n; i++) { \
                real sum = a[i * down + j * across]; \
                for (int64_t k = 0; k < j; k++) sum -= a[i * down + k * across] * a[j * down + k * across]; \
                if (i == j && !(sum > 0)) { /* as LAPACK leaves it */ \
                    a[i * down + j * across] = sum; \
                    return j + 1; \
                } \
                a[i * down + j * across] = i == j ? (real)sqrt((double)sum) : sum / a[j * (down + across)]; \
            } \
        return 0; \
    } \
    static void swap_##name(real *a, int64_t lda, int64_t count, const int64_t *pivots, int64_t step, int64_t columns) { \
        for (int64_t k = 0; k < columns; k++, a += lda) \
            for (int64_t i = step > 0 ? 0 : count - 1; i >= 0 && i < count; i += step) { \
                real moved = a[i]; \
                a[i] = a[pivots[i] - 1]; \
                a[pivots[i] - 1] = moved; \
            } \
    } \
    static void substitute_##name(const ow_triangle *t, int64_t down, int64_t across, int up, real *x, int64_t ldx, \
                                  int64_t columns) { \
        const real *a = (const real *)t->a; \
        for (int64_t done = 0; done < t->n; done++) { \
            int64_t i = up ? t->n - 1 - done : done, first = up ? i + 1 : 0, last = up ? t->n : i; \
            real inverse = t->is_unit ? 1 : 1 / a[i * (down + across)]; \
            for (int64_t k = 0; k < columns; k++) { \
                real sum = x[k * ldx + i]; \
                for (int64_t j = first; j < last; j++) sum -= a[i * down + j * across] * x[k * ldx + j]; \
                x[k * ldx + i] = sum * inverse; \
            } \
        } \
    }
FACTORIZATIONS(s, float)
FACTORIZATIONS(d, double)

int64_t ow_lapack_small_lu(const ow_lapack *l, int64_t m, int64_t n, void *a, int64_t lda, int64_t *pivots) {
    return l->letter ? lu_d(m, n, a, lda, pivots) : lu_s(m, n, a, lda, pivots);
}

int64_t ow_lapack_small_cholesky(const ow_lapack *l, int is_upper, int64_t n, void *a, int64_t lda) {
    int64_t down = is_upper ? lda : 1, across = is_upper ? 1 : lda;
    return l->letter ? cholesky_d(n, a, down, across) : cholesky_s(n, a, down, across);
}

void ow_lapack_small_swap(const ow_lapack *l, void *a, int64_t lda, int64_t count, const int64_t *pivots, int64_t step,
                          int64_t columns) {
    if (l->letter) swap_d(a, lda, count, pivots, step, columns);
    else swap_s(a, lda, count, pivots, step, columns);
}

void ow_lapack_small_substitute(const ow_lapack *l, const ow_triangle *t, char *x, int64_t ldx, int64_t columns) {
    int is_plain = t->trans == 'N', up = t->is_upper == is_plain;
    int64_t down = is_plain ? 1 : t->lda, across = is_plain ? t->lda : 1;
    if (l->letter) substitute_d(t, down, across, up, (double *)x, ldx, columns);
    else substitute_s(t, down, across, up, (float *)x, ldx, columns);
}
