/* Eigenvalues and eigenvectors: of symmetric and Hermitian matrices, and of any square ones. */
#include "lapack.h"

typedef void syevd_type(const char *job, const char *uplo, const int64_t *n, void *a, const int64_t *lda, void *values,
                        void *work, const int64_t *lwork, int64_t *iwork, const int64_t *liwork, int64_t *info, size_t,
                        size_t);
typedef void heevd_type(const char *job, const char *uplo, const int64_t *n, void *a, const int64_t *lda, void *values,
                        void *work, const int64_t *lwork, void *rwork, const int64_t *lrwork, int64_t *iwork,
                        const int64_t *liwork, int64_t *info, size_t, size_t);
typedef void geev_type(const char *left, const char *right, const int64_t *n, void *a, const int64_t *lda, void *real,
                       void *imaginary, void *vl, const int64_t *ldvl, void *vr, const int64_t *ldvr, void *work,
                       const int64_t *lwork, int64_t *info, size_t, size_t);
typedef void complex_geev_type(const char *left, const char *right, const int64_t *n, void *a, const int64_t *lda,
                               void *values, void *vl, const int64_t *ldvl, void *vr, const int64_t *ldvr, void *work,
                               const int64_t *lwork, void *rwork, int64_t *info, size_t, size_t);
OW_LAPACK_PAIR(syevd, syevd_type, ssyevd, dsyevd)
OW_LAPACK_PAIR(heevd, heevd_type, cheevd, zheevd)
OW_LAPACK_PAIR(geev, geev_type, sgeev, dgeev)
OW_LAPACK_PAIR(complex_geev, complex_geev_type, cgeev, zgeev)

static double cube(int64_t n) { return (double)n * (double)n * (double)n; }

/* ---- symmetric and Hermitian --------------------------------------------------------------------------- */

typedef struct {
    void *work, *rwork;
    int64_t *iwork, lwork, lrwork, liwork;
} symmetric_work;

static int64_t symmetric(const ow_lapack *l, int64_t n, void *a, void *values, const symmetric_work *w) {
    const char *job = l->flags[1] ? "V" : "N", *uplo = l->flags[0] ? "U" : "L";
    int64_t leading = ow_lapack_leading(n), status = 0;
    if (ow_lapack_is_complex(l))
        heevd[l->letter & 1](job, uplo, &n, a, &leading, values, w->work, &w->lwork, w->rwork, &w->lrwork, w->iwork,
                             &w->liwork, &status, 1, 1);
    else
        syevd[l->letter](job, uplo, &n, a, &leading, values, w->work, &w->lwork, w->iwork, &w->liwork, &status, 1, 1);
    return status;
}

/* The code of a matrix whose triangle is not finite: as many values as LAPACK gives up there. */
static int64_t refuse(const ow_lapack *l, const void *a, int64_t n) {
    ow_lapack_part part = l->flags[0] ? OW_UPPER : OW_LOWER;
    if (n < 2 || ow_lapack_look(l, a, n, n, part) == OW_FINITE) return 0;
    return l->flags[1] || n == 2 ? n - 1 : n - 2;
}

/* (A, upper, with vectors) -> values, vectors (or what is left of A), info */
static int run_syevd(ow_lapack *l) {
    const ow_tensor *values = l->results[0], *a = l->results[1], *info = l->results[2];
    int64_t n = ow_lapack_rows(a), whole;
    double _Complex first = 0;
    double real = 0;
    symmetric_work w = {&first, &real, &whole, -1, -1, -1};
    symmetric(l, n, NULL, NULL, &w);
    w.lwork = ow_lapack_work_size(l, &first);
    w.lrwork = ow_lapack_is_complex(l) ? ow_lapack_work_size(l, &real) : 0;
    w.liwork = whole;
    w.work = ow_lapack_work(l, w.lwork, ow_itemsize(l->dtype));
    w.rwork = ow_lapack_work(l, w.lrwork, ow_itemsize(l->real_dtype));
    w.iwork = ow_lapack_work(l, w.liwork, sizeof(int64_t));
    if (!w.work || !w.rwork || !w.iwork) return 0;
    void *token = ow_lapack_begin(l, 9 * cube(n), 0);
    for (int64_t k = 0; ow_lapack_has(l, k) && n; k++) {
        int64_t status = refuse(l, ow_lapack_at(l, a, k), n);
        if (status) ow_lapack_forget(l, values, k);
        else status = symmetric(l, n, ow_lapack_at(l, a, k), ow_lapack_at(l, values, k), &w);
        ow_lapack_narrow(ow_lapack_at(l, info, k), &status, 1);
    }
    if (!n) memset(info->data, 0, sizeof(int32_t) * (size_t)l->batch);
    return ow_lapack_end(token);
}

const ow_lapack_routine ow_lapack_syevd = {.inputs = "nn", .results = "~n,=0,#", .run = run_syevd};

/* ---- any square matrix --------------------------------------------------------------------------------- */

/* Complex vectors from what LAPACK gives for real matrices: the vectors of two conjugate values are a real and an
 * imaginary part, in two columns. */
#define JOIN_PARTS(name, type) \
    static void name(void *values, void *vectors, const void *parts, const void *columns, int64_t n) { \
        const type *real = parts, *imaginary = real + n, *from = columns; \
        type(*value)[2] = values, (*to)[2] = vectors; \
        for (int64_t j = 0; j < n; j++) { \
            value[j][0] = real[j], value[j][1] = imaginary[j]; \
            if (!to || (j && imaginary[j] < 0)) continue; /* a conjugate, which was written with the one before */ \
            for (int64_t i = 0; i < n; i++) { \
                type x = from[j * n + i], y = imaginary[j] > 0 && j + 1 < n ? from[(j + 1) * n + i] : 0; \
                to[j * n + i][0] = x, to[j * n + i][1] = y; \
                if (imaginary[j] > 0 && j + 1 < n) to[(j + 1) * n + i][0] = x, to[(j + 1) * n + i][1] = -y; \
            } \
        } \
    }
JOIN_PARTS(join_s, float)
JOIN_PARTS(join_d, double)

typedef struct {
    int64_t n, lwork;
    void *work;
    void *real; /* complex: numbers to work in; real: the parts of the values, then the vectors */
} general_work;

static int64_t general(const ow_lapack *l, void *a, void *values, void *vectors, const general_work *w) {
    const char *job = l->flags[0] ? "V" : "N";
    int64_t n = w->n, leading = ow_lapack_leading(n), one = 1, status = 0;
    if (ow_lapack_is_complex(l)) {
        complex_geev[l->letter & 1]("N", job, &n, a, &leading, values, NULL, &one, vectors, &leading, w->work, &w->lwork,
                                    w->real, &status, 1, 1);
        return status;
    }
    int64_t item = ow_itemsize(l->dtype);
    char *real = w->real, *imaginary = real + n * item, *columns = imaginary + n * item;
    geev[l->letter]("N", job, &n, a, &leading, real, imaginary, NULL, &one, columns, &leading, w->work, &w->lwork, &status,
                    1, 1);
    if (w->lwork >= 0) (l->letter ? join_d : join_s)(values, l->flags[0] ? vectors : NULL, real, columns, n);
    return status;
}

/* (A, with vectors) -> values, vectors, info; the values and vectors are complex */
static int size_eigenvectors(ow_lapack *l) {
    *ow_lapack_size(l, 'v') = l->flags[0] ? *ow_lapack_size(l, 'n') : 0;
    return 1;
}

static int run_geev(ow_lapack *l) {
    const ow_tensor *values = l->results[0], *vectors = l->results[1], *info = l->results[2], *a = ow_lapack_scratch(l, 0);
    int64_t n = ow_lapack_rows(l->inputs[0]), item = ow_itemsize(l->dtype);
    int is_complex = ow_lapack_is_complex(l);
    double _Complex first = 0;
    general_work w = {n, -1, &first, &first};
    general(l, NULL, NULL, NULL, &w);
    w.lwork = ow_lapack_work_size(l, &first);
    w.work = ow_lapack_work(l, w.lwork, item);
    int64_t count = is_complex ? 2 * n : l->flags[0] ? n * (n + 2) : 2 * n;
    w.real = ow_lapack_work(l, count, ow_itemsize(l->real_dtype));
    if (!a || !w.work || !w.real) return 0;
    void *token = ow_lapack_begin(l, 20 * cube(n), OW_LAPACK_SHARED);
    for (int64_t k = 0; ow_lapack_has(l, k); k++) {
        void *matrix = ow_lapack_at(l, a, k);
        int64_t status = ow_lapack_look(l, matrix, n, n, OW_WHOLE) == OW_FINITE ? 0 : -4;
        if (status)
            for (int index = 0; index < 2; index++) ow_lapack_forget(l, l->results[index], k);
        else if (n) status = general(l, matrix, ow_lapack_at(l, values, k), ow_lapack_at(l, vectors, k), &w);
        ow_lapack_narrow(ow_lapack_at(l, info, k), &status, 1);
    }
    return ow_lapack_end(token);
}

const ow_lapack_routine ow_lapack_geev = {.inputs = "nn", .results = "^n,^vv,#", .check = size_eigenvectors, .run = run_geev};
