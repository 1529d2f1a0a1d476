/* What a driver knows of a call once its results are there: all that is left is to compute them. */
#ifndef OPWEAVE_PLAN_H
#define OPWEAVE_PLAN_H

#include "tensor/tensor.h"

#include "abi/device.h"

typedef struct ow_plan {
    const ow_op *op;
    ow_tensor *const *inputs; /* as many as the operator has; NULL: absent */
    ow_tensor *const *results;
    int nresults;
    int compute;             /* dtype of computation */
    const ow_scalar *params; /* in it, as many as the operator has */
    uint64_t along;          /* dimensions that are reduced or scanned: bit d for dimension d of the inputs, broadcast */
    void *details;           /* what the driver knows besides, for its own run */
    const struct ow_call *call; /* the call, where it has more arguments than these; NULL: it has not */
} ow_plan;

/* Computes the results on the CPU. 1, or 0 with the error set. */
typedef int ow_plan_run(const ow_plan *plan);

/* Has results computed where they are: on the CPU by `run`, on a registered device by what it has registered for the family.
 * Nothing is computed on `meta`, and in a call that only makes results. 1, or 0 with the error set. */
int ow_execute(const ow_plan *plan, ow_plan_run *run);
/* The same on a registered device, whose results are made. */
int ow_execute_on_device(const ow_plan *plan, ow_device device);

/* Registers what computes plans of a family on a kind of device. */
int ow_set_device_run(int kind, const char *family, ow_device_run *run); /* 0 where there is no such family */
/* 1 if the kind of device has something that computes plans of the family. */
int ow_device_has_run(int kind, ow_family family);

#endif
