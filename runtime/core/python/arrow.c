/* Arrow's C data interface: memory that tables of other libraries (polars, pyarrow, duckdb) take as a column. The structs
 * are those of its specification. A tensor of several dimensions is an array of lists of a fixed size. */
#include <stdio.h>
#include <stdlib.h>

#include "abi/api.h"
#include "operator_function.h"
#include "tensor_object.h"

typedef struct schema {
    const char *format, *name, *metadata;
    int64_t flags, n_children;
    struct schema **children, *dictionary;
    void (*release)(struct schema *);
    void *context;
} schema;

typedef struct array {
    int64_t length, null_count, offset, n_buffers, n_children;
    const void **buffers;
    struct array **children, *dictionary;
    void (*release)(struct array *);
    void *context;
} array;

enum { NULLABLE = 2 }; /* a flag of schemas, which libraries give all that they make */

/* Arrow's formats. Its bools are bits: they are packed into memory of their own. */
static const char *const formats[OW_NSTORED] = {
    [OW_BOOL] = "b",  [OW_UINT8] = "C", [OW_UINT16] = "S", [OW_UINT32] = "I",  [OW_UINT64] = "L",  [OW_INT8] = "c",
    [OW_INT16] = "s", [OW_INT32] = "i", [OW_INT64] = "l",  [OW_FLOAT16] = "e", [OW_FLOAT32] = "f", [OW_FLOAT64] = "g",
};

/* ---- one level: the elements, or lists of the level below ------------------------------------------------- */

typedef struct {
    schema *child;
    char format[32];
} schema_context;

/* Whoever takes a child by itself clears its `release`; the struct stays its parent's. */
static void release_schema(schema *of) {
    schema_context *context = of->context;
    if (context->child) {
        if (context->child->release) context->child->release(context->child);
        free(context->child);
    }
    free(context);
    of->release = NULL;
}

/* Takes the child over. 0 on failure. */
static int fill_schema(schema *of, const char *format, int64_t size, schema *child) {
    schema_context *context = calloc(1, sizeof *context);
    if (!context) return 0;
    if (child) snprintf(context->format, sizeof context->format, "+w:%lld", (long long)size);
    context->child = child;
    *of = (schema){.format = child ? context->format : format, .name = "item", .flags = NULLABLE, .n_children = child != NULL,
                   .children = &context->child, .release = release_schema, .context = context};
    return 1;
}

typedef struct {
    array *child;
    ow_tensor *tensor; /* whose memory the elements are in; NULL: they are in `bits` */
    uint8_t *bits;
    const void *buffers[2]; /* which elements are there (all of them), and the elements */
} array_context;

/* Any thread of the other library may do so. */
static void release_array(array *of) {
    array_context *context = of->context;
    if (context->child) {
        if (context->child->release) context->child->release(context->child);
        free(context->child);
    }
    if (context->tensor && Py_IsInitialized()) {
        PyGILState_STATE state = PyGILState_Ensure();
        ow_tensor_free(context->tensor);
        PyGILState_Release(state);
    }
    free(context->bits);
    free(context);
    of->release = NULL;
}

static int fill_array(array *of, int64_t length, array *child) {
    array_context *context = calloc(1, sizeof *context);
    if (!context) return 0;
    context->child = child;
    *of = (array){.length = length, .n_buffers = child ? 1 : 2, .n_children = child != NULL, .buffers = context->buffers,
                  .children = &context->child, .release = release_array, .context = context};
    return 1;
}

static int fill_elements(array *of, const ow_tensor *t) {
    if (!fill_array(of, t->numel, NULL)) return 0;
    array_context *context = of->context;
    if (t->dtype == OW_BOOL) {
        context->bits = calloc((size_t)t->numel / 8 + 1, 1);
        if (!context->bits) return 0;
        for (int64_t i = 0; i < t->numel; i++) context->bits[i / 8] |= (uint8_t)((t->data[i] != 0) << i % 8);
        context->buffers[1] = context->bits;
        return 1;
    }
    context->tensor = ow_tensor_alias(t);
    context->buffers[1] = t->data;
    return context->tensor != NULL;
}

/* ---- capsules --------------------------------------------------------------------------------------------- */

static const char schema_name[] = "arrow_schema", array_name[] = "arrow_array";

static void free_schema(schema *of) {
    if (of && of->release) of->release(of);
    free(of);
}

static void free_array(array *of) {
    if (of && of->release) of->release(of);
    free(of);
}

static void free_schema_capsule(PyObject *capsule) { free_schema(PyCapsule_GetPointer(capsule, schema_name)); }

static void free_array_capsule(PyObject *capsule) { free_array(PyCapsule_GetPointer(capsule, array_name)); }

/* The struct of the first dimension, whose children are those of the others. NULL: no memory. */
static schema *new_schema(const ow_tensor *t) {
    schema *level = NULL;
    for (int d = t->ndim; d-- > 0;) {
        schema *above = calloc(1, sizeof *above);
        if (!above || !fill_schema(above, formats[t->dtype], d + 1 < t->ndim ? t->sizes[d + 1] : 0, level)) {
            free(above);
            free_schema(level);
            return NULL;
        }
        level = above;
    }
    if (level) level->name = "";
    return level;
}

static array *new_array(const ow_tensor *t) {
    array *level = NULL;
    int64_t length = 1;
    for (int d = 0; d < t->ndim; d++) length *= t->sizes[d];
    for (int d = t->ndim; d-- > 0;) {
        array *above = calloc(1, sizeof *above);
        int filled = above && (level ? fill_array(above, length, level) : fill_elements(above, t));
        if (!filled) {
            free_array(above);
            free_array(level);
            return NULL;
        }
        length = 1;
        for (int outer = 0; outer < d; outer++) length *= t->sizes[outer];
        level = above;
    }
    return level;
}

/* to_arrow(tensor): the capsules of the schema and of the array over the memory of a contiguous tensor with dimensions. */
PyObject *ow_to_arrow(PyObject *module, PyObject *tensor) {
    (void)module;
    ow_tensor *t = ow_any_tensor(tensor);
    if (!t || !(t->flags & OW_CONTIGUOUS)) return PyErr_Format(PyExc_TypeError, "to_arrow() takes a contiguous tensor");
    if (!ow_is_readable(t)) return PyErr_Format(PyExc_BufferError, "the tensor has no memory");
    if (!t->ndim) return PyErr_Format(PyExc_TypeError, "a tensor without dimensions is no array for Arrow; use t.reshape(1)");
    if (!formats[t->dtype]) return PyErr_Format(PyExc_TypeError, "Arrow has no bfloat16, no float8 and no complex numbers");
    schema *described = new_schema(t);
    array *elements = described ? new_array(t) : NULL;
    PyObject *first = elements ? PyCapsule_New(described, schema_name, free_schema_capsule) : NULL;
    if (!first) {
        free_schema(described);
        free_array(elements);
        return PyErr_Occurred() ? NULL : PyErr_NoMemory();
    }
    PyObject *second = PyCapsule_New(elements, array_name, free_array_capsule);
    if (!second) {
        free_array(elements);
        Py_DECREF(first);
        return NULL;
    }
    if (t->dtype != OW_BOOL) ow_storage_memory(t->storage)->flags |= OW_STORAGE_EXPORTED;
    return Py_BuildValue("(NN)", first, second);
}
