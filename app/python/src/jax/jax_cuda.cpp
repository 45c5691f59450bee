// Simulations under JAX on CUDA: the handlers of jax_functions.cpp for buffers on a device.
//
// There are two. A call that neither reads the device's results nor can fail there is put on the
// stream that XLA gives, from buffers and to buffers where they are: everything was made when the
// program was instantiated, and XLA may capture the call into a command buffer. Else, for batches,
// and for a simulation that was made for a device of its own, the numbers pass through the host:
// operands are read on XLA's stream and waited for, the result is written on it. Such handlers do
// not say that they can be captured, and refuse a captured stream without touching it.
#include <algorithm>
#include <array>
#include <vector>

#include "app/python/src/calls/device_recordings.hpp"
#include "app/python/src/calls/jax_cuda_streams.hpp"
#include "app/python/src/jax/jax_rows.hpp"
#include "app/python/src/jax/jax_states.hpp"

namespace hindcast::python {

namespace cuda = backend::cuda;

namespace {

using Kind = SceneFunction::Kind;

struct Cuda {
    ProgramRecordings recordings;
    void prepare(SceneCalls& function, Kind kind) { recordings.take(function.take_prepared(kind)); }
};
using CudaState = SceneState<Cuda>;

// ---- by way of the host ----------------------------------------------------------------------

// A buffer of XLA's, and room for it on the host. XLA has made the device's context current.
struct Copy {
    explicit Copy(const ffi::AnyBuffer& buffer)
        : address(cuda::address_of(buffer.untyped_data())),
          host(buffer.size_bytes()),
          numbers{host.data(), buffer.element_type() == ffi::F64} {}
    cuda::Address address;
    std::vector<std::byte> host;
    RowData numbers;
};

void run(Kind kind, cuda::StreamHandle stream, SceneFunction& function,
         ffi::RemainingArgs arguments, ffi::AnyBuffer result, std::span<const std::int64_t> batch,
         std::span<const std::int64_t> has) {
    const cuda::Driver& d = cuda::driver();
    std::vector<Copy> operands;
    operands.reserve(arguments.size());
    std::vector<RowData> numbers;
    for (std::size_t k = 0; k < arguments.size(); ++k) {
        Copy& copy = operands.emplace_back(*arguments.get<ffi::AnyBuffer>(k));
        numbers.push_back(copy.numbers);
        if (!copy.host.empty())
            check_cuda(d.MemcpyDtoHAsync(copy.host.data(), copy.address, copy.host.size(), stream),
                       "an operand");
    }
    check_cuda(d.StreamSynchronize(stream), "the operands");
    const Copy out(result);
    run_rows(kind, function, numbers, out.numbers, batch, has);
    check_cuda(d.MemcpyHtoDAsync(out.address, out.host.data(), out.host.size(), stream),
               "the result");
}

template <Kind kind>
ffi::Error by_host(cuda::StreamHandle stream, std::int32_t /*ordinal*/, CudaState* state,
                   ffi::RemainingArgs arguments, ffi::Result<ffi::AnyBuffer> result,
                   std::int64_t /*function*/, Integers batch, Integers has,
                   std::string_view /*made_of*/) {
    try {
        require_own_process();
        const EndsByInterrupt here;
        if (is_captured(stream))
            return ffi::Error(ffi::ErrorCode::kFailedPrecondition,
                              "hindcast: this simulation passes through the host and cannot be "
                              "captured into a command buffer");
        if (result->element_count() > 0)
            run(kind, stream, *state->function, arguments, *result,
                batch_of({batch.begin(), batch.size()},
                         arguments.get<ffi::AnyBuffer>(0)->dimensions()),
                {has.begin(), has.size()});
    } catch (const std::exception& error) {
        return ffi::Error(ffi::ErrorCode::kInvalidArgument, error.what());
    }
    return ffi::Error::Success();
}

// ---- on the device ---------------------------------------------------------------------------

template <Kind kind>
ffi::Error on_device(cuda::StreamHandle stream, std::int32_t ordinal, CudaState* state,
                     ffi::RemainingArgs arguments, ffi::Result<ffi::AnyBuffer> result,
                     std::int64_t /*function*/, Integers batch, Integers /*has*/,
                     std::string_view /*made_of*/) {
    try {
        require_own_process();
        if (std::ranges::any_of(batch, [](std::int64_t size) { return size != 1; }))
            return ffi::Error::Internal("hindcast: a batch is not called on the device");
        DeviceRecording& recording = state->recordings.on(
            ordinal, stream,
            [state](const auto& device) { return state->function->record_on(device, kind); });
        std::array<const std::byte*, 3> from{};
        for (std::size_t k = 0; k < std::min(arguments.size(), from.size()); ++k)
            from[k] =
                static_cast<const std::byte*>(arguments.get<ffi::AnyBuffer>(k)->untyped_data());
        auto* const to = static_cast<std::byte*>(result->untyped_data());
        const DeviceRecording::Call on_stream(recording, reinterpret_cast<std::uintptr_t>(stream));
        on_stream.run(from.data(), &to);
        on_stream.finish();
    } catch (const std::exception& error) {
        return ffi::Error(ffi::ErrorCode::kInvalidArgument, error.what());
    }
    return ffi::Error::Success();
}

template <auto function, ffi::Traits... traits>
XLA_FFI_Error* execute(XLA_FFI_CallFrame* frame) {
    static const auto bound = ffi::Ffi::Bind()
                                  .Ctx<ffi::PlatformStream<cuda::StreamHandle>>()
                                  .Ctx<ffi::DeviceOrdinal>()
                                  .Ctx<ffi::State<CudaState>>()
                                  .RemainingArgs()
                                  .Ret<ffi::AnyBuffer>()
                                  .Attr<std::int64_t>("function")
                                  .Attr<Integers>("batch")
                                  .Attr<Integers>("has")
                                  .Attr<std::string_view>("made_of")
                                  .To(function, {traits...});
    return bound->Call(frame);
}

}  // namespace

void bind_jax_cuda(nb::module_& m) {
    m.def("_jax_cuda_targets", [] {
        nb::dict targets;
        for_each_call<Kind>([&]<Kind kind>(const std::string& name) {
            const std::string target = "hindcast_" + name;
            targets[target.c_str()] =
                stages(instantiate_scene<CudaState::make_prepared<kind>>,
                       execute<on_device<kind>, ffi::Traits::kCmdBufferCompatible>);
            targets[(target + "_waits").c_str()] =
                stages(instantiate_scene<CudaState::make>, execute<by_host<kind>>);
        });
        return targets;
    });
    m.def("_jax_cuda_state_type", type_of<CudaState>);
}

}  // namespace hindcast::python
