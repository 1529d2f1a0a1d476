/* Solutions with triangular matrices. */
#include "lapack.h"

OW_LAPACK_VARIANTS(trsm, ow_trsm)

/* (A, B, upper, unit diagonal) -> X with A X = B. A that lies in memory row after row is the transposed of one that lies
 * there column after column, which BLAS reads as well. */
int ow_lapack_trsm(ow_lapack *l) {
    int rows = !ow_lapack_is_packed(l->inputs[0], 0) && ow_lapack_is_packed(l->inputs[0], 1);
    ow_tensor *a = rows ? l->inputs[0] : ow_lapack_columns(l, 0), *x = ow_lapack_copied(l, 0, 1);
    if (!a || !x) return 0;
    static const double _Complex one_z = 1;
    static const float _Complex one_c = 1;
    const void *one = l->letter & 1 ? (const void *)&one_z : &one_c; /* its first half is the real one */
    const char *uplo = (l->flags[0] != 0) != rows ? "U" : "L", *diagonal = l->flags[1] ? "U" : "N";
    int64_t n = ow_lapack_rows(x), columns = ow_lapack_width(x), leading = ow_lapack_leading(n);
    void *token = ow_lapack_begin(l, (double)n * (double)n * (double)columns);
    for (int64_t k = 0; k < l->batch && x->numel; k++)
        trsm[l->letter]("L", uplo, rows ? "T" : "N", diagonal, &n, &columns, one, ow_lapack_at(l, a, k), &leading,
                        ow_lapack_at(l, x, k), &leading, 1, 1, 1, 1);
    ow_lapack_end(token);
    return 1;
}
