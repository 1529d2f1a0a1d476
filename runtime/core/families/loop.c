/* The driver of loops in C: an operator's signature names the last dimensions of its tensors, `(n,4),(n)->(n)`; those before
 * are batches, which are broadcast together. Inputs are contiguous, in the dtype of computation; results are new. */
#include <ctype.h>
#include <stdlib.h>

#include "elementwise.h"
#include "iterate.h"
#include "loop.h"
#include "plan.h"

typedef struct {
    int n;
    const char *token[OW_LOOP_DIMS]; /* a name, a size, or # and the number of a parameter */
    int length[OW_LOOP_DIMS];
} core_dims;

typedef struct {
    const ow_op *op;
    int noperands; /* results come first */
    core_dims dims[OW_MAX_OPERANDS];
    int nnames;
    const char *name[OW_MAX_NAMED_SIZES];
    int name_length[OW_MAX_NAMED_SIZES];
    int64_t size[OW_MAX_NAMED_SIZES];
} signature;

static const char *read_group(const char *text, core_dims *dims) {
    dims->n = 0;
    for (text++; *text != ')'; text += *text == ',') {
        int length = (int)strcspn(text, ",)");
        dims->token[dims->n] = text;
        dims->length[dims->n++] = length;
        text += length;
    }
    return text + 1;
}

/* Inputs come first in the text, results in memory. */
static void read_signature(signature *s, const ow_op *op) {
    const char *text = op->library;
    s->op = op;
    s->noperands = op->results + op->ninputs;
    s->nnames = 0;
    for (int k = 0; k < op->ninputs; k++) text = read_group(text, &s->dims[op->results + k]) + (k + 1 < op->ninputs);
    text += 2; /* -> */
    for (int k = 0; k < op->results; k++) text = read_group(text, &s->dims[k]) + 1;
}

static int name_of(signature *s, const core_dims *dims, int d) {
    for (int k = 0; k < s->nnames; k++)
        if (s->name_length[k] == dims->length[d] && !strncmp(s->name[k], dims->token[d], (size_t)dims->length[d])) return k;
    s->name[s->nnames] = dims->token[d];
    s->name_length[s->nnames] = dims->length[d];
    s->size[s->nnames] = -1;
    return s->nnames++;
}

/* Takes the sizes of the last dimensions of an input. 1, or 0 with the error set. */
static int take_sizes(signature *s, int input, const ow_tensor *t) {
    const core_dims *dims = &s->dims[s->op->results + input];
    if (t->ndim < dims->n) {
        ow_fail(OW_RUNTIME_ERROR, "%s(): argument %d has %d dimensions, but at least %d are expected: %s", s->op->name,
                input + 1, t->ndim, dims->n, s->op->library);
        return 0;
    }
    for (int d = 0; d < dims->n; d++) {
        int64_t size = t->sizes[t->ndim - dims->n + d], expected = size;
        if (isdigit((unsigned char)dims->token[d][0])) {
            expected = strtoll(dims->token[d], NULL, 10);
        } else {
            int k = name_of(s, dims, d);
            if (s->size[k] < 0) s->size[k] = size;
            expected = s->size[k];
        }
        if (size == expected) continue;
        ow_fail(OW_RUNTIME_ERROR, "%s(): the size of dimension %d of argument %d is %lld, but expected is %.*s = %lld: %s",
                s->op->name, d - dims->n, input + 1, (long long)size, dims->length[d], dims->token[d], (long long)expected,
                s->op->library);
        return 0;
    }
    return 1;
}

/* The size of a dimension of a result; negative with the error set. */
static int64_t size_of(signature *s, const core_dims *dims, int d, const ow_scalar *params) {
    const char *token = dims->token[d];
    if (isdigit((unsigned char)*token)) return strtoll(token, NULL, 10);
    if (*token != '#') return s->size[name_of(s, dims, d)];
    int64_t size = params[strtol(token + 1, NULL, 10)].i;
    if (size < 0)
        ow_fail(OW_RUNTIME_ERROR, "%s(): a size of the result is negative: %lld", s->op->name, (long long)size);
    return size;
}

typedef struct {
    ow_loop loop;
    const ow_scalar *params;
    int noperands, ndim;
    int64_t shape[OW_MAX_DIMS];
    int64_t stride[OW_MAX_OPERANDS][OW_MAX_DIMS];
    char *data[OW_MAX_OPERANDS];
    int64_t last[OW_MAX_OPERANDS + OW_MAX_NAMED_SIZES]; /* the strides of the last batch dimension, then the sizes */
} batches;

static void run_batches(void *context, int64_t begin, int64_t end) {
    const batches *b = context;
    int64_t inner = b->ndim ? b->shape[b->ndim - 1] : 1;
    while (begin < end) {
        int64_t first = begin % inner, count = inner - first < end - begin ? inner - first : end - begin;
        char *ptr[OW_MAX_OPERANDS];
        for (int k = 0; k < b->noperands; k++) {
            int64_t rest = begin;
            ptr[k] = b->data[k];
            for (int d = b->ndim - 1; d >= 0; d--) {
                ptr[k] += rest % b->shape[d] * b->stride[k][d];
                rest /= b->shape[d];
            }
        }
        b->loop(ptr, b->last, count, b->params, 0);
        begin += count;
    }
}

static void take_operand(batches *b, int k, const ow_tensor *t, int core) {
    int batch = t->ndim - core, lead = b->ndim - batch;
    int64_t item = ow_itemsize(t->dtype);
    b->data[k] = t->data;
    for (int d = 0; d < b->ndim; d++)
        b->stride[k][d] = d < lead || t->sizes[d - lead] == 1 ? 0 : t->strides[d - lead] * item;
    b->last[k] = b->ndim ? b->stride[k][b->ndim - 1] : 0;
}

/* The results, whose elements are of the dtypes in which they are computed, or others. 1, or 0 with the error set. */
static int run(signature *s, ow_call *c, ow_tensor *const *inputs, int compute, const ow_scalar *params, batches *b) {
    const ow_op *op = c->op;
    ow_tensor *work[OW_MAX_OUTPUTS] = {NULL};
    int64_t number = 1, elements = 1;
    int done = 1;
    for (int k = 0; k < op->results && done; k++) {
        ow_tensor *r = c->results[k];
        int computed = op->own[k] ? op->own[k] - 1 : compute;
        work[k] = r->dtype == computed ? r : ow_tensor_new(computed, r->ndim, r->sizes, NULL);
        done = work[k] != NULL;
        if (done && work[k]->numel) memset(work[k]->data, 0, (size_t)(work[k]->numel * ow_itemsize(computed)));
        if (done) take_operand(b, k, work[k], s->dims[k].n);
    }
    for (int k = 0; k < op->ninputs && done; k++) {
        take_operand(b, op->results + k, inputs[k], s->dims[op->results + k].n);
        if (inputs[k]->numel > elements) elements = inputs[k]->numel;
    }
    for (int d = 0; d < b->ndim; d++) number *= b->shape[d];
    for (int k = 0; k < s->nnames; k++) b->last[s->noperands + k] = s->size[k];
    b->loop = ((const ow_elementwise_table *)op->tables[ow_level])->general[compute];
    b->params = params;
    b->noperands = s->noperands;
    double work_of_all = op->cost * (double)elements;
    if (done && number) done = ow_long_for(number, 1 + (int64_t)(16384 / (1 + work_of_all / (double)number)), work_of_all, run_batches, b);
    for (int k = 0; k < op->results; k++) {
        if (!work[k] || work[k] == c->results[k]) continue;
        done = done && ow_copy(c->results[k], work[k]);
        ow_tensor_free(work[k]);
    }
    return done;
}

/* Makes the results. How many there are, or 0 with the error set. */
static int new_results(signature *s, ow_call *c, int promoted, const ow_scalar *params, const batches *b) {
    int made = 0;
    for (; made < c->op->results; made++) {
        const core_dims *dims = &s->dims[made];
        int64_t shape[OW_MAX_DIMS];
        int ndim = b->ndim;
        memcpy(shape, b->shape, sizeof(int64_t) * (size_t)ndim);
        for (int d = 0; d < dims->n && ndim < OW_MAX_DIMS; d++)
            if ((shape[ndim++] = size_of(s, dims, d, params)) < 0) break;
        if (ndim && shape[ndim - 1] < 0) break;
        int own = c->op->own[made];
        if (!(c->results[made] = ow_tensor_new(own ? own - 1 : promoted, ndim, shape, NULL))) break;
    }
    if (made == c->op->results) return made;
    while (made) ow_tensor_free(c->results[--made]);
    return 0;
}

typedef struct {
    signature *s;
    batches *b;
    ow_call *call;
} loop_call;

/* Inputs in other dtypes, or not contiguous, are copied. */
static int compute(const ow_plan *plan) {
    const loop_call *l = plan->details;
    const ow_op *op = plan->op;
    ow_tensor *inputs[OW_MAX_INPUTS] = {NULL};
    int done = 1;
    for (int k = 0; k < op->ninputs && done; k++) {
        ow_tensor *t = plan->inputs[k];
        int wanted = op->fixed[k] == OW_PROMOTED ? plan->compute : op->fixed[k];
        inputs[k] = t;
        if (t->dtype == wanted && t->flags & OW_CONTIGUOUS) continue;
        inputs[k] = ow_tensor_new(wanted, t->ndim, t->sizes, NULL);
        done = inputs[k] && ow_copy(inputs[k], t);
    }
    done = done && run(l->s, l->call, inputs, plan->compute, plan->params, l->b);
    for (int k = 0; k < op->ninputs; k++)
        if (inputs[k] && inputs[k] != plan->inputs[k]) ow_tensor_free(inputs[k]);
    return done;
}

int ow_loop_call(ow_call *c) {
    const ow_op *op = c->op;
    signature s;
    batches b;
    ow_scalar params[OW_MAX_PARAMS];
    ow_tensor batch[OW_MAX_INPUTS], *leading[OW_MAX_INPUTS];
    int promoted;
    if (!ow_check_operands(op, c->inputs) || !ow_promote_operands(op, c->inputs, &promoted)) return 0;
    read_signature(&s, op);
    for (int k = 0; k < op->ninputs; k++) {
        if (!take_sizes(&s, k, c->inputs[k])) return 0;
        batch[k] = *c->inputs[k];
        batch[k].ndim -= s.dims[op->results + k].n;
        leading[k] = &batch[k];
    }
    b.ndim = ow_broadcast_shape(leading, op->ninputs, b.shape);
    if (b.ndim < 0 || !ow_load_all_params(op, c->params, ow_compute_dtype[promoted], params)) return 0;
    if (!ow_check_params(op, c->params, promoted, s.size, s.nnames)) return 0;
    int made = new_results(&s, c, promoted, params, &b);
    if (!made) return 0;
    loop_call l = {&s, &b, c};
    const ow_plan plan = {.op = op, .inputs = c->inputs, .results = c->results, .nresults = made,
                          .compute = ow_compute_dtype[promoted], .params = params, .details = &l, .call = c};
    if (ow_execute(&plan, compute)) return made;
    for (int k = 0; k < made; k++) ow_tensor_free(c->results[k]);
    return 0;
}
