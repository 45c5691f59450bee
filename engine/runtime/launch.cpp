#include "engine/runtime/launch.hpp"

#include <algorithm>
#include <limits>
#include <map>
#include <utility>

#include "engine/ad/differentiate.hpp"
#include "engine/ir/memory_type.hpp"

namespace hindcast {

using ir::Access;
using ir::Kernel;
using ir::Parameter;

namespace {}  // namespace

struct Launch::State {
    std::shared_ptr<Device> device;
    Kernel kernel;
    std::string description;
    std::int64_t items = 0;
    std::vector<char> property;  // per parameter: declared Property
    std::vector<Argument> arguments;
    // Numbers passed by value live in small arrays, so that they have gradients and tangents like
    // everything else.
    std::vector<Array> arrays;
    std::uint64_t bindings_version = 1;
    std::vector<std::uint64_t>
        left;  // per ReadWrite parameter: the version that the last forward run left
    std::vector<std::string> active;  // empty: every real parameter
    bool has_derivative = true, made_again = false;
    std::vector<Replay> parts;  // of a joined launch
    std::vector<std::pair<std::size_t, int>> origins;
    std::map<Direction, Kernel> derived;
    std::map<Direction, std::shared_ptr<backend::Executable>> executables;
    std::map<Direction, std::weak_ptr<Replay::Bound>> replays;

    Error error(const std::string& what) const { return Error(what).in_kernel(description); }
    int index_of(std::string_view name) const;

    void set(int index, const Argument& argument);
    void check(const Parameter& p, bool is_property, const Argument& argument) const;
    void write_numbers(const Parameter& p, const Array& array,
                       std::span<const double> numbers) const;
    void bind(std::size_t slot, const Array& array, const Argument& argument);
    void check_aliasing() const;
    void rebind();

    const Kernel& kernel_of(Direction direction);
    // What a parameter of a derived kernel belongs to: "x.a1.t1" to x, as the tangent of its
    // adjoint, "at".
    struct Origin {
        int parameter = 0;
        std::string kinds;
    };
    Origin origin_of(const std::string& derived_name) const;
    Array array_for(const std::string& derived_name) const;
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
    std::vector<std::pair<backend::Binding*, const std::uint64_t*>>
        versions;                // index arrays, read afresh per run
    std::vector<Array> written;  // their versions change
    std::vector<Array> cleared;  // after the run: adjoints of sums, and sums without a term
    struct Alias {               // a second accumulation into one array goes through its own memory
        Array target, own;
    };
    std::vector<Alias> aliases;
    std::vector<std::size_t> updated;  // forward: ReadWrite parameters of the launch
    std::vector<std::pair<int, int>>
        old_values;  // adjoint: parameters that read such an array, and which

    Bound(Launch of, Direction d) : launch(std::move(of)), direction(d) {}
    void bind();
    void check_aliasing() const;
    void check_old_values() const;
    void add_aliases() const;
    void spoil() const;
};

// ---------------------------------------------------------------- arguments

int Launch::State::index_of(std::string_view name) const {
    for (std::size_t p = 0; p < kernel.parameters.size(); ++p)
        if (kernel.parameters[p].name == name) return static_cast<int>(p);
    std::string names;
    for (const Parameter& q : kernel.parameters) names += (names.empty() ? "" : ", ") + q.name;
    throw error("there is no parameter '" + std::string(name) + "'")
        .remedy("the parameters are " + names);
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
    const bool own = p.access == Access::write || p.access == Access::read_write;
    if (own && array.elements() < items)
        fail("is written at the item's own index, but has " + std::to_string(array.elements()) +
                 " elements for " + std::to_string(items) + " items",
             "make the array larger, or launch fewer items");
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
}

Launch::Replay Launch::joined(std::vector<Replay> replays, ir::Kernel kernel,
                              std::vector<Array> arrays,
                              std::vector<std::pair<std::size_t, int>> origins) {
    Launch launch;
    launch.state_ = std::make_shared<State>();
    State& s = *launch.state_;
    const Launch& first = replays.front().launch();
    const Direction direction = replays.front().direction();
    s.device = first.state_->device;
    s.items = first.items();
    for (const Replay& replay : replays)
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
const Kernel& Launch::kernel() const { return state_->kernel; }
std::int64_t Launch::items() const { return state_->items; }
const std::vector<Argument>& Launch::arguments() const { return state_->arguments; }
void Launch::set(int index, const Argument& argument) { state_->set(index, argument); }
void Launch::set(std::string_view parameter, const Argument& argument) {
    state_->set(state_->index_of(parameter), argument);
}

void Launch::move_to(const std::shared_ptr<Device>& device) {
    if (!device) throw state_->error("a launch needs a device");
    if (device == state_->device) return;
    std::map<Direction, std::shared_ptr<backend::Executable>> executables;
    for (const auto& [direction, weak] : state_->replays)
        if (const auto bound = weak.lock()) executables[direction] = device->compile(bound->kernel);
    for (const auto& [direction, executable] : executables) {
        const auto bound = state_->replays[direction].lock();
        bound->executable = executable;
        bound->options = &device->run_options();
    }
    state_->executables = std::move(executables);
    state_->device = device;
    ++state_->bindings_version;  // a launch that this one was joined with is out of date
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

// ---------------------------------------------------------------- replays

const Kernel& Launch::State::kernel_of(Direction direction) {
    if (direction == Direction::forward) return kernel;
    if (!has_derivative)
        throw error("the launch has no derivative")
            .remedy("name what varies in differentiate_only(), or do not call it");
    if (const auto found = derived.find(direction); found != derived.end()) return found->second;
    Kernel k;
    switch (direction) {
        case Direction::adjoint: k = ad::adjoint(kernel, active); break;
        case Direction::tangent: k = ad::tangent(kernel, active); break;
        default: {
            // Everything that varies in the adjoint: what is active in the kernel, and its
            // adjoints.
            const Kernel& a = kernel_of(Direction::adjoint);
            std::vector<std::string> varying = active;
            for (const std::string& name : active)
                varying.push_back(ad::adjoint_name(kernel, name));
            k = ad::tangent(a, varying);
        }
    }
    return derived[direction] = std::move(k);
}

Launch::State::Origin Launch::State::origin_of(const std::string& derived_name) const {
    Origin origin;
    std::string base = derived_name;
    for (std::size_t dot = base.rfind('.');
         dot != std::string::npos && kernel.find_parameter(base) < 0; dot = base.rfind('.')) {
        origin.kinds.insert(origin.kinds.begin(), base[dot + 1]);
        base.resize(dot);
    }
    origin.parameter = index_of(base);
    return origin;
}

Array Launch::State::array_for(const std::string& derived_name) const {
    const Origin origin = origin_of(derived_name);
    Array array = arrays[static_cast<std::size_t>(origin.parameter)];
    for (const char kind : origin.kinds) array = kind == 'a' ? array.gradient() : array.tangent();
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
    updated.clear();
    old_values.clear();
    items = s.items;
    options = &s.device->run_options();
    const bool accumulates =
        std::any_of(kernel.parameters.begin(), kernel.parameters.end(), [](const Parameter& p) {
            return p.access == Access::accumulate || p.access == Access::sum;
        });
    for (std::size_t p = 0; p < n; ++p) {
        const Parameter& parameter = kernel.parameters[p];
        if (!used[p] && parameter.access != Access::sum) continue;
        Array array = s.array_for(parameter.name);
        if (!used[p]) {  // nothing is added to this Sum, but it is defined
            arrays[p] = array;
            cleared.push_back(array);
            continue;
        }
        if (parameter.access == Access::accumulate)
            for (std::size_t q = 0; q < p; ++q)
                if (arrays[q] && arrays[q].same_memory(array) &&
                    kernel.parameters[q].access == Access::accumulate) {
                    aliases.push_back({array, Array(array.type(), array.shape(), array.layout())});
                    array = aliases.back().own;
                    break;
                }
        arrays[p] = array;
        bindings[p] = array.binding();
        if (ir::is_single(parameter)) bindings[p].count = 1;
        const bool reads =
            parameter.access == Access::read || parameter.access == Access::read_write;
        if (reads && (accumulates || !ir::is_real(parameter.type)))
            versions.emplace_back(&bindings[p], array.version_counter());
        if (!ir::only_reads(parameter.access)) written.push_back(array);
        const bool forwards = direction == Direction::forward || direction == Direction::tangent;
        if (forwards && p < s.arrays.size() && parameter.access == Access::read_write)
            updated.push_back(p);
    }
    check_aliasing();
    if (direction != Direction::adjoint && direction != Direction::adjoint_tangent) return;
    for (const Parameter& p : s.kernel.parameters) {
        if (p.access != Access::sum || !ir::is_real(p.type)) continue;
        const Array gradient = s.array_for(p.name).gradient();
        cleared.push_back(gradient);
        if (direction == Direction::adjoint_tangent) cleared.push_back(gradient.tangent());
    }
    for (std::size_t p = 0; p < n; ++p) {
        if (!arrays[p] || !ir::only_reads(kernel.parameters[p].access) || arrays[p].bytes() == 0)
            continue;
        const State::Origin origin = s.origin_of(kernel.parameters[p].name);
        const bool gradient = origin.kinds.find('a') != std::string::npos;
        if (!gradient && s.kernel.parameter(origin.parameter).access == Access::read_write)
            old_values.emplace_back(static_cast<int>(p), origin.parameter);
    }
}

// The adjoint of y[i] *= x[i] needs y as it was: what forward() left there is certainly wrong.
void Launch::Replay::Bound::check_old_values() const {
    for (const auto& [parameter, origin] : old_values) {
        const auto p = static_cast<std::size_t>(parameter), o = static_cast<std::size_t>(origin);
        if (bindings[p].data != arrays[p].data() ||
            launch.state_->arrays[o].version() != launch.state_->left[o])
            continue;
        throw launch.state_
            ->error("the adjoint needs '" + kernel.parameters[p].name +
                    "' as it was before the launch, which has overwritten it")
            .remedy(
                "record the launch on a Tape, or keep a copy and give it to the adjoint by "
                "bind_memory()");
    }
}

// Arguments do not alias (Launch::State), but one of them may be the gradient of another.
void Launch::Replay::Bound::check_aliasing() const {
    const auto adds = [](Access access) {
        return access == Access::accumulate || access == Access::reduce;
    };
    for (std::size_t b = 0; b < arrays.size(); ++b) {
        for (std::size_t a = 0; a < b; ++a) {
            if (!arrays[a] || !arrays[b] || !arrays[a].same_memory(arrays[b])) continue;
            const Parameter &p = kernel.parameters[a], &q = kernel.parameters[b];
            if ((ir::only_reads(p.access) && ir::only_reads(q.access)) ||
                (adds(p.access) && adds(q.access)))
                continue;
            throw launch.state_
                ->error(std::string("in the ") + name_of(direction) + " direction, '" + p.name +
                        "' (" + name_of(p.access) + ") and '" + q.name + "' (" + name_of(q.access) +
                        ") are bound to one array")
                .remedy("copy it: a differentiated launch cannot take an array and its gradient");
        }
    }
}

Launch::Replay Launch::replay(Direction direction) const {
    std::weak_ptr<Replay::Bound>& weak = state_->replays[direction];
    Replay replay;
    replay.bound_ = weak.lock();
    if (!replay.bound_) {
        replay.bound_ = std::make_shared<Replay::Bound>(*this, direction);
        replay.bound_->kernel = state_->kernel_of(direction);
        std::shared_ptr<backend::Executable>& executable = state_->executables[direction];
        if (!executable) executable = state_->device->compile(replay.bound_->kernel);
        replay.bound_->executable = executable;
        replay.bound_->bind();
        weak = replay.bound_;
    }
    return replay;
}

Launch::Replay Launch::forward() const { return replay(Direction::forward); }
Launch::Replay Launch::adjoint() const { return replay(Direction::adjoint); }

void Launch::Replay::run() const {
    Bound& b = *bound_;
    if (!b.old_values.empty() && b.items > 0) b.check_old_values();
    for (const auto& [binding, version] : b.versions) binding->version = *version;
    try {
        b.executable->run(b.bindings.data(), b.items, *b.options);
    } catch (Error& e) {
        b.spoil();
        if (b.launch.description() != b.launch.kernel().name)
            e.note("in the launch '" + b.launch.description() + "'");
        throw;
    } catch (...) {
        b.spoil();
        throw;
    }
    for (const Array& a : b.cleared) a.clear();
    if (!b.aliases.empty()) b.add_aliases();
    ran();
}

void Launch::Replay::ran() const {
    const Bound& b = *bound_;
    for (const Array& a : b.written) a.touch();
    for (const Array& a : b.cleared) a.touch();
    for (const std::size_t p : b.updated)
        b.launch.state_->left[p] = b.launch.state_->arrays[p].version();
    for (const Replay& part : b.launch.state_->parts) part.ran();
}

const std::vector<backend::Binding>& Launch::Replay::bindings() const { return bound_->bindings; }
const std::vector<Array>& Launch::Replay::cleared_after() const { return bound_->cleared; }
bool Launch::Replay::adds_aliases() const { return !bound_->aliases.empty(); }

void Launch::Replay::Bound::add_aliases() const {
    for (const Alias& alias : aliases) {
        const std::size_t size = alias.own.type() == ir::Type::f32 ? 4 : 8;
        const auto scalars = static_cast<std::int64_t>(alias.own.bytes() / size);
        const auto add = [&]<class T>(T* to, const T* from) {
            for (std::int64_t k = 0; k < scalars; ++k) to[k] += from[k];
        };
        if (alias.own.type() == ir::Type::f32)
            add(static_cast<float*>(alias.target.data()),
                static_cast<const float*>(alias.own.data()));
        else
            add(static_cast<double*>(alias.target.data()),
                static_cast<const double*>(alias.own.data()));
        alias.target.touch();
        alias.own.clear();
    }
}

// After a failed run: what it wrote is undefined, so nobody may take it for the old version.
void Launch::Replay::Bound::spoil() const {
    for (const Array& a : written) a.touch();
    for (const Alias& alias : aliases) alias.own.clear();
}

const Kernel& Launch::Replay::kernel() const { return bound_->kernel; }
const Launch& Launch::Replay::launch() const { return bound_->launch; }
Direction Launch::Replay::direction() const { return bound_->direction; }
const std::vector<Array>& Launch::Replay::arrays() const { return bound_->arrays; }

// Which derivative a parameter is of what (Origin).
std::string Launch::Replay::kinds_of(int parameter) const {
    const State& s = *bound_->launch.state_;
    if (s.parts.empty()) return s.origin_of(bound_->kernel.parameter(parameter).name).kinds;
    const auto& [part, of] = s.origins[static_cast<std::size_t>(parameter)];
    return s.parts[part].kinds_of(of);
}
bool Launch::Replay::is_gradient(int parameter) const {
    return kinds_of(parameter).find('a') != std::string::npos;
}
bool Launch::Replay::is_derivative(int parameter) const { return !kinds_of(parameter).empty(); }

void Launch::make_again() { state_->made_again = true; }
bool Launch::made_again() const { return state_->made_again; }

void Launch::Replay::bind_memory(int parameter, void* memory) const {
    const std::size_t p = static_cast<std::size_t>(parameter);
    bound_->bindings[p].data = memory != nullptr ? memory : bound_->arrays[p].data();
}

}  // namespace hindcast
