/* What computes on a device of a program's own: functions over plans, registered with the device (library.Device). */
#ifndef OPWEAVE_DEVICE_H
#define OPWEAVE_DEVICE_H

#ifndef OW_NLEVELS
#define OW_NLEVELS 1 /* of the CPU's kernels, of which a device knows nothing */
#endif
#include "opweave.h"

/* A tensor of a plan. A number, and a tensor of the CPU without dimensions, is in memory of the CPU. */
typedef struct ow_operand {
    void *data; /* the first element; NULL: an input that is absent */
    int dtype;
    int ndim;
    int on_cpu;
    const int64_t *sizes, *strides; /* strides in elements */
} ow_operand;

/* A call whose results are made and not computed. */
typedef struct ow_device_plan {
    const char *name; /* of the operator */
    ow_family family;
    int index; /* which device of the kind */
    int ninputs, nresults, nparams;
    const ow_operand *inputs, *results;
    int compute;             /* dtype of computation */
    const ow_scalar *params; /* in it */
    uint64_t along;          /* dimensions that are reduced or scanned: bit d for dimension d of the inputs, broadcast */
    const int64_t *ints; /* arguments that are integers, truth values and words, in schema order; OW_NONE: None */
    const double *reals; /* those of type float that are no parameters */
    const ow_ints *lists; /* lists of integers; n = -1: None */
    int nints, nreals, nlists;
} ow_device_plan;

/* 1: the results are computed, or will be before the device is next synchronized with; 0: it has failed; -1: it has no
 * kernel for such a plan. */
typedef int ow_device_run(const ow_device_plan *plan);

#endif
