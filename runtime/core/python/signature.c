/* What compiled calls compare before they run a program, and how they run it: the tensors that they are given, entries of
 * dictionaries and attributes. */
#include "operator_function.h"
#include "tensor_object.h"

/* Of a thread: what its calls depend on besides their tensors. */
typedef struct {
    uint32_t excluded;
    int32_t dtype;
    ow_device device;
    uint32_t count;
} thread_part;

/* Of a tensor, before its sizes and strides. */
typedef struct {
    uintptr_t type;
    int16_t same, shares; /* the first tensor that is this one, and the first one in the same memory */
    uint8_t dtype, ndim, needs_grad, kind;
} tensor_part;
_Static_assert(sizeof(tensor_part) == 16, "the bytes have no gaps");

enum { HAS_ATTRIBUTES = 1, OF_INFERENCE_MODE = 2 };

static uint8_t kind_of(const owner *object, const ow_tensor *t) {
    const int has_attributes = object->attributes && PyDict_Size(object->attributes);
    const int is_of_inference_mode = (t->storage->flags & OW_STORAGE_INFERENCE) != 0;
    return (uint8_t)((has_attributes ? HAS_ATTRIBUTES : 0) | (is_of_inference_mode ? OF_INFERENCE_MODE : 0));
}

static int64_t written_size(const ow_tensor *t, int has_sizes) {
    return (int64_t)sizeof(tensor_part) + (has_sizes ? 2 * t->ndim * (int64_t)sizeof(int64_t) : 0);
}

/* The number of bytes of a signature, with sizes and strides or without; -1: one of the tensors is of another class, or has a dispatch key other than that of
 * autograd, or all calls of the thread have such keys, which it looks at. */
static int64_t signature_size(PyObject *tensors, int has_sizes) {
    const Py_ssize_t n = PyTuple_Size(tensors);
    int64_t size = (int64_t)sizeof(thread_part);
    if (ow_included_keys & ~ow_excluded_keys || n > INT16_MAX) return -1;
    for (Py_ssize_t k = 0; k < n; k++) {
        PyObject *object = PyTuple_GetItem(tensors, k);
        const ow_tensor *t = ow_is_tensor_class(Py_TYPE(object)) ? ow_any_tensor(object) : NULL;
        if (!t || t->keys & ~(uint32_t)OW_KEY_AUTOGRAD || t->flags & OW_NUMBER) return -1;
        size += written_size(t, has_sizes);
    }
    return size;
}

static void write_signature(PyObject *tensors, int has_sizes, char *to) {
    const Py_ssize_t n = PyTuple_Size(tensors);
    const thread_part thread = {ow_excluded_keys, ow_default_dtype, ow_default_device, (uint32_t)n};
    memcpy(to, &thread, sizeof thread);
    to += sizeof thread;
    for (Py_ssize_t k = 0; k < n; k++) {
        PyObject *object = PyTuple_GetItem(tensors, k);
        const ow_tensor *t = ow_any_tensor(object);
        tensor_part part = {.type = (uintptr_t)Py_TYPE(object), .dtype = t->dtype, .ndim = t->ndim, .same = (int16_t)k, .shares = (int16_t)k};
        part.kind = kind_of((const owner *)object, t);
        part.needs_grad = t->keys & OW_KEY_AUTOGRAD || ow_follows_base((const owner *)object, t);
        for (Py_ssize_t j = k; j--;) {
            PyObject *other = PyTuple_GetItem(tensors, j);
            if (other == object) part.same = (int16_t)j;
            if (ow_any_tensor(other)->storage == t->storage) part.shares = (int16_t)j;
        }
        const size_t dims = has_sizes ? (size_t)t->ndim * sizeof(int64_t) : 0;
        memcpy(to, &part, sizeof part);
        memcpy(to + sizeof part, t->sizes, dims);
        memcpy(to + sizeof part + dims, t->strides, dims);
        to += written_size(t, has_sizes);
    }
}

/* signature(tensors, has_sizes): bytes that are the same for tensors that no call can tell apart but by their elements, or
 * without `has_sizes` by sizes and strides, in threads that compute alike; or None. */
PyObject *ow_signature(PyObject *module, PyObject *const *arguments, Py_ssize_t n) {
    (void)module;
    if (n != 2 || !PyTuple_Check(arguments[0]) || !PyBool_Check(arguments[1]))
        return PyErr_Format(PyExc_TypeError, "signature() takes a tuple and whether sizes matter");
    const int has_sizes = arguments[1] == Py_True;
    const int64_t size = signature_size(arguments[0], has_sizes);
    if (size < 0) Py_RETURN_NONE;
    PyObject *result = PyBytes_FromStringAndSize(NULL, (Py_ssize_t)size);
    if (result) write_signature(arguments[0], has_sizes, PyBytes_AsString(result));
    return result;
}

/* The function for these tensors, borrowed: that of the signature, or one that is bound to other sizes. NULL: there is none,
 * or Python's error is set. */
static PyObject *function_for(PyObject *tensors, PyObject *signature, PyObject *function, PyObject *bound) {
    char local[1024];
    const int64_t size = signature_size(tensors, 1);
    if (size < 0 || (size != PyBytes_Size(signature) && !PyDict_Size(bound))) return NULL;
    char *own = size <= (int64_t)sizeof local ? local : PyMem_Malloc((size_t)size);
    if (!own) return NULL;
    write_signature(tensors, 1, own);
    PyObject *found = NULL;
    if (size == PyBytes_Size(signature) && !memcmp(own, PyBytes_AsString(signature), (size_t)size)) found = function;
    else if (PyDict_Size(bound)) {
        PyObject *key = PyBytes_FromStringAndSize(own, (Py_ssize_t)size);
        found = key ? PyDict_GetItemWithError(bound, key) : NULL;
        Py_XDECREF(key);
    }
    if (own != local) PyMem_Free(own);
    return found;
}

/* Does an object have this very value: a dictionary under a key, a function or a cell as an attribute? -1 with Python's error
 * set. */
static int has_value(PyObject *object, PyObject *key, PyObject *value) {
    if (!PyDict_Check(object)) {
        PyObject *found = PyObject_GetAttr(object, key);
        const int is_same = found == value;
        if (!found) PyErr_Clear(); /* the cell of a variable that has no value any longer */
        Py_XDECREF(found);
        return is_same;
    }
    PyObject *found = PyDict_GetItemWithError(object, key);
    return !found && PyErr_Occurred() ? -1 : found == value;
}

/* 1, 0, or -1 with Python's error set. */
static int are_unchanged(PyObject *entries) {
    for (Py_ssize_t k = 0; k < PyTuple_Size(entries); k += 3) {
        PyObject *object = PyTuple_GetItem(entries, k), *key = PyTuple_GetItem(entries, k + 1);
        PyObject *value = PyTuple_GetItem(entries, k + 2);
        const int is_same = key == object ? PyDict_Size(object) == PyLong_AsSsize_t(value) : has_value(object, key, value);
        if (is_same < 1) return is_same;
    }
    return 1;
}

/* are_unchanged(entries): whether each object still has the very value, or each dictionary so many keys: a tuple of object, key
 * or name of an attribute, value, or of dictionary, the dictionary again, number, and so on. */
PyObject *ow_are_unchanged(PyObject *module, PyObject *entries) {
    (void)module;
    if (!PyTuple_Check(entries) || PyTuple_Size(entries) % 3)
        return PyErr_Format(PyExc_TypeError, "are_unchanged() takes a tuple of objects, keys and values");
    const int answer = are_unchanged(entries);
    return answer < 0 ? NULL : PyBool_FromLong(answer);
}

enum { PROGRAM_SIGNATURE, PROGRAM_CAPTURED, PROGRAM_ENTRIES, PROGRAM_CONDITION, PROGRAM_RUN, PROGRAM_BOUND, PROGRAM_PARTS };

/* Does nothing else that a program reads have another value? -1 with Python's error set. */
static int has_all(PyObject *program) {
    const int unchanged = are_unchanged(PyTuple_GetItem(program, PROGRAM_ENTRIES));
    PyObject *condition = PyTuple_GetItem(program, PROGRAM_CONDITION);
    if (unchanged < 1 || condition == Py_None) return unchanged;
    PyObject *holds = PyObject_CallNoArgs(condition);
    const int answer = holds ? PyObject_IsTrue(holds) : -1;
    Py_XDECREF(holds);
    return answer;
}

static PyObject *run(PyObject *function, PyObject *tensors) {
    PyObject *all[OW_MAX_ARGUMENTS];
    const Py_ssize_t n = PyTuple_Size(tensors);
    if (n > OW_MAX_ARGUMENTS || (PyObject *)Py_TYPE(function) != ow_function_type()) return PyObject_Call(function, tensors, NULL);
    for (Py_ssize_t k = 0; k < n; k++) all[k] = PyTuple_GetItem(tensors, k);
    return ((const ow_function *)function)->vectorcall(function, all, (size_t)n, NULL);
}

static int is_program(PyObject *object) {
    return PyTuple_Check(object) && PyTuple_Size(object) == PROGRAM_PARTS && PyBytes_Check(PyTuple_GetItem(object, PROGRAM_SIGNATURE)) &&
           PyTuple_Check(PyTuple_GetItem(object, PROGRAM_CAPTURED)) && PyTuple_Check(PyTuple_GetItem(object, PROGRAM_ENTRIES)) &&
           PyDict_Check(PyTuple_GetItem(object, PROGRAM_BOUND));
}

/* The result of a program for these tensors and its own; NULL without an error: it is not for them. */
static PyObject *answer_by(PyObject *program, PyObject *given) {
    PyObject *captured = PyTuple_GetItem(program, PROGRAM_CAPTURED), *result = NULL;
    PyObject *tensors = PyTuple_Size(captured) ? PySequence_Concat(given, captured) : Py_NewRef(given);
    if (!tensors) return NULL;
    PyObject *function = function_for(tensors, PyTuple_GetItem(program, PROGRAM_SIGNATURE), PyTuple_GetItem(program, PROGRAM_RUN),
                                      PyTuple_GetItem(program, PROGRAM_BOUND));
    Py_XINCREF(function); /* the condition may run Python code that forgets it */
    if (function && has_all(program) == 1) result = run(function, tensors);
    Py_XDECREF(function);
    Py_DECREF(tensors);
    return result;
}

/* answer(programs, tensors): the result of the first program that is for the tensors; NotImplemented: none is. A program is a
 * tuple of the signature of tensors, those of them that it adds itself, entries that are unchanged, a function that says
 * whether all else is, or None, the function that is called, and those for other sizes by their signatures. */
PyObject *ow_answer(PyObject *module, PyObject *const *arguments, Py_ssize_t n) {
    (void)module;
    if (n != 2 || !PyTuple_Check(arguments[0]) || !PyTuple_Check(arguments[1]))
        return PyErr_Format(PyExc_TypeError, "answer() takes tuples of programs and of tensors");
    for (Py_ssize_t k = 0; k < PyTuple_Size(arguments[0]); k++) {
        PyObject *program = PyTuple_GetItem(arguments[0], k);
        if (!is_program(program)) return PyErr_Format(PyExc_TypeError, "answer() takes programs of six parts, but got %R", program);
        PyObject *result = answer_by(program, arguments[1]);
        if (result || PyErr_Occurred()) return result;
    }
    return Py_NewRef(Py_NotImplemented);
}
