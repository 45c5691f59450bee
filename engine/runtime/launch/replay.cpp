// One direction of a launch: its kernel, what it is bound to, and how it runs.
#include <algorithm>
#include <atomic>
#include <map>
#include <optional>
#include <utility>

#include "engine/ad/differentiate.hpp"
#include "engine/backend/cpu/launch/deferred_work.hpp"
#include "engine/backend/cuda/context.hpp"
#include "engine/backend/launch_error.hpp"
#include "engine/backend/plan/copy_elements.hpp"
#include "engine/base/thread_pool.hpp"
#include "engine/ir/effects.hpp"
#include "engine/ir/memory_type.hpp"
#include "engine/ir/one_item.hpp"
#include "engine/runtime/array/memory.hpp"
#include "engine/runtime/launch/launch_state.hpp"

namespace hindcast {

using ir::Access;
using ir::Kernel;
using ir::Parameter;

namespace {
bool share_memory(const std::vector<Array>& arrays) {
    for (std::size_t k = 0; k < arrays.size(); ++k)
        for (std::size_t j = 0; j < k; ++j)
            if (arrays[k] && arrays[j] && arrays[k].same_memory(arrays[j])) return true;
    return false;
}
}  // namespace

// A launch of one item that adds at computed indices keeps its own sums. They need neither fixed
// point nor a table of targets, which the next launch would have to make anew.
Kernel Launch::State::with_own_sums(const Kernel& k) const {
    const bool clears = std::ranges::any_of(
        k.parameters, [](const Parameter& p) { return p.access == Access::sum; });
    const bool own =
        items == 1 && ir::adds_at_computed_index(k) && !clears && !share_memory(arrays);
    return own ? ir::with_own_sums(k) : k;
}

const Kernel& Launch::State::kernel_of(Direction direction) {
    if (direction == Direction::forward) return kernel;
    if (!has_derivative)
        throw error("the launch has no derivative")
            .remedy("name what varies in differentiate_only(), or do not call it");
    if (const auto found = derived.find(direction); found != derived.end()) return found->second;
    if (function) {
        if (derived.empty()) function->differentiate_only(active);
        return derived[direction] = signature_of(kernel.name, function->parameters(),
                                                 kernel.precision, direction, active);
    }
    if (kernels) return derived[direction] = kernels->kernel(direction, active);
    return derived[direction] = with_own_sums(derive(direction));
}

// As ad/ derives it.
Kernel Launch::State::derive(Direction direction) const {
    Kernel k;
    switch (direction) {
        case Direction::adjoint: k = ad::adjoint(kernel, active); break;
        case Direction::tangent: k = ad::tangent(kernel, active); break;
        case Direction::tangent_tangent: {
            // The kernel's active parameters, and their tangents.
            const Kernel t = derive(Direction::tangent);
            std::vector<std::string> varying = active;
            for (const std::string& name : active)
                varying.push_back(ad::tangent_name(kernel, name));
            k = ad::tangent(t, varying);
            break;
        }
        default: {
            // Everything that varies in the adjoint: what is active in the kernel, and its
            // adjoints.
            const Kernel a = derive(Direction::adjoint);
            std::vector<std::string> varying = active;
            for (const std::string& name : active)
                varying.push_back(ad::adjoint_name(kernel, name));
            k = ad::tangent(a, varying);
        }
    }
    return k;
}

Launch::State::Origin Launch::State::origin_of(const std::string& name) const {
    if (const int own = kernel.find_parameter(name); own >= 0) return {own, ""};
    if (derivatives.empty()) {
        Kernel tangent;  // the orders that names depend on
        tangent.tangent_order = kernel.tangent_order + 1;
        for (std::size_t p = 0; p < kernel.parameters.size(); ++p) {
            const std::string& x = kernel.parameters[p].name;
            const std::string x_a = ad::adjoint_name(kernel, x), x_t = ad::tangent_name(kernel, x);
            const std::pair<std::string, const char*> all[] = {
                {x_a, "a"},
                {x_t, "t"},
                {ad::tangent_name(kernel, x_a), "at"},
                {ad::tangent_name(tangent, x), "u"},
                {ad::tangent_name(tangent, x_t), "tu"}};
            for (const auto& [derivative, kinds] : all)
                derivatives[derivative] = {static_cast<int>(p), kinds};
        }
    }
    const auto found = derivatives.find(name);
    return found != derivatives.end() ? found->second : Origin{index_of(name), ""};
}

Array Launch::State::array_for(const std::string& name) const {
    const Origin origin = origin_of(name);
    Array array = arrays[static_cast<std::size_t>(origin.parameter)];
    for (const char kind : origin.kinds)
        array = kind == 'a'   ? array.gradient()
                : kind == 't' ? array.tangent()
                              : array.second_tangent();
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
    given.assign(n, nullptr);
    items = s.items;
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
        bindings[p] = array.shape_binding();
        if (ir::is_single(parameter)) bindings[p].count = 1;
        const bool reads =
            parameter.access == Access::read || parameter.access == Access::read_write;
        if (reads && (accumulates || !ir::is_real(parameter.type)))
            versions.emplace_back(&bindings[p], array.version_counter());
        if (!ir::only_reads(parameter.access)) written.push_back(array);
        if (!goes_back(direction) && p < s.arrays.size() && parameter.access == Access::read_write)
            updated.push_back(p);
    }
    for (const Replay& part : s.parts)
        if (part.direction() == direction)
            cleared.insert(cleared.end(), part.bound_->cleared.begin(), part.bound_->cleared.end());
    check_aliasing();
    if (direction != Direction::forward && s.parts.empty()) s.check_lengths(kernel, arrays);
    choose_device();
    if (!goes_back(direction)) return;
    for (const Parameter& p : s.kernel.parameters) {
        if (p.access != Access::sum || !ir::is_real(p.type)) continue;
        const Array gradient = s.array_for(p.name).gradient();
        cleared.push_back(gradient);
        if (direction == Direction::adjoint_tangent) cleared.push_back(gradient.tangent());
    }
    for (std::size_t p = 0; p < n; ++p) {
        if (!arrays[p] || !ir::only_reads(kernel.parameters[p].access) || arrays[p].bytes() == 0 ||
            kernel.parameters[p].holds_result)
            continue;
        const State::Origin origin = s.origin_of(kernel.parameters[p].name);
        const bool gradient = origin.kinds.find('a') != std::string::npos;
        if (!gradient && s.kernel.parameter(origin.parameter).access == Access::read_write)
            old_values.emplace_back(static_cast<int>(p), origin.parameter);
    }
}

void Launch::Replay::Bound::choose_device() {
    const State& s = *launch.state_;
    options = s.device->run_options();
    cuda = s.device->cuda();
    stream = s.stream;
    knows_read_on_host = false;
    read_on_host.clear();
    versions_on_host.clear();
    if (s.stream) options.stream = s.stream->handle();
    if (!cuda) find_memory();
}

// On the host. Bindings keep pointing there.
void Launch::Replay::Bound::find_memory() {
    for (std::size_t p = 0; p < arrays.size(); ++p)
        if (arrays[p])
            bindings[p].data = given[p] != nullptr ? given[p] : arrays[p].memory().host();
}

void Launch::Replay::Bound::find_memory_on_device() {
    for (std::size_t p = 0; p < arrays.size(); ++p)
        if (arrays[p])
            bindings[p].data = given[p] != nullptr ? given[p] : arrays[p].memory().on(cuda);
    if (!knows_read_on_host) {
        for (std::size_t p = 0; p < arrays.size(); ++p)
            if (arrays[p] && executable->reads_on_host(bindings.data(), static_cast<int>(p)))
                read_on_host.push_back(static_cast<int>(p));
        knows_read_on_host = true;
    }
    options.host = bindings.data();
    if (read_on_host.empty()) return;
    host = bindings;
    given_on_host.resize(arrays.size());
    versions_on_host.resize(arrays.size());
    for (const int parameter : read_on_host) {
        const auto p = static_cast<std::size_t>(parameter);
        if (given[p] == nullptr) {
            // An array that lives on the device is fetched once for each version.
            Memory& memory = arrays[p].memory();
            std::uint64_t& fetched = versions_on_host[p];
            if (!memory.is_at_home() || fetched != arrays[p].version()) memory.host();
            fetched = arrays[p].version();
            host[p].data = const_cast<std::byte*>(memory.bytes().data()) + memory.first();
            continue;
        }
        // Older values, which lie on the device: each time they may be those of another step.
        static std::atomic<std::uint64_t> copies{0};
        constexpr std::uint64_t of_copies = std::uint64_t{1} << 63;  // no version of an array
        given_on_host[p].resize(arrays[p].bytes());
        cuda->download(given_on_host[p].data(), backend::cuda::address_of(given[p]),
                       given_on_host[p].size());
        host[p].data = given_on_host[p].data();
        host[p].version = of_copies | ++copies;
    }
    options.host = host.data();
}

void Launch::Replay::Bound::find_memory_for_function() {
    given_on_host.resize(arrays.size());
    for (std::size_t p = 0; p < arrays.size(); ++p) {
        if (!arrays[p]) continue;
        bindings[p].data = arrays[p].memory().host();
        if (given[p] == nullptr) continue;
        given_on_host[p].resize(arrays[p].bytes());
        cuda->download(given_on_host[p].data(), backend::cuda::address_of(given[p]),
                       given_on_host[p].size());
        bindings[p].data = given_on_host[p].data();
    }
}

// The adjoint of y[i] *= x[i] needs y as it was: what forward() left there is certainly wrong.
void Launch::Replay::Bound::check_old_values() const {
    for (const auto& [parameter, origin] : old_values) {
        const auto p = static_cast<std::size_t>(parameter), o = static_cast<std::size_t>(origin);
        if (given[p] != nullptr || launch.state_->arrays[o].version() != launch.state_->left[o])
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
        if (!executable) {
            ir::verify(replay.bound_->kernel, "binding");  // ops name parameters that are there
            executable = state_->compile_for(state_->device, direction, replay.bound_->kernel);
        }
        replay.bound_->executable = executable;
        replay.bound_->bind();
        weak = replay.bound_;
    }
    return replay;
}

Launch::Replay Launch::forward() const { return replay(Direction::forward); }
Launch::Replay Launch::adjoint() const { return replay(Direction::adjoint); }

void Launch::Replay::run() const { bound_->run({}, nullptr); }

void Launch::Replay::Bound::run(std::span<const backend::Copy> copies,
                                backend::DeferredWork* deferred) {
    backend::cuda::Context::Lock held;
    if (cuda) held = cuda->lock();
    std::optional<backend::cuda::Context::Following> following;
    if (stream) following.emplace(*cuda, stream.get());
    if (deferred != nullptr && !(executable->takes_deferred_work() && aliases.empty()))
        std::exchange(deferred, nullptr)->run();
    if (!executable->takes_deferred_work())
        backend::copy_out(std::exchange(copies, {}), options.pool);
    if (!old_values.empty() && items > 0) check_old_values();
    for (const auto& [binding, version] : versions) binding->version = *version;
    try {
        if (cuda && is_on_host())
            find_memory_for_function();
        else if (cuda)
            find_memory_on_device();
        else if (Memory::any_on_device())
            find_memory();
        backend::RunOptions now = options;
        now.copies = copies;
        now.deferred = deferred;
        learned.clear();
        now.learned = &learned;
        executable->run(bindings.data(), items, now);
    } catch (const backend::LaunchError&) {  // of one before
        spoil();
        throw;
    } catch (Error& e) {
        spoil();
        const backend::LaunchWords words{launch.description(),
                                         [this] { return launch.state_->arguments_text(); }};
        if (const std::string note = words.note(launch.kernel().name); !note.empty()) e.note(note);
        throw;
    } catch (...) {
        spoil();
        throw;
    }
    finish(is_on_host());
    for (const backend::FactUpdate& l : learned)
        arrays[static_cast<std::size_t>(l.parameter)].know(l.busy, l.by);
    for (const Array& a : cleared)
        deferred != nullptr ? a.clear(*deferred) : a.clear(cuda ? nullptr : options.pool);
    if (!aliases.empty()) add_aliases();
}

void Launch::Replay::prepare(const std::vector<int>& kept) const {
    std::vector<backend::Binding> bindings = bound_->bindings;
    for (const int p : kept) bindings[static_cast<std::size_t>(p)].kept = true;
    bound_->executable->prepare(bindings.data(), bound_->items);
}

void Launch::Replay::Bound::ran() const {
    finish(true);
    for (const Array& a : cleared) a.touch();
}

void Launch::Replay::Bound::ran_on_device() const {
    finish(false);
    for (const Array& a : cleared) a.wrote_on_device();
    for (const Alias& alias : aliases) alias.target.wrote_on_device();
}

void Launch::Replay::Bound::each_array(const std::function<void(const Array&)>& visit) const {
    for (const Array& a : arrays) visit(a);
    for (const Array& a : cleared) visit(a);
    for (const Alias& alias : aliases) visit(alias.target);
}

// New versions of what was written.
void Launch::Replay::Bound::finish(bool on_host) const {
    for (const Array& a : written) on_host ? a.touch() : a.wrote_on_device();
    for (const std::size_t p : updated) launch.state_->left[p] = launch.state_->arrays[p].version();
    for (const Replay& part : launch.state_->parts)
        if (part.direction() == direction) part.bound_->finish(on_host);
}

void Launch::Replay::Bound::add_aliases() const {
    for (const Alias& alias : aliases) {
        const std::size_t size = alias.own.type() == ir::Type::f32 ? 4 : 8;
        if (cuda && alias.target.memory().add_on_device(alias.own.memory(), size)) {
            alias.target.changed();
            alias.own.clear();
            continue;
        }
        const Array &target = alias.target, &own = alias.own;
        const auto add = [&]<class T>(T* to, const T* from) {
            for (std::int64_t e = 0; e < own.elements(); ++e)
                for (int c = 0; c < own.components(); ++c)
                    to[e * target.element_stride() + c * target.component_stride()] +=
                        from[e * own.element_stride() + c * own.component_stride()];
        };
        if (own.type() == ir::Type::f32)
            add(static_cast<float*>(target.data()), static_cast<const float*>(own.data()));
        else
            add(static_cast<double*>(target.data()), static_cast<const double*>(own.data()));
        alias.target.touch();
        alias.own.clear();
    }
}

// After a failed run: the arrays it wrote are undefined, so they get a new version.
void Launch::Replay::Bound::spoil() const {
    for (const Array& a : written) is_on_host() ? a.touch() : a.changed();
    for (const Alias& alias : aliases) alias.own.clear();
}

const Kernel& Launch::Replay::kernel() const { return bound_->kernel; }
const Launch& Launch::Replay::launch() const { return bound_->launch; }
Direction Launch::Replay::direction() const { return bound_->direction; }
const std::vector<Array>& Launch::Replay::arrays() const { return bound_->arrays; }

// The kinds of derivative that a parameter is (Origin::kinds); "" if it is not a derivative.
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

double Launch::Replay::bytes() const {
    struct Traffic {
        bool read = false, written = false;
        double bytes = 0;
    };
    std::map<const void*, Traffic> of;  // per array
    const Kernel& k = kernel();
    const std::vector<ir::Effects> effects = ir::effects_of(k);
    for (std::size_t p = 0; p < k.parameters.size(); ++p) {
        const Array& array = arrays()[p];
        if (!array) continue;
        const Access access = k.parameters[p].access;
        Traffic& traffic = of[array.version_counter()];
        // Elements that a Slice takes, and sums of a Reduce, do not count.
        traffic.read |=
            effects[p].uses_old_values() && access != Access::slice && access != Access::reduce;
        traffic.written |= effects[p].writes();
        const bool own = access == Access::write || access == Access::read_write;
        const std::int64_t elements =
            own ? std::min(array.elements(), launch().items()) : array.elements();
        traffic.bytes = std::max(traffic.bytes, static_cast<double>(array.components() * elements) *
                                                    static_cast<double>(ir::size_of(array.type())));
    }
    double sum = 0;
    for (const auto& [array, traffic] : of)
        sum += traffic.bytes * ((traffic.read ? 1 : 0) + (traffic.written ? 1 : 0));
    return sum;
}

void Launch::Replay::bind_memory(int parameter, void* memory) const {
    const std::size_t p = static_cast<std::size_t>(parameter);
    bound_->given[p] = memory;
    const Array& array = bound_->arrays[p];
    bound_->bindings[p].contents = memory != nullptr ? nullptr : &array.contents();
    bound_->bindings[p].kept = memory != nullptr;
    if (!bound_->cuda) bound_->bindings[p].data = memory != nullptr ? memory : array.data();
}

}  // namespace hindcast
