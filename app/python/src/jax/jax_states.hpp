// Code that the handlers of XLA's foreign function interface share: the state of a simulation's
// call, and the registration of handlers and types with JAX.
#pragma once

#include <memory>
#include <string>

#include "app/python/src/bindings.hpp"
#include "app/python/src/calls/call_kinds.hpp"
#include "app/python/src/calls/numbered.hpp"
#include "app/python/src/jax/jax_interrupts.hpp"
#include "app/python/src/scenes/scene_functions.hpp"
#include "xla/ffi/api/ffi.h"

namespace hindcast::python {

namespace ffi = xla::ffi;

using Integers = ffi::Span<const std::int64_t>;

// The state that a compiled program keeps of a simulation it calls. Each platform has its own type,
// since its plugin numbers types by itself; `Platform` may add members.
template <class Platform>
struct SceneState : Platform {
    static ffi::TypeId id;
    static const ffi::TypeInfo info;
    std::shared_ptr<SceneCalls> function;

    // XLA insists that each stage takes all attributes of the call: `function` says which
    // simulation, or `made_of` in a program that was exported; `batch` the sizes of the batch axes,
    // `has` which of them each operand has.
    static ffi::ErrorOr<std::unique_ptr<SceneState>> make(std::int64_t function, Integers /*batch*/,
                                                          Integers /*has*/,
                                                          std::string_view made_of) {
        try {
            auto state = std::make_unique<SceneState>();
            state->function =
                made_of.empty() ? find_scene_function(function) : made_again<SceneCalls>(made_of);
            if (!state->function)
                return ffi::Unexpected(
                    ffi::Error::Internal("hindcast: the simulation of this program is gone"));
            return state;
        } catch (const std::exception& error) {
            return ffi::Unexpected(ffi::Error(ffi::ErrorCode::kInvalidArgument, error.what()));
        }
    }
    // With what Platform::prepare(function, kind) makes.
    template <SceneFunction::Kind kind>
    static ffi::ErrorOr<std::unique_ptr<SceneState>> make_prepared(std::int64_t function,
                                                                   Integers batch, Integers has,
                                                                   std::string_view made_of) {
        auto state = make(function, batch, has, made_of);
        if (state.has_error()) return state;
        try {
            const EndsByInterrupt here;
            (*state)->prepare(*(*state)->function, kind);
        } catch (const std::exception& error) {
            return ffi::Unexpected(ffi::Error(ffi::ErrorCode::kInvalidArgument, error.what()));
        }
        return state;
    }
};
template <class Platform>
ffi::TypeId SceneState<Platform>::id = {};
template <class Platform>
const ffi::TypeInfo SceneState<Platform>::info = ffi::MakeTypeInfo<SceneState<Platform>>();

// make: one of State's.
template <auto make>
XLA_FFI_Error* instantiate_scene(XLA_FFI_CallFrame* frame) {
    static const auto bound = ffi::Ffi::BindInstantiate()
                                  .Attr<std::int64_t>("function")
                                  .Attr<Integers>("batch")
                                  .Attr<Integers>("has")
                                  .Attr<std::string_view>("made_of")
                                  .To(make);
    return bound->Call(frame);
}

using Handler = XLA_FFI_Error* (*)(XLA_FFI_CallFrame*);

// As jax.ffi.register_ffi_target takes them.
inline nb::capsule pointer(Handler function) {
    return nb::capsule(reinterpret_cast<void*>(function));  // NOLINT: a capsule holds addresses
}
inline nb::dict stages(Handler instantiate, Handler execute) {
    nb::dict found;
    found["instantiate"] = pointer(instantiate);
    found["execute"] = pointer(execute);
    return found;
}
// As jax.ffi.register_ffi_type takes it.
template <class State>
nb::dict type_of() {
    nb::dict type;
    const void *const id = &State::id, *const info = &State::info;
    type["type_id"] = nb::capsule(id);
    type["type_info"] = nb::capsule(info);
    return type;
}

}  // namespace hindcast::python
