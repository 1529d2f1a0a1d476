/* See recurrence.h. The matrix is packed once for all steps, in the panels of the kernel that multiplies by it. */
#include "recurrence.h"

#include "contraction_parts.h"
#include "elementwise.h"

enum {
    AT_ONCE = 4 /* multiplications in the time of one addition */
};

typedef struct {
    const ow_recurrence *r;
    ow_loop loop;
    const ow_panel_kernel *kernel;
    ow_panel_product product; /* of the step */
    char *panels;
    int64_t size, step; /* of an element, and the place of the step */
    int64_t panel_size; /* in bytes */
    int count;          /* of vectors in a panel, but for the last */
} task;

static int64_t rows_of(const task *t) { return t->r->to->sizes[1]; }
static char *place_of(const task *t, const ow_tensor *at) { return at->data + t->step * at->strides[0] * t->size; }

/* ---- the product ---------------------------------------------------------------------------------------- */

typedef void one_panel(task *t, int64_t first, int columns, int count, char *panel);

static void each_panel(task *t, int64_t begin, int64_t end, one_panel *run) {
    const int lanes = t->kernel->lanes;
    for (int64_t k = begin; k < end; k++) {
        const int64_t first = k * t->count * lanes, columns = ow_min(t->count * lanes, t->product.columns - first);
        run(t, first, (int)columns, (int)((columns + lanes - 1) / lanes), t->panels + k * t->panel_size);
    }
}

static void pack(task *t, int64_t first, int columns, int count, char *panel) {
    t->kernel->pack(&t->product, first, columns, count, panel);
}

static void multiply(task *t, int64_t first, int columns, int count, char *panel) {
    t->kernel->multiply_panel(&t->product, first, columns, count, panel);
}

static void pack_panels(void *context, int64_t begin, int64_t end) { each_panel(context, begin, end, pack); }
static void multiply_panels(void *context, int64_t begin, int64_t end) { each_panel(context, begin, end, multiply); }

/* ---- the operator --------------------------------------------------------------------------------------- */

static void run_rows(void *context, int64_t begin, int64_t end) {
    const task *t = context;
    const int n = t->r->op->results + t->r->op->ninputs;
    char *data[OW_MAX_INPUTS + OW_MAX_OUTPUTS];
    int64_t stride[OW_MAX_INPUTS + OW_MAX_OUTPUTS];
    for (int k = 0; k < n; k++) {
        data[k] = place_of(t, t->r->tensors[k]) + begin * t->r->tensors[k]->strides[1] * t->size;
        stride[k] = t->size;
    }
    for (int64_t row = begin; row < end; row++) {
        t->loop(data, stride, t->r->tensors[0]->sizes[2], NULL, 0);
        for (int k = 0; k < n; k++) data[k] += t->r->tensors[k]->strides[1] * t->size;
    }
}

/* ---- all steps ------------------------------------------------------------------------------------------ */

/* A tensor of steps and rows, each of which is contiguous. */
static int has_rows(const ow_tensor *t, const ow_tensor *like, int64_t width) {
    return t->ndim == 3 && t->dtype == like->dtype && t->sizes[0] == like->sizes[0] && t->sizes[1] == like->sizes[1] &&
           t->sizes[2] == width && t->strides[2] == 1;
}

int ow_recurrence_suits(const ow_recurrence *r) {
    const ow_op *op = r->op;
    if (op->family != OW_ELEMENTWISE || op->nparams || !ow_panel_kernel_of(r->to->dtype)) return 0;
    if (!(op->dtypes >> r->to->dtype & 1) || !ow_loop_of(op, r->to->dtype, 1)) return 0;
    const ow_tensor *w = r->weight;
    if (w->ndim != 2 || w->dtype != r->to->dtype || !(w->flags & OW_CONTIGUOUS) || !w->numel || r->to->ndim != 3) return 0;
    int suits = r->to->sizes[0] > 0 && r->to->sizes[1] > 0 && has_rows(r->to, r->to, w->sizes[1]) &&
                has_rows(r->addend, r->to, w->sizes[1]) && has_rows(r->from, r->to, w->sizes[0]);
    for (int k = 0; suits && k < op->results + op->ninputs; k++)
        suits = r->tensors[k]->ndim == 3 && has_rows(r->tensors[k], r->to, r->tensors[0]->sizes[2]);
    return suits;
}

/* Offsets of rows of `from`, of positions of a row, which are those of columns as well, and of rows of the matrix. */
static void find_offsets(task *t, int64_t *offsets, int64_t longest) {
    ow_panel_product *p = &t->product;
    p->left_rows = offsets;
    for (int64_t i = 0; i < p->rows; i++) *offsets++ = i * t->r->from->strides[1];
    p->left_inner = p->right_columns = p->to_columns = offsets;
    for (int64_t i = 0; i < longest; i++) *offsets++ = i;
    p->right_inner = offsets;
    for (int64_t i = 0; i < p->inner; i++) *offsets++ = i * p->columns;
}

static int run_steps(task *t, int64_t panels) {
    const ow_recurrence *r = t->r;
    ow_panel_product *p = &t->product;
    const int64_t steps = r->to->sizes[0];
    const double elements = (double)p->inner * (double)p->columns, product_work = (double)p->rows * elements / AT_ONCE;
    const double work = (double)p->rows * (double)r->tensors[0]->sizes[2] * r->op->cost;
    const double all_work = elements + (double)steps * (product_work + work);
    void *token = ow_gil_release(all_work < 1e15 ? (int64_t)all_work : INT64_MAX);
    int done = ow_parallel_for(panels, 1, elements, pack_panels, t);
    for (int64_t k = 0; done && k < steps; k++) {
        t->step = r->is_backwards ? steps - 1 - k : k;
        p->left = place_of(t, r->from), p->addend = place_of(t, r->addend), p->to = place_of(t, r->to);
        if (r->operator_first) done = ow_parallel_for(rows_of(t), 1, work, run_rows, t);
        done = done && ow_parallel_for(panels, 1, product_work, multiply_panels, t);
        if (!r->operator_first) done = done && ow_parallel_for(rows_of(t), 1, work, run_rows, t);
    }
    ow_gil_acquire(token);
    return done;
}

int ow_recurrence_run(const ow_recurrence *r) {
    const int64_t inner = r->weight->sizes[0], columns = r->weight->sizes[1], longest = inner > columns ? inner : columns;
    const int dtype = r->to->dtype;
    task t = {.r = r, .loop = ow_loop_of(r->op, dtype, 1), .kernel = ow_panel_kernel_of(dtype), .size = ow_itemsize(dtype)};
    t.product = (ow_panel_product){.rows = rows_of(&t), .inner = inner, .columns = columns, .right = r->weight->data,
                                   .readable = r->weight->numel, .to_row = r->to->strides[1], .addend_row = r->addend->strides[1]};
    const int64_t lanes = t.kernel->lanes, vectors = (columns + lanes - 1) / lanes;
    const int64_t most = (vectors + t.kernel->vectors - 1) / t.kernel->vectors;
    t.count = (int)((vectors + most - 1) / most); /* so that panels are of about one size */
    const int64_t panels = (vectors + t.count - 1) / t.count;
    t.panel_size = inner * t.count * lanes * t.size;
    const int64_t panel_bytes = panels * t.panel_size + lanes * t.size;
    const int64_t nbytes = panel_bytes + 8 * (t.product.rows + longest + inner);
    t.panels = ow_alloc(nbytes);
    if (!t.panels) return 0;
    find_offsets(&t, (int64_t *)(t.panels + panel_bytes), longest);
    const int done = run_steps(&t, panels);
    ow_dealloc(t.panels, nbytes);
    return done;
}
