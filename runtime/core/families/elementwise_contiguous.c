/* Elementwise operators on contiguous tensors of one shape and dtype, the last of which may be a number: one loop over
 * memory, with nothing to broadcast. */
#include "elementwise.h"
#include "iterate.h"
#include "tensor/storage.h"

/* Elements in a row must not pay for a thread switch or a lock twice: contiguous operands run as one long row. */
static int run_contiguous(double cost, ow_loop loop, const ow_scalar *params, int noperands, char *const *data,
                          const int64_t *strides, int64_t n) {
    if ((double)n * cost < 16384) return loop(data, strides, n, params, 0);
    ow_iter iter;
    iter.noperands = noperands;
    iter.written = 1;
    iter.ndim = 1;
    iter.numel = iter.shape[0] = n;
    for (int k = 0; k < noperands; k++) {
        iter.data[k] = data[k];
        iter.strides[k][0] = strides[k];
        iter.cast[k] = NULL;
    }
    iter.rows = 0;
    return ow_iter_run(&iter, loop, params, cost);
}

#define FEW 64 /* what is converted on the stack */

/* At most FEW contiguous elements of a dtype that has no loop (halves, uint16) through that of the wider dtype in which it
 * is computed; a number is of that dtype already. */
static int run_widened(const ow_op *op, int narrow, ow_loop loop, const ow_scalar *params, char *const *data,
                       const int64_t *strides, int64_t n) {
    _Alignas(64) char wide[OW_MAX_INPUTS + 1][FEW * sizeof(double)]; /* none is wider than complex64 */
    int dtype = ow_compute_dtype[narrow];
    int64_t itemsize = ow_itemsize(dtype), wide_strides[OW_MAX_INPUTS + 1];
    char *wide_data[OW_MAX_INPUTS + 1];
    for (int k = 0; k <= op->ninputs; k++) {
        int is_taken = k ? !strides[k] : op->promotion == OW_PROMOTE_ALWAYS_BOOL;
        wide_data[k] = is_taken ? data[k] : wide[k];
        wide_strides[k] = is_taken ? strides[k] : itemsize;
        if (k && !is_taken) ow_cast_loop(dtype, narrow)(wide[k], itemsize, data[k], strides[k], n);
    }
    int status = loop(wide_data, wide_strides, n, params, 0);
    if (wide_data[0] != data[0]) ow_cast_loop(narrow, dtype)(data[0], strides[0], wide[0], itemsize, n);
    return status;
}

/* 1 if the strides are those of a new contiguous tensor, also in dimensions where they do not matter. Beside a number, as
 * beside any input of another shape, torch lets even these decide about the strides of the result. */
static int has_usual_strides(const ow_tensor *t) {
    int64_t expected = 1;
    for (int d = t->ndim - 1; d >= 0; d--) {
        if (t->strides[d] != expected) return 0;
        expected *= t->sizes[d];
    }
    return t->numel > 0;
}

ow_tensor *ow_elementwise_contiguous(const ow_op *op, ow_tensor *const *inputs, ow_tensor *const *params, ow_tensor *out,
                                     int *done) {
    const ow_tensor *first = inputs[0];
    _Alignas(16) char number[OW_MAX_ITEMSIZE];
    char *data[OW_MAX_INPUTS + 1];
    int64_t strides[OW_MAX_INPUTS + 1];
    *done = 0;
    if (!(first->flags & OW_CONTIGUOUS) || first->flags & OW_NUMBER) return NULL;
    int compute = first->dtype;
    if (!(op->dtypes >> compute & 1)) return NULL;
    /* Rows of halves take a number in float32. */
    int loaded = ow_compute_dtype[compute];
    /* Without a loop of this dtype, few elements are converted here. */
    int widens = !ow_loop_of(op, compute, 0);
    if (widens && (loaded == compute || first->numel > FEW)) return NULL;
    int taken = widens ? loaded : compute;
    ow_loop loop = ow_loop_of(op, taken, !params);
    if (!loop) return NULL;
    int promoted = ow_promoted_dtype(op, compute), result = ow_part_dtype(op, promoted);
    if (op->own[0] || (promoted != compute && op->promotion != OW_PROMOTE_ALWAYS_BOOL)) return NULL;
    if (widens && result != promoted) return NULL; /* run_widened narrows to the dtype that it widened */
    int64_t itemsize = ow_itemsize(compute);
    data[1] = first->data;
    strides[1] = itemsize;
    for (int k = 0; k < op->ninputs; k++)
        if (op->fixed[k] != OW_PROMOTED || !inputs[k]) return NULL;
    for (int k = 1; k < op->ninputs; k++) {
        const ow_tensor *t = inputs[k];
        if (t->flags & OW_NUMBER) {
            /* A number does not change the dtype when its category is not above the tensor's. */
            if (k != op->ninputs - 1 || ow_dtype_kinds[t->dtype] > ow_dtype_kinds[compute] || op->natural[k]) return NULL;
            if (!(op->dtypes >> t->dtype & 1) && ow_refusal(op, t->dtype)) return NULL;
            if (!ow_check_fitting(op, t, compute) || !ow_check_in_range(op, inputs, params, compute)) {
                *done = 1;
                return NULL;
            }
            int rounds = loaded != compute && !ow_keeps_element(op, k, t, compute);
            ow_load_number(t, rounds ? compute : loaded, number);
            if (rounds) ow_cast_loop(loaded, compute)(number, 0, number, 0, 1);
            data[k + 1] = number;
            strides[k + 1] = 0;
        } else {
            if (t->dtype != compute || !(t->flags & OW_CONTIGUOUS) || !ow_has_shape(t, first->ndim, first->sizes)) return NULL;
            data[k + 1] = t->data;
            strides[k + 1] = itemsize;
        }
    }
    ow_scalar values[OW_MAX_PARAMS];
    const ow_resolved r = {.common = compute, .compute = loaded, .result = result};
    int reads_params = op->nparams && (loop == ow_loop_of(op, taken, 0) || op->requirements);
    if (reads_params && (!ow_load_params(op, params, &r, values) || !ow_check_in_range(op, inputs, params, compute))) {
        *done = 1;
        return NULL;
    }
    int is_new = !out;
    if (out) {
        if (out->dtype != result || !(out->flags & OW_CONTIGUOUS) || !ow_has_shape(out, first->ndim, first->sizes)) return NULL;
        /* The general driver checks for partial overlap; arrays of NumPy have it with tensors of other storages. */
        const char *begin = out->data, *end = begin + out->numel * ow_itemsize(result);
        for (int k = 0; k < op->ninputs; k++)
            if (inputs[k] != out && !(inputs[k]->flags & OW_NUMBER) && inputs[k]->data < end &&
                inputs[k]->data + inputs[k]->numel * itemsize > begin)
                return NULL;
        if (ow_is_guarded(out->storage)) return NULL;
        out->storage->version++;
    } else {
        if (data[op->ninputs] == number && first->ndim > 1 && !has_usual_strides(first)) return NULL;
        out = ow_tensor_new(result, first->ndim, first->sizes, NULL);
        *done = 1;
        if (!out) return NULL;
    }
    *done = 1;
    data[0] = out->data;
    strides[0] = ow_itemsize(result);
    int status = widens ? run_widened(op, compute, loop, values, data, strides, first->numel)
                        : run_contiguous(ow_cost_of(op, compute), loop, values, op->ninputs + 1, data, strides, first->numel);
    if (!status) return out;
    if (is_new) ow_tensor_free(out);
    return ow_loop_failed(op, status);
}
