/* The object behind `opweave.add` and `Tensor.add_`: it binds arguments to an operator's schema and makes the call.
 *
 * operator_function.c is the type and the binding; operator_arguments.c reads arguments for the core; operator_call.c makes
 * the calls that need no Python: of dense tensors of class Tensor itself, and of arguments of exactly their types. All else
 * goes to _dispatch/, with the arguments in schema order where they could be bound, and as they were given where not. */
#ifndef OPWEAVE_OPERATOR_FUNCTION_H
#define OPWEAVE_OPERATOR_FUNCTION_H

#include "python_types.h"
#include "families/invoke.h"

enum { OW_MAX_ARGUMENTS = 24 };

/* Of which kinds an argument may be, as bits; INTS and TENSORS are lists or tuples of them. */
#define OW_VALUES(X) \
    X(NONE) X(TENSOR) X(INT) X(FLOAT) X(BOOL) X(COMPLEX) X(STR) X(INTS) X(TENSORS) X(DTYPE) X(GENERATOR) X(FORMAT) \
    X(OTHER)
#define OW_VALUE_INDEX(name) OW_VALUE_INDEX_##name,
#define OW_VALUE_BIT(name) OW_IS_##name = 1 << OW_VALUE_INDEX_##name,
enum { OW_VALUES(OW_VALUE_INDEX) OW_NVALUES };
enum { OW_VALUES(OW_VALUE_BIT) };

/* How a function is called: as a function or method that makes a new result, in place, or by an operator of Python. */
#define OW_FORMS(X) X(FUNCTION) X(IN_PLACE) X(BINARY) X(REFLECTED) X(AUGMENTED)
#define OW_FORM(name) OW_##name,
typedef enum ow_form { OW_FORMS(OW_FORM) OW_NFORMS } ow_form;

typedef PyObject *ow_vectorcall(PyObject *callable, PyObject *const *arguments, size_t n, PyObject *names);

typedef struct ow_function {
    PyObject_HEAD
    ow_vectorcall *vectorcall;
    PyObject *op;       /* the Op of _dispatch/op.py */
    PyObject *name;     /* str */
    PyObject *names;    /* tuple of str: the arguments in schema order, then perhaps `out` */
    PyObject *defaults; /* tuple; Ellipsis: required */
    PyObject *body;     /* of a composite: Python that takes the arguments in schema order; else None */
    PyObject *fast;     /* of some composites: a function that gives None where it is not for the quick way, and its arguments:
                         * places, and constants in tuples; of one in place by the same body: what assigns its result to
                         * the target; of a factory that has a body: what makes its tensor; else None */
    PyObject *results;  /* the class of several results with names, or None */
    PyObject *choices;  /* (place, dict): the functions that texts other than the default of an argument stand for; or None */
    PyObject *words;    /* dict: the number of each text that the core knows; or None */
    PyObject *weak_references;
    PyObject *attributes; /* the dictionary of what users set on it; NULL: nothing */
    const ow_op *core;  /* NULL: a composite */
    long number;        /* of the operator in the core's table; -1: a composite */
    ow_form form;
    int narguments, npositional;
    int leads;          /* the place of the argument that is given first: that of a method's own tensor */
    int separate;       /* the place of a list whose elements may also be given one by one; -1: there is none */
    int has_out;
    char takes_out; /* does the core write to `out` itself? */
    int differentiable; /* has a composite a derivative of its own? */
    unsigned int refused; /* bits of the dtypes that a composite does not take */
    char layout[OW_MAX_ARGUMENTS + 1];
    uint32_t kinds[OW_MAX_ARGUMENTS];
    PyObject *standards[OW_MAX_ARGUMENTS]; /* the items of `defaults`, borrowed */
} ow_function;

/* The limited API names these flags from 3.12 (and not at all) on; they mean the same in every version since 3.8. */
enum { OW_HAVE_VECTORCALL = 1 << 11, OW_METHOD_DESCRIPTOR = 1 << 17 };

/* The type. NULL with Python's error set. */
PyObject *ow_function_type(void);
/* What `object.name` is where its class has the function. */
PyObject *ow_bound_method(PyObject *function, PyObject *object);
/* Adds the type of methods of class Tensor. 1, or 0 with Python's error set. */
int ow_add_method(PyObject *module);
/* Adds the type, and the names of keys, kinds of values and forms in the order of their numbers. 1, or 0 with Python's error
 * set. */
int ow_add_function(PyObject *module);

/* The call of `f` with bound arguments (and `out`, or None) where it is for the quick way. NULL without an error where not. */
PyObject *ow_quick_call(const ow_function *f, PyObject *const *arguments, PyObject *out);
/* The same of two operands alone, all else being at its default. */
PyObject *ow_quick_operands(const ow_function *f, PyObject *left, PyObject *right);

/* Is it for `__torch_function__` to answer? */
int ow_is_for_subclass(const ow_function *f, PyObject *const *values);

/* invoke(function, arguments, out, mode): the core's answer, whatever classes and keys the tensors have. */
PyObject *ow_invoke_python(PyObject *module, PyObject *const *arguments, Py_ssize_t n);
/* tiles(values, calls, shape, parts, work): calls that run tile by tile, or None; run_tiles(tiles, tensor, ...): their results, or
 * None where they are to be made one by one. (tiles_object.c) */
PyObject *ow_tiles_new(PyObject *module, PyObject *const *arguments, Py_ssize_t n);
PyObject *ow_tiles_call(PyObject *module, PyObject *const *arguments, Py_ssize_t n);
PyObject *ow_make_results_python(PyObject *module, PyObject *const *arguments, Py_ssize_t n);
/* keys(arguments, out): the dispatch keys of all tensors, those of elements of lists among them. */
PyObject *ow_keys_of(PyObject *module, PyObject *const *arguments, Py_ssize_t n);
PyObject *ow_call_kernel(PyObject *module, PyObject *const *arguments, Py_ssize_t n);
PyObject *ow_produce(PyObject *module, PyObject *const *arguments, Py_ssize_t n);
/* A product of two tensors with histories, which becomes part of the graph; None where it is not for the quick way. */
PyObject *ow_recorded_operands(const ow_op *op, PyObject *const *operands);
/* set_slow_path(bound, unbound, operands, describe, take_pending, warn, takes_part, dispatches_not, dtype, Generator,
 * memory_format, MethodType) */
PyObject *ow_set_slow_path(PyObject *module, PyObject *const *arguments, Py_ssize_t n);
/* What calls ask besides: take_pending(), warn(text) and takes_part(value), the `__torch_dispatch__` of classes that have
 * none of their own, and the classes dtype, Generator, memory_format. */
PyObject *ow_set_call_types(PyObject *const *functions, PyObject *const *classes);
/* Raises the pending error of the core. Returns NULL. */
PyObject *ow_raise_pending(void);

#endif
