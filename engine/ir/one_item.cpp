#include "engine/ir/one_item.hpp"

#include "engine/ir/clone.hpp"

namespace hindcast::ir {

namespace {

class OwnSums final : public Cloner {
public:
    using Cloner::Cloner;

protected:
    void accumulate(const Op& op, int symbol, Value index, Value term) override {
        if (target_.kernel().parameter(symbol).access != Access::exclusive)
            return Cloner::accumulate(op, symbol, index, term);
        const Value old = target_.fetch(symbol, op.component, index);
        target_.effect(OpCode::put, symbol, op.component, index,
                       target_.emit(OpCode::add, op.type, old, term));
    }
};

}  // namespace

bool adds_at_computed_index(const Kernel& kernel) {
    for (const Op& op : kernel.ops)
        if (op.code == OpCode::accumulate && is_real(op.type) &&
            kernel.op(op.operand[0]).code != OpCode::constant &&
            kernel.op(op.operand[0]).code != OpCode::item)
            return true;
    return false;
}

Kernel with_own_sums(const Kernel& kernel) {
    Builder builder(kernel.name, kernel.precision);
    builder.contract = false;
    for (Parameter parameter : kernel.parameters) {
        if (parameter.access == Access::accumulate) parameter.access = Access::exclusive;
        builder.add_parameter(std::move(parameter));
    }
    OwnSums(kernel, builder).region(0);
    builder.set_orders(kernel.adjoint_order, kernel.tangent_order);
    Kernel result = simplify(builder.finish(), true);
    verify(result, "with_own_sums()");
    return result;
}

}  // namespace hindcast::ir
