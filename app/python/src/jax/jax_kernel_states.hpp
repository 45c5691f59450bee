// State that the handlers of kernels share, on the host and on CUDA devices.
//
// XLA's compilation makes a state of a custom call: the function, with a recording of the kind of
// call, and the row of each operand that belongs to a row of the results. Operands are
// [batch..., *shape], each with those batch axes that it has (hindcast/_jax_rules.py). Results
// start with the function's initial values, never with a buffer's old content.
#pragma once

#include <array>

#include "app/python/src/jax/jax_rows.hpp"
#include "app/python/src/jax/jax_states.hpp"
#include "app/python/src/kernels/kernel_functions.hpp"

namespace hindcast::python {

// A type of its own for each platform, since its plugin numbers types by itself. `Platform` may add
// members, and prepare(function, kind).
template <class Platform>
struct KernelState : Platform {
    static ffi::TypeId id;
    static const ffi::TypeInfo info;
    std::shared_ptr<KernelFunction> function;
    KernelFunction::Kind kind = KernelFunction::Kind::value;
    std::size_t rows = 1;
    std::vector<std::vector<std::size_t>> row_of_operand;  // if there is more than one row
    std::size_t divided_axes = 0;  // each operand has these, and its dimensions say how many rows

    template <KernelFunction::Kind of>
    static ffi::ErrorOr<std::unique_ptr<KernelState>> make(std::int64_t number, Integers batch,
                                                           Integers has, std::string_view made_of) {
        try {
            const EndsByInterrupt here;
            auto state = std::make_unique<KernelState>();
            state->function = made_of.empty() ? find_kernel_function(number)
                                              : made_again<KernelFunction>(made_of);
            if (!state->function)
                return ffi::Unexpected(
                    ffi::Error::Internal("hindcast: the function of this program is gone"));
            state->kind = of;
            if (batch.size() > 0 && batch[0] < 0) {
                state->divided_axes = batch.size();
                state->prepare(*state->function, of);
                return state;
            }
            for (const std::int64_t size : batch) state->rows *= static_cast<std::size_t>(size);
            const std::size_t operands = state->function->operands(of).size();
            const std::span<const std::int64_t> axes{batch.begin(), batch.size()};
            if (has.size() != operands * axes.size())
                return ffi::Unexpected(
                    ffi::Error::Internal("hindcast: the batch axes are not told"));
            for (std::size_t k = 0; k < operands && state->rows > 1; ++k) {
                auto& rows = state->row_of_operand.emplace_back();
                for (std::size_t row = 0; row < state->rows; ++row)
                    rows.push_back(row_of(row, axes, {has.begin() + k * axes.size(), axes.size()}));
            }
            state->prepare(*state->function, of);
            return state;
        } catch (const std::exception& error) {
            return ffi::Unexpected(ffi::Error(ffi::ErrorCode::kInvalidArgument, error.what()));
        }
    }
};
template <class Platform>
ffi::TypeId KernelState<Platform>::id = {};
template <class Platform>
const ffi::TypeInfo KernelState<Platform>::info = ffi::MakeTypeInfo<KernelState<Platform>>();

template <class State, KernelFunction::Kind kind>
XLA_FFI_Error* instantiate_kernel(XLA_FFI_CallFrame* frame) {
    static const auto bound = ffi::Ffi::BindInstantiate()
                                  .Attr<std::int64_t>("function")
                                  .Attr<Integers>("batch")
                                  .Attr<Integers>("has")
                                  .Attr<std::string_view>("made_of")
                                  .To(State::template make<kind>);
    return bound->Call(frame);
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

// All rows of a call. work(rows) gets what takes a function of the addresses of operands and results,
// rows(call), and calls it once for each row.
template <class State, class Work>
ffi::Error run_calls(const State& state, ffi::RemainingArgs arguments, ffi::RemainingRets results,
                     const Work& work) {
    try {
        require_own_process();
        const auto& in = state.function->operands(state.kind);
        const auto& out = state.function->results(state.kind);
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
        std::size_t rows = state.rows;
        for (std::size_t axis = 0; axis < state.divided_axes; ++axis)
            rows *= static_cast<std::size_t>(arguments.get<ffi::AnyBuffer>(0)->dimensions()[axis]);
        if (rows == 0) return ffi::Error::Success();
        work([&](const auto& call) {
            if (rows == 1) return call(from.data(), to.data());
            for (std::size_t row = 0; row < rows; ++row) {
                for (std::size_t k = 0; k < in.size(); ++k) {
                    const std::size_t own =
                        state.divided_axes > 0 ? row : state.row_of_operand[k][row];
                    from[k] = first[k] + own * in[k].bytes();
                }
                call(from.data(), to.data());
                for (std::size_t k = 0; k < out.size(); ++k) to[k] += out[k].bytes();
            }
        });
    } catch (const std::exception& error) {
        return ffi::Error(ffi::ErrorCode::kInvalidArgument, error.what());
    }
    return ffi::Error::Success();
}

}  // namespace hindcast::python
