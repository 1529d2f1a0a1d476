/* Singular value decompositions. */
#include "lapack.h"

typedef void gesdd_type(const char *job, const int64_t *m, const int64_t *n, void *a, const int64_t *lda, void *s, void *u,
                        const int64_t *ldu, void *vh, const int64_t *ldvh, void *work, const int64_t *lwork,
                        int64_t *iwork, int64_t *info, size_t);
typedef void complex_gesdd_type(const char *job, const int64_t *m, const int64_t *n, void *a, const int64_t *lda, void *s,
                                void *u, const int64_t *ldu, void *vh, const int64_t *ldvh, void *work,
                                const int64_t *lwork, void *rwork, int64_t *iwork, int64_t *info, size_t);
OW_LAPACK_PAIR(gesdd, gesdd_type, sgesdd, dgesdd)
OW_LAPACK_PAIR(complex_gesdd, complex_gesdd_type, cgesdd, zgesdd)

enum { NO_VECTORS, REDUCED, FULL, JOBS };

typedef struct {
    int64_t m, n, ldu, ldvh, lwork;
    void *work, *rwork;
    int64_t *iwork;
} svd_work;

static int64_t decompose(const ow_lapack *l, void *a, void *s, void *u, void *vh, const svd_work *w) {
    const char *job = &"NSA"[l->flags[0]];
    int64_t lda = ow_lapack_leading(w->m), status = 0;
    if (ow_lapack_is_complex(l))
        complex_gesdd[l->letter & 1](job, &w->m, &w->n, a, &lda, s, u, &w->ldu, vh, &w->ldvh, w->work, &w->lwork, w->rwork,
                                     w->iwork, &status, 1);
    else
        gesdd[l->letter](job, &w->m, &w->n, a, &lda, s, u, &w->ldu, vh, &w->ldvh, w->work, &w->lwork, w->iwork, &status, 1);
    return status;
}

/* Real numbers that the complex routine needs; LAPACK's documentation says how many. */
static int64_t real_work(const ow_lapack *l, int64_t least, int64_t most) {
    if (!ow_lapack_is_complex(l)) return 0;
    if (l->flags[0] == NO_VECTORS) return 7 * least;
    int64_t small = 5 * least * least + 5 * least, large = 2 * most * least + 2 * least * least + least;
    return small > large ? small : large;
}

/* The code of a matrix that is not finite: as LAPACK has it for NaN, and where it gives up for infinities. Values without
 * vectors are NaN then, and no failure. */
static int64_t refuse(const ow_lapack *l, ow_lapack_content content, int64_t least) {
    if (content == OW_NOT_A_NUMBER) return -4;
    return l->flags[0] == NO_VECTORS ? 0 : least > 1 ? least - 1 : 1;
}

/* (A, job) -> U, S, Vh, info; job is 0 for values alone, 1 for as many vectors as values, 2 for all vectors */
static int size_vectors(ow_lapack *l) {
    int64_t m = *ow_lapack_size(l, 'm'), n = *ow_lapack_size(l, 'n'), least = *ow_lapack_size(l, 'l'), job = l->flags[0];
    *ow_lapack_size(l, 'u') = job ? m : 0;
    *ow_lapack_size(l, 'c') = job == FULL ? m : job ? least : 0;
    *ow_lapack_size(l, 'r') = job == FULL ? n : job ? least : 0;
    *ow_lapack_size(l, 'v') = job ? n : 0;
    return 1;
}

static int run_gesdd(ow_lapack *l) {
    const ow_tensor *u = l->results[0], *s = l->results[1], *vh = l->results[2], *info = l->results[3];
    const ow_tensor *from = l->inputs[0], *a = ow_lapack_scratch(l, 0);
    int64_t m = ow_lapack_rows(from), n = ow_lapack_width(from), least = m < n ? m : n, most = m < n ? n : m;
    double _Complex first = 0;
    svd_work w = {m, n, ow_lapack_leading(m), ow_lapack_leading(ow_lapack_rows(vh)), -1, &first, NULL, NULL};
    decompose(l, NULL, NULL, NULL, NULL, &w);
    w.lwork = ow_lapack_work_size(l, &first);
    w.work = ow_lapack_work(l, w.lwork, ow_itemsize(l->dtype));
    w.rwork = ow_lapack_work(l, real_work(l, least, most), ow_itemsize(l->real_dtype));
    w.iwork = ow_lapack_work(l, 8 * least, sizeof(int64_t));
    if (!a || !w.work || !w.rwork || !w.iwork) return 0;
    void *token = ow_lapack_begin(l, 20 * (double)m * (double)n * (double)least, OW_LAPACK_SHARED);
    for (int64_t k = 0; ow_lapack_has(l, k); k++) {
        int64_t status = 0;
        ow_lapack_content content = ow_lapack_look(l, ow_lapack_at(l, a, k), m, n, OW_WHOLE);
        if (content != OW_FINITE) {
            for (int index = 0; index < 3; index++) ow_lapack_forget(l, l->results[index], k);
            status = refuse(l, content, least);
        } else if (least)
            status = decompose(l, ow_lapack_at(l, a, k), ow_lapack_at(l, s, k), ow_lapack_at(l, u, k),
                               ow_lapack_at(l, vh, k), &w);
        ow_lapack_narrow(ow_lapack_at(l, info, k), &status, 1);
    }
    return ow_lapack_end(token);
}

const ow_lapack_routine ow_lapack_gesdd = {.inputs = "mn", .results = "uc,~l,rv,#", .options = JOBS, .check = size_vectors, .run = run_gesdd};
