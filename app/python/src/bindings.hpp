// Declarations that the parts of the Python module share.
#pragma once

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>

#include <optional>
#include <string>
#include <vector>

#include "engine/base/hash.hpp"
#include "engine/interop/strided.hpp"
#include "engine/runtime/launch/launch.hpp"

namespace hindcast::python {

namespace nb = nanobind;

// A number type, or vectors or matrices of it. `real` is whatever precision the arrays have.
struct DataType {
    ir::Type type = ir::Type::none;
    bool real = false;  // f32 or f64, as given
    interop::Element element;
    std::string name() const;
};

// An array of Python. Its dtype, or the first kernel that takes it, tells which of its dimensions
// belong to an element.
class PyArray {
public:
    // Over memory that `owner` keeps; of `device`, if it is not on the host.
    PyArray(interop::Strided memory, nb::object owner, std::optional<interop::Element> element,
            std::shared_ptr<Device> device = {});
    // Memory of its own, zeroed; on `device`, if that is one of CUDA.
    PyArray(ir::Type type, std::vector<std::int64_t> shape, std::optional<interop::Element> element,
            const std::shared_ptr<Device>& device = {});
    // Wraps an existing array: a gradient, a state.
    PyArray(Array array, std::vector<std::int64_t> shape, const interop::Element& element);

    const interop::Strided& memory() const { return memory_; }
    // The CUDA device of the memory; null: the host.
    const std::shared_ptr<Device>& device() const { return device_; }
    ir::Type type() const { return memory_.type; }
    const std::vector<std::int64_t>& shape() const { return memory_.shape; }
    // Throws Error if it was used with other elements before, or cannot be.
    const Array& as(const interop::Element& element);
    const Array& array();  // as decided; scalars for one dimension
    bool is_decided() const { return element_.has_value(); }
    const std::optional<interop::Element>& element() const { return element_; }
    PyArray& gradient();
    PyArray& tangent();
    // Integers may be indices: looks whether someone has changed them since the last look.
    void look();
    nb::object owner;  // of memory from elsewhere

private:
    PyArray& derivative(std::unique_ptr<PyArray>& kept, const Array& of);
    interop::Strided memory_;
    std::shared_ptr<Device> device_;
    std::optional<interop::Element> element_;
    Array array_;
    std::unique_ptr<PyArray> gradient_, tangent_;
    std::optional<Hash128> seen_;
};

// Keeps an object until the last owner lets go, on whatever thread that is.
std::shared_ptr<void> kept(nb::object object);

// An error's text, without the words of the command line and of C++: options are arguments here.
std::string in_words_of_python(std::string text);
// Raises hindcast.ArgumentError, which begins with the argument's name.
[[noreturn]] void refuse(const std::string& message);
// The result of f; its Error as an ArgumentError.
template <class F>
auto checked(F f) {
    try {
        return f();
    } catch (const Error& error) {
        refuse(error.what());
    }
}
// "f32" or "f64"; raises ArgumentError for anything else.
ir::Precision precision_of(const std::string& text);
nb::dlpack::dtype dlpack_type(ir::Type type);

// Any array object as an array that shares its memory; lists and the like are copied. `name` of the
// argument for errors. `copy`: true always, false never. `precision`: of lists of reals. `device`:
// where it is to be; null: where it is.
nb::object to_array(nb::handle object, const std::string& name,
                    const std::optional<DataType>& dtype = {}, std::optional<bool> copy = {},
                    ir::Precision precision = ir::Precision::f32,
                    std::shared_ptr<Device> device = {});

// The device that is used where none is named: compiled code on all processors. Throws Error where
// it cannot be had.
const std::shared_ptr<Device>& default_device();

// Throws Error in a process that was forked from one that had imported the module: threads do not
// survive that, and a lock that one of them held stays locked. Called before anything that runs or
// compiles; what only looks at memory needs none of it.
void require_own_process();

void bind_errors(nb::module_& m);
void bind_arrays(nb::module_& m);
void bind_devices(nb::module_& m);
void bind_launches(nb::module_& m);
void bind_scenes(nb::module_& m);
void bind_batches(nb::module_& m);
void bind_scene_functions(nb::module_& m);
void bind_kernel_functions(nb::module_& m);
void bind_pickling(nb::module_& m);
void bind_pictures(nb::module_& m);
void bind_jax(nb::module_& m);
void bind_jax_cuda(nb::module_& m);
void bind_jax_cuda_kernels(nb::module_& m);
void bind_jax_kernels(nb::module_& m);

}  // namespace hindcast::python
