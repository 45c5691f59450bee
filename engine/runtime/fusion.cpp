#include "engine/runtime/fusion.hpp"

#include <algorithm>
#include <map>
#include <tuple>

#include "engine/ir/fuse.hpp"

namespace hindcast {

namespace {

bool writes(const Call& call, const Array& array) {
    return std::any_of(call.writes.begin(), call.writes.end(),
                       [&](const Array& a) { return a.same_memory(array); });
}

// Replays of one direction, to be joined in this order. Memory is told apart by array and, for
// values that are restored, by where in which history they lie.
class Join {
public:
    void add(const Launch::Replay& replay, const std::vector<Restore>& restores) {
        ir::FusionPiece piece{&replay.kernel(), {}};
        const std::vector<Array>& arrays = replay.arrays();
        for (std::size_t p = 0; p < arrays.size(); ++p) {
            if (!arrays[p]) {
                piece.buffer.push_back(-1);
                continue;
            }
            Memory memory{arrays[p].version_counter(), nullptr, 0};
            for (const Restore& r : restores)
                if (r.parameter == static_cast<int>(p))
                    memory = {arrays[p].version_counter(), r.history, r.offset};
            const auto next = static_cast<int>(numbers_.size());
            piece.buffer.push_back(numbers_.try_emplace(memory, next).first->second);
        }
        pieces_.push_back(std::move(piece));
        replays_.push_back(replay);
    }
    bool possible() const { return ir::cannot_fuse(pieces_).empty(); }
    void make() {
        std::string name;
        for (const ir::FusionPiece& piece : pieces_)
            name += (name.empty() ? "" : "+") + piece.kernel->name;
        ir::FusedKernel fused = ir::fuse(name, pieces_);
        std::vector<Array> arrays(fused.kernel.parameters.size());
        std::vector<std::pair<std::size_t, int>> origins(arrays.size());
        for (std::size_t k = 0; k < replays_.size(); ++k)
            for (std::size_t p = 0; p < fused.parameters[k].size(); ++p)
                if (const int q = fused.parameters[k][p]; q >= 0) {
                    arrays[static_cast<std::size_t>(q)] = replays_[k].arrays()[p];
                    origins[static_cast<std::size_t>(q)] = {k, static_cast<int>(p)};
                }
        parameters_ = std::move(fused.parameters);
        joined_ = Launch::joined(replays_, std::move(fused.kernel), std::move(arrays),
                                 std::move(origins));
    }
    const Launch::Replay& replay() const { return joined_; }
    // Of the joined replay, for a parameter of the k-th.
    int parameter(std::size_t k, int of) const {
        return parameters_[k][static_cast<std::size_t>(of)];
    }

private:
    using Memory = std::tuple<const void*, const History*, std::int64_t>;
    std::map<Memory, int> numbers_;
    std::vector<ir::FusionPiece> pieces_;
    std::vector<Launch::Replay> replays_;
    std::vector<std::vector<int>> parameters_;
    Launch::Replay joined_;
};

bool can_join(const Launch::Replay& replay) {
    return !replay.adds_aliases() && replay.cleared_after().empty() &&
           !ir::adds_to_others(replay.kernel());
}
bool can_join(const Call& call, bool backward) {
    return !call.made_again && can_join(call.forward) &&
           (!backward || !call.differentiable || can_join(call.backward));
}

using Group = std::vector<Call*>;

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
    const Launch &a = first.forward.launch(), &b = next.forward.launch();
    if (!can_join(next, backward) || a.items() != b.items() || a.device() != b.device() ||
        a.stream() != b.stream() || first.forward.direction() != next.forward.direction() ||
        first.recomputed != next.recomputed)
        return false;
    for (const History* h : next.saves)
        for (const Call* call : group)
            if (writes(*call, h->array)) return false;
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
            if (!writes(call, a)) call.writes.push_back(a);
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
        for (std::size_t k = 0; k < back.size(); ++k) {
            for (Restore r : back[k]->restores) {
                r.parameter = adjoint.parameter(k, r.parameter);
                call.restores.push_back(r);
            }
            for (auto [need, version] : back[k]->constants) {
                need.parameter = adjoint.parameter(k, need.parameter);
                call.constants.emplace_back(need, version);
            }
        }
    }
    return call;
}

}  // namespace

void fuse_calls(Calls& calls, bool backward) {
    Calls fused;
    for (std::size_t k = 0; k < calls.size();) {
        Group group{&calls[k]};
        if (can_join(calls[k], backward))
            while (k + group.size() < calls.size() &&
                   fits(group, calls[k + group.size()], backward))
                group.push_back(&calls[k + group.size()]);
        k += group.size();
        fused.push_back(group.size() > 1 ? join(group, backward) : std::move(*group.front()));
    }
    calls = std::move(fused);
}

}  // namespace hindcast
