/* What generated view functions are made of: integers and lists of integers, with every failure noted in the view.
 *
 * A list function that fails returns an empty list and leaves the error in `view`; the caller looks once, at the end. */
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

typedef struct ow_list_text {
    char v[160];
} ow_list_text_buffer;

/* A list as torch prints it, cut short when it is very long. */
static inline const char *ow_ints_text(ow_list_text_buffer *text, ow_ints list) {
    size_t used = (size_t)snprintf(text->v, sizeof text->v, "[");
    for (int i = 0; i < list.n && used + 24 < sizeof text->v; i++)
        used += (size_t)snprintf(text->v + used, sizeof text->v - used, i ? ", %lld" : "%lld", (long long)list.v[i]);
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

static inline int64_t ow_int_floordiv(ow_view *view, int64_t a, int64_t b) {
    if (b == 0) return ow_view_fail(view, OW_ZERO_DIVISION, "ZeroDivisionError");
    if (b == -1) return (int64_t)(0 - (uint64_t)a);
    return a / b - ((a % b != 0) & ((a ^ b) < 0));
}

static inline int64_t ow_int_rem(ow_view *view, int64_t a, int64_t b) {
    return (int64_t)((uint64_t)a - (uint64_t)ow_int_floordiv(view, a, b) * (uint64_t)b);
}

static inline int64_t ow_int_ceil_div(ow_view *view, int64_t a, int64_t b) {
    int64_t quotient = ow_int_floordiv(view, a, b);
    return quotient + (b != 0 && b != -1 && a % b != 0);
}

static inline int64_t ow_int_min(int64_t a, int64_t b) { return a < b ? a : b; }
static inline int64_t ow_int_max(int64_t a, int64_t b) { return a > b ? a : b; }
static inline int64_t ow_int_default(int64_t argument, int64_t value) { return argument == OW_NONE ? value : argument; }

/* ---- lists -------------------------------------------------------------------------------------------- */

static inline int ow_ints_in_range(ow_view *view, int64_t at, int64_t n) {
    return (at >= 0 && at < n) ||
           ow_view_fail(view, OW_INDEX_ERROR, "position %lld is out of range for a list of %lld", (long long)at,
                        (long long)n);
}

static inline int ow_ints_equal(ow_ints a, ow_ints b) {
    return a.n == b.n && memcmp(a.v, b.v, sizeof(int64_t) * (size_t)(a.n > 0 ? a.n : 0)) == 0;
}

/* As in Python, a negative position counts from the end. */
static inline int64_t ow_ints_at(ow_view *view, ow_ints list, int64_t at) {
    if (at < 0) at += list.n;
    return ow_ints_in_range(view, at, list.n) ? list.v[at] : 0;
}

/* A scalar has no dimensions to exchange: position 0 of an empty list is allowed. */
static inline ow_ints ow_ints_swap(ow_view *view, ow_ints list, int64_t first, int64_t second) {
    if (list.n == 0 && first == 0 && second == 0) return list;
    if (!ow_ints_in_range(view, first, list.n) || !ow_ints_in_range(view, second, list.n)) return list;
    int64_t held = list.v[first];
    list.v[first] = list.v[second];
    list.v[second] = held;
    return list;
}

static inline ow_ints ow_ints_remove(ow_view *view, ow_ints list, int64_t at) {
    if (!ow_ints_in_range(view, at, list.n)) return list;
    for (int64_t i = at + 1; i < list.n; i++) list.v[i - 1] = list.v[i];
    list.n--;
    return list;
}

static inline ow_ints ow_ints_insert(ow_view *view, ow_ints list, int64_t at, int64_t value) {
    if (!ow_ints_in_range(view, at, (int64_t)list.n + 1)) return list;
    if (list.n == OW_MAX_DIMS) {
        ow_view_fail(view, OW_RUNTIME_ERROR, "a tensor has at most %d dimensions", OW_MAX_DIMS);
        return list;
    }
    for (int64_t i = list.n; i > at; i--) list.v[i] = list.v[i - 1];
    list.v[at] = value;
    list.n++;
    return list;
}

static inline ow_ints ow_ints_prepend(ow_view *view, int64_t value, ow_ints list) {
    return ow_ints_insert(view, list, 0, value);
}

static inline ow_ints ow_ints_concat(ow_view *view, ow_ints first, ow_ints second) {
    for (int i = 0; i < second.n; i++) first = ow_ints_insert(view, first, first.n, second.v[i]);
    return first;
}

static inline ow_ints ow_ints_replace(ow_view *view, ow_ints list, int64_t at, int64_t value) {
    if (ow_ints_in_range(view, at, list.n)) list.v[at] = value;
    return list;
}

static inline ow_ints ow_ints_gather(ow_view *view, ow_ints list, ow_ints indices) {
    ow_ints result;
    result.n = indices.n;
    for (int i = 0; i < indices.n; i++) result.v[i] = ow_ints_at(view, list, indices.v[i]);
    return result;
}

/* ---- rules of shapes ---------------------------------------------------------------------------------- */

/* Replaces the one -1 in `size` by what makes the number of elements right. */
static inline ow_ints ow_ints_infer_size(ow_view *view, ow_ints size, int64_t numel) {
    ow_list_text_buffer text;
    int64_t known = 1, inferred = -1;
    int overflow = 0;
    for (int i = 0; i < size.n; i++) {
        if (size.v[i] == -1) {
            if (inferred >= 0) {
                ow_view_fail(view, OW_RUNTIME_ERROR, "only one dimension can be inferred");
                return size;
            }
            inferred = i;
        } else if (size.v[i] < 0) {
            ow_view_fail(view, OW_RUNTIME_ERROR, "invalid shape dimension %lld at index %d of shape %s",
                         (long long)size.v[i], i, ow_ints_text(&text, size));
            return size;
        } else {
            overflow |= __builtin_mul_overflow(known, size.v[i], &known);
        }
    }
    if (inferred >= 0 && known == 0 && !overflow) {
        ow_view_fail(view, OW_RUNTIME_ERROR,
                     "cannot reshape tensor of %lld elements into shape %s because the unspecified dimension size -1 "
                     "can be any value and is ambiguous",
                     (long long)numel, ow_ints_text(&text, size));
        return size;
    }
    if (overflow || (inferred < 0 ? known != numel : numel % known != 0)) {
        ow_view_fail(view, OW_RUNTIME_ERROR, "shape '%s' is invalid for input of size %lld", ow_ints_text(&text, size),
                     (long long)numel);
        return size;
    }
    if (inferred >= 0) size.v[inferred] = numel / known;
    return size;
}

/* Strides of the same memory under another shape: each new dimension must lie within one group of old dimensions that
 * follow each other in memory. */
static inline ow_ints ow_ints_view_strides(ow_view *view, ow_ints shape, ow_ints strides, ow_ints size) {
    ow_ints result;
    int64_t numel = 1;
    result.n = size.n;
    for (int d = 0; d < shape.n; d++) numel *= shape.v[d];
    if (numel == 0 || shape.n == 0) { /* nothing to reach: contiguous strides, or the old ones for the same shape */
        int64_t step = 1;
        if (ow_ints_equal(shape, size)) return strides;
        for (int d = size.n - 1; d >= 0; d--) {
            result.v[d] = step;
            step *= size.v[d] > 1 ? size.v[d] : 1;
        }
        return result;
    }
    int at = size.n - 1;
    int64_t base = strides.v[shape.n - 1], group = 1, taken = 1;
    for (int d = shape.n - 1; d >= 0; d--) {
        group *= shape.v[d];
        int ends = d == 0 || (shape.v[d - 1] != 1 && strides.v[d - 1] != group * base);
        if (!ends) continue;
        while (at >= 0 && (taken < group || size.v[at] == 1)) {
            result.v[at] = taken * base;
            taken *= size.v[at--];
        }
        if (taken != group) break;
        if (d > 0) {
            base = strides.v[d - 1];
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
static inline ow_ints ow_ints_expand_shape(ow_view *view, ow_ints shape, ow_ints size) {
    ow_list_text_buffer text, text2;
    int lead = size.n - shape.n;
    if (lead < 0) {
        ow_view_fail(view, OW_RUNTIME_ERROR,
                     "expand: the number of sizes provided (%d) must be greater or equal to the number of dimensions "
                     "in the tensor (%d)",
                     size.n, shape.n);
        return shape;
    }
    ow_ints result = size;
    for (int d = 0; d < size.n; d++) {
        int64_t old = d < lead ? 1 : shape.v[d - lead];
        if (size.v[d] == -1 && d >= lead) {
            result.v[d] = old;
        } else if (size.v[d] < 0) {
            ow_view_fail(view, OW_RUNTIME_ERROR,
                         "The expanded size of the tensor (%lld) isn't allowed in a leading, non-existing dimension %d",
                         (long long)size.v[d], d);
        } else if (old != 1 && size.v[d] != old) {
            ow_view_fail(view, OW_RUNTIME_ERROR,
                         "The expanded size of the tensor (%lld) must match the existing size (%lld) at non-singleton "
                         "dimension %d.  Target sizes: %s.  Tensor sizes: %s",
                         (long long)size.v[d], (long long)old, d, ow_ints_text(&text, size),
                         ow_ints_text(&text2, shape));
        }
    }
    return result;
}

static inline ow_ints ow_ints_expand_strides(ow_view *view, ow_ints shape, ow_ints strides, ow_ints size) {
    ow_ints sizes = ow_ints_expand_shape(view, shape, size), result = sizes;
    int lead = size.n - shape.n;
    if (view->error) return result;
    for (int d = size.n - 1; d >= 0; d--) {
        int64_t old = d < lead ? 1 : shape.v[d - lead];
        /* A new dimension of size one gets the stride that would continue the ones behind it; torch does the same. */
        int64_t next = shape.n == 0 ? 0 : d + 1 < size.n ? result.v[d + 1] * sizes.v[d + 1] : 1;
        result.v[d] = old != sizes.v[d] ? 0 : d < lead ? next : strides.v[d - lead];
    }
    return result;
}

static inline int ow_ints_squeezes(ow_ints shape, ow_ints dims, int d) {
    int named = dims.n < 0;
    for (int i = 0; i < dims.n; i++) named |= dims.v[i] == d;
    return named && shape.v[d] == 1;
}

static inline ow_ints ow_ints_squeeze_strides(ow_view *view, ow_ints shape, ow_ints strides, ow_ints dims) {
    (void)view;
    ow_ints result;
    result.n = 0;
    for (int d = 0; d < shape.n; d++)
        if (!ow_ints_squeezes(shape, dims, d)) result.v[result.n++] = strides.v[d];
    return result;
}

static inline ow_ints ow_ints_squeeze_shape(ow_view *view, ow_ints shape, ow_ints dims) {
    return ow_ints_squeeze_strides(view, shape, shape, dims);
}

#endif
