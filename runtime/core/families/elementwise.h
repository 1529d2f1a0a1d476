/* What the files of the driver of elementwise operators share. */
#ifndef OPWEAVE_ELEMENTWISE_H
#define OPWEAVE_ELEMENTWISE_H

#include "driver.h"

/* ---- dtypes ------------------------------------------------------------------------------------------- */

typedef struct ow_resolved {
    int common;  /* what the inputs promote to */
    int taken;   /* what the operator takes them as */
    int compute; /* what the loop works in: wider, where that dtype has none */
    int result;
    ow_loop loop;
} ow_resolved;

/* The dtype of which the operator makes another one: real parts of complex numbers, complex numbers of pairs. */
static inline int ow_part_dtype(const ow_op *op, int dtype) {
    return op->part == OW_PART_REAL ? ow_real_dtype[dtype] : op->part == OW_PART_COMPLEX ? ow_complex_dtype[dtype] : dtype;
}

static inline int ow_promoted_dtype(const ow_op *op, int common) {
    switch (op->promotion) {
    case OW_PROMOTE_ALWAYS_BOOL:
        return OW_BOOL;
    case OW_PROMOTE_INT_TO_FLOAT:
        return ow_dtype_kinds[common] >= OW_KIND_FLOATING ? common : ow_default_dtype;
    case OW_PROMOTE_TO_DOUBLE:
        return ow_dtype_kinds[common] == OW_KIND_COMPLEX ? OW_COMPLEX128 : OW_FLOAT64;
    case OW_PROMOTE_BOOL_TO_LONG:
        return common == OW_BOOL ? OW_INT64 : common;
    default:
        return common;
    }
}

static inline int ow_result_dtype(const ow_op *op, int common) { return ow_part_dtype(op, ow_promoted_dtype(op, common)); }

/* The operator's loop for operands of this dtype, or NULL; a plain one reads no parameters. */
static inline ow_loop ow_loop_of(const ow_op *op, int dtype, int default_params) {
    const ow_elementwise_table *table = op->tables[ow_level];
    if (dtype >= OW_NDTYPES) return NULL; /* such dtypes are only stored */
    return default_params && table->plain[dtype] ? table->plain[dtype] : table->general[dtype];
}

/* Time for each element: complex numbers are as much memory as two real ones, or four. */
static inline double ow_cost_of(const ow_op *op, int compute) {
    return ow_dtype_kinds[compute] == OW_KIND_COMPLEX ? op->cost * (double)ow_itemsize(compute) / 4 : op->cost;
}

/* 1 if operand k, one element beside tensors of a dtype that is computed in a wider one, is not converted to that dtype
 * first. A number beside halves would become another one; but what is compared with halves must be able to equal them,
 * integers wrap in every dtype, and tensors are rounded wherever torch rounds them. */
static inline int ow_keeps_element(const ow_op *op, int k, const ow_tensor *t, int taken) {
    if (op->opmath_number && k == op->ninputs - 1) return 1;
    return t->flags & OW_NUMBER && op->promotion != OW_PROMOTE_ALWAYS_BOOL && ow_dtype_kinds[taken] >= OW_KIND_FLOATING;
}

/* The number's value in the dtype of the loop. */
static inline void ow_load_number(const ow_tensor *number, int dtype, char *value) {
    ow_cast_loop(dtype, number->dtype)(value, 0, number->data, 0, 1);
}

/* ---- failures ----------------------------------------------------------------------------------------- */

static inline ow_tensor *ow_loop_failed(const ow_op *op, int status) {
    if (status == OW_ZERO_DIVISION) return ow_fail(OW_ZERO_DIVISION, "ZeroDivisionError");
    return ow_fail(status, "%s: invalid value", op->name);
}

/* ---- numbers (elementwise_params.c) -------------------------------------------------------------------- */

/* Parameters (NULL: all defaults) in the form the loop reads: doubles for floating compute dtypes, else integers. 1, or 0
 * with the error set. */
int ow_load_params(const ow_op *op, ow_tensor *const *params, const ow_resolved *r, ow_scalar *values);

/* Refuses inputs that are missing, or of a dtype that the operator does not take. The first one, or NULL with the error set.
 * (elementwise.c) */
ow_tensor *ow_check_operands(const ow_op *op, ow_tensor *const *inputs);

/* Sets *promoted to what the inputs are computed as, by the operator's promotion; 0 with the error set where it does not take
 * that. (elementwise.c) */
int ow_promote_operands(const ow_op *op, ow_tensor *const *inputs, int *promoted);

#define OW_LOOP_DIMS 8 /* of one operand in the signature of a loop */
#define OW_MAX_NAMED_SIZES (OW_MAX_INPUTS * OW_LOOP_DIMS)

/* Checks what the operator requires of parameters, NULL where they have their defaults, and of sizes behind them, for a result
 * of this dtype. 1, or 0 with the error set. (elementwise_params.c) */
int ow_check_params(const ow_op *op, ow_tensor *const *params, int dtype, const int64_t *sizes, int nsizes);

/* Parameters, NULL where they have their defaults, in the form that kernels of `dtype` read. 1, or 0 with the error set.
 * (elementwise_params.c) */
int ow_load_all_params(const ow_op *op, ow_tensor *const *params, int dtype, ow_scalar *values);

/* Checks of the inputs that are numbers. Each returns 1, or 0 with the error set. */
int ow_check_natural(const ow_op *op, ow_tensor *const *inputs, int common); /* none negative that must not be */
int ow_check_fitting(const ow_op *op, const ow_tensor *input, int common);   /* in the dtype's range */

/* Inputs that are None are replaced by the end of the compute dtype's range that leaves the others unchanged. */
void ow_absent_value(int which, int dtype, char *value);

/* ---- results over inputs -------------------------------------------------------------------------------- */

/* Writes the results of n calls over their first inputs. The inputs of each stand one after the other in `rows`, where they
 * are moved about; n may be 0. 1, or 0 with the error set. (overwrite.c) */
int ow_overwrite(const ow_op *op, ow_tensor **rows, int64_t n, ow_tensor *const *params);

/* ---- the common case (elementwise_contiguous.c) -------------------------------------------------------- */

/* Takes contiguous tensors of one shape and dtype, or a number as the last of them; *done tells whether they were such.
 * Parameters are NULL where all have their defaults. */
ow_tensor *ow_elementwise_contiguous(const ow_op *op, ow_tensor *const *inputs, ow_tensor *const *params, ow_tensor *out,
                                     int *done);

#endif
