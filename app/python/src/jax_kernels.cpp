// Kernels under JAX: handlers of XLA's foreign function interface, on the host. They call no Python
// and take no lock of its interpreter.
//
// What XLA compiles makes a State of a custom call: the function, with a recording of the kind of
// call, and which row of each operand belongs to a row of the results. Operands are [batch...,
// *shape], each with those batch axes that it has (hindcast/_jax_rules.py). Results begin as the
// function says, never with what stood there.
#include <array>

#include "app/python/src/jax_rows.hpp"
#include "app/python/src/jax_states.hpp"
#include "app/python/src/kernel_functions.hpp"

namespace hindcast::python {

namespace {

using Kind = KernelFunction::Kind;

struct State {
    static ffi::TypeId id;
    static const ffi::TypeInfo info;
    std::shared_ptr<KernelFunction> function;
    Kind kind = Kind::value;
    std::size_t rows = 1;
    std::vector<std::vector<std::size_t>> row_of_operand;  // if there is more than one row
};
ffi::TypeId State::id = {};
const ffi::TypeInfo State::info = ffi::MakeTypeInfo<State>();

template <Kind kind>
ffi::ErrorOr<std::unique_ptr<State>> make_state(std::int64_t number, Integers batch, Integers has) {
    try {
        auto state = std::make_unique<State>();
        state->function = find_kernel_function(number);
        if (!state->function)
            return ffi::Unexpected(
                ffi::Error::Internal("hindcast: the function of this program is gone"));
        state->kind = kind;
        for (const std::int64_t size : batch) state->rows *= static_cast<std::size_t>(size);
        const std::size_t operands = state->function->operands(kind).size();
        const std::span<const std::int64_t> axes{batch.begin(), batch.size()};
        if (has.size() != operands * axes.size())
            return ffi::Unexpected(ffi::Error::Internal("hindcast: the batch axes are not told"));
        for (std::size_t k = 0; k < operands && state->rows > 1; ++k) {
            auto& rows = state->row_of_operand.emplace_back();
            for (std::size_t row = 0; row < state->rows; ++row)
                rows.push_back(row_of(row, axes, {has.begin() + k * axes.size(), axes.size()}));
        }
        state->function->prepare(kind);
        return state;
    } catch (const std::exception& error) {
        return ffi::Unexpected(ffi::Error(ffi::ErrorCode::kInvalidArgument, error.what()));
    }
}

// Addresses of operands or results, without an allocation for the usual number.
class Pointers {
public:
    explicit Pointers(std::size_t size) {
        if (size > few_.size()) many_.resize(size);
        data_ = size > few_.size() ? many_.data() : few_.data();
    }
    std::byte*& operator[](std::size_t k) { return data_[k]; }
    std::byte** data() { return data_; }

private:
    std::array<std::byte*, 24> few_{};
    std::vector<std::byte*> many_;
    std::byte** data_ = nullptr;
};

ffi::Error call(State* state, ffi::RemainingArgs arguments, ffi::RemainingRets results,
                ffi::Dictionary /*attributes*/) {
    try {
        require_own_process();
        const auto& in = state->function->operands(state->kind);
        const auto& out = state->function->results(state->kind);
        if (arguments.size() != in.size() || results.size() != out.size())
            return ffi::Error::Internal("hindcast: another number of operands is expected");
        Pointers from(in.size()), to(out.size()), first(in.size());
        for (std::size_t k = 0; k < in.size(); ++k) {
            const auto buffer = arguments.get<ffi::AnyBuffer>(k);
            if (!buffer) return buffer.error();
            from[k] = first[k] = static_cast<std::byte*>(buffer->untyped_data());
        }
        for (std::size_t k = 0; k < out.size(); ++k) {
            auto buffer = results.get<ffi::AnyBuffer>(k);
            if (!buffer) return buffer.error();
            to[k] = static_cast<std::byte*>((*buffer)->untyped_data());
        }
        if (state->rows == 0) return ffi::Error::Success();
        KernelFunction::Lease recording(*state->function, state->kind);
        if (state->rows == 1) {
            recording.run(from.data(), to.data());
            return ffi::Error::Success();
        }
        for (std::size_t row = 0; row < state->rows; ++row) {
            for (std::size_t k = 0; k < in.size(); ++k)
                from[k] = first[k] + state->row_of_operand[k][row] * in[k].bytes();
            recording.run(from.data(), to.data());
            for (std::size_t k = 0; k < out.size(); ++k) to[k] += out[k].bytes();
        }
    } catch (const std::exception& error) {
        return ffi::Error(ffi::ErrorCode::kInvalidArgument, error.what());
    }
    return ffi::Error::Success();
}

XLA_FFI_Error* execute(XLA_FFI_CallFrame* frame) {
    static const auto bound =
        ffi::Ffi::Bind().Ctx<ffi::State<State>>().RemainingArgs().RemainingRets().Attrs().To(call);
    return bound->Call(frame);
}

template <Kind kind>
XLA_FFI_Error* instantiate(XLA_FFI_CallFrame* frame) {
    static const auto bound = ffi::Ffi::BindInstantiate()
                                  .Attr<std::int64_t>("function")
                                  .Attr<Integers>("batch")
                                  .Attr<Integers>("has")
                                  .To(make_state<kind>);
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
XLA_FFI_Error* uninitialised(XLA_FFI_CallFrame* frame) {
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
        targets["hindcast_kernel_value"] = stages(instantiate<Kind::value>, execute);
        targets["hindcast_kernel_jvp"] = stages(instantiate<Kind::jvp>, execute);
        targets["hindcast_kernel_vjp"] = stages(instantiate<Kind::vjp>, execute);
        targets["hindcast_kernel_hvp"] = stages(instantiate<Kind::hvp>, execute);
        targets["hindcast_kernel_jvp2"] = stages(instantiate<Kind::jvp2>, execute);
        return targets;
    });
    m.def("_jax_kernel_state_type", type_of<State>);
    m.def("_jax_probes", [] {
        nb::dict targets;
        targets["hindcast_probe_nothing"] = pointer(nothing);
        targets["hindcast_probe_uninitialised"] = pointer(uninitialised);
        return targets;
    });
}

}  // namespace hindcast::python
