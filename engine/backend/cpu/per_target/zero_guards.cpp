#include "engine/backend/cpu/per_target/zero_guards.hpp"

#include <algorithm>

namespace hindcast::backend::cpu {

using ir::Kernel;
using ir::Op;
using ir::OpCode;
using ir::Value;

namespace {

// What becomes of an operand that is known but for the sign of a zero.
enum class Effect : std::uint8_t { none, sign, unknown };

Effect effect_of(const Op& op, int operand) {
    switch (op.code) {
        case OpCode::add:
        case OpCode::sub:
        case OpCode::mul:
        case OpCode::fma:
        case OpCode::neg:
        case OpCode::sqrt:
        case OpCode::abs: return Effect::sign;
        case OpCode::div: return operand == 0 ? Effect::sign : Effect::unknown;
        case OpCode::select: return operand > 0 ? Effect::sign : Effect::unknown;
        case OpCode::convert: return ir::is_real(op.type) ? Effect::sign : Effect::none;
        case OpCode::lt:
        case OpCode::le:
        case OpCode::eq: return Effect::none;
        case OpCode::accumulate:
        case OpCode::reduce: return Effect::sign;
        default: return Effect::unknown;
    }
}

class Guards {
public:
    Guards(const Kernel& kernel, const std::vector<Value>& sums, const std::vector<Value>& used)
        : kernel_(kernel),
          sums_(sums),
          live_(kernel.ops.size(), 0),
          left_out_(kernel.ops.size(), 0) {
        for (const Value v : used) live_[v] = 1;
        const std::vector<Value>& ops = kernel.region(0).ops;
        for (auto v = ops.rbegin(); v != ops.rend(); ++v)
            if (live_[*v] != 0) each_operand(*v, [&](int, Value operand) { live_[operand] = 1; });
        for (const Value v : ops)
            left_out_[v] = live_[v] != 0 && is_guard(v) && may_change_sign(v) ? 1 : 0;
        while (keep_silent_ones()) {
        }
    }

    bool left_out(Value v) const { return left_out_[v] != 0; }
    Value product(Value guard) const { return kernel_.op(guard).operand[1]; }

private:
    template <class F>
    void each_operand(Value v, const F& f) const {
        const Op& op = kernel_.op(v);
        for (int k = 0; k < ir::info(op.code).operands; ++k)
            if (op.operand[k] >= 0) f(k, op.operand[k]);
    }

    // A product or quotient, and 0 where a factor or the numerator is 0.
    bool is_guard(Value v) const {
        const Op& op = kernel_.op(v);
        if (op.code != OpCode::select || !ir::is_real(op.type)) return false;
        const Op &product = kernel_.op(op.operand[1]), &zero = kernel_.op(op.operand[2]);
        return (product.code == OpCode::mul || product.code == OpCode::div) &&
               zero.code == OpCode::constant && ir::real_of(zero.bits, zero.type) == 0 &&
               gates(op.operand[0], product);
    }
    // A condition that only such a 0 makes false.
    bool gates(Value condition, const Op& product) const {
        const Op& op = kernel_.op(condition);
        if (op.code == OpCode::bit_and)
            return gates(op.operand[0], product) && gates(op.operand[1], product);
        if (op.code != OpCode::convert || op.type != ir::Type::boolean) return false;
        const Value gate = op.operand[0];
        return gate == product.operand[0] ||
               (product.code == OpCode::mul && gate == product.operand[1]);
    }

    bool may_change_sign(Value guard) const {
        std::vector<char> changed(kernel_.ops.size(), 0);
        changed[guard] = 1;
        bool may = true;
        for (const Value v : kernel_.region(0).ops) {
            if (live_[v] == 0) continue;
            each_operand(v, [&](int k, Value operand) {
                if (changed[operand] == 0) return;
                const Effect effect = effect_of(kernel_.op(v), k);
                may &= effect != Effect::unknown;
                if (effect == Effect::sign) changed[v] = 1;
            });
        }
        return may;
    }

    // Keeps those whose product may be NaN without a sum that is; whether there was one.
    bool keep_silent_ones() {
        std::vector<char> shows(kernel_.ops.size(), 0);  // a NaN there is one in a sum
        for (const Value site : sums_) shows[kernel_.op(site).operand[1]] = 1;
        bool kept = false;
        const std::vector<Value>& ops = kernel_.region(0).ops;
        for (auto v = ops.rbegin(); v != ops.rend(); ++v) {
            if (left_out_[*v] != 0 && shows[*v] == 0) {
                left_out_[*v] = 0;
                kept = true;
            }
            if (shows[*v] == 0) continue;
            if (left_out_[*v] != 0) shows[product(*v)] = 1;
            if (passes_nan(kernel_.op(*v)))
                each_operand(*v, [&](int, Value operand) { shows[operand] = 1; });
        }
        return kept;
    }
    bool passes_nan(const Op& op) const {
        switch (op.code) {
            case OpCode::add:
            case OpCode::sub:
            case OpCode::mul:
            case OpCode::fma:
            case OpCode::div:
            case OpCode::neg:
            case OpCode::sqrt: return ir::is_real(op.type);
            case OpCode::convert:
                return ir::is_real(op.type) && ir::is_real(kernel_.op(op.operand[0]).type);
            default: return false;
        }
    }

    const Kernel& kernel_;
    const std::vector<Value>& sums_;
    std::vector<char> live_;      // per value: something used depends on it
    std::vector<char> left_out_;  // per value: a guard that is not needed
};

}  // namespace

Unguarded without_guards(const Kernel& kernel, const std::vector<Value>& sums,
                         const std::vector<Value>& used) {
    Unguarded result{kernel};
    if (kernel.regions.size() > 1) return result;
    const Guards guards(kernel, sums, used);
    for (Op& op : result.kernel.ops)
        for (int k = 0; k < ir::info(op.code).operands; ++k) {
            Value& operand = op.operand[k];
            if (operand < 0 || !guards.left_out(operand)) continue;
            operand = guards.product(operand);
            result.changed = true;
        }
    return result;
}

}  // namespace hindcast::backend::cpu
