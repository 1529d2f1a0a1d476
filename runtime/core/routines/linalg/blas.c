/* Floating-point products through OpenBLAS, by the calling thread alone: gemm.c shares them out. Its interface with 64-bit
 * integers is declared here, so that building needs no header of it. */
#include "blas.h"

enum { ROW_MAJOR = 101, AS_IT_IS = 111, TRANSPOSED = 112 };

void scipy_cblas_sgemm64_(int order, int trans_a, int trans_b, int64_t m, int64_t n, int64_t k, float alpha,
                          const float *a, int64_t lda, const float *b, int64_t ldb, float beta, float *c, int64_t ldc);
void scipy_cblas_dgemm64_(int order, int trans_a, int trans_b, int64_t m, int64_t n, int64_t k, double alpha,
                          const double *a, int64_t lda, const double *b, int64_t ldb, double beta, double *c, int64_t ldc);
void scipy_cblas_sgemv64_(int order, int trans, int64_t m, int64_t n, float alpha, const float *a, int64_t lda,
                          const float *x, int64_t incx, float beta, float *y, int64_t incy);
void scipy_cblas_dgemv64_(int order, int trans, int64_t m, int64_t n, double alpha, const double *a, int64_t lda,
                          const double *x, int64_t incx, double beta, double *y, int64_t incy);
void scipy_cblas_cgemm64_(int order, int trans_a, int trans_b, int64_t m, int64_t n, int64_t k, const void *alpha,
                          const void *a, int64_t lda, const void *b, int64_t ldb, const void *beta, void *c, int64_t ldc);
void scipy_cblas_zgemm64_(int order, int trans_a, int trans_b, int64_t m, int64_t n, int64_t k, const void *alpha,
                          const void *a, int64_t lda, const void *b, int64_t ldb, const void *beta, void *c, int64_t ldc);
void scipy_cblas_cgemv64_(int order, int trans, int64_t m, int64_t n, const void *alpha, const void *a, int64_t lda,
                          const void *x, int64_t incx, const void *beta, void *y, int64_t incy);
void scipy_cblas_zgemv64_(int order, int trans, int64_t m, int64_t n, const void *alpha, const void *a, int64_t lda,
                          const void *x, int64_t incx, const void *beta, void *y, int64_t incy);
void scipy_cblas_cdotu_sub64_(int64_t n, const void *x, int64_t incx, const void *y, int64_t incy, void *result);
void scipy_cblas_zdotu_sub64_(int64_t n, const void *x, int64_t incx, const void *y, int64_t incy, void *result);
float scipy_cblas_sdot64_(int64_t n, const float *x, int64_t incx, const float *y, int64_t incy);
double scipy_cblas_ddot64_(int64_t n, const double *x, int64_t incx, const double *y, int64_t incy);
void scipy_openblas_set_num_threads64_(int n);

void ow_blas_set_num_threads(int n) {
    static int told;
    if (__atomic_exchange_n(&told, n, __ATOMIC_RELAXED) != n) scipy_openblas_set_num_threads64_(n);
}

static inline int64_t at_least_one(int64_t n) { return n > 0 ? n : 1; }

typedef struct {
    int trans;
    int64_t ld;
} layout;

/* A matrix with one row or column has a stride that does not count. */
static int find_layout(const ow_matrix *m, layout *result) {
    if ((m->column_stride == 1 || m->columns <= 1) && (m->rows <= 1 || m->row_stride >= at_least_one(m->columns))) {
        *result = (layout){AS_IT_IS, m->rows <= 1 ? at_least_one(m->columns) : m->row_stride};
        return 1;
    }
    if ((m->row_stride == 1 || m->rows <= 1) && (m->columns <= 1 || m->column_stride >= at_least_one(m->rows))) {
        *result = (layout){TRANSPOSED, m->columns <= 1 ? at_least_one(m->rows) : m->column_stride};
        return 1;
    }
    return 0;
}

int ow_blas_layout(const ow_matrix *m) {
    layout unused;
    return find_layout(m, &unused);
}

static ow_matrix transpose(const ow_matrix *m) {
    return (ow_matrix){m->data, m->columns, m->rows, m->column_stride, m->row_stride, 0};
}

/* A vector's stride, which does not count when it has one element; 0: not one that BLAS takes. */
static int64_t vector_stride(int64_t n, int64_t stride) { return n == 1 ? 1 : stride > 0 ? stride : 0; }

static int is_zero(int dtype, ow_scalar value) {
    return ow_dtype_kinds[dtype] == OW_KIND_COMPLEX ? value.z == 0 : value.d == 0;
}

/* c is a column. BLAS multiplies what c held by a zero beta, so that NaN would stay: clear it. */
static int gemv(int dtype, ow_scalar alpha, const ow_matrix *a, const ow_matrix *b, ow_scalar beta, const ow_matrix *c) {
    layout of_a;
    int64_t x = vector_stride(b->rows, b->row_stride), y = vector_stride(c->rows, c->row_stride);
    if (!x || !y || !find_layout(a, &of_a)) return 0;
    int64_t m = of_a.trans == AS_IT_IS ? a->rows : a->columns, n = of_a.trans == AS_IT_IS ? a->columns : a->rows;
    if (is_zero(dtype, beta)) {
        size_t item = (size_t)ow_itemsize(dtype), n_at_once = y == 1 ? (size_t)c->rows : 1;
        for (int64_t i = 0; i < c->rows; i += (int64_t)n_at_once)
            memset(c->data + (size_t)(i * y) * item, 0, n_at_once * item);
    }
    float _Complex single_alpha, single_beta;
    switch (dtype) {
    case OW_FLOAT32:
        scipy_cblas_sgemv64_(ROW_MAJOR, of_a.trans, m, n, (float)alpha.d, (float *)a->data, of_a.ld, (float *)b->data, x,
                             (float)beta.d, (float *)c->data, y);
        break;
    case OW_FLOAT64:
        scipy_cblas_dgemv64_(ROW_MAJOR, of_a.trans, m, n, alpha.d, (double *)a->data, of_a.ld, (double *)b->data, x,
                             beta.d, (double *)c->data, y);
        break;
    case OW_COMPLEX64:
        single_alpha = (float _Complex)alpha.z, single_beta = (float _Complex)beta.z;
        scipy_cblas_cgemv64_(ROW_MAJOR, of_a.trans, m, n, &single_alpha, a->data, of_a.ld, b->data, x, &single_beta,
                             c->data, y);
        break;
    default:
        scipy_cblas_zgemv64_(ROW_MAJOR, of_a.trans, m, n, &alpha.z, a->data, of_a.ld, b->data, x, &beta.z, c->data, y);
    }
    return 1;
}

static void gemm(int dtype, ow_scalar alpha, const ow_matrix *a, const ow_matrix *b, ow_scalar beta, const ow_matrix *c) {
    layout of_a = {0}, of_b = {0}, of_c = {0};
    if (!find_layout(a, &of_a) || !find_layout(b, &of_b) || !find_layout(c, &of_c)) return; /* callers made sure */
    if (of_c.trans == TRANSPOSED) {
        ow_matrix left = transpose(b), right = transpose(a), result = transpose(c);
        gemm(dtype, alpha, &left, &right, beta, &result);
        return;
    }
    float _Complex single_alpha, single_beta;
    switch (dtype) {
    case OW_FLOAT32:
        scipy_cblas_sgemm64_(ROW_MAJOR, of_a.trans, of_b.trans, c->rows, c->columns, a->columns, (float)alpha.d,
                             (float *)a->data, of_a.ld, (float *)b->data, of_b.ld, (float)beta.d, (float *)c->data, of_c.ld);
        break;
    case OW_FLOAT64:
        scipy_cblas_dgemm64_(ROW_MAJOR, of_a.trans, of_b.trans, c->rows, c->columns, a->columns, alpha.d,
                             (double *)a->data, of_a.ld, (double *)b->data, of_b.ld, beta.d, (double *)c->data, of_c.ld);
        break;
    case OW_COMPLEX64:
        single_alpha = (float _Complex)alpha.z, single_beta = (float _Complex)beta.z;
        scipy_cblas_cgemm64_(ROW_MAJOR, of_a.trans, of_b.trans, c->rows, c->columns, a->columns, &single_alpha, a->data,
                             of_a.ld, b->data, of_b.ld, &single_beta, c->data, of_c.ld);
        break;
    default:
        scipy_cblas_zgemm64_(ROW_MAJOR, of_a.trans, of_b.trans, c->rows, c->columns, a->columns, &alpha.z, a->data,
                             of_a.ld, b->data, of_b.ld, &beta.z, c->data, of_c.ld);
    }
}

void ow_blas_multiply(int dtype, ow_scalar alpha, const ow_matrix *a, const ow_matrix *b, ow_scalar beta,
                      const ow_matrix *c) {
    ow_matrix left = transpose(b), right = transpose(a), row = transpose(c);
    int done = 0;
    if (a->columns > 0 && c->columns == 1) done = gemv(dtype, alpha, a, b, beta, c);
    else if (a->columns > 0 && c->rows == 1) done = gemv(dtype, alpha, &left, &right, beta, &row);
    if (!done) gemm(dtype, alpha, a, b, beta, c);
}

/* A product of vectors is a sum over pieces that OpenBLAS never shares out (it does from 10000 elements on), so that the
 * result does not depend on the number of threads. */
enum { PIECE = 8192, PIECES = 512 };

typedef struct {
    int dtype;
    int64_t n, x_stride, y_stride;
    const char *x, *y;
    double _Complex sums[PIECES];
} vectors;

static double _Complex dot_piece(const vectors *v, int64_t n, const void *x, const void *y) {
    float _Complex single;
    double _Complex result;
    switch (v->dtype) {
    case OW_FLOAT32: return (double)scipy_cblas_sdot64_(n, x, v->x_stride, y, v->y_stride);
    case OW_FLOAT64: return scipy_cblas_ddot64_(n, x, v->x_stride, y, v->y_stride);
    case OW_COMPLEX64:
        scipy_cblas_cdotu_sub64_(n, x, v->x_stride, y, v->y_stride, &single);
        return (double _Complex)single;
    default:
        scipy_cblas_zdotu_sub64_(n, x, v->x_stride, y, v->y_stride, &result);
        return result;
    }
}

static void dot_pieces(void *context, int64_t begin, int64_t end) {
    vectors *v = context;
    int64_t item = ow_itemsize(v->dtype);
    for (int64_t i = begin; i < end; i++) {
        int64_t first = i * PIECE, n = v->n - first < PIECE ? v->n - first : PIECE;
        const void *x = v->x + first * v->x_stride * item, *y = v->y + first * v->y_stride * item;
        v->sums[i] = dot_piece(v, n, x, y);
    }
}

void ow_dot(int dtype, int64_t n, const char *x, int64_t x_stride, const char *y, int64_t y_stride, char *result) {
    if (ow_dtype_kinds[dtype] < OW_KIND_FLOATING) {
        ow_matrix row = {(char *)x, 1, n, 0, x_stride, 0}, column = {(char *)y, n, 1, y_stride, 1, 0};
        ow_matrix c = {result, 1, 1, 1, 1, 0};
        ow_gemm_int(dtype, 1, &row, &column, 0, &c);
        return;
    }
    void *token = ow_gil_release(2 * n);
    double _Complex sum = 0;
    for (int64_t first = 0; first < n; first += (int64_t)PIECE * PIECES) {
        int64_t item = ow_itemsize(dtype), left = n - first;
        vectors v; /* without initializer, which would clear all the sums */
        v.dtype = dtype;
        v.n = left < (int64_t)PIECE * PIECES ? left : (int64_t)PIECE * PIECES;
        v.x_stride = x_stride;
        v.y_stride = y_stride;
        v.x = x + first * x_stride * item;
        v.y = y + first * y_stride * item;
        int64_t pieces = (v.n + PIECE - 1) / PIECE;
        if (pieces == 1) dot_pieces(&v, 0, 1);
        else ow_parallel_for(pieces, 1, 2.0 * (double)v.n, dot_pieces, &v);
        for (int64_t i = 0; i < pieces; i++) sum += v.sums[i];
    }
    ow_cast_loop(dtype, OW_COMPLEX128)(result, 0, (const char *)&sum, 0, 1);
    ow_gil_acquire(token);
}
