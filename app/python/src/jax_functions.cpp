// Simulations under JAX: handlers of XLA's foreign function interface, on the host. They call no
// Python and take no lock of its interpreter.
//
// A custom call carries the number of its function. What XLA compiles makes a State of it, which
// keeps the function as long as the compiled program: what Python keeps may go before. Operands are
// [batch..., size], each with those batch axes that it has (hindcast/_jax_rules.py); the kinds of
// calls are those of SceneFunction.
#include "app/python/src/bindings.hpp"
#include "app/python/src/jax_rows.hpp"
#include "app/python/src/scene_functions.hpp"
#include "xla/ffi/api/ffi.h"

namespace hindcast::python {

namespace ffi = xla::ffi;

namespace {

struct State {
    static ffi::TypeId id;
    static const ffi::TypeInfo info;
    std::shared_ptr<SceneFunction> function;
};
ffi::TypeId State::id = {};
const ffi::TypeInfo State::info = ffi::MakeTypeInfo<State>();

// XLA insists that each stage takes all attributes of the call: `function` says which simulation,
// `batch` the sizes of the batch axes, `has` which of them each operand has.
using Numbers = ffi::Span<const std::int64_t>;

ffi::ErrorOr<std::unique_ptr<State>> make_state(std::int64_t function, Numbers /*batch*/,
                                                Numbers /*has*/) {
    auto state = std::make_unique<State>();
    state->function = find_scene_function(function);
    if (!state->function)
        return ffi::Unexpected(
            ffi::Error::Internal("hindcast: the simulation of this program is gone"));
    return state;
}

using Kind = SceneFunction::Kind;

RowData numbers_of(const ffi::AnyBuffer& buffer) {
    return {buffer.untyped_data(), buffer.element_type() == ffi::F64};
}

template <Kind kind>
ffi::Error call(State* state, ffi::RemainingArgs arguments, ffi::Result<ffi::AnyBuffer> result,
                std::int64_t /*function*/, Numbers batch, Numbers has) {
    try {
        require_own_process();
        std::vector<RowData> operands;
        for (std::size_t k = 0; k < arguments.size(); ++k)
            operands.push_back(numbers_of(*arguments.get<ffi::AnyBuffer>(k)));
        if (result->element_count() > 0)
            run_rows(kind, *state->function, operands, numbers_of(*result),
                     {batch.begin(), batch.size()}, {has.begin(), has.size()});
    } catch (const std::exception& error) {
        return ffi::Error(ffi::ErrorCode::kInvalidArgument, error.what());
    }
    return ffi::Error::Success();
}

template <Kind kind>
XLA_FFI_Error* handler(XLA_FFI_CallFrame* frame) {
    static const auto bound = ffi::Ffi::Bind()
                                  .Ctx<ffi::State<State>>()
                                  .RemainingArgs()
                                  .Ret<ffi::AnyBuffer>()
                                  .Attr<std::int64_t>("function")
                                  .Attr<Numbers>("batch")
                                  .Attr<Numbers>("has")
                                  .To(call<kind>);
    return bound->Call(frame);
}

XLA_FFI_Error* instantiate(XLA_FFI_CallFrame* frame) {
    static const auto bound = ffi::Ffi::BindInstantiate()
                                  .Attr<std::int64_t>("function")
                                  .Attr<Numbers>("batch")
                                  .Attr<Numbers>("has")
                                  .To(make_state);
    return bound->Call(frame);
}

template <class F>
nb::capsule pointer(F* function) {
    return nb::capsule(reinterpret_cast<void*>(function));  // NOLINT: a capsule holds addresses
}

}  // namespace

void bind_jax(nb::module_& m) {
    m.def("_jax_targets", [] {
        nb::dict targets;
        const auto add = [&](const char* name, auto* execute) {
            nb::dict stages;
            stages["instantiate"] = pointer(instantiate);
            stages["execute"] = pointer(execute);
            targets[name] = stages;
        };
        add("hindcast_value", handler<Kind::value>);
        add("hindcast_jvp", handler<Kind::jvp>);
        add("hindcast_vjp", handler<Kind::vjp>);
        add("hindcast_hvp", handler<Kind::hvp>);
        add("hindcast_jvp2", handler<Kind::jvp2>);
        return targets;
    });
    m.def("_jax_state_type", [] {
        nb::dict type;
        type["type_id"] = nb::capsule(static_cast<const void*>(&State::id));
        type["type_info"] = nb::capsule(static_cast<const void*>(&State::info));
        return type;
    });
}

}  // namespace hindcast::python
