/* `Tensor.size`: the method of torch and the property of the array API standard at once. `t.size()` and `t.size(0)` are calls
 * of it, and elsewhere `t.size` counts as the number of elements. */
#include "tensor/size_reads.h"
#include "tensor_object.h"

#include <structmember.h>

typedef struct {
    PyObject_HEAD
    PyObject *function; /* the method as Python, for arguments that are not for the quick way */
    PyObject *tensor;   /* NULL: it is the attribute of the class */
} size_method;

static PyTypeObject *type;

static PyObject *made(PyTypeObject *of, PyObject *function, PyObject *tensor) {
    allocfunc allocate = (allocfunc)PyType_GetSlot(of, Py_tp_alloc);
    size_method *result = (size_method *)allocate(of, 0);
    if (!result) return NULL;
    result->function = Py_NewRef(function);
    result->tensor = Py_XNewRef(tensor);
    return (PyObject *)result;
}

static PyObject *size_new(PyTypeObject *of, PyObject *arguments, PyObject *keywords) {
    if (keywords || PyTuple_Size(arguments) != 1)
        return PyErr_Format(PyExc_TypeError, "SizeMethod() takes the method as a function of Python");
    return made(of, PyTuple_GetItem(arguments, 0), NULL);
}

static int size_traverse(PyObject *self, visitproc visit, void *arg) {
    Py_VISIT(Py_TYPE(self));
    Py_VISIT(((size_method *)self)->function);
    Py_VISIT(((size_method *)self)->tensor);
    return 0;
}

static int size_clear(PyObject *self) {
    Py_CLEAR(((size_method *)self)->function);
    Py_CLEAR(((size_method *)self)->tensor);
    return 0;
}

static void size_dealloc(PyObject *self) {
    PyTypeObject *of = Py_TYPE(self);
    PyObject_GC_UnTrack(self);
    size_clear(self);
    freefunc release = (freefunc)PyType_GetSlot(of, Py_tp_free);
    release(self);
    Py_DECREF(of);
}

static PyObject *size_get(PyObject *self, PyObject *tensor, PyObject *class) {
    (void)class;
    return tensor && tensor != Py_None ? made(type, ((size_method *)self)->function, tensor) : Py_NewRef(self);
}

/* ---- the method ------------------------------------------------------------------------------------------- */

static PyObject *size_call(PyObject *self, PyObject *arguments, PyObject *keywords) {
    size_method *method = (size_method *)self;
    if (!method->tensor) return PyObject_Call(method->function, arguments, keywords);
    const ow_tensor *t = ow_any_tensor(method->tensor);
    Py_ssize_t n = PyTuple_Size(arguments);
    int64_t dim;
    if (t && !keywords && n == 0) {
        ow_note_size(t, OW_ALL_SIZES);
        return ow_shape_of(t);
    }
    if (t && !keywords && n == 1 && ow_read_int(PyTuple_GetItem(arguments, 0), &dim) && -t->ndim <= dim && dim < t->ndim) {
        const int of = (int)(dim < 0 ? dim + t->ndim : dim);
        ow_note_size(t, of);
        return PyLong_FromLongLong(t->sizes[of]);
    }
    PyObject *first = PyTuple_Pack(1, method->tensor), *all = first ? PySequence_Concat(first, arguments) : NULL;
    PyObject *result = all ? PyObject_Call(method->function, all, keywords) : NULL;
    Py_XDECREF(first);
    Py_XDECREF(all);
    return result;
}

static PyObject *size_attribute(PyObject *self, void *name) {
    return PyObject_GetAttrString(((size_method *)self)->function, name);
}

/* ---- the number ------------------------------------------------------------------------------------------- */

/* The number of elements; any object of another type itself. */
static PyObject *value_of(PyObject *object) {
    if (Py_TYPE(object) != type) return Py_NewRef(object);
    PyObject *tensor = ((size_method *)object)->tensor;
    const ow_tensor *t = tensor ? ow_any_tensor(tensor) : NULL;
    if (t) ow_note_size(t, OW_ALL_SIZES);
    return t ? PyLong_FromLongLong(t->numel) : PyErr_Format(PyExc_TypeError, "Tensor.size is a number of a tensor alone");
}

#define UNARY(name, function)                              \
    static PyObject *size_##name(PyObject *self) {         \
        PyObject *value = value_of(self);                  \
        PyObject *result = value ? function(value) : NULL; \
        Py_XDECREF(value);                                 \
        return result;                                     \
    }
#define BINARY_WITH(name, call, parameters)                                          \
    static PyObject *size_##name parameters {                                        \
        PyObject *x = value_of(left), *y = x ? value_of(right) : NULL;               \
        PyObject *result = y ? call : NULL;                                          \
        Py_XDECREF(x);                                                               \
        Py_XDECREF(y);                                                               \
        return result;                                                               \
    }
#define BINARY(name, function) BINARY_WITH(name, function(x, y), (PyObject * left, PyObject *right))

UNARY(long, Py_NewRef)
UNARY(float, PyNumber_Float)
UNARY(negative, PyNumber_Negative)
UNARY(invert, PyNumber_Invert)
UNARY(text, PyObject_Repr)
BINARY(add, PyNumber_Add)
BINARY(subtract, PyNumber_Subtract)
BINARY(multiply, PyNumber_Multiply)
BINARY(divide, PyNumber_TrueDivide)
BINARY(floor_divide, PyNumber_FloorDivide)
BINARY(remainder, PyNumber_Remainder)
BINARY(divmod, PyNumber_Divmod)
BINARY(lshift, PyNumber_Lshift)
BINARY(rshift, PyNumber_Rshift)
BINARY(and, PyNumber_And)
BINARY(or, PyNumber_Or)
BINARY(xor, PyNumber_Xor)
BINARY_WITH(power, PyNumber_Power(x, y, modulus), (PyObject * left, PyObject *right, PyObject *modulus))
BINARY_WITH(compare, PyObject_RichCompare(x, y, operator), (PyObject * left, PyObject *right, int operator))

static int size_bool(PyObject *self) {
    PyObject *value = value_of(self);
    int result = value ? PyObject_IsTrue(value) : -1;
    Py_XDECREF(value);
    return result;
}

static Py_hash_t size_hash(PyObject *self) {
    if (!((size_method *)self)->tensor) return PyObject_Hash(((size_method *)self)->function);
    PyObject *value = value_of(self);
    Py_hash_t result = value ? PyObject_Hash(value) : -1;
    Py_XDECREF(value);
    return result;
}

static PyObject *size_compared(PyObject *left, PyObject *right, int operator) {
    if (((size_method *)left)->tensor) return size_compare(left, right, operator);
    Py_RETURN_NOTIMPLEMENTED; /* the attribute of the class is compared by identity */
}

static PyObject *size_repr(PyObject *self) {
    size_method *method = (size_method *)self;
    return method->tensor ? size_text(self) : PyUnicode_FromString("<method 'size' of 'opweave.Tensor' objects>");
}

static PyObject *size_format(PyObject *self, PyObject *spec) {
    PyObject *value = value_of(self), *result = value ? PyObject_Format(value, spec) : NULL;
    Py_XDECREF(value);
    return result;
}

/* Pickles and copies are those of the number. */
static PyObject *size_reduce(PyObject *self, PyObject *nothing) {
    (void)nothing;
    PyObject *value = value_of(self);
    return value ? Py_BuildValue("O(N)", &PyLong_Type, value) : NULL;
}

static PyMethodDef size_methods[] = {
    {"__format__", size_format, METH_O, NULL},
    {"__reduce__", size_reduce, METH_NOARGS, NULL},
    {NULL, NULL, 0, NULL},
};

static PyGetSetDef size_properties[] = {
    {"__doc__", size_attribute, NULL, NULL, "__doc__"},
    {"__name__", size_attribute, NULL, NULL, "__name__"},
    {"__qualname__", size_attribute, NULL, NULL, "__qualname__"},
    {NULL, NULL, NULL, NULL, NULL},
};

static PyMemberDef size_members[] = {
    {"__wrapped__", T_OBJECT, offsetof(size_method, function), READONLY, NULL},
    {NULL, 0, 0, 0, NULL},
};

static PyType_Slot size_slots[] = {
    {Py_tp_new, size_new},
    {Py_tp_dealloc, size_dealloc},
    {Py_tp_traverse, size_traverse},
    {Py_tp_clear, size_clear},
    {Py_tp_descr_get, size_get},
    {Py_tp_call, size_call},
    {Py_tp_repr, size_repr},
    {Py_tp_hash, size_hash},
    {Py_tp_richcompare, size_compared},
    {Py_tp_methods, size_methods},
    {Py_tp_getset, size_properties},
    {Py_tp_members, size_members},
    {Py_nb_index, size_long},
    {Py_nb_int, size_long},
    {Py_nb_float, size_float},
    {Py_nb_bool, size_bool},
    {Py_nb_negative, size_negative},
    {Py_nb_positive, size_long},
    {Py_nb_absolute, size_long},
    {Py_nb_invert, size_invert},
    {Py_nb_add, size_add},
    {Py_nb_subtract, size_subtract},
    {Py_nb_multiply, size_multiply},
    {Py_nb_true_divide, size_divide},
    {Py_nb_floor_divide, size_floor_divide},
    {Py_nb_remainder, size_remainder},
    {Py_nb_divmod, size_divmod},
    {Py_nb_power, size_power},
    {Py_nb_lshift, size_lshift},
    {Py_nb_rshift, size_rshift},
    {Py_nb_and, size_and},
    {Py_nb_or, size_or},
    {Py_nb_xor, size_xor},
    {0, NULL},
};

static PyType_Spec size_spec = {
    .name = "opweave._handle.SizeMethod",
    .basicsize = sizeof(size_method),
    .flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC,
    .slots = size_slots,
};

PyObject *ow_size_method(void) {
    PyObject *made_type = PyType_FromSpec(&size_spec);
    type = (PyTypeObject *)made_type;
    return made_type;
}
