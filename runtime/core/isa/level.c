/* Choice of the instruction-set level: the best that build and processor have, or OPWEAVE_ISA. */
#include "level.h"

#include <stdlib.h>

#include "environment.h"
#include "processor.h"
#include "tensor/tensor.h"

int ow_level;

static const char *const names[] = {"x86-64", "x86-64-v3", "x86-64-v4"};

enum { LEVELS = OW_NLEVELS < 3 ? OW_NLEVELS : 3 };

static int processor_level;

int ow_processor_has(int level) { return level <= processor_level; }

static int supported(int level) { return level >= 0 && level < LEVELS && ow_processor_has(level); }

int ow_set_level(int level) {
    if (!supported(level)) return 0;
    ow_level = level;
    return 1;
}

__attribute__((constructor)) static void start(void) {
    processor_level = ow_processor_level();
    int best = LEVELS - 1;
    while (!supported(best)) best--;
    ow_level = best;
    const char *wanted = getenv("OPWEAVE_ISA");
    if (!wanted || !*wanted) return;
    for (int level = 0; level < (int)(sizeof names / sizeof *names); level++)
        if (strcmp(wanted, names[level]) == 0) {
            if (!ow_set_level(level))
                ow_environment_reject("OPWEAVE_ISA", wanted, "a level that this processor and this build have");
            return;
        }
    ow_environment_reject("OPWEAVE_ISA", wanted, "x86-64, x86-64-v3 or x86-64-v4");
}
