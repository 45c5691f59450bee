// The elementary functions of the kernel language, for the host: each is a one-line kernel in f64,
// so that formulas and random numbers in a scene have the same bits everywhere, and those of the
// kernels. The interpreter runs it; once it was asked for many values, compiled code does.
#include <array>
#include <memory>

#include "engine/backend/cpu/cpu.hpp"
#include "engine/backend/interpreter/interpreter.hpp"
#include "engine/base/error.hpp"
#include "engine/lang/kernel.hpp"
#include "engine/sim/simulation.hpp"

namespace hindcast {

namespace {

using lang::Float;

// One function, evaluated on the calling thread.
class ElementaryFunction {
public:
    explicit ElementaryFunction(const lang::KernelDef& def)
        : kernel_(def.trace(ir::Precision::f64)), code_(backend::interpret(kernel_)) {}
    double operator()(double a, double b) {
        constexpr int many = 10'000;  // calls that take as long as compiling
        if (calls_ < many) {
            ++calls_;
            if (calls_ == many) compile();
        }
        double x[2] = {a, b}, y = 0;
        code_->run(bindings(x, &y).data(), 1, {});
        return y;
    }

private:
    // Without a compiler the interpreter does the work: the bits are the same.
    void compile() {
        try {
            code_ = backend::compile_cpu(kernel_, {.width = 1});
            code_->prepare(bindings(nullptr, nullptr).data(), 1);
        } catch (const Error&) {
            code_ = backend::interpret(kernel_);
        }
    }
    static std::array<backend::Binding, 2> bindings(double* x, double* y) {
        return {{{x, 1, 2, 1, 1}, {y, 1, 1, 1, 1}}};
    }

    ir::Kernel kernel_;
    std::shared_ptr<backend::Executable> code_;
    int calls_ = 0;
};

template <class F>
lang::KernelDef define(F f) {
    return lang::kernel("host_function", {"x", "y"},
                        [f](lang::Int i, lang::Read<lang::Vec2> x, lang::Write<Float> y) {
                            y[i] = f(x[i].x(), x[i].y());
                        });
}

}  // namespace

#define HINDCAST_HOST(name)                                                      \
    table.name = [](double x) {                                                  \
        thread_local ElementaryFunction f(                                       \
            define([](const Float& a, const Float&) { return lang::name(a); })); \
        return f(x, 0);                                                          \
    };

document::ElementaryTable own_elementary_functions() {
    document::ElementaryTable table;
    HINDCAST_HOST(sin)
    HINDCAST_HOST(cos)
    HINDCAST_HOST(tan)
    HINDCAST_HOST(asin)
    HINDCAST_HOST(acos)
    HINDCAST_HOST(atan)
    HINDCAST_HOST(sinh)
    HINDCAST_HOST(cosh)
    HINDCAST_HOST(tanh)
    HINDCAST_HOST(exp)
    HINDCAST_HOST(expm1)
    HINDCAST_HOST(log)
    HINDCAST_HOST(log1p)
    HINDCAST_HOST(cbrt)
    table.pow = [](double x, double y) {
        thread_local ElementaryFunction f(
            define([](const Float& a, const Float& b) { return lang::pow(a, b); }));
        return f(x, y);
    };
    table.atan2 = [](double y, double x) {
        thread_local ElementaryFunction f(
            define([](const Float& a, const Float& b) { return lang::atan2(a, b); }));
        return f(y, x);
    };
    return table;
}
#undef HINDCAST_HOST

}  // namespace hindcast
