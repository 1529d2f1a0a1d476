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
        getrf[l->letter](&m, &n, ow_lapack_at(l, lu, k), &leading, wide, &status);
        ow_lapack_narrow(ow_lapack_at(l, pivots, k), wide, least);
        ow_lapack_narrow(ow_lapack_at(l, info, k), &status, 1);
    }
    ow_lapack_end(token);
    return 1;
}

/* (LU, pivots, B, trans) -> X; trans is 0 for A X = B, 1 for the transposed A, 2 for the conjugate transposed. */
int ow_lapack_getrs(ow_lapack *l) {
    ow_tensor *lu = ow_lapack_columns(l, 0), *pivots = ow_lapack_lines(l, 1), *x = ow_lapack_copied(l, 0, 2);
    if (!lu || !pivots || !x) return 0;
    int64_t n = ow_lapack_rows(lu), columns = ow_lapack_width(x), leading = ow_lapack_leading(n), status;
    int64_t *wide = ow_lapack_work(l, n, sizeof(int64_t));
    if (!wide) return 0;
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
        getrf[l->letter](&n, &n, ow_lapack_at(l, lu, k), &leading, wide, &status);
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
        getrf[l->letter](&n, &n, a, &leading, wide, &status);
        if (status == 0) getri[l->letter](&n, a, &leading, wide, work, &size, &status);
        ow_lapack_narrow(ow_lapack_at(l, info, k), &status, 1);
    }
    ow_lapack_end(token);
    return 1;
}
