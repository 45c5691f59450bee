#include "engine/backend/cpu/per_target/symmetry.hpp"

#include <algorithm>
#include <cstdint>

namespace hindcast::backend::cpu {

using ir::Access;
using ir::Kernel;
using ir::Op;
using ir::OpClass;
using ir::OpCode;
using ir::Value;

namespace {

// The change of a value when the ends are exchanged.
struct Change {
    enum Kind : std::uint8_t {
        unknown,
        itself,  // the value or its negative
        other    // an element at one end becomes that of the other end
    } kind = unknown;
    // itself: which of the two it may be (both: it is 0), up to the sign of a zero; exact: equal
    // bits.
    bool even = false, odd = false, exact = false;
    // other: of which end, which element, and how often negated.
    int row = 0, symbol = 0, component = 0;
    bool negative = false;
};

Change same_bits() { return {.kind = Change::itself, .even = true, .exact = true}; }

class ExchangedEnds {
public:
    explicit ExchangedEnds(const Plan& plan, const std::vector<Row>& rows)
        : kernel_(plan.kernel), rows_(rows), changes_(plan.kernel.ops.size()) {
        for (std::size_t v = 0; v < kernel_.ops.size(); ++v) {
            const OpCode code = kernel_.ops[v].code;
            if (code == OpCode::constant)
                changes_[v] = constant(kernel_.ops[v]);
            else if (ir::info(code).op_class == OpClass::leaf)
                changes_[v] = same_bits();
        }
        for (const Value v : kernel_.region(0).ops) {
            const Op& op = kernel_.op(v);
            has_nests_ |= op.nest >= 0;
            if (v != rows_[0].index && v != rows_[1].index) changes_[v] = change(op);
        }
    }

    bool has_nests() const { return has_nests_; }

    // True if exchanging the ends turns x, added at the first end, into y, added at the second.
    bool exchanges(Value x, Value y) const {
        if (exchanged(changes_[x], changes_[y], true)) return true;
        const auto [of_x, x_negative] = root(x);
        const auto [of_y, y_negative] = root(y);
        return of_x == of_y && (x_negative == y_negative ? changes_[x].even : changes_[x].odd);
    }

private:
    static Change constant(const Op& op) {
        Change c = same_bits();
        c.odd = ir::is_real(op.type) && ir::real_of(op.bits, op.type) == 0;
        return c;
    }
    static bool exchanged(const Change& a, const Change& b, bool same_sign) {
        return a.kind == Change::other && b.kind == Change::other && a.row != b.row &&
               a.symbol == b.symbol && a.component == b.component &&
               (a.negative == b.negative) == same_sign;
    }
    // Without the negations around it, and whether they are odd in number.
    std::pair<Value, bool> root(Value v) const {
        bool negative = false;
        for (; kernel_.op(v).code == OpCode::neg; v = kernel_.op(v).operand[0])
            negative = !negative;
        return {v, negative};
    }

    Change load(const Op& op) const {
        if (kernel_.parameter(op.symbol).access != Access::read) return {};
        for (int r = 0; r < 2; ++r)
            if (op.operand[0] == rows_[r].index) {
                if (!ir::is_real(op.type)) return {};
                return {.kind = Change::other,
                        .row = r,
                        .symbol = op.symbol,
                        .component = op.component};
            }
        return changes_[op.operand[0]].exact ? same_bits() : Change{};
    }

    // a + b or, with `minus`, a - b.
    static Change sum(const Change& a, const Change& b, bool minus) {
        if (exchanged(a, b, true)) return reals(!minus, minus, !minus);
        if (exchanged(a, b, false)) return reals(minus, !minus, false);
        return reals(a.even && b.even, a.odd && b.odd, a.exact && b.exact);
    }
    static Change product(const Change& a, const Change& b, bool square) {
        return reals((a.even && b.even) || (a.odd && b.odd), (a.even && b.odd) || (a.odd && b.even),
                     square || (a.exact && b.exact));
    }
    static Change reals(bool even, bool odd, bool exact) {
        if (!even && !odd) return {};
        return {.kind = Change::itself, .even = even, .odd = odd, .exact = exact && even};
    }

    Change change(const Op& op) const {
        if (op.code == OpCode::load || op.code == OpCode::own_load) return load(op);
        if (!ir::is_pure(op.code)) return {};
        Change in[3];
        const int n = ir::info(op.code).operands;
        bool exact = true;
        for (int k = 0; k < n; ++k) {
            in[k] = changes_[op.operand[k]];
            exact &= in[k].exact;
        }
        if (exact) {
            Change c = same_bits();
            c.odd = op.code == OpCode::neg && in[0].odd;  // of a zero
            return c;
        }
        const bool real = ir::is_real(op.type);
        switch (op.code) {
            case OpCode::neg: {
                Change c = in[0];
                c.negative = !c.negative;
                return real ? c : Change{};
            }
            case OpCode::add: return real ? sum(in[0], in[1], false) : Change{};
            case OpCode::sub: return real ? sum(in[0], in[1], true) : Change{};
            case OpCode::mul:
                return real ? product(in[0], in[1], op.operand[0] == op.operand[1]) : Change{};
            case OpCode::fma: {
                const Change p = product(in[0], in[1], op.operand[0] == op.operand[1]);
                return reals(p.even && in[2].even, p.odd && in[2].odd, p.exact && in[2].exact);
            }
            case OpCode::div:  // over a zero, its sign counts
                return real && in[1].exact ? reals(in[0].even, in[0].odd, in[0].exact) : Change{};
            case OpCode::sqrt: return reals(in[0].even, false, in[0].exact);
            case OpCode::abs: return reals(in[0].even || in[0].odd, false, true);
            case OpCode::lt:
            case OpCode::le: return in[0].even && in[1].even ? same_bits() : Change{};
            case OpCode::eq:
                return (in[0].even && in[1].even) || (in[0].odd && in[1].odd) ? same_bits()
                                                                              : Change{};
            case OpCode::convert:  // to a boolean: whether it is not 0
                if (in[0].kind != Change::itself) return {};
                if (op.type == ir::Type::boolean) return same_bits();
                return real && ir::is_real(kernel_.op(op.operand[0]).type) ? in[0] : Change{};
            case OpCode::select:
                if (!in[0].exact) return {};
                return reals(in[1].even && in[2].even, in[1].odd && in[2].odd,
                             in[1].exact && in[2].exact);
            default: return {};
        }
    }

    const Kernel& kernel_;
    const std::vector<Row>& rows_;
    std::vector<Change> changes_;  // by value
    bool has_nests_ = false;
};

}  // namespace

bool is_symmetric(const Plan& plan, const std::vector<int>& symbols) {
    const std::vector<Row>& rows = plan.rows[symbols.front()];
    if (rows.size() != 2 || rows[0].index == rows[1].index) return false;
    const ExchangedEnds ends(plan, rows);
    if (ends.has_nests()) return false;
    for (const int symbol : symbols)
        for (std::size_t c = 0; c < plan.rows[symbol][0].sites.size(); ++c) {
            const Value x = plan.rows[symbol][0].sites[c], y = plan.rows[symbol][1].sites[c];
            if (x < 0 && y < 0) continue;
            if (x < 0 || y < 0 ||
                !ends.exchanges(plan.kernel.op(x).operand[1], plan.kernel.op(y).operand[1]))
                return false;
        }
    return true;
}

}  // namespace hindcast::backend::cpu
