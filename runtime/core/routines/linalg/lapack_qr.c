/* QR factorizations, and products of Householder reflections, which stand for Q. */
#include "lapack.h"

typedef void geqrf_type(const int64_t *m, const int64_t *n, void *a, const int64_t *lda, void *tau, void *work,
                        const int64_t *lwork, int64_t *info);
typedef void orgqr_type(const int64_t *m, const int64_t *n, const int64_t *count, void *a, const int64_t *lda,
                        const void *tau, void *work, const int64_t *lwork, int64_t *info);
typedef void ormqr_type(const char *side, const char *trans, const int64_t *m, const int64_t *n, const int64_t *count,
                        const void *a, const int64_t *lda, const void *tau, void *c, const int64_t *ldc, void *work,
                        const int64_t *lwork, int64_t *info, size_t, size_t);
typedef void geqrt3_type(const int64_t *m, const int64_t *n, void *a, const int64_t *lda, void *t, const int64_t *ldt,
                         int64_t *info);
typedef void laset_type(const char *part, const int64_t *m, const int64_t *n, const void *outside, const void *diagonal,
                        void *a, const int64_t *lda, size_t);
typedef void larft_type(const char *direct, const char *stored, const int64_t *m, const int64_t *count, const void *v,
                        const int64_t *ldv, const void *tau, void *t, const int64_t *ldt, size_t, size_t);
typedef void larfb_type(const char *side, const char *trans, const char *direct, const char *stored, const int64_t *m,
                        const int64_t *n, const int64_t *count, const void *v, const int64_t *ldv, const void *t,
                        const int64_t *ldt, void *c, const int64_t *ldc, void *work, const int64_t *ldwork, size_t, size_t,
                        size_t, size_t);
OW_LAPACK_VARIANTS(geqrf, geqrf_type)
OW_LAPACK_VARIANTS(geqrt3, geqrt3_type)
OW_LAPACK_VARIANTS(laset, laset_type)
OW_LAPACK_VARIANTS(larft, larft_type)
OW_LAPACK_VARIANTS(larfb, larfb_type)
OW_LAPACK_TABLE(orgqr, orgqr_type, sorgqr, dorgqr, cungqr, zungqr)
OW_LAPACK_TABLE(ormqr, ormqr_type, sormqr, dormqr, cunmqr, zunmqr)

static const int64_t query = -1;

/* geqrf and orgqr work on panels of columns one column after the other, in products with vectors. As a matrix I - V T V' of
 * PANEL reflections, a panel is a matter of products of matrices too (geqrt3 halves it): quicker from BLOCKED reflections
 * on. The pool shares the columns that a panel is applied to, in strips that do not depend on the number of threads. */
enum { PANEL = 32, BLOCKED = 100, STRIP = 64 };
static const int64_t panel = PANEL;

/* I - V T V', or its conjugate transpose, with V and T as larft leaves them. */
typedef struct {
    const ow_lapack *l;
    const char *trans;
    int64_t rows, count; /* of V, which has `lda` elements from column to column, as C has */
    const char *v, *t;
    int64_t lda;
    char *c, *work; /* PANEL elements for each column of C */
} reflector;

static void reflect_strips(void *context, int64_t begin, int64_t end) {
    const reflector *r = context;
    int64_t item = ow_itemsize(r->l->dtype);
    for (int64_t j = begin; j < end; j += STRIP) {
        int64_t columns = ow_min(STRIP, end - j);
        larfb[r->l->letter]("L", r->trans, "F", "C", &r->rows, &columns, &r->count, r->v, &r->lda, r->t, &panel,
                            r->c + j * r->lda * item, &r->lda, r->work + j * PANEL * item, &columns, 1, 1, 1, 1);
    }
}

/* Multiplies so many columns of C. */
static void reflect(const reflector *r, int64_t columns) {
    ow_parallel_for(columns, STRIP, (double)r->rows * (double)r->count * (double)columns, reflect_strips, (void *)r);
}

/* Reflections and R of a matrix, and of each panel its T; these stand side by side. */
static void factorize_panels(const ow_lapack *l, int64_t m, int64_t n, char *a, char *t, char *work) {
    int64_t least = m < n ? m : n, item = ow_itemsize(l->dtype), status;
    reflector r = {.l = l, .trans = ow_lapack_is_complex(l) ? "C" : "T", .lda = m, .work = work};
    for (int64_t done = 0; done < least; done += PANEL) {
        char *v = a + (done + done * m) * item, *factor = t + done * PANEL * item;
        r.rows = m - done, r.count = ow_min(PANEL, least - done), r.v = v, r.t = factor;
        r.c = v + r.count * m * item;
        geqrt3[l->letter](&r.rows, &r.count, v, &m, factor, &panel, &status);
        reflect(&r, n - done - r.count);
    }
}

/* The first rows of an upper triangle, with zeros below the diagonal. */
static void copy_triangle(const ow_lapack *l, char *to, const char *from, int64_t rows, int64_t pitch, int64_t columns) {
    int64_t item = ow_itemsize(l->dtype);
    for (int64_t j = 0; j < columns; j++) {
        int64_t above = j + 1 < rows ? j + 1 : rows;
        memcpy(to + j * rows * item, from + j * pitch * item, (size_t)(above * item));
        memset(to + (j * rows + above) * item, 0, (size_t)((rows - above) * item));
    }
}

/* 1 where the count is from 0 to a limit, or 0 with the error set. */
static int is_count(const ow_lapack *l, int64_t count, int64_t limit) {
    if (count >= 0 && count <= limit) return 1;
    ow_fail(OW_RUNTIME_ERROR, "%s: a number from 0 to %lld is expected, but got %lld", l->op->name, (long long)limit,
            (long long)count);
    return 0;
}

/* No more of them than rows, and than columns that hold them. */
static int are_reflections(ow_lapack *l) { return is_count(l, *ow_lapack_size(l, 'k'), *ow_lapack_size(l, 'l')); }

/* (A, rows) -> reflections below and R above the diagonal, tau, so many rows of R */
static int check_geqrf(ow_lapack *l) {
    *ow_lapack_size(l, 'r') = l->flags[0];
    return is_count(l, l->flags[0], *ow_lapack_size(l, 'm'));
}

static int run_geqrf(ow_lapack *l) {
    const ow_tensor *qr = l->results[0], *tau = l->results[1], *r = l->results[2];
    int64_t m = ow_lapack_rows(qr), n = ow_lapack_width(qr), least = m < n ? m : n, leading = ow_lapack_leading(m), status;
    int blocked = least >= BLOCKED;
    int64_t item = ow_itemsize(l->dtype), size = blocked ? n * PANEL : 0;
    double _Complex first = 0;
    if (!blocked) {
        geqrf[l->letter](&m, &n, NULL, &leading, NULL, &first, &query, &status);
        size = ow_lapack_work_size(l, &first);
    }
    char *work = ow_lapack_work(l, size, item), *t = ow_lapack_work(l, blocked ? least * PANEL : 0, item);
    if (!work || !t) return 0;
    void *token = ow_lapack_begin(l, 2 * (double)m * (double)n * (double)least, OW_LAPACK_ALONE);
    for (int64_t k = 0; ow_lapack_has(l, k) && qr->numel; k++) {
        char *a = ow_lapack_at(l, qr, k), *factors = ow_lapack_at(l, tau, k);
        if (blocked) {
            factorize_panels(l, m, n, a, t, work);
            for (int64_t i = 0; i < least; i++) /* tau is the diagonal of each T, which stand side by side */
                memcpy(factors + i * item, t + (i * PANEL + i % PANEL) * item, (size_t)item);
        } else geqrf[l->letter](&m, &n, a, &leading, factors, work, &size, &status);
        if (r->numel) copy_triangle(l, ow_lapack_at(l, r, k), a, l->flags[0], m, n);
    }
    return ow_lapack_end(token);
}

const ow_lapack_routine ow_lapack_geqrf = {.inputs = "mn", .results = "=0,l,rn", .check = check_geqrf, .run = run_geqrf};

/* The first n columns of the product of `count` reflections, by panels from the last to the first: each changes nothing
 * of the unit matrix above itself and to its left. `work` holds (n + PANEL) PANEL elements. */
static void multiply_panels(const ow_lapack *l, int64_t m, int64_t n, int64_t count, const char *v, const char *tau,
                            char *q, char *work) {
    int64_t item = ow_itemsize(l->dtype);
    char *t = work + n * PANEL * item;
    reflector r = {.l = l, .trans = "N", .t = t, .lda = m, .work = work};
    laset[l->letter]("A", &m, &n, ow_lapack_number(l, 0), ow_lapack_number(l, 1), q, &m, 1);
    for (int64_t done = (count - 1) / PANEL * PANEL; done >= 0; done -= PANEL) {
        int64_t start = (done + done * m) * item;
        r.rows = m - done, r.count = ow_min(PANEL, count - done);
        r.v = v + start, r.c = q + start;
        larft[l->letter]("F", "C", &r.rows, &r.count, r.v, &m, tau + done * item, t, &panel, 1, 1);
        reflect(&r, n - done);
    }
}

/* (reflections, tau, columns) -> that many columns of Q */
static int check_orgqr(ow_lapack *l) {
    int64_t columns = *ow_lapack_size(l, 'n') = l->flags[0];
    return are_reflections(l) && is_count(l, columns, *ow_lapack_size(l, 'm')) && is_count(l, *ow_lapack_size(l, 'k'), columns);
}

static int run_orgqr(ow_lapack *l) {
    const ow_tensor *from = ow_lapack_columns(l, 0), *tau = ow_lapack_lines(l, 1), *q = l->results[0];
    if (!from || !tau) return 0;
    int64_t m = ow_lapack_rows(from), n = l->flags[0], leading = ow_lapack_leading(m), status;
    int64_t count = tau->sizes[tau->ndim - 1], width = ow_lapack_width(from), item = ow_itemsize(l->dtype);
    int blocked = count >= BLOCKED;
    int64_t size = blocked ? (n + PANEL) * PANEL : 0;
    double _Complex first = 0;
    if (!blocked) {
        orgqr[l->letter](&m, &n, &count, NULL, &leading, NULL, &first, &query, &status);
        size = ow_lapack_work_size(l, &first);
    }
    void *work = ow_lapack_work(l, size, item);
    if (!work) return 0;
    void *token = ow_lapack_begin(l, 2 * (double)m * (double)n * (double)count, OW_LAPACK_ALONE);
    for (int64_t k = 0; ow_lapack_has(l, k) && q->numel; k++) {
        char *a = ow_lapack_at(l, q, k);
        if (blocked) {
            multiply_panels(l, m, n, count, ow_lapack_at(l, from, k), ow_lapack_at(l, tau, k), a, work);
            continue;
        }
        if (from->numel) memcpy(a, ow_lapack_at(l, from, k), (size_t)(m * (n < width ? n : width) * item));
        orgqr[l->letter](&m, &n, &count, a, &leading, ow_lapack_at(l, tau, k), work, &size, &status);
    }
    return ow_lapack_end(token);
}

const ow_lapack_routine ow_lapack_orgqr = {.inputs = "mw,k", .results = "mn", .check = check_orgqr, .run = run_orgqr};

/* (reflections, tau, C, left, transpose) -> Q C or C Q, or with the conjugate transpose of Q */
static int check_ormqr(ow_lapack *l) {
    return ow_lapack_fits(l, l->flags[0] ? "mw,k,mn" : "nw,k,mn") && are_reflections(l);
}

static int run_ormqr(ow_lapack *l) {
    const ow_tensor *from = ow_lapack_columns(l, 0), *tau = ow_lapack_lines(l, 1), *c = l->results[0];
    if (!from || !tau) return 0;
    const char *side = l->flags[0] ? "L" : "R", *trans = !l->flags[1] ? "N" : ow_lapack_is_complex(l) ? "C" : "T";
    int64_t m = ow_lapack_rows(c), n = ow_lapack_width(c), count = tau->sizes[tau->ndim - 1], status;
    int64_t leading = ow_lapack_leading(m), lda = ow_lapack_leading(ow_lapack_rows(from));
    double _Complex first = 0;
    ormqr[l->letter](side, trans, &m, &n, &count, NULL, &lda, NULL, NULL, &leading, &first, &query, &status, 1, 1);
    int64_t size = ow_lapack_work_size(l, &first);
    void *work = ow_lapack_work(l, size, ow_itemsize(l->dtype));
    if (!work) return 0;
    void *token = ow_lapack_begin(l, 2 * (double)m * (double)n * (double)count, OW_LAPACK_SHARED);
    for (int64_t k = 0; ow_lapack_has(l, k) && c->numel; k++)
        ormqr[l->letter](side, trans, &m, &n, &count, ow_lapack_at(l, from, k), &lda, ow_lapack_at(l, tau, k),
                         ow_lapack_at(l, c, k), &leading, work, &size, &status, 1, 1);
    return ow_lapack_end(token);
}

const ow_lapack_routine ow_lapack_ormqr = {.inputs = "", .results = "=2", .check = check_ormqr, .run = run_ormqr};
