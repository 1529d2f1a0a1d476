/* Finds the vector functions of libmvec.h, for the core's own kernels and for libraries that it loads. Included by the core's
 * registry alone. Where libmvec lacks a function, its place has a loop over the scalar one, which must not see that vector
 * forms exist, lest it called itself. */
#include <math.h>
#include <stddef.h>
#include <string.h>

#include "registry.h"

#if defined(OW_HAVE_LIBMVEC) && defined(__x86_64__)
#include <dlfcn.h>

typedef double ow_doubles_b __attribute__((vector_size(16)));
typedef double ow_doubles_d __attribute__((vector_size(32)));
typedef double ow_doubles_e __attribute__((vector_size(64)));
typedef float ow_floats_b __attribute__((vector_size(16)));
typedef float ow_floats_d __attribute__((vector_size(32)));
typedef float ow_floats_e __attribute__((vector_size(64)));

/* Fills the lanes of a result. */
#define OW_EACH_LANE(vector, call) \
    vector result; \
    for (size_t i = 0; i < sizeof(vector) / sizeof result[0]; i++) result[i] = call; \
    return result;

#define OW_LOOP1(symbol, isa, vector, function) \
    static __attribute__((target(isa))) vector ow_loop##symbol(vector x) { OW_EACH_LANE(vector, function(x[i])) }
#define OW_LOOP2(symbol, isa, vector, function) \
    static __attribute__((target(isa))) vector ow_loop##symbol(vector x, vector y) { OW_EACH_LANE(vector, function(x[i], y[i])) }
#define OW_LOOPS1(name) OW_FORMS(OW_LOOP1, v, name)
#define OW_LOOPS2(name) OW_FORMS(OW_LOOP2, vv, name)
OW_LIBMVEC(OW_LOOPS1, OW_LOOPS2)

static __attribute__((constructor)) void find_own(void) {
#define OW_ADDRESS(symbol, isa, vector, function) (void *)ow_loop##symbol,
#define OW_ADDRESSES1(name) OW_FORMS(OW_ADDRESS, v, name)
#define OW_ADDRESSES2(name) OW_FORMS(OW_ADDRESS, vv, name)
    static void *const loops[] = {OW_LIBMVEC(OW_ADDRESSES1, OW_ADDRESSES2)};
    void *library = dlopen("libmvec.so.1", RTLD_NOW | RTLD_LOCAL); /* never closed: places point into it */
    for (size_t k = 0; k < sizeof loops / sizeof *loops; k++) {
        void *found = library ? dlsym(library, ow_vector_functions[k].symbol) : NULL;
        *ow_vector_functions[k].place = found ? found : loops[k];
    }
}

int ow_find_vector_functions(const ow_vector_function *wanted) {
    for (; wanted->symbol; wanted++) {
        const ow_vector_function *known = ow_vector_functions;
        while (known->symbol && strcmp(known->symbol, wanted->symbol)) known++;
        if (!known->symbol) return 0;
        *wanted->place = *known->place;
    }
    return 1;
}
#else
int ow_find_vector_functions(const ow_vector_function *wanted) { return !wanted->symbol; }
#endif
