/* The driver of fills: checks, and the order of the elements.
 *
 * torch visits the elements of a tensor that is not contiguous in memory order, the dimension of the smallest stride
 * first; a result that is contiguous in some order of its dimensions is therefore filled as one row. */
#include "random.h"

#include "families/iterate.h"

#define NAMED_DISTRIBUTION(name) {#name, &ow_distribution_##name},
static const struct {
    const char *name;
    const ow_distribution *distribution;
} distributions[] = {OW_DISTRIBUTIONS(NAMED_DISTRIBUTION)};

/* Dimensions of the target, the innermost first; strides in bytes. */
typedef struct {
    int ndim;
    int64_t sizes[OW_MAX_DIMS], strides[OW_MAX_DIMS], at[OW_MAX_DIMS];
    char *data;
} cursor;

static void begin(cursor *c, const ow_tensor *t) {
    int64_t strides[1][OW_MAX_DIMS], itemsize = ow_itemsize(t->dtype);
    int order[OW_MAX_DIMS];
    memcpy(strides[0], t->strides, sizeof(int64_t) * t->ndim);
    ow_iter_order(t->ndim, t->sizes, 1, strides, order);
    c->ndim = 0;
    c->data = t->data;
    for (int i = 0; i < t->ndim; i++) {
        int64_t size = t->sizes[order[i]], stride = t->strides[order[i]] * itemsize;
        if (size == 1) continue;
        int last = c->ndim - 1;
        if (last >= 0 && stride == c->strides[last] * c->sizes[last]) {
            c->sizes[last] *= size;
            continue;
        }
        c->sizes[c->ndim] = size;
        c->strides[c->ndim] = stride;
        c->at[c->ndim++] = 0;
    }
    if (!c->ndim) {
        c->sizes[0] = 1;
        c->strides[0] = itemsize;
        c->at[c->ndim++] = 0;
    }
}

static char *element(const cursor *c) {
    char *data = c->data;
    for (int d = 0; d < c->ndim; d++) data += c->at[d] * c->strides[d];
    return data;
}

static void advance(cursor *c, int64_t count) {
    c->at[0] += count;
    for (int d = 0; d + 1 < c->ndim && c->at[d] == c->sizes[d]; d++) {
        c->at[d] = 0;
        c->at[d + 1]++;
    }
}

/* Stores n elements of a buffer at the next places of the target. */
static void store(cursor *c, ow_cast cast, const char *buffer, int64_t itemsize, int64_t n) {
    while (n > 0) {
        int64_t left = c->sizes[0] - c->at[0], count = left < n ? left : n;
        cast(element(c), c->strides[0], buffer, itemsize, count);
        advance(c, count);
        buffer += count * itemsize;
        n -= count;
    }
}

void ow_fill_elements(ow_random_call *f, const ow_distribution *d) {
    ow_tensor *t = f->target;
    int compute = d->compute == OW_PROMOTED ? ow_compute_dtype[t->dtype] : d->compute;
    int64_t itemsize = ow_itemsize(compute);
    cursor c;
    begin(&c, t);
    if (compute == t->dtype && c.ndim == 1 && c.strides[0] == itemsize) {
        d->generate(f, c.data, t->numel);
        return;
    }
    _Alignas(64) char buffer[OW_BLOCK * OW_MAX_ITEMSIZE];
    ow_cast cast = ow_cast_loop(t->dtype, compute);
    for (int64_t at = 0; at < t->numel; at += OW_BLOCK) {
        int64_t count = t->numel - at < OW_BLOCK ? t->numel - at : OW_BLOCK;
        d->generate(f, buffer, count);
        store(&c, cast, buffer, itemsize, count);
    }
}

/* The input's elements as they pair with those of the target, in the order in which they are visited and in the dtype
 * that they are computed in. */
static ow_tensor *aligned(const ow_random_call *f, ow_tensor *input, int dtype) {
    int64_t strides[OW_MAX_DIMS];
    const ow_tensor *t = f->target;
    ow_dense_strides(t, strides);
    ow_tensor *copy = ow_tensor_new(dtype, t->ndim, t->sizes, strides);
    if (copy && !ow_copy(copy, input)) {
        ow_tensor_free(copy);
        return NULL;
    }
    return copy;
}

static const ow_distribution *find(const ow_op *op) {
    for (size_t k = 0; k < sizeof distributions / sizeof *distributions; k++)
        if (strcmp(op->library, distributions[k].name) == 0) return distributions[k].distribution;
    return ow_fail(OW_NOT_IMPLEMENTED, "%s: this opweave has no distribution '%s'", op->name, op->library);
}

static int fill(ow_random_call *f) {
    void *token = ow_generator_lock(f->generator, (int64_t)((double)f->target->numel * f->op->cost));
    int done = 1;
    if (f->distribution->fill) done = f->distribution->fill(f);
    else ow_fill_elements(f, f->distribution);
    ow_generator_unlock(f->generator, token);
    return done;
}

/* 1 if the input is read in a row of its elements. */
static int has_row(const ow_random_call *f, int k) {
    const ow_tensor *input = f->inputs[k];
    return input && !f->distribution->fill && !(f->distribution->reads_numbers && input->flags & OW_NUMBER);
}

static int compute(const ow_plan *plan) {
    ow_random_call *f = plan->details;
    ow_tensor *copies[2] = {NULL, NULL};
    int done = 1;
    for (int k = 0; k < 2 && done && f->target->numel; k++) {
        if (!has_row(f, k)) continue;
        int dtype = f->inputs[k]->dtype;
        f->row_dtypes[k] = ow_dtype_kinds[dtype] == OW_KIND_FLOATING ? ow_compute_dtype[dtype] : OW_FLOAT64;
        copies[k] = aligned(f, f->inputs[k], f->row_dtypes[k]);
        f->rows[k] = copies[k] ? copies[k]->data : NULL;
        done = copies[k] != NULL;
    }
    done = done && (!f->target->numel || fill(f));
    for (int k = 0; k < 2; k++) ow_tensor_free(copies[k]);
    return done && !ow_error_pending();
}

/* The real and imaginary parts along a last dimension; NULL with the error set. */
static ow_tensor *parts_of(const ow_tensor *t) {
    int64_t sizes[OW_MAX_DIMS], strides[OW_MAX_DIMS];
    if (t->ndim == OW_MAX_DIMS) return ow_fail(OW_RUNTIME_ERROR, "a complex tensor of %d dimensions is not filled", t->ndim);
    for (int d = 0; d < t->ndim; d++) {
        sizes[d] = t->sizes[d];
        strides[d] = 2 * t->strides[d];
    }
    sizes[t->ndim] = 2;
    strides[t->ndim] = 1;
    return ow_tensor_view(t->storage, t->data, ow_real_dtype[t->dtype], t->ndim + 1, sizes, strides);
}

/* Fills the target, whose dtype the distribution has. */
static int run(ow_call *c, ow_random_call *f) {
    if (!f->distribution->prepare(f) || !ow_check_memory(f->target)) return 0;
    for (int k = 0; k < 2; k++)
        if (has_row(f, k) && !ow_check_expands(f->inputs[k], f->target)) return 0;
    return ow_execute_call(c, 1, compute, f);
}

int ow_random_fill(ow_call *c) {
    ow_random_call f = {.op = c->op,
                        .distribution = find(c->op),
                        .target = c->inputs[0],
                        .inputs = {c->inputs[1], c->inputs[2]},
                        .numbers = {c->reals[0], c->reals[1]},
                        .integers = {c->ints[0], c->ints[1]},
                        .given = c->given ? 2 : 0,
                        .generator = c->generator};
    const ow_tensor *t = f.target;
    if (!f.distribution) return 0;
    if (!(c->op->dtypes >> t->dtype & 1))
        return ow_fail(OW_NOT_IMPLEMENTED, "\"%s\" not implemented for '%s'", f.distribution->kernel,
                       ow_dtype_scalar_names[t->dtype]) != NULL;
    const double divisor = f.distribution->part_divisor;
    if (ow_dtype_kinds[t->dtype] != OW_KIND_COMPLEX || divisor <= 0) return run(c, &f);
    /* What is wrong with a number is said of the one that was given. */
    if ((divisor > 1 && !f.distribution->prepare(&f)) || !(f.target = parts_of(t))) return 0;
    f.numbers[1] /= divisor;
    int done = run(c, &f);
    ow_tensor_free(f.target);
    return done;
}
