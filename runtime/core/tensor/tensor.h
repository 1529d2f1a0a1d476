/* Handles and storages: the two objects every tensor is made of. Internal to the core. */
#ifndef OPWEAVE_TENSOR_H
#define OPWEAVE_TENSOR_H

#include <stddef.h>
#include <string.h>

#include "ow_core_dtypes.h"
#include "abi/opweave.h"

/* ---- storage ------------------------------------------------------------------------------------------ */

enum {
    OW_STORAGE_INLINE = 1, /* the data follow the header (and the first handle) in the same block */
    OW_STORAGE_READONLY = 2,
    OW_STORAGE_INFERENCE = 4, /* made in inference mode: only there may it be written to */
    OW_STORAGE_EXPORTED = 8,  /* NumPy or another library has been given its address: it stays where it is */
    OW_STORAGE_LEFT = 16,     /* a tensor has got other memory, or a new size, while a loop ran that may go through this */
    OW_STORAGE_DESCRIBED = 32, /* it has no memory, only the size that this would have */
    OW_STORAGE_WRAPPER = 64,   /* beside DESCRIBED: of a tensor that only stands for others */
    OW_STORAGE_SPARSE = 128,   /* beside DESCRIBED: of a sparse tensor */
    OW_STORAGE_KEYS = 8,       /* 8 bits from here on: the keys that programs have added, of its tensors */
    OW_STORAGE_DEVICE = 16     /* bits from here on: the device */
};

/* A device: its kind in the low byte, and above it which one of the kind it is. */
typedef uint32_t ow_device;
enum { OW_CPU, OW_META, OW_REGISTERED_DEVICES, OW_DEVICE_KINDS = 10, OW_DEVICE_INDEX = 8, OW_DEVICES_OF_KIND = 256 };
#define OW_PLANNED 0x80000000u /* beside a device: results are made there, and not computed */

typedef struct ow_storage {
    int32_t refs;    /* atomic */
    int32_t holders; /* of the block: the storage, and its first handle where that has other memory by now; atomic */
    uint32_t flags;
    uint32_t version; /* bumped by every in-place write; autograd compares it */
    char *data;
    int64_t nbytes;
    void (*deleter)(struct ow_storage *); /* frees foreign memory; NULL: the allocator's own */
    void *context;                        /* the deleter's: for memory of Python, the id of the owner */
    int64_t block;                        /* bytes of the block that this header begins */
    int64_t capacity;                     /* bytes that there are at `data`, of which nbytes are in use */
} ow_storage;

/* ---- handle ------------------------------------------------------------------------------------------- */

/* Dispatch keys: one bit for every behaviour that the dense CPU path does not implement. A call ORs the keys of its
 * inputs; zero is the fast path, anything else returns to Python, which dispatches by table (_dispatch/dispatcher.py). */
#define OW_KEYS(X) \
    X(AUTOGRAD) X(NAMED) X(META) X(SPARSE) X(QUANTIZED) X(SUBCLASS) \
    X(PYTHON)   /* of no handle: of objects whose class has a `__torch_dispatch__` */ \
    X(WRAPPER) /* beside META: the class of the tensor answers all calls */ \
    X(CONJ) /* a complex tensor is read as the conjugates of what lies in memory */ \
    X(FUNCTION_MODE) X(PROFILER) X(AUTOCAST) X(DISPATCH_MODE) /* of no tensor: a thread in such a mode includes them */ \
    X(INFERENCE) /* of no tensor: a thread in inference mode excludes it */ \
    X(RECORDING) /* of no tensor: excluded with AUTOGRAD where the user records nothing, and not where a recorded call runs */ \
    X(CONFINED)  /* of no tensor: excluded in a backward pass that leads to some inputs alone */
#define OW_KEY_INDEX(name) OW_KEY_INDEX_##name,
#define OW_KEY_BIT(name) OW_KEY_##name = 1 << OW_KEY_INDEX_##name,
enum { OW_KEYS(OW_KEY_INDEX) OW_NKEYS, OW_KEY_FIRST_ADDED = 16 };
_Static_assert((int)OW_NKEYS <= (int)OW_KEY_FIRST_ADDED, "there are bits for all keys");
enum { OW_KEYS(OW_KEY_BIT) };
/* The bits after those are of keys that programs add, and the last ones of the kinds of devices that they register. */
#define OW_KEY_FIRST_DEVICE 24
#define OW_KEY_DEVICES 0xff000000u
#define OW_KEY_ADDED 0x00ff0000u
/* Those of tensors whose memory does not hold their elements, or is not the CPU's. */
#define OW_ELSEWHERE (OW_KEY_DEVICES | OW_KEY_WRAPPER | OW_KEY_SPARSE | OW_KEY_QUANTIZED | OW_KEY_CONJ)
/* Those that every handle of the same elements has, beside those of its storage. (Quantizers are objects of Python.) */
#define OW_OF_ELEMENTS (OW_KEY_ADDED | OW_KEY_CONJ)

enum {
    OW_CONTIGUOUS = 1, /* C order, no gaps */
    OW_NUMBER = 2,     /* stands for a Python number: weak in promotion */
    OW_DENSE = 4       /* non-overlapping and dense: some permutation of it is contiguous */
};

#define OW_MAX_ITEMSIZE 16 /* bytes of a complex128, the largest element */
#define OW_INLINE_DIMS 5

enum {
    OW_EMBEDDED = 1, /* the handle lies in the block of the storage that it was made with */
    OW_OWNED = 2     /* an object of class Tensor frees it */
};

typedef struct ow_tensor {
    uint32_t keys;
    uint8_t dtype, ndim, flags;
    uint8_t state;
    char *data; /* the first element */
    int64_t numel;
    ow_storage *storage;
    int64_t *sizes, *strides; /* strides in elements, as torch counts them */
    int64_t inline_dims[2 * OW_INLINE_DIMS];
} ow_tensor;

/* Keys that the calling thread does not look at: those of a behaviour that is switched off, or that is at work itself and
 * calls the operator once more. */
extern __thread uint32_t ow_excluded_keys __attribute__((tls_model("initial-exec")));
/* Keys that calls of the thread have besides those of their tensors, so that none of them is for the quick way. */
extern __thread uint32_t ow_included_keys __attribute__((tls_model("initial-exec")));

/* The keys of an input that may be absent. */
static inline uint32_t ow_keys(const ow_tensor *t) { return t ? t->keys & ~ow_excluded_keys : 0; }

/* ---- devices of calls --------------------------------------------------------------------------------- */

/* Where the calling thread allocates, and where factories of it make their tensors if no device is named. In a call of tensors
 * whose memory is not the CPU's, the thread allocates on their device and excludes the key META: drivers make their checks and
 * the results; what is left is a plan (families/plan.h). */
extern __thread ow_device ow_place __attribute__((tls_model("initial-exec")));
extern __thread ow_device ow_default_device __attribute__((tls_model("initial-exec")));

static inline int ow_is_meta(const ow_tensor *t) { return (t->keys & OW_KEY_META) != 0; }
static inline ow_device ow_device_of(const ow_tensor *t) { return t->storage->flags >> OW_STORAGE_DEVICE; }
static inline int ow_device_kind_of(ow_device device) { return (int)(device & (OW_DEVICES_OF_KIND - 1)); }
/* "cpu" or "name". (devices.c) */
const char *ow_device_type(ow_device device);
/* "cpu" or "name:1". (devices.c) */
const char *ow_device_text(char *text, size_t capacity, ow_device device);
/* 1 if its elements are in memory of the CPU (and how they are read from there is not asked). */
static inline int ow_is_readable(const ow_tensor *t) {
    return !(t->storage->flags & OW_STORAGE_DESCRIBED) && !ow_device_of(t);
}
/* Where the result of a call with the tensor is: without memory, if the tensor has none. */
static inline ow_device ow_place_of(const ow_tensor *t) { return ow_is_meta(t) ? OW_META : ow_device_of(t); }
/* The value of an expression that makes a call, which allocates on a device; OW_CPU: where the calling one does. */
#define OW_CALL(device, call)                                                 \
    ({                                                                        \
        const uint32_t excluded_before = ow_excluded_keys;                    \
        const ow_device place_before = ow_place, place = (device);            \
        if (place) ow_excluded_keys |= OW_KEY_META, ow_place = place;         \
        __typeof__(call) call_result = (call);                                \
        ow_excluded_keys = excluded_before;                                   \
        ow_place = place_before;                                              \
        call_result;                                                          \
    })

/* What a storage made now is marked with. */
static inline uint32_t ow_inference_flag(void) {
    return ow_excluded_keys & OW_KEY_INFERENCE ? OW_STORAGE_INFERENCE : 0;
}
/* 1 if it was made in inference mode, which the thread has left. */
static inline int ow_is_foreign_to_mode(const ow_storage *s) {
    return s->flags & OW_STORAGE_INFERENCE && !(ow_excluded_keys & OW_KEY_INFERENCE);
}
/* 1 if it must not be written to. */
static inline int ow_is_guarded(const ow_storage *s) {
    return s->flags & OW_STORAGE_READONLY || ow_is_foreign_to_mode(s);
}

/* A handle crosses the Python boundary as a double: a user-space address is below 2^53 and so exact, and a float is
 * the cheapest object CPython makes. These two functions are the only place where that happens. */
static inline double ow_pack(ow_tensor *t) { return (double)(uintptr_t)t; }
static inline ow_tensor *ow_unpack(double h) { return (ow_tensor *)(uintptr_t)h; }

static inline int64_t ow_itemsize(int dtype) { return ow_dtype_sizes[dtype]; }
static inline int64_t ow_min(int64_t x, int64_t y) { return x < y ? x : y; }

/* A new tensor with memory of its own. strides NULL: contiguous. The data are uninitialised. NULL with the error set
 * when the size overflows or there is no memory. (tensor.c) */
ow_tensor *ow_tensor_new(int dtype, int ndim, const int64_t *sizes, const int64_t *strides);
/* A view: shares the storage, which gains a reference. `data` points to the first element. */
ow_tensor *ow_tensor_view(ow_storage *storage, char *data, int dtype, int ndim, const int64_t *sizes,
                          const int64_t *strides);
/* A view of all elements: the same tensor behind a handle of its own, read as conjugates where it is. */
ow_tensor *ow_tensor_alias(const ow_tensor *t);
/* A 0-dim tensor that stands for a Python number (OW_NUMBER): bool, int64 or float64. */
ow_tensor *ow_tensor_number_i(int64_t value);
ow_tensor *ow_tensor_number_u(uint64_t value);
ow_tensor *ow_tensor_number_d(double value);
ow_tensor *ow_tensor_number_c(double _Complex value);
ow_tensor *ow_tensor_number_b(int value);
void ow_tensor_free(ow_tensor *t);
/* Gives two tensors each other's memory and shape. A handle is the same one for as long as its tensor lives, whatever
 * memory that is given: who has it in hand while Python code runs may go on with it, but must look at it anew. Keys stay:
 * whether a gradient is asked for is the tensor's affair. */
void ow_tensor_exchange(ow_tensor *a, ow_tensor *b);
/* Gives `t` a new contiguous shape (the rule of `out=`) and keeps the elements in memory order: grows the storage when
 * it is too small; views and others that share it then keep the old memory. 1, or 0 with error. */
int ow_tensor_resize(ow_tensor *t, int ndim, const int64_t *sizes);
/* Recomputes numel and the flags after sizes or strides were written. */
void ow_tensor_refresh(ow_tensor *t);
static inline int ow_has_shape(const ow_tensor *t, int ndim, const int64_t *sizes) {
    return t->ndim == ndim && (!ndim || memcmp(t->sizes, sizes, sizeof(int64_t) * (size_t)ndim) == 0);
}
/* Whether two tensors share memory, exact for dense ones: 0 no, 1 the very same elements in the same order, 2 partly
 * (or perhaps). The second function returns 1 if a tensor overlaps itself (expanded dimensions). */
int ow_memory_overlap(const ow_tensor *a, const ow_tensor *b);
int ow_internal_overlap(const ow_tensor *t);

ow_storage *ow_storage_new(int64_t nbytes);
ow_storage *ow_storage_foreign(void *data, int64_t nbytes, void (*deleter)(ow_storage *), void *context, uint32_t flags);
/* A storage of the same memory that counts writes apart, beginning with `version`; and the storage whose the memory is. */
ow_storage *ow_storage_apart(ow_storage *s, uint32_t version);
ow_storage *ow_storage_memory(ow_storage *s);
void ow_storage_retain(ow_storage *s);
void ow_storage_release(ow_storage *s);
/* Takes back one of the block's holders; the block goes with the last. */
void ow_storage_release_block(ow_storage *s);
/* Frees what no reference is left to. */
void ow_storage_free(ow_storage *s);

/* ---- memory (allocator.c) ----------------------------------------------------------------------------- */

/* 64-byte aligned memory from the caching allocator; NULL when there is none (the error is set). */
void *ow_alloc(int64_t nbytes);
void ow_dealloc(void *p, int64_t nbytes); /* nbytes as asked for */
/* 1 if the address is inside the allocator's memory. Tells what is certainly no address from it. (segments.c) */
int ow_may_be_allocated(uintptr_t address);

/* ---- errors (errors.c) -------------------------------------------------------------------------------- */

/* Sets the thread's pending error (the first one wins) and returns NULL, so that `return ow_fail(...)` reads well. */
void *ow_fail(ow_error_kind kind, const char *format, ...) __attribute__((format(printf, 2, 3), cold));
/* Kind of the pending error (OW_OK: none) and its text; reading clears it. */
ow_error_kind ow_error_take(char *message, int64_t capacity);
/* A handler of a signal has raised, in the midst of a loop: Python has the exception (gil.c). It stays pending until it is
 * read together with its text. Beside the kinds of opweave.h. */
#define OW_INTERRUPTED ((ow_error_kind)(OW_LINALG_ERROR + 1))
int ow_error_pending(void);
/* Sets the thread's pending warning, which Python gives when the call has ended; and reads and clears it (NULL: there is
 * none). The text is there until the next warning. */
void ow_warn(const char *format, ...) __attribute__((format(printf, 1, 2), cold));
const char *ow_warning_take(void);

/* ---- parallelism (thread_pool.c) ------------------------------------------------------------------------- */

typedef void (*ow_task)(void *context, int64_t begin, int64_t end);
/* Calls task over [0, n) in pieces whose boundaries are multiples of `grain`; a serial run is one piece. `work` is the whole
 * cost in units of a float32 add: it decides whether the pool takes part. Nested calls, and calls while another thread has
 * the pool, run serially. A task must not raise through ow_fail: the pending error belongs to the thread that runs it.
 *
 * A long loop of a thread that has dropped the interpreter's lock (ow_gil_release) runs in parts of a fraction of a second,
 * and before each of them the main thread lets Python handle signals. 1, or 0 with the error set where a handler has raised:
 * the rest is left out then, and so are all further long loops until the error is taken. So a task need not look at what a
 * loop within it returns, if what is missing does no harm: the outermost loop returns 0 as well. */
int ow_parallel_for(int64_t n, int64_t grain, double work, ow_task task, void *context);
/* The same by the calling thread alone, from the first to the last. */
int ow_serial_for(int64_t n, int64_t grain, double work, ow_task task, void *context);
#define OW_PART_WORK 5e8 /* of a part: it may have twice as much where no other follows */
/* What both are made of: a long loop in parts of at least so many grains, each given to `run`. (gil.c) */
typedef void ow_loop_runner(int64_t n, int64_t grain, double work, ow_task task, void *context);
int ow_run_parts(int64_t n, int64_t grain, int64_t least, double work, ow_task task, void *context, ow_loop_runner *run);
int ow_num_threads(void);
void ow_set_num_threads(int n);
/* Drop the interpreter's lock around a long loop. Returns a token for ow_gil_acquire (NULL: nothing to do; also when the
 * calling thread does not hold it). Never called while a lock of the core is held. */
void *ow_gil_release(int64_t work);
void ow_gil_acquire(void *token);
/* In between, where the main thread calls it: Python handles the signals that came. 0 with the error set where a handler has
 * raised, now or before. */
int ow_signals_handled(void);
/* In between: no signals are handled from here on, as the caller takes a lock that their handlers might wait for. */
void ow_signals_wait(void);
/* ow_parallel_for without the interpreter's lock. (gil.c) */
int ow_long_for(int64_t n, int64_t grain, double work, ow_task task, void *context);
/* 1 if a loop runs without the lock. A storage that such a loop may read is freed when none runs: 1 if it waits for
 * that now. (left_storages.c) */
int ow_loops_run(void);
void ow_loop_begins(void);
void ow_loop_ends(void);
int ow_await_loops(ow_storage *s);

/* ---- casts (casts.c from generated tables) ------------------------------------------------------------ */

/* n elements, strides in bytes; either side may be strided. */
typedef void (*ow_cast)(char *dst, int64_t dst_stride, const char *src, int64_t src_stride, int64_t n);
ow_cast ow_cast_loop(int dst_dtype, int src_dtype);

/* ---- what is in new memory (new_memory.c) ------------------------------------------------------------ */

extern int ow_fills_new_memory; /* NaN, or the largest value; else what was there before */
/* All elements of the storage from `data` on. */
void ow_fill_new_memory(const ow_storage *s, char *data, int dtype);

/* ---- level of instruction set (level.c) --------------------------------------------------------------- */

extern int ow_level; /* index into ow_op.tables: 0 baseline, 1 x86-64-v3, 2 x86-64-v4 */

/* ---- state shared by operators ------------------------------------------------------------------------ */

extern int ow_default_dtype;           /* float32 until set_default_dtype */
/* The operator of this number; NULL where there is none, or it is of none of these families. (registry.c) */
#define OW_FAMILY(name) (1u << OW_##name)
const ow_op *ow_op_get(int64_t index, unsigned families);
/* The same with the error set. */
const ow_op *ow_op_called(int32_t index, unsigned families);
/* 1 if the result of a reduction or a scan is the combination itself. */
static inline int ow_gives_value(const ow_op *op) { return op->results == OW_VALUE; }
/* Operators that the core makes use of itself. */
extern const ow_op ow_op_add, ow_op_bmm, ow_op_div, ow_op_dot, ow_op_floor_divide, ow_op_logical_not, ow_op_mm, ow_op_moments,
    ow_op_mul, ow_op_mv, ow_op_sum, ow_op_where;

/* ---- drivers: one per family; NULL with the error set on failure -------------------------------------- */

typedef enum ow_mode { OW_NEW, OW_INPLACE, OW_OUT } ow_mode;

/* inputs[i] may be NULL for an absent optional. params: number tensors or NULL for the default. out: for OW_OUT and
 * OW_INPLACE (then out == inputs[0]); returned on success. (elementwise.c) */
ow_tensor *ow_elementwise(const ow_op *op, ow_tensor *const *inputs, ow_tensor *const *params, ow_tensor *out,
                          ow_mode mode);
/* All results of an operator that has several: how many, or 0 with the error set. (elementwise.c) */
int ow_elementwise_several(const ow_op *op, ow_tensor *const *inputs, ow_tensor *const *params, ow_tensor **results,
                           ow_mode mode);
/* No dimensions were named, or an empty list of them: every one is meant, but in reductions to truth values such a list means
 * none, as in torch. */
typedef enum ow_dims { OW_NO_LIST = 1, OW_EMPTY_LIST } ow_dims;
/* dims: ndims == 0 and all (ow_dims): every dimension. dtype < 0: by promotion. (reduce.c) */
ow_tensor *ow_reduce(const ow_op *op, ow_tensor *self, const int64_t *dims, int ndims, int all, int keepdim, int dtype,
                     ow_tensor *out);
ow_tensor *ow_scan(const ow_op *op, ow_tensor *self, int64_t dim, int dtype, ow_tensor *out, ow_mode mode); /* scan.c */
ow_tensor *ow_view_call(const ow_op *op, ow_tensor *self, const int64_t *ints, ow_ints *lists);            /* view.c */
/* dtype must be given (Python infers it). (factory.c) */
ow_tensor *ow_factory(const ow_op *op, const int64_t *sizes, int ndim, int dtype, ow_tensor *const *params,
                      ow_tensor *out);
ow_tensor *ow_extern(const ow_op *op, ow_tensor *const *inputs, ow_tensor *const *params, ow_tensor *out,
                     ow_mode mode); /* extern.c: looks op->library up in a table */

/* dst[...] = src with broadcasting and casting; 1, or 0 with the error set. (copy.c) */
int ow_copy(ow_tensor *dst, ow_tensor *src);
/* Its two halves: what is to be checked, and the rest. And of the checks that of the shapes. */
int ow_check_copy(ow_tensor *dst, ow_tensor *src);
int ow_copy_checked(ow_tensor *dst, ow_tensor *src);
int ow_check_expands(ow_tensor *src, ow_tensor *dst);
/* A view that has every element once, where dimensions are expanded. (copy.c) */
ow_tensor *ow_without_repeats(const ow_tensor *t);
/* In which order the elements of a new tensor lie; torch's memory formats, numbered as _base/types.py does. */
typedef enum ow_order { OW_PRESERVE_ORDER, OW_C_ORDER, OW_CHANNELS_LAST, OW_CHANNELS_LAST_3D } ow_order;

/* A tensor of the same shape, of the given dtype and order. (copy.c) */
ow_tensor *ow_empty_like(ow_tensor *t, int dtype, int order);

/* 1 if the channels of an image or a volume are innermost in memory, by torch's rule for sizes of 1; any other tensor
 * suggests C order. (channels_last.c) */
ow_order ow_suggested_order(const ow_tensor *t);
/* The strides of new images (4 dimensions) or volumes (5). (channels_last.c) */
void ow_channels_last_strides(int ndim, const int64_t *sizes, int64_t *strides);
/* The same with the same values. (copy.c) */
ow_tensor *ow_clone(ow_tensor *t, int dtype, int order);

/* Common dtype of tensors (NULL entries skipped) by torch's rules: dimensioned tensors before 0-dim ones before
 * numbers, a category each. (promotion.c) */
#define OW_REFUSED (-2)
int ow_result_type(ow_tensor *const *inputs, int n);
/* 1 if a result of dtype `from` may be stored in `to`. (torch.can_cast) */
int ow_can_cast(int from, int to);

#endif
