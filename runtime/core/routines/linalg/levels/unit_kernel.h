/* Products of two matrices that are packed in units of 32 bits: pairs of halves, or two or four bytes. */
#ifndef OPWEAVE_UNIT_KERNEL_H
#define OPWEAVE_UNIT_KERNEL_H

#include <stdint.h>

/* Lines, rows of the first matrix and columns of the second one, are packed in panels of some lines. A unit holds
 * consecutive elements of a line; it is followed by the same unit of the next line, and those of all lines by the next
 * units. Matrix tiles take the first matrix in another order: sixteen units of a line, then those of the next line.
 *
 * Packs `count` lines of `inner` elements, and zeros behind them. What follows is for bytes: `flip` is added to each, modulo
 * 256, `is_signed` says what they become, and sums[i] becomes the sum of a line so, unless it is NULL. Strides count elements. */
typedef void ow_pack_lines(uint32_t *to, const void *from, int64_t line_stride, int64_t inner_stride, int64_t count,
                           int64_t inner, uint8_t flip, int is_signed, int32_t *sums);

/* Stores a tile of sums, in rows of `width`, whose first element is at `row` and `column` of the result. */
typedef void ow_store_tile(const void *result, const void *sums, int width, int64_t row, int64_t column, int64_t rows,
                           int64_t columns);

typedef struct ow_unit_kernel {
    int unit;          /* elements of a line in 32 bits */
    int rows, columns; /* lines of a panel of the first and of the second matrix: a tile of the result */
    int step;          /* panels have a multiple of so many units */
    int reads_rows;    /* 1 if rows of the first matrix are read where they lie, if each has a multiple of `step` units */
    int is_mixed;      /* 1 if bytes of the first matrix must be signed, and those of the second one not */
    ow_pack_lines *pack_rows, *pack_columns;
    void (*begin)(void), (*end)(void); /* what a thread calls before and after its products, or NULL */
    /* Adds the product of `units` units of two panels to a tile of 32-bit sums, in rows of `columns`; or begins the sums
     * with it. In the first matrix `line` bytes lie between lines, and `next` between one `step` and the next one. */
    void (*multiply)(void *sums, const void *a, int64_t line, int64_t next, const uint32_t *b, int64_t units, int begins);
} ow_unit_kernel;

#endif
