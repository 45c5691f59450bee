#include "engine/ir/clone.hpp"

namespace hindcast::ir {

Cloner::Cloner(const Kernel& source, Builder& target)
    : source_(source),
      target_(target),
      clones_(source.ops.size(), no_value),
      places_(source.places.size(), -2) {
    for (std::size_t p = 0; p < source.parameters.size(); ++p)
        symbols.push_back(static_cast<int>(p));
}

Value Cloner::at(Value source_value) {
    if (source_value < 0) return no_value;
    const Op& op = source_.op(source_value);
    switch (op.code) {
        case OpCode::constant: return target_.constant(op.type, op.bits);
        case OpCode::item: return item >= 0 ? item : target_.item();
        case OpCode::parameter:
            if (has(source_value)) break;
            return target_.parameter(symbols[static_cast<std::size_t>(op.symbol)], op.component);
        default: break;
    }
    const Value clone = clones_[static_cast<std::size_t>(source_value)];
    if (clone < 0)
        throw Error("internal: %" + std::to_string(source_value) + " has no clone yet")
            .in_kernel(source_.name)
            .note(print(source_));
    return clone;
}

void Cloner::place_like(const Op& op) {
    if (op.place < 0) {
        target_.set_place(-1);
        return;
    }
    int& place = places_[static_cast<std::size_t>(op.place)];
    if (place == -2)
        place = target_.intern_place(source_.places[static_cast<std::size_t>(op.place)]);
    target_.set_place(place);
}

void Cloner::region(int source_region, bool skip_break, const std::function<void()>& start) {
    const std::vector<Value>& ops = source_.region(source_region).ops;
    bool has_break = false;
    for (const Value v : ops) has_break |= source_.op(v).code == OpCode::break_unless;
    if (start && (!has_break || skip_break)) start();
    for (const Value v : ops) {
        const Op& op = source_.op(v);
        place_like(op);
        if (op.code == OpCode::break_unless) {
            if (skip_break) continue;
            target_.break_unless(at(op.operand[0]));
            if (start) start();
        } else if (has_regions(op.code)) {
            nested(v, op);
        } else {
            record(v, op);
        }
    }
}

void Cloner::record(Value value, const Op& op) {
    const bool contract = target_.contract;
    target_.contract = false;  // the author's expressions were contracted when they were recorded
    const int symbol = op.symbol < 0 ? -1 : symbols[static_cast<std::size_t>(op.symbol)];
    switch (op.code) {
        case OpCode::load: set(value, load(op, symbol, at(op.operand[0]))); break;
        case OpCode::own_load: set(value, own_load(op, symbol, at(op.operand[0]))); break;
        case OpCode::local:
            set(value, target_.local(at(op.operand[0]), op.type, op.bits));
            fresh_locals.insert(value);
            break;
        case OpCode::local_load:
            set(value, target_.local_load(at(op.operand[0]), at(op.operand[1])));
            break;
        case OpCode::local_accumulate:
            if (effects || fresh_locals.contains(op.operand[0]))
                target_.local_accumulate(at(op.operand[0]), at(op.operand[1]), at(op.operand[2]));
            break;
        case OpCode::local_put:
            if (effects || fresh_locals.contains(op.operand[0]))
                target_.local_put(at(op.operand[0]), at(op.operand[1]), at(op.operand[2]));
            break;
        case OpCode::raise:
            if (effects)
                target_.raise(source_.names[static_cast<std::size_t>(op.name)], at(op.operand[0]));
            break;
        case OpCode::take:  // recomputation reads the element as it was before the launch
            set(value, effects ? target_.take(symbol, op.component, at(op.operand[0]))
                               : target_.load(symbol, op.component, at(op.operand[0])));
            break;
        case OpCode::fetch:
            set(value, target_.fetch(symbol, op.component, at(op.operand[0])));
            break;
        case OpCode::own_store:
            if (effects) own_store(op, symbol, at(op.operand[0]), at(op.operand[1]));
            break;
        case OpCode::accumulate:
            if (effects) accumulate(op, symbol, at(op.operand[0]), at(op.operand[1]));
            break;
        case OpCode::reduce:
        case OpCode::store_once:
        case OpCode::put:
        case OpCode::atomic_add:
        case OpCode::atomic_min:
        case OpCode::atomic_max:
            if (effects)
                target_.effect(op.code, symbol, op.component, at(op.operand[0]), at(op.operand[1]));
            break;
        case OpCode::variable: set(value, at(op.operand[0])); break;
        default: set(value, emit(op, at(op.operand[0]), at(op.operand[1]), at(op.operand[2])));
    }
    if (op.name >= 0 && has(value) && target_.op(at(value)).name < 0)
        target_.name_value(at(value), source_.names[static_cast<std::size_t>(op.name)]);
    target_.contract = contract;
    after(value, op);
}

void Cloner::nested(Value source_value, const Op& op) {
    const Nest& nest = source_.nest(op);
    std::vector<Slot> slots;
    for (std::size_t k = 0; k < nest.results.size(); ++k) {
        const std::vector<Value>& arguments = source_.region(nest.region[0]).arguments;
        const Value variable =
            op.code == OpCode::if_ ? nest.results[k] : arguments[k + (op.code == OpCode::for_)];
        place_like(source_.op(variable));
        slots.push_back(target_.declare(source_.op(variable).type));
    }
    place_like(op);
    before_nest(source_value, op);
    if (op.code == OpCode::if_) {
        const auto branch = [&](int r) {
            region(r);
            for (std::size_t k = 0; k < slots.size(); ++k)
                target_.write(slots[k], at(source_.region(r).yields[k]));
            at_yield(source_value, op, r);
        };
        target_.if_(
            at(op.operand[0]), [&] { branch(nest.region[0]); }, [&] { branch(nest.region[1]); });
    } else {
        loop(source_value, op, slots);
    }
    for (std::size_t k = 0; k < slots.size(); ++k)
        set(nest.results[k], target_.read_or_zero(slots[k]));
    after_nest(source_value, op);
}

void Cloner::loop(Value source_value, const Op& op, const std::vector<Slot>& slots) {
    const Nest& nest = source_.nest(op);
    const Region& body = source_.region(nest.region[0]);
    const bool counted = op.code == OpCode::for_;
    const std::size_t first = counted ? 1 : 0;
    for (std::size_t k = 0; k < slots.size(); ++k) target_.write(slots[k], at(nest.inits[k]));

    const Value trips = counted ? at(op.operand[0]) : target_.integer(nest.max_trips + 1);
    Slot counter = -1;
    if (tapes) {
        Tape& tape = tape_of[source_value];
        tape.arrays.clear();
        // The tape's capacity: the trips where they are constant, else the declared limit; 0 =
        // unknown, an error only if something live reads the tape.
        std::uint64_t capacity =
            nest.max_trips > 0 ? static_cast<std::uint64_t>(nest.max_trips) + 1 : 0;
        if (target_.is_constant(trips)) capacity = target_.op(trips).bits;
        for (std::size_t k = 0; k < nest.results.size(); ++k) {
            const Value argument = body.arguments[k + first];
            place_like(source_.op(argument));  // for errors: where the variable is declared
            tape.arrays.push_back(target_.local(trips, source_.op(argument).type, capacity));
            for (const Value named : {nest.inits[k], body.yields[k], argument})
                if (const int name = source_.op(named).name; name >= 0)
                    target_.name_value(tape.arrays[k],
                                       source_.names[static_cast<std::size_t>(name)]);
        }
        place_like(op);
        if (!counted) {
            counter = target_.declare(Type::i32);
            target_.write(counter, target_.integer(0));
        }
    }
    const auto record_body = [&](Value trip) {
        if (counted) set(body.arguments[0], trip);
        for (std::size_t k = 0; k < slots.size(); ++k)
            set(body.arguments[k + first], target_.read(slots[k]));
        at_body_start(source_value, op);
        std::function<void()> store;
        const std::vector<Value> arrays =
            tapes ? tape_of[source_value].arrays : std::vector<Value>{};
        if (tapes)
            store = [&] {
                const Value t = counted ? trip : target_.read(counter);
                for (std::size_t k = 0; k < slots.size(); ++k)
                    target_.local_accumulate(arrays[k], t, at(body.arguments[k + first]));
            };
        region(nest.region[0], false, store);
        std::vector<Value> yields;  // all read before any is written: carried values may swap
        for (const Value y : body.yields) yields.push_back(at(y));
        for (std::size_t k = 0; k < slots.size(); ++k) target_.write(slots[k], yields[k]);
        if (counter >= 0)
            target_.write(counter, target_.emit(OpCode::add, Type::i32, target_.read(counter),
                                                target_.integer(1)));
        at_yield(source_value, op, nest.region[0]);
    };
    if (counted)
        target_.for_(trips, nest.max_trips, record_body);
    else
        target_.while_(
            nest.max_trips, [&] { record_body(no_value); }, nest.too_many);
    if (tapes) tape_of[source_value].trips = counted ? trips : target_.read(counter);
}

// ---------------------------------------------------------------- dead code

namespace {

class Liveness {
public:
    Liveness(Kernel& kernel, bool keep_while)
        : kernel_(kernel), keep_while_(keep_while), live_(kernel.ops.size(), 0) {}

    void run() {
        roots(0);
        while (!pending_.empty()) {
            const Value v = pending_.back();
            pending_.pop_back();
            spread(v);
        }
        sweep(0);
    }

private:
    bool live(Value v) const { return live_[static_cast<std::size_t>(v)] != 0; }

    void mark(Value v) {
        if (v < 0 || live(v)) return;
        live_[static_cast<std::size_t>(v)] = 1;
        pending_.push_back(v);
    }

    void roots(int region) {
        for (const Value v : kernel_.region(region).ops) {
            const Op& op = kernel_.op(v);
            if (op.code == OpCode::local_accumulate || op.code == OpCode::local_put)
                writes_[op.operand[0]].push_back(v);
            else if (is_effect(op.code) && op.code != OpCode::break_unless)
                mark(v);
            if (op.code == OpCode::while_ && keep_while_) mark(v);
            if (op.code == OpCode::for_ && keep_while_ && kernel_.nest(op).max_trips > 0) mark(v);
            if (op.nest < 0) continue;
            for (const int inner : kernel_.nest(op).region)
                if (inner >= 0) roots(inner);
        }
    }

    void spread(Value v) {
        const Op& op = kernel_.op(v);
        if (op.code == OpCode::result || op.code == OpCode::argument) {
            const Value owner = op.operand[0];
            mark(owner);
            if (op.symbol < 0) return;
            const std::size_t k = static_cast<std::size_t>(op.symbol);
            const Op& self = kernel_.op(owner);
            const Nest& nest = kernel_.nest(self);
            for (const int r : nest.region)
                if (r >= 0) mark(kernel_.region(r).yields[k]);
            if (self.code != OpCode::if_) {
                mark(nest.inits[k]);
                mark(kernel_.region(nest.region[0]).arguments[k + (self.code == OpCode::for_)]);
            }
            return;
        }
        for (const Value operand : op.operand) mark(operand);
        if (op.code == OpCode::local)
            for (const Value w : writes_[v]) mark(w);
        if (op.code == OpCode::while_)
            for (const Value x : kernel_.region(kernel_.nest(op).region[0]).ops)
                if (kernel_.op(x).code == OpCode::break_unless) mark(x);
        if (op.region > 0) mark(kernel_.region(op.region).owner);
    }

    void sweep(int region) {
        std::vector<Value> kept;
        for (const Value v : kernel_.region(region).ops) {
            if (!live(v)) continue;
            kept.push_back(v);
            if (kernel_.op(v).nest >= 0) compact(v);
        }
        kernel_.region(region).ops = std::move(kept);
    }

    // Drops unread results of an op with regions, with their inits, arguments and yields.
    void compact(Value v) {
        const Op op = kernel_.op(v);
        Nest& nest = kernel_.nest(op);
        const std::size_t first = op.code == OpCode::for_ ? 1 : 0;
        std::vector<Value> results, inits, arguments, yields[2];
        if (first) arguments.push_back(kernel_.region(nest.region[0]).arguments[0]);
        for (std::size_t k = 0; k < nest.results.size(); ++k) {
            const bool loop = op.code != OpCode::if_;
            const bool needed = live(nest.results[k]) ||
                                (loop && live(kernel_.region(nest.region[0]).arguments[k + first]));
            if (!needed) continue;
            const int position = static_cast<int>(results.size());
            kernel_.op(nest.results[k]).symbol = position;
            results.push_back(nest.results[k]);
            for (int side = 0; side < 2; ++side)
                if (nest.region[side] >= 0)
                    yields[side].push_back(kernel_.region(nest.region[side]).yields[k]);
            if (!loop) continue;
            const Value argument = kernel_.region(nest.region[0]).arguments[k + first];
            kernel_.op(argument).symbol = position;
            inits.push_back(nest.inits[k]);
            arguments.push_back(argument);
        }
        nest.results = std::move(results);
        nest.inits = std::move(inits);
        for (int side = 0; side < 2; ++side)
            if (nest.region[side] >= 0)
                kernel_.region(nest.region[side]).yields = std::move(yields[side]);
        if (op.code != OpCode::if_) kernel_.region(nest.region[0]).arguments = std::move(arguments);
        for (const int inner : {kernel_.nest(op).region[0], kernel_.nest(op).region[1]})
            if (inner >= 0) sweep(inner);
    }

    Kernel& kernel_;
    bool keep_while_;
    std::vector<char> live_;
    std::vector<Value> pending_;
    std::map<Value, std::vector<Value>> writes_;  // local array -> the ops that write to it
};

}  // namespace

void remove_dead_ops(Kernel& kernel, bool keep_while) { Liveness(kernel, keep_while).run(); }

Kernel simplify(const Kernel& kernel, bool keep_while) {
    Kernel current = kernel;
    remove_dead_ops(current, keep_while);
    for (int round = 0; round < 2; ++round) {
        Builder builder(current.name, current.precision);
        builder.contract = false;
        builder.copy_signature(current);
        Cloner cloner(current, builder);
        cloner.region(0);
        current = builder.finish();
        remove_dead_ops(current, keep_while);
    }
    return current;
}

}  // namespace hindcast::ir
