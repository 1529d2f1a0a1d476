/* QR factorizations, and products of Householder reflections, which stand for Q. */
#include "lapack.h"

typedef void geqrf_type(const int64_t *m, const int64_t *n, void *a, const int64_t *lda, void *tau, void *work,
                        const int64_t *lwork, int64_t *info);
typedef void orgqr_type(const int64_t *m, const int64_t *n, const int64_t *count, void *a, const int64_t *lda,
                        const void *tau, void *work, const int64_t *lwork, int64_t *info);
typedef void ormqr_type(const char *side, const char *trans, const int64_t *m, const int64_t *n, const int64_t *count,
                        const void *a, const int64_t *lda, const void *tau, void *c, const int64_t *ldc, void *work,
                        const int64_t *lwork, int64_t *info, size_t, size_t);
OW_LAPACK_VARIANTS(geqrf, geqrf_type)
OW_LAPACK_TABLE(orgqr, orgqr_type, sorgqr, dorgqr, cungqr, zungqr)
OW_LAPACK_TABLE(ormqr, ormqr_type, sormqr, dormqr, cunmqr, zunmqr)

static const int64_t query = -1;

/* The first rows of an upper triangle, with zeros below the diagonal. */
static void copy_triangle(const ow_lapack *l, char *to, const char *from, int64_t rows, int64_t pitch, int64_t columns) {
    int64_t item = ow_itemsize(l->dtype);
    for (int64_t j = 0; j < columns; j++) {
        int64_t above = j + 1 < rows ? j + 1 : rows;
        memcpy(to + j * rows * item, from + j * pitch * item, (size_t)(above * item));
        memset(to + (j * rows + above) * item, 0, (size_t)((rows - above) * item));
    }
}

/* (A, rows) -> reflections below and R above the diagonal, tau, so many rows of R */
int ow_lapack_geqrf(ow_lapack *l) {
    ow_tensor *qr = ow_lapack_copied(l, 0, 0);
    if (!qr) return 0;
    int64_t m = ow_lapack_rows(qr), n = ow_lapack_width(qr), least = m < n ? m : n, leading = ow_lapack_leading(m), status;
    ow_tensor *tau = ow_lapack_vectors(l, 1, l->dtype, least);
    ow_tensor *r = ow_lapack_matrices(l, 2, l->dtype, l->flags[0], n);
    double _Complex first = 0;
    geqrf[l->letter](&m, &n, NULL, &leading, NULL, &first, &query, &status);
    int64_t size = ow_lapack_work_size(l, &first);
    void *work = ow_lapack_work(l, size, ow_itemsize(l->dtype));
    if (!tau || !r || !work) return 0;
    void *token = ow_lapack_begin(l, 2 * (double)m * (double)n * (double)least, OW_LAPACK_SHARED);
    for (int64_t k = 0; k < l->batch && qr->numel; k++) {
        char *a = ow_lapack_at(l, qr, k);
        geqrf[l->letter](&m, &n, a, &leading, ow_lapack_at(l, tau, k), work, &size, &status);
        if (r->numel) copy_triangle(l, ow_lapack_at(l, r, k), a, l->flags[0], m, n);
    }
    ow_lapack_end(token);
    return 1;
}

/* (reflections, tau, columns) -> that many columns of Q */
int ow_lapack_orgqr(ow_lapack *l) {
    ow_tensor *from = ow_lapack_columns(l, 0), *tau = ow_lapack_lines(l, 1);
    if (!from || !tau) return 0;
    int64_t m = ow_lapack_rows(from), n = l->flags[0], leading = ow_lapack_leading(m), status;
    int64_t count = tau->sizes[tau->ndim - 1], width = ow_lapack_width(from), item = ow_itemsize(l->dtype);
    ow_tensor *q = ow_lapack_matrices(l, 0, l->dtype, m, n);
    double _Complex first = 0;
    orgqr[l->letter](&m, &n, &count, NULL, &leading, NULL, &first, &query, &status);
    int64_t size = ow_lapack_work_size(l, &first);
    void *work = ow_lapack_work(l, size, item);
    if (!q || !work) return 0;
    void *token = ow_lapack_begin(l, 2 * (double)m * (double)n * (double)count, OW_LAPACK_SHARED);
    for (int64_t k = 0; k < l->batch && q->numel; k++) {
        char *a = ow_lapack_at(l, q, k);
        if (from->numel) memcpy(a, ow_lapack_at(l, from, k), (size_t)(m * (n < width ? n : width) * item));
        orgqr[l->letter](&m, &n, &count, a, &leading, ow_lapack_at(l, tau, k), work, &size, &status);
    }
    ow_lapack_end(token);
    return 1;
}

/* (reflections, tau, C, left, transpose) -> Q C or C Q, or with the conjugate transpose of Q */
int ow_lapack_ormqr(ow_lapack *l) {
    ow_tensor *from = ow_lapack_columns(l, 0), *tau = ow_lapack_lines(l, 1), *c = ow_lapack_copied(l, 0, 2);
    if (!from || !tau || !c) return 0;
    const char *side = l->flags[0] ? "L" : "R", *trans = !l->flags[1] ? "N" : ow_lapack_is_complex(l) ? "C" : "T";
    int64_t m = ow_lapack_rows(c), n = ow_lapack_width(c), count = tau->sizes[tau->ndim - 1], status;
    int64_t leading = ow_lapack_leading(m), lda = ow_lapack_leading(ow_lapack_rows(from));
    double _Complex first = 0;
    ormqr[l->letter](side, trans, &m, &n, &count, NULL, &lda, NULL, NULL, &leading, &first, &query, &status, 1, 1);
    int64_t size = ow_lapack_work_size(l, &first);
    void *work = ow_lapack_work(l, size, ow_itemsize(l->dtype));
    if (!work) return 0;
    void *token = ow_lapack_begin(l, 2 * (double)m * (double)n * (double)count, OW_LAPACK_SHARED);
    for (int64_t k = 0; k < l->batch && c->numel; k++)
        ormqr[l->letter](side, trans, &m, &n, &count, ow_lapack_at(l, from, k), &lda, ow_lapack_at(l, tau, k),
                         ow_lapack_at(l, c, k), &leading, work, &size, &status, 1, 1);
    ow_lapack_end(token);
    return 1;
}
