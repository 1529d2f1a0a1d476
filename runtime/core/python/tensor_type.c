/* The base of class Tensor: an object that owns one handle, in the slot `_h`, and frees it when it dies.
 *
 * A Python class with __del__ would do the same, but calling that method takes longer than adding four numbers; and a
 * finalizer can be shown an object that it has finalized before, which a deallocator cannot. The garbage collector looks
 * only at objects that have a history or, by attributes, others to refer to.
 *
 * It is a module of its own within the shared object of `_C`, because cffi's modules cannot hold types.
 */
#include "node.h"
#include "operator_function.h"
#include "tensor/size_reads.h"
#include "tensor_object.h"

#include <structmember.h>

/* Called as constructor(class, arguments, keywords) where a tensor is made by its class. */
static PyObject *constructor;

/* The class Tensor, and the function behind `t[index]` for what the core does not know: subscript(t, index). */
static PyTypeObject *tensor_class;
static PyObject *subscript;
/* The class Parameter, whose objects differ from class Tensor's in nothing that operators see. */
static PyTypeObject *parameter_class;
static ow_index_functions index_functions;

PyTypeObject *ow_owner_type;

/* A new object. One that refers to nothing but a float needs no garbage collector. */
static PyObject *allocated(PyTypeObject *type) {
    allocfunc allocate = (allocfunc)PyType_GetSlot(type, Py_tp_alloc);
    PyObject *result = allocate(type, 0);
    if (result && type == tensor_class) PyObject_GC_UnTrack(result);
    return result;
}

void ow_track(PyObject *object) {
    if (!PyObject_GC_IsTracked(object)) PyObject_GC_Track(object);
}

static PyObject *owner_new(PyTypeObject *type, PyObject *arguments, PyObject *keywords) {
    if (!constructor || !tensor_class || !PyType_IsSubtype(type, tensor_class))
        return PyErr_Format(PyExc_TypeError, "%R is no class of tensors", type);
    return PyObject_CallFunctionObjArgs(constructor, type, arguments, keywords ? keywords : Py_None, NULL);
}

static int owner_traverse(PyObject *self, visitproc visit, void *arg) {
    Py_VISIT(Py_TYPE(self));
    Py_VISIT(((owner *)self)->attributes);
    Py_VISIT(((owner *)self)->edge);
    Py_VISIT(((owner *)self)->base);
    PyObject **payload = ow_own_payload((owner *)self);
    if (payload) Py_VISIT(*payload);
    return 0;
}

static void clear_references(PyObject *self) {
    Py_CLEAR(((owner *)self)->attributes);
    Py_CLEAR(((owner *)self)->edge);
    Py_CLEAR(((owner *)self)->base);
}

static int owner_clear(PyObject *self) {
    PyObject **payload = ow_own_payload((owner *)self);
    if (payload) Py_CLEAR(*payload);
    clear_references(self);
    return 0;
}

/* What has attributes of its own may be part of a cycle. */
static int owner_setattr(PyObject *self, PyObject *name, PyObject *value) {
    int status = PyObject_GenericSetAttr(self, name, value);
    if (((owner *)self)->attributes) ow_track(self);
    return status;
}

static PyObject *owner_get_attributes(PyObject *self, void *closure) {
    PyObject *attributes = PyObject_GenericGetDict(self, closure);
    if (attributes) ow_track(self);
    return attributes;
}

static int owner_set_attributes(PyObject *self, PyObject *value, void *closure) {
    int status = PyObject_GenericSetDict(self, value, closure);
    if (((owner *)self)->attributes) ow_track(self);
    return status;
}

static PyObject *set_constructor(PyObject *module, PyObject *function) {
    (void)module;
    Py_XDECREF(constructor);
    constructor = Py_NewRef(function);
    Py_RETURN_NONE;
}

static void owner_dealloc(PyObject *self) {
    owner *object = (owner *)self;
    PyTypeObject *type = Py_TYPE(self);
    PyObject_GC_UnTrack(self);
    if (object->weak_references) PyObject_ClearWeakRefs(self);
    if (object->handle) {
        ow_tensor_free(ow_unpack(PyFloat_AsDouble(object->handle)));
        Py_DECREF(object->handle);
    }
    clear_references(self);
    freefunc release = (freefunc)PyType_GetSlot(type, Py_tp_free);
    release(self);
    Py_DECREF(type);
}

ow_tensor *ow_handle_of(PyObject *object) {
    double value = PyFloat_Check(object) ? PyFloat_AsDouble(object) : -1;
    uintptr_t address = value > 0 && value < 0x1p53 ? (uintptr_t)value : 0;
    if (address && (double)address == value && address % _Alignof(max_align_t) == 0 && ow_may_be_allocated(address))
        return ow_unpack(value);
    return PyErr_Format(PyExc_TypeError, "expected the handle of a tensor, but got %R", object), NULL;
}

/* Makes an object the owner of the tensor, whose packed handle it takes. */
static PyObject *given(PyObject *result, ow_tensor *t, PyObject *handle) {
    t->state |= OW_OWNED;
    ((owner *)result)->handle = handle;
    return result;
}

PyObject *ow_new_owner_of(PyTypeObject *type, ow_tensor *t) {
    PyObject *result = allocated(type);
    PyObject *handle = result ? PyFloat_FromDouble(ow_pack(t)) : NULL;
    if (!handle) {
        ow_tensor_free(t);
        Py_XDECREF(result);
        return NULL;
    }
    return given(result, t, handle);
}

PyObject *ow_new_owner(ow_tensor *t) { return ow_new_owner_of(tensor_class, t); }

int ow_derives_from_tensor(PyObject *object) {
    return tensor_class && PyType_Check(object) && PyType_IsSubtype((PyTypeObject *)object, tensor_class);
}

/* adopt(handle, class): the new object of the class Tensor, or of one derived from it, that owns the handle. */
static PyObject *adopt(PyObject *module, PyObject *const *arguments, Py_ssize_t n) {
    (void)module;
    if (n != 2 || !ow_derives_from_tensor(arguments[1]))
        return PyErr_Format(PyExc_TypeError, "adopt() takes a handle and a class of tensors");
    ow_tensor *t = ow_handle_of(arguments[0]);
    if (!t) return NULL;
    if (t->state & OW_OWNED) return PyErr_Format(PyExc_ValueError, "adopt(): another tensor owns the handle");
    PyObject *result = allocated((PyTypeObject *)arguments[1]);
    return result ? given(result, t, Py_NewRef(arguments[0])) : NULL;
}

static char origin_of_mode(void) {
    if (ow_excluded_keys & OW_KEY_INFERENCE) return OW_INFERENCE_VIEW;
    return ow_excluded_keys & OW_KEY_RECORDING ? OW_NO_GRAD_VIEW : OW_USUAL_VIEW;
}

static void set_base(owner *view, const ow_tensor *t, PyObject *of) {
    PyObject *base = ((owner *)of)->base, *before = view->base;
    view->base = Py_NewRef(base ? base : of);
    Py_XDECREF(before);
    view->version = t->storage->version;
    char origin = origin_of_mode();
    view->origin = origin ? origin : ((owner *)of)->origin;
}

PyObject *ow_new_view(ow_tensor *t, PyObject *of) {
    int shares = t->storage == ow_any_tensor(of)->storage; /* or it is of a copy in another memory order */
    PyObject *result = ow_new_owner(t);
    if (result && shares) set_base((owner *)result, t, of);
    return result;
}

/* as_view(tensor, of): says that the tensor, which was just made, is a view of another. */
static PyObject *as_view(PyObject *module, PyObject *const *arguments, Py_ssize_t n) {
    (void)module;
    const ow_tensor *of = n == 2 ? ow_any_tensor(arguments[1]) : NULL, *t = of ? ow_any_tensor(arguments[0]) : NULL;
    if (!t) return PyErr_Format(PyExc_TypeError, "as_view() takes two tensors");
    if (t->storage == of->storage) set_base((owner *)arguments[0], t, arguments[1]);
    return Py_NewRef(arguments[0]);
}

/* function_view(tensor, several): a user's Function has returned it, with others or alone. */
static PyObject *function_view(PyObject *module, PyObject *const *arguments, Py_ssize_t n) {
    (void)module;
    if (n != 2 || !ow_any_tensor(arguments[0]) || !PyBool_Check(arguments[1]))
        return PyErr_Format(PyExc_TypeError, "function_view() takes a tensor and a bool");
    owner *of = (owner *)arguments[0];
    if (of->base) of->origin = arguments[1] == Py_True ? OW_MULTI_VIEW : OW_FUNCTION_VIEW;
    Py_RETURN_NONE;
}

void ow_mark_multi_view(PyObject *views, int is_multi) {
    char origin = origin_of_mode();
    if (!origin && is_multi) origin = OW_MULTI_VIEW;
    for (Py_ssize_t k = 0; k < PyTuple_Size(views); k++) ((owner *)PyTuple_GetItem(views, k))->origin = origin;
}

/* multi_view(views, several): the same tuple, whose tensors count as views that one call has taken, or do not. */
static PyObject *multi_view(PyObject *module, PyObject *const *arguments, Py_ssize_t n) {
    (void)module;
    int tensors = n == 2 && PyTuple_Check(arguments[0]) && PyBool_Check(arguments[1]);
    for (Py_ssize_t k = 0; tensors && k < PyTuple_Size(arguments[0]); k++)
        tensors = ow_any_tensor(PyTuple_GetItem(arguments[0], k)) != NULL;
    if (!tensors) return PyErr_Format(PyExc_TypeError, "multi_view() takes a tuple of tensors and a bool");
    ow_mark_multi_view(arguments[0], arguments[1] == Py_True);
    return Py_NewRef(arguments[0]);
}

PyObject *ow_new_owners(ow_tensor *const *tensors, int n) {
    PyObject *owners = PyTuple_New(n);
    for (int k = 0; k < n; k++) {
        PyObject *result = owners ? ow_new_owner(tensors[k]) : NULL;
        if (!owners) ow_tensor_free(tensors[k]);
        else if (!result) Py_CLEAR(owners);
        else PyTuple_SetItem(owners, k, result);
    }
    return owners;
}

int ow_is_tensor_class(PyTypeObject *type) { return type == tensor_class || type == parameter_class; }

/* The tensor of an object that is no part of a graph and has no keys but these. */
static inline ow_tensor *tensor_with(PyObject *object, uint32_t keys) {
    if (!ow_is_tensor_class(Py_TYPE(object))) return NULL;
    PyObject *handle = ((owner *)object)->handle;
    ow_tensor *t = handle ? ow_unpack(PyFloat_AsDouble(handle)) : NULL;
    int fits = t && !(ow_keys(t) & ~keys) && (ow_excluded_keys & OW_KEY_AUTOGRAD || !ow_follows_base((owner *)object, t));
    return fits ? t : NULL;
}

ow_tensor *ow_plain_tensor(PyObject *object) { return tensor_with(object, 0); }

ow_tensor *ow_any_tensor(PyObject *object) {
    if (Py_TYPE(object) != tensor_class && !PyObject_TypeCheck(object, ow_owner_type)) return NULL;
    PyObject *handle = ((owner *)object)->handle;
    return handle ? ow_unpack(PyFloat_AsDouble(handle)) : NULL;
}

/* The tensor of an object that has the type of the method it is for; NULL with AttributeError while it has none. */
static ow_tensor *tensor_of(PyObject *self) {
    ow_tensor *t = ow_any_tensor(self);
    if (!t) PyErr_SetString(PyExc_AttributeError, "_h"); /* as Python says of a slot that is not set */
    return t;
}

static PyObject *owner_subscript(PyObject *self, PyObject *index) {
    ow_tensor *t = ow_included_keys ? NULL : tensor_with(self, ow_answered_keys), *view = t ? ow_basic_view(t, index) : NULL;
    if (view) return ow_new_view(view, self);
    ow_tensor *selected = t && !ow_keys(t) ? ow_selected(t, index) : NULL;
    if (selected) return ow_new_owner(selected);
    if (!t && !ow_included_keys && ow_any_records(&self, 1)) {
        PyObject *result = ow_recorded_view(&index_functions, self, index);
        if (!result && !PyErr_Occurred()) result = ow_recorded_selection(&index_functions, self, index);
        if (result || PyErr_Occurred()) return result;
    }
    return PyObject_CallFunctionObjArgs(subscript, self, index, NULL);
}

static PyObject *set_tensor_class(PyObject *module, PyObject *const *arguments, Py_ssize_t n) {
    (void)module;
    int fits = n == 6 && PyType_Check(arguments[0]) && PyType_IsSubtype((PyTypeObject *)arguments[0], ow_owner_type);
    for (int k = 2; k < 6 && fits; k++) fits = (PyObject *)Py_TYPE(arguments[k]) == ow_function_type();
    if (!fits)
        return PyErr_Format(PyExc_TypeError, "set_tensor_class() takes a class derived from TensorBase, and five functions");
    PyObject **targets[] = {(PyObject **)&tensor_class, &subscript, &index_functions.select, &index_functions.slice,
                            &index_functions.unsqueeze, &index_functions.index};
    for (int k = 0; k < 6; k++) {
        Py_XDECREF(*targets[k]);
        *targets[k] = Py_NewRef(arguments[k]);
    }
    Py_RETURN_NONE;
}

static PyObject *set_parameter_class(PyObject *module, PyObject *type) {
    (void)module;
    if (!PyType_Check(type) || !tensor_class || !PyType_IsSubtype((PyTypeObject *)type, tensor_class))
        return PyErr_Format(PyExc_TypeError, "set_parameter_class() takes a class derived from Tensor, but got %R", type);
    Py_XDECREF(parameter_class);
    parameter_class = (PyTypeObject *)Py_NewRef(type);
    Py_RETURN_NONE;
}

static PyObject *owner_shape(PyObject *self, void *closure) {
    (void)closure;
    const ow_tensor *t = tensor_of(self);
    return t && ow_tell_shape(self) ? ow_shape_of(t) : NULL;
}

/* The values of a tensor whose memory does not hold them, as operators give them. */
static PyObject *list_of_items(PyObject *self, const ow_tensor *t) {
    if (t->keys & OW_KEY_CONJ) {
        PyObject *resolved = PyObject_CallMethod(self, "resolve_conj", NULL);
        PyObject *list = resolved ? PyObject_CallMethod(resolved, "tolist", NULL) : NULL;
        Py_XDECREF(resolved);
        return list;
    }
    if (!t->ndim) return PyObject_CallMethod(self, "item", NULL);
    Py_ssize_t n = (Py_ssize_t)t->sizes[0];
    PyObject *list = PyList_New(n);
    for (Py_ssize_t k = 0; list && k < n; k++) {
        PyObject *index = PyLong_FromSsize_t(k), *part = index ? PyObject_GetItem(self, index) : NULL;
        PyObject *values = part ? PyObject_CallMethod(part, "tolist", NULL) : NULL;
        Py_XDECREF(index);
        Py_XDECREF(part);
        if (!values || PyList_SetItem(list, k, values) < 0) Py_CLEAR(list);
    }
    return list;
}

static PyObject *owner_tolist(PyObject *self, PyObject *arguments) {
    (void)arguments;
    const ow_tensor *t = tensor_of(self);
    if (!t) return NULL;
    int stands_for_others = t->storage->flags & OW_STORAGE_DESCRIBED && ow_device_of(t) != OW_META;
    return stands_for_others || ow_keys(t) & OW_ELSEWHERE ? list_of_items(self, t) : ow_tolist(t);
}

static PyObject *owner_requires_grad(PyObject *self, void *closure) {
    (void)closure;
    const ow_tensor *t = tensor_of(self);
    return t ? PyBool_FromLong(t->keys & OW_KEY_AUTOGRAD || ow_follows_base((owner *)self, t)) : NULL;
}

static PyGetSetDef owner_properties[] = {
    {"__dict__", owner_get_attributes, owner_set_attributes, "What was set on the tensor, by name.", NULL},
    {"_requires_grad", owner_requires_grad, NULL, "Is a gradient asked for?", NULL},
    {"shape", owner_shape, NULL, "The sizes of the dimensions.", NULL},
    {NULL, NULL, NULL, NULL, NULL},
};

static PyMethodDef owner_methods[] = {
    {"tolist", owner_tolist, METH_NOARGS,
     "tolist($self, /)\n--\n\n"
     "The values as nested lists of Python numbers; a number for a tensor without dimensions."},
    {NULL, NULL, 0, NULL},
};

static PyMemberDef owner_members[] = {
    {"_h", T_OBJECT_EX, offsetof(owner, handle), READONLY, "the handle of the core, as a float"},
    {"_edge", T_OBJECT, offsetof(owner, edge), READONLY, "the node of the graph that computed it, and which output it is"},
    {"_base", T_OBJECT, offsetof(owner, base), READONLY, "the tensor that it is a view of, or None"},
    {"_origin", T_BYTE, offsetof(owner, origin), READONLY, "how the view was made (core/python/tensor_object.h)"},
    {"__weaklistoffset__", T_PYSSIZET, offsetof(owner, weak_references), READONLY, NULL},
    {"__dictoffset__", T_PYSSIZET, offsetof(owner, attributes), READONLY, NULL},
    {NULL, 0, 0, 0, NULL},
};

static PyType_Slot owner_slots[] = {
    {Py_tp_new, owner_new},
    {Py_tp_dealloc, owner_dealloc},
    {Py_tp_traverse, owner_traverse},
    {Py_tp_clear, owner_clear},
    {Py_tp_setattro, owner_setattr},
    {Py_tp_getset, owner_properties},
    {Py_tp_members, owner_members},
    {Py_tp_methods, owner_methods},
    {Py_mp_subscript, owner_subscript},
    {OW_BF_GETBUFFER, ow_get_buffer},
    {OW_BF_RELEASEBUFFER, ow_release_buffer},
    {Py_tp_doc, "Owner of the handle of a tensor."},
    {0, NULL},
};

static PyType_Spec owner_spec = {
    .name = "opweave._handle.TensorBase",
    .basicsize = sizeof(owner),
    .flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_BASETYPE | Py_TPFLAGS_HAVE_GC,
    .slots = owner_slots,
};

/* claim(): once in a process. The types here are one for all interpreters and all copies of the package. */
static PyObject *claim(PyObject *module, PyObject *nothing) {
    static int claimed;
    (void)module;
    (void)nothing;
    if (PyInterpreterState_GetID(PyInterpreterState_Get()) != 0)
        return PyErr_Format(PyExc_ImportError, "opweave works in the main interpreter alone, not in a subinterpreter");
    if (claimed)
        return PyErr_Format(PyExc_ImportError, "opweave was imported before in this process, and another copy of its classes "
                                               "would not know the tensors of the first; restart Python");
    claimed = 1;
    Py_RETURN_NONE;
}

static PyObject *shape_of(PyObject *module, PyObject *handle) {
    (void)module;
    const ow_tensor *t = ow_handle_of(handle);
    if (t) ow_note_size(t, OW_ALL_SIZES);
    return t ? ow_shape_of(t) : NULL;
}

static PyObject *strides_of(PyObject *module, PyObject *handle) {
    (void)module;
    const ow_tensor *t = ow_handle_of(handle);
    if (t) ow_note_size(t, OW_LAYOUT);
    return t ? ow_strides_of(t) : NULL;
}

#define FAST(function) (PyCFunction)(void (*)(void))(function)

static PyMethodDef functions[] = {
    {"shape_of", shape_of, METH_O, "The shape; the same object for every tensor of a common shape."},
    {"strides_of", strides_of, METH_O, "The strides; the same object for all tensors that have these."},
    {"claim", claim, METH_NOARGS, "Refuses a second copy of the package, whose classes would replace those of the first."},
    {"adopt", FAST(adopt), METH_FASTCALL, "A new tensor that owns a handle."},
    {"from_numbers", FAST(ow_from_numbers), METH_FASTCALL, "A new tensor of nested lists of numbers, or None."},
    {"set_constructor", set_constructor, METH_O, "Says what makes tensors of arguments."},
    {"set_tensor_class", FAST(set_tensor_class), METH_FASTCALL,
     "Says of which class views are, and what `t[index]` does where they do not suffice."},
    {"set_parameter_class", set_parameter_class, METH_O,
     "Says of which class parameters are: operators take its objects as those of class Tensor."},
    {"view_of", FAST(ow_view_of), METH_FASTCALL,
     "The handle of the view that an index of ints, slices, None and `...` gives; 0.0 for any other index."},
    {"assign", FAST(ow_call_assign), METH_FASTCALL,
     "Writes a tensor or a number to the elements that tensors select, or adds it to them; None where that is not for "
     "the quick way."},
    {"invoke", FAST(ow_invoke_python), METH_FASTCALL, "The core's answer to a call: (function, arguments, out, mode)."},
    {"tiles", FAST(ow_tiles_new), METH_FASTCALL, "Calls that run tile by tile: (values, calls, shape, step, work)."},
    {"run_tiles", FAST(ow_tiles_call), METH_FASTCALL, "The results of such calls, or None."},
    {"keys", FAST(ow_keys_of), METH_FASTCALL, "The dispatch keys of all tensors among the arguments."},
    {"call_kernel", FAST(ow_call_kernel), METH_FASTCALL, "A new result of an elementwise kernel, by its number, or None."},
    {"produce", FAST(ow_produce), METH_FASTCALL, "A factory's result: (number, sizes, dtype, out, numbers...)."},
    {"set_slow_path", FAST(ow_set_slow_path), METH_FASTCALL, "Says where calls go that are not for the quick way."},
    {"item", FAST(ow_call_item), METH_FASTCALL, "The only element, or None."},
    {"all_true", FAST(ow_call_all_true), METH_FASTCALL, "True, where every truth value is, or None."},
    {"contiguous", FAST(ow_call_contiguous), METH_FASTCALL, "The tensor itself where its elements are in order, or None."},
    {"split", FAST(ow_call_split), METH_FASTCALL, "Views of parts of one size along a dimension, or None."},
    {"chunk", FAST(ow_call_chunk), METH_FASTCALL, "So many views of parts along a dimension, or None."},
    {"unbind", FAST(ow_call_unbind), METH_FASTCALL, "Views of each position along a dimension, or None."},
    {"median", FAST(ow_call_median), METH_FASTCALL, "The median of all elements, those that are NaN ignored or not, or None."},
    {"matmul", FAST(ow_call_matmul), METH_FASTCALL, "The product of `@`, or None."},
    {"moment", FAST(ow_call_moment), METH_FASTCALL, "A variance, a standard deviation or a mean, or None."},
    {"overwrite", FAST(ow_call_overwrite), METH_FASTCALL, "Calls whose results are written over their tensors: (function, rows, numbers)."},
    {"recur", FAST(ow_call_recur), METH_FASTCALL, "The steps of a recurrent layer: (function, tensors, product, backwards, behind)."},
    {"needs_grad", FAST(ow_needs_grad), METH_FASTCALL, "Is the history of one of these values recorded?"},
    {"edges", FAST(ow_edges), METH_FASTCALL, "The edges of those whose history is recorded, None for the others."},
    {"versions", ow_versions, METH_O, "How often the memory of each tensor of a tuple was written to."},
    {"set_edge", FAST(ow_set_edge), METH_FASTCALL, "Makes a tensor an output of a node, or with None of none."},
    {"multi_view", FAST(multi_view), METH_FASTCALL, "Says whether the views of a tuple count as taken by one call."},
    {"as_view", FAST(as_view), METH_FASTCALL, "Makes a new tensor a view of another."},
    {"own_results", FAST(ow_own_results_of), METH_FASTCALL, "Makes views of what a call has made tensors of their own."},
    {"function_view", FAST(function_view), METH_FASTCALL, "Says that a user's Function has returned a view, with others or alone."},
    {"alias", ow_alias, METH_O, "The same elements without history."},
    {"apart", FAST(ow_apart), METH_FASTCALL,
     "The same elements without history, through which writing is counted apart, from a number on."},
    {"excluded", ow_excluded, METH_NOARGS, "The dispatch keys that the thread does not look at."},
    {"with_keys", ow_with_keys, METH_VARARGS, "What a function returns while these keys are looked at, and those are not."},
    {"register_device", ow_register_device, METH_VARARGS, "Adds a kind of device; its number."},
    {"pinned_like", FAST(ow_pinned_like), METH_FASTCALL, "A tensor like another one in memory of the CPU that a device allocates."},
    {"set_device_run", ow_set_device_run_python, METH_VARARGS, "Has a function of C compute plans on a kind of device."},
    {"set_answered", ow_set_answered, METH_O, "Says with which keys calls are the core's own."},
    {"device_memory", ow_device_memory_python, METH_VARARGS, "Bytes of a registered device: held and given, now and at most."},
    {"empty_device_cache", ow_empty_device_cache, METH_O, "Gives a device back what no tensor uses."},
    {"with_device", FAST(ow_with_device), METH_FASTCALL, "What a function returns while a device is the default one."},
    {"default_device", ow_default_device_number, METH_NOARGS, "The number of the thread's default device."},
    {"make_results", FAST(ow_make_results_python), METH_FASTCALL, "The results of a call, which are not computed."},
    {"describe", FAST(ow_describe), METH_FASTCALL, "A tensor without memory, which stands for an object."},
    {"payload", ow_payload, METH_O, "The object that a described tensor stands for."},
    {"set_payload", FAST(ow_set_payload), METH_FASTCALL, "Says what a described tensor stands for."},
    {"size_reads", ow_size_reads_of, METH_O, "What Python was told of sizes, and whether to note that from now on."},
    {"set_shape_reader", ow_set_shape_reader, METH_O, "Says what notes that the shape of a tensor is read."},
    {"signature", FAST(ow_signature), METH_FASTCALL, "What a compiled call depends on of a tuple of tensors, or None."},
    {"are_unchanged", ow_are_unchanged, METH_O, "Do dictionaries and objects still have these values?"},
    {"answer", FAST(ow_answer), METH_FASTCALL, "The result of the first program that is for some tensors, or NotImplemented."},
    {"include", ow_include, METH_O, "Says which keys all calls of the thread have; the keys that they had."},
    {"interruption", ow_interruption, METH_NOARGS, "What a handler of a signal raised while the core was at work."},
    {"kept", ow_kept, METH_O, "The same elements without history, and how often they were written to."},
    {"meta", ow_meta, METH_O, "The shape of a tensor, and the numbers of its dtype and its device."},
    {"fits", FAST(ow_fits), METH_FASTCALL, "Has a tensor this shape, dtype and device?"},
    {"set_recorder", FAST(ow_set_recorder), METH_FASTCALL, "Says how results of recorded calls become part of the graph."},
    {"anomaly", ow_anomaly_bits, METH_NOARGS, "Whether anomalies are looked for (ANOMALY), and the bits above it."},
    {"packing", ow_packing_hooks, METH_NOARGS, "The hooks that pack what the graph saves in this thread, or None."},
    {"set_watcher", ow_set_watcher, METH_O, "Says what looks at each new node while anomalies are looked for."},
    {"set_refresh", ow_set_refresh, METH_O, "Says what brings the edge of a view up to date."},
    {"set_size_class", ow_set_size_class, METH_O, "Says of which class shapes are."},
    {"set_numpy", FAST(ow_set_numpy), METH_FASTCALL, "Says what makes arrays, once NumPy is loaded."},
    {"read_array", ow_read_array, METH_O, "A tensor over the memory of a NumPy array, or None."},
    {"array_of", ow_array_of, METH_O, "A NumPy array over the memory of a tensor, or None."},
    {"over_memory", ow_over_memory, METH_VARARGS, "A handle over memory that an object owns."},
    {"exported", FAST(ow_exported), METH_FASTCALL, "What keeps a tensor's memory, and describes it to NumPy."},
    {"to_dlpack", FAST(ow_to_dlpack), METH_FASTCALL, "A DLPack capsule over the memory of a tensor."},
    {"from_dlpack", FAST(ow_from_dlpack), METH_FASTCALL, "A handle over the memory of a DLPack capsule."},
    {"to_arrow", ow_to_arrow, METH_O, "Arrow's capsules over the memory of a tensor."},
    {NULL, NULL, 0, NULL},
};

static struct PyModuleDef definition = {
    PyModuleDef_HEAD_INIT, .m_name = "opweave._handle", .m_doc = "The base of class Tensor.", .m_size = -1,
    .m_methods = functions,
};

PyMODINIT_FUNC PyInit__handle(void);
PyMODINIT_FUNC PyInit__handle(void) {
    PyObject *module = PyModule_Create(&definition);
    if (!module) return NULL;
    PyObject *type = PyType_FromSpec(&owner_spec), *size = ow_size_base(), *node = ow_node_type(),
             *size_method = ow_size_method();
    int exports = ow_export_init();
    ow_owner_type = (PyTypeObject *)type;
    int done = exports && type && size && node && size_method && ow_add_function(module) && ow_add_method(module) &&
               ow_add_modes(module) && PyModule_AddObjectRef(module, "TensorBase", type) == 0 &&
               PyModule_AddObjectRef(module, "SizeBase", size) == 0 && PyModule_AddObjectRef(module, "NodeBase", node) == 0 &&
               PyModule_AddObjectRef(module, "SizeMethod", size_method) == 0;
    Py_XDECREF(size); /* the owners' type is needed for ever */
    Py_XDECREF(node);
    if (!done) Py_CLEAR(module);
    return module;
}
