// Lowering: the kernel is cloned, and composite ops are recorded as what evaluate.hpp says they
// compute. Elementary functions stand in elementary.cpp. Start at Lowerer::emit.
#include "engine/lang/lowering.hpp"

#include "engine/ir/clone.hpp"
#include "engine/lang/elementary.hpp"
#include "engine/lang/trace.hpp"

namespace hindcast::lang {

namespace {

using ir::OpCode;
using ir::Type;
using ir::Value;

class Lowerer final : public ir::Cloner {
public:
    Lowerer(const ir::Kernel& source, ir::Builder& target, Lowering lowering)
        : Cloner(source, target), all_(lowering == Lowering::all) {}

protected:
    Value emit(const ir::Op& op, Value a, Value b, Value c) override {
        if (ir::info(op.code).op_class == ir::OpClass::elementary)
            return expand_elementary(op.code, a, b);
        if (!all_) return Cloner::emit(op, a, b, c);
        ir::Builder& t = target_;
        const Type type = op.type;
        const bool whole = ir::is_integer(type);
        const auto zero = [&] { return t.zero(type); };
        const auto not_zero = [&](Value v) { return t.emit(OpCode::convert, Type::boolean, v); };
        switch (op.code) {
            case OpCode::min: return t.select(t.compare(OpCode::lt, b, a), b, a);
            case OpCode::max: return t.select(t.compare(OpCode::lt, a, b), b, a);
            case OpCode::mulz:
                return t.select(t.binary(OpCode::bit_and, not_zero(a), not_zero(b)),
                                t.binary(OpCode::mul, a, b), zero());
            case OpCode::mulg: return t.select(not_zero(a), t.binary(OpCode::mul, a, b), zero());
            case OpCode::divz: return t.select(not_zero(a), t.binary(OpCode::div, a, b), zero());
            case OpCode::norm2: return t.emit(OpCode::sqrt, type, squares(a, b));
            case OpCode::norm3:
                return t.emit(OpCode::sqrt, type, t.emit(OpCode::fma, type, c, c, squares(a, b)));
            case OpCode::abs:
                if (!whole) break;
                if (!ir::is_signed(type)) return a;
                return t.select(t.compare(OpCode::lt, a, zero()), t.emit(OpCode::neg, type, a), a);
            case OpCode::div:
                if (whole) return quotient(a, b);
                break;
            case OpCode::rem: return t.binary(OpCode::rem, a, safe_divisor(b));  // by 1: 0
            case OpCode::shift_left:
            case OpCode::shift_right: return shift(op.code, a, b);
            default: break;
        }
        return Cloner::emit(op, a, b, c);
    }

private:
    Value squares(Value a, Value b) {
        return target_.emit(OpCode::fma, target_.type_of(a), b, b,
                            target_.binary(OpCode::mul, a, a));
    }
    Value equals(Value v, std::int64_t number) {
        return target_.compare(OpCode::eq, v, target_.integer(number, target_.type_of(v)));
    }
    // The divisor, or 1 for 0 and -1, at which machines trap.
    Value safe_divisor(Value b) {
        const Type type = target_.type_of(b);
        Value unsafe = equals(b, 0);
        if (ir::is_signed(type)) unsafe = target_.binary(OpCode::bit_or, unsafe, equals(b, -1));
        return target_.select(unsafe, target_.integer(1, type), b);
    }
    Value quotient(Value a, Value b) {
        const Type type = target_.type_of(a);
        const Value q = target_.select(equals(b, 0), target_.zero(type),
                                       target_.binary(OpCode::div, a, safe_divisor(b)));
        return ir::is_signed(type)
                   ? target_.select(equals(b, -1), target_.emit(OpCode::neg, type, a), q)
                   : q;
    }
    Value shift(OpCode code, Value a, Value b) {
        const Type type = target_.type_of(a);
        const Type unsigned_type = ir::size_of(type) == 4 ? Type::u32 : Type::u64;
        const std::int64_t width = static_cast<std::int64_t>(ir::size_of(type)) * 8;
        const Value amount =
            type == unsigned_type ? b : target_.emit(OpCode::bitcast, unsigned_type, b);
        const Value inside =
            target_.compare(OpCode::lt, amount, target_.integer(width, unsigned_type));
        if (code == OpCode::shift_right && ir::is_signed(type))  // all but the sign shifted out
            return target_.binary(code, a,
                                  target_.select(inside, b, target_.integer(width - 1, type)));
        const Value shifted =
            target_.binary(code, a, target_.select(inside, b, target_.zero(type)));
        return target_.select(inside, shifted, target_.zero(type));
    }

    bool all_;
};

}  // namespace

ir::Kernel lower(const ir::Kernel& kernel, Lowering lowering) {
    ir::Builder builder(kernel.name, kernel.precision);
    builder.contract = false;  // the author's expressions were contracted when they were recorded
    builder.copy_signature(kernel);
    const Tracing tracing(builder);
    Lowerer(kernel, builder, lowering).region(0);
    ir::Kernel lowered = ir::simplify(builder.finish(), true);
    ir::verify(lowered, "lowering");
    return lowered;
}

}  // namespace hindcast::lang
