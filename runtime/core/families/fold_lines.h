/* The lines of a fold, and what runs along them. Internal to the driver of folds. */
#ifndef OPWEAVE_FOLD_LINES_H
#define OPWEAVE_FOLD_LINES_H

#include "elementwise.h"
#include "iterate.h"

typedef struct {
    int64_t size;
    int64_t stride[OW_MAX_OPERANDS]; /* bytes; 0 where the operand is the same */
} ow_fold_axis;

typedef struct {
    const ow_op *op;
    const ow_fold_kernels *kernels;
    ow_scalar params[OW_MAX_PARAMS];
    int nresults, noperands; /* results come first */
    int is_scan, within;     /* `within`: the lanes are elements of one line */
    char *data[OW_MAX_OPERANDS];
    int64_t itemsize[OW_MAX_OPERANDS]; /* in the kernel */
    ow_cast cast[OW_MAX_OPERANDS];     /* between memory and the kernel; NULL: none is needed */
    ow_cast move[OW_MAX_OPERANDS];     /* the same, or a copy */
    ow_fold_axis line;
    int naxes;
    ow_fold_axis axes[OW_MAX_DIMS]; /* the other dimensions, fastest first */
    int64_t number, units;
    char *states; /* of all units of all lines, where lines have several; else NULL */
} ow_fold_lines;

/* Runs along all lines, with the pool's threads: 1, or 0 with the error set. */
int ow_fold_run(ow_fold_lines *f);

#endif
