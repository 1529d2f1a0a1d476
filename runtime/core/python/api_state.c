/* Promotion, errors, threads, memory and the registry as Python sees them. */
#include <stdio.h>

#include "memory/allocator.h"
#include "threads/denormals.h"
#include "families/driver.h"
#include "isa/environment.h"
#include "isa/level.h"
#include "tensor/registry.h"

#include "abi/api.h"

int32_t result_type(double a, double b) {
    ow_tensor *inputs[] = {ow_unpack(a), ow_unpack(b)};
    return ow_result_type(inputs, 2);
}

int32_t can_cast(int32_t from, int32_t to) { return ow_can_cast(from, to); }

const char *type_name(int32_t dtype) { return ow_type_names[dtype]; }

void set_default_dtype(int32_t dtype) { ow_default_dtype = dtype; }

int32_t get_default_dtype(void) { return ow_default_dtype; }

int32_t error_pending(void) { return ow_error_pending(); }

int32_t error_take(char *message, int64_t capacity) { return ow_error_take(message, capacity); }

int32_t warning_take(char *text, int64_t capacity) {
    const char *pending = ow_warning_take();
    if (pending) snprintf(text, (size_t)capacity, "%s", pending);
    return pending != NULL;
}

int32_t get_num_threads(void) { return ow_num_threads(); }


void set_num_threads(int32_t n) { ow_set_num_threads(n); }

int32_t set_flush_denormal(int32_t on) {
    ow_set_denormal_mode(on ? OW_FLUSHES : 0);
    return OW_FLUSHES != 0;
}

void set_fills_new_memory(int32_t on) { ow_fills_new_memory = on; }

void memory_statistics(int64_t *out, int32_t n) { ow_statistics_read(out, n); }

void memory_empty_cache(void) { ow_memory_empty_cache(); }

void memory_reset_peak(void) { ow_statistics_reset_peak(); }

void memory_set_cap(int64_t bytes) { ow_memory_set_cap(bytes); }

int32_t operator_count(void) { return ow_op_count(); }

const char *operator_name(int32_t op) {
    const ow_op *result = ow_op_get(op, ~0u);
    return result ? result->name : NULL;
}

int32_t load_library(const char *path) { return ow_op_load(path); }

int32_t level(void) { return ow_level; }

int32_t set_level(int32_t level) { return ow_set_level(level); }

const char *environment_problem(void) { return ow_environment_problem; }
