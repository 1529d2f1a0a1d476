/* Sums of products of elements that two tables of offsets lead to, compiled once for each instruction-set level: by panels of
 * columns, or of lines of elements. */
#ifndef OPWEAVE_PANEL_PRODUCT_KERNELS_H
#define OPWEAVE_PANEL_PRODUCT_KERNELS_H

#include <stdint.h>

/* A product of two matrices, whose elements (i, k) and (k, j) are left[left_rows[i] + left_inner[k]] and
 * right[right_inner[k] + right_columns[j]], to to[i * to_row + to_columns[j]]. What it is added to is `addend`, a matrix whose
 * elements are addend[i * addend_row + to_columns[j]], which may be `to`; or if that is NULL `start`, a number for each row; or
 * if that is NULL nothing.
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
    const void *start, *addend;
    int64_t addend_row;
} ow_panel_product;

/* Each element of a result is a sum in the order of the inner dimension, or partial sums of lines in their order, whatever the
 * number of rows and columns. A panel is some columns of the second matrix beside one another, in whole vectors, of which the
 * last has anything behind the columns. */
#define OW_PANEL_BYTES 1024
typedef struct ow_panel_kernel {
    int lanes;   /* of a vector, and */
    int vectors; /* how many of them a panel of the second matrix has at most */
    int columns; /* whose sums along lines are computed together, at most */
    /* `inner` is at most OW_PANEL_BYTES / sizeof(element). */
    void (*multiply)(const ow_panel_product *p);
    void (*multiply_lines)(const ow_panel_product *p);
    /* Copies `columns` columns from `first` on to a panel of `count` vectors, which one more may follow; and multiplies by such
     * a panel, whose columns are those of the product from `first` on. */
    void (*pack)(const ow_panel_product *p, int64_t first, int columns, int count, void *panel);
    void (*multiply_panel)(const ow_panel_product *p, int64_t first, int columns, int count, const void *panel);
} ow_panel_kernel;

#endif
