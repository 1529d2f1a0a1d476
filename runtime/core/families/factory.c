/* The driver of factories: tensors whose elements are computed from parameters and their position. */
#include "driver.h"
#include "plan.h"

typedef struct {
    ow_loop loop;
    const ow_scalar *params;
    char *out;
    int64_t size;    /* bytes of an element of the result */
    int64_t compute; /* bytes of an element that the loop writes */
    ow_cast store;   /* NULL: the loop writes the result itself */
} fill_state;

/* Elements [begin, end) of a contiguous result. */
static void fill(void *context, int64_t begin, int64_t end) {
    const fill_state *f = context;
    if (!f->store) {
        char *to = f->out + begin * f->size;
        f->loop(&to, &f->size, end - begin, f->params, begin);
        return;
    }
    _Alignas(64) char buffer[OW_BLOCK * OW_MAX_ITEMSIZE];
    for (int64_t at = begin; at < end; at += OW_BLOCK) {
        int64_t count = end - at < OW_BLOCK ? end - at : OW_BLOCK;
        char *to = buffer;
        f->loop(&to, &f->compute, count, f->params, at);
        f->store(f->out + at * f->size, f->size, buffer, f->compute, count);
    }
}

/* As in torch, a single parameter is what is stored and must fit the dtype; several make up a sequence, which is computed
 * in the widest dtype of the kind and may wrap. */
static int load_params(const ow_op *op, ow_tensor *const *params, int dtype, int64_t numel, ow_scalar *values) {
    int floating = ow_dtype_kinds[dtype] == OW_KIND_FLOATING;
    int complex_dtype = ow_dtype_kinds[dtype] == OW_KIND_COMPLEX;
    if (op->nparams == 1 && ow_stores_any_number(dtype, numel)) dtype = OW_FLOAT64;
    if (op->nparams > 1 && !complex_dtype) dtype = floating ? OW_FLOAT64 : OW_INT64;
    for (int k = 0; k < op->nparams; k++) {
        if (params && params[k]) {
            if (!ow_load_param(params[k], dtype, &values[k])) return 0;
        } else if (complex_dtype) {
            values[k].z = op->defaults[k];
        } else if (floating) {
            values[k].d = op->defaults[k];
        } else {
            values[k].i = (int64_t)op->defaults[k];
        }
    }
    return 1;
}

static int fill_all(const ow_plan *plan, const ow_tensor *result) {
    fill_state *f = plan->details;
    f->out = result->data;
    double work = (double)result->numel * plan->op->cost;
    if (work < 2 * 8192) {
        fill(f, 0, result->numel);
        return 1;
    }
    return ow_long_for(result->numel, 8192, work, fill, f);
}

/* An `out` of other strides by way of a contiguous tensor. */
static int compute(const ow_plan *plan) {
    ow_tensor *result = plan->results[0];
    if (result->flags & OW_CONTIGUOUS) return fill_all(plan, result);
    ow_tensor *work = ow_tensor_new(result->dtype, result->ndim, result->sizes, NULL);
    int done = work && fill_all(plan, work) && ow_copy_checked(result, work);
    ow_tensor_free(work);
    return done;
}

/* A tensor without a table of loops keeps what its memory holds. */
static int run(const ow_op *op, ow_tensor *const *params, ow_tensor *result) {
    const ow_elementwise_table *table = op->tables[ow_level];
    ow_scalar values[OW_MAX_PARAMS];
    int compute_dtype = ow_compute_dtype[result->dtype];
    if (!table) return 1;
    fill_state f = {.loop = table->general[compute_dtype],
                    .params = values,
                    .size = ow_itemsize(result->dtype),
                    .compute = ow_itemsize(compute_dtype),
                    .store = compute_dtype == result->dtype ? NULL : ow_cast_loop(result->dtype, compute_dtype)};
    if (!load_params(op, params, result->dtype, result->numel, values)) return 0;
    const ow_plan plan = {.op = op, .results = &result, .nresults = 1, .compute = compute_dtype, .params = values, .details = &f};
    return ow_execute(&plan, compute);
}

static int supports(const ow_op *op, int dtype) {
    const ow_elementwise_table *table = op->tables[ow_level];
    if (op->dtypes >> dtype & 1 && (!table || table->general[ow_compute_dtype[dtype]])) return 1;
    return ow_refuse_dtype(op, "_cpu", dtype);
}

ow_tensor *ow_factory(const ow_op *op, const int64_t *sizes, int ndim, int dtype, ow_tensor *const *params,
                      ow_tensor *out) {
    if (!supports(op, out ? out->dtype : dtype)) return NULL;
    if (out) {
        /* As in torch, of a factory nobody is warned. */
        int fits = ow_has_shape(out, ndim, sizes) || ow_tensor_resize(out, ndim, sizes);
        if (!fits || !ow_check_memory(out)) return NULL;
        return run(op, params, out) ? out : NULL;
    }
    ow_tensor *result = ow_tensor_new(dtype, ndim, sizes, NULL);
    if (result && run(op, params, result)) return result;
    ow_tensor_free(result);
    return NULL;
}
