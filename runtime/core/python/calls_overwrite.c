/* Many calls of an operator, whose results are written over their first tensors. */
#include "families/elementwise.h"
#include "operator_function.h"
#include "python_numbers.h"
#include "tensor_object.h"

/* The tensors of all rows that are plain and of a dtype that the operator takes; the others are added to `left`. The number of
 * rows, or -1 with Python's error set. */
static Py_ssize_t read_rows(PyObject *rows, const ow_op *op, ow_tensor **tensors, PyObject *left) {
    const int ninputs = op->ninputs;
    Py_ssize_t count = 0;
    for (Py_ssize_t at = 0; at < PyTuple_Size(rows); at++) {
        PyObject *row = PyTuple_GetItem(rows, at);
        int k = 0;
        if (PyTuple_Check(row) && PyTuple_Size(row) == ninputs)
            while (k < ninputs && (tensors[count * ninputs + k] = ow_plain_tensor(PyTuple_GetItem(row, k)))) k++;
        if (k == ninputs && op->dtypes >> tensors[count * ninputs]->dtype & 1) count++;
        else if (PyList_Append(left, row) < 0) return -1;
    }
    return count;
}

/* overwrite(function, rows, numbers): calls an elementwise operator for each tuple of tensors, with all of its parameters,
 * and writes the results over the first tensors. A list of the tuples for which that takes a call of the function. */
PyObject *ow_call_overwrite(PyObject *module, PyObject *const *arguments, Py_ssize_t n) {
    (void)module;
    const int fits = n == 3 && (PyObject *)Py_TYPE(arguments[0]) == ow_function_type() && PyTuple_Check(arguments[1]);
    const ow_op *op = fits ? ((const ow_function *)arguments[0])->core : NULL;
    if (!op || op->family != OW_ELEMENTWISE || op->results > op->ninputs || !PyTuple_Check(arguments[2]) ||
        PyTuple_Size(arguments[2]) != op->nparams)
        return PyErr_Format(PyExc_TypeError, "overwrite() takes an elementwise function, a tuple of tuples, and numbers");
    ow_tensor *params[OW_MAX_PARAMS];
    ow_number numbers[OW_MAX_PARAMS];
    int quick = !(ow_included_keys & ~ow_excluded_keys);
    for (int k = 0; k < op->nparams; k++)
        quick = quick && (params[k] = ow_read_number(PyTuple_GetItem(arguments[2], k), &numbers[k]));
    if (!quick) return PySequence_List(arguments[1]);
    ow_tensor **tensors = PyMem_Malloc((size_t)PyTuple_Size(arguments[1]) * op->ninputs * sizeof *tensors + 1);
    PyObject *left = tensors ? PyList_New(0) : PyErr_NoMemory();
    Py_ssize_t count = left ? read_rows(arguments[1], op, tensors, left) : -1;
    if (count < 0 || (count && !ow_overwrite(op, tensors, count, params))) Py_CLEAR(left);
    PyMem_Free(tensors);
    return left || PyErr_Occurred() ? left : ow_raise_pending();
}
