/* Products of matrices of bfloat16 where the processor multiplies pairs of them. Sums are float32, in the order of the inner
 * dimension, so they do not depend on the number of threads. */
#include "routines/linalg/half_product.h"

#include "routines/linalg/unit_product.h"

ow_half_product ow_half_product_v1(void);
ow_half_product ow_half_product_v3(void);
ow_half_product ow_half_product_v4(void);

ow_half_product ow_half_product_now(void) {
#if OW_NLEVELS == 3
    if (ow_level == 2) return ow_half_product_v4();
    if (ow_level == 1) return ow_half_product_v3();
#endif
    return ow_half_product_v1();
}

enum {
    LEAST_EXTENT = 16, /* of matrices that are quicker packed than converted, unless their rows are read where they lie */
    LEAST_MULTIPLICATIONS = 1 << 16,
    BATCHES_BY_THREAD = 8 /* so many products are shared by the threads, of fewer the tiles of each */
};

int ow_half_product_suits(int dtype, const ow_matrix *a, const ow_matrix *b) {
    if (dtype != OW_BFLOAT16) return 0;
    const ow_half_product product = ow_half_product_now();
    if (!product.kernel || (double)a->rows * (double)a->columns * (double)b->columns < LEAST_MULTIPLICATIONS) return 0;
    const int64_t shortest = ow_min(ow_min(a->rows, b->columns), a->columns);
    return shortest >= (product.kernel->reads_rows ? 1 : LEAST_EXTENT);
}

/* The matrices of a batch, whose products a thread computes one after the other. */
typedef struct {
    ow_unit_product product;
    ow_half_result result;
    int64_t of_a, of_b, of_c, of_addend; /* from one matrix to the next one, in elements */
    int64_t words;                       /* of packed panels */
    int failed;                          /* for want of memory */
} batch;

/* Some of the products, in memory for the panels of one. */
static void multiply_some(void *context, int64_t begin, int64_t end) {
    batch *all = context;
    uint32_t *room = ow_alloc(4 * all->words);
    if (!room) __atomic_store_n(&all->failed, 1, __ATOMIC_RELAXED);
    for (int64_t n = begin; room && n < end; n++) {
        ow_half_result result = all->result;
        ow_unit_product p = all->product;
        p.a.from += 2 * n * all->of_a;
        p.b.from += 2 * n * all->of_b;
        p.a.to = room;
        p.b.to = room + ow_unit_words(&p, &p.a);
        p.result = &result;
        result.to += (result.is_wide ? 4 : 2) * n * all->of_c;
        if (result.addend) result.addend += n * all->of_addend;
        ow_unit_product_run(&p);
    }
    if (room) ow_dealloc(room, 4 * all->words);
}

static ow_matrix transposed(const ow_matrix *m) {
    return (ow_matrix){m->data, m->columns, m->rows, m->column_stride, m->row_stride, m->batch_stride};
}

/* 1 if the second matrix is better the first one of the transposed product: its columns are read where they lie, and it is
 * larger than the first one, or that cannot be read so. */
static int turns(const ow_unit_kernel *kernel, const ow_matrix *a, const ow_matrix *b) {
    return kernel->reads_rows && b->row_stride == 1 && (a->column_stride != 1 || b->columns > a->rows);
}

void ow_half_product_run(float alpha, const ow_matrix *a, const ow_matrix *b, float beta, const ow_matrix *addend,
                         const ow_matrix *c, int is_wide, int64_t batches) {
    const ow_half_product now = ow_half_product_now();
    const int turned = turns(now.kernel, a, b);
    const ow_matrix other[] = {transposed(b), transposed(a), transposed(c), addend ? transposed(addend) : *c};
    if (turned) a = &other[0], b = &other[1], c = &other[2], addend = addend ? &other[3] : NULL;
    batch all = {.product = ow_unit_product_of(now.kernel, 2, a, b),
                 .result = {alpha, beta, NULL, 0, 0, c->data, is_wide, c->row_stride, c->column_stride},
                 .of_a = a->batch_stride,
                 .of_b = b->batch_stride,
                 .of_c = c->batch_stride};
    if (addend) {
        all.result.addend = (const uint16_t *)addend->data;
        all.result.addend_row = addend->row_stride;
        all.result.addend_column = addend->column_stride;
        all.of_addend = addend->batch_stride;
    }
    all.product.store = now.store;
    all.words = ow_unit_words(&all.product, &all.product.a) + ow_unit_words(&all.product, &all.product.b);
    const double work = ow_unit_product_work(&all.product) * (double)batches;
    void *token = ow_gil_release(work < 1e15 ? (int64_t)work : INT64_MAX);
    if (batches < BATCHES_BY_THREAD) multiply_some(&all, 0, batches);
    else ow_parallel_for(batches, 1, work, multiply_some, &all);
    ow_gil_acquire(token);
    if (all.failed) ow_fail(OW_OUT_OF_MEMORY, "no memory for %lld bytes", (long long)(4 * all.words));
}
