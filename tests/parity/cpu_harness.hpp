// Runs one launch on the interpreter, on the CPU back end and on the CUDA device (devices.hpp), and
// compares every byte that it wrote.
//
//     HINDCAST_NEEDS_LLVM();               // first in the test case
//     Launch launch(kernel, 100);
//     launch.set("x", values).set("ends", {0, 1, 1, 2});
//     CHECK(launch.differences() == "");   // interpreter and CPU; CUDA at the end of the case
//
// A CUDA driver in software takes 100 ms to compile one kernel and 30 for each of many: the
// launches of a test case are compiled together at its end (AtEndOnCuda), and compared then.
//
// Arrays that are not set hold reproducible numbers between -2 and 2; integer arrays that are not
// set hold 0. NaNs are all equal. The widths compared are 1, 4, 8 and 16; `threads` adds runs on a
// pool.
#pragma once

#include <doctest/doctest.h>
#include <fmt/core.h>

#include <cmath>
#include <cstring>
#include <exception>
#include <initializer_list>
#include <map>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include "engine/backend/cpu/cpu.hpp"
#include "engine/backend/interpreter/interpreter.hpp"
#include "engine/backend/jit/llvm.hpp"
#include "engine/base/error.hpp"
#include "engine/base/thread_pool.hpp"
#include "engine/ir/evaluate.hpp"
#include "tests/support/devices.hpp"
#include "tests/support/kernels/cuda_kernel.hpp"

namespace hindcast::test {

enum class Form { elements, planes, strided, shared };  // shared: one element for all indices

class Launch;

// For tests that run one executable several times: the CPU's and, if there is one, the CUDA
// device's.
inline std::vector<std::shared_ptr<backend::Executable>> executables(const ir::Kernel& kernel) {
    std::vector<std::shared_ptr<backend::Executable>> all = {backend::compile_cpu(kernel)};
    if (has_cuda_device()) all.push_back(cuda_kernel(kernel));
    return all;
}

// The CUDA part of a test case: launches with what they must come to, or must fail with.
class AtEndOnCuda {
public:
    AtEndOnCuda() : before_(current_) { current_ = this; }
    ~AtEndOnCuda();
    AtEndOnCuda(const AtEndOnCuda&) = delete;
    AtEndOnCuda& operator=(const AtEndOnCuda&) = delete;
    static AtEndOnCuda* current() { return has_cuda_device() ? current_ : nullptr; }
    void expect(const Launch& launch, std::vector<std::vector<ir::Bits>> contents,
                std::string error);

private:
    struct Expected;
    std::vector<std::unique_ptr<Expected>> all_;
    AtEndOnCuda* before_ = nullptr;
    static inline AtEndOnCuda* current_ = nullptr;
};

class Launch {
public:
    Launch(ir::Kernel kernel, std::int64_t items)
        : kernel_(std::move(kernel)), items_(items), arrays_(kernel_.parameters.size()) {
        std::mt19937_64 random(7);
        std::uniform_real_distribution<double> uniform(-2, 2);
        for (std::size_t p = 0; p < arrays_.size(); ++p) {
            const ir::Parameter& parameter = kernel_.parameters[p];
            const bool one = is_one(parameter);
            arrays_[p].values.assign(
                static_cast<std::size_t>((one ? 1 : items) * parameter.components), 0);
            for (ir::Bits& v : arrays_[p].values)
                if (ir::is_real(parameter.type))
                    v = ir::bits_of(uniform(random), memory_type(parameter));
        }
    }

    Launch& set(const std::string& name, const std::vector<double>& values) {
        const std::size_t p = find(name);
        const ir::Type type = memory_type(kernel_.parameters[p]);
        arrays_[p].values.clear();
        for (const double v : values)
            arrays_[p].values.push_back(ir::is_real(type)
                                            ? ir::bits_of(v, type)
                                            : static_cast<ir::Bits>(static_cast<std::int64_t>(v)));
        return *this;
    }
    Launch& set_bits(const std::string& name, std::vector<ir::Bits> values) {
        arrays_[find(name)].values = std::move(values);
        return *this;
    }
    Launch& resize(const std::string& name, std::int64_t elements) {  // 0 everywhere
        const std::size_t p = find(name);
        arrays_[p].values.assign(
            static_cast<std::size_t>(elements * kernel_.parameters[p].components), 0);
        return *this;
    }
    Launch& form(const std::string& name, Form form) {
        arrays_[find(name)].form = form;
        return *this;
    }
    Launch& share(const std::string& name, const std::string& with) {  // two parameters, one buffer
        arrays_[find(name)].same_as = static_cast<int>(find(with));
        return *this;
    }
    const ir::Kernel& kernel() const { return kernel_; }

    // ArrayFacts of all arrays after a run, in logical order.
    std::vector<std::vector<ir::Bits>> run(backend::Executable& executable,
                                           ThreadPool* pool = nullptr) const {
        std::vector<std::vector<std::byte>> memory(arrays_.size());
        std::vector<backend::Binding> bindings = bound();
        const auto each = [&](const auto& visit) {
            for (std::size_t p = 0; p < arrays_.size(); ++p) {
                const ir::Parameter& parameter = kernel_.parameters[p];
                const std::size_t size = ir::size_of(memory_type(parameter));
                const auto n =
                    static_cast<std::int64_t>(arrays_[p].values.size()) / parameter.components;
                for (std::int64_t i = 0; i < n; ++i)
                    for (int c = 0; c < parameter.components; ++c) {
                        const std::int64_t at =
                            i * bindings[p].element_stride + c * bindings[p].component_stride;
                        visit(p, static_cast<std::size_t>(i * parameter.components + c),
                              static_cast<std::byte*>(bindings[p].data) +
                                  at * static_cast<std::int64_t>(size),
                              size);
                    }
            }
        };
        for (std::size_t p = 0; p < arrays_.size(); ++p) {
            const auto c = static_cast<std::size_t>(kernel_.parameters[p].components);
            memory[p].resize((arrays_[p].values.size() / c + 3) * (2 * c + 1) * 8);
            const int same_as = arrays_[p].same_as;
            bindings[p].data = memory[same_as >= 0 ? static_cast<std::size_t>(same_as) : p].data();
        }
        each([&](std::size_t p, std::size_t k, std::byte* at, std::size_t size) {
            if (arrays_[p].same_as < 0) std::memcpy(at, &arrays_[p].values[k], size);
        });
        executable.run(bindings.data(), items_, {pool});
        std::vector<std::vector<ir::Bits>> out(arrays_.size());
        for (std::size_t p = 0; p < arrays_.size(); ++p) out[p].resize(arrays_[p].values.size());
        each([&](std::size_t p, std::size_t k, const std::byte* at, std::size_t size) {
            ir::Bits bits = 0;
            std::memcpy(&bits, at, size);
            const ir::Type type = memory_type(kernel_.parameters[p]);
            if (ir::is_real(type) && std::isnan(ir::real_of(bits, type)))
                bits = ir::bits_of(std::nan(""), type);
            out[p][k] = bits;
        });
        return out;
    }

    // Compiles what run() needs, together with all else that is prepared before (cuda_kernel.hpp).
    void prepare(backend::Executable& executable) const {
        executable.prepare(bound().data(), items_);
    }
    // At the end of the test case a CUDA device must come to the same as `contents`.
    void expect_on_cuda(const std::vector<std::vector<ir::Bits>>& contents) const {
        if (AtEndOnCuda* const end = AtEndOnCuda::current()) end->expect(*this, contents, "");
    }

    // "" if the CPU gives the interpreter's bits at every width and number of threads; else what
    // differs first. CUDA's bits are compared at the end of the test case.
    std::string differences(bool checked = false, const std::vector<int>& threads = {}) const {
        const auto expected = run(*backend::interpret(kernel_));
        expect_on_cuda(expected);
        for (const int width : {1, 4, 8, 16}) {
            const auto executable =
                backend::compile_cpu(kernel_, {.width = width, .checked = checked});
            const auto on = [&](int n) { return fmt::format("width {}, threads {}", width, n); };
            std::string found = compare(expected, run(*executable), on(0));
            for (const int n : threads) {
                ThreadPool pool(n);
                if (found.empty()) found = compare(expected, run(*executable, &pool), on(n));
            }
            if (!found.empty()) return found;
        }
        return "";
    }

    // The message of the Error that a run must raise.
    std::string error(backend::Executable& executable, ThreadPool* pool = nullptr) const {
        try {
            run(executable, pool);
        } catch (const Error& e) {
            return e.what();
        }
        return "";
    }
    // "" if interpreter and CPU raise the same Error at every width. What is found unchecked a CUDA
    // device finds too, at the end of the test case.
    std::string error_differences(bool checked) const {
        const std::string expected = error(*backend::interpret(kernel_));
        if (expected.empty()) return "the interpreter raises nothing";
        if (AtEndOnCuda* const end = checked ? nullptr : AtEndOnCuda::current())
            end->expect(*this, {}, expected);
        for (const int width : {1, 4, 8, 16}) {
            const std::string found =
                error(*backend::compile_cpu(kernel_, {.width = width, .checked = checked}));
            if (found != expected)
                return fmt::format("width {}: '{}' instead of '{}'", width, found, expected);
        }
        return "";
    }

    // What differs first, with `where` before it; or "".
    std::string compare(const std::vector<std::vector<ir::Bits>>& expected,
                        const std::vector<std::vector<ir::Bits>>& found,
                        const std::string& where) const {
        for (std::size_t p = 0; p < expected.size(); ++p)
            for (std::size_t k = 0; k < expected[p].size(); ++k) {
                if (expected[p][k] == found[p][k]) continue;
                const ir::Parameter& parameter = kernel_.parameters[p];
                const ir::Type type = memory_type(parameter);
                const auto text = [&](ir::Bits bits) {
                    char buffer[80];
                    if (ir::is_real(type))
                        std::snprintf(buffer, sizeof buffer, "%.17g", ir::real_of(bits, type));
                    else
                        std::snprintf(buffer, sizeof buffer, "%lld",
                                      static_cast<long long>(ir::integer_of(bits, type)));
                    return std::string(buffer);
                };
                const auto components = static_cast<std::size_t>(parameter.components);
                return where + ": " + parameter.name + "[" + std::to_string(k / components) + "]." +
                       std::to_string(k % components) + " is " + text(found[p][k]) +
                       " instead of " + text(expected[p][k]);
            }
        return "";
    }

private:
    struct Array {
        std::vector<ir::Bits> values;
        Form form = Form::elements;
        int same_as = -1;
    };

    // Without memory.
    std::vector<backend::Binding> bound() const {
        std::vector<backend::Binding> bindings(arrays_.size());
        for (std::size_t p = 0; p < arrays_.size(); ++p) {
            const std::int64_t c = kernel_.parameters[p].components,
                               n = static_cast<std::int64_t>(arrays_[p].values.size()) / c;
            backend::Binding& b = bindings[p];
            b = {nullptr, n, c, 1, ++version_, p % 2 == 0};
            if (arrays_[p].form == Form::planes) b.element_stride = 1, b.component_stride = n + 3;
            if (arrays_[p].form == Form::shared) b.element_stride = 0, b.count = items_;
            if (arrays_[p].form == Form::strided)
                b.element_stride = 2 * c + 1, b.component_stride = 2;
            if (arrays_[p].same_as >= 0) b = bindings[static_cast<std::size_t>(arrays_[p].same_as)];
        }
        return bindings;
    }

    static bool is_one(const ir::Parameter& p) {
        return p.access == ir::Access::value || p.access == ir::Access::reduce;
    }
    static ir::Type memory_type(const ir::Parameter& p) {
        return is_one(p) && ir::is_real(p.type) ? ir::Type::f64 : p.type;
    }
    std::size_t find(const std::string& name) const {
        const int p = kernel_.find_parameter(name);
        if (p < 0) throw Error("no parameter '" + name + "'");
        return static_cast<std::size_t>(p);
    }

    ir::Kernel kernel_;
    std::int64_t items_;
    std::vector<Array> arrays_;
    static inline std::uint64_t version_ = 0;
};

struct AtEndOnCuda::Expected {
    Launch launch;
    std::vector<std::vector<ir::Bits>> contents;
    std::string error;
    std::shared_ptr<backend::Executable> executable;
};

inline void AtEndOnCuda::expect(const Launch& launch, std::vector<std::vector<ir::Bits>> contents,
                                std::string error) {
    all_.push_back(std::make_unique<Expected>(
        Expected{launch, std::move(contents), std::move(error), cuda_kernel(launch.kernel())}));
}

inline AtEndOnCuda::~AtEndOnCuda() {
    current_ = before_;
    if (std::uncaught_exceptions() > 0) return;  // the test case has failed
    try {
        for (const auto& e : all_) e->launch.prepare(*e->executable);
        for (const auto& e : all_) {
            CAPTURE(e->launch.kernel().name);
            if (e->error.empty())
                CHECK(e->launch.compare(e->contents, e->launch.run(*e->executable), "CUDA") == "");
            else
                CHECK(e->launch.error(*e->executable) == e->error);
            e->executable.reset();
        }
    } catch (const std::exception& e) {
        FAIL_CHECK("CUDA: " << e.what());
    }
}

}  // namespace hindcast::test

// Kernels cannot be compiled without LLVM: such tests are skipped, with the reason.
#define HINDCAST_NEEDS_LLVM()                                    \
    if (!::hindcast::backend::llvm_info().available)             \
        HINDCAST_SKIP(::hindcast::backend::llvm_info().problem); \
    const ::hindcast::test::AtEndOnCuda on_cuda
