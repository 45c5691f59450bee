#include "engine/ad/reverse.hpp"

#include "engine/ad/rules.hpp"

namespace hindcast::ad {

using ir::no_value;
using ir::Op;
using ir::OpCode;
using ir::Value;

Reverse::Reverse(const ir::Kernel& source, ir::Builder& target, Activity activity)
    : cloner(source, target),
      source_(source),
      b_(target),
      activity_(std::move(activity)),
      slots_(source.ops.size(), -1),
      home_(source.regions.size(), 0) {
    cloner.tapes = true;
    cloner.effects = false;
}

Value Reverse::get(Value v) {
    const ir::Slot slot = slots_[static_cast<std::size_t>(v)];
    return slot < 0 ? no_value : b_.read(slot);
}

void Reverse::add(Value v, Value g) {
    if (g == no_value || !activity_.on(v)) return;
    const Op& op = source_.op(v);
    if (op.code == OpCode::constant) return;
    ir::Slot& slot = slots_[static_cast<std::size_t>(v)];
    if (slot < 0)
        slot = b_.declare(
            op.type, op.code == OpCode::parameter ? 0 : home_[static_cast<std::size_t>(op.region)]);
    const Value old = b_.read(slot);
    b_.write(slot,
             old == no_value || b_.is_real_constant(old, 0) ? g : b_.binary(OpCode::add, old, g));
}

void Reverse::enter(int region) {
    home_[static_cast<std::size_t>(region)] = b_.depth();
    const auto forget = [&](Value v) { slots_[static_cast<std::size_t>(v)] = -1; };
    for (const Value v : source_.region(region).ops) {
        forget(v);
        if (source_.op(v).nest >= 0)
            for (const Value r : source_.nest(source_.op(v)).results) forget(r);
        local_adjoint_.erase(v);
    }
    for (const Value v : source_.region(region).arguments) forget(v);
}

void Reverse::open_locals(int region) {
    for (const Value v : source_.region(region).ops)
        if (source_.op(v).code == OpCode::local && activity_.on(v))
            local_adjoint_[v] = b_.local(cloner.at(source_.op(v).operand[0]), source_.op(v).type,
                                         source_.op(v).bits);
}

void Reverse::walk(int region) {
    open_locals(region);
    const std::vector<Value>& ops = source_.region(region).ops;
    for (std::size_t n = ops.size(); n-- > 0;) walk_op(ops[n], source_.op(ops[n]));
}

void Reverse::walk_op(Value v, const Op& op) {
    cloner.place_like(op);
    if (ir::has_regions(op.code))
        nested(v, op);
    else if (ir::is_effect(op.code))
        effect(op, v);
    else if (ir::is_real(op.type) && op.code != OpCode::local && activity_.on(v))
        arithmetic(v, op);
}

void Reverse::arithmetic(Value v, const Op& op) {
    const Value g = get(v);
    if (g == no_value) return;
    if (op.code == OpCode::load || op.code == OpCode::own_load) return loaded(op, g);
    if (op.code == OpCode::local_load) {
        if (const auto found = local_adjoint_.find(op.operand[0]); found != local_adjoint_.end())
            b_.local_accumulate(found->second, cloner.at(op.operand[1]), g);
        return;
    }
    std::vector<Value> operands;
    for (const Value operand : op.operand)
        if (operand >= 0) operands.push_back(cloner.at(operand));
    for (int i = 0; i < 3; ++i)
        if (differentiable(source_, op, i) && activity_.on(op.operand[i]))
            add(op.operand[i],
                contribution(b_, op, i, g, operands, cloner.at(v), activity_.gated(v)));
}

int Reverse::dual_of(const Op& op) const {
    return adjoint_symbol.empty() ? -1 : adjoint_symbol[static_cast<std::size_t>(op.symbol)];
}

void Reverse::loaded(const Op& op, Value g) {
    const int symbol = dual_of(op);
    if (symbol < 0) return;
    const Value index = cloner.at(op.operand[0]);
    if (op.code == OpCode::own_load) {
        const ir::Slot own = b_.own(symbol, index, op.component);
        const Value old = b_.read(own);
        b_.write(own, b_.is_real_constant(old, 0) ? g : b_.binary(OpCode::add, old, g));
    } else if (index == b_.item()) {
        // One term per item, however often loops read the element.
        const auto [entry, fresh] = own_reads_.try_emplace({symbol, op.component}, -1);
        if (fresh) entry->second = b_.declare(op.type, 0);
        const Value old = b_.read(entry->second);
        b_.write(entry->second, old == no_value ? g : b_.binary(OpCode::add, old, g));
    } else {
        b_.effect(OpCode::accumulate, symbol, op.component, index, g);
    }
}

void Reverse::effect(const Op& op, Value v) {
    if (op.code == OpCode::local_put) {
        if (activity_.on(op.operand[0])) refuse_put(source_, v);
        return;
    }
    if (op.code == OpCode::local_accumulate) {
        if (const auto found = local_adjoint_.find(op.operand[0]); found != local_adjoint_.end())
            add(op.operand[2], b_.local_load(found->second, cloner.at(op.operand[1])));
        return;
    }
    if (op.code == OpCode::break_unless || op.code == OpCode::raise) return;
    const int symbol = dual_of(op);
    if (symbol < 0) return;
    switch (op.code) {
        case OpCode::accumulate:
            if (activity_.on(op.operand[1]))
                add(op.operand[1], b_.load(symbol, op.component, cloner.at(op.operand[0])));
            break;
        case OpCode::own_store: {  // take the adjoint and clear it, also when the stored value is
                                   // inactive
            const ir::Slot own = b_.own(symbol, cloner.at(op.operand[0]), op.component);
            const Value g = b_.read(own);
            b_.write(own, b_.zero(op.type));
            add(op.operand[1], g);
            break;
        }
        case OpCode::store_once:
            add(op.operand[1], b_.take(symbol, op.component, cloner.at(op.operand[0])));
            break;
        case OpCode::take: {
            const Value g = activity_.on(v) ? get(v) : no_value;
            b_.effect(OpCode::store_once, symbol, op.component, cloner.at(op.operand[0]),
                      g == no_value ? b_.zero(op.type) : g);
            break;
        }
        case OpCode::reduce: add(op.operand[0], b_.parameter(symbol, op.component)); break;
        default: break;  // integer atomics have no derivative
    }
}

void Reverse::nested(Value v, const Op& op) {
    // In grad() only what the expression depends on is walked; in adjoint() dead code disappears
    // afterward.
    const auto saved = cloner.fresh_locals;
    if (op.code == OpCode::if_)
        branch(op);
    else
        loop(v, op);
    cloner.fresh_locals = saved;
}

void Reverse::branch(const Op& op) {
    const ir::Nest& nest = source_.nest(op);
    std::vector<Value> seeds;
    for (const Value r : nest.results) seeds.push_back(activity_.on(r) ? get(r) : no_value);
    const auto side = [&](int r) {
        enter(r);
        cloner.fresh_locals.clear();
        cloner.region(r);
        for (std::size_t k = 0; k < seeds.size(); ++k) add(source_.region(r).yields[k], seeds[k]);
        walk(r);
    };
    b_.if_(
        cloner.at(op.operand[0]), [&] { side(nest.region[0]); }, [&] { side(nest.region[1]); });
}

void Reverse::loop(Value v, const Op& op) {
    if (!cloner.tape_of.contains(v))
        cloner.nested(v, op);  // grad(): the loop was recorded without a tape
    const ir::Nest& nest = source_.nest(op);
    const ir::Region& body = source_.region(nest.region[0]);
    const ir::Cloner::Tape tape = cloner.tape_of[v];
    const std::size_t first = op.code == OpCode::for_ ? 1 : 0, n = nest.results.size();
    // Carried adjoints: that of the result flows into the last yield, that of the argument into the
    // one before.
    std::vector<ir::Slot> carried(n, -1);
    for (std::size_t k = 0; k < n; ++k) {
        if (!activity_.on(body.arguments[k + first]) && !activity_.on(nest.results[k])) continue;
        const ir::Type type = source_.op(nest.results[k]).type;
        carried[k] = b_.declare(type);
        const Value g = activity_.on(nest.results[k]) ? get(nest.results[k]) : no_value;
        b_.write(carried[k], g == no_value ? b_.zero(type) : g);
    }
    const Value last = b_.emit(OpCode::sub, ir::Type::i32, tape.trips, b_.integer(1));
    b_.for_(tape.trips, nest.max_trips, [&](Value t) {
        const Value trip = b_.emit(OpCode::sub, ir::Type::i32, last, t);
        enter(nest.region[0]);
        if (first) cloner.set(body.arguments[0], trip);
        for (std::size_t k = 0; k < n; ++k)
            cloner.set(body.arguments[k + first], b_.local_load(tape.arrays[k], trip));
        cloner.fresh_locals.clear();
        cloner.region(nest.region[0], true);
        std::vector<Value> seeds(
            n, no_value);  // all read before any is added: carried values may swap
        for (std::size_t k = 0; k < n; ++k)
            if (carried[k] >= 0) seeds[k] = b_.read(carried[k]);
        for (std::size_t k = 0; k < n; ++k) add(body.yields[k], seeds[k]);
        walk(nest.region[0]);
        for (std::size_t k = 0; k < n; ++k) {
            if (carried[k] < 0) continue;
            const Value g = get(body.arguments[k + first]);
            b_.write(carried[k], g == no_value ? b_.zero(b_.slot_type(carried[k])) : g);
        }
    });
    for (std::size_t k = 0; k < n; ++k)
        if (carried[k] >= 0) add(nest.inits[k], b_.read(carried[k]));
}

void Reverse::finish() {
    for (const auto& [key, slot] : own_reads_) {
        const Value g = b_.read(slot);
        if (g != no_value) b_.effect(OpCode::accumulate, key.first, key.second, b_.item(), g);
    }
    for (std::size_t v = 0; v < source_.ops.size(); ++v) {
        const Op& op = source_.ops[v];
        if (op.code != OpCode::parameter || slots_[v] < 0) continue;
        const Value g = get(static_cast<Value>(v));
        if (g != no_value) b_.effect(OpCode::reduce, dual_of(op), op.component, g);
    }
}

}  // namespace hindcast::ad
