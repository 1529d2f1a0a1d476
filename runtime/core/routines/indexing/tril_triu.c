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

static int clear_triangles(const ow_plan *plan) {
    triangle *s = plan->details;
    ow_tensor *target = s->target = plan->results[0];
    if (!ow_copy_checked(target, plan->inputs[0])) return 0;
    if (!target->numel) return 1;
    int64_t columns = target->sizes[target->ndim - 1];
    return ow_long_for(target->numel / columns, 1 + 32768 / columns, 0.25 * (double)target->numel, clear_rows, s);
}

static int keep_triangle(ow_call *c, int upper) {
    triangle s = {.diagonal = c->ints[0], .upper = upper};
    if (c->inputs[0]->ndim < 2)
        return ow_fail(OW_RUNTIME_ERROR, "%s: input tensor must have at least 2 dimensions", c->op->name) != NULL;
    return ow_make_updated(c, 1) ? ow_execute_call(c, 1, clear_triangles, &s) : 0;
}

int ow_indexing_tril(ow_call *c) { return keep_triangle(c, 0); }

int ow_indexing_triu(ow_call *c) { return keep_triangle(c, 1); }
