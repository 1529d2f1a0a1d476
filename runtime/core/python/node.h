/* The nodes of the graph: what every class of them (autograd/node.py) has in common (node_type.c). */
#ifndef OPWEAVE_NODE_H
#define OPWEAVE_NODE_H

#include "python_types.h"

typedef struct {
    PyObject_HEAD
    uint64_t number;    /* in the order in which nodes are made */
    PyObject *edges;    /* a tuple: where the gradient by each input goes, None where to none */
    PyObject *metas;    /* a tuple: shape and dtype of each output */
    PyObject *tensors;  /* what is kept of the inputs; None once it is released */
    PyObject *versions; /* how often the memory of each of them had been written to */
    PyObject *values;   /* what is kept that is no tensor */
    PyObject *results;  /* what is kept of the outputs, a tuple of pairs (tensor, version) */
    PyObject *hooks;    /* what users have it do besides, or None */
} node;

/* A new node of a class; takes the edges. */
PyObject *ow_new_node(PyTypeObject *type, PyObject *edges);
/* Keeps an output, without the edge that would refer back to the node. 0 on failure, with an exception. */
int ow_keep_result(node *of, PyObject *result);
/* The type, for the module to have. */
PyObject *ow_node_type(void);
/* 1 if it is a class of nodes. */
int ow_is_node_class(PyObject *object);

#endif
