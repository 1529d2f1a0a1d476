/* The interpreter's lock around long loops, and the signals that come meanwhile.
 *
 * The glue that Python calls holds the lock, which makes short calls cheap and metadata safe; a loop that is long
 * enough to pay for it runs without. Python code of other threads, or of a signal's handler, runs meanwhile: the memory that
 * a tensor leaves waits for the end of such loops (left_storages.c).
 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE /* RTLD_DEFAULT */
#endif
#ifndef Py_LIMITED_API
#define Py_LIMITED_API 0x030a0000
#endif
#include "python_types.h"

#include <dlfcn.h>

#include "tensor.h"

enum { WORK_TO_RELEASE = 16 << 10 };

#define PART_WORK 5e8 /* between two looks at signals, in units of a float32 addition: a fraction of a second */

/* Does the calling thread hold the lock? Workers of the pool and callers that dropped it do not. Every interpreter
 * exports this function, but the limited API does not declare it. */
static int (*holds_lock)(void);

__attribute__((constructor)) static void start(void) {
    void *symbol = dlsym(RTLD_DEFAULT, "PyGILState_Check");
    memcpy(&holds_lock, &symbol, sizeof symbol);
}

/* ---- the lock --------------------------------------------------------------------------------------------- */

void *ow_gil_release(int64_t work) {
    if (work < WORK_TO_RELEASE || !holds_lock || !holds_lock()) return NULL;
    ow_loop_begins();
    return PyEval_SaveThread();
}

void ow_gil_acquire(void *token) {
    if (!token) return;
    PyEval_RestoreThread(token);
    ow_loop_ends();
}

/* ---- signals ---------------------------------------------------------------------------------------------- */

/* What a handler raised, until Python asks for it. */
static PyObject *raised;

PyObject *ow_interruption(PyObject *module, PyObject *nothing) {
    (void)module, (void)nothing;
    PyObject *found = raised ? raised : Py_NewRef(Py_None);
    raised = NULL;
    return found;
}

PyObject *ow_declined(void) {
    if (ow_error_take(NULL, 0) != OW_INTERRUPTED) Py_RETURN_NONE;
    char text[1];
    ow_error_take(text, sizeof text);
    PyObject *found = ow_interruption(NULL, NULL);
    if (PyExceptionInstance_Check(found)) PyErr_SetObject((PyObject *)Py_TYPE(found), found);
    else PyErr_SetNone(PyExc_KeyboardInterrupt);
    Py_DECREF(found);
    return NULL;
}

/* Has Python call the handlers of signals that came: with the lock, which the thread has dropped. 0 when one of them has
 * raised, which is the thread's error then. */
static int signals_handled(void *token) {
    PyObject *type, *value, *traceback;
    PyEval_RestoreThread(token);
    int failed = PyErr_CheckSignals() < 0;
    if (failed) {
        PyErr_Fetch(&type, &value, &traceback);
        PyErr_NormalizeException(&type, &value, &traceback);
        Py_XDECREF(type);
        Py_XDECREF(traceback);
        Py_XDECREF(raised);
        raised = value;
        ow_fail(OW_INTERRUPTED, "interrupted");
    }
    PyEval_SaveThread();
    return !failed;
}

typedef struct {
    ow_task task;
    void *context;
    int64_t first;
} part;

static void run_part(void *context, int64_t begin, int64_t end) {
    const part *p = context;
    p->task(p->context, p->first + begin, p->first + end);
}

int ow_long_for(int64_t n, int64_t grain, double work, ow_task task, void *context) {
    void *token = ow_gil_release(work < 1e18 ? (int64_t)work : INT64_MAX);
    int done = 1;
    if (!token || work < 2 * PART_WORK || n <= grain) {
        ow_parallel_for(n, grain, work, task, context);
    } else {
        int64_t grains = (int64_t)(PART_WORK / (work / (double)n * (double)grain)), length = grain * (grains > 0 ? grains : 1);
        for (int64_t first = 0; first < n && done; first += length) {
            part p = {task, context, first};
            int64_t count = n - first < length ? n - first : length;
            ow_parallel_for(count, grain, work / (double)n * (double)count, run_part, &p);
            done = first + count == n || signals_handled(token);
        }
    }
    ow_gil_acquire(token);
    return done;
}
