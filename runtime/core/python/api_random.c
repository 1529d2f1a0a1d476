/* Generators as Python sees them. */
#include "abi/api.h"
#include "routines/random/random.h"

/* NULL with the error set for an address that no generator has. */
static ow_generator *generator_at(uintptr_t g) {
    ow_generator *generator = ow_generator_at((ow_generator *)g);
    return generator ? generator : ow_fail(OW_RUNTIME_ERROR, "there is no generator at address 0x%llx", (unsigned long long)g);
}

uintptr_t generator_new(uint64_t seed) { return (uintptr_t)ow_generator_new(seed); }

void generator_free(uintptr_t g) {
    if (g && ow_generator_at((ow_generator *)g)) ow_generator_free((ow_generator *)g);
}

int32_t generator_seed(uintptr_t g, uint64_t seed) {
    ow_generator *generator = generator_at(g);
    if (generator) ow_generator_seed(generator, seed);
    return generator != NULL;
}

int32_t generator_initial_seed(uintptr_t g, uint64_t *seed) {
    const ow_generator *generator = generator_at(g);
    if (generator) *seed = generator->seed;
    return generator != NULL;
}

int32_t generator_save(uintptr_t g, uintptr_t bytes) {
    ow_generator *generator = generator_at(g);
    if (generator) ow_generator_save(generator, (char *)bytes);
    return generator != NULL;
}

int32_t generator_restore(uintptr_t g, uintptr_t bytes) {
    ow_generator *generator = generator_at(g);
    return generator && ow_generator_restore(generator, (const char *)bytes);
}
