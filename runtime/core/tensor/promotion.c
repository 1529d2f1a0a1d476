/* Type promotion of tensors, after torch.result_type: tensors with dimensions decide before 0-dim tensors, and those
 * before Python numbers; a weaker class only contributes its category (bool < integer < floating < complex). */
#include "tensor.h"

int ow_default_dtype = OW_FLOAT32;

#define UNDEFINED (-1)

/* OW_REFUSED with the error set, or `dtype`. */
static int unless_refused(int dtype, const char *format, int a, int b) {
    if (dtype != OW_NO_DTYPE) return dtype;
    ow_fail(OW_RUNTIME_ERROR, format, ow_dtype_scalar_names[a], ow_dtype_scalar_names[b]);
    return OW_REFUSED;
}

static int promote_defined(int a, int b) {
    if (a == UNDEFINED || b == OW_REFUSED) return b;
    if (b == UNDEFINED || a == OW_REFUSED) return a;
    return unless_refused(ow_promote_types[a][b], "Promotion for Float8 Types is not supported, attempted to promote %s and %s",
                          a, b);
}

static int to_complex(int dtype) {
    return unless_refused(ow_complex_dtype[dtype], "Unknown Complex ScalarType for %s", dtype, dtype);
}

static int combine(int stronger, int weaker) {
    if (stronger == UNDEFINED || weaker == OW_REFUSED) return weaker;
    if (weaker == UNDEFINED || stronger == OW_REFUSED || ow_dtype_kinds[stronger] == OW_KIND_COMPLEX) return stronger;
    if (ow_dtype_kinds[stronger] == OW_KIND_FLOATING)
        return ow_dtype_kinds[weaker] == OW_KIND_COMPLEX ? to_complex(stronger) : stronger;
    if (stronger == OW_BOOL || ow_dtype_kinds[weaker] >= OW_KIND_FLOATING) return promote_defined(stronger, weaker);
    return stronger;
}

int ow_result_type(ow_tensor *const *inputs, int n) {
    int dimensioned = UNDEFINED, zero_dim = UNDEFINED, number = UNDEFINED;
    for (int i = 0; i < n; i++) {
        const ow_tensor *t = inputs[i];
        if (!t) continue;
        if (t->flags & OW_NUMBER) {
            int kind = ow_dtype_kinds[t->dtype];
            int dtype = kind == OW_KIND_COMPLEX    ? ow_complex_dtype[ow_default_dtype]
                        : kind == OW_KIND_FLOATING ? ow_default_dtype
                                                   : t->dtype;
            number = promote_defined(number, dtype);
        } else if (t->ndim) {
            dimensioned = promote_defined(dimensioned, t->dtype);
        } else {
            zero_dim = promote_defined(zero_dim, t->dtype);
        }
    }
    return combine(dimensioned, combine(zero_dim, number));
}

int ow_can_cast(int from, int to) {
    /* Kinds are ordered bool < integer < floating < complex; a cast may go up or stay, never down. */
    return ow_dtype_kinds[from] <= ow_dtype_kinds[to];
}
