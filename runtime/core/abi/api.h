/* What Python sees beside the module `_handle`: tensors, generators, memory and the state of the core. codegen feeds this
 * file to cffi, so it holds declarations only.
 *
 * Handles cross as doubles. A result of 0 means that an error is pending (error_take), or that a tensor has dispatch keys,
 * which the caller asks about before. Operators are called by `_handle` (python/operator_function.h). */

#include <stdint.h>

/* random numbers: a generator is an address, 0 the default one */
uintptr_t generator_new(uint64_t seed); /* 0 with the error set */
void generator_free(uintptr_t g);
/* 1, or 0 with the error set, as for an address that no generator has */
int32_t generator_seed(uintptr_t g, uint64_t seed);
int32_t generator_initial_seed(uintptr_t g, uint64_t *seed);
int32_t generator_save(uintptr_t g, uintptr_t bytes); /* torch's 5056 bytes */
int32_t generator_restore(uintptr_t g, uintptr_t bytes);

/* tensors */
void release(double t); /* of one that no object owns */
double number_i(int64_t value);
double number_u(uint64_t value); /* for those that int64 does not hold */
double number_d(double value);
double number_c(double real, double imag);
double number_b(int32_t value);
double empty_strided(const int64_t *sizes, const int64_t *strides, int32_t ndim, int32_t dtype); /* strides may be NULL */
int32_t suggested_order(double t); /* ow_order: channels last, or C order */
double as_strided(double t, const int64_t *sizes, const int64_t *strides, int32_t ndim, int64_t offset, int32_t dtype);
/* `data` is the first element; the memory is the `nbytes` from the lowest one on (strides may be negative). owner: key
 * given to the function of set_release_owner when the last tensor goes (not when from_memory fails). That may be any
 * call that frees a tensor, so tensors over such memory are released only while holding the interpreter's lock. */
double from_memory(uintptr_t data, int64_t nbytes, const int64_t *sizes, const int64_t *strides, int32_t ndim,
                   int32_t dtype, int64_t owner, int32_t readonly);
void set_release_owner(uintptr_t function); /* void (*)(int64_t owner) */
double clone_(double t, int32_t dtype, int32_t order); /* dtype -1: the tensor's own; order: ow_order; libc has a `clone` */
double empty_like(double t, int32_t dtype, int32_t order); /* as clone_, without the elements */
double copy_(double dst, double src);
double resize_(double t, const int64_t *sizes, int32_t ndim);
/* The same of the tensor of an `out=`: it leaves the warning of one that had elements pending. */
double resize_out(double t, const int64_t *sizes, int32_t ndim);
/* Copies the pending warning, which is pending no longer; 0: there is none. */
int32_t warning_take(char *text, int64_t capacity);
void exchange(double a, double b); /* of memory and shape; keys stay */

int32_t shape_id(double t); /* index into an interned table of shapes, -1: not interned, use sizes() */
int32_t ndim(double t);
int64_t numel(double t);
int32_t dtype(double t);
/* The dtype of the elements where the memory has other ones: of quantized tensors that of the memory, and as many more as there
 * are dtypes. */
int32_t element_dtype(double t);
void sizes(double t, int64_t *out);
void strides(double t, int64_t *out);
int64_t size(double t, int64_t dim); /* negative dim counts from the end; -1 with the error set */
int64_t storage_offset(double t);
uintptr_t data_ptr(double t); /* 0 for an empty tensor */
int32_t flags(double t);
uint32_t keys(double t);
uint32_t device(double t); /* its number: the kind, and 256 times the index */
void set_keys(double t, uint32_t keys);
int32_t item_kind(double t); /* 0 bool, 1 int64, 2 double, 3 uint64, 4 complex; -1 when it has not exactly one element */
int64_t item_i(double t); /* for kinds 0 and 1, and the bits for 3 */
double item_d(double t);  /* for kind 2 */
/* storage: an address; its identity is the pointer */
uintptr_t storage_of(double t);
/* Of a tensor without memory: its device from now on, and whether it stands for others, which answer its calls. */
int64_t storage_nbytes(uintptr_t storage);
uintptr_t storage_data(uintptr_t storage);
int32_t storage_is_inference(uintptr_t storage);
uint32_t storage_pinned_for(uintptr_t storage); /* the kind of device that has allocated it; 0: none */
int32_t storage_readonly(uintptr_t storage);
int32_t storage_resize(uintptr_t storage, int64_t nbytes); /* 1; 0 where it would have to move, -1 with the error set */
int64_t storage_uses(double t); /* tensors and storage objects that share its memory */
void count_write(double t); /* for tensors that change without their memory */
uint32_t version(double t); /* how often its memory has been written to */
void storage_retain(uintptr_t storage);
void storage_release(uintptr_t storage);
double storage_tensor(uintptr_t storage, int32_t dtype); /* one-dimensional tensor over all of it */
double storage_described(uintptr_t storage); /* the same of bytes, on the device `meta`; as guarded as it */
int32_t memory_overlap(double a, double b);
/* The CRC-32 of what had `before` and these bytes, a multiple of 64; -1 where the processor lacks the instruction. */
int64_t checksum(uintptr_t data, int64_t nbytes, uint32_t before);
/* Adds 1 to counts[v] for every v of values, both contiguous and of int64; 0 when a value is no place of counts. */
int32_t count_values(double values, double counts);
/* Adds weights (0: 1 each) to the sums of the bins in which values lie, by an ow_bin_rule (index_get.h); 0 when the tensors
 * do not fit each other, or with the error set. */
int32_t add_to_bins(double values, double weights, double edges, int32_t rule, double sums);

/* messages of processes that compute together: the address of an MPI_User_function that combines elements (0: none), and of
 * the one that finds out whether all processes make the same call. message_begin writes which call it is, and the elements
 * of a contiguous tensor where they are few (0: none); message_end returns whether all made it, and gives the tensor the
 * elements that are combined. */
uintptr_t message_function(int32_t combination, int32_t dtype);
uintptr_t message_agreement(void);
int32_t message_size(void);     /* in bytes */
int32_t message_capacity(void); /* in bytes of elements */
void message_begin(uintptr_t record, int64_t call, int32_t combination, double tensor);
int32_t message_end(uintptr_t record, int64_t call, double tensor);

int32_t result_type(double a, double b);
int32_t can_cast(int32_t from, int32_t to);
const char *type_name(int32_t dtype); /* as torch prints that of C++ */
void set_default_dtype(int32_t dtype);
int32_t get_default_dtype(void);

/* errors, threads, memory, registry */
int32_t error_pending(void);
int32_t error_take(char *message, int64_t capacity);
int32_t get_num_threads(void);
void set_num_threads(int32_t n);
int32_t set_flush_denormal(int32_t on); /* of the calling thread and what it has computed; 0 where this is not known */
void set_fills_new_memory(int32_t on);
void memory_statistics(int64_t *out, int32_t n); /* in the order of _base/memory.py's table */
void memory_empty_cache(void);
void memory_reset_peak(void);
void memory_set_cap(int64_t bytes);
int32_t operator_count(void);
const char *operator_name(int32_t op);
int32_t load_library(const char *path); /* first index of its operators; -1 with the error set */
int32_t level(void);
const char *environment_problem(void); /* why a variable OPWEAVE_... could not be followed; NULL: all were */
int32_t set_level(int32_t level); /* 1, or 0 when the processor or the build lacks it */
