// Simulations under JAX: handlers of XLA's foreign function interface, on the host. They call no
// Python and take no lock of its interpreter.
//
// A custom call carries the number of its function. XLA's compilation makes a State of it, which
// keeps the function as long as the compiled program: Python may let go of its own before. Operands
// are [batch..., size], each with those batch axes that it has (hindcast/_jax_rules.py); the kinds
// of calls are those of SceneFunction.
#include "app/python/src/jax/jax_rows.hpp"
#include "app/python/src/jax/jax_states.hpp"

namespace hindcast::python {

namespace {

struct Host {};
using State = SceneState<Host>;
using Kind = SceneFunction::Kind;

RowData numbers_of(const ffi::AnyBuffer& buffer) {
    return {buffer.untyped_data(), buffer.element_type() == ffi::F64};
}

template <Kind kind>
ffi::Error call(State* state, ffi::RemainingArgs arguments, ffi::Result<ffi::AnyBuffer> result,
                std::int64_t /*function*/, Integers batch, Integers has,
                std::string_view /*made_of*/) {
    try {
        require_own_process();
        const EndsByInterrupt here;
        std::vector<RowData> operands;
        for (std::size_t k = 0; k < arguments.size(); ++k)
            operands.push_back(numbers_of(*arguments.get<ffi::AnyBuffer>(k)));
        if (result->element_count() > 0)
            run_rows(kind, *state->function, operands, numbers_of(*result),
                     batch_of({batch.begin(), batch.size()},
                              arguments.get<ffi::AnyBuffer>(0)->dimensions()),
                     {has.begin(), has.size()});
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
                                  .Attr<Integers>("batch")
                                  .Attr<Integers>("has")
                                  .Attr<std::string_view>("made_of")
                                  .To(call<kind>);
    return bound->Call(frame);
}

}  // namespace

void bind_jax(nb::module_& m) {
    m.def("_jax_targets", [] {
        nb::dict targets;
        for_each_call<Kind>([&]<Kind kind>(const std::string& name) {
            targets[("hindcast_" + name).c_str()] =
                stages(instantiate_scene<State::make>, handler<kind>);
        });
        return targets;
    });
    m.def("_jax_state_type", type_of<State>);
}

}  // namespace hindcast::python
