/* What generated view functions are made of: integers and lists of integers, with every failure noted in the view.
 *
 * Lists are passed as pointers, because an ow_ints is large and only its first few entries matter; new ones live in the
 * scratch space of the view. A list function that fails returns some list and leaves the error in `view`; the caller
 * looks once, at the end. */
#ifndef OPWEAVE_GEOMETRY_H
#define OPWEAVE_GEOMETRY_H

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "opweave.h"

/* Notes the first error; always 0, the failure value of a geometry function. */
__attribute__((format(printf, 3, 4), cold)) static inline int ow_view_fail(ow_view *view, ow_error_kind kind,
                                                                          const char *format, ...) {
    va_list arguments;
    if (view->error) return 0;
    view->error = kind;
    va_start(arguments, format);
    vsnprintf(view->message, sizeof view->message, format, arguments);
    va_end(arguments);
    return 0;
}

typedef const ow_ints *ow_list;

/* An entry of the scratch space for a list of n integers. */
static inline ow_ints *ow_view_new_list(ow_view *view, int64_t n) {
    if (view->used == OW_VIEW_LISTS) {
        ow_view_fail(view, OW_RUNTIME_ERROR, "the geometry of this view needs more than %d lists", OW_VIEW_LISTS);
        view->used--;
    }
    if (n > OW_MAX_DIMS) {
        ow_view_fail(view, OW_RUNTIME_ERROR, "a tensor has at most %d dimensions", OW_MAX_DIMS);
        n = 0;
    }
    ow_ints *list = &view->scratch[view->used++];
    list->n = (int32_t)n;
    return list;
}

static inline void ow_ints_assign(ow_ints *to, ow_list from) {
    to->n = from->n;
    for (int i = 0; i < from->n; i++) to->v[i] = from->v[i];
}

static inline ow_ints *ow_view_copy_list(ow_view *view, ow_list from) {
    ow_ints *list = ow_view_new_list(view, from->n);
    ow_ints_assign(list, from);
    return list;
}

typedef struct ow_list_text {
    char v[160];
} ow_list_text_buffer;

/* A list as torch prints it, cut short when it is very long. */
static inline const char *ow_ints_text(ow_list_text_buffer *text, ow_list list) {
    size_t used = (size_t)snprintf(text->v, sizeof text->v, "[");
    for (int i = 0; i < list->n && used + 24 < sizeof text->v; i++)
        used += (size_t)snprintf(text->v + used, sizeof text->v - used, i ? ", %lld" : "%lld", (long long)list->v[i]);
    snprintf(text->v + used, sizeof text->v - used, "]");
    return text->v;
}

/* ---- dimensions --------------------------------------------------------------------------------------- */

/* Makes a negative dimension count from the end; a scalar counts as having one dimension. */
static inline int ow_view_wrap(ow_view *view, int64_t *dim, int64_t ndim) {
    int64_t range = ndim > 0 ? ndim : 1;
    if (*dim < -range || *dim >= range)
        return ow_view_fail(view, OW_INDEX_ERROR,
                            "Dimension out of range (expected to be in range of [%lld, %lld], but got %lld)",
                            (long long)-range, (long long)(range - 1), (long long)*dim);
    if (*dim < 0) *dim += range;
    return 1;
}

/* The same for a list, whose entries must differ. An absent list (n < 0) stays. */
static inline int ow_view_wrap_list(ow_view *view, ow_ints *dims, int64_t ndim) {
    uint64_t seen = 0;
    for (int i = 0; i < dims->n; i++) {
        if (!ow_view_wrap(view, &dims->v[i], ndim)) return 0;
        if (seen >> dims->v[i] & 1)
            return ow_view_fail(view, OW_RUNTIME_ERROR, "dim %lld appears multiple times in the list of dims",
                                (long long)dims->v[i]);
        seen |= (uint64_t)1 << dims->v[i];
    }
    return 1;
}

/* ---- integers ----------------------------------------------------------------------------------------- */

/* Results beyond 64 bits are noted as errors: sizes and offsets that wrap would lead to other memory. */
__attribute__((cold)) static inline int64_t ow_int_overflow(ow_view *view, int64_t a, const char *sign, int64_t b) {
    return ow_view_fail(view, OW_RUNTIME_ERROR, "integer overflow: %lld %s %lld is more than 64 bits hold", (long long)a,
                        sign, (long long)b);
}
static inline int64_t ow_int_add(ow_view *view, int64_t a, int64_t b) {
    int64_t sum;
    return __builtin_add_overflow(a, b, &sum) ? ow_int_overflow(view, a, "+", b) : sum;
}
static inline int64_t ow_int_sub(ow_view *view, int64_t a, int64_t b) {
    int64_t difference;
    return __builtin_sub_overflow(a, b, &difference) ? ow_int_overflow(view, a, "-", b) : difference;
}
static inline int64_t ow_int_mul(ow_view *view, int64_t a, int64_t b) {
    int64_t product;
    return __builtin_mul_overflow(a, b, &product) ? ow_int_overflow(view, a, "*", b) : product;
}
static inline int64_t ow_int_neg(ow_view *view, int64_t a) { return ow_int_sub(view, 0, a); }

/* A stride that leads `step` times as far. Where that is beyond 64 bits there is one position, or no element at all, and
 * no stride is ever used: it stays what it was. */
static inline int64_t ow_int_stepped(int64_t stride, int64_t step) {
    int64_t product;
    return __builtin_mul_overflow(stride, step, &product) ? stride : product;
}

static inline int64_t ow_int_floordiv(ow_view *view, int64_t a, int64_t b) {
    if (b == 0) return ow_view_fail(view, OW_ZERO_DIVISION, "ZeroDivisionError");
    if (b == -1) return ow_int_neg(view, a);
    return a / b - ((a % b != 0) & ((a ^ b) < 0));
}

static inline int64_t ow_int_rem(ow_view *view, int64_t a, int64_t b) {
    return b == -1 ? 0 : a - ow_int_floordiv(view, a, b) * b;
}

static inline int64_t ow_int_ceil_div(ow_view *view, int64_t a, int64_t b) {
    int64_t quotient = ow_int_floordiv(view, a, b);
    return quotient + (b != 0 && b != -1 && a % b != 0);
}

static inline int64_t ow_int_min(int64_t a, int64_t b) { return a < b ? a : b; }
static inline int64_t ow_int_max(int64_t a, int64_t b) { return a > b ? a : b; }
static inline int64_t ow_int_default(int64_t argument, int64_t value) { return argument == OW_NONE ? value : argument; }

/* ---- lists -------------------------------------------------------------------------------------------- */

/* Makes a negative position count from the end, as Python does. */
static inline int ow_ints_place(ow_view *view, int64_t *at, int64_t n) {
    if (*at < -n || *at >= n)
        return ow_view_fail(view, OW_INDEX_ERROR, "position %lld is out of range for a list of %lld", (long long)*at,
                            (long long)n);
    if (*at < 0) *at += n;
    return 1;
}

static inline int ow_ints_equal(ow_list a, ow_list b) {
    return a->n == b->n && memcmp(a->v, b->v, sizeof(int64_t) * (size_t)(a->n > 0 ? a->n : 0)) == 0;
}

static inline int64_t ow_ints_at(ow_view *view, ow_list list, int64_t at) {
    return ow_ints_place(view, &at, list->n) ? list->v[at] : 0;
}

/* A scalar has no dimensions to exchange: position 0 of an empty list is allowed. */
static inline ow_list ow_ints_swap(ow_view *view, ow_list list, int64_t first, int64_t second) {
    if (list->n == 0 && first == 0 && second == 0) return list;
    if (!ow_ints_place(view, &first, list->n) || !ow_ints_place(view, &second, list->n)) return list;
    ow_ints *result = ow_view_copy_list(view, list);
    result->v[first] = list->v[second];
    result->v[second] = list->v[first];
    return result;
}

static inline ow_list ow_ints_remove(ow_view *view, ow_list list, int64_t at) {
    if (!ow_ints_place(view, &at, list->n)) return list;
    ow_ints *result = ow_view_new_list(view, (int64_t)list->n - 1);
    for (int i = 0; i < result->n; i++) result->v[i] = list->v[i + (i >= at)];
    return result;
}

static inline ow_list ow_ints_insert(ow_view *view, ow_list list, int64_t at, int64_t value) {
    if (!ow_ints_place(view, &at, (int64_t)list->n + 1)) return list;
    ow_ints *result = ow_view_new_list(view, (int64_t)list->n + 1);
    for (int i = 0; i < result->n; i++) result->v[i] = i < at ? list->v[i] : i == at ? value : list->v[i - 1];
    return result;
}

static inline ow_list ow_ints_prepend(ow_view *view, int64_t value, ow_list list) {
    return ow_ints_insert(view, list, 0, value);
}

static inline ow_list ow_ints_concat(ow_view *view, ow_list first, ow_list second) {
    ow_ints *result = ow_view_new_list(view, (int64_t)first->n + second->n);
    for (int i = 0; i < result->n; i++) result->v[i] = i < first->n ? first->v[i] : second->v[i - first->n];
    return result;
}

static inline ow_list ow_ints_replace(ow_view *view, ow_list list, int64_t at, int64_t value) {
    if (!ow_ints_place(view, &at, list->n)) return list;
    ow_ints *result = ow_view_copy_list(view, list);
    result->v[at] = value;
    return result;
}

static inline ow_list ow_ints_gather(ow_view *view, ow_list list, ow_list indices) {
    ow_ints *result = ow_view_new_list(view, indices->n);
    for (int i = 0; i < result->n; i++) result->v[i] = ow_ints_at(view, list, indices->v[i]);
    return result;
}

/* ---- rules of shapes ---------------------------------------------------------------------------------- */

/* Replaces the one -1 in `size` by what makes the number of elements right. */
static inline ow_list ow_ints_infer_size(ow_view *view, ow_list size, int64_t numel) {
    ow_list_text_buffer text;
    int64_t known = 1, inferred = -1;
    int overflow = 0;
    for (int i = 0; i < size->n; i++) {
        if (size->v[i] == -1) {
            if (inferred >= 0) {
                ow_view_fail(view, OW_RUNTIME_ERROR, "only one dimension can be inferred");
                return size;
            }
            inferred = i;
        } else if (size->v[i] < 0) {
            ow_view_fail(view, OW_RUNTIME_ERROR, "invalid shape dimension %lld at index %d of shape %s",
                         (long long)size->v[i], i, ow_ints_text(&text, size));
            return size;
        } else {
            overflow |= __builtin_mul_overflow(known, size->v[i], &known);
        }
    }
    if (inferred >= 0 && known == 0 && numel == 0 && !overflow) {
        ow_view_fail(view, OW_RUNTIME_ERROR,
                     "cannot reshape tensor of %lld elements into shape %s because the unspecified dimension size -1 "
                     "can be any value and is ambiguous",
                     (long long)numel, ow_ints_text(&text, size));
        return size;
    }
    if (overflow || (inferred < 0 ? known != numel : known == 0 || numel % known != 0)) {
        ow_view_fail(view, OW_RUNTIME_ERROR, "shape '%s' is invalid for input of size %lld", ow_ints_text(&text, size),
                     (long long)numel);
        return size;
    }
    return inferred < 0 ? size : ow_ints_replace(view, size, inferred, numel / known);
}

/* Strides of the same memory under another shape: each new dimension must lie within one group of old dimensions that
 * follow each other in memory. */
static inline ow_list ow_ints_view_strides(ow_view *view, ow_list shape, ow_list strides, ow_list size) {
    if (view->error) return size; /* sizes that do not fit have been reported */
    ow_ints *result = ow_view_new_list(view, size->n);
    if (view->numel == 0 || shape->n == 0) { /* nothing to reach: contiguous strides, or the old ones for the same shape */
        int64_t step = 1;
        if (ow_ints_equal(shape, size)) return strides;
        for (int d = size->n - 1; d >= 0; d--) {
            result->v[d] = step;
            step = ow_int_stepped(step, size->v[d] > 1 ? size->v[d] : 1);
        }
        return result;
    }
    int at = size->n - 1;
    int64_t base = strides->v[shape->n - 1], group = 1, taken = 1;
    for (int d = shape->n - 1; d >= 0; d--) {
        group *= shape->v[d];
        int ends = d == 0 || (shape->v[d - 1] != 1 && strides->v[d - 1] != group * base);
        if (!ends) continue;
        while (at >= 0 && (taken < group || size->v[at] == 1)) {
            result->v[at] = taken * base;
            taken *= size->v[at--];
        }
        if (taken != group) break;
        if (d > 0) {
            base = strides->v[d - 1];
            group = taken = 1;
        }
    }
    if (at >= 0 || taken != group)
        ow_view_fail(view, OW_RUNTIME_ERROR,
                     "view size is not compatible with input tensor's size and stride (at least one dimension spans "
                     "across two contiguous subspaces). Use .reshape(...) instead.");
    return result;
}

/* `size` with -1 replaced by the existing size; every other existing size must be one or equal. */
static inline ow_list ow_ints_expand_shape(ow_view *view, ow_list shape, ow_list size) {
    ow_list_text_buffer text, text2;
    int lead = size->n - shape->n;
    if (lead < 0) {
        ow_view_fail(view, OW_RUNTIME_ERROR,
                     "expand(opweave.%sTensor{%s}, size=%s): the number of sizes provided (%d) must be greater or equal "
                     "to the number of dimensions in the tensor (%d)",
                     view->scalar_name, ow_ints_text(&text, shape), ow_ints_text(&text2, size), size->n, shape->n);
        return shape;
    }
    ow_ints *result = ow_view_copy_list(view, size);
    for (int d = size->n - 1; d >= 0; d--) {
        int64_t old = d < lead ? 1 : shape->v[d - lead];
        if (size->v[d] == -1 && d >= lead) {
            result->v[d] = old;
        } else if (size->v[d] < 0) {
            ow_view_fail(view, OW_RUNTIME_ERROR,
                         "The expanded size of the tensor (%lld) isn't allowed in a leading, non-existing dimension %d",
                         (long long)size->v[d], d);
        } else if (old != 1 && size->v[d] != old) {
            ow_view_fail(view, OW_RUNTIME_ERROR,
                         "The expanded size of the tensor (%lld) must match the existing size (%lld) at non-singleton "
                         "dimension %d.  Target sizes: %s.  Tensor sizes: %s",
                         (long long)size->v[d], (long long)old, d, ow_ints_text(&text, size),
                         ow_ints_text(&text2, shape));
        }
    }
    return result;
}

static inline ow_list ow_ints_expand_strides(ow_view *view, ow_list shape, ow_list strides, ow_list size) {
    ow_list sizes = ow_ints_expand_shape(view, shape, size);
    if (view->error) return sizes;
    ow_ints *result = ow_view_new_list(view, size->n);
    int lead = size->n - shape->n;
    for (int d = size->n - 1; d >= 0; d--) {
        int64_t old = d < lead ? 1 : shape->v[d - lead];
        /* A new dimension of size one gets the stride that would continue the ones behind it; torch does the same. */
        int64_t next = shape->n == 0 ? 0 : d + 1 < size->n ? ow_int_stepped(result->v[d + 1], sizes->v[d + 1]) : 1;
        result->v[d] = old != sizes->v[d] ? 0 : d < lead ? next : strides->v[d - lead];
    }
    return result;
}

/* Is dimension d removed by squeeze? An absent list (n < 0) names them all. */
static inline int ow_ints_squeezes(ow_list shape, ow_list dims, int d) {
    int named = dims->n < 0;
    for (int i = 0; i < dims->n; i++) named |= dims->v[i] == d;
    return named && shape->v[d] == 1;
}

static inline ow_list ow_ints_squeeze_strides(ow_view *view, ow_list shape, ow_list strides, ow_list dims) {
    ow_ints *result = ow_view_new_list(view, shape->n);
    result->n = 0;
    for (int d = 0; d < shape->n; d++)
        if (!ow_ints_squeezes(shape, dims, d)) result->v[result->n++] = strides->v[d];
    return result;
}

static inline ow_list ow_ints_squeeze_shape(ow_view *view, ow_list shape, ow_list dims) {
    return ow_ints_squeeze_strides(view, shape, shape, dims);
}

#endif
