// A Launch: a kernel bound to its arguments and ready to go, any number of times, in any direction.
//
//     Launch pull(device, spring_force, springs, {ends, rest, 100.0, x, v, 0.5, force});
//     Launch::Replay forward = pull.forward(), backward = pull.adjoint();   // once, before the loop
//     for (...) { pull.set("damping", d); forward.run(); backward.run(); }  // per iteration: no allocation
//
// Arguments are checked against the kernel's signature when they are set: arity, type, shape, aliasing. Derivatives are
// found through the arrays: the adjoint of parameter x is x's array's gradient(), its tangent x's array's tangent(). A
// number passed by value has a gradient too (gradient_of). adjoint() adds to gradients, except that the gradient of an
// own element that the launch stored is taken and cleared, and so is that of a Sum.
#pragma once

#include <array>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "engine/lang/kernel.hpp"
#include "engine/runtime/array.hpp"
#include "engine/runtime/device.hpp"

namespace hindcast {

// What a launch parameter is given.
class Argument {
public:
    static constexpr int most_numbers = 16;

    Argument(const Array& array) : array_(array) {}                              // NOLINT: arguments convert
    Argument(double number) : numbers_{number}, count_(1) {}                     // NOLINT
    Argument(int number) : Argument(static_cast<double>(number)) {}              // NOLINT
    Argument(std::int64_t number) : Argument(static_cast<double>(number)) {}     // NOLINT
    Argument(std::span<const double> numbers);                                   // NOLINT: Vec3 and the like
    Argument(const std::vector<double>& numbers) : Argument(std::span<const double>(numbers)) {}  // NOLINT
    // For a Property: one value (f64 array with one element) for all items.
    static Argument shared(const Array& scalar) {
        Argument argument(scalar);
        argument.shared_ = true;
        return argument;
    }
    bool is_array() const { return static_cast<bool>(array_); }
    bool is_shared() const { return shared_ || !is_array(); }
    const Array& array() const { return array_; }
    std::span<const double> numbers() const { return {numbers_.data(), static_cast<std::size_t>(count_)}; }

private:
    Array array_;
    std::array<double, most_numbers> numbers_{};
    int count_ = 0;
    bool shared_ = false;
};

// Which of the kernels derived from a launch's kernel.
enum class Direction : std::uint8_t {
    forward,         // K
    adjoint,         // adjoint(K)
    tangent,         // tangent(K)
    adjoint_tangent  // tangent(adjoint(K)): Hessian-vector products
};
const char* name_of(Direction direction);

class Launch {
public:
    class Replay;

    // `description` names the launch in errors and profiles; default: the kernel's name.
    Launch(std::shared_ptr<Device> device, const lang::KernelDef& kernel, ir::Precision precision, std::int64_t items,
           std::vector<Argument> arguments, std::string description = "");

    const std::string& description() const;
    const ir::Kernel& kernel() const;
    std::int64_t items() const;
    const std::vector<Argument>& arguments() const;

    void set(int index, const Argument& argument);
    void set(std::string_view parameter, const Argument& argument);
    void move_to(const std::shared_ptr<Device>& device);  // later replays run there

    // Only these parameters get gradients or tangents (default: every real one); none at all if the list is empty.
    // Before the first derived replay is made.
    void differentiate_only(std::vector<std::string> parameters);
    bool has_derivative() const;
    // What each parameter of kernel() is bound to; numbers live in arrays of the launch's own.
    const std::vector<Array>& arrays() const;

    Replay replay(Direction direction) const;
    Replay forward() const;
    Replay adjoint() const;

    // The gradient of a number passed by value, one per component; what adjoint() added since it was cleared.
    std::vector<double> gradient_of(std::string_view parameter) const;
    void clear_gradients_of_numbers() const;

private:
    struct State;
    std::shared_ptr<State> state_;
};

// One direction of a launch, compiled and bound. Follows what is set on the launch afterwards. A handle.
class Launch::Replay {
public:
    void run() const;

    const ir::Kernel& kernel() const;
    const Launch& launch() const;
    Direction direction() const;
    // The array each parameter of kernel() is bound to (empty for numbers and for parameters that no op uses).
    const std::vector<Array>& arrays() const;
    // Replaces the memory that a Read parameter is bound to (the same type and strides), for this replay only: an older
    // version of the array. nullptr gives the array's own memory back.
    void bind_memory(int parameter, void* memory) const;

private:
    friend class Launch;
    struct Bound;
    std::shared_ptr<Bound> bound_;
};

}  // namespace hindcast
