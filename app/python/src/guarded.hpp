// Work that takes long: without the interpreter's lock, and what Ctrl-C raises ends it. Objects that
// do such work: one thread at a time works with one.
#pragma once

#include <unistd.h>

#include <cstdio>
#include <exception>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <type_traits>
#include <utility>

#include "app/python/src/bindings.hpp"
#include "engine/backend/jit/interruption.hpp"
#include "engine/backend/jit/machine_code.hpp"
#include "engine/sim/runs/interrupted.hpp"

namespace hindcast::python {

using runs::Interrupted;

// On the error stream, if that is a terminal; replaced by the next text.
inline void show_on_terminal(const std::string& text) {
    if (::isatty(STDERR_FILENO) == 0) return;
    std::fprintf(stderr, "\r%s\x1b[K", text.c_str());
    std::fflush(stderr);
}

// f() without Python, unless an error that Ctrl-C raises ends it (interruption.hpp): then that error.
template <class F>
auto interruptibly(F f) {
    require_own_process();
    const nb::gil_scoped_release release;
    std::exception_ptr raised;
    const backend::Interruptible here([&raised] {
        // Signals are Python's; they come to its main thread alone.
        const nb::gil_scoped_acquire acquire;
        if (PyErr_CheckSignals() == 0) return;
        try {
            throw nb::python_error();
        } catch (...) {
            raised = std::current_exception();
        }
        throw Interrupted();
    });
    const backend::CodeListener compiling(show_on_terminal);
    try {
        return f();
    } catch (const Interrupted&) {
        if (raised) std::rethrow_exception(raised);
        throw;
    }
}

// T has a function go_on, which says whether the work goes on, and throws Interrupted if not.
template <class T>
class Guarded {
public:
    template <class First, class Second, class... More>
    Guarded(First&& first, Second&& second, More&&... more)
        : object_(std::forward<First>(first), std::forward<Second>(second),
                  std::forward<More>(more)...) {
        object_.go_on = [this] {
            const nb::gil_scoped_acquire acquire;
            if (PyErr_CheckSignals() == 0) return true;
            raised();
            return false;
        };
    }

    // f(T&) without Python; what it returns must not be Python's.
    template <class F>
    auto with(F f) {
        return interruptibly([&] {
            const std::lock_guard lock(mutex_);
            error_ = nullptr;
            try {
                return f(object_);
            } catch (const Interrupted&) {
                rethrow();
                throw;
            }
        });
    }

    // Python's error is kept until the work has ended.
    void raised() {
        try {
            throw nb::python_error();
        } catch (...) {
            error_ = std::current_exception();
        }
    }
    void rethrow() {
        if (error_) std::rethrow_exception(std::exchange(error_, nullptr));
    }

private:
    std::recursive_mutex mutex_;  // an optimization's callback may read values
    T object_;
    std::exception_ptr error_;
};

using Numbers = nb::ndarray<const double, nb::c_contig, nb::device::cpu>;
inline std::span<const double> span_of(const Numbers& numbers) {
    return {numbers.data(), numbers.size()};
}

template <class T>
nb::capsule kept_by(T object) {
    return nb::capsule(new T(std::move(object)),
                       [](void* p) noexcept { delete static_cast<T*>(p); });
}

}  // namespace hindcast::python
