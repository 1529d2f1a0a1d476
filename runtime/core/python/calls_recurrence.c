/* The steps of recurrent layers, for the functions of _ops/ that compute them. */
#include "families/recurrence.h"
#include "operator_function.h"
#include "tensor_object.h"

/* recur(function, tensors, product, backwards, behind): at each step an elementwise operator, whose results and inputs are
 * `tensors`, and to[t] = addend[t] + from[t] @ weight, where `product` has these four; with `behind` the product comes behind
 * the operator. Truth: has it been computed? All tensors must be plain, of a dtype and a layout that suits. */
PyObject *ow_call_recur(PyObject *module, PyObject *const *arguments, Py_ssize_t n) {
    (void)module;
    const int fits = n == 5 && (PyObject *)Py_TYPE(arguments[0]) == ow_function_type() && PyTuple_Check(arguments[1]) &&
                     PyTuple_Check(arguments[2]) && PyTuple_Size(arguments[2]) == 4;
    const ow_op *op = fits ? ((const ow_function *)arguments[0])->core : NULL;
    const int count = op ? op->results + op->ninputs : 0;
    if (!op || PyTuple_Size(arguments[1]) != count)
        return PyErr_Format(PyExc_TypeError, "recur() takes an elementwise function, its tensors, four tensors, and two bools");
    ow_tensor *tensors[OW_MAX_INPUTS + OW_MAX_OUTPUTS], *product[4];
    int is_plain = !(ow_included_keys & ~ow_excluded_keys);
    for (int k = 0; is_plain && k < count; k++)
        is_plain = (tensors[k] = ow_plain_tensor(PyTuple_GetItem(arguments[1], k))) != NULL;
    for (int k = 0; is_plain && k < 4; k++)
        is_plain = (product[k] = ow_plain_tensor(PyTuple_GetItem(arguments[2], k))) != NULL;
    if (!is_plain) Py_RETURN_FALSE;
    const ow_recurrence r = {.op = op, .tensors = tensors, .to = product[0], .addend = product[1], .from = product[2],
                             .weight = product[3], .is_backwards = arguments[3] == Py_True,
                             .operator_first = arguments[4] == Py_True};
    if (!ow_recurrence_suits(&r)) Py_RETURN_FALSE;
    if (!ow_recurrence_run(&r)) return ow_raise_pending();
    Py_RETURN_TRUE;
}
