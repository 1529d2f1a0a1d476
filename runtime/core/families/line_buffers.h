/* Lines of a tensor, one after the other, for operators whose work on a line does not divide into elements. */
#ifndef OPWEAVE_LINES_H
#define OPWEAVE_LINES_H

#include "driver.h"

#define OW_LINE_RESULTS 2

typedef struct ow_lines {
    const ow_tensor *self; /* whose lines they are: the argument, or a copy with the reduced dimensions at the end */
    ow_tensor *owned;      /* that copy, if there is one */
    int64_t length, number;
    int64_t stride; /* along a line, in bytes */
    int naxes;
    ow_axis axes[OW_MAX_DIMS]; /* of the other dimensions, last first: lines are numbered in the order of indices */
    int compute;    /* the dtype in which the task takes elements */
    ow_tensor *out[OW_LINE_RESULTS]; /* of the shape of self, written line by line; NULL: none */
    int out_compute[OW_LINE_RESULTS]; /* the dtypes in which the task gives them */
    int64_t out_stride[OW_LINE_RESULTS];
    ow_axis out_axes[OW_LINE_RESULTS][OW_MAX_DIMS];
} ow_lines;

/* The lines along a set of dimensions (bit d: dimension d). 1, or 0 with the error set. */
int ow_lines_begin(ow_lines *l, ow_tensor *self, uint64_t along, int compute);
/* Adds a result of the shape of self, which takes part only where the lines run along one dimension. */
void ow_lines_add(ow_lines *l, int index, ow_tensor *out, int compute, int64_t dim);
/* task(context, line, x, out): x are contiguous elements of the line, out where its results go. 1, or 0 when there is
 * no memory for lines that are not contiguous. `cost` is that of an element. */
typedef void ow_line_task(void *context, int64_t line, const char *x, char *const *out);
int ow_lines_run(const ow_lines *l, double cost, ow_line_task *task, void *context);
void ow_lines_end(ow_lines *l);

/* 1 if the `count` lines from line k on are `step` bytes apart. If that is the size of an element, they are side by
 * side like the columns of a matrix. */
static inline int ow_lines_are_apart(const ow_axis *axis, int naxes, int64_t k, int64_t count, int64_t step) {
    return naxes && axis->in == step && k % axis->size + count <= axis->size;
}

#endif
