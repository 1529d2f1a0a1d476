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
#include "python/python_types.h"

#include <dlfcn.h>

#include "thread.h"
#include "tensor/tensor.h"

enum { WORK_TO_RELEASE = 16 << 10 };

/* 1 if the calling thread holds the lock. Workers of the pool and callers that dropped it do not. Every interpreter
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
    void *token = PyEval_SaveThread();
    ow_thread *t = ow_thread_get();
    if (t) t->handles_signals = token;
    return token;
}

void ow_gil_acquire(void *token) {
    if (!token) return;
    ow_signals_wait();
    PyEval_RestoreThread(token);
    ow_loop_ends();
}

void ow_signals_wait(void) {
    if (ow_self) ow_self->handles_signals = NULL;
}

/* ---- signals ---------------------------------------------------------------------------------------------- */

/* What a handler raised, until Python asks for it. */
static PyObject *raised;

PyObject *ow_interruption(PyObject *module, PyObject *nothing) {
    (void)module, (void)nothing;
    PyObject *exception = raised ? raised : Py_NewRef(Py_None);
    raised = NULL;
    return exception;
}

PyObject *ow_declined(void) {
    if (ow_error_take(NULL, 0) != OW_INTERRUPTED) Py_RETURN_NONE;
    char text[1];
    ow_error_take(text, sizeof text);
    PyObject *exception = ow_interruption(NULL, NULL);
    if (PyExceptionInstance_Check(exception)) PyErr_SetObject((PyObject *)Py_TYPE(exception), exception);
    else PyErr_SetNone(PyExc_KeyboardInterrupt);
    Py_DECREF(exception);
    return NULL;
}

void ow_keep_exception(void) {
    PyObject *type, *value, *traceback;
    PyErr_Fetch(&type, &value, &traceback);
    PyErr_NormalizeException(&type, &value, &traceback);
    Py_XDECREF(type);
    Py_XDECREF(traceback);
    Py_XDECREF(raised);
    raised = value;
    ow_fail(OW_INTERRUPTED, "interrupted");
}

int ow_signals_handled(void) {
    void *token = ow_self ? ow_self->handles_signals : NULL;
    if (!token) return 1;
    if (ow_error_pending()) return 0;
    ow_signals_wait(); /* to those that are handled now */
    PyEval_RestoreThread(token);
    int failed = PyErr_CheckSignals() < 0;
    if (failed) ow_keep_exception();
    PyEval_SaveThread();
    ow_self->handles_signals = token;
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

int ow_run_parts(int64_t n, int64_t grain, int64_t least, double work, ow_task task, void *context, ow_loop_runner *run) {
    int64_t length = n;
    if (ow_self && ow_self->handles_signals) {
        double grains = OW_PART_WORK / (work / (double)n * (double)grain);
        length = grains < (double)least ? least : (int64_t)grains;
        if (__builtin_mul_overflow(length, grain, &length)) length = n;
    }
    for (int64_t first = 0; first < n; first += length) {
        if (!ow_signals_handled()) return 0;
        part p = {task, context, first};
        int64_t count = n - first < length ? n - first : length;
        run(count, grain, work / (double)n * (double)count, run_part, &p);
    }
    return !ow_error_pending(); /* of a loop within the task */
}

int ow_long_for(int64_t n, int64_t grain, double work, ow_task task, void *context) {
    void *token = ow_gil_release(work < 1e18 ? (int64_t)work : INT64_MAX);
    int done = ow_parallel_for(n, grain, work, task, context);
    ow_gil_acquire(token);
    return done;
}
