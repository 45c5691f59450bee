#include "engine/ir/effects.hpp"

namespace hindcast::ir {

namespace {

void note(Effects& e, const Kernel& kernel, const Op& op) {
    const bool own = op.operand[0] != no_value && kernel.op(op.operand[0]).code == OpCode::item;
    switch (op.code) {
        case OpCode::parameter: e.reads_own = true; break;
        case OpCode::load:
        case OpCode::own_load:
        case OpCode::fetch: (own ? e.reads_own : e.reads_other) = true; break;
        case OpCode::own_store:
        case OpCode::store_once:
        case OpCode::put: (own ? e.writes_own : e.writes_other) = true; break;
        case OpCode::take:
            (own ? e.reads_own : e.reads_other) = true;
            (own ? e.writes_own : e.writes_other) = true;
            break;
        case OpCode::accumulate: (own ? e.adds_own : e.adds_other) = true; break;
        case OpCode::atomic_add:
        case OpCode::atomic_min:
        case OpCode::atomic_max: e.counts = true; break;
        case OpCode::reduce: e.reduces = true; break;
        default: break;
    }
}

// Own stores stand at top level, one for each component that is stored.
bool leaves_zero(const Kernel& kernel, int parameter, const Effects& e) {
    if (!e.writes_own || e.writes_other || e.adds()) return false;
    int stored = 0;
    for (const Value v : kernel.region(0).ops) {
        const Op& op = kernel.op(v);
        if (op.code != OpCode::own_store || op.symbol != parameter) continue;
        const Op& value = kernel.op(op.operand[1]);
        if (value.code != OpCode::constant || value.bits != 0) return false;
        ++stored;
    }
    return stored == kernel.parameter(parameter).components;
}

void judge(Effects& e, const Kernel& kernel, int p) {
    const Parameter& parameter = kernel.parameter(p);
    if (e.clears) {
        e.defines_all = true;
        return;
    }
    // Stores of own elements stand at top level: each is made by every item (kernel.hpp).
    std::vector<char> stored(static_cast<std::size_t>(parameter.components), 0);
    const auto because = [&](const std::string& why, Value v = no_value) {
        if (!e.not_defined.empty()) return;
        e.not_defined = why;
        if (v != no_value) e.place = kernel.place_of(v);
    };
    for (const Region& region : kernel.regions)
        for (const Value v : region.ops) {
            const Op& op = kernel.op(v);
            if (op.symbol != p) continue;
            const bool own =
                op.operand[0] != no_value && kernel.op(op.operand[0]).code == OpCode::item;
            switch (op.code) {
                case OpCode::own_store:
                    if (own)
                        stored[static_cast<std::size_t>(op.component)] = 1;
                    else
                        because("is stored at an index that is not the work item itself", v);
                    break;
                case OpCode::own_load:
                case OpCode::load:
                case OpCode::fetch:
                case OpCode::take: because("is read", v); break;
                case OpCode::accumulate:
                case OpCode::reduce: because("is added to", v); break;
                case OpCode::atomic_add:
                case OpCode::atomic_min:
                case OpCode::atomic_max: because("is changed by atomic operations", v); break;
                case OpCode::store_once:
                case OpCode::put:
                    because("is stored at indices that the kernel computes", v);
                    break;
                default: break;
            }
        }
    if (e.reads_own || e.reads_other) because("is read");
    e.leaves_zero = leaves_zero(kernel, p, e);
    for (std::size_t k = 0; k < stored.size(); ++k)
        if (stored[k] == 0)
            because(e.writes() ? "has components that are not stored on every path"
                               : "is not stored");
    e.defines_all = e.not_defined.empty();
}

}  // namespace

namespace {
// Everything that the access allows, at any element.
Effects effects_of_host_function(Access access) {
    Effects e;
    e.reads_own = access == Access::value;
    e.reads_other = access == Access::read || access == Access::read_write;
    e.writes_other = access == Access::write || access == Access::read_write;
    e.adds_other = access == Access::accumulate;
    e.reduces = access == Access::reduce;
    if (e.writes()) e.not_defined = "is written by a host function";
    return e;
}
}  // namespace

std::vector<Effects> effects_of(const Kernel& kernel) {
    std::vector<Effects> all(kernel.parameters.size());
    if (kernel.is_host_function) {
        for (std::size_t p = 0; p < all.size(); ++p)
            all[p] = effects_of_host_function(kernel.parameters[p].access);
        return all;
    }
    for (std::size_t p = 0; p < all.size(); ++p)
        all[p].clears = kernel.parameters[p].access == Access::sum;
    std::vector<char> used(kernel.ops.size(), 0);  // of the leaves, which no region lists
    const auto visit = [&](Value v) {
        if (v != no_value) used[static_cast<std::size_t>(v)] = 1;
    };
    for (const Region& region : kernel.regions) {
        for (const Value v : region.ops) {
            const Op& op = kernel.op(v);
            for (const Value operand : op.operand) visit(operand);
            if (has_regions(op.code))
                for (const Value init : kernel.nest(op).inits) visit(init);
            if (op.symbol >= 0 && info(op.code).op_class != OpClass::structure)
                note(all[static_cast<std::size_t>(op.symbol)], kernel, op);
        }
        for (const Value v : region.yields) visit(v);
    }
    for (std::size_t v = 0; v < used.size(); ++v)
        if (used[v] != 0 && kernel.ops[v].code == OpCode::parameter)
            note(all[static_cast<std::size_t>(kernel.ops[v].symbol)], kernel, kernel.ops[v]);
    for (std::size_t p = 0; p < all.size(); ++p) judge(all[p], kernel, static_cast<int>(p));
    return all;
}

}  // namespace hindcast::ir
