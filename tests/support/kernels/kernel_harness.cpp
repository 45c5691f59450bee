#include "tests/support/kernels/kernel_harness.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdio>
#include <cstring>

#include "engine/ad/differentiate.hpp"
#include "engine/backend/interpreter/interpreter.hpp"

namespace hindcast::test {

using ir::Access;
using ir::Kernel;
using ir::Parameter;
using ir::Type;

Compile interpreter() {
    return [](const Kernel& kernel) { return backend::interpret(kernel); };
}

// ---- running

namespace {

using Bytes = std::vector<std::byte>;

template <class T>
Bytes packed(const auto& values) {
    Bytes bytes(values.size() * sizeof(T));
    for (std::size_t k = 0; k < values.size(); ++k) {
        const T v = static_cast<T>(values[k]);
        std::memcpy(&bytes[k * sizeof(T)], &v, sizeof(T));
    }
    return bytes;
}
template <class T>
void unpack(const Bytes& bytes, auto& values) {
    for (std::size_t k = 0; k < values.size(); ++k) {
        T v;
        std::memcpy(&v, &bytes[k * sizeof(T)], sizeof(T));
        values[k] = static_cast<std::decay_t<decltype(values[k])>>(v);
    }
}

bool is_scalar(const Parameter& p) {
    return p.access == Access::value || p.access == Access::reduce;
}
bool is_target(const Parameter& p) {
    return p.access == Access::accumulate || p.access == Access::sum || p.access == Access::reduce;
}
Type type_in_memory(const Parameter& p) {
    return is_scalar(p) && ir::is_real(p.type) ? Type::f64 : p.type;
}

Bytes to_memory(const Parameter& p, const Data& data) {
    switch (type_in_memory(p)) {
        case Type::f32: return packed<float>(data.real.at(p.name));
        case Type::f64: return packed<double>(data.real.at(p.name));
        case Type::i32: return packed<std::int32_t>(data.whole.at(p.name));
        case Type::u32: return packed<std::uint32_t>(data.whole.at(p.name));
        default: return packed<std::int64_t>(data.whole.at(p.name));
    }
}

void from_memory(const Parameter& p, const Bytes& bytes, Data& data) {
    switch (type_in_memory(p)) {
        case Type::f32: unpack<float>(bytes, data.real[p.name]); break;
        case Type::f64: unpack<double>(bytes, data.real[p.name]); break;
        case Type::i32: unpack<std::int32_t>(bytes, data.whole[p.name]); break;
        case Type::u32: unpack<std::uint32_t>(bytes, data.whole[p.name]); break;
        default: unpack<std::int64_t>(bytes, data.whole[p.name]); break;
    }
}

}  // namespace

void run(backend::Executable& executable, Data& data, std::int64_t items) {
    const Kernel& kernel = executable.kernel();
    const std::vector<char> used = ad::used_parameters(kernel);
    std::vector<Bytes> memory(kernel.parameters.size());
    std::vector<backend::Binding> bindings(kernel.parameters.size());
    for (std::size_t p = 0; p < kernel.parameters.size(); ++p) {
        const Parameter& parameter = kernel.parameters[p];
        const bool given =
            data.real.contains(parameter.name) || data.whole.contains(parameter.name);
        if (!used[p] && !given) continue;
        memory[p] = to_memory(parameter, data);
        const std::size_t scalars = memory[p].size() / ir::size_of(type_in_memory(parameter));
        bindings[p] = {memory[p].data(), static_cast<std::int64_t>(scalars) / parameter.components,
                       parameter.components, 1, 1};
    }
    executable.run(bindings.data(), items, {});
    for (std::size_t p = 0; p < kernel.parameters.size(); ++p)
        if (!memory[p].empty()) from_memory(kernel.parameters[p], memory[p], data);
}

void run(const Kernel& kernel, Data& data, std::int64_t items, const Compile& compile) {
    run(*compile(kernel), data, items);
}

namespace {

void add_derivatives(const Kernel& kernel, Data& data, const Values& given,
                     const std::vector<std::string>& active, const auto& name_of) {
    for (const Parameter& p : kernel.parameters) {
        if (!ir::is_real(p.type)) continue;
        if (!active.empty() && std::ranges::find(active, p.name) == active.end()) continue;
        const auto found = given.find(p.name);
        data.real[name_of(kernel, p.name)] =
            found != given.end() ? found->second
                                 : std::vector<double>(data.real.at(p.name).size(), 0.0);
    }
}

}  // namespace

Data run_adjoint(const Kernel& kernel, Data data, std::int64_t items, const Values& seeds,
                 const std::vector<std::string>& active) {
    add_derivatives(kernel, data, seeds, active, ad::adjoint_name);
    run(ad::adjoint(kernel, active), data, items);
    return data;
}

Data run_tangent(const Kernel& kernel, Data data, std::int64_t items, const Values& directions,
                 const std::vector<std::string>& active) {
    add_derivatives(kernel, data, directions, active, ad::tangent_name);
    run(ad::tangent(kernel, active), data, items);
    return data;
}

Data inputs(const Case& test_case, std::mt19937_64& random) {
    Data data;
    std::uniform_real_distribution<double> uniform(0.3, 1.3);
    for (const Parameter& p : test_case.kernel.parameters) {
        const auto size = test_case.sizes.find(p.name);
        std::int64_t elements = is_scalar(p) ? 1 : test_case.items;
        if (size != test_case.sizes.end()) elements = size->second;
        if (!ir::is_real(p.type)) {
            data.whole[p.name] = test_case.whole.at(p.name);
            continue;
        }
        std::vector<double>& values = data.real[p.name];
        values.resize(static_cast<std::size_t>(elements * p.components));
        for (double& v : values) v = is_target(p) ? 0 : uniform(random);
    }
    return data;
}

void add_derivative_inputs(const Kernel& derived, Data& data, std::mt19937_64& random) {
    std::uniform_real_distribution<double> uniform(-1, 1);
    for (const Parameter& p : derived.parameters) {
        if (!ir::is_real(p.type) || data.real.contains(p.name)) continue;
        const std::string of = p.name.substr(0, p.name.rfind('.'));
        std::vector<double> values(data.real.at(of).size());
        for (double& v : values) v = is_target(p) ? 0 : uniform(random);
        data.real[p.name] = std::move(values);
    }
}

bool same_bits(double a, double b) {
    if (std::isnan(a) && std::isnan(b)) return true;
    return std::bit_cast<std::uint64_t>(a) == std::bit_cast<std::uint64_t>(b);
}

bool same_bits(const std::vector<double>& a, const std::vector<double>& b) {
    return std::ranges::equal(a, b, [](double x, double y) { return same_bits(x, y); });
}

// ---- checking

namespace {

// Names of what a kernel reads and what it writes, as a map from inputs to outputs.
struct Space {
    std::vector<std::string> in, out;
    explicit Space(const Kernel& kernel) {
        for (const Parameter& p : kernel.parameters) {
            if (!ir::is_real(p.type)) continue;
            if (!is_target(p)) in.push_back(p.name);
            if (p.access != Access::read && p.access != Access::value) out.push_back(p.name);
        }
    }
};

class Checker {
public:
    Checker(const Case& test_case, std::mt19937_64& random, const CheckOptions& options)
        : case_(test_case),
          random_(random),
          compile_(options.compile),
          undecided_(options.undecided) {}

    std::vector<std::string> check(const Kernel& kernel, const Data& base, int order,
                                   bool differences, const std::string& path) {
        const Space space(kernel);
        const Kernel kt = ad::tangent(kernel), ka = ad::adjoint(kernel);
        const auto a_name = [&](const std::string& n) { return ad::adjoint_name(kernel, n); };
        const auto t_name = [&](const std::string& n) { return ad::tangent_name(kernel, n); };
        Values u, w;
        for (const std::string& n : space.in) u[n] = like(base.real.at(n));
        for (const std::string& n : space.out) w[n] = like(base.real.at(n));

        const std::shared_ptr<backend::Executable> primal_code = compile_(kernel);
        Data primal = base, forward = base, reverse = base;
        run(*primal_code, primal, case_.items);
        for (const auto& [n, values] : base.real) {
            if (kernel.find_parameter(n) < 0) continue;
            const std::vector<double> zero(values.size(), 0.0);
            forward.real[t_name(n)] = u.contains(n) ? u[n] : zero;
            reverse.real[a_name(n)] = w.contains(n) ? w[n] : zero;
        }
        run(kt, forward, case_.items, compile_);
        run(ka, reverse, case_.items, compile_);
        for (const std::string& n : space.out)
            if (!same_bits(primal.real[n], forward.real[n]))
                found_.push_back(path + ": the tangent kernel's primal has other bits in " + n);

        double l = 0, r = 0, scale = 0;
        for (const std::string& n : space.out) l += dot(w[n], forward.real[t_name(n)], scale);
        for (const std::string& n : space.in) r += dot(u[n], reverse.real[a_name(n)], scale);
        near(path + ": forward against reverse", l, r, scale, 1e-9);
        if (differences) against_differences(*primal_code, base, space, u, w, l, scale, path);
        if (order >= 2) second(kernel, ka, base, space, u, w, forward, path, order, differences);
        return found_;
    }

private:
    std::vector<double> like(const std::vector<double>& values) {
        std::uniform_real_distribution<double> uniform(-1, 1);
        std::vector<double> result(values.size());
        for (double& v : result) v = uniform(random_);
        return result;
    }
    static double dot(const std::vector<double>& a, const std::vector<double>& b, double& scale) {
        double s = 0;
        for (std::size_t k = 0; k < a.size(); ++k) {
            s += a[k] * b.at(k);
            scale += std::fabs(a[k] * b[k]);
        }
        return s;
    }
    static bool agree(double a, double b, double scale, double tolerance) {
        if (a == b || (std::isnan(a) && std::isnan(b))) return true;
        return std::fabs(a - b) <= tolerance * (scale + 1e-3);
    }
    void near(const std::string& what, double a, double b, double scale, double tolerance) {
        if (agree(a, b, scale, tolerance)) return;
        char text[128];
        std::snprintf(text, sizeof text, ": %.12g against %.12g (scale %g)", a, b, scale);
        found_.push_back(what + text);
    }
    void near(const std::string& what, const std::vector<double>& a, const std::vector<double>& b,
              double tolerance) {
        double scale = 0;
        for (const double x : a) scale = std::max(scale, std::fabs(x));
        for (std::size_t k = 0; k < a.size(); ++k)
            near(what + "[" + std::to_string(k) + "]", a[k], b.at(k), scale, tolerance);
    }

    // A step may straddle a kink or a jump; a smaller one then does not, and where the point lies
    // on the jump itself, one to the side that it belongs to. Derivatives beyond 1e5 are those of
    // chaotic loops, where no step is small enough.
    void against_differences(backend::Executable& primal, const Data& base, const Space& space,
                             Values& u, Values& w, double analytic, double analytic_scale,
                             const std::string& path) {
        if (!(analytic_scale < 1e5)) return;
        double numeric = 0, scale = 0;
        const auto quotient = [&](const Data& to, const Data& from, double h) {
            numeric = 0, scale = analytic_scale;
            for (const std::string& n : space.out)
                for (std::size_t k = 0; k < w[n].size(); ++k) {
                    const double q = (to.real.at(n)[k] - from.real.at(n)[k]) / h;
                    numeric += w[n][k] * q;
                    scale += std::fabs(q) + 1e-3 * std::fabs(to.real.at(n)[k]);
                }
            return agree(analytic, numeric, scale, 3e-5);
        };
        const auto change = [&](const Data& to, const Data& from) {
            double most = 0;
            for (const std::string& n : space.out)
                for (std::size_t k = 0; k < w[n].size(); ++k)
                    most = std::max(most, std::fabs(to.real.at(n)[k] - from.real.at(n)[k]));
            return most;
        };
        std::map<double, double> jump;  // by step, the smaller one of both sides
        Data at = base;
        run(primal, at, case_.items);
        for (const double h : {1e-6, 1e-5, 1e-7, 1e-8, 1e-9}) {
            Data plus = base, minus = base;
            for (const std::string& n : space.in)
                for (std::size_t k = 0; k < u[n].size(); ++k) {
                    plus.real[n][k] += h * u[n][k];
                    minus.real[n][k] -= h * u[n][k];
                }
            run(primal, plus, case_.items);
            run(primal, minus, case_.items);
            if (quotient(plus, minus, 2 * h) || quotient(plus, at, h) || quotient(at, minus, h))
                return;
            jump[h] = std::min(change(plus, at), change(at, minus));
        }
        // What is continuous changes by a hundredth.
        if (undecided_ != nullptr && jump[1e-9] > 1e-6 && jump[1e-9] > 0.5 * jump[1e-7]) {
            ++*undecided_;
            return;
        }
        near(path + ": differences", analytic, numeric, scale, 3e-5);
    }

    // Tangent of the adjoint against adjoint of the adjoint, then all checks on the adjoint itself.
    void second(const Kernel& kernel, const Kernel& ka, const Data& base, const Space& space,
                Values& u, Values& w, Data& forward, const std::string& path, int order,
                bool differences) {
        const auto a_name = [&](const std::string& n) { return ad::adjoint_name(kernel, n); };
        Data base_a = base;
        for (const auto& [n, values] : base.real)
            if (kernel.find_parameter(n) >= 0)
                base_a.real[a_name(n)] =
                    w.contains(n) ? w[n] : std::vector<double>(values.size(), 0.0);
        const Kernel kat = ad::tangent(ka), kaa = ad::adjoint(ka);
        Data t = base_a, a = base_a;
        for (const Parameter& p : ka.parameters) {
            if (!ir::is_real(p.type)) continue;
            const std::vector<double> zero(base_a.real.at(p.name).size(), 0.0);
            t.real[ad::tangent_name(ka, p.name)] = u.contains(p.name) ? u[p.name] : zero;
            a.real[ad::adjoint_name(ka, p.name)] = zero;
        }
        for (const std::string& n : space.in) a.real[ad::adjoint_name(ka, a_name(n))] = u[n];
        run(kat, t, case_.items, compile_);
        run(kaa, a, case_.items, compile_);
        for (const std::string& n : space.in)
            near(path + ": Hessian product in " + n, t.real[ad::tangent_name(ka, a_name(n))],
                 a.real[ad::adjoint_name(ka, n)], 1e-8);
        for (const std::string& n : space.out)
            near(path + ": adjoint of the seed of " + n, forward.real[ad::tangent_name(kernel, n)],
                 a.real[ad::adjoint_name(ka, a_name(n))], 1e-8);
        if (order >= 3 || differences)
            check(ka, base_a, order - 1, differences && order == 2, path + "'");
    }

    const Case& case_;
    std::mt19937_64& random_;
    const Compile& compile_;
    int* const undecided_;
    std::vector<std::string> found_;
};

}  // namespace

std::vector<std::string> check_kernel(const Case& test_case, const Data& base,
                                      std::mt19937_64& random, const CheckOptions& options) {
    return Checker(test_case, random, options)
        .check(test_case.kernel, base, options.order, options.differences, test_case.kernel.name);
}

}  // namespace hindcast::test
