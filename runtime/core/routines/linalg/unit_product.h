/* Products of two matrices that are packed in panels of lines: the pool's threads multiply them tile by tile of the result. */
#ifndef OPWEAVE_UNIT_PRODUCT_H
#define OPWEAVE_UNIT_PRODUCT_H

#include "routines/linalg/blas.h"
#include "routines/linalg/levels/unit_kernel.h"

/* One of the two matrices. Its lines are rows of the first matrix and columns of the second one. */
typedef struct ow_panels {
    const char *from;
    int64_t line_stride, inner_stride, lines; /* strides in elements */
    int64_t panels, unpacked;                 /* how many there are, and how many of them are read where they lie */
    ow_pack_lines *pack;
    int width; /* lines of a panel */
    uint8_t flip;
    int is_signed;
    uint32_t *to;
    int32_t *sums;
} ow_panels;

typedef struct ow_unit_product {
    const ow_unit_kernel *kernel;
    int size; /* of an element */
    ow_panels a, b;
    int64_t inner, units;
    ow_store_tile *store;
    const void *result; /* where it stores to */
} ow_unit_product;

/* A product of matrices of elements of so many bytes. Memory for panels, signs, sums of lines and the result are the caller's
 * to set. */
ow_unit_product ow_unit_product_of(const ow_unit_kernel *kernel, int size, const ow_matrix *a, const ow_matrix *b);
/* Words that the packed panels of a matrix take. */
int64_t ow_unit_words(const ow_unit_product *p, const ow_panels *m);
/* Packs both matrices, and multiplies them, without the GIL. */
void ow_unit_product_run(const ow_unit_product *p);
/* Additions that take as long. */
double ow_unit_product_work(const ow_unit_product *p);

#endif
