/* What the module `opweave._handle` is made of: Python objects over the core's tensors. Includes nothing of the core. */
#ifndef OPWEAVE_PYTHON_TYPES_H
#define OPWEAVE_PYTHON_TYPES_H

#define PY_SSIZE_T_CLEAN
#include <Python.h>

struct ow_tensor;

/* The handle of a float; NULL with AttributeError set when there is no object, TypeError for any other one. */
struct ow_tensor *ow_handle_of(PyObject *object);

/* NumPy's memory as a tensor and back (array_struct.c). */
PyObject *ow_read_array(PyObject *module, PyObject *array);
PyObject *ow_array_struct(const struct ow_tensor *t);
PyObject *ow_retain_owner(PyObject *module, PyObject *owner);
PyObject *ow_release_owner(PyObject *module, PyObject *number);
void ow_array_struct_init(void);

/* Sizes and strides as tuples (size_type.c). */
PyObject *ow_shape_of(const struct ow_tensor *t);
PyObject *ow_strides_of(const struct ow_tensor *t);
PyObject *ow_set_size_class(PyObject *module, PyObject *type);
PyObject *ow_size_base(void);

/* The elements as nested lists (tolist.c). */
PyObject *ow_tolist(const struct ow_tensor *t);

#endif
