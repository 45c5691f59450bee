#include "engine/backend/plan/fixed_point.hpp"

#include <bit>
#include <cmath>

#include "engine/backend/plan/static_values.hpp"

namespace hindcast::backend {

using ir::Kernel;
using ir::Op;
using ir::OpCode;
using ir::Value;

namespace {

__extension__ typedef __int128 Wide;

struct Sites {
    bool own = false, own_in_loop = false, gathered = false, other = false, in_loop = false;
    std::vector<int> per_component;
};

void find_sites(const Kernel& kernel, int region, bool in_loop, std::vector<Sites>& all) {
    for (const Value v : kernel.region(region).ops) {
        const Op& op = kernel.op(v);
        if (op.nest >= 0)
            for (const int inner : kernel.nest(op).region)
                if (inner >= 0) find_sites(kernel, inner, in_loop || op.code != OpCode::if_, all);
        if (op.code != OpCode::accumulate || !ir::is_real(op.type)) continue;
        Sites& s = all[static_cast<std::size_t>(op.symbol)];
        s.per_component.resize(static_cast<std::size_t>(kernel.parameter(op.symbol).components));
        ++s.per_component[static_cast<std::size_t>(op.component)];
        s.in_loop |= in_loop;
        if (kernel.op(op.operand[0]).code == OpCode::item)
            (in_loop ? s.own_in_loop : s.own) = true;
        else if (!in_loop && is_static_value(kernel, op.operand[0]))
            s.gathered = true;
        else
            s.other = true;
    }
}

}  // namespace

std::vector<FixedPoint> fixed_point_parameters(const Kernel& kernel) {
    std::vector<Sites> sites(kernel.parameters.size());
    find_sites(kernel, 0, false, sites);
    std::vector<FixedPoint> list;
    for (const Sites& s : sites) {
        FixedPoint f;
        f.used = s.other || (s.gathered && s.own_in_loop);
        f.counted = f.used && s.in_loop;
        for (const int count : s.per_component) f.sites = std::max(f.sites, count);
        list.push_back(f);
    }
    return list;
}

FixedScale fixed_scale(double largest, std::int64_t terms) {
    const int count_bits =
        terms <= 1 ? 0 : static_cast<int>(std::bit_width(static_cast<std::uint64_t>(terms - 1)));
    const int bits = 62 - count_bits;
    int exponent = 0;  // largest < 2^exponent
    if (largest > 0) exponent = std::ilogb(largest) + 1;
    const int rounded_up = (exponent + 4096 + 3) / 4 * 4 - 4096;
    return {bits - rounded_up, bits};
}

FixedTerm fixed_term(double term, const FixedScale& scale, ir::Type type) {
    const double scaled = std::ldexp(term, scale.high_bits), whole = std::trunc(scaled);
    FixedTerm t{static_cast<std::int64_t>(whole), 0};
    if (type == ir::Type::f64)  // the rest is exact
        t.low = static_cast<std::int64_t>(std::trunc(std::ldexp(scaled - whole, scale.low_bits)));
    return t;
}

unsigned non_finite_kind(double term) {
    if (std::isnan(term)) return not_a_number;
    if (std::isinf(term)) return term > 0 ? positive_infinity : negative_infinity;
    return 0;
}

double non_finite_sum(unsigned kinds) {
    if (kinds == positive_infinity) return INFINITY;
    if (kinds == negative_infinity) return -INFINITY;
    return NAN;
}

double fixed_value(std::int64_t high, std::int64_t low, const FixedScale& scale, ir::Type type) {
    if (type == ir::Type::f32)
        return static_cast<float>(std::ldexp(static_cast<double>(high), -scale.high_bits));
    const Wide total = (static_cast<Wide>(high) << scale.low_bits) + low;
    return std::ldexp(static_cast<double>(total), -scale.high_bits - scale.low_bits);
}

}  // namespace hindcast::backend
