// Builder: leaves, pure ops, effects and places. Folding is in fold.cpp, variables and regions in
// regions.cpp.
#include "engine/ir/builder.hpp"

#include <atomic>

#include "engine/ir/evaluate.hpp"

namespace hindcast::ir {

namespace {
std::atomic<std::uint32_t> next_builder_serial{1};
}

Builder::Builder(std::string name, Precision precision) : serial_(next_builder_serial++) {
    kernel_.name = std::move(name);
    kernel_.precision = precision;
    kernel_.regions.emplace_back();
    layers_.emplace_back();
}

int Builder::add_parameter(Parameter parameter) {
    if (kernel_.find_parameter(parameter.name) >= 0)
        throw error("two parameters are called '" + parameter.name + "'")
            .remedy("give each its own name");
    kernel_.parameters.push_back(std::move(parameter));
    return static_cast<int>(kernel_.parameters.size()) - 1;
}

void Builder::copy_signature(const Kernel& of) {
    kernel_.parameters = of.parameters;
    set_orders(of.adjoint_order, of.tangent_order);
}

int Builder::intern_place(const SourcePlace& place) {
    if (!place.known()) return -1;
    const auto [entry, fresh] =
        place_index_.try_emplace(to_string(place), static_cast<int>(kernel_.places.size()));
    if (fresh) kernel_.places.push_back(place);
    return entry->second;
}

void Builder::set_place(const std::source_location& location) {
    place_ = intern_place(SourcePlace::from(location));
}

void Builder::name_value(Value value, const std::string& name) {
    if (is_constant(value)) return;  // one constant stands for all its uses
    kernel_.names.push_back(name);
    kernel_.op(value).name = static_cast<int>(kernel_.names.size()) - 1;
}

Error Builder::error(std::string happened) const {
    Error e(std::move(happened));
    e.in_kernel(kernel_.name);
    if (place_ >= 0) e.at(kernel_.places[static_cast<std::size_t>(place_)]);
    return e;
}

Value Builder::append(Op op, bool listed) {
    op.region = layers_.back().region;
    op.place = place_;
    kernel_.ops.push_back(op);
    const Value value = static_cast<Value>(kernel_.ops.size()) - 1;
    if (listed) kernel_.region(op.region).ops.push_back(value);
    return value;
}

Value Builder::leaf(Op op) {
    kernel_.ops.push_back(op);
    return static_cast<Value>(kernel_.ops.size()) - 1;
}

Value Builder::constant(Type type, std::uint64_t bits) {
    const auto [entry, fresh] = constants_.try_emplace({type, bits}, no_value);
    if (fresh) entry->second = leaf({.code = OpCode::constant, .type = type, .bits = bits});
    return entry->second;
}

Value Builder::integer(std::int64_t number, Type type) {
    const std::uint64_t bits = static_cast<std::uint64_t>(number);
    return constant(type, size_of(type) == 4 ? bits & 0xffffffffu : bits);
}

Value Builder::item() {
    if (item_ == no_value) item_ = leaf({.code = OpCode::item, .type = Type::i32});
    return item_;
}

Value Builder::parameter(int symbol, int component) {
    const auto [entry, fresh] = parameters_.try_emplace({symbol, component}, no_value);
    if (fresh)
        entry->second = leaf({.code = OpCode::parameter,
                              .type = kernel_.parameter(symbol).type,
                              .symbol = symbol,
                              .component = component});
    return entry->second;
}

bool Builder::is_real_constant(Value value, double number) const {
    return is_constant(value) && is_real(type_of(value)) &&
           op(value).bits == bits_of(number, type_of(value));
}

bool Builder::is_integer_constant(Value value, std::int64_t number) const {
    return is_constant(value) && !is_real(type_of(value)) &&
           integer_of(op(value).bits, type_of(value)) == number;
}

std::size_t Builder::KeyHash::operator()(const Key& key) const {
    std::uint64_t h =
        static_cast<std::uint64_t>(key.code) * 64 + static_cast<std::uint64_t>(key.type);
    for (const std::int32_t n : key.n)
        h = (h ^ static_cast<std::uint32_t>(n)) * 0x9E3779B97F4A7C15ull, h ^= h >> 29;
    return h;
}

Value Builder::emit(OpCode code, Type type, Value a, Value b, Value c) {
    check_types(code, type, a, b, c);
    if (const Value fused = contracted(code, type, a, b); fused != no_value) return fused;
    if (const Value folded = fold(code, type, a, b, c); folded != no_value) return folded;
    // Commutative operands in order of definition; never those of min and max (ties, NaN, -0).
    const bool commutes = code == OpCode::add || code == OpCode::mul || code == OpCode::mulz ||
                          code == OpCode::eq || code == OpCode::fma || code == OpCode::bit_and ||
                          code == OpCode::bit_or || code == OpCode::bit_xor;
    if (commutes && b < a) std::swap(a, b);
    const Key key{code, type, {a, b, c, -1, 0}};
    for (std::size_t l = layers_.size(); l-- > 0;)
        if (const auto found = layers_[l].shared.find(key); found != layers_[l].shared.end())
            return found->second;
    const Value value = append({.code = code, .type = type, .operand = {a, b, c}});
    layers_.back().shared.emplace(key, value);
    return value;
}

Value Builder::load(int symbol, int component, Value index) {
    const Key key{OpCode::load, Type::none, {index, symbol, component, -1, 0}};
    for (std::size_t l = layers_.size(); l-- > 0;)
        if (const auto found = layers_[l].shared.find(key); found != layers_[l].shared.end())
            return found->second;
    const Value value = append({.code = OpCode::load,
                                .type = kernel_.parameter(symbol).type,
                                .operand = {index, no_value, no_value},
                                .symbol = symbol,
                                .component = component});
    layers_.back().shared.emplace(key, value);
    return value;
}

Value Builder::variable(Value of) {
    return append(
        {.code = OpCode::variable, .type = type_of(of), .operand = {of, no_value, no_value}});
}

Value Builder::local(Value size, Type type, std::uint64_t capacity) {
    return append({.code = OpCode::local,
                   .type = type,
                   .operand = {size, no_value, no_value},
                   .bits = capacity});
}

Value Builder::local_load(Value array, Value index) {
    return append(
        {.code = OpCode::local_load, .type = type_of(array), .operand = {array, index, no_value}});
}

void Builder::local_accumulate(Value array, Value index, Value value) {
    append({.code = OpCode::local_accumulate,
            .type = type_of(array),
            .operand = {array, index, value}});
}

void Builder::local_put(Value array, Value index, Value value) {
    append({.code = OpCode::local_put, .type = type_of(array), .operand = {array, index, value}});
}

void Builder::raise(const std::string& text, Value number) {
    const Value op = append(
        {.code = OpCode::raise, .type = type_of(number), .operand = {number, no_value, no_value}});
    name_value(op, text);
}

Value Builder::fetch(int symbol, int component, Value index) {
    return append({.code = OpCode::fetch,
                   .type = kernel_.parameter(symbol).type,
                   .operand = {index, no_value, no_value},
                   .symbol = symbol,
                   .component = component});
}

Value Builder::take(int symbol, int component, Value index) {
    return append({.code = OpCode::take,
                   .type = kernel_.parameter(symbol).type,
                   .operand = {index, no_value, no_value},
                   .symbol = symbol,
                   .component = component});
}

void Builder::not_in_condition() const {
    if (condition_depth_ < 0) return;
    throw error("the condition of a while_ assigns a variable or has an effect")
        .remedy("assign in the body; the condition only computes a Bool");
}

void Builder::effect(OpCode code, int symbol, int component, Value a, Value b) {
    not_in_condition();
    append({.code = code,
            .type = kernel_.parameter(symbol).type,
            .operand = {a, b, no_value},
            .symbol = symbol,
            .component = component});
}

void Builder::break_unless(Value condition) {
    append({.code = OpCode::break_unless, .operand = {condition, no_value, no_value}});
}

}  // namespace hindcast::ir
