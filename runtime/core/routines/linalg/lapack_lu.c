/* LU factorizations, and what follows from them: solutions and inverses. */
#include "lapack.h"

#include "blas.h"

typedef void getrf_type(const int64_t *m, const int64_t *n, void *a, const int64_t *lda, int64_t *pivots, int64_t *info);
OW_LAPACK_VARIANTS(getrf, getrf_type)

/* ---- one matrix ---------------------------------------------------------------------------------------- */

typedef void laswp_type(const int64_t *n, void *a, const int64_t *lda, const int64_t *first, const int64_t *last,
                        const int64_t *pivots, const int64_t *step);
OW_LAPACK_VARIANTS(laswp, laswp_type)

enum {
    PANEL = 64,
    SWAPPED = 32 /* columns at least that a thread swaps rows of */
};

typedef struct {
    const ow_lapack *l;
    char *a;
    int64_t lda, first, last, step; /* the pivots that count, from 1 on; -1: the last one first */
    const int64_t *pivots;
} swap;

static void swap_columns(void *context, int64_t begin, int64_t end) {
    const swap *s = context;
    int64_t columns = end - begin;
    laswp[s->l->letter](&columns, s->a + begin * s->lda * ow_itemsize(s->l->dtype), &s->lda, &s->first, &s->last, s->pivots,
                        &s->step);
}

/* Swaps rows as the pivots say. */
static void swap_rows(const swap *s, int64_t columns) {
    if (ow_lapack_is_small(s->l, s->last)) {
        ow_lapack_small_swap(s->l, s->a, s->lda, s->last, s->pivots, s->step, columns);
        return;
    }
    double work = 8 * (double)columns * (double)(s->last - s->first + 1);
    ow_parallel_for(columns, SWAPPED, work, swap_columns, (void *)s);
}

/* OpenBLAS factorizes large matrices on two threads as slowly as on one. Halves are factorized one after the other here;
 * between them, nearly all work is products, which the pool shares out. Returns LAPACK's code. */
static int64_t factorize(const ow_lapack *l, int64_t m, int64_t n, char *a, int64_t lda, int64_t *pivots) {
    int64_t least = m < n ? m : n, status = 0, item = ow_itemsize(l->dtype);
    if (ow_lapack_is_small(l, m > n ? m : n)) return ow_lapack_small_lu(l, m, n, a, lda, pivots);
    if (least <= PANEL) {
        getrf[l->letter](&m, &n, a, &lda, pivots, &status);
        return status;
    }
    int64_t half = (least / 2 + PANEL - 1) / PANEL * PANEL, right = n - half, below = m - half;
    ow_triangle lower = {0, 1, 'N', half, a, lda};
    ow_matrix a12 = {a + half * lda * item, half, right, 1, lda, 0}, a21 = {a + half * item, below, half, 1, lda, 0};
    ow_matrix a22 = {a12.data + half * item, below, right, 1, lda, 0};
    status = factorize(l, m, half, a, lda, pivots);
    swap_rows(&(swap){l, a12.data, lda, 1, half, 1, pivots}, right);
    ow_lapack_solve_triangles(l, &lower, 1, right, a12.data, lda);
    ow_lapack_subtract(l, &a21, &a12, &a22);
    int64_t rest = factorize(l, below, right, a22.data, lda, pivots + half);
    for (int64_t i = half; i < least; i++) pivots[i] += half;
    swap_rows(&(swap){l, a, lda, half + 1, least, 1, pivots}, half);
    return status || !rest ? status : rest + half;
}

/* Solves with both factors of a matrix of n rows, or of its (conjugate) transposed. */
static void substitute(const ow_lapack *l, char trans, int64_t n, char *lu, int64_t lda, const int64_t *pivots,
                       int64_t columns, char *x, int64_t ldx) {
    int is_plain = trans == 'N';
    ow_triangle lower = {0, 1, trans, n, lu, lda}, upper = {1, 0, trans, n, lu, lda};
    ow_triangle factors[] = {is_plain ? lower : upper, is_plain ? upper : lower};
    if (is_plain) swap_rows(&(swap){l, x, ldx, 1, n, 1, pivots}, columns);
    ow_lapack_solve_triangles(l, factors, 2, columns, x, ldx);
    if (!is_plain) swap_rows(&(swap){l, x, ldx, 1, n, -1, pivots}, columns);
}

static void set_identity(const ow_lapack *l, int64_t n, char *x) {
    int64_t item = ow_itemsize(l->dtype);
    memset(x, 0, (size_t)(n * n * item));
    for (int64_t i = 0; i < n; i++, x += (n + 1) * item) /* of a complex number the real part, which comes first */
        if (l->letter & 1) *(double *)x = 1;
        else *(float *)x = 1;
}

/* ---- batches ------------------------------------------------------------------------------------------- */

static double cube(int64_t n) { return (double)n * (double)n * (double)n; }

/* What a routine has for each matrix; the rest is NULL. */
typedef struct {
    const ow_lapack *l;
    const ow_tensor *lu, *pivots, *info, *x;
    int64_t *wide; /* pivots of 64 bits */
} lu_batch;

static int64_t *pivots_at(const lu_batch *b, int64_t k) { return b->wide + k * ow_lapack_rows(b->lu); }

/* LAPACK's code, stored as info. */
static int64_t factorize_at(const lu_batch *b, int64_t k) {
    const ow_lapack *l = b->l;
    int64_t m = ow_lapack_rows(b->lu), n = ow_lapack_width(b->lu);
    int64_t status = factorize(l, m, n, ow_lapack_at(l, b->lu, k), ow_lapack_leading(m), pivots_at(b, k));
    if (b->pivots) ow_lapack_narrow(ow_lapack_at(l, b->pivots, k), pivots_at(b, k), m < n ? m : n);
    ow_lapack_narrow(ow_lapack_at(l, b->info, k), &status, 1);
    return status;
}

static void substitute_at(const lu_batch *b, int64_t k, char trans) {
    const ow_lapack *l = b->l;
    int64_t n = ow_lapack_rows(b->lu), leading = ow_lapack_leading(n), columns = ow_lapack_width(b->x);
    substitute(l, trans, n, ow_lapack_at(l, b->lu, k), leading, pivots_at(b, k), columns, ow_lapack_at(l, b->x, k), leading);
}

static void factorize_range(void *context, int64_t begin, int64_t end) {
    for (int64_t k = begin; k < end; k++) factorize_at(context, k);
}

static void substitute_range(void *context, int64_t begin, int64_t end) {
    const lu_batch *b = context;
    for (int64_t k = begin; k < end; k++) substitute_at(b, k, "NTC"[b->l->flags[0]]);
}

static void solve_range(void *context, int64_t begin, int64_t end) {
    const lu_batch *b = context;
    for (int64_t k = begin; k < end; k++)
        if (!factorize_at(b, k) && b->x->numel) substitute_at(b, k, "NTC"[b->l->flags[0]]);
}

static void invert_range(void *context, int64_t begin, int64_t end) {
    const lu_batch *b = context;
    int64_t n = ow_lapack_rows(b->lu);
    for (int64_t k = begin; k < end; k++) {
        char *x = ow_lapack_at(b->l, b->x, k);
        if (factorize_at(b, k)) {
            memcpy(x, ow_lapack_at(b->l, b->lu, k), (size_t)(n * n * ow_itemsize(b->l->dtype)));
        } else if (n) {
            set_identity(b->l, n, x);
            substitute_at(b, k, 'N');
        }
    }
}

/* Room for the pivots of all matrices, unless they are given, and the call. 1, or 0 with the error set. */
static int run(ow_lapack *l, lu_batch *b, ow_task task, double work) {
    b->l = l;
    if (!b->wide) b->wide = ow_lapack_work(l, l->batch * ow_lapack_rows(b->lu), sizeof(int64_t));
    if (!b->wide) return 0;
    void *token = ow_lapack_begin(l, work, OW_LAPACK_ALONE);
    ow_lapack_each(l, work, task, b);
    return ow_lapack_end(token);
}

/* (A) -> LU, pivots, info */
static int run_getrf(ow_lapack *l) {
    lu_batch b = {.lu = l->results[0], .pivots = l->results[1], .info = l->results[2]};
    int64_t m = ow_lapack_rows(b.lu), n = ow_lapack_width(b.lu), least = m < n ? m : n;
    return run(l, &b, factorize_range, (double)m * (double)n * (double)least);
}

const ow_lapack_routine ow_lapack_getrf = {.inputs = "mn", .results = "=0,#l,#", .run = run_getrf};

#define PROPERLY "Did you properly pass the result of lu_factor?"
#define SMALL_PIVOT "Pivots given to lu_solve must all be greater or equal to 1. "
#define LARGE_PIVOT "Pivots given to lu_solve must all be smaller or equal to LU.size(-2). "

/* The pivots as integers of 64 bits in memory of the call's own, every one of which names a row: others would have LAPACK
 * write beside the matrix, and what is checked in the tensor itself another thread may overwrite. NULL with the error
 * set. */
static int64_t *read_pivots(ow_lapack *l, const ow_tensor *pivots, int64_t rows, const char *too_small,
                            const char *too_large) {
    int64_t lowest = 1, highest = 1, *wide = ow_lapack_work(l, pivots->numel, sizeof(int64_t));
    if (!wide) return NULL;
    ow_lapack_widen(wide, pivots->data, pivots->numel);
    for (int64_t i = 0; i < pivots->numel; i++) {
        lowest = wide[i] < lowest ? wide[i] : lowest;
        highest = wide[i] > highest ? wide[i] : highest;
    }
    if (lowest < 1) return ow_fail(OW_RUNTIME_ERROR, "%s", too_small);
    if (highest > rows && pivots->numel) return ow_fail(OW_RUNTIME_ERROR, "%s", too_large);
    return wide;
}

/* (LU, pivots) -> the rows of the matrix in the order in which its factors have them */
static int run_laswp(ow_lapack *l) {
    static const char outside[] = "pivots passed to lu_unpack must be between 1 and LU.size(-2) inclusive." PROPERLY;
    int64_t m = ow_lapack_rows(l->inputs[0]);
    const ow_tensor *pivots = ow_lapack_lines(l, 1), *rows = l->results[0];
    const int64_t *wide = pivots ? read_pivots(l, pivots, m, outside, outside) : NULL;
    if (!wide) return 0;
    int64_t count = pivots->sizes[pivots->ndim - 1];
    for (int64_t k = 0; k < l->batch; k++) {
        int64_t *row = ow_lapack_at(l, rows, k);
        const int64_t *other = wide + k * count;
        for (int64_t i = 0; i < m; i++) row[i] = i;
        for (int64_t i = 0; i < count && i < m; i++) {
            int64_t moved = row[i];
            row[i] = row[other[i] - 1];
            row[other[i] - 1] = moved;
        }
    }
    return 1;
}

const ow_lapack_routine ow_lapack_laswp = {.inputs = "mn,#k", .results = "%m", .run = run_laswp};

/* (LU, pivots, B, trans) -> X; trans is 0 for A X = B, 1 for the transposed A, 2 for the conjugate transposed. */
static int run_getrs(ow_lapack *l) {
    lu_batch b = {.lu = ow_lapack_columns(l, 0), .pivots = ow_lapack_lines(l, 1), .x = l->results[0]};
    if (!b.lu || !b.pivots) return 0;
    int64_t n = ow_lapack_rows(b.lu);
    b.wide = read_pivots(l, b.pivots, n, SMALL_PIVOT PROPERLY, LARGE_PIVOT PROPERLY);
    if (!b.wide) return 0;
    return !b.x->numel || run(l, &b, substitute_range, (double)n * (double)n * (double)ow_lapack_width(b.x));
}

const ow_lapack_routine ow_lapack_getrs = {.inputs = "nn,#n,nk", .results = "=2", .options = 3, .run = run_getrs};

/* (A, B, trans) -> X, LU, pivots, info; as the two above. X of a singular matrix has the values that B has. */
static int run_gesv(ow_lapack *l) {
    lu_batch b = {.x = l->results[0], .lu = l->results[1], .pivots = l->results[2], .info = l->results[3]};
    int64_t n = ow_lapack_rows(b.lu);
    return run(l, &b, solve_range, cube(n) + (double)n * (double)n * (double)ow_lapack_width(b.x));
}

const ow_lapack_routine ow_lapack_gesv = {.inputs = "nn,nk", .results = "=1,=0,#n,#", .options = 3, .run = run_gesv};

/* (A) -> inverse, info; of a singular matrix the LU factors. */
static int run_getri(ow_lapack *l) {
    lu_batch b = {.lu = ow_lapack_scratch(l, 0), .x = l->results[0], .info = l->results[1]};
    return b.lu && run(l, &b, invert_range, 2 * cube(ow_lapack_rows(b.lu)));
}

const ow_lapack_routine ow_lapack_getri = {.inputs = "nn", .results = "nn,#", .run = run_getri};
