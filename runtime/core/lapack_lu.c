/* LU factorizations, and what follows from them: solutions and inverses. */
#include "lapack.h"

typedef void getrf_type(const int64_t *m, const int64_t *n, void *a, const int64_t *lda, int64_t *pivots, int64_t *info);
typedef void getrs_type(const char *trans, const int64_t *n, const int64_t *columns, const void *a, const int64_t *lda,
                        const int64_t *pivots, void *b, const int64_t *ldb, int64_t *info, size_t);
typedef void getri_type(const int64_t *n, void *a, const int64_t *lda, const int64_t *pivots, void *work,
                        const int64_t *lwork, int64_t *info);
OW_LAPACK_VARIANTS(getrf, getrf_type)
OW_LAPACK_VARIANTS(getrs, getrs_type)
OW_LAPACK_VARIANTS(getri, getri_type)

/* ---- one matrix ---------------------------------------------------------------------------------------- */

typedef void laswp_type(const int64_t *n, void *a, const int64_t *lda, const int64_t *first, const int64_t *last,
                        const int64_t *pivots, const int64_t *step);
typedef void gemm_type(const char *trans_a, const char *trans_b, const int64_t *m, const int64_t *n, const int64_t *k,
                       const void *alpha, const void *a, const int64_t *lda, const void *b, const int64_t *ldb,
                       const void *beta, void *c, const int64_t *ldc, size_t, size_t);
OW_LAPACK_VARIANTS(laswp, laswp_type)
OW_LAPACK_VARIANTS(trsm, ow_trsm)
OW_LAPACK_VARIANTS(gemm, gemm_type)

enum { PANEL = 64 };

/* OpenBLAS factorizes large matrices on two threads as slowly as on one. Halves are factorized one after the other here;
 * between them, nearly all work is products, which it shares out well. Returns LAPACK's code. */
static int64_t factorize(const ow_lapack *l, int64_t m, int64_t n, char *a, int64_t lda, int64_t *pivots) {
    int64_t least = m < n ? m : n, status = 0, one = 1;
    if (least <= PANEL) {
        getrf[l->letter](&m, &n, a, &lda, pivots, &status);
        return status;
    }
    static const double _Complex units_z[] = {1, -1};
    static const float _Complex units_c[] = {1, -1};
    int wide = l->letter & 1; /* of a complex number, the first half is the real part */
    const void *plus = wide ? (const void *)&units_z[0] : &units_c[0], *minus = wide ? (const void *)&units_z[1] : &units_c[1];
    int64_t half = (least / 2 + PANEL - 1) / PANEL * PANEL, right = n - half, below = m - half, second = half + 1;
    char *a12 = a + half * lda * ow_itemsize(l->dtype), *a21 = a + half * ow_itemsize(l->dtype);
    char *a22 = a12 + half * ow_itemsize(l->dtype);
    status = factorize(l, m, half, a, lda, pivots);
    laswp[l->letter](&right, a12, &lda, &one, &half, pivots, &one);
    trsm[l->letter]("L", "L", "N", "U", &half, &right, plus, a, &lda, a12, &lda, 1, 1, 1, 1);
    gemm[l->letter]("N", "N", &below, &right, &half, minus, a21, &lda, a12, &lda, plus, a22, &lda, 1, 1);
    int64_t rest = factorize(l, below, right, a22, lda, pivots + half);
    for (int64_t i = half; i < least; i++) pivots[i] += half;
    laswp[l->letter](&half, a, &lda, &second, &least, pivots, &one);
    return status || !rest ? status : rest + half;
}

/* ---- batches ------------------------------------------------------------------------------------------- */

static double cube(int64_t n) { return (double)n * (double)n * (double)n; }

/* (A) -> LU, pivots, info */
int ow_lapack_getrf(ow_lapack *l) {
    ow_tensor *lu = ow_lapack_copied(l, 0, 0);
    if (!lu) return 0;
    int64_t m = ow_lapack_rows(lu), n = ow_lapack_width(lu), least = m < n ? m : n, leading = ow_lapack_leading(m);
    ow_tensor *pivots = ow_lapack_vectors(l, 1, OW_INT32, least), *info = ow_lapack_numbers(l, 2, OW_INT32);
    int64_t *wide = ow_lapack_work(l, least, sizeof(int64_t)), status;
    if (!pivots || !info || !wide) return 0;
    void *token = ow_lapack_begin(l, (double)m * (double)n * (double)least);
    for (int64_t k = 0; k < l->batch; k++) {
        status = factorize(l, m, n, ow_lapack_at(l, lu, k), leading, wide);
        ow_lapack_narrow(ow_lapack_at(l, pivots, k), wide, least);
        ow_lapack_narrow(ow_lapack_at(l, info, k), &status, 1);
    }
    ow_lapack_end(token);
    return 1;
}

#define PROPERLY "Did you properly pass the result of lu_factor?"
#define SMALL_PIVOT "Pivots given to lu_solve must all be greater or equal to 1. "
#define LARGE_PIVOT "Pivots given to lu_solve must all be smaller or equal to LU.size(-2). "

/* Does every pivot name a row? Others would have LAPACK write beside the matrix. */
static int check_pivots(const ow_tensor *pivots, int64_t rows, const char *too_small, const char *too_large) {
    int32_t lowest = 1, highest = 1;
    for (int64_t i = 0; i < pivots->numel; i++) {
        int32_t row = ((const int32_t *)pivots->data)[i];
        lowest = row < lowest ? row : lowest;
        highest = row > highest ? row : highest;
    }
    if (lowest < 1) ow_fail(OW_RUNTIME_ERROR, "%s", too_small);
    else if (highest > rows && pivots->numel) ow_fail(OW_RUNTIME_ERROR, "%s", too_large);
    else return 1;
    return 0;
}

/* (LU, pivots) -> the rows of the matrix in the order in which its factors have them */
int ow_lapack_laswp(ow_lapack *l) {
    static const char outside[] = "pivots passed to lu_unpack must be between 1 and LU.size(-2) inclusive." PROPERLY;
    int64_t m = ow_lapack_rows(l->inputs[0]);
    ow_tensor *pivots = ow_lapack_lines(l, 1), *rows = ow_lapack_vectors(l, 0, OW_INT64, m);
    if (!pivots || !rows || !check_pivots(pivots, m, outside, outside)) return 0;
    int64_t count = pivots->sizes[pivots->ndim - 1];
    for (int64_t k = 0; k < l->batch; k++) {
        int64_t *row = ow_lapack_at(l, rows, k);
        const int32_t *other = ow_lapack_at(l, pivots, k);
        for (int64_t i = 0; i < m; i++) row[i] = i;
        for (int64_t i = 0; i < count && i < m; i++) {
            int64_t moved = row[i];
            row[i] = row[other[i] - 1];
            row[other[i] - 1] = moved;
        }
    }
    return 1;
}

/* (LU, pivots, B, trans) -> X; trans is 0 for A X = B, 1 for the transposed A, 2 for the conjugate transposed. */
int ow_lapack_getrs(ow_lapack *l) {
    ow_tensor *lu = ow_lapack_columns(l, 0), *pivots = ow_lapack_lines(l, 1), *x = ow_lapack_copied(l, 0, 2);
    if (!lu || !pivots || !x) return 0;
    int64_t n = ow_lapack_rows(lu), columns = ow_lapack_width(x), leading = ow_lapack_leading(n), status;
    int64_t *wide = ow_lapack_work(l, n, sizeof(int64_t));
    if (!wide || !check_pivots(pivots, n, SMALL_PIVOT PROPERLY, LARGE_PIVOT PROPERLY)) return 0;
    void *token = ow_lapack_begin(l, (double)n * (double)n * (double)columns);
    for (int64_t k = 0; k < l->batch && x->numel; k++) {
        ow_lapack_widen(wide, ow_lapack_at(l, pivots, k), n);
        getrs[l->letter](&"NTC"[l->flags[0]], &n, &columns, ow_lapack_at(l, lu, k), &leading, wide,
                         ow_lapack_at(l, x, k), &leading, &status, 1);
    }
    ow_lapack_end(token);
    return 1;
}

/* (A, B, trans) -> X, LU, pivots, info; as the two above. X of a singular matrix has the values that B has. */
int ow_lapack_gesv(ow_lapack *l) {
    ow_tensor *x = ow_lapack_copied(l, 0, 1), *lu = ow_lapack_copied(l, 1, 0);
    if (!x || !lu) return 0;
    int64_t n = ow_lapack_rows(lu), columns = ow_lapack_width(x), leading = ow_lapack_leading(n), status, unused;
    ow_tensor *pivots = ow_lapack_vectors(l, 2, OW_INT32, n), *info = ow_lapack_numbers(l, 3, OW_INT32);
    int64_t *wide = ow_lapack_work(l, n, sizeof(int64_t));
    if (!pivots || !info || !wide) return 0;
    void *token = ow_lapack_begin(l, cube(n) + (double)n * (double)n * (double)columns);
    for (int64_t k = 0; k < l->batch; k++) {
        status = factorize(l, n, n, ow_lapack_at(l, lu, k), leading, wide);
        ow_lapack_narrow(ow_lapack_at(l, pivots, k), wide, n);
        ow_lapack_narrow(ow_lapack_at(l, info, k), &status, 1);
        if (columns && status == 0)
            getrs[l->letter](&"NTC"[l->flags[0]], &n, &columns, ow_lapack_at(l, lu, k), &leading, wide,
                             ow_lapack_at(l, x, k), &leading, &unused, 1);
    }
    ow_lapack_end(token);
    return 1;
}

/* (A) -> inverse, info; of a singular matrix the LU factors. */
int ow_lapack_getri(ow_lapack *l) {
    ow_tensor *inverse = ow_lapack_copied(l, 0, 0), *info = ow_lapack_numbers(l, 1, OW_INT32);
    if (!inverse || !info) return 0;
    int64_t n = ow_lapack_rows(inverse), leading = ow_lapack_leading(n), query = -1, status;
    double _Complex first = 0;
    getri[l->letter](&n, inverse->data, &leading, NULL, &first, &query, &status);
    int64_t size = ow_lapack_work_size(l, &first), *wide = ow_lapack_work(l, n, sizeof(int64_t));
    void *work = ow_lapack_work(l, size, ow_itemsize(l->dtype));
    if (!wide || !work) return 0;
    void *token = ow_lapack_begin(l, 2 * cube(n));
    for (int64_t k = 0; k < l->batch; k++) {
        void *a = ow_lapack_at(l, inverse, k);
        status = factorize(l, n, n, a, leading, wide);
        if (status == 0) getri[l->letter](&n, a, &leading, wide, work, &size, &status);
        ow_lapack_narrow(ow_lapack_at(l, info, k), &status, 1);
    }
    ow_lapack_end(token);
    return 1;
}
