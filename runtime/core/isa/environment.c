/* Parsing of the environment variables that configure the core. */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE /* strcasecmp */
#endif
#include "environment.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

const char *ow_environment_problem;
static char problem_text[320];

void ow_environment_reject(const char *name, const char *value, const char *expected) {
    if (ow_environment_problem) return;
    snprintf(problem_text, sizeof problem_text, "environment variable %s is '%.80s'; expected %s", name, value, expected);
    ow_environment_problem = problem_text;
}

int64_t ow_environment_bytes(const char *name, int64_t otherwise) {
    static const char *const suffixes[] = {"", "B", "K", "KB", "KiB", "M", "MB", "MiB", "G", "GB", "GiB", "T", "TB", "TiB"};
    static const int shifts[] = {0, 0, 10, 10, 10, 20, 20, 20, 30, 30, 30, 40, 40, 40};
    const char *value = getenv(name);
    if (!value || !*value) return otherwise;
    char *end;
    errno = 0;
    long long number = strtoll(value, &end, 10);
    if (end != value && errno == 0 && number >= 0)
        for (size_t k = 0; k < sizeof shifts / sizeof *shifts; k++)
            if (strcasecmp(end, suffixes[k]) == 0 && number <= INT64_MAX >> shifts[k]) return number << shifts[k];
    ow_environment_reject(name, value, "a number of bytes such as 536870912, 512M or 2G");
    return otherwise;
}

int ow_environment_count(const char *name) {
    const char *value = getenv(name);
    if (!value || !*value) return 0;
    char *end;
    errno = 0;
    long number = strtol(value, &end, 10);
    if (end != value && !*end && errno == 0 && number > 0 && number <= INT_MAX) return (int)number;
    ow_environment_reject(name, value, "a positive number");
    return 0;
}
