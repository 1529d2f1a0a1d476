/* What the drivers of several families share; the messages are torch's. */
#include <math.h>
#include <stdlib.h>

#include "driver.h"
#include "tensor/storage.h"

int ow_wrap_dim(int64_t *dim, int64_t ndim) {
    int64_t n = ndim > 0 ? ndim : 1;
    if (*dim < -n || *dim >= n) {
        ow_fail(OW_INDEX_ERROR, "Dimension out of range (expected to be in range of [%lld, %lld], but got %lld)",
                (long long)-n, (long long)(n - 1), (long long)*dim);
        return 0;
    }
    if (*dim < 0) *dim += n;
    return 1;
}

int ow_axes_arrange(ow_axis *axes, int n) {
    for (int i = 1; i < n; i++) {
        ow_axis moved = axes[i];
        uint64_t key = (uint64_t)llabs(moved.in) - 1; /* zero becomes the largest */
        int j = i;
        for (; j > 0 && (uint64_t)llabs(axes[j - 1].in) - 1 > key; j--) axes[j] = axes[j - 1];
        axes[j] = moved;
    }
    int merged = 0;
    for (int i = 0; i < n; i++) {
        ow_axis *last = axes + merged - 1;
        if (merged && axes[i].in == last->in * last->size && axes[i].out == last->out * last->size)
            last->size *= axes[i].size;
        else axes[merged++] = axes[i];
    }
    return merged;
}

/* ---- devices ------------------------------------------------------------------------------------------ */

int ow_goes_with_any(const ow_tensor *t) { return t->flags & OW_NUMBER || (!t->ndim && !ow_place_of(t)); }

int ow_common_device(ow_tensor *const *tensors, int n, ow_device *device) {
    char found[48], expected[48];
    const ow_tensor *first = NULL;
    *device = OW_CPU;
    for (int k = 0; k < n; k++) {
        const ow_tensor *t = tensors[k];
        if (!t || ow_goes_with_any(t)) continue;
        const ow_device place = ow_place_of(t);
        if (!first) *device = place;
        first = t;
        if (place == *device) continue;
        ow_device_text(expected, sizeof expected, *device);
        ow_device_text(found, sizeof found, place);
        if (place == OW_META || *device == OW_META)
            ow_fail(OW_RUNTIME_ERROR, "Tensor on device %s is not on the expected device %s!", found, expected);
        else
            ow_fail(OW_RUNTIME_ERROR, "Expected all tensors to be on the same device, but found at least two devices, %s and %s!",
                    expected, found);
        return 0;
    }
    return 1;
}

/* ---- results given by the caller ---------------------------------------------------------------------- */

int ow_check_result_cast(const ow_tensor *out, int dtype) {
    if (ow_can_cast(dtype, out->dtype)) return 1;
    ow_fail(OW_RUNTIME_ERROR, "result type %s can't be cast to the desired output type %s",
            ow_dtype_scalar_names[dtype], ow_dtype_scalar_names[out->dtype]);
    return 0;
}

int ow_check_memory(const ow_tensor *out) {
    if (ow_is_foreign_to_mode(out->storage)) {
        ow_fail(OW_RUNTIME_ERROR,
                "Inplace update to inference tensor outside InferenceMode is not allowed. You can make a clone to get a normal "
                "tensor before doing inplace update.");
        return 0;
    }
    if (out->storage->flags & OW_STORAGE_READONLY) {
        ow_fail(OW_RUNTIME_ERROR, "the written-to tensor is read-only: its memory belongs to a read-only object. Please "
                                  "clone() the tensor before performing the operation.");
        return 0;
    }
    if (ow_internal_overlap(out)) {
        ow_fail(OW_RUNTIME_ERROR,
                "unsupported operation: more than one element of the written-to tensor refers to a single memory "
                "location. Please clone() the tensor before performing the operation.");
        return 0;
    }
    out->storage->version++;
    return 1;
}

int ow_shares_memory(const ow_tensor *out, ow_tensor *const *inputs, int n) {
    for (int k = 0; k < n; k++)
        if (inputs[k] && ow_memory_overlap(out, inputs[k])) return 1;
    return 0;
}

int ow_fail_overlap(void) {
    ow_fail(OW_RUNTIME_ERROR,
            "unsupported operation: some elements of the input tensor and the written-to tensor refer to a single memory "
            "location. Please clone() the tensor before performing the operation.");
    return 0;
}

int ow_check_writable(const ow_tensor *out, ow_tensor *const *inputs, int n) {
    if (!ow_check_memory(out)) return 0;
    for (int k = 0; k < n; k++)
        if (inputs[k] && inputs[k] != out && ow_memory_overlap(out, inputs[k]) == 2) return ow_fail_overlap();
    return 1;
}

ow_tensor *ow_prepare_out(const char *name, ow_tensor *out, int dtype, int ndim, const int64_t *sizes) {
    if (out->flags & OW_NUMBER) return ow_fail(OW_TYPE_ERROR, "%s(): argument 'out' must be a Tensor, not a number", name);
    if (!ow_check_result_cast(out, dtype)) return NULL;
    return ow_resize_out(out, ndim, sizes);
}

ow_tensor *ow_resize_out(ow_tensor *out, int ndim, const int64_t *sizes) {
    char had[200], wanted[200];
    if (ow_has_shape(out, ndim, sizes)) return out;
    int loses = out->numel != 0;
    ow_list_text(had, sizeof had, out->ndim, out->sizes);
    if (!ow_tensor_resize(out, ndim, sizes)) return NULL;
    if (loses)
        ow_warn("An output with one or more elements was resized since it had shape %s, which does not match the required output "
                "shape %s. This behavior is deprecated, and in a future PyTorch release outputs will not be resized unless they "
                "have zero elements. You can explicitly reuse an out tensor t by resizing it, inplace, to zero elements with "
                "t.resize_(0).", had, ow_list_text(wanted, sizeof wanted, ndim, sizes));
    return out;
}

void *ow_fail_shape_mismatch(const ow_tensor *out, int ndim, const int64_t *shape) {
    char have[200], want[200];
    return ow_fail(OW_RUNTIME_ERROR, "output with shape %s doesn't match the broadcast shape %s",
                   ow_list_text(have, sizeof have, out->ndim, out->sizes), ow_list_text(want, sizeof want, ndim, shape));
}

/* ---- parameters --------------------------------------------------------------------------------------- */

static double highest_value(int dtype) {
    int64_t bits = ow_dtype_bounds[dtype][1];
    return dtype == OW_UINT64 ? (double)(uint64_t)bits : (double)bits;
}

static int double_fits(double value, int dtype) {
    const double *ends = ow_dtype_ends[dtype];
    if (ends[1]) return value != value || (value >= ends[0] && value <= ends[1]) || (ow_dtype_infinite[dtype] && isinf(value));
    return value >= (double)ow_dtype_bounds[dtype][0] && value <= highest_value(dtype); /* false for NaN */
}

static int integer_fits(int64_t value, int dtype) {
    if (ow_dtype_kinds[dtype] == OW_KIND_FLOATING) return double_fits((double)value, dtype);
    if (dtype == OW_BOOL) return 1; /* by truth */
    if (dtype == OW_UINT64) return 1;
    int64_t lowest = ow_dtype_bounds[dtype][0], highest = ow_dtype_bounds[dtype][1];
    /* Negative numbers wrap into unsigned dtypes, but only once around. */
    if (lowest == 0) lowest = -highest;
    return value >= lowest && value <= highest;
}

const char *ow_refusal(const ow_op *op, int dtype) {
    if (dtype >= OW_NDTYPES) return NULL; /* what entries say is about other dtypes */
    return ow_dtype_kinds[dtype] == OW_KIND_COMPLEX ? op->complex_refusal : op->refusal;
}

int ow_refuse_dtype(const ow_op *op, const char *ending, int dtype) {
    const char *refusal = ow_refusal(op, dtype), *name = ow_dtype_scalar_names[dtype], hole[] = "{dtype}";
    const char *at = refusal ? strstr(refusal, hole) : NULL;
    if (at) ow_fail(OW_RUNTIME_ERROR, "%.*s%s%s", (int)(at - refusal), refusal, name, at + sizeof hole - 1);
    else if (refusal) ow_fail(OW_RUNTIME_ERROR, "%s", refusal);
    else ow_fail(OW_NOT_IMPLEMENTED, "\"%s%s\" not implemented for '%s'", op->name, ending, name);
    return 0;
}

int ow_stores_any_number(int dtype, int64_t numel) {
    return numel == 1 && ow_dtype_kinds[dtype] == OW_KIND_FLOATING && ow_compute_dtype[dtype] != dtype;
}

int ow_load_param(const ow_tensor *param, int dtype, ow_scalar *value) {
    double d = 0;
    int64_t i = 0;
    if (ow_dtype_kinds[dtype] == OW_KIND_COMPLEX) {
        ow_cast_loop(OW_COMPLEX128, param->dtype)((char *)&value->z, 0, param->data, 0, 1);
        int part = ow_real_dtype[dtype];
        if (double_fits(__real__ value->z, part) && double_fits(__imag__ value->z, part)) return 1;
        ow_fail(OW_RUNTIME_ERROR, "value cannot be converted to type %s without overflow", ow_cpp_names[dtype]);
        return 0;
    }
    if (ow_dtype_kinds[param->dtype] == OW_KIND_COMPLEX) {
        ow_fail(OW_RUNTIME_ERROR, "value cannot be converted to type %s without overflow", ow_cpp_names[dtype]);
        return 0;
    }
    /* Integers beyond int64 come as uint64. */
    int floating = ow_dtype_kinds[param->dtype] == OW_KIND_FLOATING, beyond = param->dtype == OW_UINT64;
    if (floating || beyond) ow_cast_loop(OW_FLOAT64, param->dtype)((char *)&d, 0, param->data, 0, 1);
    if (!floating) ow_cast_loop(OW_INT64, param->dtype)((char *)&i, 0, param->data, 0, 1);
    int fits = floating || (beyond && dtype != OW_UINT64) ? double_fits(d, dtype) && !(beyond && dtype == OW_INT64)
                                                          : integer_fits(i, dtype);
    if (dtype != OW_BOOL && !fits) {
        ow_fail(OW_RUNTIME_ERROR, "value cannot be converted to type %s without overflow", ow_cpp_names[dtype]);
        return 0;
    }
    if (ow_dtype_kinds[dtype] == OW_KIND_FLOATING) value->d = floating || beyond ? d : (double)i;
    else if (dtype == OW_BOOL) value->i = floating ? d != 0 : i != 0;
    /* The largest double that passes for an integer of 64 bits is one more than it holds. */
    else if (floating) ow_cast_loop(dtype == OW_UINT64 ? OW_UINT64 : OW_INT64, OW_FLOAT64)((char *)&value->i, 0, (char *)&d, 0, 1);
    else value->i = i;
    return 1;
}

int ow_load_op_param(const ow_op *op, int k, const ow_tensor *param, int dtype, ow_scalar *value) {
    if (op->whole_params >> k & 1) return ow_load_param(param, OW_INT64, value);
    if (!(op->real_params >> k & 1)) return ow_load_param(param, dtype, value);
    if (!ow_load_param(param, OW_FLOAT64, value)) return 0;
    double number = value->d;
    if (ow_dtype_kinds[dtype] == OW_KIND_COMPLEX) value->z = number;
    else if (ow_dtype_kinds[dtype] < OW_KIND_FLOATING)
        ow_cast_loop(OW_INT64, OW_FLOAT64)((char *)&value->i, 0, (const char *)&number, 0, 1);
    return 1;
}

int ow_check_in_range(const ow_op *op, ow_tensor *const *inputs, ow_tensor *const *params, int dtype) {
    ow_scalar unused;
    if (!op->in_range || ow_dtype_kinds[dtype] != OW_KIND_FLOATING) return 1;
    int is_half = ow_compute_dtype[dtype] != dtype;
    for (int k = 0; is_half && k < op->ninputs; k++) {
        int is_number = inputs[k] && inputs[k]->flags & OW_NUMBER;
        if (op->in_range >> k & 1 && is_number && !ow_load_param(inputs[k], dtype, &unused)) return 0;
    }
    /* Real parameters are loaded whatever the dtype holds; of others those of halves alone are not checked already. */
    uint32_t checked = op->in_range >> 16 & (is_half ? UINT32_MAX : op->real_params);
    for (int k = 0; params && k < op->nparams; k++)
        if (checked >> k & 1 && params[k] && !ow_load_param(params[k], dtype, &unused)) return 0;
    return 1;
}
