/* What an object of class Tensor holds (tensor_type.c makes and frees them, autograd_edges.c knows where they came from). */
#ifndef OPWEAVE_OWNER_H
#define OPWEAVE_OWNER_H

#include "python_types.h"
#include "tensor/tensor.h"

/* How a view was made, or the view that it is one of: with any but the first it is not overwritten as part of a graph. */
enum {
    OW_USUAL_VIEW,
    OW_FUNCTION_VIEW,  /* a user's Function has returned it */
    OW_MULTI_VIEW,  /* a call has taken it together with others */
    OW_NO_GRAD_VIEW,   /* nothing was recorded */
    OW_INFERENCE_VIEW, /* in inference mode */
};

typedef struct {
    PyObject_HEAD
    PyObject *handle; /* a float, or NULL before it is set */
    PyObject *weak_references;
    PyObject *attributes; /* the dictionary of what users set on it; NULL: nothing */
    PyObject *edge;   /* (node, number): the output of the graph's node that it is; NULL: no part of a graph */
    PyObject *base;   /* the tensor that it is a view of; NULL: of none */
    uint32_t version; /* of a view: of the memory, when the edge was set, or else when the view was taken */
    char origin;      /* of a view: how it was made */
} owner;

/* The type of the objects, which class Tensor is derived from. */
extern PyTypeObject *ow_owner_type;

/* The same for objects of subclasses; keys do not matter. NULL for any other object. */
ow_tensor *ow_any_tensor(PyObject *object);
/* 1 if it is a view of a tensor that requires a gradient; the view does then too. Where the memory was overwritten
 * since it was taken, its history comes from there; where not, the view is older than the wish, and has none. */
int ow_follows_base(const owner *of, const ow_tensor *t);
/* Makes the garbage collector track an object that refers to others. */
void ow_track(PyObject *object);
/* The payload of a described tensor that no other tensor shares, for the garbage collector; NULL: there is none. */
PyObject **ow_own_payload(const owner *of);

#endif
