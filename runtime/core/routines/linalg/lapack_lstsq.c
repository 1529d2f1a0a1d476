/* Least squares, by the four drivers of LAPACK. */
#include <math.h>

#include "lapack.h"

typedef void gels_type(const char *trans, const int64_t *m, const int64_t *n, const int64_t *columns, void *a,
                       const int64_t *lda, void *b, const int64_t *ldb, void *work, const int64_t *lwork, int64_t *info,
                       size_t);
typedef void gelsy_type(const int64_t *m, const int64_t *n, const int64_t *columns, void *a, const int64_t *lda, void *b,
                        const int64_t *ldb, int64_t *pivots, const void *rcond, int64_t *rank, void *work,
                        const int64_t *lwork, int64_t *info);
typedef void complex_gelsy_type(const int64_t *m, const int64_t *n, const int64_t *columns, void *a, const int64_t *lda,
                                void *b, const int64_t *ldb, int64_t *pivots, const void *rcond, int64_t *rank, void *work,
                                const int64_t *lwork, void *rwork, int64_t *info);
typedef void gelsd_type(const int64_t *m, const int64_t *n, const int64_t *columns, void *a, const int64_t *lda, void *b,
                        const int64_t *ldb, void *s, const void *rcond, int64_t *rank, void *work, const int64_t *lwork,
                        int64_t *iwork, int64_t *info);
typedef void complex_gelsd_type(const int64_t *m, const int64_t *n, const int64_t *columns, void *a, const int64_t *lda,
                                void *b, const int64_t *ldb, void *s, const void *rcond, int64_t *rank, void *work,
                                const int64_t *lwork, void *rwork, int64_t *iwork, int64_t *info);
typedef void gelss_type(const int64_t *m, const int64_t *n, const int64_t *columns, void *a, const int64_t *lda, void *b,
                        const int64_t *ldb, void *s, const void *rcond, int64_t *rank, void *work, const int64_t *lwork,
                        int64_t *info);
typedef void complex_gelss_type(const int64_t *m, const int64_t *n, const int64_t *columns, void *a, const int64_t *lda,
                                void *b, const int64_t *ldb, void *s, const void *rcond, int64_t *rank, void *work,
                                const int64_t *lwork, void *rwork, int64_t *info);
/* The numbers to work in are integers in the real variants, reals in the complex ones. */
typedef void trcon_type(const char *norm, const char *uplo, const char *diagonal, const int64_t *n, const void *a,
                        const int64_t *lda, void *rcond, void *work, void *numbers, int64_t *info, size_t, size_t, size_t);
OW_LAPACK_VARIANTS(gels, gels_type)
OW_LAPACK_VARIANTS(trcon, trcon_type)
OW_LAPACK_PAIR(gelsy, gelsy_type, sgelsy, dgelsy)
OW_LAPACK_PAIR(complex_gelsy, complex_gelsy_type, cgelsy, zgelsy)
OW_LAPACK_PAIR(gelsd, gelsd_type, sgelsd, dgelsd)
OW_LAPACK_PAIR(complex_gelsd, complex_gelsd_type, cgelsd, zgelsd)
OW_LAPACK_PAIR(gelss, gelss_type, sgelss, dgelss)
OW_LAPACK_PAIR(complex_gelss, complex_gelss_type, cgelss, zgelss)

enum { GELS, GELSY, GELSD, GELSS, DRIVERS };

typedef struct {
    int64_t m, n, columns, lwork;
    void *work, *rwork;
    int64_t *iwork;
    char *spare; /* room for copies of A and B; NULL: not needed */
} lstsq_work;

static int64_t solve(const ow_lapack *l, int driver, void *a, void *b, void *s, int64_t *rank, const lstsq_work *w) {
    int64_t lda = ow_lapack_leading(w->m), ldb = ow_lapack_leading(w->m > w->n ? w->m : w->n), status = 0;
    const int64_t *m = &w->m, *n = &w->n, *columns = &w->columns, *lwork = &w->lwork;
    float single = (float)l->number;
    const void *rcond = l->letter & 1 ? (const void *)&l->number : &single;
    int is_complex = ow_lapack_is_complex(l), wide = l->letter & 1;
    switch (driver) {
    case GELS: gels[l->letter]("N", m, n, columns, a, &lda, b, &ldb, w->work, lwork, &status, 1); break;
    case GELSY:
        if (w->iwork) memset(w->iwork, 0, sizeof(int64_t) * (size_t)w->n); /* no column is held in front */
        if (is_complex)
            complex_gelsy[wide](m, n, columns, a, &lda, b, &ldb, w->iwork, rcond, rank, w->work, lwork, w->rwork, &status);
        else gelsy[wide](m, n, columns, a, &lda, b, &ldb, w->iwork, rcond, rank, w->work, lwork, &status);
        break;
    case GELSD:
        if (is_complex)
            complex_gelsd[wide](m, n, columns, a, &lda, b, &ldb, s, rcond, rank, w->work, lwork, w->rwork, w->iwork, &status);
        else gelsd[wide](m, n, columns, a, &lda, b, &ldb, s, rcond, rank, w->work, lwork, w->iwork, &status);
        break;
    default:
        if (is_complex)
            complex_gelss[wide](m, n, columns, a, &lda, b, &ldb, s, rcond, rank, w->work, lwork, w->rwork, &status);
        else gelss[wide](m, n, columns, a, &lda, b, &ldb, s, rcond, rank, w->work, lwork, &status);
    }
    return status;
}

enum { SMALL = 64 };

/* What the reciprocal condition by the 2-norm must exceed, so that it clearly exceeds the limit of the rank: estimates are
 * rarely ten times as large as the number, and mostly not twice. */
static double clear_limit(const ow_lapack *l) { return 10 * l->number; }

/* The reciprocal condition of a triangle by the 2-norm is at least the geometric mean of those by the 1-norm and infinity. */
static double reciprocal_condition(const ow_lapack *l, const char *part, int64_t n, const void *a, int64_t lda,
                                   const lstsq_work *w) {
    double product = 1;
    for (int k = 0; k < 2; k++) {
        double rcond = 0;
        float single = 0;
        int64_t unused;
        int wide = l->letter & 1;
        trcon[l->letter](k ? "I" : "1", part, "N", &n, a, &lda, wide ? (void *)&rcond : &single, w->work,
                         ow_lapack_is_complex(l) ? w->rwork : w->iwork, &unused, 1, 1, 1);
        product *= wide ? rcond : (double)single;
    }
    return sqrt(product);
}

/* gelsy exchanges columns at every step and takes more than twice as long as gels; where a matrix clearly has full rank,
 * both come to the same solution. 1: it is in place of b; 0: a and b are as they were. */
static int solve_full_rank(const ow_lapack *l, void *a, void *b, const lstsq_work *w) {
    int64_t item = ow_itemsize(l->dtype), m = w->m, n = w->n, least = m < n ? m : n, status, rank;
    size_t of_a = (size_t)(m * n * item), of_b = (size_t)((m > n ? m : n) * w->columns * item);
    memcpy(w->spare, a, of_a);
    memcpy(w->spare + of_a, b, of_b);
    status = solve(l, GELS, a, b, NULL, &rank, w);
    /* What is left of A is a triangle in front: the upper one, or of a wide matrix the lower. */
    if (!status && reciprocal_condition(l, m < n ? "L" : "U", least, a, m, w) > clear_limit(l)) return 1;
    memcpy(a, w->spare, of_a);
    memcpy(b, w->spare + of_a, of_b);
    return 0;
}

/* Sizes of the arrays besides `work`: a query tells those of gelsd, LAPACK's documentation the others. */
static void other_sizes(const ow_lapack *l, int64_t m, int64_t n, int64_t *reals, int64_t *wholes) {
    int64_t least = m < n ? m : n;
    if (l->flags[0] == GELSD) return;
    *reals = l->flags[0] == GELSY ? 2 * n : 5 * least;
    *wholes = n;
}

/* 1 if A is not finite, so that the solution is known without LAPACK: it is NaN, or *status says that there is none. */
static int is_refused(const ow_lapack *l, const void *a, int64_t m, int64_t n, int64_t *status) {
    ow_lapack_content content = ow_lapack_look(l, a, m, n, OW_WHOLE);
    int64_t least = m < n ? m : n, iterates = l->flags[0] == GELSD || l->flags[0] == GELSS;
    *status = content == OW_NOT_A_NUMBER ? -4 : !iterates ? 0 : least > 1 ? least - 1 : 1;
    return content != OW_FINITE;
}

/* (A, B with max(m, n) rows, driver, rcond) -> X in the first n rows and what is left of B, rank, singular values, info */
static int check_gels(ow_lapack *l) {
    int64_t m = *ow_lapack_size(l, 'm'), n = *ow_lapack_size(l, 'n');
    if (*ow_lapack_size(l, 'r') == (m < n ? n : m)) return 1;
    ow_fail(OW_RUNTIME_ERROR, "%s: B must have as many rows as the longer side of A", l->op->name);
    return 0;
}

static int run_gels(ow_lapack *l) {
    const ow_tensor *x = l->results[0], *ranks = l->results[1], *s = l->results[2], *info = l->results[3];
    const ow_tensor *a = ow_lapack_scratch(l, 0);
    if (!a) return 0;
    int64_t m = ow_lapack_rows(a), n = ow_lapack_width(a), least = m < n ? m : n, wholes = 0, rank = 0;
    double _Complex first = 0;
    double real = 0;
    int driver = (int)l->flags[0];
    int twice = driver == GELSY && least > SMALL && clear_limit(l) < 1e-3; /* few matrices are that regular */
    lstsq_work w = {m, n, ow_lapack_width(x), -1, &first, &real, NULL, NULL};
    if (driver == GELSD) w.iwork = &wholes;
    int64_t size = 0, spare;
    if (twice) {
        solve(l, GELS, NULL, NULL, NULL, &rank, &w);
        size = ow_lapack_work_size(l, &first);
    }
    solve(l, driver, NULL, NULL, NULL, &rank, &w);
    int64_t reals = ow_lapack_is_complex(l) ? ow_lapack_work_size(l, &real) : 0;
    other_sizes(l, m, n, &reals, &wholes);
    w.lwork = ow_lapack_work_size(l, &first);
    if (w.lwork < size) w.lwork = size;
    w.work = ow_lapack_work(l, w.lwork, ow_itemsize(l->dtype));
    w.rwork = ow_lapack_work(l, reals, ow_itemsize(l->real_dtype));
    w.iwork = ow_lapack_work(l, wholes, sizeof(int64_t));
    if (!w.work || !w.rwork || !w.iwork) return 0;
    if (twice) {
        if (__builtin_mul_overflow(m > n ? m : n, n + w.columns, &spare)) spare = INT64_MAX;
        if (!(w.spare = ow_lapack_work(l, spare, ow_itemsize(l->dtype)))) return 0;
    }
    void *token = ow_lapack_begin(l, 4 * (double)m * (double)n * (double)(least + w.columns), OW_LAPACK_SHARED);
    for (int64_t k = 0; ow_lapack_has(l, k); k++) {
        int64_t status;
        if (is_refused(l, ow_lapack_at(l, a, k), m, n, &status)) {
            ow_lapack_forget(l, x, k);
            ow_lapack_forget(l, s, k);
            rank = 0;
        } else {
            /* Infinities beside NaN, which spreads as well, would be scaled. */
            if (ow_lapack_look(l, ow_lapack_at(l, x, k), ow_lapack_rows(x), w.columns, OW_WHOLE) == OW_INFINITE)
                ow_lapack_forget(l, x, k);
            if (twice && solve_full_rank(l, ow_lapack_at(l, a, k), ow_lapack_at(l, x, k), &w)) rank = least, status = 0;
            else status = solve(l, driver, ow_lapack_at(l, a, k), ow_lapack_at(l, x, k), ow_lapack_at(l, s, k), &rank, &w);
        }
        ((int64_t *)ranks->data)[k] = rank;
        ow_lapack_narrow(ow_lapack_at(l, info, k), &status, 1);
    }
    return ow_lapack_end(token);
}

const ow_lapack_routine ow_lapack_gels = {.inputs = "mn,rk", .results = "=1,%,~l,#", .options = DRIVERS, .check = check_gels, .run = run_gels};
