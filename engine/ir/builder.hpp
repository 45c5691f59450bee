// Records a kernel: value numbering, exact folding, contraction, structured regions, mutable
// variables.
//
// A variable is a slot. Every open region is a layer that maps slots to their current values;
// closing a region turns what it changed into results of the op that owns it, so neither phi nodes
// nor lists of state are needed. Reading an outer variable inside a loop gives an argument of the
// loop, because a later statement of the body may assign it; when the loop closes, arguments that
// were never assigned are replaced by the outer value.
//
// Tracing (lang), simplification, recomputation, tangent and adjoint (ad) all record through this
// one class.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <map>
#include <set>
#include <source_location>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "engine/ir/kernel.hpp"

namespace hindcast::ir {

using Slot = std::int32_t;

class Builder {
public:
    Builder(std::string name, Precision precision);
    Builder(const Builder&) = delete;
    Builder& operator=(const Builder&) = delete;

    // --- the kernel so far ---
    const Kernel& kernel() const { return kernel_; }
    const Op& op(Value value) const { return kernel_.op(value); }
    Type type_of(Value value) const { return op(value).type; }
    Type real() const { return real_type(kernel_.precision); }
    std::uint32_t serial() const {
        return serial_;
    }  // identifies this builder among all of the process
    int add_parameter(Parameter parameter);
    void copy_signature(const Kernel& of);  // parameters and derivative orders
    void set_orders(int adjoint, int tangent) {
        kernel_.adjoint_order = adjoint, kernel_.tangent_order = tangent;
    }

    // --- where the next ops come from ---
    void set_place(const std::source_location& location);
    void set_place(int place) { place_ = place; }
    int place() const { return place_; }
    int intern_place(const SourcePlace& place);
    void name_value(Value value, const std::string& name);
    Error error(std::string happened) const;  // with kernel and current place

    // --- leaves ---
    Value constant(Type type, std::uint64_t bits);
    Value real_constant(double number, Type type) { return constant(type, bits_of(number, type)); }
    Value integer(std::int64_t number, Type type = Type::i32);
    Value boolean(bool truth) { return constant(Type::boolean, truth); }
    Value zero(Type type) { return constant(type, 0); }
    Value item();
    Value parameter(int symbol, int component);
    bool is_constant(Value value) const { return value >= 0 && op(value).code == OpCode::constant; }
    bool is_real_constant(Value value, double number) const;  // exact, -0 differs from 0
    bool is_integer_constant(Value value, std::int64_t number) const;

    // --- pure ops: contract, fold, share, append ---
    Value emit(OpCode code, Type type, Value a, Value b = no_value, Value c = no_value);
    Value binary(OpCode code, Value a, Value b) { return emit(code, type_of(a), a, b); }
    Value compare(OpCode code, Value a, Value b) { return emit(code, Type::boolean, a, b); }
    Value select(Value c, Value a, Value b) { return emit(OpCode::select, type_of(a), c, a, b); }
    Value load(int symbol, int component, Value index);
    Value variable(Value of);  // opaque copy: never shared or folded
    bool contract = true;      // fuse a*b + c while the author's expressions are recorded

    // --- memory and effects, in order ---
    Value local(Value size, Type type, std::uint64_t capacity);
    Value local_load(Value array, Value index);
    void local_accumulate(Value array, Value index, Value value);
    void local_put(Value array, Value index, Value value);
    // Ends the launch with an error: "what has happened; remedy", where % stands for the number of
    // what is to blame, which is the error's item.
    void raise(const std::string& text, Value number);
    Value take(int symbol, int component, Value index);
    Value fetch(int symbol, int component, Value index);
    void effect(OpCode code, int symbol, int component, Value a, Value b = no_value);
    void break_unless(Value condition);

    // --- variables ---
    Slot declare(Type type,
                 int home_depth = -1);  // absent until written; -1: the innermost open region
    void write(Slot slot, Value value);
    Value read(Slot slot);  // no_value if absent (never written, no loop crossed)
    Value read_or_zero(Slot slot);
    Type slot_type(Slot slot) const { return slots_[static_cast<std::size_t>(slot)].type; }

    // --- own elements: variables, loaded once at entry and stored once at exit ---
    Slot own(int symbol, Value index, int component);
    Value own_load(int symbol, Value index, int component);
    void declare_injective(Value index) { injective_.insert(resolve(index)); }
    bool is_injective(Value index) const { return injective_.contains(index); }
    Value resolve(Value index);  // looks through loop arguments, verified when the loop closes

    // --- regions ---
    int depth() const { return static_cast<int>(layers_.size()) - 1; }
    int current_region() const { return layers_.back().region; }
    std::uint32_t current_layer_serial() const { return layers_.back().serial; }
    int layer_region(int at_depth) const {
        return layers_[static_cast<std::size_t>(at_depth)].region;
    }
    void if_(Value condition, const std::function<void()>& then,
             const std::function<void()>& otherwise);
    // body(t) for t = 0 .. trips-1, trips >= 0.
    void for_(Value trips, std::int64_t max_trips, const std::function<void(Value)>& body);
    // body() must call break_unless exactly once, at its top level.
    void while_(std::int64_t max_trips, const std::function<void()>& body,
                const std::string& too_many = {});

    // Between these, writing a variable from outside the loop or recording an effect is an error
    // (while_ conditions). Hand the first one's result to the second: conditions may contain loops.
    int begin_condition() { return std::exchange(condition_depth_, depth()); }
    void end_condition(int outer) { condition_depth_ = outer; }

    // Stores own elements, checks that all regions are closed, hands the kernel over.
    Kernel finish();

private:
    friend struct RegionGuard;
    struct Key {
        OpCode code;
        Type type;
        std::array<std::int32_t, 5> n;
        bool operator==(const Key&) const = default;
    };
    struct KeyHash {
        std::size_t operator()(const Key& key) const;
    };
    struct Layer {
        int region = 0;
        bool loop = false;
        std::uint32_t serial = 0;
        int place = -1;
        std::map<Slot, Value> values;
        std::vector<std::pair<Slot, Value>> arguments;
        std::unordered_map<Key, Value, KeyHash> shared;
    };
    struct SlotInfo {
        Type type = Type::none;
        int home = 0;  // depth of the layer that declared it
        std::uint32_t layer =
            0;  // serial of that layer: using the slot when it is closed is an error
        int place = -1;
        int required = -1;  // own element of a Write parameter: must be stored on every path
        int written = -1;   // place of the last assignment
    };

    Value append(Op op, bool listed = true);
    void not_in_condition() const;
    Value leaf(Op op);
    Value fold(OpCode code, Type type, Value a, Value b, Value c);  // no_value: nothing to fold
    Value contracted(OpCode code, Type type, Value a, Value b);     // no_value: nothing to fuse
    void check_types(OpCode code, Type type, Value a, Value b, Value c) const;
    Value read_at(Slot slot, int depth);
    Value start_of_loop(Slot slot, int depth);
    void check_open(Slot slot) const;
    void conditional_store(Slot slot) const;
    int open_region(bool loop);
    std::map<Slot, Value> close_branch();
    void close_loop(OpCode code, Value trips, std::int64_t max_trips, Value trip_argument);
    void replace_in_region(int region, Value from, Value to);

    Kernel kernel_;
    std::vector<Layer> layers_;
    std::vector<SlotInfo> slots_;
    std::map<std::array<std::int32_t, 3>, Slot> own_slots_;
    std::map<std::array<std::int32_t, 3>, Value> own_loads_;
    std::map<std::pair<Type, std::uint64_t>, Value> constants_;
    std::map<std::pair<int, int>, Value> parameters_;
    std::map<std::string, int> place_index_;
    std::set<Value> assumed_invariant_;
    std::set<Value> injective_;
    Value item_ = no_value;
    int place_ = -1;
    std::uint32_t serial_ = 0;
    std::uint32_t next_layer_serial_ = 1;
    int condition_depth_ = -1;
    bool broken_ = false;  // an exception left a region: what is recorded is not a program
};

}  // namespace hindcast::ir
