/* What a thread owns: its magazines of small objects, its pending error and warning. Internal to the core.
 *
 * Space for initial-exec variables of shared objects is scarce (about 1.6 KB for all of them), so the core has one
 * such pointer and everything else behind it.
 */
#ifndef OPWEAVE_THREAD_H
#define OPWEAVE_THREAD_H

#include <stdatomic.h>

#include "tensor/tensor.h"

#define OW_CLASSES 36 /* size classes of the small pool */
#define OW_MESSAGE_BYTES 1024

typedef struct ow_magazine {
    void *head; /* objects are linked through their first word */
    int32_t count, capacity;
} ow_magazine;

typedef struct ow_thread {
    /* Small objects taken and returned since the last flush; other threads read them, only the owner writes. */
    _Atomic int64_t taken, returned, taken_bytes, returned_bytes;
    int64_t high_bytes; /* largest taken_bytes - returned_bytes */
    ow_magazine magazines[OW_CLASSES];
    struct ow_thread *previous, *next;
    void *hooks;           /* the object that packs what the graph saves, or refuses such objects (modes.c); NULL: neither */
    void *handles_signals; /* of a loop that runs without the interpreter's lock: what gets it back (gil.c); else NULL */
    ow_error_kind error;
    char message[OW_MESSAGE_BYTES];
    int warns; /* there is a warning that Python has not issued */
    char warning[OW_MESSAGE_BYTES];
} ow_thread;

extern __thread ow_thread *ow_self __attribute__((tls_model("initial-exec")));
extern ow_thread *ow_threads; /* all of them; guarded by the allocator's mutex */

/* Creates the calling thread's state; NULL when there is no memory for it. Use ow_thread_get. */
ow_thread *ow_thread_create(void);

static inline ow_thread *ow_thread_get(void) {
    ow_thread *t = ow_self;
    return __builtin_expect(t != NULL, 1) ? t : ow_thread_create();
}

#endif
