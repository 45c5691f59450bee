#include "engine/runtime/schedule/fusion.hpp"

#include <algorithm>

#include "engine/ir/effects.hpp"
#include "engine/ir/fuse.hpp"
#include "engine/runtime/launch/launch_state.hpp"
#include "engine/runtime/schedule/join.hpp"

namespace hindcast {

namespace {

bool can_join(const Launch::Replay& replay) {
    return !replay.kernel().is_host_function && !replay.kernel().has_exclusive() &&
           !replay.bound().adds_aliases() && replay.bound().cleared.empty() &&
           std::ranges::none_of(ir::effects_of(replay.kernel()), &ir::Effects::adds_other);
}
bool can_join(const Call& call, bool backward) {
    return !call.made_again && can_join(call.forward) &&
           (!backward || !call.differentiable || can_join(call.backward));
}

using Group = std::vector<Call*>;

// The time to compile a function grows faster than its length: of a group's kernels together, in
// one direction.
constexpr int most_ops = 1024;

// The number of operations of the longer direction.
int ops_of(const Call& call, bool backward) {
    const int forward = ir::count_ops(call.forward.kernel());
    return backward && call.differentiable
               ? std::max(forward, ir::count_ops(call.backward.kernel()))
               : forward;
}

Join forward_of(const Group& group) {
    Join join;
    for (const Call* call : group) join.add(call->forward, {});
    return join;
}
Group differentiable(const Group& group) {
    Group list;
    for (Call* call : group)
        if (call->differentiable) list.push_back(call);
    std::reverse(list.begin(), list.end());
    return list;
}
Join backward_of(const Group& reversed) {
    Join join;
    for (const Call* call : reversed) join.add(call->backward, call->restores);
    return join;
}

bool fits(const Group& group, Call& next, bool backward) {
    const Call& first = *group.front();
    if (!can_join(next, backward) || !goes_alike(first.forward, next.forward) ||
        first.recomputed != next.recomputed)
        return false;
    for (const History* h : next.saves)
        for (const Call* call : group)
            if (contains(call->writes, h->array)) return false;
    Group longer = group;
    longer.push_back(&next);
    return forward_of(longer).possible() &&
           (!backward || backward_of(differentiable(longer)).possible());
}

Call join(const Group& group, bool backward) {
    Call call;
    Join forward = forward_of(group);
    forward.make();
    call.forward = forward.replay();
    call.bindings_version = call.forward.launch().bindings_version();
    call.recomputed = group.front()->recomputed;
    for (const Call* part : group) {
        for (const Array& a : part->writes)
            if (!contains(call.writes, a)) call.writes.push_back(a);
        for (History* h : part->saves)
            if (std::find(call.saves.begin(), call.saves.end(), h) == call.saves.end())
                call.saves.push_back(h);
    }
    const Group back = differentiable(group);
    call.differentiable = !back.empty();
    if (!backward) return call;
    if (back.size() == 1) {
        call.backward = back[0]->backward;
        call.restores = back[0]->restores;
        call.constants = back[0]->constants;
    } else if (back.size() > 1) {
        Join adjoint = backward_of(back);
        adjoint.make();
        call.backward = adjoint.replay();
        call.restores = adjoint.restores();
        for (std::size_t k = 0; k < back.size(); ++k)
            for (auto [need, version] : back[k]->constants) {
                need.parameter = adjoint.parameter(k, need.parameter);
                call.constants.emplace_back(need, version);
            }
    }
    return call;
}

}  // namespace

void fuse_calls(Calls& calls, bool backward) {
    Calls fused;
    for (std::size_t k = 0; k < calls.size();) {
        Group group{&calls[k]};
        if (can_join(calls[k], backward)) {
            int ops = ops_of(calls[k], backward);
            while (k + group.size() < calls.size()) {
                Call& next = calls[k + group.size()];
                ops += ops_of(next, backward);
                if (ops > most_ops || !fits(group, next, backward)) break;
                group.push_back(&next);
            }
        }
        k += group.size();
        fused.push_back(group.size() > 1 ? join(group, backward) : std::move(*group.front()));
    }
    calls = std::move(fused);
}

}  // namespace hindcast
