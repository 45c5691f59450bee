#include "engine/runtime/launch.hpp"

#include <algorithm>
#include <array>
#include <cstring>
#include <map>

#include "engine/ad/differentiate.hpp"

namespace hindcast {

using ir::Access;
using ir::Kernel;
using ir::Parameter;

const char* name_of(Direction direction) {
    switch (direction) {
        case Direction::forward: return "forward";
        case Direction::adjoint: return "adjoint";
        case Direction::tangent: return "tangent";
        case Direction::adjoint_tangent: return "adjoint tangent";
    }
    return "?";
}

namespace {

bool by_value(const Parameter& p) { return p.access == Access::value || p.access == Access::reduce; }

bool writes(Access access) { return access != Access::read && access != Access::value; }

ir::Type memory_type(const Parameter& p) { return by_value(p) && ir::is_real(p.type) ? ir::Type::f64 : p.type; }

}  // namespace

Argument::Argument(std::span<const double> numbers) {
    if (numbers.size() > most_numbers)
        throw Error("a launch parameter of " + std::to_string(numbers.size()) + " numbers is too large")
            .remedy("the limit is " + std::to_string(most_numbers) + ": pass an array");
    std::copy(numbers.begin(), numbers.end(), numbers_.begin());
    count_ = static_cast<int>(numbers.size());
}

struct Launch::State {
    std::shared_ptr<Device> device;
    Kernel kernel;
    std::string description;
    std::int64_t items = 0;
    std::vector<Argument> arguments;
    std::vector<std::string> active;  // empty: every real parameter
    bool has_derivative = true;
    // Numbers passed by value live in small arrays, so that they have gradients and tangents like everything else.
    std::vector<Array> arrays;
    std::map<Direction, std::weak_ptr<Replay::Bound>> replays;

    Error error(const std::string& what) const { return Error(what).in_kernel(description); }

    int index_of(std::string_view name) const {
        for (std::size_t p = 0; p < kernel.parameters.size(); ++p)
            if (kernel.parameters[p].name == name) return static_cast<int>(p);
        std::string names;
        for (const Parameter& q : kernel.parameters) names += (names.empty() ? "" : ", ") + q.name;
        throw error("there is no parameter '" + std::string(name) + "'").remedy("the parameters are " + names);
    }

    void set(int index, const Argument& argument);
    void check_aliasing() const;
    const Kernel& derived(Direction direction);
    Array array_for(const std::string& derived_name) const;
    void rebind();

private:
    std::map<Direction, Kernel> derived_;
};

struct Launch::Replay::Bound {
    Launch launch;
    Direction direction;
    Kernel kernel;
    std::shared_ptr<backend::Executable> executable;
    const backend::RunOptions* options = nullptr;
    std::int64_t items = 0;
    std::vector<backend::Binding> bindings;
    std::vector<Array> arrays;
    std::vector<std::pair<backend::Binding*, const std::uint64_t*>> versions;  // index arrays, read afresh per run
    std::vector<Array> written;   // their versions change
    std::vector<Array> cleared;   // adjoints of sums: read, then cleared
    struct Alias {                // a second accumulation into one array goes through its own memory
        Array target, own;
    };
    std::vector<Alias> aliases;

    Bound(Launch of, Direction d) : launch(std::move(of)), direction(d) {}
    void bind();
};

// ---------------------------------------------------------------- arguments

void Launch::State::set(int index, const Argument& argument) {
    if (index < 0 || index >= static_cast<int>(kernel.parameters.size()))
        throw error("there is no parameter " + std::to_string(index)).remedy("the kernel has " + std::to_string(kernel.parameters.size()));
    const Parameter& p = kernel.parameter(index);
    const auto fail = [&](const std::string& what, const std::string& remedy) { throw error("'" + p.name + "' " + what).remedy(remedy); };
    const std::size_t slot = static_cast<std::size_t>(index);
    if (!argument.is_array()) {
        if (p.access != Access::value) fail("is a buffer, but a number is given", "pass an Array");
        if (static_cast<int>(argument.numbers().size()) != p.components)
            fail("has " + std::to_string(p.components) + " components, but " + std::to_string(argument.numbers().size()) + " numbers are given", "give one per component");
        // An array of the argument's own, made once; later numbers are written into it.
        if (!arguments[slot].is_array() && arrays[slot]) {
            for (int c = 0; c < p.components; ++c) arrays[slot].set_value(0, c, argument.numbers()[static_cast<std::size_t>(c)]);
            arrays[slot].touch();
        } else {
            arrays[slot] = Array::from(argument.numbers(), memory_type(p), {1, p.components});
            arguments[slot] = argument;
            rebind();
        }
        return;
    }
    const Array& array = argument.array();
    if (array.type() != memory_type(p))
        fail(std::string("takes ") + ir::name_of(memory_type(p)) + ", but the array holds " + ir::name_of(array.type()),
             by_value(p) ? "launch parameters and reductions are f64 in memory in both precisions" : "make the array with the kernel's type");
    if (by_value(p)) {
        if (array.size() != p.components || array.layout() != Layout::contiguous)
            fail("takes " + std::to_string(p.components) + " scalars, but the array has " + std::to_string(array.size()), "bind an f64 array with one element");
    } else if (array.components() != p.components) {
        fail("has elements of " + std::to_string(p.components) + " components, but the array's have " + std::to_string(array.components()), "check the array's shape");
    }
    const bool own = p.access == Access::write || p.access == Access::read_write;
    if (own && array.elements() < items)
        fail("is written at the item's own index, but has " + std::to_string(array.elements()) + " elements for " + std::to_string(items) + " items", "make the array larger, or launch fewer items");
    const Array before = arrays[slot];
    arrays[slot] = array;
    try {
        check_aliasing();
    } catch (...) {
        arrays[slot] = before;
        throw;
    }
    arguments[slot] = argument;
    rebind();
}

void Launch::State::check_aliasing() const {
    for (std::size_t a = 0; a < arrays.size(); ++a) {
        for (std::size_t b = a + 1; b < arrays.size(); ++b) {
            if (!arrays[a] || !arrays[b] || !arrays[a].same_memory(arrays[b])) continue;
            const Parameter &p = kernel.parameters[a], &q = kernel.parameters[b];
            const bool reads = !writes(p.access) && !writes(q.access);
            const bool sums = p.access == q.access && (p.access == Access::accumulate || p.access == Access::reduce);
            if (reads || sums) continue;
            throw error("'" + p.name + "' (" + name_of(p.access) + ") and '" + q.name + "' (" + name_of(q.access) + ") are bound to one array")
                .remedy("only two Reads or two Accumulates may share an array; copy it, or split the kernel");
        }
    }
}

Launch::Launch(std::shared_ptr<Device> device, const lang::KernelDef& kernel, ir::Precision precision, std::int64_t items,
               std::vector<Argument> arguments, std::string description)
    : state_(std::make_shared<State>()) {
    State& s = *state_;
    s.device = std::move(device);
    s.items = items;
    s.description = description.empty() ? kernel.name() : std::move(description);
    if (items < 0) throw s.error("a launch of " + std::to_string(items) + " items is not possible");
    const std::vector<Parameter>& declared = kernel.parameters();
    if (arguments.size() != declared.size())
        throw s.error("the kernel has " + std::to_string(declared.size()) + " parameters, but " + std::to_string(arguments.size()) + " arguments are given")
            .remedy("give one argument per parameter, in order");
    std::vector<std::string> shared;
    for (std::size_t k = 0; k < declared.size(); ++k)
        if (declared[k].access == Access::read && kernel.may_share(static_cast<int>(k)) && arguments[k].is_shared()) shared.push_back(declared[k].name);
    s.kernel = kernel.trace(precision, shared);
    s.arguments.assign(arguments.size(), Argument(std::span<const double>{}));
    s.arrays.resize(arguments.size());
    for (std::size_t k = 0; k < arguments.size(); ++k) s.set(static_cast<int>(k), arguments[k]);
}

const std::string& Launch::description() const { return state_->description; }
const Kernel& Launch::kernel() const { return state_->kernel; }
std::int64_t Launch::items() const { return state_->items; }
const std::vector<Argument>& Launch::arguments() const { return state_->arguments; }
void Launch::set(int index, const Argument& argument) { state_->set(index, argument); }
void Launch::set(std::string_view parameter, const Argument& argument) { state_->set(state_->index_of(parameter), argument); }

void Launch::move_to(const std::shared_ptr<Device>& device) {
    state_->device = device;
    for (auto& [direction, weak] : state_->replays)
        if (const auto bound = weak.lock()) {
            bound->executable = device->compile(bound->kernel);
            bound->options = &device->run_options();
        }
}

void Launch::differentiate_only(std::vector<std::string> parameters) {
    for (const std::string& p : parameters) state_->index_of(p);
    state_->has_derivative = !parameters.empty();
    state_->active = std::move(parameters);
}

bool Launch::has_derivative() const { return state_->has_derivative; }
const std::vector<Array>& Launch::arrays() const { return state_->arrays; }

std::vector<double> Launch::gradient_of(std::string_view parameter) const {
    const std::size_t p = static_cast<std::size_t>(state_->index_of(parameter));
    if (state_->arguments[p].is_array()) throw state_->error("'" + std::string(parameter) + "' is an array").remedy("its gradient is array.gradient()");
    return state_->arrays[p].gradient().to_doubles();
}

void Launch::clear_gradients_of_numbers() const {
    for (std::size_t p = 0; p < state_->arrays.size(); ++p)
        if (!state_->arguments[p].is_array() && state_->arrays[p].has_gradient()) state_->arrays[p].gradient().clear();
}

// ---------------------------------------------------------------- replays

const Kernel& Launch::State::derived(Direction direction) {
    if (direction == Direction::forward) return kernel;
    if (const auto found = derived_.find(direction); found != derived_.end()) return found->second;
    Kernel k;
    switch (direction) {
        case Direction::adjoint: k = ad::adjoint(kernel, active); break;
        case Direction::tangent: k = ad::tangent(kernel, active); break;
        default: {
            // Everything that varies in the adjoint: what is active in the kernel, and its adjoints.
            const Kernel& a = derived(Direction::adjoint);
            std::vector<std::string> varying = active;
            for (const std::string& name : active) varying.push_back(ad::adjoint_name(kernel, name));
            k = ad::tangent(a, varying);
        }
    }
    return derived_[direction] = std::move(k);
}

// "x.a1.t1" is the tangent of the gradient of what x is bound to.
Array Launch::State::array_for(const std::string& derived_name) const {
    std::string base = derived_name;
    std::vector<char> suffixes;
    for (std::size_t dot = base.rfind('.'); dot != std::string::npos && kernel.find_parameter(base) < 0; dot = base.rfind('.')) {
        suffixes.push_back(base[dot + 1]);
        base.resize(dot);
    }
    Array array = arrays[static_cast<std::size_t>(index_of(base))];
    for (std::size_t k = suffixes.size(); k-- > 0;) array = suffixes[k] == 'a' ? array.gradient() : array.tangent();
    return array;
}

void Launch::State::rebind() {
    for (auto& [direction, weak] : replays)
        if (const auto bound = weak.lock()) bound->bind();
}

void Launch::Replay::Bound::bind() {
    const State& s = *launch.state_;
    const std::vector<char> used = ad::used_parameters(kernel);
    const std::size_t n = kernel.parameters.size();
    bindings.assign(n, {});
    arrays.assign(n, Array());
    versions.clear();
    written.clear();
    cleared.clear();
    aliases.clear();
    items = s.items;
    options = &s.device->run_options();
    for (std::size_t p = 0; p < n; ++p) {
        if (!used[p]) continue;
        const Parameter& parameter = kernel.parameters[p];
        Array array = s.array_for(parameter.name);
        if (parameter.access == Access::accumulate)
            for (std::size_t q = 0; q < p; ++q)
                if (arrays[q] && arrays[q].same_memory(array) && kernel.parameters[q].access == Access::accumulate) {
                    aliases.push_back({array, Array(array.type(), array.shape(), array.layout())});
                    array = aliases.back().own;
                    break;
                }
        arrays[p] = array;
        bindings[p] = array.binding();
        if (by_value(parameter)) bindings[p].count = 1;
        if (parameter.access == Access::read && !ir::is_real(parameter.type)) versions.emplace_back(&bindings[p], array.version_counter());
        if (writes(parameter.access)) written.push_back(array);
    }
    if (direction == Direction::adjoint || direction == Direction::adjoint_tangent)
        for (const Parameter& p : s.kernel.parameters) {
            if (p.access != Access::sum || !ir::is_real(p.type)) continue;
            const Array gradient = s.array_for(p.name).gradient();
            cleared.push_back(gradient);
            if (direction == Direction::adjoint_tangent) cleared.push_back(gradient.tangent());
        }
}

Launch::Replay Launch::replay(Direction direction) const {
    std::weak_ptr<Replay::Bound>& weak = state_->replays[direction];
    Replay replay;
    replay.bound_ = weak.lock();
    if (!replay.bound_) {
        replay.bound_ = std::make_shared<Replay::Bound>(*this, direction);
        replay.bound_->kernel = state_->derived(direction);
        replay.bound_->executable = state_->device->compile(replay.bound_->kernel);
        replay.bound_->bind();
        weak = replay.bound_;
    }
    return replay;
}

Launch::Replay Launch::forward() const { return replay(Direction::forward); }
Launch::Replay Launch::adjoint() const { return replay(Direction::adjoint); }

void Launch::Replay::run() const {
    Bound& b = *bound_;
    for (const auto& [binding, version] : b.versions) binding->version = *version;
    try {
        b.executable->run(b.bindings.data(), b.items, *b.options);
    } catch (Error& e) {
        if (b.launch.description() != b.launch.kernel().name) e.note("in the launch '" + b.launch.description() + "'");
        throw;
    }
    for (const Array& a : b.written) a.touch();
    for (const Array& a : b.cleared) a.clear();
    for (const Bound::Alias& alias : b.aliases) {  // adjoints of two reads of one array, added in parameter order
        const std::int64_t scalars = static_cast<std::int64_t>(alias.own.bytes() / ir::size_of(alias.own.type()));
        const auto add = [&]<class T>(T* to, T* from) {
            for (std::int64_t k = 0; k < scalars; ++k) to[k] += from[k];
        };
        if (alias.own.type() == ir::Type::f32) add(static_cast<float*>(alias.target.data()), static_cast<float*>(alias.own.data()));
        else add(static_cast<double*>(alias.target.data()), static_cast<double*>(alias.own.data()));
        alias.target.touch();
        alias.own.clear();
    }
}

const Kernel& Launch::Replay::kernel() const { return bound_->kernel; }
const Launch& Launch::Replay::launch() const { return bound_->launch; }
Direction Launch::Replay::direction() const { return bound_->direction; }
const std::vector<Array>& Launch::Replay::arrays() const { return bound_->arrays; }

void Launch::Replay::bind_memory(int parameter, void* memory) const {
    const std::size_t p = static_cast<std::size_t>(parameter);
    bound_->bindings[p].data = memory != nullptr ? memory : bound_->arrays[p].data();
}

}  // namespace hindcast
