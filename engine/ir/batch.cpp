#include "engine/ir/batch.hpp"

#include "engine/ir/clone.hpp"
#include "engine/ir/memory_type.hpp"

namespace hindcast::ir {

namespace {

constexpr std::int64_t chunk_lanes = 16;  // backend::reduce_lanes

// The clone of one item: every access to a member's memory goes to that member's place.
class Batcher final : public Cloner {
public:
    Batcher(const Kernel& source, Builder& target, std::int64_t items, std::int64_t members,
            std::span<const BatchParameter> parameters)
        : Cloner(source, target), items_(items), members_(members), parameters_(parameters) {}

    void run() {
        read_parameters();
        const Type sum = Type::f64;
        for (const auto& [key, slot] : totals_)
            lanes_[key] = target_.local(target_.integer(used_lanes()), sum,
                                        static_cast<std::uint64_t>(used_lanes()));
        if (items_ == 1)
            one_item(target_.integer(0));
        else
            target_.for_(target_.integer(items_), 0, [this](Value t) { one_item(t); });
        for (const auto& [key, array] : lanes_) finish(key.first, key.second, array);
    }

protected:
    void record(Value value, const Op& op) override {
        if (op.symbol < 0 || info(op.code).op_class == OpClass::leaf || of(op).shared)
            return Cloner::record(value, op);
        const int symbol = of(op).buffer;
        switch (op.code) {
            case OpCode::load: set(value, target_.load(symbol, 0, place(op))); break;
            case OpCode::fetch:
            case OpCode::own_load: set(value, target_.fetch(symbol, 0, place(op))); break;
            case OpCode::take:
                set(value, target_.fetch(symbol, 0, place(op)));
                target_.effect(OpCode::put, symbol, 0, place(op), target_.zero(op.type));
                break;
            case OpCode::put:
            case OpCode::own_store:
            case OpCode::store_once:
                target_.effect(OpCode::put, symbol, 0, place(op), at(op.operand[1]));
                break;
            case OpCode::accumulate: {
                const Value where = place(op), old = target_.fetch(symbol, 0, where);
                target_.effect(OpCode::put, symbol, 0, where,
                               target_.emit(OpCode::add, op.type, old, at(op.operand[1])));
                break;
            }
            case OpCode::reduce: {
                const Slot total = totals_.at({op.symbol, op.component});
                target_.write(total, target_.emit(OpCode::add, Type::f64, target_.read(total),
                                                  as(Type::f64, at(op.operand[0]))));
                break;
            }
            default:
                throw Error(std::string("a batch has no ") + info(op.code).name)
                    .in_kernel(source_.name)
                    .at(source_.place_of(value));
        }
        if (op.name >= 0 && has(value))
            target_.name_value(at(value), source_.names[static_cast<std::size_t>(op.name)]);
    }

private:
    const BatchParameter& of(const Op& op) const {
        return parameters_[static_cast<std::size_t>(op.symbol)];
    }
    std::int64_t used_lanes() const { return std::min(items_, chunk_lanes); }
    Value as(Type type, Value v) {
        return target_.type_of(v) == type ? v : target_.emit(OpCode::convert, type, v);
    }

    // This member's scalar of an element: the same for all members up to the member's number.
    Value place(int symbol, int component, Value element) {
        const BatchParameter& p = parameters_[static_cast<std::size_t>(symbol)];
        const Value scalar = target_.emit(OpCode::mul, Type::i32, as(Type::i32, element),
                                          target_.integer(p.element_stride * members_));
        const Value offset =
            target_.emit(OpCode::add, Type::i32, scalar,
                         target_.integer(component * p.component_stride * members_));
        return target_.emit(OpCode::add, Type::i32, offset, target_.item());
    }
    Value place(const Op& op) { return place(op.symbol, op.component, at(op.operand[0])); }

    // Numbers by value, rounded once as a launch does; what they are does not change in the loop.
    void read_parameters() {
        for (std::size_t v = 0; v < source_.ops.size(); ++v) {
            const Op& op = source_.ops[v];
            if (op.code != OpCode::parameter || of(op).shared) continue;
            set(static_cast<Value>(v),
                as(op.type, target_.load(of(op).buffer, 0,
                                         place(op.symbol, op.component, target_.integer(0)))));
        }
        for (const Op& op : source_.ops)
            if (op.code == OpCode::reduce) totals_[{op.symbol, op.component}] = -1;
    }

    void one_item(Value number) {
        item = number;
        for (auto& [key, slot] : totals_) {
            slot = target_.declare(Type::f64);
            target_.write(slot, target_.zero(Type::f64));
        }
        region(0);
        // A lane of the chunk starts from -0, to which adding a total (never -0) is exact.
        const Value lane =
            target_.emit(OpCode::bit_and, Type::i32, number, target_.integer(chunk_lanes - 1));
        for (const auto& [key, slot] : totals_)
            target_.local_accumulate(lanes_.at(key), lane, target_.read(slot));
    }

    // Adds the lanes pairwise, and the sum to the target. Lanes without items hold +0, which adds
    // nothing to a sum that is not -0: they are left out.
    void finish(int symbol, int component, Value array) {
        std::vector<Value> lanes;
        for (std::int64_t l = 0; l < used_lanes(); ++l)
            lanes.push_back(target_.local_load(array, target_.integer(l)));
        for (std::size_t half = chunk_lanes / 2; half > 0; half /= 2)
            for (std::size_t l = half; l < std::min(lanes.size(), 2 * half); ++l)
                lanes[l - half] = target_.emit(OpCode::add, Type::f64, lanes[l - half], lanes[l]);
        const int buffer = parameters_[static_cast<std::size_t>(symbol)].buffer;
        const Value where = place(symbol, component, target_.integer(0));
        target_.effect(
            OpCode::put, buffer, 0, where,
            target_.emit(OpCode::add, Type::f64, target_.fetch(buffer, 0, where), lanes[0]));
    }

    std::int64_t items_, members_;
    std::span<const BatchParameter> parameters_;
    std::map<std::pair<int, int>, Slot> totals_;  // of the item, by parameter and component
    std::map<std::pair<int, int>, Value> lanes_;  // local arrays: the lanes of the chunk
};

}  // namespace

Kernel batch(const Kernel& kernel, std::int64_t items, std::int64_t members,
             std::span<const BatchParameter> parameters) {
    if (items > most_batched_items)
        throw Error("a launch of " + std::to_string(items) + " items is too large for a batch")
            .in_kernel(kernel.name);
    for (const OpCode code : {OpCode::atomic_add, OpCode::atomic_min, OpCode::atomic_max})
        if (count_ops(kernel, code) > 0)
            throw Error("a batch has no atomic operations").in_kernel(kernel.name);
    Builder builder(kernel.name + " in a batch", kernel.precision);
    builder.contract = false;
    for (std::size_t p = 0; p < parameters.size(); ++p) {
        Parameter parameter = kernel.parameters[p];
        if (parameters[p].shared) {
            if (!only_reads(parameter.access))
                throw Error("internal: '" + parameter.name + "' is written and shared by a batch")
                    .in_kernel(kernel.name);
        } else {
            parameter.type = memory_type(parameter);
            parameter.components = parameter.rows = 1;
            parameter.access = only_reads(parameter.access) ? Access::read : Access::exclusive;
        }
        builder.add_parameter(std::move(parameter));
    }
    Batcher(kernel, builder, items, members, parameters).run();
    Kernel result = simplify(builder.finish(), true);
    verify(result, "batch()");
    return result;
}

}  // namespace hindcast::ir
