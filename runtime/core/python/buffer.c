/* The memory of a tensor as a buffer of Python: `memoryview(t)`, `file.write(t)`, `hashlib.sha256(t)`.
 *
 * The limited API has buffers from Python 3.11 on, and the module is compiled for that of 3.10. So what it needs of them is
 * declared here: the struct is the same in all versions of Python 3, and the slot in those from 3.9 on. */
#include "tensor_object.h"

/* Py_buffer of Python's documentation. */
struct ow_buffer {
    void *buf;
    PyObject *obj;
    Py_ssize_t len, itemsize;
    int readonly, ndim;
    char *format;
    Py_ssize_t *shape, *strides, *suboffsets;
    void *internal;
};

/* What is asked for: PyBUF_... */
enum {
    ASKS_WRITABLE = 0x1,
    ASKS_FORMAT = 0x4,
    ASKS_SHAPE = 0x8,
    ASKS_STRIDES = 0x10 | ASKS_SHAPE,
    ASKS_C = 0x20 | ASKS_STRIDES,
    ASKS_F = 0x40 | ASKS_STRIDES,
    ASKS_ANY = 0x80 | ASKS_STRIDES,
};

/* As module `struct` names them, and NumPy complex ones. */
static const char *const formats[OW_NSTORED] = {
    [OW_BOOL] = "?",     [OW_UINT8] = "B",    [OW_UINT16] = "H",  [OW_UINT32] = "I",   [OW_UINT64] = "L",
    [OW_INT8] = "b",     [OW_INT16] = "h",    [OW_INT32] = "i",   [OW_INT64] = "l",    [OW_FLOAT16] = "e",
    [OW_FLOAT32] = "f",  [OW_FLOAT64] = "d",  [OW_COMPLEX64] = "Zf", [OW_COMPLEX128] = "Zd",
};

static int is_fortran_contiguous(const ow_tensor *t) {
    int64_t step = 1;
    for (int d = 0; d < t->ndim && t->numel; d++) {
        if (t->sizes[d] != 1 && t->strides[d] != step) return 0;
        step *= t->sizes[d];
    }
    return 1;
}

/* Why the memory of an object cannot be given to others; NULL: it can. */
static const char *refusal(PyObject *self, const ow_tensor *t, int flags) {
    if (!t || !ow_is_readable(t)) return "the tensor has no memory";
    if (t->keys & OW_KEY_CONJ) return "the tensor is read as conjugates of what is in memory; use t.resolve_conj()";
    if (t->keys & OW_ELSEWHERE) return "the elements of the tensor are not in memory one by one";
    if (!ow_is_tensor_class(Py_TYPE(self))) return "a subclass of Tensor decides by itself; use t.as_subclass(opweave.Tensor)";
    if (!ow_plain_tensor(self)) return "the tensor requires grad; use t.detach()";
    if (!formats[t->dtype]) return "buffers have no format for bfloat16, float8 and complex32; use t.view(opweave.uint8) or convert it";
    if (flags & ASKS_WRITABLE && t->storage->flags & OW_STORAGE_READONLY) return "the memory of the tensor is read-only";
    int by_rows = t->flags & OW_CONTIGUOUS, by_columns = is_fortran_contiguous(t);
    if ((flags & ASKS_STRIDES) != ASKS_STRIDES || (flags & ASKS_C) == ASKS_C ? !by_rows
        : (flags & ASKS_F) == ASKS_F                                        ? !by_columns
        : (flags & ASKS_ANY) == ASKS_ANY                                    ? !by_rows && !by_columns
                                                                            : 0)
        return "the memory is asked for as one block, and the tensor is not contiguous; use t.contiguous()";
    return NULL;
}

int ow_get_buffer(PyObject *self, struct ow_buffer *view, int flags) {
    const ow_tensor *t = ow_any_tensor(self);
    const char *why = refusal(self, t, flags);
    view->obj = NULL;
    if (why) return PyErr_SetString(PyExc_BufferError, why), -1;
    Py_ssize_t *sizes = PyMem_Calloc(2 * (size_t)t->ndim + 1, sizeof *sizes), *strides = sizes + t->ndim;
    if (!sizes) return PyErr_NoMemory(), -1;
    for (int d = 0; d < t->ndim; d++) {
        sizes[d] = t->sizes[d];
        strides[d] = t->strides[d] * ow_itemsize(t->dtype);
    }
    /* Not the tensor itself, which may be given other memory. */
    PyObject *owner = ow_new_exported(t, sizes);
    if (!owner) return -1;
    *view = (struct ow_buffer){
        .buf = t->numel ? t->data : (void *)sizes,
        .obj = owner,
        .len = t->numel * ow_itemsize(t->dtype),
        .itemsize = ow_itemsize(t->dtype),
        .readonly = (t->storage->flags & OW_STORAGE_READONLY) != 0,
        .ndim = t->ndim,
        .format = flags & ASKS_FORMAT ? (char *)formats[t->dtype] : NULL,
        .shape = flags & ASKS_SHAPE ? sizes : NULL,
        .strides = (flags & ASKS_STRIDES) == ASKS_STRIDES ? strides : NULL,
    };
    return 0;
}

/* Does nothing, as the object that a buffer names frees all of it. That the slot is there tells that the memory is kept by
 * the buffer and not by the tensor: `np.frombuffer` keeps the buffer of such objects, and of others the object alone. */
void ow_release_buffer(PyObject *self, struct ow_buffer *view) { (void)self, (void)view; }
