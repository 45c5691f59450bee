// Runs one launch on the interpreter and on the CPU back end, and compares every byte that it
// wrote.
//
//     Launch launch(kernel, 100);
//     launch.set("x", values).set("ends", {0, 1, 1, 2});
//     CHECK(launch.differences() == "");
//
// Arrays that are not set hold reproducible numbers between -2 and 2; integer arrays that are not
// set hold 0. NaNs are all equal. The widths compared are 1, 4, 8 and 16; `threads` adds runs on a
// pool.
#pragma once

#include <fmt/core.h>

#include <cmath>
#include <cstring>
#include <initializer_list>
#include <map>
#include <random>
#include <string>
#include <vector>

#include "engine/backend/cpu.hpp"
#include "engine/backend/interpreter.hpp"
#include "engine/backend/llvm.hpp"
#include "engine/base/error.hpp"
#include "engine/base/thread_pool.hpp"
#include "engine/ir/evaluate.hpp"

namespace hindcast::test {

enum class Form { elements, planes, strided, shared };  // shared: one element for all indices

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

    // Contents of all arrays after a run, in logical order.
    std::vector<std::vector<ir::Bits>> run(backend::Executable& executable,
                                           ThreadPool* pool = nullptr) const {
        std::vector<std::vector<std::byte>> memory(arrays_.size());
        std::vector<backend::Binding> bindings(arrays_.size());
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
            const ir::Parameter& parameter = kernel_.parameters[p];
            const std::int64_t c = parameter.components,
                               n = static_cast<std::int64_t>(arrays_[p].values.size()) / c;
            backend::Binding& b = bindings[p];
            b = {nullptr, n, c, 1, ++version_, p % 2 == 0};
            if (arrays_[p].form == Form::planes) b.element_stride = 1, b.component_stride = n + 3;
            if (arrays_[p].form == Form::shared) b.element_stride = 0, b.count = items_;
            if (arrays_[p].form == Form::strided)
                b.element_stride = 2 * c + 1, b.component_stride = 2;
            memory[p].resize(static_cast<std::size_t>((n + 3) * (2 * c + 1)) * 8);
            b.data = memory[p].data();
            if (arrays_[p].same_as >= 0) b = bindings[static_cast<std::size_t>(arrays_[p].same_as)];
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

    // "" if the CPU gives the interpreter's bits at every width and number of threads; else what
    // differs first.
    std::string differences(bool checked = false, const std::vector<int>& threads = {}) const {
        const auto expected = run(*backend::interpret(kernel_));
        for (const int width : {1, 4, 8, 16}) {
            const auto executable =
                backend::compile_cpu(kernel_, {.width = width, .checked = checked});
            std::string found = compare(expected, run(*executable), width, 0);
            for (const int n : threads) {
                ThreadPool pool(n);
                if (found.empty()) found = compare(expected, run(*executable, &pool), width, n);
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
    // "" if interpreter and CPU raise the same Error at every width.
    std::string error_differences(bool checked) const {
        const std::string expected = error(*backend::interpret(kernel_));
        if (expected.empty()) return "the interpreter raises nothing";
        for (const int width : {1, 4, 8, 16}) {
            const std::string found =
                error(*backend::compile_cpu(kernel_, {.width = width, .checked = checked}));
            if (found != expected)
                return fmt::format("width {}: '{}' instead of '{}'", width, found, expected);
        }
        return "";
    }

private:
    struct Array {
        std::vector<ir::Bits> values;
        Form form = Form::elements;
        int same_as = -1;
    };

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

    std::string compare(const std::vector<std::vector<ir::Bits>>& expected,
                        const std::vector<std::vector<ir::Bits>>& found, int width,
                        int threads) const {
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
                return "width " + std::to_string(width) + ", threads " + std::to_string(threads) +
                       ": " + parameter.name + "[" +
                       std::to_string(k / static_cast<std::size_t>(parameter.components)) + "]." +
                       std::to_string(k % static_cast<std::size_t>(parameter.components)) + " is " +
                       text(found[p][k]) + " instead of " + text(expected[p][k]);
            }
        return "";
    }

    ir::Kernel kernel_;
    std::int64_t items_;
    std::vector<Array> arrays_;
    static inline std::uint64_t version_ = 0;
};

}  // namespace hindcast::test

// Kernels cannot be compiled without LLVM: such tests are skipped, with the reason.
#define HINDCAST_NEEDS_LLVM()                        \
    if (!::hindcast::backend::llvm_info().available) \
    HINDCAST_SKIP(::hindcast::backend::llvm_info().problem)
