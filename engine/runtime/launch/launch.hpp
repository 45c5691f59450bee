// A Launch: a kernel bound to its arguments and ready to go, any number of times, in any direction.
//
//     Launch pull(device, spring_force, ir::Precision::f32, springs,
//                 {{"ends", ends}, {"rest_length", rest}, {"stiffness", 100.0}, {"damping", 0.5},
//                  {"x", x}, {"v", v}, {"force", force}});
//     const Launch::Replay forward = pull.forward(), backward = pull.adjoint();  // once
//     for (...) { pull.set("damping", d); forward.run(); backward.run(); }       // no allocation
//
// Arguments are checked against the kernel's signature when they are set: arity, type, shape,
// aliasing; a refused set() changes nothing. Derivatives are found through the arrays: the adjoint
// of parameter x is x's array's gradient(), its tangent x's array's tangent(), that along a second
// direction x's array's second_tangent(). A number passed by value has a gradient too
// (gradient_of). adjoint() differentiates the launch at its arguments as they stand; it adds to gradients, except that the gradient of an own element that the launch
// stored is taken and cleared, and so is that of a Sum. It is an error if adjoint() needs values
// that forward() has overwritten: a Tape or a Rollout keeps them.
//
// If two Accumulates (or the adjoints of two Reads) are bound to one array, each is summed on its
// own and the sums are added to the array in the order of the parameters.
//
// A Launch is a handle: copies are the same launch. Its derived kernels and its code are made once
// and kept.
#pragma once

#include <array>
#include <concepts>
#include <functional>
#include <initializer_list>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "engine/lang/kernel.hpp"
#include "engine/runtime/array/array.hpp"
#include "engine/runtime/device/device.hpp"
#include "engine/runtime/device/stream.hpp"

namespace hindcast {

class GivenKernels;  // given_kernels.hpp
class HostFunction;  // host_function.hpp

// Argument: the value of a launch parameter: an array or numbers.
class Argument {
public:
    static constexpr int most_numbers = 16;

    Argument(const Array& array) : array_(array) {}                  // NOLINT: arguments convert
    Argument(double number) : numbers_{number}, count_(1) {}         // NOLINT
    Argument(int number) : Argument(static_cast<double>(number)) {}  // NOLINT
    Argument(std::int64_t number) : Argument(static_cast<double>(number)) {}  // NOLINT
    Argument(std::span<const double> numbers);  // NOLINT: Vec3 and the like
    Argument(std::initializer_list<double> numbers)
        : Argument(std::span<const double>(numbers.begin(), numbers.size())) {}  // NOLINT
    Argument(const std::vector<double>& numbers)
        : Argument(std::span<const double>(numbers)) {}  // NOLINT
    // For a Property: one value (f64 array with one element) for all items.
    static Argument shared(const Array& scalar) {
        Argument argument(scalar);
        argument.shared_ = true;
        return argument;
    }
    bool is_array() const { return static_cast<bool>(array_); }
    bool is_shared() const { return shared_ || !is_array(); }
    const Array& array() const { return array_; }
    std::span<const double> numbers() const {
        return {numbers_.data(), static_cast<std::size_t>(count_)};
    }

private:
    Array array_;
    std::array<double, most_numbers> numbers_{};
    int count_ = 0;
    bool shared_ = false;
};

// An argument with the name of its parameter.
struct NamedArgument {
    template <std::convertible_to<std::string_view> Name>
    NamedArgument(const Name& name, Argument given)
        : parameter(std::string_view(name)), argument(std::move(given)) {}

    std::string parameter;
    Argument argument;
};

// The kernels derived from a launch's kernel K.
enum class Direction : std::uint8_t {
    forward,          // K
    adjoint,          // adjoint(K)
    tangent,          // tangent(K)
    adjoint_tangent,  // tangent(adjoint(K)): Hessian-vector products
    tangent_tangent   // tangent(tangent(K)): derivatives along two directions
};
const char* name_of(Direction direction);
inline bool goes_back(Direction direction) {
    return direction == Direction::adjoint || direction == Direction::adjoint_tangent;
}

class Launch {
public:
    class Replay;

    // `description` names the launch in errors and profiles; default: the kernel's name. A Property
    // that is given a number or Argument::shared holds one value for all items, now and in later
    // set() calls; given an array, one each.
    Launch(std::shared_ptr<Device> device, const lang::KernelDef& kernel, ir::Precision precision,
           std::int64_t items, std::vector<Argument> arguments, std::string description = "");
    // The same with arguments by name, in any order. A parameter that the kernel's body does not
    // use may be left out: the launch is then without it.
    Launch(std::shared_ptr<Device> device, const lang::KernelDef& kernel, ir::Precision precision,
           std::int64_t items, const std::vector<NamedArgument>& arguments,
           std::string description = "");

    // A launch of a function of the host (host_function.hpp): one argument for each of its
    // parameters, in order. Real parameters are those of the precision.
    Launch(std::shared_ptr<Device> device, std::shared_ptr<HostFunction> function,
           ir::Precision precision, std::vector<Argument> arguments, std::string description);

    // A launch of kernels that are given for every direction (given_kernels.hpp): one argument for
    // each parameter of the forward kernel, in order.
    Launch(std::shared_ptr<Device> device, std::shared_ptr<const GivenKernels> kernels,
           std::int64_t items, std::vector<Argument> arguments, std::string description);

    // Replays whose kernels were joined (join.hpp), as one launch: `kernel` with `arrays` per
    // parameter. Its only replay has the direction of the last of them; running it counts as
    // running those of that direction, the others give values only. Has the bindings_version() of
    // their launches together. `origins`: per parameter, which replay and which of its parameters
    // it stands for.
    static Replay joined(std::vector<Replay> replays, ir::Kernel kernel, std::vector<Array> arrays,
                         std::vector<std::pair<std::size_t, int>> origins);

    const std::string& description() const;
    const ir::Kernel& kernel() const;
    std::int64_t items() const;
    const std::shared_ptr<Device>& device() const;
    // The stream of a CUDA device that it was moved to; nullptr: the device's own, or the calling
    // thread.
    const std::shared_ptr<const backend::cuda::Stream>& stream() const;
    const std::vector<Argument>& arguments() const;

    void set(int index, const Argument& argument);
    void set(std::string_view parameter, const Argument& argument);
    void move_to(const std::shared_ptr<Device>& device);  // replays run there from now on
    void move_to(const Stream& stream);

    // Only these parameters get gradients or tangents (default: every real one); none at all if the
    // list is empty. Throws Error once a derivative was made, unless it says the same.
    void differentiate_only(std::vector<std::string> parameters);
    bool has_derivative() const;
    // The array of each parameter of kernel(); numbers live in arrays of the launch's own.
    const std::vector<Array>& arrays() const;
    // Grows when a parameter is bound to another array, or the launch to another device: plans made
    // from arrays() before are then out of date.
    std::uint64_t bindings_version() const;

    // Throws Error for a derivative of a launch that has none.
    Replay replay(Direction direction) const;
    Replay forward() const;
    Replay adjoint() const;

    // The gradient of a number passed by value, one per component; what adjoint() added since it
    // was cleared.
    std::vector<double> gradient_of(std::string_view parameter) const;
    void clear_gradients_of_numbers() const;

private:
    Launch() = default;
    struct State;
    void set_all(const std::vector<Argument>& arguments);
    struct Ordered;
    Launch(std::shared_ptr<Device> device, Ordered ordered, ir::Precision precision,
           std::int64_t items, std::string description);
    std::shared_ptr<State> state_;
};

// One direction of a launch, compiled and bound. Follows what is set on the launch afterward. A
// handle.
class Launch::Replay {
public:
    void run() const;

    const ir::Kernel& kernel() const;
    const Launch& launch() const;
    Direction direction() const;
    // The array each parameter of kernel() is bound to; empty for parameters that no op uses.
    const std::vector<Array>& arrays() const;
    // True if a parameter of kernel() is a gradient, or the tangent of one; or any derivative.
    bool is_gradient(int parameter) const;
    bool is_derivative(int parameter) const;
    // Replaces the memory that a Read parameter is bound to (the same type and strides), for this
    // replay only: an older version of the array, in memory of the launch's device, on the host
    // within a block of base/aligned.hpp. nullptr gives the array's own memory back.
    void bind_memory(int parameter, void* memory) const;
    // Bytes that one run reads and writes, as far as the bindings tell: each array counts once for
    // each; arrays at the item's own index count only elements that have an item.
    double bytes() const;

    // Compiles what run() needs, so that the first run does not wait for it.
    void prepare(const std::vector<int>& kept = {}) const;

    explicit operator bool() const { return bound_ != nullptr; }

    // Bindings and code, for executors; internal (launch_state.hpp), and not installed.
    struct Bound;
    Bound& bound() const { return *bound_; }

private:
    friend class Launch;
    std::string kinds_of(int parameter) const;
    std::shared_ptr<Bound> bound_;
};

}  // namespace hindcast
