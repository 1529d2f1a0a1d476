/* Integer products: loops whose inner one runs along a row of the result and vectorises; everything wraps. */
#include "blas.h"

#define COLUMNS 512 /* of a block of the result: a row of accumulators stays in the level-1 cache */

typedef struct {
    uint64_t alpha, beta;
    const ow_matrix *a, *b, *c;
    int64_t blocks; /* along the columns of the result */
} product;

/* Blocks [begin, end) of the result, each one row of at most COLUMNS elements. Unsigned types narrower than int would
 * be promoted to signed ones, whose overflow is undefined: products are formed in `wide`. Rows of b are contiguous. */
#define PRODUCT(name, target, type, wide) \
    target static void name(void *context, int64_t begin, int64_t end) { \
        const product *p = context; \
        const ow_matrix *a = p->a, *b = p->b, *c = p->c; \
        int64_t inner = a->columns, step = a->column_stride, pitch = b->row_stride; \
        for (int64_t at = begin; at < end; at++) { \
            int64_t row = at / p->blocks, first = at % p->blocks * COLUMNS, n = ow_min(c->columns - first, COLUMNS), k = 0; \
            const type *left = (const type *)a->data + row * a->row_stride, *right = (const type *)b->data + first; \
            type *out = (type *)c->data + row * c->row_stride + first * c->column_stride; \
            type acc[COLUMNS] = {0}; \
            if (n == 1 && step == 1 && pitch == 1) { \
                wide sum = 0; \
                for (; k < inner; k++) sum += (wide)left[k] * right[k]; \
                acc[0] = (type)sum; \
            } \
            for (; k + 4 <= inner; k += 4) { \
                const type *r0 = right + k * pitch, *r1 = r0 + pitch, *r2 = r1 + pitch, *r3 = r2 + pitch; \
                wide f0 = left[k * step], f1 = left[(k + 1) * step], f2 = left[(k + 2) * step], f3 = left[(k + 3) * step]; \
                for (int64_t j = 0; j < n; j++) \
                    acc[j] = (type)(acc[j] + f0 * r0[j] + f1 * r1[j] + f2 * r2[j] + f3 * r3[j]); \
            } \
            for (; k < inner; k++) { \
                wide factor = left[k * step]; \
                for (int64_t j = 0; j < n; j++) acc[j] = (type)(acc[j] + factor * right[k * pitch + j]); \
            } \
            for (int64_t j = 0; j < n; j++) { \
                type *to = out + j * c->column_stride; \
                wide old = p->beta ? (wide)p->beta * *to : 0; \
                *to = (type)(old + (wide)p->alpha * acc[j]); \
            } \
        } \
    }
#define PRODUCTS(level, target) \
    PRODUCT(product_8_##level, target, uint8_t, uint32_t) \
    PRODUCT(product_16_##level, target, uint16_t, uint32_t) \
    PRODUCT(product_32_##level, target, uint32_t, uint32_t) \
    PRODUCT(product_64_##level, target, uint64_t, uint64_t) \
    static const ow_task tasks_##level[9] = { \
        [1] = product_8_##level, [2] = product_16_##level, [4] = product_32_##level, [8] = product_64_##level};

PRODUCTS(v1, )
#if OW_NLEVELS == 3
PRODUCTS(v3, __attribute__((target("arch=x86-64-v3"))))
PRODUCTS(v4, __attribute__((target("arch=x86-64-v4,prefer-vector-width=512"))))
static const ow_task *const tasks[OW_NLEVELS] = {tasks_v1, tasks_v3, tasks_v4};
#else
static const ow_task *const tasks[OW_NLEVELS] = {tasks_v1};
#endif

void ow_gemm_int(int dtype, int64_t alpha, const ow_matrix *a, const ow_matrix *b, int64_t beta, const ow_matrix *c) {
    product p = {(uint64_t)alpha, (uint64_t)beta, a, b, c, (c->columns + COLUMNS - 1) / COLUMNS};
    double work = (double)c->rows * (double)c->columns * (double)(a->columns + 1);
    int64_t rows = c->rows * p.blocks;
    ow_parallel_for(rows, 1 + (int64_t)(8192 / (work / (double)rows)), work, tasks[ow_level][ow_itemsize(dtype)], &p);
}
