/* Sums of products of elements that two tables of offsets lead to, compiled once for each instruction-set level. */
#ifndef OPWEAVE_PANEL_PRODUCT_KERNELS_H
#define OPWEAVE_PANEL_PRODUCT_KERNELS_H

#include <stdint.h>

/* A product of two matrices, whose elements (i, k) and (k, j) are left[left_rows[i] + left_inner[k]] and
 * right[right_inner[k] + right_columns[j]], to to[i * to_row + to_columns[j]]. What it is added to is `start`, a number for each
 * row, or if that is NULL nothing; with `adds`, what is there. */
typedef struct ow_panel_product {
    int64_t rows, inner, columns;
    const void *left, *right;
    const int64_t *left_rows, *left_inner, *right_inner, *right_columns;
    int64_t readable; /* elements from `right` on that are in memory, of which some behind those of the matrix may be read */
    void *to;
    int64_t to_row;
    const int64_t *to_columns;
    const void *start;
    int adds;
} ow_panel_product;

/* `inner` is at most OW_PANEL_BYTES / sizeof(element). Each element of a result is a sum in the order of the inner dimension,
 * whatever the size of the matrices. */
#define OW_PANEL_BYTES 1024
typedef struct ow_panel_kernel {
    int lanes;   /* of a vector, and */
    int vectors; /* how many of them a panel of the second matrix has at most */
    void (*multiply)(const ow_panel_product *p);
} ow_panel_kernel;

#endif
