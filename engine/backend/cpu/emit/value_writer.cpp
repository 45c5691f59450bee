#include "engine/backend/cpu/emit/value_writer.hpp"

#include <cstddef>

#include "engine/backend/binding.hpp"
#include "engine/ir/evaluate.hpp"

namespace hindcast::backend::cpu {

namespace {
constexpr double masked_work = 64;  // ops per item: where masks cost a good part of the time
}

ValueWriter::ValueWriter(const Plan& plan, const Embedding* embedding)
    : LaneWriter(plan.width),
      plan_(plan),
      embedding_(embedding),
      kernel_(plan.kernel),
      splits_(embedding == nullptr && plan.width > 1 && plan.work <= masked_work &&
              plan.fixed_symbols.empty()),
      names_(plan.kernel.ops.size()),
      bases_(plan.kernel.ops.size()) {}

std::string ValueWriter::type_as(Type type, bool as_scalar) const {
    return as_scalar ? scalar_type(type) : vector_type(type);
}

std::string ValueWriter::scalar(Value v) {
    const Op& op = kernel_.op(v);
    if (op.code == OpCode::constant) return constant(op.type, op.bits);
    if (op.code == OpCode::item) return bases_[v];
    if (op.code != OpCode::parameter) return names_[v];
    const std::string in_memory = ir::is_real(op.type) ? "double" : scalar_type(op.type);
    const std::string data = binding_field(op.symbol, offsetof(Binding, data));
    const std::string at = pointer(in_memory, data, std::to_string(op.component));
    const std::string x = embedding_ != nullptr ? pure("load {}, ptr {}", in_memory, at)
                                                : invariant_load(in_memory, at);
    return cast("fptrunc", in_memory, x, scalar_type(op.type));
}

std::string ValueWriter::vector(Value v) {
    if (width_ == 1) return scalar(v);
    if (!bases_[v].empty())
        return pure("add {} {}, {}", lanes_of("i32"), splat("i32", bases_[v]),
                    list_of("i32", up_to(width_)));
    return is_scalar(v) ? splat(scalar_type(kernel_.op(v).type), scalar(v)) : names_[v];
}

std::string ValueWriter::wide_index(Value index) {
    const Type type = kernel_.op(index).type;
    return cast(ir::is_signed(type) ? "sext" : "zext", vector_type(type), vector(index),
                lanes_of("i64"));
}

ValueWriter::SplitIndex ValueWriter::split_index(Value index) {
    SplitIndex split;
    split.base = index;
    split.offset = "0";
    const std::string t = scalar_type(kernel_.op(index).type);
    const auto varies = [&](Value v) { return plan_.varies[v] != 0; };
    while (varies(split.base)) {
        const Op& op = kernel_.op(split.base);
        const Value a = op.operand[0], b = op.operand[1];
        const bool adds = op.code == OpCode::add;
        if (!adds && op.code != OpCode::sub) break;
        if (varies(a) == varies(b) || (!adds && varies(b))) break;
        const Value uniform = varies(a) ? b : a;
        split.offset = pure("{} {} {}, {}", adds ? "add" : "sub", t, split.offset, scalar(uniform));
        const Op& number = kernel_.op(uniform);
        split.known &= number.code == OpCode::constant;
        if (split.known) split.number += (adds ? 1 : -1) * ir::integer_of(number.bits, number.type);
        split.base = varies(a) ? a : b;
    }
    return split;
}

void ValueWriter::blend(const Variable& v, const std::string& x) {
    // Lanes beyond the last item are never stored: what they hold is of no account.
    store(v, mask_ == item_mask_ ? x : choose(mask_, v.type, x, load(v)));
}

void ValueWriter::fault(const std::string& mask, Value op, const std::string& index) {
    uses_fault_ = true;
    const auto report = [&] {
        std::string lane = "0", which = index.empty() ? "0" : index;
        if (width_ > 1) {
            const std::string word = cast("zext", flags_type(), flags(mask), "i64");
            lane = let("{}", call("i64", "cttz.i64", {{"i64", word}, {"i1", "true"}}));
            if (!index.empty())
                which = let("extractelement {} {}, i64 {}", lanes_of("i64"), index, lane);
        }
        const std::string item = let("add i64 %titem, {}", lane);
        put("call void @fault(ptr %context, i64 {}, i32 {}, i64 {})", item, op, which);
    };
    when(any(mask), report, true);
}

// The mask of part `part` of `components` consecutive vectors that hold whole elements.
std::string ValueWriter::flat_mask(int components, int part) {
    std::vector<int> positions = up_to(width_);
    for (int& p : positions) p += part * width_;
    const std::string left =
        components == 1 ? lanes_left_ : pure("mul i32 {}, {}", lanes_left_, components);
    return pure("icmp ugt {} {}, {}", lanes_of("i32"), splat("i32", left),
                list_of("i32", positions));
}

std::string ValueWriter::binding_field(int symbol, std::size_t offset) {
    if (embedding_ != nullptr) {
        const Binding& b = embedding_->shape[symbol];
        return offset == offsetof(Binding, data)             ? fmt::format("%d{}", symbol)
               : offset == offsetof(Binding, count)          ? std::to_string(b.count)
               : offset == offsetof(Binding, element_stride) ? std::to_string(b.element_stride)
                                                             : std::to_string(b.component_stride);
    }
    const std::string at = std::to_string(symbol * sizeof(Binding) + offset);
    return invariant_load(offset == offsetof(Binding, data) ? "ptr" : "i64",
                          pointer("i8", "%bindings", at));
}

std::string ValueWriter::component_pointer(int symbol, int component) {
    const std::string data = binding_field(symbol, offsetof(Binding, data));
    std::string offset = std::to_string(component);
    if (component > 0 && layout(symbol) != Layout::elements)
        offset = pure("mul i64 {}, {}", binding_field(symbol, offsetof(Binding, component_stride)),
                      component);
    return pointer(scalar_type(kernel_.parameter(symbol).type), data, offset);
}

}  // namespace hindcast::backend::cpu
