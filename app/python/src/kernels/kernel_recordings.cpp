#include "app/python/src/kernels/kernel_recordings.hpp"

#include <algorithm>

#include "engine/base/error.hpp"
#include "engine/runtime/launch/check_indices.hpp"
#include "engine/runtime/program/program.hpp"

namespace hindcast::python {

namespace {

using Kind = KernelFunction::Kind;
using Outside = KernelFunction::Outside;

Direction forward_of(Kind kind) {
    switch (kind) {
        case Kind::jvp:
        case Kind::hvp: return Direction::tangent;
        case Kind::jvp2: return Direction::tangent_tangent;
        default: return Direction::forward;
    }
}

bool any_real(const lang::KernelDef& kernel) {
    return std::any_of(kernel.parameters().begin(), kernel.parameters().end(),
                       [](const ir::Parameter& p) { return ir::is_real(p.type); });
}

}  // namespace

KernelFunction::Recording::Recording(const Parts& parts, Kind kind, std::shared_ptr<Device> device)
    : kind_(kind),
      device_(std::move(device)),
      transfers_(device_->cuda()),
      changed_(parts.buffers.size(), 0) {
    for (const Buffer& buffer : parts.buffers) versions_.push_back({transfers_.array_of(buffer)});
    for (const Call& call : parts.calls) add_call(parts, call);
    load_operands(parts);
    store_results(parts);
    if (!goes_back()) return;
    for (std::size_t b = 0; b < versions_.size(); ++b)
        for (const Array& array : versions_[b]) {
            if (!ir::is_real(array.type())) continue;
            gradient_zeros_.push_back(array.gradient());
            if (kind_ == Kind::hvp) gradient_zeros_.push_back(array.gradient().tangent());
        }
}

void KernelFunction::Recording::add_call(const Parts& parts, const Call& call) {
    Step step;
    const auto& parameters = call.kernel.parameters();
    std::vector<int> fresh;  // buffers that have a new version for this launch
    std::vector<Pass> old;   // arrays that it changes, and those with what they were before
    for (std::size_t p = 0; p < parameters.size(); ++p) {
        const auto b = static_cast<std::size_t>(call.buffers[p]);
        const ir::Access access = parameters[p].access;
        if (access == ir::Access::read || access == ir::Access::value) continue;
        changed_[b] = 1;
        if (!goes_back() || std::count(fresh.begin(), fresh.end(), call.buffers[p]) > 0) continue;
        fresh.push_back(call.buffers[p]);
        const Array before = versions_[b].back(), now = transfers_.array_of(parts.buffers[b]);
        versions_[b].push_back(now);
        const bool real = ir::is_real(now.type());
        old.push_back({now, before});
        if (real && kind_ == Kind::hvp) old.push_back({now.tangent(), before.tangent()});
        if (call.defines[p] != 0) continue;
        step.before.push_back({now, before});
        if (!real) continue;
        step.behind.push_back({before.gradient(), now.gradient()});
        if (kind_ != Kind::hvp) continue;
        step.before.push_back({now.tangent(), before.tangent()});
        step.behind.push_back({before.gradient().tangent(), now.gradient().tangent()});
    }
    std::vector<Argument> arguments;
    for (std::size_t p = 0; p < parameters.size(); ++p) {
        const Array& array = versions_[static_cast<std::size_t>(call.buffers[p])].back();
        arguments.push_back(call.shared[p] != 0 ? Argument::shared(array) : Argument(array));
    }
    const Launch launch(device_, call.kernel, parts.precision, call.items, arguments);
    if (call.checks_indices) check_indices(launch);
    const bool varies = any_real(call.kernel);
    step.forward = launch.replay(varies ? forward_of(kind_) : Direction::forward);
    step.forward.prepare();
    if (goes_back() && varies) {
        step.backward =
            launch.replay(kind_ == Kind::vjp ? Direction::adjoint : Direction::adjoint_tangent);
        for (const Need& need : primal_needs(step.backward))
            for (const Pass& pass : old)
                if (need.array.same_memory(pass.to) && pass.from.bytes() > 0)
                    step.backward.bind_memory(need.parameter, transfers_.address_of(pass.from));
        step.backward.prepare();
    }
    steps_.push_back(std::move(step));
}

// x, and t or u as tangents; what begins with constants has none.
void KernelFunction::Recording::load_operands(const Parts& parts) {
    const int inputs = static_cast<int>(parts.inputs.size()),
              outputs = static_cast<int>(parts.outputs.size());
    const int constants = kind_ == Kind::value  ? inputs
                          : kind_ == Kind::jvp  ? 2 * inputs
                          : kind_ == Kind::vjp  ? inputs + outputs
                          : kind_ == Kind::jvp2 ? 3 * inputs
                                                : 2 * inputs + outputs;
    for (std::size_t b = 0; b < parts.buffers.size(); ++b) {
        const Buffer& buffer = parts.buffers[b];
        const Array& array = versions_[b].front();
        const bool real = ir::is_real(buffer.type), in_place = !goes_back() && changed_[b] != 0;
        if (buffer.operand < 0) {
            const Start start{array, transfers_.start_of(buffer)};
            if (in_place)
                starts_.push_back(start);
            else if (start.from)
                array.copy_from(start.from);
        } else
            loads_.push_back({real ? buffer.operand : constants + buffer.operand, array});
        if (!real || !has_tangents()) continue;
        const auto load_or_clear = [&](const Array& to, int first) {
            if (buffer.operand >= 0)
                loads_.push_back({first + buffer.operand, to});
            else if (in_place)
                zeros_.push_back(to);
        };
        if (kind_ == Kind::hvp) {
            load_or_clear(array.tangent(), inputs + outputs);
            continue;
        }
        load_or_clear(array.tangent(), inputs);
        if (kind_ != Kind::jvp2) continue;
        load_or_clear(array.second_tangent(), 2 * inputs);
        if (in_place) zeros_.push_back(array.tangent().second_tangent());
    }
    if (goes_back())
        for (int k = 0; k < outputs; ++k) {
            const auto b =
                static_cast<std::size_t>(parts.output_buffers[static_cast<std::size_t>(k)]);
            seeds_.push_back({inputs + k, versions_[b].back().gradient()});
        }
}

void KernelFunction::Recording::store_results(const Parts& parts) {
    if (goes_back()) {
        stores_.resize(parts.inputs.size());
        for (std::size_t k = 0; k < stores_.size(); ++k) stores_[k].result = static_cast<int>(k);
        for (std::size_t b = 0; b < parts.buffers.size(); ++b) {
            const Buffer& buffer = parts.buffers[b];
            if (buffer.operand < 0 || !ir::is_real(buffer.type)) continue;
            const Array gradient = versions_[b].front().gradient();
            stores_[static_cast<std::size_t>(buffer.operand)].from.push_back(
                kind_ == Kind::vjp ? gradient : gradient.tangent());
        }
        return;
    }
    for (const int b : parts.output_buffers) {
        const Array& array = versions_[static_cast<std::size_t>(b)].back();
        stores_.push_back({static_cast<int>(stores_.size()),
                           {kind_ == Kind::value ? array
                            : kind_ == Kind::jvp ? array.tangent()
                                                 : array.tangent().second_tangent()}});
    }
    if (kind_ != Kind::value) return;
    for (const int b : parts.other_buffers)
        stores_.push_back(
            {static_cast<int>(stores_.size()), {versions_[static_cast<std::size_t>(b)].back()}});
}

void KernelFunction::Recording::run(const KernelFunction& function,
                                    const std::byte* const* operands, std::byte* const* results) {
    const std::vector<Outside>& in = function.operands(kind_);
    const std::vector<Outside>& out = function.results(kind_);
    for (const Start& start : starts_)
        start.from ? start.to.copy_from(start.from) : start.to.clear();
    for (const Array& array : zeros_) array.clear();
    for (const Load& load : loads_)
        transfers_.copy_in(load.to, operands[load.operand],
                           in[static_cast<std::size_t>(load.operand)]);
    for (const Step& step : steps_) {
        for (const Pass& pass : step.before) pass.to.copy_from(pass.from);
        step.forward.run();
    }
    if (goes_back()) {
        for (const Array& array : gradient_zeros_) array.clear();
        for (const Load& seed : seeds_)
            transfers_.copy_in(seed.to, operands[seed.operand],
                               in[static_cast<std::size_t>(seed.operand)]);
        for (std::size_t s = steps_.size(); s-- > 0;) {
            const Step& step = steps_[s];
            if (!step.backward) continue;
            step.backward.run();
            for (const Pass& pass : step.behind) transfers_.add(pass.to, pass.from);
        }
    }
    for (const Store& store : stores_) {
        std::byte* const to = results[store.result];
        const Outside& outside = out[static_cast<std::size_t>(store.result)];
        if (store.from.empty()) {
            transfers_.clear(to, outside);
            continue;
        }
        for (std::size_t k = 1; k < store.from.size(); ++k)
            transfers_.add(store.from[0], store.from[k]);
        transfers_.copy_out(to, store.from.front(), outside);
    }
}

}  // namespace hindcast::python
