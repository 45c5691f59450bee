// ValueWriter: the values of a kernel by name, the lanes that are active, faults, and the memory
// that parameters are bound to.
//
// Values that are the same for all items are scalars, others are vectors of W lanes.
#pragma once

#include <string>

#include "engine/backend/cpu/emit/emitter.hpp"
#include "engine/backend/cpu/emit/lane_writer.hpp"
#include "engine/backend/plan/plan.hpp"

namespace hindcast::backend::cpu {

class ValueWriter : protected LaneWriter {
protected:
    using Access = ir::Access;
    using Op = ir::Op;
    using OpCode = ir::OpCode;
    using Parameter = ir::Parameter;
    using Type = ir::Type;
    using Value = ir::Value;

    ValueWriter(const Plan& plan, const Embedding* embedding);

    // An index that is a value varying from lane to lane plus something uniform.
    struct SplitIndex {
        Value base = ir::no_value;
        std::string offset;  // of the base's type
        std::int64_t number = 0;
        bool known = true;  // the offset is this number
    };

    std::string type_as(Type type, bool as_scalar) const;
    std::string vector_type(Type type) const { return lanes_of(scalar_type(type)); }
    std::string type(Value v) const { return type_as(kernel_.op(v).type, is_scalar(v)); }
    bool is_scalar(Value v) const { return width_ == 1 || !plan_.varies[v]; }
    std::string scalar(Value v);
    std::string vector(Value v);
    std::string as(Value v, bool as_scalar) { return as_scalar ? scalar(v) : vector(v); }
    std::string value(Value v) { return as(v, is_scalar(v)); }
    void define(Value v, const std::string& name) { names_[v] = name; }
    // The lanes of an index in 64 bits.
    std::string wide_index(Value index);
    SplitIndex split_index(Value index);

    // The new value of a variable: in lanes that are masked out, the old one.
    void blend(const Variable& variable, const std::string& value);
    void fault(const std::string& mask, Value op, const std::string& index);
    // The mask of part `part` of `components` consecutive vectors that hold whole elements.
    std::string flat_mask(int components, int part);

    Layout layout(int symbol) const { return plan_.form[symbol].layout; }
    std::string binding_field(int symbol, std::size_t offset);
    std::string component_pointer(int symbol, int component);

    const Plan& plan_;
    const Embedding* embedding_;  // nullptr: a module of its own
    const ir::Kernel& kernel_;
    const bool splits_;  // full blocks go without masks: a second copy of the code
    bool uses_fault_ = false;
    Names names_;  // per value
    Names bases_;  // per value that is item + something uniform: its lane 0
    Value item_ = ir::no_value;
    std::string mask_, item_mask_;  // lanes that are active; those that have an item
    std::string lanes_left_;        // how many have one
};

}  // namespace hindcast::backend::cpu
