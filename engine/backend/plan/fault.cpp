#include "engine/backend/plan/fault.hpp"

#include <string>
#include <tuple>

#include "engine/backend/binding.hpp"
#include "engine/base/error.hpp"

namespace hindcast::backend {

void raise_fault(const ir::Kernel& kernel, const KernelFault& fault, const Binding* bindings) {
    const ir::Op& op = kernel.op(fault.op);
    std::string what, remedy;
    std::int64_t item = fault.item;
    if (op.nest >= 0) {
        std::tie(what, remedy) = kernel.nest(op).over_limit();
    } else if (op.code == ir::OpCode::raise) {
        std::tie(what, remedy) = kernel.raised(op, fault.index);
        item = fault.index;
    } else {
        what = "index " + std::to_string(fault.index) + " is out of range: '" +
               kernel.parameter(op.symbol).name + "' has " +
               std::to_string(bindings[op.symbol].count) + " elements";
        remedy = "check the index, or the size of the array that is bound";
    }
    throw Error(what)
        .in_kernel(kernel.name)
        .at_item(item)
        .at(kernel.place_of(fault.op))
        .remedy(remedy);
}

}  // namespace hindcast::backend
