// Small scenes for tests of physics modules: a scene from JSON text, run on the interpreter, and
// the comparison of its gradient with forward mode, differences and Hessian products.
//
// The interpreter is the reference; that the other devices give its bits is tested elsewhere.
#pragma once

#include <algorithm>
#include <cmath>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "engine/document/text.hpp"
#include "engine/sim/simulation.hpp"
#include "tests/support/all_modules.hpp"
#include "tests/support/error_message.hpp"

namespace hindcast::test {

// Every force on particles, every objective on points, and a kick.
inline constexpr const char* springs_in_wind =
    R"("time": {"step": "1/50", "substeps": 2, "steps": 20},
    "gravity": [0.5, -1, -9.81],
    "bodies": [
        {"type": "particles", "name": "chain", "mass": [1, 0.5, 0.8, 1.2], "fixed": [0],
         "positions": [[0, 0, 0], [1, 0.1, 0], [2, 0, 0.2], [3, 0.2, 0.1]],
         "velocity": [0.3, 0.5, -0.2]},
        {"type": "particles", "name": "post", "positions": [[2, 2, 2], [4, 1, 0]], "fixed": true}],
    "forces": [
        {"type": "springs", "name": "links", "connect": {"chain": "chain"},
         "stiffness": [90, 70, 80], "damping": 0.7, "rest_length": [0.9, 1, 1.2], "length_offset": 1e-3},
        {"type": "springs", "name": "rope", "connect": [["post", 0, "chain", 2]], "stiffness": 30,
         "damping": [0.4], "rest_length": 1.5, "acts": "pull"},
        {"type": "drag", "name": "wind", "linear": 0.2, "quadratic": [0.1, 0.2, 0.1, 0.3, 0.2, 0.2],
         "wind": [3, 1, 0.5], "amplitude": [0.5, 1, 0.25], "frequency": 1.3, "phase": 0.4},
        {"type": "pull", "name": "hand", "of": "chain", "point": 2, "start_step": 3,
         "places": [[0.5, 0.2, 0], [0.6, 0.1, 0.1], [0.8, 0, 0.3]], "stiffness": 20,
         "damping": 0.5},
        {"type": "damping", "name": "air", "of": "chain", "rate": [0.1, 0.2, 0.3, 0.4]},
        {"type": "damping", "name": "water", "rate": 0.3, "order": "after"}],
    "controllers": [{"type": "kick", "name": "engine", "of": "chain", "change": [0.02, 0, 0.05]}],
    "objective": [
        {"type": "point_target", "name": "hit", "of": "chain", "target": [1, 0.5, 0.25]},
        {"type": "trajectory", "name": "track", "of": "chain", "points": [1, 3], "at": [0.1, 0.3],
         "targets": [[1, 0, 0], [3, 0, 0], [1, 0.5, 0], [3, 0.5, 0.25]], "weight": 2},
        {"type": "center_of_mass", "name": "center", "of": "chain", "at": [0.2, 0.4],
         "target": [1.5, 1, 0]},
        {"type": "volume", "name": "volume", "of": "chain", "target": 0.3,
         "triangles": [[0, 2, 1], [0, 1, 3], [0, 3, 2], [1, 2, 3]]},
        {"type": "energy", "name": "energy", "at": "all", "springs": ["links", "rope"],
         "weight": 0.1},
        {"type": "regularization", "name": "stay", "of": "chain.velocity", "reference": 0}])";

// The text may leave out "format"; it is an object without the outer braces.
inline std::unique_ptr<Simulation> simulate(const std::string& keys,
                                            ir::Precision precision = ir::Precision::f64) {
    SimulationOptions options;
    options.device = std::make_shared<Device>(DeviceOptions{DeviceKind::interpreter});
    options.precision = precision;
    return std::make_unique<Simulation>(Scene::parse("{\"format\": 1, " + keys + "}"),
                                        all_modules(), options);
}

// A scene that does not build, with these words in its error.
inline void check_refused(const std::string& keys, const std::string& words) {
    const std::string said = message([&] { simulate(keys); });
    CHECK(said != "no error");
    CHECK_MESSAGE(said.find(words) != std::string::npos, said);
}

// For the text of a scene: the same number when it is read.
inline std::string number(double x) { return document::shortest(x); }

inline double position(Simulation& s, std::int64_t point, int component) {
    return s.model().array("position").value(point, component);
}
inline double velocity(Simulation& s, std::int64_t point, int component) {
    return s.model().array("velocity").value(point, component);
}

inline double norm(const std::vector<double>& v) {
    double sum = 0;
    for (const double x : v) sum += x * x;
    return std::sqrt(sum);
}
inline double dot(const std::vector<double>& a, const std::vector<double>& b) {
    double sum = 0;
    for (std::size_t k = 0; k < a.size(); ++k) sum += a[k] * b[k];
    return sum;
}

// Relative disagreements of derivatives at the parameters as they stand, along one direction.
struct GradientErrors {
    std::vector<double> gradient;
    double forward = 0;     // forward mode against reverse mode
    double difference = 0;  // best central difference of the loss against reverse mode
    double hessian = 0;     // Hessian product against the best difference of the gradient
};
inline GradientErrors gradient_errors(Simulation& s, unsigned seed) {
    GradientErrors e;
    const std::vector<double> start = s.parameters().values();
    std::vector<double> direction(start.size());
    for (std::size_t k = 0; k < direction.size(); ++k)
        direction[k] = std::sin(1.7 * static_cast<double>(k) + 0.6 + 0.9 * seed);
    const auto moved = [&](double step) {
        std::vector<double> p = start;
        for (std::size_t k = 0; k < p.size(); ++k) p[k] += step * direction[k];
        s.parameters().set_values(p);
    };
    const double loss = s.run(true);
    e.gradient = s.gradient();
    const double slope = dot(e.gradient, direction);
    // What rounding of the loss alone makes of a difference is no disagreement.
    const double scale = std::max(std::fabs(slope), 1e-6 * std::fabs(loss));
    e.forward = std::fabs(s.directional_derivative(direction) - slope) / scale;
    const std::vector<double> product = s.hessian_product(direction);
    e.difference = e.hessian = 1e300;
    for (const double step : {1e-3, 1e-4, 1e-5, 1e-6, 1e-7}) {
        moved(step);
        const double up = s.run(true);
        const std::vector<double> gradient_up = s.gradient();
        moved(-step);
        const double down = s.run(true);
        const std::vector<double> gradient_down = s.gradient();
        e.difference = std::min(e.difference, std::fabs((up - down) / (2 * step) - slope) / scale);
        std::vector<double> miss(product.size());
        for (std::size_t k = 0; k < miss.size(); ++k)
            miss[k] = (gradient_up[k] - gradient_down[k]) / (2 * step) - product[k];
        const double size = std::max(norm(product), 1e-6 * norm(e.gradient));
        e.hessian = std::min(e.hessian, size > 0 ? norm(miss) / size : norm(miss));
    }
    moved(0);
    return e;
}

inline void check_derivatives(Simulation& s) {
    for (const unsigned seed : {0U, 1U}) {
        const GradientErrors e = gradient_errors(s, seed);
        CHECK(norm(e.gradient) > 0);
        CHECK(e.forward < 1e-12);
        CHECK(e.difference < 1e-6);
        CHECK(e.hessian < 1e-6);
    }
}

// The energies that modules publish, by name, with the owner behind "of"; of the state as it is.
inline std::map<std::string, double> energies_of(Simulation& simulation) {
    std::map<std::string, double> all;
    for (const model::Energy& energy : simulation.model().energies()) {
        const Array value(ir::Type::f64, {1});
        value.fill(0);
        Program program;
        energy.add(simulation.model(), 1, value, program);
        for (const hindcast::Launch& launch : program.launches()) launch.forward().run();
        const std::string name =
            energy.owner.empty() ? energy.name : energy.name + " of " + energy.owner;
        CHECK(all.emplace(name, value.value(0)).second);
    }
    return all;
}

}  // namespace hindcast::test
