/* What the module `opweave._handle` is made of: Python objects over the core's tensors. Includes nothing of the core. */
#ifndef OPWEAVE_PYTHON_TYPES_H
#define OPWEAVE_PYTHON_TYPES_H

#define PY_SSIZE_T_CLEAN
#include <Python.h>

#include <stdint.h>

struct ow_ints;
struct ow_tensor;

/* The handle of a float; NULL with TypeError set for any other object, and for what can be no handle. */
struct ow_tensor *ow_handle_of(PyObject *object);

/* An int of 64 bits, which no bool is; 0 for anything else. */
static inline int ow_read_int(PyObject *object, int64_t *value) {
    int overflow;
    *value = 0;
    if (!PyLong_CheckExact(object)) return 0;
    *value = PyLong_AsLongLongAndOverflow(object, &overflow);
    return !overflow;
}

/* An int, or a tuple or list of them, at most as many as a tensor has dimensions; 0 for anything else. (operator_arguments.c) */
int ow_read_ints(PyObject *object, struct ow_ints *list);

/* Is it class Tensor itself, or that of parameters; and the class of shapes? */
int ow_is_tensor_class(PyTypeObject *type);
int ow_is_size_class(PyTypeObject *type);

/* The tensor of an object of class Tensor itself, or a parameter, without dispatch keys; NULL for any other object. */
struct ow_tensor *ow_plain_tensor(PyObject *object);

/* A new object of class Tensor that owns the tensor. */
PyObject *ow_new_owner(struct ow_tensor *t);
/* The same, an object of class Tensor or of one derived from it. */
PyObject *ow_new_owner_of(PyTypeObject *type, struct ow_tensor *t);
/* 1 if it is class Tensor, or one derived from it. */
int ow_derives_from_tensor(PyObject *object);
/* The same of a view of the tensor `of`. */
PyObject *ow_new_view(struct ow_tensor *t, PyObject *of);
/* Says of a tuple of views whether they count as taken by one call (tensor_object.h). */
void ow_mark_multi_view(PyObject *views, int is_multi);
/* A tuple of such objects, which takes all tensors whatever happens. */
PyObject *ow_new_owners(struct ow_tensor *const *tensors, int n);

/* Histories (autograd_edges.c). */
PyObject *ow_needs_grad(PyObject *module, PyObject *const *arguments, Py_ssize_t n);
PyObject *ow_edges(PyObject *module, PyObject *const *arguments, Py_ssize_t n);
PyObject *ow_versions(PyObject *module, PyObject *values);
PyObject *ow_set_edge(PyObject *module, PyObject *const *arguments, Py_ssize_t n);
PyObject *ow_alias(PyObject *module, PyObject *object);
PyObject *ow_apart(PyObject *module, PyObject *const *arguments, Py_ssize_t n);
PyObject *ow_excluded(PyObject *module, PyObject *nothing);
/* The same for a while (modes.c). */
PyObject *ow_with_keys(PyObject *module, PyObject *arguments);
PyObject *ow_include(PyObject *module, PyObject *keys);
/* Adds the types of context managers, and what they need. 1, or 0 with Python's error set. */
int ow_add_modes(PyObject *module);
/* Process-wide: 1 while anomalies are detected. Other bits are Python's. */
extern uint32_t ow_anomaly;
#define OW_ANOMALY 1u
PyObject *ow_anomaly_bits(PyObject *module, PyObject *nothing);
/* The hooks of the thread that pack what the graph saves, borrowed; NULL: there are none. The same, or None. */
PyObject *ow_packing(void);
PyObject *ow_packing_hooks(PyObject *module, PyObject *nothing);
/* What a handler of a signal raised within a loop (gil.c). */
PyObject *ow_interruption(PyObject *module, PyObject *nothing);
/* Has the exception that is raised pending, as the error of a call of the core. (gil.c) */
void ow_keep_exception(void);
/* Devices (registered_devices.c). */
PyObject *ow_register_device(PyObject *module, PyObject *arguments);
PyObject *ow_pinned_like(PyObject *module, PyObject *const *arguments, Py_ssize_t n);
PyObject *ow_set_device_run_python(PyObject *module, PyObject *arguments);
/* Keys whose tensors the core answers for: nothing of Python's is registered for them. */
extern uint32_t ow_answered_keys;
PyObject *ow_set_answered(PyObject *module, PyObject *keys);
PyObject *ow_device_memory_python(PyObject *module, PyObject *arguments);
PyObject *ow_empty_device_cache(PyObject *module, PyObject *number);
PyObject *ow_with_device(PyObject *module, PyObject *const *arguments, Py_ssize_t n);
PyObject *ow_default_device_number(PyObject *module, PyObject *nothing);
/* What a thread that notes it tells Python of sizes (noted_sizes.c). size_reads(is_on): pairs of handles and dimensions, or -1
 * for all sizes and -2 for the strides as well, since the last call; the thread notes on, or not. The handle 0: no tensor that
 * is known. */
PyObject *ow_size_reads_of(PyObject *module, PyObject *is_on);
/* Called as function(tensor) in place of a note where the shape is read as an attribute. */
PyObject *ow_set_shape_reader(PyObject *module, PyObject *function);
int ow_tell_shape(PyObject *object); /* 0 with Python's error set */
/* What compiled calls compare (signature.c). */
PyObject *ow_signature(PyObject *module, PyObject *const *arguments, Py_ssize_t n);
PyObject *ow_are_unchanged(PyObject *module, PyObject *entries);
PyObject *ow_answer(PyObject *module, PyObject *const *arguments, Py_ssize_t n);

/* Tensors that are only described (described.c). */
PyObject *ow_describe(PyObject *module, PyObject *const *arguments, Py_ssize_t n);
PyObject *ow_payload(PyObject *module, PyObject *object);
PyObject *ow_set_payload(PyObject *module, PyObject *const *arguments, Py_ssize_t n);
/* None, for a call that is made again in another way, and its error with it; but an interruption is raised. (gil.c) */
PyObject *ow_declined(void);
/* The edge of a tensor whose history is recorded; None of anything else. */
PyObject *ow_edge_of(PyObject *object);
/* Makes a tensor part of the graph, or with NULL of none. */
void ow_give_edge(PyObject *tensor, PyObject *edge);
/* 1 if one of these objects is a tensor whose operations are recorded. And the result of a call of them, made part of
 * the graph; takes the result. (autograd_record.c) */
int ow_any_records(PyObject *const *values, Py_ssize_t n);
PyObject *ow_recorded(PyObject *result, long number, PyObject *const *arguments, Py_ssize_t n);
PyObject *ow_kept(PyObject *module, PyObject *object);
PyObject *ow_meta(PyObject *module, PyObject *object);
PyObject *ow_fits(PyObject *module, PyObject *const *arguments, Py_ssize_t n);
PyObject *ow_set_recorder(PyObject *module, PyObject *const *arguments, Py_ssize_t n);
PyObject *ow_set_watcher(PyObject *module, PyObject *function); /* (node_type.c) */
PyObject *ow_set_refresh(PyObject *module, PyObject *function);

/* Memory of other objects as tensors (array_struct.c): from_memory() for an owner that is one of Python. */
double ow_from_owner(PyObject *owner, uintptr_t data, int64_t nbytes, const int64_t *sizes, const int64_t *strides,
                     int32_t ndim, int32_t dtype, int readonly);
PyObject *ow_read_array(PyObject *module, PyObject *array);
PyObject *ow_array_of(PyObject *module, PyObject *tensor);
/* PyArrayObject, of which NumPy's documentation names the fields; strides are in bytes. */
typedef struct {
    PyObject_HEAD
    char *data;
    int ndim;
    int64_t *sizes, *strides;
    PyObject *base, *descriptor;
    int flags;
} ow_array;
/* The number of its dtype, -1 where tensors have none such: in another byte order, of records or objects. */
int ow_dtype_of_array(const ow_array *array);
/* The class of NumPy's arrays, NULL while it is not loaded; and a new one, which takes the owner of its memory whatever
 * happens (numpy_arrays.c). */
extern PyObject *ow_array_class;
PyObject *ow_new_array(int dtype, int ndim, const Py_ssize_t *sizes, const Py_ssize_t *strides, void *data, int writeable,
                       PyObject *owner);
PyObject *ow_set_numpy(PyObject *module, PyObject *const *arguments, Py_ssize_t n);
PyObject *ow_over_memory(PyObject *module, PyObject *arguments);
/* And back: what is exported owns the storage, and not the tensor, which may be given another one. 0 on failure. */
int ow_export_init(void);
PyObject *ow_exported(PyObject *module, PyObject *const *arguments, Py_ssize_t n);
/* An object that keeps the memory for good, and takes what a buffer over it refers to (from PyMem_Calloc). And what fills in
 * and releases such a buffer: the slots of the class (buffer.c). */
PyObject *ow_new_exported(const struct ow_tensor *t, Py_ssize_t *geometry);
struct ow_buffer;
int ow_get_buffer(PyObject *self, struct ow_buffer *view, int flags);
void ow_release_buffer(PyObject *self, struct ow_buffer *view);
enum { OW_BF_GETBUFFER = 1, OW_BF_RELEASEBUFFER = 2 }; /* Py_bf_getbuffer, Py_bf_releasebuffer */
PyObject *ow_to_dlpack(PyObject *module, PyObject *const *arguments, Py_ssize_t n); /* (dlpack.c) */
PyObject *ow_from_dlpack(PyObject *module, PyObject *const *arguments, Py_ssize_t n);
PyObject *ow_to_arrow(PyObject *module, PyObject *tensor); /* (arrow.c) */

/* Sizes and strides as tuples (size_type.c). */
PyObject *ow_shape_of(const struct ow_tensor *t);
PyObject *ow_strides_of(const struct ow_tensor *t);
PyObject *ow_set_size_class(PyObject *module, PyObject *type);
PyObject *ow_size_base(void);
/* The type of `Tensor.size` (size_method.c). */
PyObject *ow_size_method(void);

/* The view that an index of ints, slices, None and `...` gives, or NULL (basic_index.c). */
struct ow_tensor *ow_basic_view(struct ow_tensor *self, PyObject *index);
PyObject *ow_view_of(PyObject *module, PyObject *const *arguments, Py_ssize_t n);
/* The operators that indices are made of: _handle.Function. */
typedef struct {
    PyObject *select, *slice, *unsqueeze, *index;
} ow_index_functions;
/* The same for a tensor with a history, by calls of operators, which are recorded. */
PyObject *ow_recorded_view(const ow_index_functions *functions, PyObject *self, PyObject *index);

/* `t[index]` and `t[index] = value` where tensors are part of the index; NULL without an error where that is not for the
 * quick way (calls_indexing.c). */
struct ow_tensor *ow_selected(struct ow_tensor *self, PyObject *index);
PyObject *ow_recorded_selection(const ow_index_functions *functions, PyObject *self, PyObject *index);
PyObject *ow_call_assign(PyObject *module, PyObject *const *arguments, Py_ssize_t n);

/* What a call of these arguments has returned is no view of what it has made on its way (hidden_bases.c). */
void ow_own_results(PyObject *results, PyObject *const *arguments, int n);
PyObject *ow_own_results_of(PyObject *module, PyObject *const *arguments, Py_ssize_t n);

/* The quick calls that composites name (calls_lists.c). */
PyObject *ow_call_split(PyObject *module, PyObject *const *arguments, Py_ssize_t n);
PyObject *ow_call_chunk(PyObject *module, PyObject *const *arguments, Py_ssize_t n);
PyObject *ow_call_unbind(PyObject *module, PyObject *const *arguments, Py_ssize_t n);
PyObject *ow_call_median(PyObject *module, PyObject *const *arguments, Py_ssize_t n); /* (median.c) */
PyObject *ow_call_moment(PyObject *module, PyObject *const *arguments, Py_ssize_t n);
PyObject *ow_call_item(PyObject *module, PyObject *const *arguments, Py_ssize_t n);
PyObject *ow_call_all_true(PyObject *module, PyObject *const *arguments, Py_ssize_t n);
PyObject *ow_call_contiguous(PyObject *module, PyObject *const *arguments, Py_ssize_t n);
PyObject *ow_call_matmul(PyObject *module, PyObject *const *arguments, Py_ssize_t n);
PyObject *ow_call_overwrite(PyObject *module, PyObject *const *arguments, Py_ssize_t n); /* (calls_overwrite.c) */
PyObject *ow_call_recur(PyObject *module, PyObject *const *arguments, Py_ssize_t n); /* (calls_recurrence.c) */

/* The elements as nested lists, and the only one as a number (tolist.c). */
PyObject *ow_element(const struct ow_tensor *t);
PyObject *ow_tolist(const struct ow_tensor *t);
/* And back (from_numbers.c). */
PyObject *ow_from_numbers(PyObject *module, PyObject *const *arguments, Py_ssize_t n);

#endif
