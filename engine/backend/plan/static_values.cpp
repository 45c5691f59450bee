#include "engine/backend/plan/static_values.hpp"

#include <algorithm>
#include <cstring>

#include "engine/backend/binding.hpp"

namespace hindcast::backend {

using ir::Bits;
using ir::Kernel;
using ir::Op;
using ir::OpCode;
using ir::Value;

namespace {

// Visits the ops that a value depends on, each once, operands first.
template <class F>
void each_dependency(const Kernel& kernel, Value v, std::vector<char>& seen, const F& visit) {
    if (v < 0 || seen[v]) return;
    seen[v] = 1;
    for (const Value operand : kernel.op(v).operand) each_dependency(kernel, operand, seen, visit);
    visit(v);
}

Bits parameter_bits(const Op& op, const Binding* bindings) {
    Bits bits = 0;
    const std::size_t size = ir::size_of(op.type);
    const auto* data = static_cast<const char*>(bindings[op.symbol].data);
    std::memcpy(&bits, data + op.component * size, size);
    return bits;
}

}  // namespace

bool is_static_value(const Kernel& kernel, Value value) {
    bool ok = true;
    std::vector<char> seen(kernel.ops.size(), 0);
    each_dependency(kernel, value, seen, [&](Value v) {
        const Op& op = kernel.op(v);
        const bool known = op.code == OpCode::constant || op.code == OpCode::item ||
                           op.code == OpCode::parameter || op.code == OpCode::load;
        ok &= !ir::is_real(op.type) && (known || ir::can_evaluate(op.code));
    });
    return ok;
}

void StaticValues::add(Value value) {
    each_dependency(*kernel_, value, seen_, [&](Value v) {
        order_.push_back(v);
        const Op& op = kernel_->op(v);
        if (op.code == OpCode::load &&
            std::find(buffers_.begin(), buffers_.end(), op.symbol) == buffers_.end())
            buffers_.push_back(op.symbol);
    });
}

bool StaticValues::depends_on(int parameter) const {
    return std::any_of(order_.begin(), order_.end(),
                       [&](Value v) { return kernel_->op(v).symbol == parameter; });
}

void StaticValues::append_key(const Binding* bindings, std::vector<std::uint64_t>& key,
                              std::vector<std::size_t>& passing) const {
    const auto add = [&](auto part) { key.push_back(static_cast<std::uint64_t>(part)); };
    for (const int p : buffers_) {
        const Binding& b = bindings[p];
        if (b.kept) passing.push_back(key.size());
        add(reinterpret_cast<std::uintptr_t>(b.data));
        add(b.count);
        add(b.element_stride);
        add(b.component_stride);
        passing.push_back(key.size());
        add(b.version);
    }
    for (const Value v : order_)
        if (const Op& op = kernel_->op(v); op.code == OpCode::parameter)
            add(parameter_bits(op, bindings));
}

StaticValues::Evaluator::Evaluator(const StaticValues& values, const Binding* bindings)
    : kernel_(*values.kernel_),
      order_(values.order_),
      bindings_(bindings),
      values_(kernel_.ops.size()) {
    for (const Value v : order_) values_[v].resize(block);
}

void StaticValues::Evaluator::run(std::int64_t begin, std::int64_t count) {
    for (const Value v : order_) {
        const Op& op = kernel_.op(v);
        Bits* out = values_[v].data();
        const Bits* in[3];
        for (int k = 0; k < 3; ++k) in[k] = op.operand[k] < 0 ? out : values_[op.operand[k]].data();
        switch (op.code) {
            case OpCode::constant: std::fill_n(out, count, op.bits); break;
            case OpCode::parameter: std::fill_n(out, count, parameter_bits(op, bindings_)); break;
            case OpCode::item:
                for (std::int64_t i = 0; i < count; ++i)
                    out[i] = static_cast<std::uint32_t>(begin + i);
                break;
            case OpCode::load: load(op, out, count); break;
            default:
                for (std::int64_t i = 0; i < count; ++i)
                    out[i] = ir::evaluate_op(op.code, op.type, kernel_.op(op.operand[0]).type,
                                             in[0][i], in[1][i], in[2][i]);
        }
    }
}

void StaticValues::Evaluator::load(const Op& op, Bits* out, std::int64_t count) const {
    const Binding& b = bindings_[op.symbol];
    const auto size = static_cast<std::int64_t>(ir::size_of(op.type));
    for (std::int64_t i = 0; i < count; ++i) {
        const std::int64_t k = integer(op.operand[0], i);
        out[i] = 0;
        if (k < 0 || k >= b.count) continue;
        const std::int64_t at = k * b.element_stride + op.component * b.component_stride;
        std::memcpy(&out[i], static_cast<const char*>(b.data) + at * size, size);
    }
}

}  // namespace hindcast::backend
