#include "tests/support/kernel_harness.hpp"

#include <cmath>
#include <cstring>
#include <set>

#include "engine/ad/differentiate.hpp"
#include "engine/backend/interpreter.hpp"

namespace hindcast::test {

using ir::Access;
using ir::Kernel;
using ir::Parameter;
using ir::Type;

Compile interpreter() {
    return [](const Kernel& kernel) { return backend::interpret(kernel); };
}

namespace {

template <class T>
std::vector<std::byte> packed(const auto& values) {
    std::vector<std::byte> bytes(values.size() * sizeof(T));
    for (std::size_t k = 0; k < values.size(); ++k) {
        const T v = static_cast<T>(values[k]);
        std::memcpy(&bytes[k * sizeof(T)], &v, sizeof(T));
    }
    return bytes;
}
template <class T>
void unpack(const std::vector<std::byte>& bytes, auto& values) {
    for (std::size_t k = 0; k < values.size(); ++k) {
        T v;
        std::memcpy(&v, &bytes[k * sizeof(T)], sizeof(T));
        values[k] = v;
    }
}

}  // namespace

void run(const Kernel& kernel, Data& data, std::int64_t items, const Compile& compile) {
    const std::vector<char> used = ad::used_parameters(kernel);
    std::vector<std::vector<std::byte>> memory(kernel.parameters.size());
    std::vector<backend::Binding> bindings(kernel.parameters.size());
    const auto type_in_memory = [](const Parameter& p) {
        const bool scalar = p.access == Access::value || p.access == Access::reduce;
        return scalar && ir::is_real(p.type) ? Type::f64 : p.type;
    };
    for (std::size_t p = 0; p < kernel.parameters.size(); ++p) {
        const Parameter& parameter = kernel.parameters[p];
        if (!used[p] && !data.real.contains(parameter.name) && !data.whole.contains(parameter.name)) continue;
        switch (type_in_memory(parameter)) {
            case Type::f32: memory[p] = packed<float>(data.real.at(parameter.name)); break;
            case Type::f64: memory[p] = packed<double>(data.real.at(parameter.name)); break;
            case Type::i32: memory[p] = packed<std::int32_t>(data.whole.at(parameter.name)); break;
            case Type::u32: memory[p] = packed<std::uint32_t>(data.whole.at(parameter.name)); break;
            default: memory[p] = packed<std::int64_t>(data.whole.at(parameter.name)); break;
        }
        const auto scalars = static_cast<std::int64_t>(memory[p].size() / ir::size_of(type_in_memory(parameter)));
        bindings[p] = {memory[p].data(), scalars / parameter.components, parameter.components, 1, 1};
    }
    compile(kernel)->run(bindings.data(), items, {});
    for (std::size_t p = 0; p < kernel.parameters.size(); ++p) {
        if (memory[p].empty()) continue;
        const std::string& name = kernel.parameters[p].name;
        switch (type_in_memory(kernel.parameters[p])) {
            case Type::f32: unpack<float>(memory[p], data.real[name]); break;
            case Type::f64: unpack<double>(memory[p], data.real[name]); break;
            case Type::i32: unpack<std::int32_t>(memory[p], data.whole[name]); break;
            case Type::u32: unpack<std::uint32_t>(memory[p], data.whole[name]); break;
            default: unpack<std::int64_t>(memory[p], data.whole[name]); break;
        }
    }
}

Data inputs(const Case& test_case, std::mt19937_64& random) {
    Data data;
    std::uniform_real_distribution<double> uniform(0.3, 1.3);
    for (const Parameter& p : test_case.kernel.parameters) {
        const bool scalar = p.access == Access::value || p.access == Access::reduce;
        const auto size = test_case.sizes.find(p.name);
        const std::int64_t elements = scalar ? 1 : size != test_case.sizes.end() ? size->second : test_case.items;
        if (!ir::is_real(p.type)) {
            data.whole[p.name] = test_case.whole.at(p.name);
            continue;
        }
        std::vector<double>& values = data.real[p.name];
        values.resize(static_cast<std::size_t>(elements * p.components));
        const bool target = p.access == Access::accumulate || p.access == Access::sum || p.access == Access::reduce;
        for (double& v : values) v = target ? 0 : uniform(random);
    }
    return data;
}

namespace {

// Names of what a kernel reads and what it writes, as a map from inputs to outputs.
struct Space {
    std::vector<std::string> in, out;
    explicit Space(const Kernel& kernel) {
        for (const Parameter& p : kernel.parameters) {
            if (!ir::is_real(p.type)) continue;
            const bool summed = p.access == Access::accumulate || p.access == Access::sum || p.access == Access::reduce;
            if (!summed) in.push_back(p.name);
            if (p.access != Access::read && p.access != Access::value) out.push_back(p.name);
        }
    }
};

class Checker {
public:
    Checker(const Case& test_case, std::mt19937_64& random) : case_(test_case), random_(random) {}

    std::vector<std::string> run_all(const Kernel& kernel, const Data& base, int order, bool differences, const std::string& path) {
        const Space space(kernel);
        const Kernel kt = ad::tangent(kernel), ka = ad::adjoint(kernel);
        const auto a_name = [&](const std::string& n) { return ad::adjoint_name(kernel, n); };
        const auto t_name = [&](const std::string& n) { return ad::tangent_name(kernel, n); };
        std::map<std::string, std::vector<double>> u, w;
        for (const std::string& n : space.in) u[n] = like(base.real.at(n));
        for (const std::string& n : space.out) w[n] = like(base.real.at(n));

        Data primal = base, forward = base, reverse = base;
        run(kernel, primal, case_.items);
        for (const auto& [n, values] : base.real) {
            if (kernel.find_parameter(n) < 0) continue;
            forward.real[t_name(n)] = u.contains(n) ? u[n] : std::vector<double>(values.size(), 0.0);
            reverse.real[a_name(n)] = w.contains(n) ? w[n] : std::vector<double>(values.size(), 0.0);
        }
        run(kt, forward, case_.items);
        run(ka, reverse, case_.items);
        for (const std::string& n : space.out)
            if (std::memcmp(primal.real[n].data(), forward.real[n].data(), primal.real[n].size() * sizeof(double)) != 0)
                found_.push_back(path + ": the tangent kernel's primal has other bits in " + n);

        double l = 0, r = 0, scale = 0;
        for (const std::string& n : space.out) l += dot(w[n], forward.real[t_name(n)], scale);
        for (const std::string& n : space.in) r += dot(u[n], reverse.real[a_name(n)], scale);
        near(path + ": forward against reverse", l, r, scale, 1e-9);
        if (differences) against_differences(kernel, base, space, u, w, l, scale, path);
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
    void near(const std::string& what, double a, double b, double scale, double tolerance) {
        if (std::isnan(a) && std::isnan(b)) return;
        if (std::fabs(a - b) <= tolerance * (scale + 1e-3)) return;
        char text[128];
        std::snprintf(text, sizeof text, ": %.12g against %.12g (scale %g)", a, b, scale);
        found_.push_back(what + text);
    }
    void near(const std::string& what, const std::vector<double>& a, const std::vector<double>& b, double tolerance) {
        double scale = 0;
        for (const double x : a) scale = std::max(scale, std::fabs(x));
        for (std::size_t k = 0; k < a.size(); ++k) near(what + "[" + std::to_string(k) + "]", a[k], b.at(k), scale, tolerance);
    }

    void against_differences(const Kernel& kernel, const Data& base, const Space& space, std::map<std::string, std::vector<double>>& u,
                             std::map<std::string, std::vector<double>>& w, double analytic, double scale, const std::string& path) {
        constexpr double h = 1e-6;
        Data plus = base, minus = base;
        for (const std::string& n : space.in)
            for (std::size_t k = 0; k < u[n].size(); ++k) {
                plus.real[n][k] += h * u[n][k];
                minus.real[n][k] -= h * u[n][k];
            }
        run(kernel, plus, case_.items);
        run(kernel, minus, case_.items);
        double numeric = 0;
        for (const std::string& n : space.out)
            for (std::size_t k = 0; k < w[n].size(); ++k) {
                const double q = (plus.real[n][k] - minus.real[n][k]) / (2 * h);
                numeric += w[n][k] * q;
                scale += std::fabs(q) + 1e-3 * std::fabs(plus.real[n][k]);
            }
        near(path + ": differences", analytic, numeric, scale, 3e-5);
    }

    // Tangent of the adjoint against adjoint of the adjoint, then the whole check on the adjoint kernel itself.
    void second(const Kernel& kernel, const Kernel& ka, const Data& base, const Space& space, std::map<std::string, std::vector<double>>& u,
                std::map<std::string, std::vector<double>>& w, Data& forward, const std::string& path, int order, bool differences) {
        const auto a_name = [&](const std::string& n) { return ad::adjoint_name(kernel, n); };
        Data base_a = base;
        for (const auto& [n, values] : base.real)
            if (kernel.find_parameter(n) >= 0) base_a.real[a_name(n)] = w.contains(n) ? w[n] : std::vector<double>(values.size(), 0.0);
        const Kernel kat = ad::tangent(ka), kaa = ad::adjoint(ka);
        Data t = base_a, a = base_a;
        for (const Parameter& p : ka.parameters) {
            if (!ir::is_real(p.type)) continue;
            const std::vector<double> zero(base_a.real.at(p.name).size(), 0.0);
            t.real[ad::tangent_name(ka, p.name)] = u.contains(p.name) ? u[p.name] : zero;
            a.real[ad::adjoint_name(ka, p.name)] = zero;
        }
        for (const std::string& n : space.in) a.real[ad::adjoint_name(ka, a_name(n))] = u[n];
        run(kat, t, case_.items);
        run(kaa, a, case_.items);
        for (const std::string& n : space.in)
            near(path + ": Hessian product in " + n, t.real[ad::tangent_name(ka, a_name(n))], a.real[ad::adjoint_name(ka, n)], 1e-8);
        for (const std::string& n : space.out)
            near(path + ": adjoint of the seed of " + n, forward.real[ad::tangent_name(kernel, n)],
                 a.real[ad::adjoint_name(ka, a_name(n))], 1e-8);
        if (order >= 3 || differences) run_all(ka, base_a, order - 1, differences && order == 2, path + "'");
    }

    const Case& case_;
    std::mt19937_64& random_;
    std::vector<std::string> found_;
};

}  // namespace

std::vector<std::string> check_kernel(const Case& test_case, const Data& base, std::mt19937_64& random, const CheckOptions& options) {
    return Checker(test_case, random).run_all(test_case.kernel, base, options.order, options.differences, test_case.kernel.name);
}

}  // namespace hindcast::test
