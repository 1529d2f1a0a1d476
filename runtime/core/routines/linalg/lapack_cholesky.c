/* Cholesky factorizations, and what follows from them: solutions and inverses. */
#include "lapack.h"

typedef void potrf_type(const char *uplo, const int64_t *n, void *a, const int64_t *lda, int64_t *info, size_t);
typedef void potrs_type(const char *uplo, const int64_t *n, const int64_t *columns, const void *a, const int64_t *lda,
                        void *b, const int64_t *ldb, int64_t *info, size_t);
OW_LAPACK_VARIANTS(potrf, potrf_type)
OW_LAPACK_VARIANTS(potri, potrf_type)
OW_LAPACK_VARIANTS(potrs, potrs_type)

static const char *triangle(const ow_lapack *l) { return l->flags[0] ? "U" : "L"; }

/* Zeros beside the diagonal, where LAPACK left what it was given. */
static void clear_other(const ow_lapack *l, char *a, int64_t n) {
    int64_t item = ow_itemsize(l->dtype);
    for (int64_t j = 0; j < n; j++) {
        int64_t first = l->flags[0] ? j + 1 : 0, last = l->flags[0] ? n : j;
        memset(a + (j * n + first) * item, 0, (size_t)((last - first) * item));
    }
}

#define REFLECT(name, type, conjugate) \
    static void name(const ow_lapack *l, void *matrix, int64_t n) { \
        type *a = matrix; \
        for (int64_t j = 0; j < n; j++) \
            for (int64_t i = 0; i < j; i++) { \
                type *above = a + j * n + i, *below = a + i * n + j; \
                if (l->flags[0]) *below = conjugate(*above); \
                else *above = conjugate(*below); \
            } \
    }
REFLECT(reflect_s, float, )
REFLECT(reflect_d, double, )
REFLECT(reflect_c, float _Complex, __builtin_conjf)
REFLECT(reflect_z, double _Complex, __builtin_conj)
static void (*const reflect[4])(const ow_lapack *, void *, int64_t) = {reflect_s, reflect_d, reflect_c, reflect_z};

/* OpenBLAS lets NaN pass on the diagonal, which no positive definite matrix brings about: the code is its place. */
static int64_t place_of_nan(const ow_lapack *l, const char *a, int64_t n) {
    for (int64_t j = 0; j < n; j++)
        if (ow_lapack_look(l, a + j * (n + 1) * ow_itemsize(l->dtype), 1, 1, OW_WHOLE) == OW_NOT_A_NUMBER) return j + 1;
    return 0;
}

typedef struct {
    const ow_lapack *l;
    const ow_tensor *factor, *info;
} cholesky_batch;

static void factorize_range(void *context, int64_t begin, int64_t end) {
    const cholesky_batch *b = context;
    const ow_lapack *l = b->l;
    int64_t n = ow_lapack_rows(b->factor), leading = ow_lapack_leading(n), status;
    for (int64_t k = begin; k < end; k++) {
        char *a = ow_lapack_at(l, b->factor, k);
        potrf[l->letter](triangle(l), &n, a, &leading, &status, 1);
        clear_other(l, a, n);
        if (!status) status = place_of_nan(l, a, n);
        ow_lapack_narrow(ow_lapack_at(l, b->info, k), &status, 1);
    }
}

/* (A, upper) -> L or its conjugate transpose, info */
static int run_potrf(ow_lapack *l) {
    cholesky_batch b = {l, l->results[0], l->results[1]};
    double n = (double)ow_lapack_rows(b.factor), work = n * n * n;
    void *token = ow_lapack_begin(l, work, l->batch < ow_num_threads() ? OW_LAPACK_SHARED : OW_LAPACK_ALONE);
    ow_lapack_each(l, work, factorize_range, &b);
    return ow_lapack_end(token);
}

const ow_lapack_routine ow_lapack_potrf = {.inputs = "nn", .results = "=0,#", .run = run_potrf};

/* (L, upper) -> inverse of the factorized matrix, info */
static int run_potri(ow_lapack *l) {
    const ow_tensor *inverse = l->results[0], *info = l->results[1];
    int64_t n = ow_lapack_rows(inverse), leading = ow_lapack_leading(n), status;
    void *token = ow_lapack_begin(l, 2 * (double)n * (double)n * (double)n, OW_LAPACK_SHARED);
    for (int64_t k = 0; ow_lapack_has(l, k); k++) {
        potri[l->letter](triangle(l), &n, ow_lapack_at(l, inverse, k), &leading, &status, 1);
        reflect[l->letter](l, ow_lapack_at(l, inverse, k), n);
        ow_lapack_narrow(ow_lapack_at(l, info, k), &status, 1);
    }
    return ow_lapack_end(token);
}

const ow_lapack_routine ow_lapack_potri = {.inputs = "nn", .results = "=0,#", .run = run_potri};

/* (L, B, upper) -> X */
static int run_potrs(ow_lapack *l) {
    const ow_tensor *factor = ow_lapack_columns(l, 0), *x = l->results[0];
    if (!factor) return 0;
    int64_t n = ow_lapack_rows(factor), columns = ow_lapack_width(x), leading = ow_lapack_leading(n), status;
    void *token = ow_lapack_begin(l, (double)n * (double)n * (double)columns, OW_LAPACK_SHARED);
    for (int64_t k = 0; ow_lapack_has(l, k) && x->numel; k++)
        potrs[l->letter](triangle(l), &n, &columns, ow_lapack_at(l, factor, k), &leading, ow_lapack_at(l, x, k), &leading,
                         &status, 1);
    return ow_lapack_end(token);
}

const ow_lapack_routine ow_lapack_potrs = {.inputs = "nn,nk", .results = "=1", .run = run_potrs};
