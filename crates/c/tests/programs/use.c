// A program of C11 that does with examples/heads.onnx and examples/positions.onnx what the
// header offers. It ends with 0 if all is as it must be.

#include <gradus.h>

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define CHECK(holds)                                                      \
    do {                                                                  \
        if (!(holds)) {                                                   \
            fprintf(stderr, "%s:%d: %s\n", __FILE__, __LINE__, #holds);   \
            exit(1);                                                      \
        }                                                                 \
    } while (0)

static gradus_model *opened(const char *path)
{
    gradus_error *error = NULL;
    gradus_model *model = gradus_model_open(path, &error);
    if (model == NULL) {
        fprintf(stderr, "%s\n", gradus_error_message(error));
        gradus_error_free(error);
        exit(1);
    }
    return model;
}

// An error with its kind, its place and both sides.
static void errors(void)
{
    gradus_error *error = NULL;
    CHECK(gradus_model_open("missing.onnx", &error) == NULL);
    CHECK(gradus_error_kind(error) == GRADUS_KIND_IO);
    CHECK(strstr(gradus_error_message(error), "missing.onnx") != NULL);
    CHECK(strcmp(gradus_error_place(error), "missing.onnx") == 0);
    gradus_error_free(error);

    error = NULL;
    CHECK(gradus_plan_linspace(gradus_int(0), gradus_int(1), 3, true, "float7", &error) == NULL);
    CHECK(gradus_error_kind(error) == GRADUS_KIND_USAGE);
    CHECK(gradus_error_place(error) == NULL);
    gradus_error_free(error);

    error = NULL;
    CHECK(gradus_infer(NULL, NULL, 0, &error) == NULL);
    CHECK(strcmp(gradus_error_got(error), "NULL") == 0);
    CHECK(strcmp(gradus_error_wanted(error), "a pointer") == 0);
    gradus_error_free(error);

    // Nobody asks why, and nothing is there to be freed.
    CHECK(gradus_model_read("no model", 8, NULL) == NULL);
    gradus_model_free(NULL);
    gradus_error_free(NULL);
    CHECK(gradus_error_message(NULL) == NULL);
    CHECK(gradus_model_inputs(NULL) == 0);
}

static void shapes(const gradus_model *model)
{
    CHECK(gradus_model_inputs(model) == 1 && strcmp(gradus_model_input(model, 0), "x") == 0);
    CHECK(gradus_model_outputs(model) == 1 && gradus_model_output(model, 1) == NULL);

    gradus_inference *inference = gradus_infer(model, NULL, 0, NULL);
    CHECK(inference != NULL && gradus_inference_problems(inference) == 0);
    size_t y = gradus_inference_find(inference, "y");
    CHECK(strcmp(gradus_inference_name(inference, y), "y") == 0);
    CHECK(strcmp(gradus_inference_dtype(inference, y), "float32") == 0);
    CHECK(strcmp(gradus_inference_shape(inference, y), "float32[batch, 2, seq, 4]") == 0);
    CHECK(gradus_inference_rank(inference, y) == 4);
    CHECK(strcmp(gradus_inference_dim(inference, y, 2), "seq") == 0);
    CHECK(gradus_inference_dim(inference, y, 4) == NULL);
    size_t values = gradus_inference_values(inference);
    CHECK(gradus_inference_find(inference, "no such value") == values);
    CHECK(gradus_inference_name(inference, values) == NULL);
    // Neither name is one of a value, the first included.
    CHECK(gradus_inference_find(inference, NULL) == values);
    CHECK(gradus_inference_find(inference, "\xff") == values);

    int64_t sizes[4];
    const gradus_size at[] = {{"batch", 3}, {"seq", 7}};
    CHECK(gradus_inference_sizes(inference, y, at, 2, sizes, 4, NULL));
    CHECK(sizes[0] == 3 && sizes[1] == 2 && sizes[2] == 7 && sizes[3] == 4);
    gradus_error *error = NULL;
    CHECK(!gradus_inference_sizes(inference, y, at, 1, sizes, 4, &error));
    CHECK(strstr(gradus_error_message(error), "\"seq\" has no number") != NULL);
    gradus_error_free(error);
    CHECK(!gradus_inference_sizes(inference, y, at, 2, sizes, 3, NULL));
    gradus_inference_free(inference);

    inference = gradus_infer(model, at, 2, NULL);
    CHECK(strcmp(gradus_inference_shape(inference, y), "float32[3, 2, 7, 4]") == 0);
    gradus_inference_free(inference);
}

static void contract(const gradus_model *model)
{
    gradus_contract *contract = gradus_contract_make(model, NULL);
    const int64_t sizes[] = {2, 128, 8}, others[] = {2, 128, 9};
    gradus_input_sizes input = {"x", sizes, 3};
    gradus_shapes *shapes = gradus_contract_shapes(contract, &input, 1, NULL, 0, NULL);
    CHECK(shapes != NULL && gradus_shapes_rank(shapes, 0) == 4);
    CHECK(gradus_shapes_min(shapes, 0)[2] == 128 && gradus_shapes_max(shapes, 0)[3] == 4);
    CHECK(gradus_shapes_bytes(shapes, 0) == 8192 && gradus_shapes_peak_bytes(shapes) == 16384);
    CHECK(gradus_shapes_rank(shapes, 1) == -1 && gradus_shapes_min(shapes, 1) == NULL);
    gradus_shapes_free(shapes);

    gradus_error *error = NULL;
    input.sizes = others;
    CHECK(gradus_contract_shapes(contract, &input, 1, NULL, 0, &error) == NULL);
    CHECK(gradus_error_kind(error) == GRADUS_KIND_SHAPE);
    CHECK(strstr(gradus_error_message(error), "size of axis 2 of input \"x\" is 8") != NULL);
    gradus_error_free(error);
    gradus_contract_free(contract);
}

static void rewrites(const gradus_model *model, const char *folder)
{
    gradus_model *folded = gradus_model_fold(model, NULL, NULL, 0, NULL);
    CHECK(folded != NULL && gradus_model_prove(model, folded, NULL) == GRADUS_PROOF_EQUIVALENT);
    gradus_bytes *bytes = gradus_model_bytes(folded, NULL);
    gradus_model *again = gradus_model_read(gradus_bytes_data(bytes), gradus_bytes_len(bytes), NULL);
    CHECK(again != NULL && gradus_model_notes(again) == 0);

    gradus_error *error = NULL;
    gradus_model *ir = gradus_model_convert(again, "openvino", 0, NULL, 0, &error);
    CHECK(ir != NULL);
    CHECK(gradus_model_bytes(ir, NULL) == NULL);
    char path[4096];
    snprintf(path, sizeof path, "%s/heads.xml", folder);
    CHECK(gradus_model_save(ir, path, NULL));
    gradus_model *read = opened(path);
    CHECK(gradus_model_inputs(read) == 1);
    CHECK(!gradus_model_save(ir, "no such folder/heads.xml", NULL));
    CHECK(gradus_model_convert(again, "tensorflow", 0, NULL, 0, NULL) == NULL);

    gradus_model_free(read);
    gradus_model_free(ir);
    gradus_model_free(again);
    gradus_bytes_free(bytes);
    gradus_model_free(folded);
}

static void *run(void *given)
{
    const gradus_program *program = given;
    const int64_t tokens[] = {101, 2023, 2003, 102}, sizes[] = {1, 4};
    const gradus_tensor input = {"tokens", "int64", sizes, 2, tokens, sizeof tokens};
    for (int round = 0; round < 20; round++) {
        gradus_outputs *outputs = gradus_program_run(program, &input, 1, NULL);
        CHECK(outputs != NULL && gradus_outputs_count(outputs) == 3);
        gradus_tensor phase;
        CHECK(gradus_outputs_tensor(outputs, 1, &phase, NULL));
        CHECK(strcmp(phase.name, "phase") == 0 && strcmp(phase.dtype, "float32") == 0);
        CHECK(phase.rank == 1 && phase.sizes[0] == 4 && phase.bytes == 16);
        CHECK(((const float *)phase.data)[3] == 0.75f);
        CHECK(!gradus_outputs_tensor(outputs, 3, &phase, NULL));
        gradus_outputs_free(outputs);
    }
    return NULL;
}

static void runs(const gradus_model *model)
{
    gradus_program *program = gradus_program_make(model, NULL);
    CHECK(program != NULL);
    pthread_t threads[4];
    for (int i = 0; i < 4; i++) {
        CHECK(pthread_create(&threads[i], NULL, run, program) == 0);
    }
    for (int i = 0; i < 4; i++) {
        CHECK(pthread_join(threads[i], NULL) == 0);
    }
    const int64_t tokens[] = {1, 2}, sizes[] = {1, 3};
    gradus_tensor input = {"tokens", "int64", sizes, 2, tokens, sizeof tokens};
    gradus_error *error = NULL;
    CHECK(gradus_program_run(program, &input, 1, &error) == NULL);
    CHECK(gradus_error_kind(error) == GRADUS_KIND_SHAPE);
    gradus_error_free(error);
    input.dtype = "float32";
    CHECK(gradus_program_run(program, &input, 1, NULL) == NULL);
    CHECK(gradus_program_run(program, NULL, 0, NULL) == NULL);
    CHECK(gradus_program_run(program, NULL, 1, NULL) == NULL);
    gradus_program_free(program);
}

static void sequences(void)
{
    int64_t powers[4];
    gradus_plan *plan =
        gradus_plan_logspace(gradus_int(0), gradus_int(1), 4, true, gradus_int(1000), "int64", NULL);
    CHECK(gradus_plan_len(plan) == 4 && gradus_plan_fill(plan, 0, 4, powers, sizeof powers, NULL));
    CHECK(powers[0] == 1 && powers[1] == 10 && powers[2] == 100 && powers[3] == 1000);
    // The part that begins with the third has the same elements.
    int64_t part[2];
    CHECK(gradus_plan_fill(plan, 2, 2, part, sizeof part, NULL) && part[0] == 100 && part[1] == 1000);
    CHECK(!gradus_plan_fill(plan, 3, 2, part, sizeof part, NULL));
    CHECK(!gradus_plan_fill(plan, 0, 2, part, 15, NULL));
    CHECK(!gradus_plan_fill(plan, 0, 1, (char *)part + 1, 8, NULL));
    CHECK(!gradus_plan_fill(plan, 0, 1, NULL, 8, NULL));
    CHECK(gradus_plan_fill(plan, 4, 0, NULL, 0, NULL));
    gradus_plan_free(plan);

    uint64_t large[2];
    plan = gradus_plan_range(gradus_uint(UINT64_MAX - 1), gradus_uint(UINT64_MAX), gradus_int(1), "uint64", NULL);
    CHECK(gradus_plan_len(plan) == 1 && gradus_plan_fill(plan, 0, 1, large, sizeof large, NULL));
    CHECK(large[0] == UINT64_MAX - 1);
    gradus_plan_free(plan);

    float parts[6];
    plan = gradus_plan_geomspace(gradus_real(1), gradus_complex(0, 8), 3, true, "complex64", NULL);
    CHECK(plan != NULL && gradus_plan_fill(plan, 0, 3, parts, sizeof parts, NULL));
    CHECK(parts[0] == 1 && parts[4] == 0 && parts[5] == 8);
    gradus_plan_free(plan);

    uint8_t codes[3];
    plan = gradus_plan_linspace(gradus_int(0), gradus_int(4), 3, true, "int4", NULL);
    CHECK(plan != NULL && gradus_plan_fill(plan, 0, 3, codes, sizeof codes, NULL));
    CHECK(codes[0] == 0 && codes[1] == 2 && codes[2] == 4);
    gradus_plan_free(plan);

    const gradus_number unknown = {7, 0, 0, 0};
    CHECK(gradus_plan_range(unknown, gradus_int(1), gradus_int(1), "int64", NULL) == NULL);
}

int main(int count, char **arguments)
{
    CHECK(count == 3);
    char path[4096];
    snprintf(path, sizeof path, "%s/heads.onnx", arguments[1]);
    gradus_model *heads = opened(path);
    snprintf(path, sizeof path, "%s/positions.onnx", arguments[1]);
    gradus_model *positions = opened(path);
    errors();
    shapes(heads);
    contract(heads);
    rewrites(heads, arguments[2]);
    runs(positions);
    sequences();
    gradus_model_free(positions);
    gradus_model_free(heads);
    printf("gradus %s from C\n", gradus_version());
    return 0;
}
