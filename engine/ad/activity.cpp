#include "engine/ad/activity.hpp"

#include "engine/ad/rules.hpp"

namespace hindcast::ad {

using ir::Op;
using ir::OpCode;
using ir::Value;

Activity::Activity(const ir::Kernel& kernel, const std::vector<char>& active)
    : Activity(kernel, active, {}, ir::no_value) {}

Activity::Activity(const ir::Kernel& kernel, const std::set<Value>& inputs, Value output)
    : Activity(kernel, std::vector<char>(kernel.parameters.size(), 0), inputs, output) {}

Activity::Activity(const ir::Kernel& kernel, const std::vector<char>& active,
                   const std::set<Value>& inputs, Value output)
    : kernel_(kernel),
      active_(active),
      varied_(kernel.ops.size()),
      useful_(kernel.ops.size()),
      gated_(kernel.ops.size()),
      steep_(kernel.ops.size()),
      divisor_(kernel.ops.size()) {
    find_divisors();
    for (const Value v : inputs) mark(varied_, v);
    mark(useful_, output);
    spread_forward();
    spread_backward();
}

void Activity::mark(std::vector<char>& set, Value v) {
    if (v < 0 || !ir::is_real(kernel_.op(v).type) || set[static_cast<std::size_t>(v)]) return;
    set[static_cast<std::size_t>(v)] = 1;
    changed_ = true;
}

// `to` is in the sets that `from` is in.
void Activity::pass(Sets sets, Value from, Value to) {
    for (std::vector<char>* const set : sets)
        if ((*set)[static_cast<std::size_t>(from)]) mark(*set, to);
}

void Activity::find_divisors() {
    for (const Op& op : kernel_.ops)
        if (op.code == OpCode::div && ir::is_real(op.type))
            divisor_[static_cast<std::size_t>(op.operand[1])] = 1;
}

// True if the derivative of v by operand i may be infinite where all values are finite.
bool Activity::singular(Value v, int i) const {
    const Op& op = kernel_.op(v);
    if (op.code == OpCode::divz) return i == 0 && steep(op.operand[1]);  // of a singular op's rule
    return !divisor_[static_cast<std::size_t>(v)] && ad::singular(kernel_, op, i);
}

// Values that a region passes on: yields (and inits) to results (and arguments).
void Activity::link(Sets sets, const Op& op, bool forward) {
    const ir::Nest& nest = kernel_.nest(op);
    const bool loop = op.code != OpCode::if_;
    const std::size_t first = op.code == OpCode::for_ ? 1 : 0;
    for (std::size_t k = 0; k < nest.results.size(); ++k) {
        std::vector<Value> from, to{nest.results[k]};
        for (const int r : nest.region)
            if (r >= 0) from.push_back(kernel_.region(r).yields[k]);
        if (loop) {
            from.push_back(nest.inits[k]);
            to.push_back(kernel_.region(nest.region[0]).arguments[k + first]);
        }
        if (!forward) std::swap(from, to);
        for (const Value x : from)
            for (const Value v : to) pass(sets, x, v);
    }
}

void Activity::spread_forward() {
    const Sets sets = {&varied_, &steep_};
    do {
        changed_ = false;
        for (std::size_t n = 0; n < kernel_.ops.size(); ++n) {
            const Op& op = kernel_.ops[n];
            const Value v = static_cast<Value>(n);
            switch (op.code) {
                case OpCode::if_:
                case OpCode::for_:
                case OpCode::while_: link(sets, op, true); break;
                case OpCode::load:
                case OpCode::own_load:
                case OpCode::take:
                case OpCode::parameter:
                    if (active_[static_cast<std::size_t>(op.symbol)]) mark(varied_, v);
                    break;
                case OpCode::local_put:  // whose derivative is refused
                case OpCode::local_accumulate: pass(sets, op.operand[2], op.operand[0]); break;
                case OpCode::local_load: pass(sets, op.operand[0], v); break;
                default:
                    for (int i = 0; i < 3; ++i) {
                        if (!differentiable(kernel_, op, i) || !varied(op.operand[i])) continue;
                        pass(sets, op.operand[i], v);
                        if (singular(v, i)) mark(steep_, v);
                    }
            }
        }
    } while (changed_);
}

// True if ops of `region` may be skipped although those of `from`, which contains it, run.
bool Activity::may_be_skipped(int region, int from) const {
    while (region != from) {
        const Value owner = kernel_.region(region).owner;
        if (owner < 0) return false;  // still being recorded: no value outside it varies
        const Op& op = kernel_.op(owner);
        const bool certain =
            op.code == OpCode::for_ && kernel_.op(op.operand[0]).code == OpCode::constant;
        if (!certain) return true;
        region = op.region;
    }
    return false;
}

// Values used inside regions that may be skipped: their adjoint is zero where that happens.
void Activity::gate_uses() {
    const auto used_in = [&](int region, Value v) {
        if (v >= 0 && ir::is_real(kernel_.op(v).type) &&
            may_be_skipped(region, kernel_.op(v).region))
            mark(gated_, v);
    };
    for (std::size_t r = 1; r < kernel_.regions.size(); ++r) {
        for (const Value v : kernel_.regions[r].ops) {
            for (const Value operand : kernel_.op(v).operand) used_in(static_cast<int>(r), operand);
            if (kernel_.op(v).nest >= 0)
                for (const Value init : kernel_.nest(kernel_.op(v)).inits)
                    used_in(static_cast<int>(r), init);
        }
        for (const Value y : kernel_.regions[r].yields) used_in(static_cast<int>(r), y);
    }
}

void Activity::spread_backward() {
    gate_uses();
    const Sets sets = {&useful_, &gated_};
    do {
        changed_ = false;
        for (std::size_t n = kernel_.ops.size(); n-- > 0;) {
            const Op& op = kernel_.ops[n];
            const Value v = static_cast<Value>(n);
            switch (op.code) {
                case OpCode::if_:
                case OpCode::for_:
                case OpCode::while_: link(sets, op, false); break;
                case OpCode::accumulate:
                case OpCode::own_store:
                case OpCode::store_once:
                    if (active_[static_cast<std::size_t>(op.symbol)]) mark(useful_, op.operand[1]);
                    break;
                case OpCode::reduce:
                    if (active_[static_cast<std::size_t>(op.symbol)]) mark(useful_, op.operand[0]);
                    break;
                case OpCode::local_load: pass(sets, v, op.operand[0]); break;
                case OpCode::local_put:  // whose derivative is refused
                case OpCode::local_accumulate: pass(sets, op.operand[0], op.operand[2]); break;
                default: {
                    const bool gate = op.code == OpCode::select || op.code == OpCode::min ||
                                      op.code == OpCode::max;
                    for (int i = 0; i < 3; ++i) {
                        if (!useful(v) || !differentiable(kernel_, op, i)) continue;
                        pass(sets, v, op.operand[i]);
                        if (gate || singular(v, i)) mark(gated_, op.operand[i]);
                    }
                }
            }
        }
    } while (changed_);
}

}  // namespace hindcast::ad
