/* Sums of products of elements that two tables of offsets lead to, compiled once for each instruction-set level: by panels of
 * columns, or of lines of elements. */
#ifndef OPWEAVE_PANEL_PRODUCT_KERNELS_H
#define OPWEAVE_PANEL_PRODUCT_KERNELS_H

#include <stdint.h>

/* A product of two matrices, whose elements (i, k) and (k, j) are left[left_rows[i] + left_inner[k]] and
 * right[right_inner[k] + right_columns[j]], to to[i * to_row + to_columns[j]]. What it is added to is `start`, a number for each
 * row, or if that is NULL nothing; with `adds`, what is there.
 *
 * In a product of lines each inner position stands for `line` elements, which follow one another in the left matrix, and by
 * `step`, 1 or 2, in the right one. */
typedef struct ow_panel_product {
    int64_t rows, inner, columns;
    int64_t line, step;
    const void *left, *right;
    const int64_t *left_rows, *left_inner, *right_inner, *right_columns;
    int64_t left_readable, readable; /* elements from `left` and `right` on that are in memory: all of them may be read */
    void *to;
    int64_t to_row;
    const int64_t *to_columns;
    const void *start;
    int adds;
} ow_panel_product;

/* `inner` is at most OW_PANEL_BYTES / sizeof(element). Each element of a result is a sum in the order of the inner dimension, or
 * partial sums of lines in their order, whatever the number of rows and columns. */
#define OW_PANEL_BYTES 1024
typedef struct ow_panel_kernel {
    int lanes;   /* of a vector, and */
    int vectors; /* how many of them a panel of the second matrix has at most */
    int columns; /* whose sums along lines are computed together, at most */
    void (*multiply)(const ow_panel_product *p);
    void (*multiply_lines)(const ow_panel_product *p);
} ow_panel_kernel;

#endif
