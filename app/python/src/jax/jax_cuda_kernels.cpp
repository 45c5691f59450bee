// Kernels under JAX on CUDA: the handlers of jax_kernels.cpp for buffers on a device.
//
// Calls go to the stream that XLA gives, from buffers and to buffers where they are. There are two
// handlers. If a call neither reads indices nor can fail, XLA may capture it into a command buffer:
// everything is made when the program is instantiated, and a call allocates nothing and waits for
// nothing. Else the handler does not say that it can be captured: it fetches indices, and waits for
// the outcome of work that may fail (a loop that goes over its limit, an index that is out of
// range); a failure is then an error of this call.
#include <string>

#include "app/python/src/calls/jax_cuda_streams.hpp"
#include "app/python/src/jax/jax_kernel_states.hpp"
#include "engine/base/error.hpp"

namespace hindcast::python {

namespace {

using Kind = KernelFunction::Kind;
using StreamHandle = backend::cuda::StreamHandle;

struct Cuda {
    ProgramRecordings recordings;
    void prepare(KernelFunction& function, Kind kind) {
        recordings.take(function.take_prepared(kind));
    }
};

using State = KernelState<Cuda>;

ffi::Error call(StreamHandle stream, std::int32_t ordinal, State* state,
                ffi::RemainingArgs arguments, ffi::RemainingRets results,
                ffi::Dictionary /*attributes*/) {
    return run_calls(*state, arguments, results, [&](const auto& rows) {
        DeviceRecording& recording =
            state->recordings.on(ordinal, stream, [state](const auto& device) {
                return state->function->record_on(device, state->kind);
            });
        const DeviceRecording::Call on_stream(recording, reinterpret_cast<std::uintptr_t>(stream));
        rows([&](auto* from, auto* to) { on_stream.run(from, to); });
        on_stream.finish();
    });
}

ffi::Error call_and_wait(StreamHandle stream, std::int32_t ordinal, State* state,
                         ffi::RemainingArgs arguments, ffi::RemainingRets results,
                         ffi::Dictionary attributes) {
    try {
        if (is_captured(stream))
            return ffi::Error(ffi::ErrorCode::kFailedPrecondition,
                              "hindcast: a kernel that looks at indices or may fail waits for the "
                              "device and cannot be captured into a command buffer");
    } catch (const std::exception& error) {
        return ffi::Error::Internal(error.what());
    }
    return call(stream, ordinal, state, arguments, results, attributes);
}

template <auto function, ffi::Traits... traits>
XLA_FFI_Error* execute(XLA_FFI_CallFrame* frame) {
    static const auto bound = ffi::Ffi::Bind()
                                  .Ctx<ffi::PlatformStream<StreamHandle>>()
                                  .Ctx<ffi::DeviceOrdinal>()
                                  .Ctx<ffi::State<State>>()
                                  .RemainingArgs()
                                  .RemainingRets()
                                  .Attrs()
                                  .To(function, {traits...});
    return bound->Call(frame);
}

}  // namespace

void bind_jax_cuda_kernels(nb::module_& m) {
    m.def("_jax_cuda_kernel_targets", [] {
        nb::dict targets;
        for_each_call<Kind>([&]<Kind kind>(const std::string& name) {
            const std::string target = "hindcast_kernel_" + name;
            const Handler made = instantiate_kernel<State, kind>;
            targets[target.c_str()] =
                stages(made, execute<call, ffi::Traits::kCmdBufferCompatible>);
            targets[(target + "_waits").c_str()] = stages(made, execute<call_and_wait>);
        });
        return targets;
    });
    m.def("_jax_cuda_kernel_state_type", type_of<State>);
}

}  // namespace hindcast::python
