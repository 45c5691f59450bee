// Simulations under JAX on CUDA: the handlers of jax_functions.cpp for buffers on a device.
//
// A simulation is computed where it was made for, and its numbers pass through the host: operands
// are read on XLA's stream and waited for, the result is written on it. So a call can be no part of
// a command buffer: the handlers do not say that they can, and refuse a stream that is captured
// without touching it.
#include <bit>
#include <vector>

#include "app/python/src/bindings.hpp"
#include "app/python/src/jax_rows.hpp"
#include "app/python/src/scene_functions.hpp"
#include "engine/backend/cuda_driver.hpp"
#include "engine/base/error.hpp"
#include "xla/ffi/api/ffi.h"

namespace hindcast::python {

namespace ffi = xla::ffi;
namespace cuda = backend::cuda;

namespace {

using Kind = SceneFunction::Kind;

// A type of its own: the plugin for CUDA numbers types by itself.
struct CudaState {
    static ffi::TypeId id;
    static const ffi::TypeInfo info;
    std::shared_ptr<SceneFunction> function;
};
ffi::TypeId CudaState::id = {};
const ffi::TypeInfo CudaState::info = ffi::MakeTypeInfo<CudaState>();

using Integers = ffi::Span<const std::int64_t>;

// XLA hands all attributes to each stage.
ffi::ErrorOr<std::unique_ptr<CudaState>> make_state(std::int64_t function, Integers /*batch*/,
                                                    Integers /*has*/) {
    auto state = std::make_unique<CudaState>();
    state->function = find_scene_function(function);
    if (!state->function)
        return ffi::Unexpected(
            ffi::Error::Internal("hindcast: the simulation of this program is gone"));
    return state;
}

void check(int result, const char* asked) {
    if (result != cuda::success)
        throw Error(std::string("hindcast: CUDA was asked for ") + asked + ": " +
                    cuda::driver().words_for(result));
}

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
            check(d.MemcpyDtoHAsync(copy.host.data(), copy.address, copy.host.size(), stream),
                  "an operand");
    }
    check(d.StreamSynchronize(stream), "the operands");
    const Copy out(result);
    run_rows(kind, function, numbers, out.numbers, batch, has);
    check(d.MemcpyHtoDAsync(out.address, out.host.data(), out.host.size(), stream), "the result");
}

template <Kind kind>
ffi::Error call(cuda::StreamHandle stream, CudaState* state, ffi::RemainingArgs arguments,
                ffi::Result<ffi::AnyBuffer> result, std::int64_t /*function*/, Integers batch,
                Integers has) {
    try {
        require_own_process();
        int captured = 0;
        check(cuda::driver().StreamIsCapturing(stream, &captured), "the state of a stream");
        if (captured != 0)
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

XLA_FFI_Error* instantiate(XLA_FFI_CallFrame* frame) {
    static const auto bound = ffi::Ffi::BindInstantiate()
                                  .Attr<std::int64_t>("function")
                                  .Attr<Integers>("batch")
                                  .Attr<Integers>("has")
                                  .To(make_state);
    return bound->Call(frame);
}

template <class F>
nb::capsule pointer(F* function) {
    return nb::capsule(reinterpret_cast<void*>(function));  // NOLINT: a capsule holds addresses
}

}  // namespace

void bind_jax_cuda(nb::module_& m) {
    m.def("_jax_cuda_targets", [] {
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
    m.def("_jax_cuda_state_type", [] {
        nb::dict type;
        type["type_id"] = nb::capsule(static_cast<const void*>(&CudaState::id));
        type["type_info"] = nb::capsule(static_cast<const void*>(&CudaState::info));
        return type;
    });
}

}  // namespace hindcast::python
