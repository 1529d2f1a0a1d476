/* The table of operators. Readers index it without a lock: it changes only under the interpreter's lock, which they
 * hold. */
#include "registry.h"

#include <dlfcn.h>
#include <stdlib.h>

typedef struct loaded {
    const ow_library *library;
    int32_t first;
    struct loaded *next;
} loaded;

static const ow_op *const *table = ow_builtin_ops;
static const ow_op **grown; /* the table once a library has been loaded */
static int32_t count = -1;
static loaded *libraries;

int32_t ow_op_number(const ow_op *op) {
    int32_t number = 0;
    while (table[number] != op) number++;
    return number;
}

int32_t ow_op_count(void) { return count < 0 ? ow_builtin_count : count; }

const ow_op *ow_op_get(int64_t index, unsigned families) {
    const ow_op *op = index >= 0 && index < ow_op_count() ? table[index] : NULL;
    return op && families >> op->family & 1 ? op : NULL;
}

const ow_op *ow_op_called(int32_t index, unsigned families) {
    const ow_op *op = ow_op_get(index, families);
    return op ? op : ow_fail(OW_TYPE_ERROR, "%d is the number of no operator that is called in this way", (int)index);
}

static int is_compatible(const ow_library *library, const char *path) {
    if (library->abi_version != OW_ABI_VERSION) {
        ow_fail(OW_RUNTIME_ERROR,
                "operator library %s was built for interface %u with %u instruction-set levels, this opweave has "
                "interface %u with %u; weave it again",
                path, library->abi_version >> 8, library->abi_version & 255, OW_ABI_VERSION >> 8, OW_ABI_VERSION & 255);
        return 0;
    }
    if (library->ndtypes != OW_NDTYPES) {
        ow_fail(OW_RUNTIME_ERROR, "operator library %s was built for %u dtypes, this opweave has %d; weave it again", path,
                library->ndtypes, OW_NDTYPES);
        return 0;
    }
    if (library->nops < 0 || (library->nops > 0 && !library->ops)) {
        ow_fail(OW_RUNTIME_ERROR, "operator library %s is damaged: it announces %d operators", path, library->nops);
        return 0;
    }
    return 1;
}

/* Gives the library's kernels the vector functions that they call. */
static int has_functions(void *handle, const char *path) {
    const struct ow_vector_function *wanted = dlsym(handle, "ow_vector_functions");
    if (!wanted || ow_find_vector_functions(wanted)) return 1;
    ow_fail(OW_RUNTIME_ERROR, "operator library %s calls functions that this opweave does not have; weave it again", path);
    return 0;
}

/* Appends the operators; the first index, or -1 with the error set. */
static int32_t append(const ow_library *library) {
    int32_t first = ow_op_count();
    loaded *entry = malloc(sizeof *entry);
    const ow_op **larger = realloc(grown, (size_t)(first + library->nops + 1) * sizeof *larger);
    if (larger && !grown) memcpy(larger, ow_builtin_ops, (size_t)first * sizeof *larger);
    if (larger) table = grown = larger;
    if (!larger || !entry) {
        free(entry);
        if (larger) count = first;
        ow_fail(OW_OUT_OF_MEMORY, "out of memory: no room for %d more operators", library->nops);
        return -1;
    }
    if (library->nops) memcpy(grown + first, library->ops, (size_t)library->nops * sizeof *grown);
    count = first + library->nops;
    *entry = (loaded){library, first, libraries};
    libraries = entry;
    return first;
}

int32_t ow_op_load(const char *path) {
    void *handle = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    if (!handle) {
        ow_fail(OW_RUNTIME_ERROR, "cannot load operator library: %s", dlerror());
        return -1;
    }
    const ow_library *library = dlsym(handle, "ow_library");
    if (!library) {
        ow_fail(OW_RUNTIME_ERROR, "%s is not an operator library: it does not export ow_library", path);
        dlclose(handle);
        return -1;
    }
    for (const loaded *known = libraries; known; known = known->next)
        if (known->library == library) {
            dlclose(handle);
            return known->first;
        }
    int32_t first = is_compatible(library, path) && has_functions(handle, path) ? append(library) : -1;
    if (first < 0) dlclose(handle);
    return first;
}
