// Simulations under JAX: handlers of XLA's foreign function interface, on the host. They call no
// Python and take no lock of its interpreter.
//
// A custom call carries the number of its function. What XLA compiles makes a State of it, which
// keeps the function as long as the compiled program: what Python keeps may go before. Operands are
// [batch..., size], each with those batch axes that it has (hindcast/_jax_rules.py); the kinds of
// calls are those of SceneFunction.
#include "app/python/src/bindings.hpp"
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

// Rows of numbers, whatever their precision.
class Rows {
public:
    Rows(ffi::AnyBuffer buffer, std::size_t size)
        : data_(buffer.untyped_data()), wide_(buffer.element_type() == ffi::F64), size_(size) {}
    std::vector<double> read(std::size_t row) const {
        std::vector<double> numbers(size_);
        for (std::size_t k = 0; k < size_; ++k)
            numbers[k] = wide_ ? static_cast<const double*>(data_)[row * size_ + k]
                               : static_cast<const float*>(data_)[row * size_ + k];
        return numbers;
    }
    void write(std::size_t row, std::span<const double> numbers) const {
        for (std::size_t k = 0; k < size_; ++k) {
            if (wide_)
                static_cast<double*>(data_)[row * size_ + k] = numbers[k];
            else
                static_cast<float*>(data_)[row * size_ + k] = static_cast<float>(numbers[k]);
        }
    }

private:
    void* data_;
    bool wide_;
    std::size_t size_;
};

// The row of an operand that a row of the result is of: `has` says which batch axes it has.
std::size_t row_of(std::size_t row, std::span<const std::int64_t> batch,
                   std::span<const std::int64_t> has) {
    std::size_t result = 0, stride = 1;
    for (std::size_t axis = batch.size(); axis-- > 0;) {
        const auto size = static_cast<std::size_t>(batch[axis]);
        if (has[axis] != 0) {
            result += row % size * stride;
            stride *= size;
        }
        row /= size;
    }
    return result;
}

using Kind = SceneFunction::Kind;

void run_rows(Kind kind, SceneFunction& f, ffi::RemainingArgs arguments, ffi::AnyBuffer result,
              std::span<const std::int64_t> batch, std::span<const std::int64_t> has) {
    const std::vector<std::size_t> sizes = f.operand_sizes(kind);
    const Rows out(result, f.result_size(kind));
    std::size_t count = 1;
    for (const std::int64_t size : batch) count *= static_cast<std::size_t>(size);
    std::vector<SceneFunction::Call> calls(count);
    for (std::size_t row = 0; row < count; ++row) {
        SceneFunction::Call& call = calls[row];
        call.kind = kind;
        std::vector<double>* const to[] = {&call.x, &call.a, &call.b};
        for (std::size_t k = 0; k < sizes.size(); ++k)
            *to[k] = Rows(*arguments.get<ffi::AnyBuffer>(k), sizes[k])
                         .read(row_of(row, batch, has.subspan(k * batch.size(), batch.size())));
    }
    if (count == 1) return out.write(0, f(calls[0]));
    const std::vector<std::vector<double>> results = f(calls);
    for (std::size_t row = 0; row < count; ++row) out.write(row, results[row]);
}

template <Kind kind>
ffi::Error call(State* state, ffi::RemainingArgs arguments, ffi::Result<ffi::AnyBuffer> result,
                std::int64_t /*function*/, Numbers batch, Numbers has) {
    try {
        require_own_process();
        if (result->element_count() > 0)
            run_rows(kind, *state->function, arguments, *result, {batch.begin(), batch.size()},
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
