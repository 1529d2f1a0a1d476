/* Functions of the module `opweave._handle` that exchange memory with NumPy. Includes nothing of the core. */
#ifndef OPWEAVE_ARRAY_STRUCT_H
#define OPWEAVE_ARRAY_STRUCT_H

#include <Python.h>

PyObject *ow_read_array(PyObject *module, PyObject *args);
PyObject *ow_array_struct(PyObject *module, PyObject *args);

#endif
