/* Products of packed matrices of bytes, compiled once for each instruction-set level. */
#ifndef OPWEAVE_BYTE_PRODUCT_KERNELS_H
#define OPWEAVE_BYTE_PRODUCT_KERNELS_H

#include <stdint.h>

/* Lines of bytes are packed in panels of some lines, and in a panel in units of 32 bits, which hold `unit` consecutive
 * elements of one line: pairs of 16 bits, or four bytes, those of the first matrix signed and those of the second one not.
 * A unit of each line follows another, then the next units. */
/* Packs `count` lines of `inner` elements as a panel. With four bytes in a unit, `flip` turns signed bytes into unsigned ones
 * or back, and `is_signed` says what they become. sums[i] becomes the sum of the elements of a line as they are packed, unless it is NULL. */
typedef void ow_pack_lines(int32_t *to, const uint8_t *from, int64_t line_stride, int64_t inner_stride, int64_t count,
                     int64_t inner, uint8_t flip, int is_signed, int32_t *sums);

typedef struct ow_byte_product {
    int unit;           /* elements of a line in 32 bits: 2 or 4 */
    int rows, columns;  /* lines of a panel of the first and of the second matrix: a tile of the result */
    ow_pack_lines *pack_rows, *pack_columns; /* of the first and of the second matrix */
    /* A tile of the result, in rows of `columns`: the product of two panels of `units` units. */
    void (*multiply)(int32_t *tile, const int32_t *a, const int32_t *b, int64_t units);
} ow_byte_product;

#endif
