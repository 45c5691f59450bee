#include "engine/runtime/minimization/dense/item_clone.hpp"

#include <utility>

namespace hindcast::dense {

using ir::no_value;
using ir::Op;
using ir::OpCode;
using ir::Value;

ItemClone::ItemClone(const ir::Kernel& source, ir::Builder& target)
    : Cloner(source, target), reads_(source.parameters.size()), writes_(source.parameters.size()) {}

void ItemClone::reads(int parameter, Read read) {
    reads_[static_cast<std::size_t>(parameter)] = std::move(read);
}
void ItemClone::writes(int parameter, Write write) {
    writes_[static_cast<std::size_t>(parameter)] = std::move(write);
}

const ItemClone::Read& ItemClone::read_of(const Op& op) const {
    const Read& read = reads_[static_cast<std::size_t>(op.symbol)];
    if (!read)
        throw Error("internal: nothing is read for '" + source_.parameter(op.symbol).name + "'")
            .in_kernel(source_.name);
    return read;
}

void ItemClone::record_item(Value number) {
    item = number;
    for (std::size_t v = 0; v < source_.ops.size(); ++v) {
        const Op& op = source_.ops[v];
        if (op.code == OpCode::parameter && reads_[static_cast<std::size_t>(op.symbol)])
            set(static_cast<Value>(v), read_of(op)(op.component, no_value));
    }
    region(0);
}

void ItemClone::record(Value value, const Op& op) {
    if (op.symbol < 0) return Cloner::record(value, op);
    const auto write = [&](Value index, Value what) {
        const Write& to = writes_[static_cast<std::size_t>(op.symbol)];
        if (!to)
            throw Error("internal: nothing is written for '" + source_.parameter(op.symbol).name +
                        "'")
                .in_kernel(source_.name);
        to(op.component, index, what);
    };
    switch (op.code) {
        case OpCode::load:
        case OpCode::own_load: set(value, read_of(op)(op.component, at(op.operand[0]))); break;
        case OpCode::own_store:
        case OpCode::accumulate: write(at(op.operand[0]), at(op.operand[1])); break;
        case OpCode::reduce: write(no_value, at(op.operand[0])); break;
        default:
            throw Error(std::string("internal: an energy does not ") + ir::info(op.code).name)
                .in_kernel(source_.name);
    }
}

}  // namespace hindcast::dense
