/* What the generated header of this name says, as far as the files under test read it. */
#ifndef OW_DTYPES_H
#define OW_DTYPES_H

#include <stdint.h>

enum {
    OW_BOOL, OW_UINT8, OW_INT8, OW_INT16, OW_INT32, OW_INT64,
    OW_FLOAT16, OW_BFLOAT16, OW_FLOAT32, OW_FLOAT64, OW_NDTYPES
};
enum { OW_KIND_BOOL, OW_KIND_INTEGER, OW_KIND_FLOATING };

#define OW_TABLE static __attribute__((unused)) const
OW_TABLE uint8_t ow_dtype_sizes[] = {1, 1, 1, 2, 4, 8, 2, 2, 4, 8};
OW_TABLE uint8_t ow_dtype_kinds[] = {0, 1, 1, 1, 1, 1, 2, 2, 2, 2};
OW_TABLE char *const ow_dtype_names[] = {"bool",  "uint8",   "int8",     "int16",   "int32",
                                         "int64", "float16", "bfloat16", "float32", "float64"};

#endif
