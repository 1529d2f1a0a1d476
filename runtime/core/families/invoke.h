/* One call of an operator, whatever its family: what every caller fills in, and what every driver is given. */
#ifndef OPWEAVE_INVOKE_H
#define OPWEAVE_INVOKE_H

#include "families/plan.h"

struct ow_generator;

enum { OW_CALL_INTS = 4, OW_CALL_LISTS = 6, OW_CALL_REALS = 2, OW_CALL_RESULTS = OW_MAX_OUTPUTS };

typedef struct ow_call {
    const ow_op *op;
    ow_mode mode;
    ow_tensor *inputs[OW_MAX_INPUTS]; /* in schema order; NULL: absent */
    ow_tensor *params[OW_MAX_PARAMS]; /* number tensors; NULL: the default */
    int has_params;                   /* is any of them not the default? */
    ow_tensor *out;                   /* OW_OUT: where the result goes, the first of several; OW_INPLACE: the first input */
    int64_t ints[OW_CALL_INTS];       /* integers, truth values and words, in schema order; OW_NONE: None */
    int given;                        /* how many of `ints` there are, up to the last that is not None */
    double reals[OW_CALL_REALS];      /* arguments of type float that are no parameters of a kernel */
    ow_ints lists[OW_CALL_LISTS];     /* lists of integers, dimensions to reduce among them; n = -1: None */
    int all;                          /* ow_dims, where no dimensions to reduce were named */
    int keepdim;
    int dtype; /* -1: it follows from the inputs */
    ow_tensor *const *list; /* of an operator of a list of tensors */
    int count;              /* how many these are */
    struct ow_generator *generator;
    int64_t generator_device; /* whose tensors it fills; OW_NONE: any, of the default one */
    ow_tensor *results[OW_CALL_RESULTS]; /* those of the call; before it, with OW_OUT, where several results go */
} ow_call;

/* Everything absent, and the mode OW_NEW. */
static inline void ow_call_begin(ow_call *call, const ow_op *op) {
    call->op = op;
    call->mode = OW_NEW;
    call->has_params = call->given = call->all = call->keepdim = 0;
    call->out = NULL;
    call->dtype = -1;
    call->generator = NULL;
    call->generator_device = OW_NONE;
    call->list = NULL;
    call->count = 0;
    for (int k = 0; k < OW_MAX_INPUTS; k++) call->inputs[k] = NULL;
    for (int k = 0; k < OW_MAX_PARAMS; k++) call->params[k] = NULL;
    for (int k = 0; k < OW_CALL_INTS; k++) call->ints[k] = OW_NONE;
    for (int k = 0; k < OW_CALL_LISTS; k++) call->lists[k].n = -1;
    for (int k = 0; k < OW_CALL_REALS; k++) call->reals[k] = 0;
    for (int k = 0; k < OW_CALL_RESULTS; k++) call->results[k] = NULL;
}

/* Without dimensions an operator of a value and its position gives the value alone. */
int ow_first_alone(const ow_call *call);

/* Does the driver write into `out` itself, so that no result needs to be copied there? */
int ow_takes_out(const ow_op *op);

/* Calls the driver of the operator's family; it does not look at dispatch keys. How many results there are, or 0 with the
 * error set. In place and with `out` the only one is the tensor that was written. */
int ow_invoke(ow_call *call);
/* The same, after a look at the generator. */
int ow_invoke_here(ow_call *call);
/* The same for tensors on any device: where they have no memory, the driver infers what the result is. A factory that is not
 * given `out` makes its tensor on the thread's default device. */
int ow_invoke_anywhere(ow_call *call);
/* The same, but the results are only made and not computed: on the device of the tensors, for who computes there; or without
 * memory, on `meta`. The second is for new results of drivers that look at no element before they have made these. */
int ow_make_results(ow_call *call);
int ow_describe_results(ow_call *call);

/* Ends a routine, or a function that is given the whole call: has its results computed by `run` where they are. These are
 * `made` new ones in call->results, of which none is missing unless the error is set, or the tensor that is written. How many
 * there are; or 0 with the error set, and new ones are freed. */
int ow_execute_call(ow_call *call, int made, ow_plan_run *run, void *details);

#endif
