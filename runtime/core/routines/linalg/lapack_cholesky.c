/* Cholesky factorizations, and what follows from them: solutions and inverses. */
#include "lapack.h"

typedef void potrf_type(const char *uplo, const int64_t *n, void *a, const int64_t *lda, int64_t *info, size_t);
typedef void herk_type(const char *uplo, const char *trans, const int64_t *n, const int64_t *k, const void *alpha,
                       const void *a, const int64_t *lda, const void *beta, void *c, const int64_t *ldc, size_t, size_t);
typedef void gemm_type(const char *trans_a, const char *trans_b, const int64_t *m, const int64_t *n, const int64_t *k,
                       const void *alpha, const void *a, const int64_t *lda, const void *b, const int64_t *ldb,
                       const void *beta, void *c, const int64_t *ldc, size_t, size_t);
OW_LAPACK_VARIANTS(potrf, potrf_type)
OW_LAPACK_VARIANTS(potri, potrf_type)
OW_LAPACK_VARIANTS(trsm, ow_trsm_type)
OW_LAPACK_VARIANTS(gemm, gemm_type)
OW_LAPACK_TABLE(herk, herk_type, ssyrk, dsyrk, cherk, zherk)

static const char *triangle(const ow_lapack *l) { return l->flags[0] ? "U" : "L"; }

/* ---- one matrix ---------------------------------------------------------------------------------------- */

enum {
    PANEL = 64,
    BLOCKED = 192, /* rows from which on OpenBLAS's own factorization by one thread is no quicker */
    STRIP = 64     /* rows or columns of a task: rounding does not depend on the number of threads */
};

/* The rest of a matrix beside and below a panel that is factorized. A lower factor has the panel's columns below the
 * diagonal, an upper one its rows to the right: one is described, with `down` from row to row. */
typedef struct {
    const ow_lapack *l;
    int64_t n, lda, down, rest;
    const char *diagonal;
    char *panel, *corner;
} step;

static void solve_strips(void *context, int64_t begin, int64_t end) {
    const step *s = context;
    const ow_lapack *l = s->l;
    for (int64_t i = begin; i < end; i += STRIP) {
        int64_t rows = ow_min(STRIP, end - i), is_upper = l->flags[0];
        trsm[l->letter](is_upper ? "L" : "R", triangle(l), "C", "N", is_upper ? &s->n : &rows, is_upper ? &rows : &s->n,
                        ow_lapack_number(l, 1), s->diagonal, &s->lda, s->panel + i * s->down, &s->lda, 1, 1, 1, 1);
    }
}

static void subtract_strips(void *context, int64_t begin, int64_t end) {
    const step *s = context;
    const ow_lapack *l = s->l;
    const void *plus = ow_lapack_number(l, 1), *minus = ow_lapack_number(l, -1);
    int64_t across = (s->lda + 1) * ow_itemsize(l->dtype); /* from one number of the diagonal to the next */
    for (int64_t i = begin; i < end; i += STRIP) {
        int64_t width = ow_min(STRIP, end - i), below = s->rest - i - width;
        const char *own = s->panel + i * s->down, *others = own + width * s->down;
        char *c = s->corner + i * across;
        herk[l->letter](triangle(l), l->flags[0] ? "C" : "N", &width, &s->n, minus, own, &s->lda, plus, c, &s->lda, 1, 1);
        if (l->flags[0])
            gemm[l->letter]("C", "N", &width, &below, &s->n, minus, own, &s->lda, others, &s->lda, plus, c + width * s->down,
                            &s->lda, 1, 1);
        else
            gemm[l->letter]("N", "C", &below, &width, &s->n, minus, others, &s->lda, own, &s->lda, plus, c + width * s->down,
                            &s->lda, 1, 1);
    }
}

/* OpenBLAS's factorization gains little from a second thread. Here the pool shares what is to be done after each panel,
 * which is nearly all of the work. Returns LAPACK's code. */
static int64_t factorize(const ow_lapack *l, int64_t n, char *a, int64_t lda) {
    if (ow_lapack_is_small(l, n)) return ow_lapack_small_cholesky(l, l->flags[0] != 0, n, a, lda);
    int64_t item = ow_itemsize(l->dtype), width = n < BLOCKED ? n : PANEL, status;
    for (int64_t done = 0; done < n; done += width) {
        step s = {.l = l, .n = ow_min(width, n - done), .lda = lda, .down = (l->flags[0] ? lda : 1) * item};
        char *diagonal = a + done * (lda + 1) * item;
        potrf[l->letter](triangle(l), &s.n, diagonal, &lda, &status, 1);
        if (status) return done + status;
        s.diagonal = diagonal, s.rest = n - done - s.n;
        s.panel = diagonal + s.n * s.down, s.corner = diagonal + s.n * (lda + 1) * item;
        double work = (double)s.n * (double)s.n * (double)s.rest;
        ow_parallel_for(s.rest, STRIP, work / 4, solve_strips, &s);
        ow_parallel_for(s.rest, STRIP, work * (double)s.rest / (4 * (double)s.n), subtract_strips, &s);
    }
    return 0;
}

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
        status = factorize(l, n, a, leading);
        clear_other(l, a, n);
        if (!status) status = place_of_nan(l, a, n);
        ow_lapack_narrow(ow_lapack_at(l, b->info, k), &status, 1);
    }
}

/* (A, upper) -> L or its conjugate transpose, info */
static int run_potrf(ow_lapack *l) {
    cholesky_batch b = {l, l->results[0], l->results[1]};
    double n = (double)ow_lapack_rows(b.factor), work = n * n * n;
    void *token = ow_lapack_begin(l, work, OW_LAPACK_ALONE);
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

typedef struct {
    const ow_lapack *l;
    const ow_tensor *factor, *x;
} solve_batch;

static void solve_range(void *context, int64_t begin, int64_t end) {
    const solve_batch *b = context;
    const ow_lapack *l = b->l;
    int64_t n = ow_lapack_rows(b->factor), leading = ow_lapack_leading(n), is_upper = l->flags[0] != 0;
    for (int64_t k = begin; k < end; k++) {
        char *a = ow_lapack_at(l, b->factor, k);
        ow_triangle plain = {(int)is_upper, 0, 'N', n, a, leading}, turned = {(int)is_upper, 0, 'C', n, a, leading};
        ow_triangle factors[] = {is_upper ? turned : plain, is_upper ? plain : turned};
        ow_lapack_solve_triangles(l, factors, 2, ow_lapack_width(b->x), ow_lapack_at(l, b->x, k), leading);
    }
}

/* (L, B, upper) -> X */
static int run_potrs(ow_lapack *l) {
    solve_batch b = {l, ow_lapack_columns(l, 0), l->results[0]};
    if (!b.factor || !b.x->numel) return b.factor != NULL;
    double n = (double)ow_lapack_rows(b.factor), work = 2 * n * n * (double)ow_lapack_width(b.x);
    void *token = ow_lapack_begin(l, work, OW_LAPACK_ALONE);
    ow_lapack_each(l, work, solve_range, &b);
    return ow_lapack_end(token);
}

const ow_lapack_routine ow_lapack_potrs = {.inputs = "nn,nk", .results = "=1", .run = run_potrs};
