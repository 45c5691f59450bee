#include "engine/ad/activity.hpp"

#include "engine/ad/rules.hpp"

namespace hindcast::ad {

using ir::Op;
using ir::OpCode;
using ir::Value;

Activity::Activity(const ir::Kernel& kernel, const std::vector<char>& active)
    : kernel_(kernel),
      active_(active),
      varied_(kernel.ops.size()),
      useful_(kernel.ops.size()),
      gated_(kernel.ops.size()),
      steep_(kernel.ops.size()),
      divisor_(kernel.ops.size()) {
    find_divisors();
    spread_forward();
    spread_backward();
}

Activity::Activity(const ir::Kernel& kernel, const std::set<Value>& inputs, Value output)
    : kernel_(kernel),
      active_(kernel.parameters.size(), 0),
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
void Activity::link(std::vector<char>& set, const Op& op, bool forward) {
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
        bool any = false;
        for (const Value v : from) any |= set[static_cast<std::size_t>(v)] != 0;
        if (any)
            for (const Value v : to) mark(set, v);
    }
}

void Activity::spread_forward() {
    const auto is = [&](const std::vector<char>& set, Value v) {
        return set[static_cast<std::size_t>(v)] != 0;
    };
    do {
        changed_ = false;
        for (std::size_t n = 0; n < kernel_.ops.size(); ++n) {
            const Op& op = kernel_.ops[n];
            const Value v = static_cast<Value>(n);
            switch (op.code) {
                case OpCode::if_:
                case OpCode::for_:
                case OpCode::while_:
                    link(varied_, op, true);
                    link(steep_, op, true);
                    break;
                case OpCode::load:
                case OpCode::own_load:
                case OpCode::take:
                case OpCode::parameter:
                    if (active_[static_cast<std::size_t>(op.symbol)]) mark(varied_, v);
                    break;
                case OpCode::local_put:  // whose derivative is refused
                case OpCode::local_accumulate:
                    if (is(varied_, op.operand[2])) mark(varied_, op.operand[0]);
                    if (is(steep_, op.operand[2])) mark(steep_, op.operand[0]);
                    break;
                case OpCode::local_load:
                    if (is(varied_, op.operand[0])) mark(varied_, v);
                    if (is(steep_, op.operand[0])) mark(steep_, v);
                    break;
                default:
                    for (int i = 0; i < 3; ++i) {
                        if (!differentiable(kernel_, op, i) || !is(varied_, op.operand[i]))
                            continue;
                        mark(varied_, v);
                        if (is(steep_, op.operand[i]) || singular(v, i)) mark(steep_, v);
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
    const auto is = [&](const std::vector<char>& set, Value v) {
        return set[static_cast<std::size_t>(v)] != 0;
    };
    do {
        changed_ = false;
        for (std::size_t n = kernel_.ops.size(); n-- > 0;) {
            const Op& op = kernel_.ops[n];
            const Value v = static_cast<Value>(n);
            switch (op.code) {
                case OpCode::if_:
                case OpCode::for_:
                case OpCode::while_:
                    link(useful_, op, false);
                    link(gated_, op, false);
                    break;
                case OpCode::accumulate:
                case OpCode::own_store:
                case OpCode::store_once:
                    if (active_[static_cast<std::size_t>(op.symbol)]) mark(useful_, op.operand[1]);
                    break;
                case OpCode::reduce:
                    if (active_[static_cast<std::size_t>(op.symbol)]) mark(useful_, op.operand[0]);
                    break;
                case OpCode::local_load:
                    if (is(useful_, v)) mark(useful_, op.operand[0]);
                    if (is(gated_, v)) mark(gated_, op.operand[0]);
                    break;
                case OpCode::local_put:  // whose derivative is refused
                case OpCode::local_accumulate:
                    if (is(useful_, op.operand[0])) mark(useful_, op.operand[2]);
                    if (is(gated_, op.operand[0])) mark(gated_, op.operand[2]);
                    break;
                default: {
                    const bool gate = op.code == OpCode::select || op.code == OpCode::min ||
                                      op.code == OpCode::max;
                    for (int i = 0; i < 3; ++i) {
                        if (!is(useful_, v) || !differentiable(kernel_, op, i)) continue;
                        mark(useful_, op.operand[i]);
                        if (gate || is(gated_, v) || singular(v, i)) mark(gated_, op.operand[i]);
                    }
                }
            }
        }
    } while (changed_);
}

}  // namespace hindcast::ad
