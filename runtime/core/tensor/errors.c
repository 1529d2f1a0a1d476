/* The pending error of each thread: set where a failure is found, taken where Python raises it. */
#include <stdarg.h>
#include <stdio.h>

#include "threads/thread.h"

/* For a thread whose state could not be allocated: the kind survives, the text does not. */
static _Atomic int homeless_error;

void *ow_fail(ow_error_kind kind, const char *format, ...) {
    ow_thread *t = ow_thread_get();
    if (!t) {
        atomic_store(&homeless_error, (int)kind);
        return NULL;
    }
    if (t->error != OW_OK) return NULL; /* the first failure is the cause of the others */
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(t->message, sizeof t->message, format, arguments);
    va_end(arguments);
    t->error = kind;
    return NULL;
}

ow_error_kind ow_error_take(char *message, int64_t capacity) {
    ow_thread *t = ow_self;
    ow_error_kind kind = t ? t->error : OW_OK;
    const char *text = "";
    if (kind == OW_INTERRUPTED && !message) return kind;
    if (kind != OW_OK) {
        text = t->message;
        t->error = OW_OK;
    } else if (atomic_load_explicit(&homeless_error, memory_order_relaxed) != OW_OK) {
        kind = (ow_error_kind)atomic_exchange(&homeless_error, OW_OK);
        text = "out of memory: there was no room for the text of this error";
    }
    if (capacity > 0) snprintf(message, (size_t)capacity, "%s", text);
    return kind;
}

int ow_error_pending(void) {
    ow_thread *t = ow_self;
    return (t && t->error != OW_OK) || atomic_load_explicit(&homeless_error, memory_order_relaxed) != OW_OK;
}

/* A thread whose state could not be allocated is not warned. */
void ow_warn(const char *format, ...) {
    ow_thread *t = ow_thread_get();
    if (!t) return;
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(t->warning, sizeof t->warning, format, arguments);
    va_end(arguments);
    t->warns = 1;
}

const char *ow_warning_take(void) {
    ow_thread *t = ow_self;
    if (!t || !t->warns) return NULL;
    t->warns = 0;
    return t->warning;
}
