/* tril and triu: one triangle of each matrix stays, the rest becomes zero. */
#include "indexing.h"

typedef struct {
    ow_tensor *target;
    int64_t diagonal;
    int upper;
} triangle;

static void clear(char *row, int64_t stride, int64_t itemsize, int64_t from, int64_t to) {
    if (from < 0) from = 0;
    if (from >= to) return;
    if (stride == itemsize) memset(row + from * stride, 0, (size_t)((to - from) * stride));
    else
        for (int64_t j = from; j < to; j++) memset(row + j * stride, 0, (size_t)itemsize);
}

/* Rows [begin, end), counted over all matrices. */
static void clear_rows(void *context, int64_t begin, int64_t end) {
    const triangle *s = context;
    const ow_tensor *t = s->target;
    int last = t->ndim - 1;
    int64_t itemsize = ow_itemsize(t->dtype), columns = t->sizes[last];
    for (int64_t at = begin; at < end; at++) {
        char *row = t->data;
        int64_t rest = at, i = at % t->sizes[last - 1];
        for (int d = last - 1; d >= 0; d--) {
            row += rest % t->sizes[d] * t->strides[d] * itemsize;
            rest /= t->sizes[d];
        }
        /* Column j lies on diagonal j - i. Diagonals beyond the matrix are clamped before the sum can overflow. */
        int64_t k = s->diagonal < -t->sizes[last - 1] ? -t->sizes[last - 1] : s->diagonal > columns ? columns : s->diagonal;
        int64_t edge = i + k + !s->upper;
        if (s->upper) clear(row, t->strides[last] * itemsize, itemsize, 0, edge < columns ? edge : columns);
        else clear(row, t->strides[last] * itemsize, itemsize, edge, columns);
    }
}

static ow_tensor *keep_triangle(const ow_indexing_call *call, int upper) {
    ow_tensor *self = call->inputs[0];
    if (self->ndim < 2)
        return ow_fail(OW_RUNTIME_ERROR, "%s: input tensor must have at least 2 dimensions", call->op->name);
    ow_tensor *target = ow_update_begin(call, 1);
    if (!target || !target->numel || ow_infers()) return target;
    triangle s = {target, call->ints[0], upper};
    int64_t columns = target->sizes[target->ndim - 1];
    double work = 0.25 * (double)target->numel;
    return ow_update_end(call, target, ow_long_for(target->numel / columns, 1 + 32768 / columns, work, clear_rows, &s));
}

ow_tensor *ow_indexing_tril(const ow_indexing_call *call) { return keep_triangle(call, 0); }

ow_tensor *ow_indexing_triu(const ow_indexing_call *call) { return keep_triangle(call, 1); }
