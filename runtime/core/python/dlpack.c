/* DLPack: memory that libraries of tensors lend each other, described by a struct in a capsule. The structs are those of
 * its specification, versions 0.8 (unversioned) and 1. */
#include <stdlib.h>

#include "abi/api.h"
#include "operator_function.h"
#include "tensor_object.h"

typedef struct {
    int32_t type, id;
} dl_device;

typedef struct {
    uint8_t code, bits;
    uint16_t lanes;
} dl_dtype;

typedef struct {
    void *data;
    dl_device device;
    int32_t ndim;
    dl_dtype dtype;
    int64_t *shape, *strides; /* strides in elements; NULL: contiguous */
    uint64_t byte_offset;
} dl_tensor;

typedef struct plain {
    dl_tensor tensor;
    void *context;
    void (*deleter)(struct plain *);
} plain;

typedef struct versioned {
    uint32_t major, minor;
    void *context;
    void (*deleter)(struct versioned *);
    uint64_t flags;
    dl_tensor tensor;
} versioned;

enum { ON_CPU = 1, MAJOR = 1, READ_ONLY = 1, IS_COPIED = 2 };

/* Names of capsules: before they are taken, and afterwards. */
static const char *const fresh[] = {"dltensor", "dltensor_versioned"}, *const used[] = {"used_dltensor",
                                                                                         "used_dltensor_versioned"};

/* ---- dtypes --------------------------------------------------------------------------------------------- */

static dl_dtype dtype_to(int dtype) {
    return (dl_dtype){ow_dlpack_codes[dtype], (uint8_t)(8 * ow_itemsize(dtype)), 1};
}

/* -1: none. */
static int dtype_from(dl_dtype wanted) {
    for (int dtype = 0; dtype < OW_NSTORED; dtype++) {
        dl_dtype has = dtype_to(dtype);
        if (has.code == wanted.code && has.bits == wanted.bits && wanted.lanes == 1) return dtype;
    }
    return -1;
}

/* ---- tensors as capsules ---------------------------------------------------------------------------------- */

/* What a capsule is about, of either version, and the handle that keeps the memory. Sizes and strides follow. */
typedef struct {
    union {
        plain plain;
        versioned versioned;
    } as;
    ow_tensor *tensor;
} lent;

/* Any thread of the other library may end the loan. */
static void end_loan(lent *loan) {
    if (Py_IsInitialized()) {
        PyGILState_STATE state = PyGILState_Ensure();
        ow_tensor_free(loan->tensor);
        PyGILState_Release(state);
    }
    free(loan);
}

static void end_plain(plain *of) { end_loan((lent *)of->context); }

static void end_versioned(versioned *of) { end_loan((lent *)of->context); }

/* A capsule that nobody has taken. */
static void free_capsule(PyObject *capsule) {
    if (PyCapsule_IsValid(capsule, fresh[0])) {
        plain *of = PyCapsule_GetPointer(capsule, fresh[0]);
        if (of->deleter) of->deleter(of);
    } else if (PyCapsule_IsValid(capsule, fresh[1])) {
        versioned *of = PyCapsule_GetPointer(capsule, fresh[1]);
        if (of->deleter) of->deleter(of);
    }
}

/* to_dlpack(tensor, versioned, copied): a capsule over the tensor's memory, which stays where it is from then on. */
PyObject *ow_to_dlpack(PyObject *module, PyObject *const *arguments, Py_ssize_t n) {
    (void)module;
    ow_tensor *t = n == 3 ? ow_any_tensor(arguments[0]) : NULL;
    if (!t || !PyBool_Check(arguments[1]) || !PyBool_Check(arguments[2]))
        return PyErr_Format(PyExc_TypeError, "to_dlpack() takes a tensor and two bools");
    char device[48];
    if (!ow_is_readable(t))
        return PyErr_Format(PyExc_BufferError, "Cannot pack tensors on %s", ow_device_text(device, sizeof device, ow_place_of(t)));
    int is_versioned = arguments[1] == Py_True, is_readonly = t->storage->flags & OW_STORAGE_READONLY;
    if (is_readonly && !is_versioned)
        return PyErr_Format(PyExc_BufferError, "the memory is read-only, which DLPack before version 1 cannot say; clone() "
                                               "the tensor");
    for (int d = 0; d < t->ndim; d++)
        if (t->strides[d] < 0)
            return PyErr_Format(PyExc_BufferError, "the strides are negative, which consumers of DLPack do not take; clone() the "
                                                   "tensor");
    lent *loan = calloc(1, sizeof *loan + 2 * t->ndim * sizeof(int64_t));
    if (!loan || !(loan->tensor = ow_tensor_alias(t))) {
        free(loan);
        return PyErr_NoMemory();
    }
    int64_t *shape = (int64_t *)(loan + 1);
    for (int d = 0; d < t->ndim; d++) {
        shape[d] = t->sizes[d];
        shape[t->ndim + d] = t->strides[d];
    }
    dl_tensor described = {.data = t->numel ? t->data : NULL, .device = {ON_CPU, 0}, .ndim = t->ndim,
                           .dtype = dtype_to(t->dtype), .shape = shape, .strides = shape + t->ndim};
    uint64_t flags = (is_readonly ? READ_ONLY : 0) | (arguments[2] == Py_True ? IS_COPIED : 0);
    if (is_versioned) loan->as.versioned = (versioned){MAJOR, 0, loan, end_versioned, flags, described};
    else loan->as.plain = (plain){described, loan, end_plain};
    PyObject *capsule = PyCapsule_New(&loan->as, fresh[is_versioned], free_capsule);
    if (capsule) ow_storage_memory(t->storage)->flags |= OW_STORAGE_EXPORTED;
    else end_loan(loan);
    return capsule;
}

/* ---- capsules as tensors ---------------------------------------------------------------------------------- */

/* The owner of the memory of a capsule that has been taken: a capsule too, which ends the loan with the last tensor. */
static const char *const loans[] = {"opweave.dltensor", "opweave.dltensor_versioned"};

static void end_taken(PyObject *capsule) {
    PyObject *type, *value, *traceback;
    PyErr_Fetch(&type, &value, &traceback); /* the deleter may be Python, which must not run with an exception pending */
    if (PyCapsule_IsValid(capsule, loans[0])) {
        plain *of = PyCapsule_GetPointer(capsule, loans[0]);
        if (of->deleter) of->deleter(of);
    } else {
        versioned *of = PyCapsule_GetPointer(capsule, loans[1]);
        if (of && of->deleter) of->deleter(of);
    }
    PyErr_Restore(type, value, traceback);
}

/* Bytes from the lowest element to the end of the highest; -1 where they cannot be counted. */
static int64_t extent(const dl_tensor *t, const int64_t *strides, int64_t itemsize) {
    int64_t elements = 1, span, nbytes;
    for (int d = 0; d < t->ndim; d++) {
        if (!t->shape[d]) return 0;
        if (__builtin_mul_overflow(t->shape[d] - 1, strides[d], &span) || span == INT64_MIN ||
            __builtin_add_overflow(elements, span < 0 ? -span : span, &elements))
            return -1;
    }
    return __builtin_mul_overflow(elements, itemsize, &nbytes) ? -1 : nbytes;
}

/* A handle over the described memory, which the loan owns; 0.0 with the core's error pending or an exception. */
static double over(const dl_tensor *t, PyObject *loan, int readonly) {
    int dtype = dtype_from(t->dtype);
    if (t->device.type != ON_CPU) {
        PyErr_Format(PyExc_BufferError, "the memory is on a device of DLPack's type %d, and tensors of this build live on the "
                                        "CPU", (int)t->device.type);
    } else if (dtype < 0) {
        PyErr_Format(PyExc_BufferError, "no dtype has DLPack's code %d, %d bits and %d lanes", (int)t->dtype.code,
                     (int)t->dtype.bits, (int)t->dtype.lanes);
    } else if (t->ndim < 0 || t->ndim > OW_MAX_DIMS || (t->ndim && !t->shape)) {
        PyErr_Format(PyExc_BufferError, "a tensor has at most %d dimensions, but the capsule has %d", OW_MAX_DIMS, (int)t->ndim);
    } else {
        int64_t contiguous[OW_MAX_DIMS], step = 1;
        int overflow = 0;
        for (int d = t->ndim - 1; d >= 0; d--) {
            contiguous[d] = step;
            overflow |= __builtin_mul_overflow(step, t->shape[d] ? t->shape[d] : 1, &step);
        }
        const int64_t *strides = t->strides ? t->strides : contiguous;
        int64_t nbytes = overflow && !t->strides ? -1 : extent(t, strides, ow_itemsize(dtype));
        uint64_t end;
        if (nbytes > 0 && (!t->data || __builtin_add_overflow((uintptr_t)t->data, t->byte_offset, &end) ||
                           __builtin_add_overflow(end, (uint64_t)nbytes, &end)))
            nbytes = -1;
        if (nbytes >= 0)
            return ow_from_owner(loan, (uintptr_t)t->data + t->byte_offset, nbytes, t->shape, strides, t->ndim, dtype, readonly);
        PyErr_Format(PyExc_BufferError, "the sizes and strides of the capsule do not describe memory");
    }
    return 0.0;
}

/* from_dlpack(capsule, readonly, of): a tensor over the memory of the capsule, which nobody can take again. A capsule that
 * cannot say whether its memory may be written asks `readonly(of)`, unless that is None. */
PyObject *ow_from_dlpack(PyObject *module, PyObject *const *arguments, Py_ssize_t n) {
    (void)module;
    if (n != 3) return PyErr_Format(PyExc_TypeError, "from_dlpack() takes a capsule, a function or None, and its argument");
    PyObject *capsule = arguments[0];
    int is_versioned = PyCapsule_IsValid(capsule, fresh[1]);
    if (!is_versioned && !PyCapsule_IsValid(capsule, fresh[0]))
        return PyErr_Format(PyExc_RuntimeError,
                            "from_dlpack received an invalid capsule. Note that DLTensor capsules can be consumed only once, so "
                            "you might have already constructed a tensor from it once.");
    int is_readonly = 0;
    if (!is_versioned && arguments[1] != Py_None) {
        PyObject *answer = PyObject_CallFunctionObjArgs(arguments[1], arguments[2], NULL);
        is_readonly = answer ? PyObject_IsTrue(answer) : -1;
        Py_XDECREF(answer);
        if (is_readonly < 0) return NULL;
        if (!PyCapsule_IsValid(capsule, fresh[0])) return PyErr_Format(PyExc_RuntimeError, "the capsule was taken meanwhile");
    }
    void *of = PyCapsule_GetPointer(capsule, fresh[is_versioned]);
    PyObject *loan = PyCapsule_New(of, loans[is_versioned], end_taken);
    if (!loan) return NULL;
    double handle = 0.0;
    PyCapsule_SetName(capsule, used[is_versioned]);
    const versioned *v = of;
    if (!is_versioned) handle = over(&((const plain *)of)->tensor, loan, is_readonly);
    else if (v->major > MAJOR)
        PyErr_Format(PyExc_BufferError, "the capsule is of version %d.%d of DLPack, which is beyond 1", (int)v->major, (int)v->minor);
    else handle = over(&v->tensor, loan, (int)(v->flags & READ_ONLY));
    Py_DECREF(loan);
    if (PyErr_Occurred()) return NULL;
    return handle == 0.0 ? ow_raise_pending() : ow_new_owner(ow_unpack(handle));
}
