/* Integer products: blocked loops whose inner one runs along a row and vectorises; everything wraps. */
#include "blas.h"

#define COLUMNS 512 /* of a block of the result: a row of accumulators stays in the level-1 cache */

typedef struct {
    uint64_t alpha, beta;
    const ow_matrix *a, *b, *c;
    int64_t blocks; /* along the columns of the result */
} product;

static inline int64_t least(int64_t a, int64_t b) { return a < b ? a : b; }

/* Blocks [begin, end) of the result, each one row of at most COLUMNS elements. Unsigned types narrower than int would
 * be promoted to signed ones, whose overflow is undefined: products are formed in `wide`. */
#define PRODUCT(name, type, wide) \
    static void name(void *context, int64_t begin, int64_t end) { \
        const product *p = context; \
        const ow_matrix *a = p->a, *b = p->b, *c = p->c; \
        for (int64_t at = begin; at < end; at++) { \
            int64_t row = at / p->blocks, first = at % p->blocks * COLUMNS, n = least(c->columns - first, COLUMNS); \
            const type *left = (const type *)a->data + row * a->row_stride; \
            type *out = (type *)c->data + row * c->row_stride + first * c->column_stride; \
            type acc[COLUMNS] = {0}; \
            for (int64_t k = 0; k < a->columns; k++) { \
                wide factor = left[k * a->column_stride]; \
                const type *right = (const type *)b->data + k * b->row_stride + first * b->column_stride; \
                if (b->column_stride == 1) \
                    for (int64_t j = 0; j < n; j++) acc[j] = (type)(acc[j] + factor * right[j]); \
                else \
                    for (int64_t j = 0; j < n; j++) acc[j] = (type)(acc[j] + factor * right[j * b->column_stride]); \
            } \
            for (int64_t j = 0; j < n; j++) { \
                type *to = out + j * c->column_stride; \
                wide old = p->beta ? (wide)p->beta * *to : 0; \
                *to = (type)(old + (wide)p->alpha * acc[j]); \
            } \
        } \
    }
PRODUCT(product_8, uint8_t, uint32_t)
PRODUCT(product_16, uint16_t, uint32_t)
PRODUCT(product_32, uint32_t, uint32_t)
PRODUCT(product_64, uint64_t, uint64_t)

void ow_gemm_int(int dtype, int64_t alpha, const ow_matrix *a, const ow_matrix *b, int64_t beta, const ow_matrix *c) {
    static const ow_task tasks[9] = {[1] = product_8, [2] = product_16, [4] = product_32, [8] = product_64};
    product p = {(uint64_t)alpha, (uint64_t)beta, a, b, c, (c->columns + COLUMNS - 1) / COLUMNS};
    double work = (double)c->rows * (double)c->columns * (double)(a->columns + 1);
    int64_t rows = c->rows * p.blocks;
    ow_parallel_for(rows, 1 + (int64_t)(8192 / (work / (double)rows)), work, tasks[ow_itemsize(dtype)], &p);
}
