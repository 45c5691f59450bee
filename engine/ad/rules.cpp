// Conventions that are easy to get wrong, fixed here:
//  - min, max, select: the derivative of the branch taken (ties as the op table says); d|x| = 0
//    at 0.
//  - where the seed is zero the result is zero, even at a singular point: divz(0, 0) = 0,
//    mulz(0, inf) = 0. Elsewhere infinities are kept. These are ops, not selects, so their own
//    derivatives are right too (a select would have a zero second derivative there).
//  - where a derivative is infinite and another factor of the chain is zero, the product is zero,
//    whichever the mode meets first. It follows from the rule above: forward mode cannot tell the
//    zero tangent of x*x in sqrt(x*x) from a seed of zero. Activity says which products need mulz
//    for it; elementary.md states it for users, with what it does not cover.
//  - norm at zero: the unit vector x_i/|x| is taken as 0 in both modes: x_i is divided by
//    max(|x|, a number below every length but 0).
#include "engine/ad/rules.hpp"

namespace hindcast::ad {

using ir::Builder;
using ir::Op;
using ir::OpCode;
using ir::Type;
using ir::Value;

bool differentiable(const ir::Kernel& kernel, const Op& op, int i) {
    if (i >= ir::info(op.code).operands || !ir::is_real(op.type) || !ir::is_pure(op.code))
        return false;
    if (!ir::is_real(kernel.op(op.operand[i]).type)) return false;
    switch (op.code) {
        case OpCode::floor:
        case OpCode::ceil:
        case OpCode::trunc:
        case OpCode::round:
        case OpCode::stop_gradient:
        case OpCode::bitcast: return false;
        case OpCode::attach_slope: return i < 2;
        default: return true;
    }
}

bool singular(const ir::Kernel& kernel, const Op& op, int i) {
    const auto constant = [&](Value v) { return kernel.op(v).code == OpCode::constant; };
    const auto number = [&](Value v) { return ir::real_of(kernel.op(v).bits, op.type); };
    switch (op.code) {
        case OpCode::sqrt:
        case OpCode::cbrt:
        case OpCode::asin:
        case OpCode::acos: return true;
        case OpCode::pow: {
            const Value base = op.operand[0], exponent = op.operand[1];
            if (i == 1) return !constant(base) || number(base) == 0;
            return !constant(exponent) || (0 < number(exponent) && number(exponent) < 1);
        }
        default: return false;
    }
}

namespace {

// Shorthand for recording real arithmetic of one type.
struct Record {
    Builder& b;
    Type type;
    Value op(OpCode code, Value x) const { return b.emit(code, type, x); }
    Value op(OpCode code, Value x, Value y) const { return b.emit(code, type, x, y); }
    Value add(Value x, Value y) const { return op(OpCode::add, x, y); }
    Value sub(Value x, Value y) const { return op(OpCode::sub, x, y); }
    Value mul(Value x, Value y) const { return op(OpCode::mul, x, y); }
    Value mulz(Value x, Value y) const { return op(OpCode::mulz, x, y); }
    Value div(Value x, Value y) const { return op(OpCode::div, x, y); }
    Value divz(Value x, Value y) const { return op(OpCode::divz, x, y); }
    Value neg(Value x) const { return op(OpCode::neg, x); }
    Value number(double n) const { return b.real_constant(n, type); }
    Value less(Value x, Value y) const { return b.compare(OpCode::lt, x, y); }
};

}  // namespace

Value contribution(Builder& b, const Op& op, int i, Value g, const std::vector<Value>& a, Value r,
                   bool gated) {
    const Record e{b, op.type};
    const auto product = [&](Value x, Value y) { return gated ? e.mulz(x, y) : e.mul(x, y); };
    const Value zero = e.number(0);
    const std::size_t other = static_cast<std::size_t>(1 - i);
    switch (op.code) {
        case OpCode::variable:
        case OpCode::add: return g;
        case OpCode::attach_slope: return i == 0 ? g : e.mulz(g, a[2]);
        case OpCode::sub: return i == 0 ? g : e.neg(g);
        case OpCode::neg: return e.neg(g);
        case OpCode::mul: return product(g, a[other]);
        case OpCode::mulz: return e.mulz(g, a[other]);
        case OpCode::mulg:  // a closed gate stays closed
            return i == 0 ? e.mulz(g, a[1]) : e.op(OpCode::mulg, a[0], g);
        case OpCode::fma: return i == 2 ? g : product(g, a[other]);
        case OpCode::div:
        case OpCode::divz:  // the second takes the first's quotient
            return i == 0 ? e.divz(g, a[1]) : e.neg(e.mulz(e.divz(g, a[1]), r));
        case OpCode::min: {
            const Value second = e.less(a[1], a[0]);
            return b.select(second, i == 1 ? g : zero, i == 1 ? zero : g);
        }
        case OpCode::max: {
            const Value second = e.less(a[0], a[1]);
            return b.select(second, i == 1 ? g : zero, i == 1 ? zero : g);
        }
        case OpCode::select: return i == 1 ? b.select(a[0], g, zero) : b.select(a[0], zero, g);
        case OpCode::abs:
            return b.select(e.less(a[0], zero), e.neg(g), b.select(e.less(zero, a[0]), g, zero));
        case OpCode::sqrt: return e.divz(g, e.mul(e.number(2), r));
        case OpCode::cbrt: return e.divz(g, e.mul(e.number(3), e.mul(r, r)));
        case OpCode::norm2:
        case OpCode::norm3: {  // a length is 0, or at least the root of the least number
            const double less = op.type == Type::f32 ? 0x1p-80 : 0x1p-540;
            const Value length = e.op(OpCode::max, r, e.number(less));
            return product(g, e.mul(a[static_cast<std::size_t>(i)], e.div(e.number(1), length)));
        }
        case OpCode::convert:  // the one op whose seed has another type in forward mode than in
                               // reverse mode
            return b.emit(OpCode::convert, b.type_of(g) == op.type ? b.type_of(a[0]) : op.type, g);
        case OpCode::sin: return product(g, e.op(OpCode::cos, a[0]));
        case OpCode::cos: return e.neg(product(g, e.op(OpCode::sin, a[0])));
        case OpCode::tan: return product(g, b.emit(OpCode::fma, op.type, r, r, e.number(1)));
        case OpCode::asin:
        case OpCode::acos: {
            const Value q = e.divz(
                g, e.op(OpCode::sqrt, e.mul(e.sub(e.number(1), a[0]), e.add(e.number(1), a[0]))));
            return op.code == OpCode::asin ? q : e.neg(q);
        }
        case OpCode::atan: return e.divz(g, b.emit(OpCode::fma, op.type, a[0], a[0], e.number(1)));
        case OpCode::atan2: {  // d atan2(y, x) = (x dy - y dx) / (x^2 + y^2), each factor over the
                               // radius
            const Value radius = b.emit(OpCode::norm2, op.type, a[0], a[1]);
            const Value q = e.divz(e.mulz(e.divz(g, radius), a[other]), radius);
            return i == 0 ? q : e.neg(q);
        }
        case OpCode::sinh: return product(g, e.op(OpCode::cosh, a[0]));
        case OpCode::cosh: return product(g, e.op(OpCode::sinh, a[0]));
        case OpCode::tanh: return product(g, e.mul(e.sub(e.number(1), r), e.add(e.number(1), r)));
        case OpCode::exp: return product(g, r);
        case OpCode::expm1: return product(g, e.add(r, e.number(1)));
        case OpCode::log: return e.divz(g, a[0]);
        case OpCode::log1p: return e.divz(g, e.add(e.number(1), a[0]));
        case OpCode::pow:
            if (i == 0)
                return e.mulz(e.mulz(g, a[1]), e.op(OpCode::pow, a[0], e.sub(a[1], e.number(1))));
            return e.mulz(e.mulz(g, r), e.op(OpCode::log, a[0]));
        default: break;
    }
    throw Error(std::string("internal: op ") + ir::info(op.code).name + " has no derivative rule");
}

void refuse_put(const ir::Kernel& kernel, ir::Value put) {
    throw Error("an element of a local array is overwritten, which has no derivative")
        .in_kernel(kernel.name)
        .at(kernel.place_of(put))
        .remedy("give the derivatives of the launch as kernels, or add to the elements only");
}

}  // namespace hindcast::ad
