// A program of C++17: handles that free themselves, and errors as exceptions.

#include <gradus.h>

#include <cstring>
#include <iostream>
#include <memory>
#include <stdexcept>
#include <string>

template <typename T, void (*Free)(T *)> struct Freed {
    void operator()(T *object) const { Free(object); }
};
template <typename T, void (*Free)(T *)> using Owned = std::unique_ptr<T, Freed<T, Free>>;
using Model = Owned<gradus_model, gradus_model_free>;
using Inference = Owned<gradus_inference, gradus_inference_free>;
using Error = Owned<gradus_error, gradus_error_free>;

// What a function makes, or its error as an exception.
template <typename Owner, typename Make> Owner made(Make make)
{
    gradus_error *error = nullptr;
    Owner owner(make(&error));
    if (!owner) {
        Error owned(error);
        throw std::runtime_error(gradus_error_message(owned.get()));
    }
    return owner;
}

int main(int count, char **arguments)
try {
    if (count < 2) {
        return 2;
    }
    const std::string path = std::string(arguments[1]) + "/heads.onnx";
    auto model = made<Model>([&](auto error) { return gradus_model_open(path.c_str(), error); });
    auto inference = made<Inference>([&](auto error) { return gradus_infer(model.get(), nullptr, 0, error); });
    const auto y = gradus_inference_find(inference.get(), "y");
    if (std::strcmp(gradus_inference_shape(inference.get(), y), "float32[batch, 2, seq, 4]") != 0) {
        return 1;
    }
    try {
        made<Model>([](auto error) { return gradus_model_open("missing.onnx", error); });
        return 1;
    } catch (const std::runtime_error &error) {
        if (std::string(error.what()).find("missing.onnx") == std::string::npos) {
            return 1;
        }
    }
    std::cout << "gradus " << gradus_version() << " from C++\n";
    return 0;
} catch (const std::exception &error) {
    std::cerr << error.what() << '\n';
    return 1;
}
