/* Solutions with small triangles, compiled once for each instruction-set level. */
#ifndef OPWEAVE_TRIANGLE_KERNELS_H
#define OPWEAVE_TRIANGLE_KERNELS_H

#include <stdint.h>

/* Rows of a triangle at most. */
#define OW_TRIANGLE_ROWS 32

/* Overwrites columns of n rows, each `pitch` elements behind the one before it, by the solution with a triangle, whose element
 * (i, j) is a[i * down + j * across]. The last rows are solved for first where the triangle is an upper one. A unit diagonal
 * is not read, nor is the other triangle. Rounding depends neither on the other columns nor on their number. */
typedef void ow_solve_triangle(const void *a, int64_t down, int64_t across, int64_t n, int is_upper, int is_unit, void *x,
                               int64_t pitch, int64_t columns);

#endif
