/* Messages of processes that compute together (library/distributed/): the functions by which MPI combines them. They have the
 * signature of its MPI_User_function and know nothing of MPI. Their loops are those of the operators, so that a sum over
 * processes rounds as a sum of two tensors does. */
#include <string.h>

#include "abi/api.h"
#include "families/elementwise.h"
#include "tensor/registry.h"

extern const ow_op ow_op_add, ow_op_mul, ow_op_minimum, ow_op_maximum, ow_op_bitwise_and, ow_op_bitwise_or, ow_op_bitwise_xor;

/* In the order of library/distributed/reduce_op.py. */
static const ow_op *const combinations[] = {
    &ow_op_add, &ow_op_mul, &ow_op_minimum, &ow_op_maximum, &ow_op_bitwise_and, &ow_op_bitwise_or, &ow_op_bitwise_xor,
};

#define CHUNK 512 /* elements that are converted on the stack, where a dtype has no loop */

static void combine(const ow_op *op, int dtype, char *into, const char *other, int64_t n) {
    int64_t size = ow_itemsize(dtype);
    ow_loop loop = ow_loop_of(op, dtype, 1);
    if (loop) {
        loop((char *[]){into, into, (char *)other}, (int64_t[]){size, size, size}, n, NULL, 0);
        return;
    }
    int wide = ow_compute_dtype[dtype];
    int64_t wide_size = ow_itemsize(wide);
    _Alignas(64) char a[CHUNK * OW_MAX_ITEMSIZE], b[CHUNK * OW_MAX_ITEMSIZE];
    for (int64_t k = 0; k < n; k += CHUNK) {
        int64_t part = n - k < CHUNK ? n - k : CHUNK;
        ow_cast_loop(wide, dtype)(a, wide_size, into + k * size, size, part);
        ow_cast_loop(wide, dtype)(b, wide_size, other + k * size, size, part);
        ow_loop_of(op, wide, 1)((char *[]){a, a, b}, (int64_t[]){wide_size, wide_size, wide_size}, part, NULL, 0);
        ow_cast_loop(dtype, wide)(into + k * size, size, a, wide_size, part);
    }
}

#define FUNCTION(name, op, dtype)                                  \
    static void name(void *in, void *inout, int *n, void *type) { \
        (void)type;                                                \
        combine(&op, dtype, inout, in, *n);                        \
    }
#define FUNCTIONS(suffix, dtype)                    \
    FUNCTION(sum_##suffix, ow_op_add, dtype)        \
    FUNCTION(product_##suffix, ow_op_mul, dtype)    \
    FUNCTION(lowest_##suffix, ow_op_minimum, dtype) \
    FUNCTION(highest_##suffix, ow_op_maximum, dtype)
FUNCTIONS(f16, OW_FLOAT16)
FUNCTIONS(bf16, OW_BFLOAT16)

typedef void user_function(void *in, void *inout, int *n, void *type);

uintptr_t message_function(int32_t combination, int32_t dtype) {
    static user_function *const functions[][2] = {
        {sum_f16, sum_bf16}, {product_f16, product_bf16}, {lowest_f16, lowest_bf16}, {highest_f16, highest_bf16}};
    if (combination > 3 || (dtype != OW_FLOAT16 && dtype != OW_BFLOAT16)) return 0;
    return (uintptr_t)functions[combination][dtype == OW_BFLOAT16];
}

#define ELEMENTS 256 /* bytes of them in a message */

/* What processes send one another before a call: which call it is, and the elements where they are few. */
typedef struct message {
    int64_t lowest, highest; /* of the numbers of all processes' calls */
    int32_t combination, dtype, count, unused;
    _Alignas(16) char elements[ELEMENTS];
} message;

int32_t message_size(void) { return sizeof(message); }

int32_t message_capacity(void) { return ELEMENTS; }

void message_begin(uintptr_t record, int64_t call, int32_t combination, double tensor) {
    message *m = (message *)record;
    const ow_tensor *t = tensor ? ow_unpack(tensor) : NULL;
    m->lowest = m->highest = call;
    m->count = 0;
    if (!t) return;
    m->combination = combination;
    m->dtype = t->dtype;
    m->count = (int32_t)t->numel;
    memcpy(m->elements, t->data, (size_t)(t->numel * ow_itemsize(t->dtype)));
}

int32_t message_end(uintptr_t record, int64_t call, double tensor) {
    const message *m = (const message *)record;
    if (m->lowest != call || m->highest != call) return 0;
    if (tensor) {
        ow_tensor *t = ow_unpack(tensor);
        memcpy(t->data, m->elements, (size_t)(t->numel * ow_itemsize(t->dtype)));
        t->storage->version++;
    }
    return 1;
}

static void agree(void *in, void *inout, int *n, void *type) {
    (void)type;
    const message *other = in;
    message *own = inout;
    for (int k = 0; k < *n; k++, own++, other++) {
        int is_same = own->lowest == other->lowest && own->highest == other->highest;
        if (other->lowest < own->lowest) own->lowest = other->lowest;
        if (other->highest > own->highest) own->highest = other->highest;
        if (is_same && own->count)
            combine(combinations[own->combination], own->dtype, own->elements, other->elements, own->count);
    }
}

uintptr_t message_agreement(void) { return (uintptr_t)agree; }
