/* Many calls of an elementwise operator, each of which writes its results over its first inputs: the step of an optimizer for
 * all parameters. Those whose tensors have one dtype and one order of memory are one loop, which threads share. */
#include "elementwise.h"
#include "tensor/storage.h"

#include <stdlib.h>

typedef struct {
    const ow_op *op;
    ow_loop loop;
    const ow_scalar *params;
    ow_tensor *const *rows; /* the inputs of each call */
    const int64_t *ends;    /* how many elements there are up to the end of each */
    int64_t n, itemsize;
    int status; /* the last error that a thread met */
} joined;

/* The loop for tensors of this dtype that all are taken and written as they are; NULL: there is none. */
static ow_loop loop_of(const ow_op *op, int dtype) {
    if (!(op->dtypes >> dtype & 1) || ow_result_dtype(op, dtype) != dtype) return NULL;
    for (int k = 0; k < op->ninputs; k++)
        if (op->fixed[k] != OW_PROMOTED) return NULL;
    for (int k = 0; k < op->results; k++)
        if (op->own[k]) return NULL;
    return ow_compute_dtype[dtype] == dtype ? ow_loop_of(op, dtype, 0) : NULL;
}

/* Have all inputs the dtype, the shape and the order of memory of the first, without gaps? */
static int is_alike(const ow_op *op, ow_tensor *const *inputs, int dtype) {
    const ow_tensor *first = inputs[0];
    if (first->dtype != dtype || !(first->flags & OW_DENSE)) return 0;
    for (int k = 1; k < op->ninputs; k++) {
        const ow_tensor *t = inputs[k];
        if (t->dtype != dtype || !ow_has_shape(t, first->ndim, first->sizes)) return 0;
        if (first->flags & t->flags & OW_CONTIGUOUS) continue;
        if (memcmp(t->strides, first->strides, sizeof(int64_t) * (size_t)first->ndim)) return 0;
    }
    return 1;
}

/* Elements [begin, end) of all calls, one after the other. */
static void run_range(void *context, int64_t begin, int64_t end) {
    joined *all = context;
    const int written = all->op->results, ninputs = all->op->ninputs;
    char *data[OW_MAX_INPUTS + OW_MAX_OUTPUTS];
    int64_t stride[OW_MAX_INPUTS + OW_MAX_OUTPUTS], low = 0, high = all->n;
    for (int k = 0; k < written + ninputs; k++) stride[k] = all->itemsize;
    while (low < high) { /* the first call that ends behind `begin` */
        int64_t middle = (low + high) / 2;
        if (all->ends[middle] > begin) high = middle;
        else low = middle + 1;
    }
    for (int64_t at = low; begin < end; at++) {
        const int64_t done = begin - (at ? all->ends[at - 1] : 0), stop = all->ends[at] < end ? all->ends[at] : end;
        for (int k = 0; k < ninputs; k++) data[written + k] = all->rows[at * ninputs + k]->data + done * all->itemsize;
        for (int k = 0; k < written; k++) data[k] = data[written + k];
        int status = all->loop(data, stride, stop - begin, all->params, 0);
        if (status) __atomic_store_n(&all->status, status, __ATOMIC_RELAXED);
        begin = stop;
    }
}

static int by_address(const void *left, const void *right) {
    const char *a = (*(ow_tensor *const *)left)->data, *b = (*(ow_tensor *const *)right)->data;
    return (a > b) - (a < b);
}

/* May threads write to several of them at a time: does none of the tensors that are written share memory with another? */
static int is_apart(const joined *all) {
    const int written = all->op->results;
    const int64_t count = all->n * written;
    ow_tensor **tensors = malloc((size_t)count * sizeof *tensors);
    int apart = tensors != NULL;
    for (int64_t k = 0; apart && k < count; k++) tensors[k] = all->rows[k / written * all->op->ninputs + k % written];
    if (apart) qsort(tensors, (size_t)count, sizeof *tensors, by_address);
    for (int64_t k = 1; apart && k < count; k++)
        apart = tensors[k - 1]->data + tensors[k - 1]->numel * all->itemsize <= tensors[k]->data;
    free(tensors);
    return apart;
}

#define GRAIN 8192 /* float32 adds that are worth another thread */

static int run_joined(joined *all, double cost) {
    const int64_t total = all->ends[all->n - 1];
    const double work = (double)total * cost;
    int64_t grain = (int64_t)(GRAIN / cost) & ~(int64_t)(OW_BLOCK - 1);
    if (grain < OW_BLOCK) grain = OW_BLOCK;
    if (work < 2 * GRAIN || (ow_num_threads() > 1 && !is_apart(all))) run_range(all, 0, total);
    else if (!ow_long_for(total, grain, work, run_range, all)) return 0;
    if (all->status) ow_loop_failed(all->op, all->status);
    return !all->status;
}

/* One call, of tensors of any kind. */
static int run_one(const ow_op *op, ow_tensor *const *inputs, ow_tensor *const *params) {
    ow_tensor *results[OW_MAX_OUTPUTS];
    memcpy(results, inputs, sizeof *results * (size_t)op->results);
    if (op->results > 1) return ow_elementwise_several(op, inputs, params, results, OW_INPLACE);
    return ow_elementwise(op, inputs, params, inputs[0], OW_INPLACE) != NULL;
}

int ow_overwrite(const ow_op *op, ow_tensor **rows, int64_t n, ow_tensor *const *params) {
    const int ninputs = op->ninputs, dtype = n ? rows[0]->dtype : 0;
    const ow_resolved r = {.common = dtype, .taken = dtype, .compute = dtype, .result = dtype};
    ow_scalar values[OW_MAX_PARAMS];
    int64_t *ends = malloc((size_t)n * sizeof *ends), total = 0;
    joined all = {op, ends ? loop_of(op, dtype) : NULL, values, rows, ends, 0, ow_itemsize(dtype), OW_OK};
    int done = !all.loop || ow_load_params(op, params, &r, values);
    for (int64_t at = 0; done && at < n; at++) {
        ow_tensor **inputs = rows + at * ninputs;
        if (!all.loop || !is_alike(op, inputs, dtype)) {
            done = run_one(op, inputs, params);
            continue;
        }
        for (int k = 0; done && k < op->results; k++) done = ow_check_writable(inputs[k], inputs, ninputs);
        memmove(rows + all.n * ninputs, inputs, (size_t)ninputs * sizeof *inputs);
        ends[all.n++] = total += inputs[0]->numel;
    }
    if (done && total) done = run_joined(&all, ow_cost_of(op, dtype));
    free(ends);
    return done;
}
