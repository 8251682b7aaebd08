// The C interface of Gradus: models, their shapes, runs, and exact sequences.
//
// Made from crates/c/src; do not edit.
//
// A function that makes something returns it, or NULL if it fails; one that does something returns
// true, or false if it fails. The last argument of each is where the error goes: a pointer to a
// pointer that is NULL, or NULL if the reason is not wanted. What is made is freed by the function
// of its name, which takes NULL too. Texts and arrays that are returned belong to the object that
// was asked, and are valid until it is freed. Texts are UTF-8, and end at a NUL; a NUL within a
// name of a file is U+FFFD.
//
// No function changes an object that it is given, but for those that free it, so threads may share
// objects. No function ends the process, or lets an exception pass: a fault within Gradus is an
// error of kind GRADUS_KIND_INTERNAL.

#ifndef GRADUS_H
#define GRADUS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

// The kind of a number that `integer` holds.
#define GRADUS_SIGNED 0

// The kind of a number from zero whose bits `integer` holds.
#define GRADUS_UNSIGNED 1

// The kind of a number that `real` holds.
#define GRADUS_REAL 2

// The kind of a number that `real` and `imaginary` hold.
#define GRADUS_COMPLEX 3

// The kind of an error.
typedef enum gradus_kind {
  // The caller asked for something that does not exist or does not fit together.
  GRADUS_KIND_USAGE = 1,
  // The operating system refused: a file is missing, unreadable, unwritable.
  GRADUS_KIND_IO,
  // Bytes or text are not what their format says.
  GRADUS_KIND_SYNTAX,
  // A graph is not well formed, or contradicts itself.
  GRADUS_KIND_GRAPH,
  // An element type, or a kind of value, is not one that is allowed here.
  GRADUS_KIND_TYPE,
  // A shape is not one that is allowed here.
  GRADUS_KIND_SHAPE,
  // A value is not one that is allowed here.
  GRADUS_KIND_VALUE,
  // Something is larger than the limits.
  GRADUS_KIND_LIMIT,
  // Valid, but not done by Gradus.
  GRADUS_KIND_UNSUPPORTED,
  // A fault of Gradus: please report it.
  GRADUS_KIND_INTERNAL,
} gradus_kind;

// The answer whether two models are the same.
typedef enum gradus_proof {
  // There is neither a proof nor a run that shows a difference, or the question failed.
  GRADUS_PROOF_UNDECIDED,
  // Outputs of one name, or of one place, are the same bits for all inputs and sizes.
  GRADUS_PROOF_EQUIVALENT,
  // A run of both shows a difference.
  GRADUS_PROOF_DIFFERENT,
} gradus_proof;

// Bytes that Gradus wrote.
typedef struct gradus_bytes gradus_bytes;

// The sizes of its inputs that a model takes.
typedef struct gradus_contract gradus_contract;

// An error: its kind, a sentence, what was found and what was wanted.
typedef struct gradus_error gradus_error;

// Facts about all values of a model before it runs.
typedef struct gradus_inference gradus_inference;

// A model: a graph of operators with inputs and outputs.
typedef struct gradus_model gradus_model;

// The outputs of a run.
typedef struct gradus_outputs gradus_outputs;

// A sequence that is planned: its length, and the exact value of each element.
typedef struct gradus_plan gradus_plan;

// A model that is compiled, for any number of runs.
typedef struct gradus_program gradus_program;

// Shapes and memory for sizes that a model takes.
typedef struct gradus_shapes gradus_shapes;

// A name and a number: a symbol of sizes, such as `batch`, or an element of an input.
typedef struct gradus_size {
  // The name of the symbol.
  const char *name;
  // Its number.
  int64_t size;
} gradus_size;

// The sizes of an input.
typedef struct gradus_input_sizes {
  // The name of the input.
  const char *name;
  // Its sizes, one for each axis.
  const int64_t *sizes;
  // The number of axes.
  size_t rank;
} gradus_input_sizes;

// A tensor in memory: elements in row-major order, little-endian. Those narrower than a byte are
// packed from the lowest bit on; texts are an array of pointers.
typedef struct gradus_tensor {
  // The name of the input or output.
  const char *name;
  // The element type: "float32", "int64", "string".
  const char *dtype;
  // Its sizes, one for each axis.
  const int64_t *sizes;
  // The number of axes.
  size_t rank;
  // The elements.
  const void *data;
  // The number of bytes at `data`.
  size_t bytes;
} gradus_tensor;

// A number of any type, without rounding: the functions below make it.
typedef struct gradus_number {
  // The fields that hold it, as one of the kinds.
  int32_t kind;
  // An integer.
  int64_t integer;
  // A real number, or a real part.
  double real;
  // An imaginary part.
  double imaginary;
} gradus_number;

#ifdef __cplusplus
extern "C" {
#endif // __cplusplus

// The version of the library: "0.1.0".
const char *gradus_version(void);

// The kind of an error.
enum gradus_kind gradus_error_kind(const struct gradus_error *error);

// The error as a sentence, with its place: "model.onnx: node "pos" (onnx Range-11): …".
const char *gradus_error_message(const struct gradus_error *error);

// Where it is: the file, the position in it, the nodes from the outermost inwards. NULL if nothing
// is known.
const char *gradus_error_place(const struct gradus_error *error);

// The value that was found; NULL if the error does not say it apart.
const char *gradus_error_got(const struct gradus_error *error);

// The value that was expected; NULL if the error does not say it apart.
const char *gradus_error_wanted(const struct gradus_error *error);

// Frees an error.
void gradus_error_free(struct gradus_error *error);

// Opens a model: ONNX, OpenVINO IR with its `.bin` next to it, or a Paddle program with its
// `.pdiparams`. The file is mapped, and must not be changed while the model is used.
struct gradus_model *gradus_model_open(const char *path, struct gradus_error **error);

// Reads a model that stands alone from `len` bytes, which are copied.
struct gradus_model *gradus_model_read(const void *bytes, size_t len, struct gradus_error **error);

// Frees a model. What was made of it may be used on.
void gradus_model_free(struct gradus_model *model);

// The number of inputs.
size_t gradus_model_inputs(const struct gradus_model *model);

// The name of an input, by its number; NULL if there is no such input.
const char *gradus_model_input(const struct gradus_model *model, size_t index);

// The number of outputs.
size_t gradus_model_outputs(const struct gradus_model *model);

// The name of an output, by its number; NULL if there is no such output.
const char *gradus_model_output(const struct gradus_model *model, size_t index);

// Folds a model: what is known before a run becomes constants, and nodes that nothing needs go.
//
// `level` is "exact" (the same bits, also if it is NULL), "shapes" or "fuse". Symbols among `dims`
// are fixed in the folded model. Outputs are proved to be the same, or compared in runs, in some
// seconds; a difference is an error.
struct gradus_model *gradus_model_fold(const struct gradus_model *model,
                                       const char *level,
                                       const struct gradus_size *dims,
                                       size_t count,
                                       struct gradus_error **error);

// Converts a model to a standard, "onnx" or "openvino". To ONNX, `opset` is the version of the
// operator set, or 0 for one that most runtimes have. Symbols among `dims` are fixed. The notes of
// the result tell what it does not keep.
struct gradus_model *gradus_model_convert(const struct gradus_model *model,
                                          const char *standard,
                                          int64_t opset,
                                          const struct gradus_size *dims,
                                          size_t count,
                                          struct gradus_error **error);

// The number of notes about a model that was converted: nodes whose results may differ, and why.
size_t gradus_model_notes(const struct gradus_model *model);

// A note, by its number; NULL if there is no such note.
const char *gradus_model_note(const struct gradus_model *model, size_t index);

// Proves that two models are the same for all inputs and sizes, or runs both to find a difference.
enum gradus_proof gradus_model_prove(const struct gradus_model *first,
                                     const struct gradus_model *second,
                                     struct gradus_error **error);

// Writes a model: `.onnx`, or `.xml` with a `.bin` next to it. An existing file is replaced once
// the new one is complete.
bool gradus_model_save(const struct gradus_model *model,
                       const char *path,
                       struct gradus_error **error);

// The bytes of an ONNX model, with its constants.
struct gradus_bytes *gradus_model_bytes(const struct gradus_model *model,
                                        struct gradus_error **error);

// The first of the bytes.
const uint8_t *gradus_bytes_data(const struct gradus_bytes *bytes);

// The number of bytes.
size_t gradus_bytes_len(const struct gradus_bytes *bytes);

// Frees bytes.
void gradus_bytes_free(struct gradus_bytes *bytes);

// Infers the types and shapes of all values of a model, without running it. Symbols among `dims`
// stand for these numbers.
struct gradus_inference *gradus_infer(const struct gradus_model *model,
                                      const struct gradus_size *dims,
                                      size_t count,
                                      struct gradus_error **error);

// Frees an inference.
void gradus_inference_free(struct gradus_inference *inference);

// The number of values: inputs, constants, and what nodes compute.
size_t gradus_inference_values(const struct gradus_inference *inference);

// The number of the value of that name; the number of values if there is none.
size_t gradus_inference_find(const struct gradus_inference *inference, const char *name);

// The name of a value; NULL if there is no such value.
const char *gradus_inference_name(const struct gradus_inference *inference, size_t value);

// The element type of a value, "float32"; NULL if it is not known, or the value is no tensor.
const char *gradus_inference_dtype(const struct gradus_inference *inference, size_t value);

// The type and shape of a value as text: "float32[batch, 2*seq]".
const char *gradus_inference_shape(const struct gradus_inference *inference, size_t value);

// The number of axes of a value; -1 if it is not known, or the value is no tensor.
int32_t gradus_inference_rank(const struct gradus_inference *inference, size_t value);

// The size of an axis as a formula, "2*seq"; NULL if there is no such axis.
const char *gradus_inference_dim(const struct gradus_inference *inference,
                                 size_t value,
                                 size_t axis);

// Writes the sizes of a value into `shape`, which has room for `rank` numbers, where symbols stand
// for `sizes`. It fails if the value has another rank, if a size depends on a symbol that is not
// given or on data, and if a number exceeds 64 bits.
bool gradus_inference_sizes(const struct gradus_inference *inference,
                            size_t value,
                            const struct gradus_size *sizes,
                            size_t count,
                            int64_t *shape,
                            size_t rank,
                            struct gradus_error **error);

// The number of conditions under which the model runs.
size_t gradus_inference_conditions(const struct gradus_inference *inference);

// A condition, and the node that needs it, by its number: "seq <= 64 (node "pos" (Gather))".
const char *gradus_inference_condition(const struct gradus_inference *inference, size_t index);

// The number of errors in the model. If it is not 0, no run succeeds.
size_t gradus_inference_problems(const struct gradus_inference *inference);

// An error in the model, and its place, by its number.
const char *gradus_inference_problem(const struct gradus_inference *inference, size_t index);

// Makes the contract of a model, which fails if the model contradicts itself.
struct gradus_contract *gradus_contract_make(const struct gradus_model *model,
                                             struct gradus_error **error);

// Frees a contract.
void gradus_contract_free(struct gradus_contract *contract);

// Shapes and memory for the sizes of all inputs that have axes and no default. It fails with an
// error of kind `GRADUS_KIND_SHAPE`, which names the condition and the node, if the model does not
// take the sizes.
//
// `numbers` are those of symbols that no axis is alone, and may have elements of inputs that
// decide conditions, by the name of their symbol.
struct gradus_shapes *gradus_contract_shapes(const struct gradus_contract *contract,
                                             const struct gradus_input_sizes *inputs,
                                             size_t input_count,
                                             const struct gradus_size *numbers,
                                             size_t number_count,
                                             struct gradus_error **error);

// Frees shapes.
void gradus_shapes_free(struct gradus_shapes *shapes);

// The number of axes of an output; -1 if it is not known.
int32_t gradus_shapes_rank(const struct gradus_shapes *shapes, size_t output);

// The sizes of an output, or the smallest that the data may make of them.
const int64_t *gradus_shapes_min(const struct gradus_shapes *shapes, size_t output);

// The sizes of an output, or the largest that the data may make of them; -1 of one that is not
// known.
const int64_t *gradus_shapes_max(const struct gradus_shapes *shapes, size_t output);

// The most bytes of an output; -1 if that is not known.
int64_t gradus_shapes_bytes(const struct gradus_shapes *shapes, size_t output);

// An upper bound of the bytes of values of nodes at one time; -1 if it is not known.
int64_t gradus_shapes_peak_bytes(const struct gradus_shapes *shapes);

// Compiles a model.
struct gradus_program *gradus_program_make(const struct gradus_model *model,
                                           struct gradus_error **error);

// Frees a program.
void gradus_program_free(struct gradus_program *program);

// Runs a program on inputs, which are copied. The order of inputs does not matter; those that have
// a default may be left out.
struct gradus_outputs *gradus_program_run(const struct gradus_program *program,
                                          const struct gradus_tensor *inputs,
                                          size_t count,
                                          struct gradus_error **error);

// The number of outputs.
size_t gradus_outputs_count(const struct gradus_outputs *outputs);

// Writes an output, by its number, to `tensor`, whose pointers belong to the outputs. It fails if
// there is no such output, or it is no tensor.
bool gradus_outputs_tensor(const struct gradus_outputs *outputs,
                           size_t index,
                           struct gradus_tensor *tensor,
                           struct gradus_error **error);

// Frees outputs.
void gradus_outputs_free(struct gradus_outputs *outputs);

// An integer.
struct gradus_number gradus_int(int64_t integer);

// An integer from zero.
struct gradus_number gradus_uint(uint64_t integer);

// A real number.
struct gradus_number gradus_real(double real);

// A complex number.
struct gradus_number gradus_complex(double real, double imaginary);

// Plans a range: `start + i * step` while it is before `stop`. Elements have type `dtype`, "int64"
// say.
struct gradus_plan *gradus_plan_range(struct gradus_number start,
                                      struct gradus_number stop,
                                      struct gradus_number step,
                                      const char *dtype,
                                      struct gradus_error **error);

// Plans `num` numbers from `start` to `stop` at equal distances. If `endpoint` is true, the last
// one is `stop`.
struct gradus_plan *gradus_plan_linspace(struct gradus_number start,
                                         struct gradus_number stop,
                                         uint64_t num,
                                         bool endpoint,
                                         const char *dtype,
                                         struct gradus_error **error);

// Plans `num` powers of `base`, whose exponents go from `start` to `stop` at equal distances.
struct gradus_plan *gradus_plan_logspace(struct gradus_number start,
                                         struct gradus_number stop,
                                         uint64_t num,
                                         bool endpoint,
                                         struct gradus_number base,
                                         const char *dtype,
                                         struct gradus_error **error);

// Plans `num` numbers from `start` to `stop`, each the same multiple of the one before.
struct gradus_plan *gradus_plan_geomspace(struct gradus_number start,
                                          struct gradus_number stop,
                                          uint64_t num,
                                          bool endpoint,
                                          const char *dtype,
                                          struct gradus_error **error);

// The number of elements.
uint64_t gradus_plan_len(const struct gradus_plan *plan);

// Writes `count` elements, from number `first` on, into `out`, which has room for `bytes` bytes
// and is aligned for the type. Elements narrower than a byte take a byte each here. Each part has
// the bits that the whole would have there.
bool gradus_plan_fill(const struct gradus_plan *plan,
                      uint64_t first,
                      size_t count,
                      void *out,
                      size_t bytes,
                      struct gradus_error **error);

// Frees a plan.
void gradus_plan_free(struct gradus_plan *plan);

#ifdef __cplusplus
}  // extern "C"
#endif  // __cplusplus

#endif  /* GRADUS_H */
