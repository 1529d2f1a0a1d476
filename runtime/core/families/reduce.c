/* The driver of reductions: dimensions, dtypes and the result; then one of two loops over memory.
 *
 * reduce_lines.c serves reductions along the input's faster axes, reduce_rows.c those along its slower ones. */
#include <stdlib.h>

#include "plan.h"
#include "reduce.h"

#define SMALL 4096       /* elements that one call of the leaf kernel reduces */
#define FEW_ELEMENTS 16  /* lines shorter than this are better folded as rows, gathered across */
#define FEW_COLUMNS 8    /* rows narrower than this are better read as strided lines */
#define LONG_LINE 64

/* ---- dimensions --------------------------------------------------------------------------------------- */

int ow_read_dims(const ow_tensor *self, const int64_t *dims, int ndims, int all, uint64_t *reduced) {
    *reduced = 0;
    if (ndims == 0 && all) {
        *reduced = ~(uint64_t)0;
        return 1;
    }
    for (int k = 0; k < ndims; k++) {
        int64_t dim = dims[k];
        if (!ow_wrap_dim(&dim, self->ndim)) return 0;
        if (*reduced >> dim & 1) {
            ow_fail(OW_RUNTIME_ERROR, "dim %lld appears multiple times in the list of dims", (long long)dim);
            return 0;
        }
        *reduced |= (uint64_t)1 << dim;
    }
    return 1;
}

/* For operators without identity. */
static int check_elements(const ow_op *op, const ow_tensor *self, const int64_t *dims, int ndims, int all) {
    int searches = op->results & OW_POSITION;
    if (ndims == 0 && all && self->numel == 0 && op->results == OW_POSITION) {
        ow_fail(OW_INDEX_ERROR, "%s(): Expected reduction dim to be specified for input.numel() == 0.", op->name);
        return 0;
    }
    if (ndims == 0 && all && self->numel == 0) {
        ow_fail(OW_RUNTIME_ERROR,
                "%s(): Expected reduction dim to be specified for input.numel() == 0. Specify the reduction dim with the "
                "'dim' argument.",
                op->name);
        return 0;
    }
    for (int k = 0; k < ndims && self->ndim; k++) {
        int64_t dim = dims[k] < 0 ? dims[k] + self->ndim : dims[k];
        if (self->sizes[dim]) continue;
        ow_fail(OW_INDEX_ERROR, "%s(): Expected reduction dim %lld to have non-zero size.", op->name,
                (long long)(searches ? dim : dims[k]));
        return 0;
    }
    return 1;
}

static int result_shape(const ow_tensor *self, uint64_t reduced, int keepdim, int64_t *shape) {
    int ndim = 0;
    for (int d = 0; d < self->ndim; d++) {
        if (!(reduced >> d & 1)) shape[ndim++] = self->sizes[d];
        else if (keepdim) shape[ndim++] = 1;
    }
    return ndim;
}

/* ---- dtypes ------------------------------------------------------------------------------------------- */

typedef struct {
    int compute, result;
    const ow_reduce_kernels *kernels;
} dtypes;

/* torch's errors for an `out` of a dtype that it does not accept. */
static int check_out_dtype(const ow_op *op, const ow_tensor *self, int dtype, const ow_tensor *out) {
    if (op->promotion == OW_PROMOTE_BOOL && out->dtype != OW_BOOL && out->dtype != OW_UINT8) {
        ow_fail(OW_RUNTIME_ERROR, "%s only supports bool tensor for result, got: %s", op->name,
                ow_dtype_scalar_names[out->dtype]);
        return 0;
    }
    if (op->needs_elements && out->dtype != self->dtype) {
        ow_fail(OW_RUNTIME_ERROR,
                "Expected the dtype for input and out to match, but got %s for input's dtype and %s for out's dtype.",
                ow_dtype_scalar_names[self->dtype], ow_dtype_scalar_names[out->dtype]);
        return 0;
    }
    if (dtype >= 0 && out->dtype != dtype) {
        ow_fail(OW_RUNTIME_ERROR, "Expected out tensor to have dtype %s, but got %s instead", ow_type_names[dtype],
                ow_type_names[out->dtype]);
        return 0;
    }
    return 1;
}

/* Inputs are converted to the dtype of the result before they meet, as in torch; halves accumulate in float32. */
static int resolve(const ow_op *op, int from, int dtype, const ow_tensor *out, dtypes *resolved) {
    const ow_reduce_table *table = op->tables[ow_level];
    int asked = dtype >= 0 ? dtype : out ? out->dtype : -1;
    int integral = ow_dtype_kinds[from] < OW_KIND_FLOATING;
    if (ow_dtype_kinds[from] == OW_KIND_COMPLEX && op->complex_refusal && !(op->dtypes >> from & 1))
        return ow_refuse_dtype(op, "", from); /* not even on the way to another dtype */
    if (op->promotion == OW_PROMOTE_BOOL) {
        resolved->result = asked >= 0 ? asked : from == OW_UINT8 ? OW_UINT8 : OW_BOOL;
        resolved->compute = OW_BOOL;
    } else {
        int promoted = op->promotion == OW_PROMOTE_INT_TO_LONG && integral      ? OW_INT64
                       : op->promotion == OW_PROMOTE_BOOL_TO_LONG && from == OW_BOOL ? OW_INT64
                       : op->promotion == OW_PROMOTE_INT_TO_FLOAT && integral ? ow_default_dtype
                                                                              : from;
        resolved->result = asked >= 0 ? asked : promoted;
        resolved->compute = ow_compute_dtype[resolved->result];
        /* An input that has to be floating is not made so by a floating `out`, only by `dtype`. */
        int floating_only = !(op->dtypes >> OW_INT64 & 1);
        int deciding = dtype < 0 && floating_only && op->promotion == OW_PROMOTE_DEFAULT ? from : resolved->result;
        if (!(op->dtypes >> resolved->result & op->dtypes >> deciding & 1)) {
            if (!ow_refusal(op, deciding) && floating_only && ow_dtype_kinds[deciding] < OW_KIND_FLOATING)
                ow_fail(OW_RUNTIME_ERROR,
                        "%s(): could not infer output dtype. %s dtype must be either a floating point or complex dtype. "
                        "Got: %s",
                        op->name, dtype >= 0 ? "Optional" : "Input", ow_dtype_scalar_names[deciding]);
            else ow_refuse_dtype(op, "", ow_refusal(op, deciding) ? deciding : resolved->result);
            return 0;
        }
    }
    resolved->kernels = &table->by[resolved->compute];
    if (resolved->kernels->leaf) return 1;
    ow_fail(OW_NOT_IMPLEMENTED, "\"%s\" not implemented for '%s'", op->name, ow_dtype_scalar_names[resolved->result]);
    return 0;
}

/* ---- axes --------------------------------------------------------------------------------------------- */

void ow_reduction_axes(ow_reduction *r, const ow_tensor *self, const ow_tensor *out, uint64_t reduced, int keepdim) {
    int64_t item = ow_itemsize(self->dtype), out_item = ow_itemsize(out->dtype);
    int at = out->ndim;
    r->nkept = r->nreduced = 0;
    r->outputs = r->count = 1;
    for (int d = self->ndim - 1; d >= 0; d--) { /* backwards: equal strides keep the order of memory */
        int reduces = reduced >> d & 1;
        int64_t size = self->sizes[d], to = reduces ? 0 : out->strides[at - 1] * out_item;
        if (!reduces || keepdim) at--;
        *(reduces ? &r->count : &r->outputs) *= size;
        if (size == 1) continue;
        ow_axis axis = {size, self->strides[d] * item, to};
        if (reduces) r->reduced[r->nreduced++] = axis;
        else r->kept[r->nkept++] = axis;
    }
    r->nkept = ow_axes_arrange(r->kept, r->nkept);
    r->nreduced = ow_axes_arrange(r->reduced, r->nreduced);
    if (!r->nkept) r->kept[r->nkept++] = (ow_axis){1, 0, 0};
}

/* 1 if memory is better traversed by lines of reduced elements than by rows of results. */
static int prefer_lines(const ow_reduction *r) {
    if (!r->nreduced) return 0;
    int64_t across = llabs(r->kept[0].in), along = llabs(r->reduced[0].in), columns = r->kept[0].size;
    if (columns == 1) return 1;
    if (across == 0 || (along && along < across)) return r->count >= FEW_ELEMENTS || columns < FEW_ELEMENTS;
    return columns < FEW_COLUMNS && r->reduced[0].size >= LONG_LINE && r->reduced[0].in != across * columns;
}

/* ---- the call ----------------------------------------------------------------------------------------- */

/* Nothing to combine: every result is the identity, finished. */
static int fill(const ow_reduction *r, ow_tensor *out) {
    _Alignas(16) char value[OW_MAX_ITEMSIZE];
    r->kernels->leaf(value, NULL, 0, 0);
    if (r->kernels->finish) r->kernels->finish(value, 1, 0);
    for (int64_t k = 0; k < out->numel; k++) {
        int64_t to = 0, rest = k;
        for (int d = out->ndim - 1; d >= 0; d--) {
            to += rest % out->sizes[d] * out->strides[d];
            rest /= out->sizes[d];
        }
        r->store(out->data + to * ow_itemsize(out->dtype), 0, value, 0, 1);
    }
    return 1;
}

/* Without memory and axes. */
static ow_reduction reduction_of(const ow_op *op, const dtypes *types, int from, int to) {
    return (ow_reduction){.kernels = types->kernels,
                          .load = ow_cast_loop(types->compute, from),
                          .store = ow_cast_loop(to, types->compute),
                          .converts = types->compute != from,
                          .input_size = ow_itemsize(from),
                          .size = ow_itemsize(types->compute),
                          .cost = op->cost};
}

int ow_reduction_of_units(ow_reduction *r, const ow_op *op, int from, int64_t count, int dtype, ow_tensor *out) {
    dtypes types;
    if (op->family != OW_REDUCE || op->results != OW_VALUE || !resolve(op, from, dtype, NULL, &types)) return 0;
    *r = reduction_of(op, &types, from, out->dtype);
    r->out = out->data;
    r->nreduced = 1;
    r->reduced[0] = (ow_axis){count, r->input_size, 0};
    r->count = count;
    return types.result == out->dtype;
}

typedef struct {
    const dtypes *types;
    int keepdim, is_given; /* the result */
} reduce_call;

static int reduce_into(const ow_plan *plan, ow_tensor *out) {
    const reduce_call *c = plan->details;
    const ow_op *op = plan->op;
    const ow_tensor *self = plan->inputs[0];
    const dtypes *types = c->types;
    ow_reduction r = reduction_of(op, types, self->dtype, out->dtype);
    r.x = self->data;
    r.out = out->data;
    if (self->numel == 0) return fill(&r, out);
    ow_reduction_axes(&r, self, out, plan->along, c->keepdim);
    void *token = ow_gil_release((int64_t)((double)self->numel * op->cost));
    int lines = prefer_lines(&r);
    const ow_axis *inner = lines ? &r.reduced[0] : &r.kept[0];
    if (r.converts) r.cost *= 2;
    if (inner->in != r.input_size) r.cost *= 6; /* gathered one by one */
    int done = lines ? ow_reduce_lines(&r) : ow_reduce_rows(&r);
    ow_gil_acquire(token);
    return done && ow_rescale(op, self, &out, plan->along, c->keepdim, NULL);
}

/* By way of other memory where the result shares some with the input. */
static int compute(const ow_plan *plan) {
    const reduce_call *c = plan->details;
    ow_tensor *out = plan->results[0];
    if (!c->is_given || !ow_shares_memory(out, plan->inputs, 1)) return reduce_into(plan, out);
    ow_tensor *separate = ow_tensor_new(c->types->result, out->ndim, out->sizes, NULL);
    int done = separate && reduce_into(plan, separate) && ow_copy_checked(out, separate);
    ow_tensor_free(separate);
    return done;
}

static int run(const ow_op *op, ow_tensor *self, const dtypes *types, ow_tensor *out, uint64_t reduced, int keepdim,
               int is_given) {
    reduce_call c = {types, keepdim, is_given};
    const ow_plan plan = {.op = op, .inputs = &self, .results = &out, .nresults = 1, .compute = types->compute, .along = reduced,
                          .details = &c};
    return !out->numel || ow_execute(&plan, compute);
}

/* Few contiguous elements to one: no plan is needed. */
static ow_tensor *reduce_small(const ow_op *op, const ow_tensor *self) {
    if (self->dtype >= OW_NDTYPES || !(op->dtypes >> self->dtype & 1)) return NULL;
    const ow_reduce_kernels *kernels = &((const ow_reduce_table *)op->tables[ow_level])->by[self->dtype];
    if (!kernels->leaf) return NULL;
    if (op->promotion != OW_PROMOTE_DEFAULT && self->dtype != OW_INT64 && ow_dtype_kinds[self->dtype] < OW_KIND_FLOATING)
        return NULL;
    if (op->promotion == OW_PROMOTE_BOOL || op->promotion == OW_PROMOTE_INT_TO_FLOAT) return NULL;
    ow_tensor *out = ow_tensor_new(self->dtype, 0, NULL, NULL);
    if (!out) return NULL;
    kernels->leaf(out->data, self->data, ow_itemsize(self->dtype), self->numel);
    if (kernels->finish) kernels->finish(out->data, 1, self->numel);
    ow_rescale(op, self, &out, ~(uint64_t)0, 0, NULL);
    return out;
}

ow_tensor *ow_reduce(const ow_op *op, ow_tensor *self, const int64_t *dims, int ndims, int all, int keepdim, int dtype,
                     ow_tensor *out) {
    uint64_t reduced;
    dtypes types;
    int64_t shape[OW_MAX_DIMS];
    if (all == OW_EMPTY_LIST && op->promotion == OW_PROMOTE_BOOL) all = 0;
    int whole = ndims == 0 && all;
    if (whole && !out && !ow_place && dtype < 0 && !(keepdim && self->ndim) && self->flags & OW_CONTIGUOUS && self->numel > 0 &&
        self->numel <= SMALL) {
        ow_tensor *result = reduce_small(op, self);
        if (result || ow_error_pending()) return result;
    }
    if (!ow_read_dims(self, dims, ndims, all, &reduced)) return NULL;
    if (out && !check_out_dtype(op, self, dtype, out)) return NULL;
    if (!resolve(op, self->dtype, dtype, out, &types)) return NULL;
    if (op->needs_elements && !check_elements(op, self, dims, ndims, all)) return NULL;
    int ndim = result_shape(self, reduced, keepdim, shape);
    if (!out) {
        ow_tensor *result = ow_tensor_new(types.result, ndim, shape, NULL);
        if (result && !run(op, self, &types, result, reduced, keepdim, 0)) {
            ow_tensor_free(result);
            return NULL;
        }
        return result;
    }
    /* What is both read and written is read as it was before it takes the shape of the result. */
    ow_tensor *before = self == out && !ow_has_shape(out, ndim, shape) ? ow_tensor_alias(self) : self;
    int done = before && ow_prepare_out(op->name, out, types.result, ndim, shape) && ow_check_memory(out) &&
               run(op, before, &types, out, reduced, keepdim, 1);
    if (before != self) ow_tensor_free(before);
    return done ? out : NULL;
}
