// The elementary functions of the kernel language, for the host: each is a one-line kernel run by
// the interpreter in f64, so that formulas and random numbers in a scene have the same bits
// everywhere, and those of the kernels.
#include <memory>

#include "engine/backend/interpreter.hpp"
#include "engine/lang/kernel.hpp"
#include "engine/sim/simulation.hpp"

namespace hindcast {

namespace {

using lang::Float;

// One function, evaluated on the calling thread.
class HostFunction {
public:
    explicit HostFunction(const lang::KernelDef& def)
        : code_(backend::interpret(def.trace(ir::Precision::f64))) {}
    double operator()(double a, double b) {
        double x[2] = {a, b}, y = 0;
        const backend::Binding bindings[2] = {{x, 1, 2, 1, 1}, {&y, 1, 1, 1, 1}};
        code_->run(bindings, 1, {});
        return y;
    }

private:
    std::shared_ptr<backend::Executable> code_;
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
        thread_local HostFunction f(                                             \
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
        thread_local HostFunction f(
            define([](const Float& a, const Float& b) { return lang::pow(a, b); }));
        return f(x, y);
    };
    table.atan2 = [](double y, double x) {
        thread_local HostFunction f(
            define([](const Float& a, const Float& b) { return lang::atan2(a, b); }));
        return f(y, x);
    };
    return table;
}
#undef HINDCAST_HOST

}  // namespace hindcast
