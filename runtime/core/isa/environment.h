/* Environment variables read when the core is loaded. A wrong value must not be ignored silently and cannot raise from
 * a constructor, so the first complaint is kept until Python imports the package and raises it. */
#ifndef OPWEAVE_ENVIRONMENT_H
#define OPWEAVE_ENVIRONMENT_H

#include <stdint.h>

extern const char *ow_environment_problem; /* NULL: none */

void ow_environment_reject(const char *name, const char *value, const char *expected);
/* The variable's value as a number of bytes ("4096", "512M", "2GiB"); `otherwise` when unset, empty or wrong. */
int64_t ow_environment_bytes(const char *name, int64_t otherwise);
/* The variable's value as a positive number; 0 when unset, empty or wrong. */
int ow_environment_count(const char *name);

#endif
