/* The numbers among the arguments of elementwise operators: parameters in the form that loops read, bounds, and what
 * operators require of them. */
#include "elementwise.h"

#include <float.h>

/* The largest finite number of a floating dtype, or of a complex one's parts; or the least. */
static double finite_end(int which, int dtype) {
    const double *ends = ow_dtype_ends[ow_real_dtype[dtype]];
    return ends[1] ? ends[which == OW_ABSENT_HIGHEST] : which == OW_ABSENT_HIGHEST ? DBL_MAX : -DBL_MAX;
}

int ow_check_params(const ow_op *op, ow_tensor *const *params, int dtype, const int64_t *sizes, int nsizes) {
    double values[OW_MAX_PARAMS + OW_MAX_NAMED_SIZES];
    char message[200];
    if (!op->requirements) return 1;
    for (int k = 0; k < op->nparams; k++) {
        ow_scalar value = {.d = op->defaults[k]};
        if (params && params[k] && !ow_load_param(params[k], OW_FLOAT64, &value)) return 0;
        values[k] = value.d;
    }
    for (int k = 0; k < nsizes; k++) values[op->nparams + k] = (double)sizes[k];
    int kind = op->requirements(values, dtype, message, sizeof message);
    if (kind) ow_fail(kind, "%s", message);
    return !kind;
}

/* Parameters in the form the loop reads: doubles for floating compute dtypes, else integers. */
int ow_load_params(const ow_op *op, ow_tensor *const *params, const ow_resolved *r, ow_scalar *values) {
    int computes = ow_dtype_kinds[r->compute];
    if (!ow_check_params(op, params, r->result, NULL, 0)) return 0;
    for (int k = 0; k < op->nparams; k++) {
        const ow_tensor *p = params ? params[k] : NULL;
        if (!p) {
            int ends = op->param_ends[k];
            double value = ends == OW_REQUIRED ? op->defaults[k] : finite_end(ends, r->result);
            if (op->whole_params >> k & 1) values[k].i = (int64_t)value;
            else if (computes == OW_KIND_COMPLEX) values[k].z = value;
            else if (ends != OW_REQUIRED || computes == OW_KIND_FLOATING) values[k].d = value;
            else values[k].i = (int64_t)value;
            continue;
        }
        int kind = ow_dtype_kinds[p->dtype];
        if (op->strict_numbers && kind == OW_KIND_COMPLEX && computes != OW_KIND_COMPLEX) {
            ow_fail(OW_RUNTIME_ERROR, "For non-complex input tensors, argument alpha must not be a complex number.");
            return 0;
        }
        if (op->strict_numbers && kind == OW_KIND_FLOATING && ow_dtype_kinds[r->common] < OW_KIND_FLOATING) {
            ow_fail(OW_RUNTIME_ERROR, "For integral input tensors, argument alpha must not be a floating point number.");
            return 0;
        }
        if (op->strict_numbers && kind == OW_KIND_BOOL && r->common != OW_BOOL) {
            ow_fail(OW_RUNTIME_ERROR, "Boolean alpha only supported for Boolean results.");
            return 0;
        }
        if (!ow_load_op_param(op, k, p, r->compute, &values[k])) return 0;
        if (op->whole_params >> k & 1) continue;
        if (op->rounds_params && r->compute != r->result && ow_dtype_kinds[r->result] == OW_KIND_FLOATING) {
            uint16_t half;
            ow_cast_loop(r->result, OW_FLOAT64)((char *)&half, 0, (const char *)&values[k].d, 0, 1);
            ow_cast_loop(OW_FLOAT64, r->result)((char *)&values[k].d, 0, (const char *)&half, 0, 1);
        }
    }
    return 1;
}

int ow_load_all_params(const ow_op *op, ow_tensor *const *params, int dtype, ow_scalar *values) {
    for (int k = 0; k < op->nparams; k++) {
        int whole = ow_dtype_kinds[dtype] < OW_KIND_FLOATING || op->whole_params >> k & 1;
        if (whole) values[k].i = (int64_t)op->defaults[k];
        else values[k].d = op->defaults[k];
        if (params[k] && !ow_load_op_param(op, k, params[k], dtype, &values[k])) return 0;
    }
    return 1;
}

/* Inputs that are None are replaced by the end of the compute dtype's range that leaves the others unchanged. */
void ow_absent_value(int which, int dtype, char *value) {
    double end = which == OW_ABSENT_HIGHEST ? __builtin_inf() : -__builtin_inf();
    if (ow_dtype_kinds[dtype] == OW_KIND_FLOATING) {
        ow_cast_loop(dtype, OW_FLOAT64)(value, 0, (const char *)&end, 0, 1);
    } else {
        int64_t bound = ow_dtype_bounds[dtype][which == OW_ABSENT_HIGHEST];
        ow_cast_loop(dtype, OW_INT64)(value, 0, (const char *)&bound, 0, 1);
    }
}

/* Integer numbers that must not be negative, where the result is an integer (powers), nor wrap to another one. */
int ow_check_natural(const ow_op *op, ow_tensor *const *inputs, int common) {
    ow_scalar unused;
    if (ow_dtype_kinds[common] >= OW_KIND_FLOATING) return 1;
    for (int k = 0; k < op->ninputs; k++) {
        const ow_tensor *t = inputs[k];
        if (!op->natural[k] || !t || !(t->flags & OW_NUMBER)) continue;
        if (t->dtype == OW_INT64 && *(const int64_t *)t->data < 0) {
            ow_fail(OW_RUNTIME_ERROR, "%s", op->natural[k]);
            return 0;
        }
        if (!ow_load_param(t, common, &unused)) return 0;
    }
    return 1;
}

/* A bound of 300 for uint8 would be another one. Beside halves, which are computed in float32, numbers stay what they are. */
int ow_check_fitting(const ow_op *op, const ow_tensor *input, int common) {
    ow_scalar unused;
    if (!op->fitting_numbers || !input || !(input->flags & OW_NUMBER)) return 1;
    int is_half = ow_dtype_kinds[common] == OW_KIND_FLOATING && ow_compute_dtype[common] != common;
    /* A number that is promoted with halves may become infinite. */
    if (is_half && !op->same_dtype) return 1;
    return ow_load_param(input, is_half ? ow_compute_dtype[common] : common, &unused);
}
