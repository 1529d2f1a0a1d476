/* Factorizations L D L^T of symmetric and L D L^H of Hermitian matrices that need not be positive, and solutions. */
#include <stdlib.h>

#include "lapack.h"

typedef void sytrf_type(const char *uplo, const int64_t *n, void *a, const int64_t *lda, int64_t *pivots, void *work,
                        const int64_t *lwork, int64_t *info, size_t);
typedef void sytrs_type(const char *uplo, const int64_t *n, const int64_t *columns, const void *a, const int64_t *lda,
                        const int64_t *pivots, void *b, const int64_t *ldb, int64_t *info, size_t);
OW_LAPACK_VARIANTS(sytrf, sytrf_type)
OW_LAPACK_VARIANTS(sytrs, sytrs_type)
OW_LAPACK_TABLE(hetrf, sytrf_type, ssytrf, dsytrf, chetrf, zhetrf)
OW_LAPACK_TABLE(hetrs, sytrs_type, ssytrs, dsytrs, chetrs, zhetrs)

/* (A, hermitian) -> L with D on the diagonal, pivots, info */
static int run_sytrf(ow_lapack *l) {
    const ow_tensor *factors = l->results[0], *pivots = l->results[1], *info = l->results[2];
    sytrf_type *factorize = (l->flags[0] ? hetrf : sytrf)[l->letter];
    int64_t n = ow_lapack_rows(factors), leading = ow_lapack_leading(n), query = -1, status;
    double _Complex first = 0;
    factorize("L", &n, NULL, &leading, NULL, &first, &query, &status, 1);
    int64_t size = ow_lapack_work_size(l, &first), *wide = ow_lapack_work(l, n, sizeof(int64_t));
    void *work = ow_lapack_work(l, size, ow_itemsize(l->dtype));
    if (!wide || !work) return 0;
    void *token = ow_lapack_begin(l, (double)n * (double)n * (double)n, OW_LAPACK_SHARED);
    for (int64_t k = 0; ow_lapack_has(l, k); k++) {
        factorize("L", &n, ow_lapack_at(l, factors, k), &leading, wide, work, &size, &status, 1);
        ow_lapack_narrow(ow_lapack_at(l, pivots, k), wide, n);
        ow_lapack_narrow(ow_lapack_at(l, info, k), &status, 1);
    }
    return ow_lapack_end(token);
}

const ow_lapack_routine ow_lapack_sytrf = {.inputs = "nn", .results = "=0,#n,#", .run = run_sytrf};

/* 1 if every pivot names a row, negative ones in pairs. With others LAPACK would write outside the matrix. */
static int check_pivots(const int64_t *pivots, int64_t n) {
    for (int64_t i = 0; i < n; i++) {
        int pair = pivots[i] < 0;
        for (int64_t k = i; k <= i + pair; k++) {
            if (k < n && pivots[k] && (pivots[k] < 0) == pair && llabs(pivots[k]) <= n) continue;
            ow_fail(OW_RUNTIME_ERROR, "torch.linalg.ldl_solve: the pivots are not those of a factorization. Did you properly "
                                      "pass the result of ldl_factor?");
            return 0;
        }
        i += pair;
    }
    return 1;
}

/* (LD, pivots, B, hermitian) -> X */
static int run_sytrs(ow_lapack *l) {
    const ow_tensor *factors = ow_lapack_columns(l, 0), *pivots = ow_lapack_lines(l, 1), *x = l->results[0];
    if (!factors || !pivots) return 0;
    sytrs_type *solve = (l->flags[0] ? hetrs : sytrs)[l->letter];
    int64_t n = ow_lapack_rows(factors), columns = ow_lapack_width(x), leading = ow_lapack_leading(n), status;
    int64_t *wide = ow_lapack_work(l, n, sizeof(int64_t));
    if (!wide) return 0;
    int fit = 1;
    void *token = ow_lapack_begin(l, (double)n * (double)n * (double)columns, OW_LAPACK_SHARED);
    for (int64_t k = 0; ow_lapack_has(l, k) && x->numel && fit; k++) {
        ow_lapack_widen(wide, ow_lapack_at(l, pivots, k), n);
        if ((fit = check_pivots(wide, n)))
            solve("L", &n, &columns, ow_lapack_at(l, factors, k), &leading, wide, ow_lapack_at(l, x, k), &leading,
                  &status, 1);
    }
    return ow_lapack_end(token) && fit;
}

const ow_lapack_routine ow_lapack_sytrs = {.inputs = "nn,#n,nk", .results = "=2", .run = run_sytrs};
