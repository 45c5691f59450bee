// Builder: variables, own elements and regions.
//
// Invariants:
//  - layers_[d].values[slot] is the slot's value in the region open at depth d, if that region
//    assigned or imported it.
//  - a loop layer imports an outer slot as an argument on first read; close_loop keeps the
//    arguments that the body assigned (they are carried) and replaces the others by the outer
//    value.
//  - merged variables come in order of declaration (std::map), so nothing depends on how values
//    were numbered.
#include <algorithm>

#include "engine/ir/builder.hpp"

namespace hindcast::ir {

// Marks the builder broken when an exception leaves a region: what was recorded is half a program.
struct RegionGuard {
    Builder& builder;
    std::size_t depth = builder.layers_.size();
    int condition_depth = builder.condition_depth_;
    bool done = false;
    ~RegionGuard() {
        if (done) return;
        builder.broken_ = true;
        builder.condition_depth_ = condition_depth;
        while (builder.layers_.size() > depth) builder.layers_.pop_back();
    }
};

// ---------------------------------------------------------------- variables

Slot Builder::declare(Type type, int home_depth) {
    const int home = home_depth < 0 ? depth() : home_depth;
    slots_.push_back({type, home, layers_[static_cast<std::size_t>(home)].serial, place_});
    return static_cast<Slot>(slots_.size()) - 1;
}

void Builder::check_open(Slot slot) const {
    if (slot < 0 || slot >= static_cast<Slot>(slots_.size()))
        throw error("internal: unknown variable");
    const SlotInfo& info = slots_[static_cast<std::size_t>(slot)];
    const std::size_t home = static_cast<std::size_t>(info.home);
    if (home < layers_.size() && layers_[home].serial == info.layer) return;
    Error e = error("a variable that was declared inside a branch or loop is used outside it");
    if (info.place >= 0)
        e.note("declared at " + to_string(kernel_.places[static_cast<std::size_t>(info.place)]));
    throw e.remedy("declare it before the if_, for_ or while_ and assign it inside");
}

void Builder::conditional_store(Slot slot) const {
    const Parameter& p = kernel_.parameter(slots_[static_cast<std::size_t>(slot)].required);
    throw error("'" + p.name +
                "' is declared Write, but is not stored on every path before this point")
        .remedy("store it on every path, or declare it ReadWrite, which keeps the old value");
}

void Builder::write(Slot slot, Value value) {
    check_open(slot);
    if (condition_depth_ >= 0 && slots_[static_cast<std::size_t>(slot)].home < condition_depth_)
        not_in_condition();
    layers_.back().values[slot] = value;
    slots_[static_cast<std::size_t>(slot)].written = place_;
}

Value Builder::read_at(Slot slot, int at) {
    const SlotInfo& info = slots_[static_cast<std::size_t>(slot)];
    {
        Layer& layer = layers_[static_cast<std::size_t>(at)];
        if (const auto found = layer.values.find(slot); found != layer.values.end())
            return found->second;
        if (at <= info.home) return no_value;
        if (!layer.loop) return read_at(slot, at - 1);
        if (info.required >= 0 && read_at(slot, at - 1) == no_value) return no_value;
    }
    Op argument{.code = OpCode::argument, .type = info.type, .place = info.place};
    argument.region = layers_[static_cast<std::size_t>(at)].region;
    kernel_.ops.push_back(argument);
    const Value value = static_cast<Value>(kernel_.ops.size()) - 1;
    Layer& layer = layers_[static_cast<std::size_t>(at)];
    layer.arguments.emplace_back(slot, value);
    return layer.values[slot] = value;
}

Value Builder::read(Slot slot) {
    check_open(slot);
    return read_at(slot, depth());
}

Value Builder::read_or_zero(Slot slot) {
    const Value value = read(slot);
    return value == no_value ? zero(slot_type(slot)) : value;
}

Value Builder::start_of_loop(Slot slot, int at) {
    const Value value = read_at(slot, at);
    if (value != no_value) return value;
    if (slots_[static_cast<std::size_t>(slot)].required >= 0) conditional_store(slot);
    return zero(slot_type(slot));
}

// ---------------------------------------------------------------- own elements

Value Builder::resolve(Value index) {
    while (op(index).code == OpCode::argument) {
        bool found = false;
        for (int d = depth(); d > 0 && !found; --d) {
            for (const auto& [slot, value] : layers_[static_cast<std::size_t>(d)].arguments) {
                if (value != index) continue;
                assumed_invariant_.insert(index);
                index = read_at(slot, d - 1);
                found = true;
                break;
            }
        }
        if (!found || index == no_value) break;
    }
    return index;
}

Value Builder::own_load(int symbol, Value index, int component) {
    const auto [entry, fresh] = own_loads_.try_emplace({symbol, index, component}, no_value);
    if (!fresh) return entry->second;
    kernel_.ops.push_back({.code = OpCode::own_load,
                           .type = kernel_.parameter(symbol).type,
                           .operand = {index, no_value, no_value},
                           .symbol = symbol,
                           .component = component,
                           .place = place_});
    const Value value = static_cast<Value>(kernel_.ops.size()) - 1;
    kernel_.region(0).ops.push_back(value);
    return entry->second = value;
}

Slot Builder::own(int symbol, Value index, int component) {
    const std::array<std::int32_t, 3> key{symbol, index, component};
    if (const auto found = own_slots_.find(key); found != own_slots_.end()) return found->second;
    for (const auto& [other, slot] : own_slots_)
        if (other[0] == symbol && other[1] != index)
            throw error("'" + kernel_.parameter(symbol).name +
                        "' is used at two different own indices")
                .remedy(
                    "an item owns one element of a buffer that it writes; read other elements from "
                    "a copy, or use "
                    "Accumulate or WriteSlice");
    if (op(index).region != 0 || op(index).code == OpCode::argument)
        throw error("the own index of '" + kernel_.parameter(symbol).name +
                    "' is computed inside a branch or loop")
            .remedy(
                "compute the index at the top of the kernel, or declare the buffer WriteSlice or "
                "Accumulate");
    const Slot slot = declare(kernel_.parameter(symbol).type, 0);
    if (kernel_.parameter(symbol).access == Access::write)
        slots_[static_cast<std::size_t>(slot)].required = symbol;
    else
        layers_[0].values[slot] = own_load(symbol, index, component);
    own_slots_[key] = slot;
    return slot;
}

// ---------------------------------------------------------------- regions

int Builder::open_region(bool loop) {
    kernel_.regions.emplace_back();
    Layer layer;
    layer.region = static_cast<int>(kernel_.regions.size()) - 1;
    layer.loop = loop;
    layer.serial = next_layer_serial_++;
    layer.place = place_;
    layers_.push_back(std::move(layer));
    return layers_.back().region;
}

std::map<Slot, Value> Builder::close_branch() {
    auto values = std::move(layers_.back().values);
    layers_.pop_back();
    return values;
}

void Builder::if_(Value condition, const std::function<void()>& then,
                  const std::function<void()>& otherwise) {
    const int place = place_;
    if (is_constant(condition)) {
        (op(condition).bits ? then : otherwise)();
        return;
    }
    RegionGuard guard{*this};
    const int d = depth();
    Nest nest;
    nest.region[0] = open_region(false);
    then();
    const auto from_then = close_branch();
    nest.region[1] = open_region(false);
    otherwise();
    const auto from_otherwise = close_branch();
    place_ = place;

    std::set<Slot> changed;
    for (const auto& [slot, value] : from_then) changed.insert(slot);
    for (const auto& [slot, value] : from_otherwise) changed.insert(slot);
    std::vector<std::pair<Slot, Value>> merged;
    for (const Slot slot : changed) {
        if (slots_[static_cast<std::size_t>(slot)].home > d) continue;
        const auto value_in = [&](const std::map<Slot, Value>& side) {
            const auto found = side.find(slot);
            return found != side.end() ? found->second : start_of_loop(slot, d);
        };
        const Value a = value_in(from_then), b = value_in(from_otherwise);
        if (a == b) {
            merged.emplace_back(slot, a);
            continue;
        }
        const Value result = append({.code = OpCode::result,
                                     .type = slot_type(slot),
                                     .symbol = static_cast<int>(nest.results.size())},
                                    false);
        kernel_.region(nest.region[0]).yields.push_back(a);
        kernel_.region(nest.region[1]).yields.push_back(b);
        nest.results.push_back(result);
        merged.emplace_back(slot, result);
    }
    const Value self = append({.code = OpCode::if_,
                               .operand = {condition, no_value, no_value},
                               .nest = static_cast<int>(kernel_.nests.size())});
    for (const int r : nest.region) kernel_.region(r).owner = self;
    for (const Value result : nest.results) kernel_.op(result).operand[0] = self;
    kernel_.nests.push_back(std::move(nest));
    for (const auto& [slot, value] : merged) layers_.back().values[slot] = value;
    guard.done = true;
}

void Builder::for_(Value trips, std::int64_t max_trips, const std::function<void(Value)>& body) {
    if (is_constant(trips) && integer_of(op(trips).bits, type_of(trips)) <= 0) return;
    RegionGuard guard{*this};
    const int place = place_;
    const int region = open_region(true);
    Op argument{.code = OpCode::argument, .type = Type::i32, .symbol = -1, .place = place_};
    argument.region = region;
    kernel_.ops.push_back(argument);
    const Value trip = static_cast<Value>(kernel_.ops.size()) - 1;
    body(trip);
    place_ = place;
    close_loop(OpCode::for_, trips, max_trips, trip);
    guard.done = true;
}

void Builder::while_(std::int64_t max_trips, const std::function<void()>& body,
                     const std::string& too_many) {
    RegionGuard guard{*this};
    const int place = place_;
    open_region(true);
    body();
    place_ = place;
    close_loop(OpCode::while_, no_value, max_trips, no_value);
    kernel_.nests.back().too_many = too_many;
    guard.done = true;
}

void Builder::replace_in_region(int region, Value from, Value to) {
    const auto swap = [&](Value& v) {
        if (v == from) v = to;
    };
    for (const Value value : kernel_.region(region).ops) {
        for (Value& v : kernel_.op(value).operand) swap(v);
        if (kernel_.op(value).nest < 0) continue;
        for (Value& v : kernel_.nest(kernel_.op(value)).inits) swap(v);
        for (const int inner : kernel_.nest(kernel_.op(value)).region)
            if (inner >= 0) replace_in_region(inner, from, to);
    }
    for (Value& v : kernel_.region(region).yields) swap(v);
}

void Builder::close_loop(OpCode code, Value trips, std::int64_t max_trips, Value trip_argument) {
    struct Carried {
        Slot slot;
        Value argument, init, yield;
        bool invariant = false;
    };
    const int d = depth();
    const int region = layers_.back().region;
    std::map<Slot, Value> argument_of(layers_.back().arguments.begin(),
                                      layers_.back().arguments.end());
    const std::vector<std::pair<Slot, Value>> values(layers_.back().values.begin(),
                                                     layers_.back().values.end());
    std::vector<Carried> carried;
    for (const auto& [slot, yield] : values) {
        if (slots_[static_cast<std::size_t>(slot)].home >= d) continue;
        const Value init = start_of_loop(slot, d - 1);
        Value argument = no_value;
        if (const auto found = argument_of.find(slot); found != argument_of.end()) {
            argument = found->second;
        } else {
            Op op{.code = OpCode::argument,
                  .type = slot_type(slot),
                  .place = slots_[static_cast<std::size_t>(slot)].place};
            op.region = region;
            kernel_.ops.push_back(op);
            argument = static_cast<Value>(kernel_.ops.size()) - 1;
        }
        carried.push_back({slot, argument, init, yield});
    }
    // An argument whose yield is itself (or its first value) never changes: use the outer value
    // instead.
    for (bool again = true; again;) {
        again = false;
        for (Carried& c : carried) {
            if (c.invariant || (c.yield != c.argument && c.yield != c.init)) continue;
            c.invariant = again = true;
            replace_in_region(region, c.argument, c.init);
            for (Carried& other : carried)
                if (other.yield == c.argument) other.yield = c.init;
        }
    }
    for (const Carried& c : carried)
        if (!c.invariant && assumed_invariant_.contains(c.argument))
            throw error("an own index is assigned inside the loop that uses it")
                .remedy("copy the index into a variable that the loop does not assign");
    layers_.pop_back();

    Nest nest;
    nest.region[0] = region;
    nest.max_trips = max_trips;
    if (trip_argument != no_value) kernel_.region(region).arguments.push_back(trip_argument);
    std::vector<std::pair<Slot, Value>> out;
    for (const Carried& c : carried) {
        if (c.invariant) continue;
        const int position = static_cast<int>(nest.results.size());
        const Value result =
            append({.code = OpCode::result, .type = slot_type(c.slot), .symbol = position}, false);
        kernel_.op(c.argument).symbol = position;
        nest.inits.push_back(c.init);
        nest.results.push_back(result);
        kernel_.region(region).arguments.push_back(c.argument);
        kernel_.region(region).yields.push_back(c.yield);
        out.emplace_back(c.slot, result);
    }
    const Value self = append({.code = code,
                               .operand = {trips, no_value, no_value},
                               .nest = static_cast<int>(kernel_.nests.size())});
    kernel_.region(region).owner = self;
    for (const Value result : nest.results) kernel_.op(result).operand[0] = self;
    for (const Value argument : kernel_.region(region).arguments)
        kernel_.op(argument).operand[0] = self;
    kernel_.nests.push_back(std::move(nest));
    for (const auto& [slot, value] : out) layers_.back().values[slot] = value;
}

// ---------------------------------------------------------------- end

Kernel Builder::finish() {
    if (broken_)
        throw error(
            "an exception left a branch or loop of this kernel, so what was recorded is half a "
            "program")
            .remedy("let the exception leave the kernel, or catch it inside the same branch");
    if (layers_.size() != 1) throw error("internal: finish() inside an open region");
    for (const auto& [key, slot] : own_slots_) {
        const auto& [symbol, index, component] = key;
        const auto found = layers_[0].values.find(slot);
        if (found == layers_[0].values.end()) conditional_store(slot);
        const auto loaded = own_loads_.find(key);
        if (loaded != own_loads_.end() && loaded->second == found->second) continue;
        place_ = slots_[static_cast<std::size_t>(slot)].written;
        append({.code = OpCode::own_store,
                .type = kernel_.parameter(symbol).type,
                .operand = {index, found->second, no_value},
                .symbol = symbol,
                .component = component});
    }
    for (std::size_t p = 0; p < kernel_.parameters.size(); ++p) {
        if (kernel_.parameters[p].access != Access::write) continue;
        int stored = 0;
        for (const auto& [key, slot] : own_slots_) stored += key[0] == static_cast<int>(p);
        if (stored != kernel_.parameters[p].components)
            throw error("'" + kernel_.parameters[p].name + "' is declared Write, but " +
                        std::to_string(stored) + " of its " +
                        std::to_string(kernel_.parameters[p].components) + " components are stored")
                .remedy(
                    "store the whole element, or declare it ReadWrite, which keeps the old value");
    }
    return std::move(kernel_);
}

}  // namespace hindcast::ir
