/* The driver of scans: running combinations along one dimension.
 *
 * Along the fastest dimension the line kernel runs through each line; along others the step kernel adds row to row, a
 * block of columns at a time. Lines and columns are independent of each other: they are what threads share. */
#include <stdlib.h>

#include "driver.h"
#include "plan.h"

#define FEW_COLUMNS 8 /* rows narrower than this are better scanned as strided lines */
/* A second of work: such lines are scanned chunk by chunk, so that signals are handled in between. One call takes half the
 * time, as it needs no copies. */
#define LONG_LINE (16 * OW_PART_WORK)

typedef struct {
    const ow_scan_kernels *kernels;
    ow_cast load, store; /* input to accumulator, accumulator to result */
    int converts;        /* 1 if the input or the result has another dtype than the accumulator */
    int narrow;          /* 1 if both have half its precision */
    int whole;           /* 1 if one call of a kernel computes a line */
    double cost;         /* of an element */
    int64_t size;        /* bytes of an accumulator */
    const char *x;
    char *out;
    ow_axis along;
    int nothers;
    ow_axis others[OW_MAX_DIMS]; /* fastest first */
} scan_state;

/* ---- lines -------------------------------------------------------------------------------------------- */

typedef struct {
    const scan_state *s;
    const char *x;
    char *out;
    char before[OW_MAX_ITEMSIZE]; /* the result of the chunk before */
} scan_chunks;

/* Elements [begin, end) of a line, chunk by chunk. */
static void scan_range(void *context, int64_t begin, int64_t end) {
    scan_chunks *c = context;
    const scan_state *s = c->s;
    const ow_axis *along = &s->along;
    /* The first accumulator of the buffer carries the result of the chunk before. */
    _Alignas(64) char buffer[(OW_BLOCK + 1) * OW_MAX_ITEMSIZE];
    memcpy(buffer, c->before, (size_t)s->size);
    for (int64_t done = begin; done < end; done += OW_BLOCK) {
        int64_t count = end - done < OW_BLOCK ? end - done : OW_BLOCK;
        int carried = done > 0;
        s->load(buffer + s->size, s->size, c->x + done * along->in, along->in, count);
        char *first = buffer + (carried ? 0 : s->size);
        s->kernels->line(first, s->size, first, s->size, count + carried);
        s->store(c->out + done * along->out, along->out, buffer + s->size, s->size, count);
        memcpy(buffer, buffer + count * s->size, (size_t)s->size);
    }
    memcpy(c->before, buffer, (size_t)s->size);
}

static void scan_line(const scan_state *s, const char *x, char *out) {
    const ow_axis *along = &s->along;
    if (s->whole) {
        (s->narrow ? s->kernels->narrow : s->kernels->line)(out, along->out, x, along->in, along->size);
        return;
    }
    scan_chunks c = {.s = s, .x = x, .out = out};
    ow_serial_for(along->size, OW_BLOCK, s->cost * (double)along->size, scan_range, &c);
}

static void scan_lines(void *context, int64_t begin, int64_t end) {
    const scan_state *s = context;
    for (int64_t k = begin; k < end; k++) {
        int64_t to, from = ow_axes_offset(s->others, s->nothers, k, &to);
        scan_line(s, s->x + from, s->out + to);
    }
}

/* ---- rows --------------------------------------------------------------------------------------------- */

/* n columns from the first row to the last. */
static void scan_columns(const scan_state *s, const char *x, char *out, int64_t n) {
    const ow_axis *along = &s->along, *across = &s->others[0];
    if (!s->converts && across->in == s->size && across->out == s->size) {
        for (int64_t i = 0; i < along->size; i++, x += along->in, out += along->out)
            s->kernels->step(out, i ? out - along->out : NULL, x, n);
        return;
    }
    _Alignas(64) char acc[OW_BLOCK * OW_MAX_ITEMSIZE], row[OW_BLOCK * OW_MAX_ITEMSIZE];
    for (int64_t i = 0; i < along->size; i++, x += along->in, out += along->out) {
        s->load(row, s->size, x, across->in, n);
        s->kernels->step(acc, i ? acc : NULL, row, n);
        s->store(out, across->out, acc, s->size, n);
    }
}

static void scan_blocks(void *context, int64_t begin, int64_t end) {
    const scan_state *s = context;
    const ow_axis *across = &s->others[0];
    int64_t blocks = (across->size + OW_BLOCK - 1) / OW_BLOCK;
    for (int64_t k = begin; k < end; k++) {
        int64_t column = k % blocks * OW_BLOCK, to;
        int64_t from = ow_axes_offset(s->others + 1, s->nothers - 1, k / blocks, &to);
        int64_t n = across->size - column < OW_BLOCK ? across->size - column : OW_BLOCK;
        scan_columns(s, s->x + from + column * across->in, s->out + to + column * across->out, n);
    }
}

/* ---- the call ----------------------------------------------------------------------------------------- */

static int compute(const ow_plan *plan) {
    scan_state *s = plan->details;
    const ow_op *op = plan->op;
    const ow_tensor *self = plan->inputs[0], *out = plan->results[0];
    int64_t item = ow_itemsize(self->dtype), out_item = ow_itemsize(out->dtype), lines = 1;
    s->x = self->data;
    s->out = out->data;
    s->along = (ow_axis){1, 0, 0};
    s->nothers = 0;
    for (int d = self->ndim - 1; d >= 0; d--) {
        ow_axis axis = {self->sizes[d], self->strides[d] * item, out->strides[d] * out_item};
        if (plan->along >> d & 1) s->along = axis;
        else if (axis.size > 1) s->others[s->nothers++] = axis;
        if (!(plan->along >> d & 1)) lines *= axis.size;
    }
    s->nothers = ow_axes_arrange(s->others, s->nothers);
    const ow_axis *across = &s->others[0];
    int by_rows = s->nothers && across->in && llabs(across->in) < llabs(s->along.in) && across->size >= FEW_COLUMNS;
    int64_t tasks = by_rows ? lines / across->size * ((across->size + OW_BLOCK - 1) / OW_BLOCK) : lines;
    /* Elements of a line wait for each other; those of a row do not. */
    s->cost = op->cost * (by_rows ? 2 : 8);
    s->whole = (!s->converts || s->narrow) && s->cost * (double)s->along.size < LONG_LINE;
    double work = (double)self->numel * s->cost;
    int64_t grain = 1 + (int64_t)(8192 / (work / (double)tasks));
    return ow_long_for(tasks, grain, work, by_rows ? scan_blocks : scan_lines, s);
}

static int run(const ow_op *op, scan_state *s, ow_tensor *self, ow_tensor *out, int64_t dim, int accumulator) {
    const ow_plan plan = {.op = op, .inputs = &self, .results = &out, .nresults = 1, .compute = accumulator,
                          .along = (uint64_t)1 << dim, .details = s};
    return !self->numel || ow_execute(&plan, compute);
}

/* The dtype of the result: as asked, as `out` has it, or by promotion. -1 with the error set. */
static int result_dtype(const ow_op *op, const ow_tensor *self, int dtype, const ow_tensor *out, ow_mode mode) {
    int result = self->dtype;
    if (out && dtype >= 0 && out->dtype != dtype) {
        if (mode == OW_INPLACE)
            ow_fail(OW_RUNTIME_ERROR, "Bad in-place call: input tensor dtype %s and output tensor dtype %s should match",
                    ow_type_names[out->dtype], ow_type_names[dtype]);
        else
            ow_fail(OW_RUNTIME_ERROR, "Expected out tensor to have dtype %s, but got %s instead", ow_type_names[dtype],
                    ow_type_names[out->dtype]);
        return -1;
    }
    /* What has no argument `dtype` does not take the result's for one. */
    int chosen = op->promotion == OW_PROMOTE_INT_TO_LONG || op->dtypes >> self->dtype & 1;
    if (out && chosen) result = out->dtype;
    else if (dtype >= 0) result = dtype;
    else if (op->promotion == OW_PROMOTE_INT_TO_LONG && ow_dtype_kinds[result] < OW_KIND_FLOATING) result = OW_INT64;
    /* Accumulators that promotion takes out of bool are of no use in it, unless there is nothing to accumulate. */
    int useless = result == OW_BOOL && op->promotion == OW_PROMOTE_INT_TO_LONG && self->ndim && self->numel;
    if (op->dtypes >> result & 1 && !useless) return result;
    ow_refuse_dtype(op, "_out_cpu", result);
    return -1;
}

ow_tensor *ow_scan(const ow_op *op, ow_tensor *self, int64_t dim, int dtype, ow_tensor *out, ow_mode mode) {
    const ow_scan_table *table = op->tables[ow_level];
    if (!ow_wrap_dim(&dim, self->ndim)) return NULL;
    int result = result_dtype(op, self, dtype, out, mode);
    if (result < 0) return NULL;
    /* Like torch, accumulate single in double precision: a scan has no tree to keep rounding errors small. */
    int accumulator = ow_compute_dtype[result];
    if (result == OW_FLOAT32 && table->by[OW_FLOAT64].line) accumulator = OW_FLOAT64;
    if (result == OW_COMPLEX64 && table->by[OW_COMPLEX128].line) accumulator = OW_COMPLEX128;
    scan_state s = {.kernels = &table->by[accumulator],
                    .load = ow_cast_loop(accumulator, self->dtype),
                    .store = ow_cast_loop(result, accumulator),
                    .converts = accumulator != self->dtype || accumulator != result,
                    .narrow = result == self->dtype && result == OW_FLOAT32 && table->by[accumulator].narrow,
                    .size = ow_itemsize(accumulator)};
    if (!s.kernels->line)
        return ow_fail(OW_NOT_IMPLEMENTED, "\"%s_out_cpu\" not implemented for '%s'", op->name, ow_dtype_scalar_names[result]);
    if (mode == OW_NEW) {
        ow_tensor *fresh = ow_tensor_new(result, self->ndim, self->sizes, NULL);
        if (!fresh || run(op, &s, self, fresh, dim, accumulator)) return fresh;
        ow_tensor_free(fresh);
        return NULL;
    }
    if (mode == OW_OUT && !ow_prepare_out(op->name, out, result, self->ndim, self->sizes)) return NULL;
    if (!ow_check_writable(out, &self, 1)) return NULL;
    return run(op, &s, self, out, dim, accumulator) ? out : NULL;
}
