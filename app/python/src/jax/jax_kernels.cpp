// Kernels under JAX: handlers of XLA's foreign function interface, on the host. They call no Python
// and take no lock of its interpreter.
#include "app/python/src/jax/jax_kernel_states.hpp"

namespace hindcast::python {

namespace {

using Kind = KernelFunction::Kind;

struct Host {
    static void prepare(KernelFunction& function, Kind kind) { function.prepare(kind); }
};
using State = KernelState<Host>;

ffi::Error call(State* state, ffi::RemainingArgs arguments, ffi::RemainingRets results,
                ffi::Dictionary /*attributes*/) {
    return run_calls(*state, arguments, results, [&](const auto& rows) {
        KernelFunction::Lease recording(*state->function, state->kind);
        rows([&](auto* from, auto* to) { recording.run(from, to); });
    });
}

XLA_FFI_Error* execute(XLA_FFI_CallFrame* frame) {
    static const auto bound =
        ffi::Ffi::Bind().Ctx<ffi::State<State>>().RemainingArgs().RemainingRets().Attrs().To(call);
    return bound->Call(frame);
}

// ---- what tests and benchmarks compare with ----------------------------------------------------

// Does nothing at all.
XLA_FFI_Error* nothing(XLA_FFI_CallFrame* frame) {
    static const auto bound = ffi::Ffi::Bind().RemainingArgs().RemainingRets().Attrs().To(
        [](ffi::RemainingArgs, ffi::RemainingRets, ffi::Dictionary) {
            return ffi::Error::Success();
        });
    return bound->Call(frame);
}

// Adds an f64 operand to what stands in the result: wrong, unless someone has cleared it.
XLA_FFI_Error* uninitialized(XLA_FFI_CallFrame* frame) {
    static const auto bound =
        ffi::Ffi::Bind().Arg<ffi::Buffer<ffi::F64>>().Ret<ffi::Buffer<ffi::F64>>().Attrs().To(
            [](ffi::Buffer<ffi::F64> from, ffi::Result<ffi::Buffer<ffi::F64>> to, ffi::Dictionary) {
                for (std::size_t k = 0; k < from.element_count(); ++k)
                    to->typed_data()[k] += from.typed_data()[k];
                return ffi::Error::Success();
            });
    return bound->Call(frame);
}

}  // namespace

void bind_jax_kernels(nb::module_& m) {
    m.def("_jax_kernel_targets", [] {
        nb::dict targets;
        for_each_call<Kind>([&]<Kind kind>(const std::string& name) {
            targets[("hindcast_kernel_" + name).c_str()] =
                stages(instantiate_kernel<State, kind>, execute);
        });
        return targets;
    });
    m.def("_jax_kernel_state_type", type_of<State>);
    m.def("_jax_probes", [] {
        nb::dict targets;
        targets["hindcast_probe_nothing"] = pointer(nothing);
        targets["hindcast_probe_uninitialized"] = pointer(uninitialized);
        return targets;
    });
}

}  // namespace hindcast::python
