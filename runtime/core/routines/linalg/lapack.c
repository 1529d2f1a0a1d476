/* The driver of operators with a lapack body: finds the routine, makes room for it, and cleans up. */
#include "lapack.h"

#include <math.h>

#include "blas.h"
#include "tensor/storage.h"

#define NAMED_ROUTINE(name) {#name, &ow_lapack_##name},
static const struct {
    const char *name;
    const ow_lapack_routine *routine;
} routines[] = {OW_LAPACKS(NAMED_ROUTINE)};

static const ow_lapack_routine *find_routine(const ow_op *op) {
    for (size_t k = 0; k < sizeof routines / sizeof *routines; k++)
        if (strcmp(op->library, routines[k].name) == 0) return routines[k].routine;
    return ow_fail(OW_NOT_IMPLEMENTED, "%s: this opweave has no routine '%s'", op->name, op->library);
}

/* The first input is a matrix, or a batch of them, in a dtype of the operator. */
static int check_first(const ow_op *op, const ow_tensor *first) {
    if (first->ndim < 2) {
        ow_fail(OW_RUNTIME_ERROR, "%s: the first input must be a matrix, but has %d dimensions", op->name, first->ndim);
        return 0;
    }
    if (op->dtypes >> first->dtype & 1) return 1;
    ow_fail(OW_NOT_IMPLEMENTED, "\"%s\" not implemented for '%s'", op->name, ow_dtype_scalar_names[first->dtype]);
    return 0;
}

/* The dtype of a tensor by what stands in front of its sizes; whether anything does. */
static int has_mark(const ow_lapack *l, char mark, int *dtype) {
    switch (mark) {
    case '#': *dtype = OW_INT32; break;
    case '%': *dtype = OW_INT64; break;
    case '~': *dtype = l->real_dtype; break;
    case '^': *dtype = l->letter & 1 ? OW_COMPLEX128 : OW_COMPLEX64; break;
    default: *dtype = l->dtype; return 0;
    }
    return 1;
}

/* Is this what the word says, of the batch of the first input? */
static int fits(ow_lapack *l, const ow_tensor *t, const char *word, int count) {
    const ow_tensor *first = l->inputs[0];
    int batch = first->ndim - 2, dtype, marked = has_mark(l, *word, &dtype);
    if (t->ndim != batch + count - marked || t->dtype != dtype) return 0;
    for (int d = 0; d < batch; d++)
        if (t->sizes[d] != first->sizes[d]) return 0;
    for (int k = marked; k < count; k++) {
        int64_t *known = ow_lapack_size(l, word[k]), size = t->sizes[batch + k - marked];
        if (*known >= 0 && *known != size) return 0;
        *known = size;
    }
    return 1;
}

/* Users rarely see the messages: the composites check in torch's words. */
int ow_lapack_fits(ow_lapack *l, const char *inputs) {
    const char *at = inputs;
    for (int k = 0; k < 26; k++) l->sizes[k] = -1;
    for (int k = 0; *at; k++) {
        int count = (int)strcspn(at, ",");
        if (!fits(l, l->inputs[k], at, count)) {
            ow_fail(OW_RUNTIME_ERROR, "%s: input %d is not of one batch and dtype with the first, or its sizes are not those of %s",
                    l->op->name, k + 1, inputs);
            return 0;
        }
        at += count + (at[count] == ',');
    }
    int64_t rows = ow_lapack_rows(l->inputs[0]), columns = ow_lapack_width(l->inputs[0]);
    *ow_lapack_size(l, 'l') = rows < columns ? rows : columns;
    return 1;
}

static int is_option(const ow_lapack *l, int options) {
    if (!options || (l->flags[0] >= 0 && l->flags[0] < options)) return 1;
    ow_fail(OW_RUNTIME_ERROR, "%s: the option must be one of the numbers from 0 to %d, but is %lld", l->op->name, options - 1,
            (long long)l->flags[0]);
    return 0;
}

/* ---- results --------------------------------------------------------------------------------------------- */

/* Like the first input, but for the last dimensions, of which there are `own`. */
static ow_tensor *make(const ow_lapack *l, int dtype, int own, int64_t first, int64_t second) {
    int64_t sizes[OW_MAX_DIMS], strides[OW_MAX_DIMS], step = 1;
    int batch = l->inputs[0]->ndim - 2;
    memcpy(sizes, l->inputs[0]->sizes, sizeof(int64_t) * (size_t)batch);
    sizes[batch] = first;
    sizes[batch + 1] = second;
    for (int d = batch + own - 1; d >= 0; d--) {
        strides[d] = step;
        if (__builtin_mul_overflow(step, ow_lapack_leading(sizes[d]), &step))
            return ow_fail(OW_RUNTIME_ERROR, "the result of a matrix function is too large");
    }
    if (own == 2) {
        strides[batch] = 1;
        strides[batch + 1] = ow_lapack_leading(first);
    }
    return ow_tensor_new(dtype, batch + own, sizes, strides);
}

static ow_tensor *columns_like(const ow_lapack *l, const ow_tensor *t) {
    return make(l, l->dtype, 2, ow_lapack_rows(t), ow_lapack_width(t));
}

static ow_tensor *make_result(ow_lapack *l, int index, const char *word, int count) {
    if (*word == '=') {
        l->begins[index] = word[1] - '0' + 1;
        return columns_like(l, l->inputs[word[1] - '0']);
    }
    int dtype, marked = has_mark(l, *word, &dtype), own = count - marked;
    word += marked;
    return make(l, dtype, own, own > 0 ? *ow_lapack_size(l, word[0]) : 0, own > 1 ? *ow_lapack_size(l, word[1]) : 0);
}

/* Any of them may fail, with the error set. */
static void make_results(ow_lapack *l) {
    const char *at = l->routine->results;
    for (int k = 0; k < l->op->results; k++) {
        int count = (int)strcspn(at, ",");
        l->results[k] = make_result(l, k, at, count);
        at += count + (at[count] == ',');
    }
}

/* ---- the call -------------------------------------------------------------------------------------------- */

static int compute(const ow_plan *plan) {
    ow_lapack *l = plan->details;
    int done = 1;
    for (int k = 0; k < plan->nresults && done; k++)
        if (l->begins[k]) done = ow_copy(l->results[k], l->inputs[l->begins[k] - 1]);
    done = done && l->routine->run(l);
    for (int k = 0; k < l->works; k++) ow_dealloc(l->work[k].memory, l->work[k].nbytes);
    for (int k = 0; k < l->copied; k++) ow_tensor_free(l->copies[k]);
    return done;
}

int ow_lapack_call(ow_call *c) {
    static const int letters[OW_NSTORED] = {[OW_FLOAT64] = 1, [OW_COMPLEX64] = 2, [OW_COMPLEX128] = 3};
    const ow_op *op = c->op;
    const ow_tensor *first = c->inputs[0];
    const ow_lapack_routine *routine = find_routine(op);
    if (!routine || !check_first(op, first)) return 0;
    ow_lapack l = {.op = op, .inputs = c->inputs, .flags = c->ints, .number = c->reals[0], .results = c->results,
                   .routine = routine, .dtype = first->dtype};
    l.letter = letters[l.dtype];
    l.real_dtype = l.letter & 1 ? OW_FLOAT64 : OW_FLOAT32;
    l.batch = 1;
    for (int d = 0; d < first->ndim - 2; d++) l.batch *= first->sizes[d];
    if (!ow_lapack_fits(&l, routine->inputs) || !is_option(&l, routine->options)) return 0;
    if (routine->check && !routine->check(&l)) return 0;
    make_results(&l);
    return ow_execute_call(c, op->results, compute, &l);
}

/* ---- operands -------------------------------------------------------------------------------------------- */

int ow_lapack_is_packed(const ow_tensor *t, int rows) {
    int n = t->ndim, fast = rows ? n - 1 : n - 2, slow = rows ? n - 2 : n - 1;
    if (t->numel == 0) return 0;
    int64_t step = t->sizes[fast];
    if ((t->sizes[fast] > 1 && t->strides[fast] != 1) || (t->sizes[slow] > 1 && t->strides[slow] != step)) return 0;
    step *= t->sizes[slow];
    for (int d = n - 3; d >= 0; d--) {
        if (t->sizes[d] > 1 && t->strides[d] != step) return 0;
        step *= t->sizes[d];
    }
    return 1;
}

/* Remembers a copy, which is freed at the end; gives it back. */
static ow_tensor *keep(ow_lapack *l, ow_tensor *copy) {
    if (copy) l->copies[l->copied++] = copy;
    return copy;
}

ow_tensor *ow_lapack_columns(ow_lapack *l, int input) {
    ow_tensor *t = l->inputs[input];
    return ow_lapack_is_packed(t, 0) ? t : ow_lapack_scratch(l, input);
}

ow_tensor *ow_lapack_scratch(ow_lapack *l, int input) {
    ow_tensor *t = l->inputs[input], *copy = keep(l, columns_like(l, t));
    return copy && ow_copy(copy, t) ? copy : NULL;
}

ow_tensor *ow_lapack_lines(ow_lapack *l, int input) {
    ow_tensor *t = l->inputs[input];
    return t->flags & OW_CONTIGUOUS ? t : keep(l, ow_clone(t, t->dtype, OW_C_ORDER));
}

/* ---- work ---------------------------------------------------------------------------------------------- */

void *ow_lapack_work(ow_lapack *l, int64_t count, int64_t itemsize) {
    int64_t nbytes;
    if (count < 1) count = 1;
    if (__builtin_mul_overflow(count, itemsize, &nbytes))
        return ow_fail(OW_OUT_OF_MEMORY, "out of memory: a matrix function needs to work in %lld elements", (long long)count);
    void *memory = ow_alloc(nbytes);
    if (!memory) return NULL;
    l->work[l->works].memory = memory;
    l->work[l->works++].nbytes = nbytes;
    return memory;
}

int64_t ow_lapack_work_size(const ow_lapack *l, const void *first) {
    if (l->letter & 1) return (int64_t) * (const double *)first;
    /* A float32 may have been rounded down. */
    return (int64_t)nextafterf(*(const float *)first, INFINITY) + 1;
}

void *ow_lapack_begin(ow_lapack *l, double work, int64_t shared) {
    const ow_tensor *first = l->inputs[0];
    int64_t rows = ow_lapack_rows(first), columns = ow_lapack_width(first);
    ow_blas_set_num_threads((rows < columns ? rows : columns) < shared ? 1 : ow_num_threads());
    l->part = 1 + (int64_t)(OW_PART_WORK / (1 + work));
    work *= (double)l->batch;
    return ow_gil_release(work < 1e15 ? (int64_t)work : INT64_MAX);
}

int ow_lapack_end(void *token) {
    ow_gil_acquire(token);
    return !ow_error_pending();
}

int ow_lapack_has(const ow_lapack *l, int64_t k) {
    return k < l->batch && (!k || k % l->part || ow_signals_handled());
}

void ow_lapack_subtract(const ow_lapack *l, const ow_matrix *a, const ow_matrix *b, const ow_matrix *c) {
    ow_scalar plus = {0}, minus = {0};
    if (ow_lapack_is_complex(l)) plus.z = 1, minus.z = -1;
    else plus.d = 1, minus.d = -1;
    ow_gemm(l->dtype, minus, a, b, plus, c, 1);
}

enum {
    LEAST_MATRIX = 2048, /* below, threads mostly wait for one another's turn to get OpenBLAS's buffers */
    LEAST_WORK = 16384
};

void ow_lapack_each(const ow_lapack *l, double work, ow_task task, void *context) {
    double all = work * (double)l->batch;
    if (l->batch < ow_num_threads() || work < LEAST_MATRIX) ow_serial_for(l->batch, 1, all, task, context);
    else ow_parallel_for(l->batch, 1 + (int64_t)(LEAST_WORK / work), all, task, context);
}
