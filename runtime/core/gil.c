/* The interpreter's lock around long loops.
 *
 * The glue that Python calls holds the lock, which makes short calls cheap and metadata safe; a loop that is long
 * enough to pay for it runs without. This is the only file of the core that knows Python.
 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE /* RTLD_DEFAULT */
#endif
#define PY_SSIZE_T_CLEAN
#ifndef Py_LIMITED_API
#define Py_LIMITED_API 0x030a0000
#endif
#include <Python.h>
#include <dlfcn.h>

#include "tensor.h"

enum { WORK_TO_RELEASE = 16 << 10 };

/* Does the calling thread hold the lock? Workers of the pool and callers that dropped it do not. Every interpreter
 * exports this function, but the limited API does not declare it. */
static int (*holds_lock)(void);

__attribute__((constructor)) static void start(void) {
    void *symbol = dlsym(RTLD_DEFAULT, "PyGILState_Check");
    memcpy(&holds_lock, &symbol, sizeof symbol);
}

void *ow_gil_release(int64_t work) {
    if (work < WORK_TO_RELEASE || !holds_lock || !holds_lock()) return NULL;
    return PyEval_SaveThread();
}

void ow_gil_acquire(void *token) {
    if (token) PyEval_RestoreThread(token);
}
