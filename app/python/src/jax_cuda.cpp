// Simulations under JAX on CUDA: the handlers of jax_functions.cpp for buffers on a device.
//
// A simulation is computed where it was made for, and its numbers pass through the host: operands
// are read on XLA's stream and waited for, the result is written on it. So a call can be no part of
// a command buffer: the handlers do not say that they can, and refuse a stream that is captured
// without touching it.
#include <bit>
#include <vector>

#include "app/python/src/jax_cuda_streams.hpp"
#include "app/python/src/jax_rows.hpp"
#include "app/python/src/jax_states.hpp"

namespace hindcast::python {

namespace cuda = backend::cuda;

namespace {

using Kind = SceneFunction::Kind;

struct Cuda;
using CudaState = SceneState<Cuda>;

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
ffi::Error call(cuda::StreamHandle stream, CudaState* state, ffi::RemainingArgs arguments,
                ffi::Result<ffi::AnyBuffer> result, std::int64_t /*function*/, Integers batch,
                Integers has) {
    try {
        require_own_process();
        if (is_captured(stream))
            return ffi::Error(ffi::ErrorCode::kFailedPrecondition,
                              "hindcast: a simulation passes through the host and cannot be "
                              "captured into a command buffer");
        if (result->element_count() > 0)
            run(kind, stream, *state->function, arguments, *result, {batch.begin(), batch.size()},
                {has.begin(), has.size()});
    } catch (const std::exception& error) {
        return ffi::Error(ffi::ErrorCode::kInvalidArgument, error.what());
    }
    return ffi::Error::Success();
}

template <Kind kind>
XLA_FFI_Error* handler(XLA_FFI_CallFrame* frame) {
    static const auto bound = ffi::Ffi::Bind()
                                  .Ctx<ffi::PlatformStream<cuda::StreamHandle>>()
                                  .Ctx<ffi::State<CudaState>>()
                                  .RemainingArgs()
                                  .Ret<ffi::AnyBuffer>()
                                  .Attr<std::int64_t>("function")
                                  .Attr<Integers>("batch")
                                  .Attr<Integers>("has")
                                  .To(call<kind>);
    return bound->Call(frame);
}

}  // namespace

void bind_jax_cuda(nb::module_& m) {
    m.def("_jax_cuda_targets", [] {
        nb::dict targets;
        for_each_call<Kind>([&]<Kind kind>(const std::string& name) {
            targets[("hindcast_" + name).c_str()] =
                stages(instantiate_scene<CudaState>, handler<kind>);
        });
        return targets;
    });
    m.def("_jax_cuda_state_type", type_of<CudaState>);
}

}  // namespace hindcast::python
