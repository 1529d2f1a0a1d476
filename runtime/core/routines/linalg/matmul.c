/* The product by the rules of Python's `@`, where it is one product of vectors, matrices or batches as they lie in memory. */
#include "families/driver.h"
#include "tensor/storage.h"

const ow_op *const ow_matmul_ops[OW_PRODUCTS] = {&ow_op_dot, &ow_op_mv, &ow_op_mm, &ow_op_bmm};

/* For so many dimensions of each operand. */
static ow_matmul_kind product_of(int left, int right) {
    return left == 1 ? OW_DOT : right == 1 ? OW_MV : left == 2 ? OW_MM : OW_BMM;
}

static ow_tensor *multiply(const ow_tensor *self, const ow_tensor *other) {
    ow_tensor left = *self, right = *other, *inputs[OW_MAX_INPUTS] = {&left, &right};
    return ow_extern(ow_matmul_ops[product_of(left.ndim, right.ndim)], inputs, NULL, NULL, OW_NEW);
}

/* The first dimensions of `t`, all but `kept` ones, become one. 0 where their positions do not follow one another in memory,
 * or are more than can be counted, as they may be without elements. Strides of dimensions of size 1 say nothing. */
static int fold(ow_tensor *t, int kept, int64_t *sizes, int64_t *strides) {
    int first = t->ndim - kept;
    sizes[0] = 1;
    strides[0] = t->sizes[first];
    for (int d = first - 1; d >= 0; d--) {
        int64_t next;
        if (t->sizes[d] == 1) continue;
        if (sizes[0] == 1) strides[0] = t->strides[d];
        else if (__builtin_mul_overflow(strides[0], sizes[0], &next) || t->strides[d] != next) return 0;
        if (__builtin_mul_overflow(sizes[0], t->sizes[d], &sizes[0])) return 0;
    }
    memcpy(sizes + 1, t->sizes + first, sizeof(int64_t) * (size_t)kept);
    memcpy(strides + 1, t->strides + first, sizeof(int64_t) * (size_t)kept);
    t->sizes = sizes;
    t->strides = strides;
    t->ndim = (uint8_t)(kept + 1);
    ow_tensor_refresh(t);
    return 1;
}

/* The product of folded operands with the first `n` dimensions that `self` had in place of the first one. */
static ow_tensor *unfold(ow_tensor *product, const ow_tensor *self, int n) {
    int64_t sizes[OW_MAX_DIMS], strides[OW_MAX_DIMS];
    if (!product) return NULL;
    int ndim = n + product->ndim - 1;
    memcpy(sizes, self->sizes, sizeof(int64_t) * (size_t)n);
    memcpy(sizes + n, product->sizes + 1, sizeof(int64_t) * (size_t)(product->ndim - 1));
    ow_tensor *result = NULL;
    if (ow_contiguous_strides(ndim, sizes, strides))
        result = ow_tensor_view(product->storage, product->data, product->dtype, ndim, sizes, strides);
    ow_tensor_free(product);
    return result;
}

static int same_batch(const ow_tensor *a, const ow_tensor *b) {
    return a->ndim == b->ndim && !memcmp(a->sizes, b->sizes, sizeof(int64_t) * (size_t)(a->ndim - 2));
}

ow_matmul_kind ow_matmul_kind_of(const ow_tensor *self, const ow_tensor *other) {
    int n = self->ndim, m = other->ndim;
    int single = n <= 2 ? m >= 1 && m <= n : n == 3 && m == 3 && same_batch(self, other);
    return single ? product_of(n, m) : OW_PRODUCTS;
}

ow_tensor *ow_matmul(const ow_tensor *self, const ow_tensor *other) {
    int64_t sizes[OW_MAX_DIMS], strides[OW_MAX_DIMS], sizes2[3], strides2[3];
    int n = self->ndim, m = other->ndim;
    if (n < 1 || m < 1 || n + m > OW_MAX_DIMS) return NULL;
    if (ow_matmul_kind_of(self, other) != OW_PRODUCTS) return multiply(self, other);
    ow_tensor left = *self, right = *other;
    if (n == 1 && m == 2) { /* a row times a matrix */
        right.sizes = (int64_t[]){other->sizes[1], other->sizes[0]};
        right.strides = (int64_t[]){other->strides[1], other->strides[0]};
        ow_tensor_refresh(&right);
        return multiply(&right, &left);
    }
    if (n > 2 && m <= 2) { /* all rows of the batch times one matrix */
        if (!fold(&left, 1, sizes, strides)) return NULL;
        return unfold(multiply(&left, &right), self, n - 1);
    }
    if (n < 4 || !same_batch(self, other)) return NULL;
    if (!fold(&left, 2, sizes, strides) || !fold(&right, 2, sizes2, strides2)) return NULL;
    return unfold(multiply(&left, &right), self, n - 2);
}
