#include "engine/runtime/launch/launch.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <limits>
#include <utility>

#include "engine/backend/executable.hpp"
#include "engine/backend/plan/index_check.hpp"
#include "engine/document/text.hpp"
#include "engine/ir/memory_type.hpp"
#include "engine/runtime/device/compile_on.hpp"
#include "engine/runtime/launch/check_indices.hpp"
#include "engine/runtime/launch/launch_state.hpp"

namespace hindcast {

using ir::Access;
using ir::Kernel;
using ir::Parameter;

// ---------------------------------------------------------------- arguments

int Launch::State::index_of(std::string_view name) const {
    for (std::size_t p = 0; p < kernel.parameters.size(); ++p)
        if (kernel.parameters[p].name == name) return static_cast<int>(p);
    std::string names;
    for (const Parameter& q : kernel.parameters) names += (names.empty() ? "" : ", ") + q.name;
    throw error("there is no parameter '" + std::string(name) + "'")
        .remedy("the parameters are " + names);
}

// Numbers by value, arrays by type and shape. "" for a launch with a generated kernel, such as a
// search: its arrays are those of all its energies and tell nothing about the fault.
std::string Launch::State::arguments_text() const {
    if (has_no_text()) return "";
    std::string text;
    for (std::size_t p = 0; p < arguments.size(); ++p) {
        const Argument& argument = arguments[p];
        text += (text.empty() ? "" : "; ") + kernel.parameters[p].name;
        if (argument.is_array())
            text += fmt::format(": {} [{}]", ir::name_of(argument.array().type()),
                                fmt::join(argument.array().shape(), ", "));
        else if (argument.numbers().size() == 1)
            text += fmt::format(" = {}", argument.numbers().front());
        else
            text += fmt::format(" = ({})", fmt::join(argument.numbers(), ", "));
    }
    return text;
}

bool Launch::State::has_no_text() const {
    return function || kernels || std::ranges::any_of(parts, [](const Replay& part) {
               return part.launch().state_->has_no_text();
           });
}

namespace {

// A host function in one direction.
class HostExecutable final : public backend::Executable {
public:
    HostExecutable(std::shared_ptr<HostFunction> function, Direction direction, Kernel signature)
        : function_(std::move(function)), direction_(direction), signature_(std::move(signature)) {}
    void run(const backend::Binding* bindings, std::int64_t, const backend::RunOptions&) override {
        function_->run(direction_, signature_, bindings);
    }
    const Kernel& kernel() const override { return signature_; }

private:
    std::shared_ptr<HostFunction> function_;
    Direction direction_;
    Kernel signature_;
};

}  // namespace

std::shared_ptr<backend::Executable> Launch::State::compile_for(
    const std::shared_ptr<Device>& where, Direction direction, const ir::Kernel& of) {
    if (function) return std::make_shared<HostExecutable>(function, direction, of);
    const auto words = [this, living = std::weak_ptr(alive)] {
        return living.expired() ? std::string() : arguments_text();
    };
    if (checks_indices) return compile_on(*where, of, {description, words}, IndexChecks::all);
    return where->compile(of, description, words);
}

// Everything that can be said about one argument by itself.
void Launch::State::check(const Parameter& p, bool is_property, const Argument& argument) const {
    const auto fail = [&](const std::string& what, const std::string& remedy) {
        throw error("'" + p.name + "' " + what).remedy(remedy);
    };
    constexpr const char* another = "make another launch: this is decided when a launch is made";
    if (!argument.is_array()) {
        const std::size_t given = argument.numbers().size();
        if (given == 0)
            fail("is given an array without memory", "make the array with a shape first");
        if (p.access == Access::read && is_property)
            fail("holds one value per item, but a number is given", another);
        if (p.access != Access::value) fail("is a buffer, but a number is given", "pass an Array");
        if (static_cast<int>(given) != p.components)
            fail("has " + std::to_string(p.components) + " components, but " +
                     std::to_string(given) + " numbers are given",
                 "give one per component");
        return;
    }
    const Array& array = argument.array();
    if (argument.is_shared() && p.access == Access::read) {
        if (is_property) fail("holds one value per item, but a shared value is given", another);
        fail("is not a Property, but a shared value is given",
             "pass the array itself, or declare it Property<T> in the kernel");
    }
    if (!argument.is_shared() && p.access == Access::value && is_property)
        fail("holds one value for all items, but an array is given",
             std::string("pass Argument::shared, or ") + another);
    if (array.type() != ir::memory_type(p))
        fail(std::string("takes ") + ir::name_of(ir::memory_type(p)) + ", but the array holds " +
                 ir::name_of(array.type()),
             ir::is_single(p)
                 ? "launch parameters and reductions are f64 in memory in both precisions"
                 : "make the array with the kernel's type");
    if (ir::is_single(p)) {
        if (array.size() != p.components || array.layout() != Layout::contiguous)
            fail("takes " + std::to_string(p.components) + " scalars, but the array has " +
                     std::to_string(array.size()),
                 "bind a contiguous array with one element");
    } else if (array.components() != p.components) {
        fail("has elements of " + std::to_string(p.components) +
                 " components, but the array's have " + std::to_string(array.components()),
             "check the array's shape");
    }
    if (array.is_read_only() && !ir::only_reads(p.access))
        fail("is written, but the array's memory is read only", "copy it into an array of its own");
    const bool own = p.access == Access::write || p.access == Access::read_write;
    if (own && array.elements() < items)
        fail("is written at the item's own index, but has " + std::to_string(array.elements()) +
                 " elements for " + std::to_string(items) + " items",
             "make the array larger, or launch fewer items");
}

// Throws Error if the kernel would reach past the end of an array whatever the arrays hold. `of` is
// this launch's kernel or a derived one; `bound` has one array for each parameter, or an empty one.
void Launch::State::check_lengths(const ir::Kernel& of, const std::vector<Array>& bound) const {
    std::vector<std::int64_t> elements;
    for (const Array& array : bound) elements.push_back(array ? array.elements() : -1);
    const auto fault = backend::outside(of, items, elements);
    if (!fault) return;
    const ir::Op& op = of.op(fault->op);
    const char* const how = op.code == ir::OpCode::load         ? "read"
                            : op.code == ir::OpCode::accumulate ? "added to"
                                                                : "written";
    const Origin origin = origin_of(of.parameter(op.symbol).name);
    const std::string name = "'" + kernel.parameter(origin.parameter).name + "'";
    const bool own = of.op(op.operand[0]).code == ir::OpCode::item;
    const std::string where = own ? "the item's own index"
                                  : fmt::format("index {} by item {}", fault->index, fault->item);
    throw error(fmt::format("{}{} is {} at {}, but has {} elements for {} items",
                            origin.kinds.empty() ? "" : "a derivative of ", name, how, where,
                            elements[static_cast<std::size_t>(op.symbol)], items))
        .at(of.place_of(fault->op))
        .remedy("make the array larger, or launch fewer items");
}

void Launch::State::write_numbers(const Parameter& p, const Array& array,
                                  std::span<const double> numbers) const {
    try {
        array.assign(numbers);
    } catch (const Error& e) {
        throw error("'" + p.name + "': " + e.happened()).remedy(e.what_to_do());
    }
}

void Launch::State::set(int index, const Argument& argument) {
    if (index < 0 || index >= static_cast<int>(kernel.parameters.size()))
        throw error("there is no parameter " + std::to_string(index))
            .remedy("the kernel has " + std::to_string(kernel.parameters.size()));
    const std::size_t slot = static_cast<std::size_t>(index);
    const Parameter& p = kernel.parameters[slot];
    check(p, property[slot] != 0, argument);
    if (argument.is_array()) {
        if (is_made) {
            std::vector<Array> given(arrays.size());
            given[slot] = argument.array();
            check_lengths(kernel, given);
        }
        bind(slot, argument.array(), argument);
    } else if (arrays[slot] &&
               !arguments[slot]
                    .is_array()) {  // the array made for the first number takes later ones
        write_numbers(p, arrays[slot], argument.numbers());
        arguments[slot] = argument;
    } else {
        const Array own(ir::memory_type(p), {1, p.components});
        write_numbers(p, own, argument.numbers());
        bind(slot, own, argument);
    }
}

void Launch::State::bind(std::size_t slot, const Array& array, const Argument& argument) {
    const Array array_before = std::exchange(arrays[slot], array);
    const Argument argument_before = std::exchange(arguments[slot], argument);
    ++bindings_version;
    left[slot] = 0;
    try {
        check_aliasing();
        rebind();
    } catch (...) {
        arrays[slot] = array_before;
        arguments[slot] = argument_before;
        if (array_before) rebind();
        throw;
    }
}

void Launch::State::check_aliasing() const {
    for (std::size_t a = 0; a < arrays.size(); ++a) {
        for (std::size_t b = a + 1; b < arrays.size(); ++b) {
            if (!arrays[a] || !arrays[b] || !arrays[a].same_memory(arrays[b])) continue;
            const Parameter &p = kernel.parameters[a], &q = kernel.parameters[b];
            const bool reads = ir::only_reads(p.access) && ir::only_reads(q.access);
            const bool sums = p.access == q.access &&
                              (p.access == Access::accumulate || p.access == Access::reduce);
            if (reads || sums) continue;
            throw error("'" + p.name + "' (" + name_of(p.access) + ") and '" + q.name + "' (" +
                        name_of(q.access) + ") are bound to one array")
                .remedy(
                    "only two Reads or two Accumulates may share an array; copy it, or split the "
                    "kernel");
        }
    }
}

Launch::Launch(std::shared_ptr<Device> device, const lang::KernelDef& kernel,
               ir::Precision precision, std::int64_t items, std::vector<Argument> arguments,
               std::string description)
    : state_(std::make_shared<State>()) {
    State& s = *state_;
    s.device = std::move(device);
    s.items = items;
    s.description = std::move(description);
    if (s.description.empty()) s.description = kernel.name();
    if (!s.device) throw s.error("a launch needs a device");
    if (items < 0) throw s.error("a launch of " + std::to_string(items) + " items is not possible");
    if (items > std::numeric_limits<std::int32_t>::max())
        throw s
            .error("a launch of " + std::to_string(items) +
                   " items is not possible: the work item is an Int")
            .remedy("split the launch");
    const std::vector<Parameter>& declared = kernel.parameters();
    if (arguments.size() != declared.size())
        throw s
            .error("the kernel has " + std::to_string(declared.size()) + " parameters, but " +
                   std::to_string(arguments.size()) + " arguments are given")
            .remedy("give one argument per parameter, in order");
    std::vector<std::string> shared;
    for (std::size_t k = 0; k < declared.size(); ++k) {
        s.property.push_back(kernel.may_share(static_cast<int>(k)));
        if (s.property[k] && arguments[k].is_shared()) shared.push_back(declared[k].name);
    }
    s.kernel = kernel.trace(precision, shared);
    s.arguments.assign(arguments.size(), Argument(std::span<const double>{}));
    s.arrays.resize(arguments.size());
    s.left.resize(arguments.size());
    for (std::size_t k = 0; k < arguments.size(); ++k) s.set(static_cast<int>(k), arguments[k]);
    s.check_lengths(s.kernel, s.arrays);
    s.is_made = true;
}

Launch::Launch(std::shared_ptr<Device> device, std::shared_ptr<HostFunction> function,
               ir::Precision precision, std::vector<Argument> arguments, std::string description)
    : state_(std::make_shared<State>()) {
    State& s = *state_;
    s.device = std::move(device);
    s.items = 1;
    s.description = std::move(description);
    s.function = std::move(function);
    if (!s.device) throw s.error("a launch needs a device");
    s.kernel =
        signature_of(s.description, s.function->parameters(), precision, Direction::forward, {});
    set_all(arguments);
}

Launch::Launch(std::shared_ptr<Device> device, std::shared_ptr<const GivenKernels> kernels,
               std::int64_t items, std::vector<Argument> arguments, std::string description)
    : state_(std::make_shared<State>()) {
    State& s = *state_;
    s.device = std::move(device);
    s.items = items;
    s.description = std::move(description);
    s.kernels = std::move(kernels);
    if (!s.device) throw s.error("a launch needs a device");
    s.kernel = s.kernels->kernel(Direction::forward, {});
    set_all(arguments);
}

void Launch::set_all(const std::vector<Argument>& arguments) {
    State& s = *state_;
    const std::size_t n = s.kernel.parameters.size();
    if (arguments.size() != n)
        throw s.error("there are " + std::to_string(n) + " parameters, but " +
                      std::to_string(arguments.size()) + " arguments are given");
    s.property.assign(n, 0);
    s.arguments.assign(n, Argument(std::span<const double>{}));
    s.arrays.resize(n);
    s.left.resize(n);
    for (std::size_t k = 0; k < n; ++k) s.set(static_cast<int>(k), arguments[k]);
    s.check_lengths(s.kernel, s.arrays);
    s.is_made = true;
}

// A kernel, and one argument for each of its parameters.
struct Launch::Ordered {
    lang::KernelDef kernel;
    std::vector<Argument> arguments;

    Ordered(const lang::KernelDef& of, const std::vector<NamedArgument>& named,
            const std::string& description)
        : kernel(of) {
        const auto fail = [&](const std::string& what, const std::string& remedy) {
            throw Error("the kernel '" + of.name() + "' " + what)
                .in_kernel(description.empty() ? of.name() : description)
                .remedy(remedy);
        };
        std::vector<std::string_view> known;
        for (const Parameter& p : of.parameters()) known.push_back(p.name);
        const std::string all = fmt::format("its parameters are {}", fmt::join(known, ", "));
        const auto given = [&](std::string_view name) {
            return std::ranges::find(named, name, &NamedArgument::parameter);
        };
        for (auto argument = named.begin(); argument != named.end(); ++argument) {
            const std::string& name = argument->parameter;
            if (std::ranges::find(known, name) == known.end()) {
                const std::string_view nearest = document::nearest(name, known);
                fail("has no parameter '" + name + "'",
                     (nearest.empty() ? "" : fmt::format("did you mean '{}'? ", nearest)) + all);
            }
            if (given(name) != argument)
                fail("is given two arguments for '" + name + "'", "give one; " + all);
        }
        const auto has_all = [&] {
            return std::ranges::all_of(kernel.parameters(), [&](const Parameter& p) {
                return given(p.name) != named.end();
            });
        };
        if (!has_all()) kernel = of.without_unused();
        for (const Parameter& p : kernel.parameters()) {
            const auto argument = given(p.name);
            if (argument == named.end())
                fail("is given no argument for '" + p.name + "'",
                     all + "; those that it does not use may be left out");
            arguments.push_back(argument->argument);
        }
    }
};

Launch::Launch(std::shared_ptr<Device> device, const lang::KernelDef& kernel,
               ir::Precision precision, std::int64_t items,
               const std::vector<NamedArgument>& arguments, std::string description)
    : Launch(std::move(device), Ordered(kernel, arguments, description), precision, items,
             description) {}

Launch::Launch(std::shared_ptr<Device> device, Ordered ordered, ir::Precision precision,
               std::int64_t items, std::string description)
    : Launch(std::move(device), ordered.kernel, precision, items, std::move(ordered.arguments),
             std::move(description)) {}

Launch::Replay Launch::joined(std::vector<Replay> replays, ir::Kernel kernel,
                              std::vector<Array> arrays,
                              std::vector<std::pair<std::size_t, int>> origins) {
    Launch launch;
    launch.state_ = std::make_shared<State>();
    State& s = *launch.state_;
    const Launch& first = replays.front().launch();
    const Direction direction = replays.back().direction();
    s.device = first.state_->device;
    s.stream = first.state_->stream;
    s.items = first.items();
    for (const Replay& replay : replays)
        if (replay.direction() == direction)
            s.description += (s.description.empty() ? "" : " + ") + replay.launch().description();
    s.has_derivative = direction != Direction::forward;
    for (const Array& array : arrays) s.arguments.emplace_back(array);
    s.left.resize(arrays.size());
    s.arrays = std::move(arrays);
    s.parts = std::move(replays);
    s.origins = std::move(origins);
    s.kernel = std::move(kernel);
    s.derived[direction] = s.kernel;
    return launch.replay(direction);
}

const std::string& Launch::description() const { return state_->description; }
const std::shared_ptr<Device>& Launch::device() const { return state_->device; }
const std::shared_ptr<const backend::cuda::Stream>& Launch::stream() const {
    return state_->stream;
}
const Kernel& Launch::kernel() const { return state_->kernel; }
std::int64_t Launch::items() const { return state_->items; }
const std::vector<Argument>& Launch::arguments() const { return state_->arguments; }
void Launch::set(int index, const Argument& argument) { state_->set(index, argument); }
void Launch::set(std::string_view parameter, const Argument& argument) {
    state_->set(state_->index_of(parameter), argument);
}

void Launch::move_to(const std::shared_ptr<Device>& device) {
    State& s = *state_;
    if (!device) throw s.error("a launch needs a device");
    if (device == s.device && !s.stream) return;
    s.device->synchronize();  // it may be running, with memory of its own
    if (device != s.device) {
        std::map<Direction, std::shared_ptr<backend::Executable>> executables;
        for (const auto& [direction, weak] : s.replays)
            if (const auto bound = weak.lock())
                executables[direction] = s.compile_for(device, direction, bound->kernel);
        for (const auto& [direction, executable] : executables)
            s.replays[direction].lock()->executable = executable;
        s.executables = std::move(executables);
        s.device = device;
    }
    s.stream.reset();
    ++s.bindings_version;  // a launch that this one was joined with is out of date
    for (const auto& [direction, weak] : s.replays)
        if (const auto bound = weak.lock()) bound->choose_device();
}

void Launch::move_to(const Stream& stream) {
    State& s = *state_;
    if (s.stream == stream.cuda() && s.device == stream.device()) return;
    move_to(stream.device());
    s.device->synchronize();
    s.stream = stream.cuda();
    ++s.bindings_version;
    for (const auto& [direction, weak] : s.replays)
        if (const auto bound = weak.lock()) bound->choose_device();
}

void Launch::differentiate_only(std::vector<std::string> parameters) {
    State& s = *state_;
    for (const std::string& name : parameters)
        if (!ir::is_real(s.kernel.parameter(s.index_of(name)).type))
            throw s.error("'" + name + "' holds integers, so it has no derivative")
                .remedy("name real parameters only");
    const bool same =
        parameters.empty() ? !s.has_derivative : s.has_derivative && parameters == s.active;
    if (!same && !s.derived.empty())
        throw s.error("what varies is said after a derivative of the launch was made")
            .remedy("call differentiate_only() before the first adjoint or tangent");
    s.has_derivative = !parameters.empty();
    s.active = std::move(parameters);
}

void Launch::Replay::Bound::check_indices(const Launch& launch) {
    launch.state_->checks_indices = true;
}
void check_indices(const Launch& launch) { Launch::Replay::Bound::check_indices(launch); }
bool Launch::has_derivative() const { return state_->has_derivative; }
const std::vector<Array>& Launch::arrays() const { return state_->arrays; }
std::uint64_t Launch::bindings_version() const {
    std::uint64_t version = state_->bindings_version;
    for (const Replay& part : state_->parts) version += part.launch().bindings_version();
    return version;
}

std::vector<double> Launch::gradient_of(std::string_view parameter) const {
    const std::size_t p = static_cast<std::size_t>(state_->index_of(parameter));
    if (state_->arguments[p].is_array())
        throw state_->error("'" + std::string(parameter) + "' is an array")
            .remedy("its gradient is array.gradient()");
    if (!ir::is_real(state_->kernel.parameters[p].type))
        throw state_->error("'" + std::string(parameter) +
                            "' is an integer, so it has no gradient");
    return state_->arrays[p].gradient().to_doubles();
}

void Launch::clear_gradients_of_numbers() const {
    for (std::size_t p = 0; p < state_->arrays.size(); ++p)
        if (!state_->arguments[p].is_array() && state_->arrays[p].has_gradient())
            state_->arrays[p].gradient().clear();
}

}  // namespace hindcast
