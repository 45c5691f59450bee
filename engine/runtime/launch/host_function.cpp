#include "engine/runtime/launch/host_function.hpp"

#include <algorithm>

namespace hindcast {

using ir::Access;
using ir::Kernel;
using ir::Parameter;

namespace {

bool is_output(const Parameter& p) {
    return p.access == Access::write || p.access == Access::read_write;
}

// The parameters that ad::tangent and ad::adjoint add for a parameter, with the same names.
Parameter tangent_of(Parameter p, const char* suffix) {
    p.name += suffix;
    return p;
}
Parameter adjoint_of(Parameter p) {
    p.name += ".a1";
    p.holds_result = false;
    p.access = is_output(p)                ? Access::read_write
               : p.access == Access::value ? Access::reduce
                                           : Access::accumulate;
    return p;
}
// As an adjoint reads it.
Parameter primal_of(Parameter p) {
    if (!is_output(p)) return p;
    p.access = Access::read;
    p.holds_result = true;
    return p;
}

}  // namespace

Kernel signature_of(const std::string& name, const std::vector<Parameter>& parameters,
                    ir::Precision precision, Direction direction,
                    const std::vector<std::string>& active) {
    Kernel k;
    k.name = name;
    k.precision = precision;
    k.is_host_function = true;
    k.regions.resize(1);
    const bool back = goes_back(direction);
    std::vector<Parameter> varying;
    for (const Parameter& p : parameters) {
        k.parameters.push_back(back ? primal_of(p) : p);
        const bool named = std::ranges::find(active, p.name) != active.end();
        if (ir::is_real(p.type) && (active.empty() || named || is_output(p))) varying.push_back(p);
    }
    const auto add = [&](const auto& make) {
        for (const Parameter& p : varying) k.parameters.push_back(make(p));
    };
    switch (direction) {
        case Direction::forward: break;
        case Direction::tangent:
            add([](const Parameter& p) { return tangent_of(p, ".t1"); });
            break;
        case Direction::tangent_tangent:
            add([](const Parameter& p) { return tangent_of(p, ".t1"); });
            add([](const Parameter& p) { return tangent_of(p, ".t2"); });
            add([](const Parameter& p) { return tangent_of(p, ".t1.t2"); });
            break;
        case Direction::adjoint: add(adjoint_of); break;
        case Direction::adjoint_tangent:
            add(adjoint_of);
            add([](const Parameter& p) { return tangent_of(primal_of(p), ".t1"); });
            add([](const Parameter& p) { return tangent_of(adjoint_of(p), ".t1"); });
            break;
    }
    k.adjoint_order = back ? 1 : 0;
    k.tangent_order = direction == Direction::tangent_tangent ? 2
                      : direction == Direction::tangent || direction == Direction::adjoint_tangent
                          ? 1
                          : 0;
    return k;
}

}  // namespace hindcast
