// A scene as a function with several outputs: each derivative against differences of the one below
// it, forward against reverse mode, and many calls against each alone.
#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <functional>

#include "engine/sim/functions/scene_function.hpp"
#include "tests/physics/module_scene.hpp"
#include "tests/support/kernels/kernel_harness.hpp"
#include "tests/support/paths.hpp"

using namespace hindcast;
using Kind = SceneFunction::Kind;
using Numbers = std::vector<double>;

namespace {

const std::vector<std::string> everything{"loss", "final:position", "state:velocity"};
const std::vector<std::string> physics{"links.stiffness", "links.rest_length", "wind.linear",
                                       "chain.velocity", "gravity"};

SimulationOptions on(const DeviceOptions& device, std::int64_t steps = -1) {
    SimulationOptions options;
    options.device = std::make_shared<Device>(device);
    options.precision = ir::Precision::f64;
    options.steps = steps;
    return options;
}
const std::vector<DeviceOptions> devices{{DeviceKind::interpreter}, {DeviceKind::cpu, 2}};

SceneFunction springs(const DeviceOptions& device, const std::vector<std::string>& outputs) {
    const Scene scene = Scene::parse(std::string("{\"format\": 1, ") + test::springs_in_wind + "}");
    return {scene, test::all_modules(), on(device), physics, outputs};
}

Numbers direction(std::size_t size, double phase) {
    Numbers u;
    for (std::size_t k = 0; k < size; ++k)
        u.push_back(std::sin(phase + 1.7 * static_cast<double>(k)));
    return u;
}
Numbers moved(const Numbers& at, const Numbers& by, double scale) {
    Numbers all = at;
    for (std::size_t k = 0; k < all.size(); ++k) all[k] += scale * by[k];
    return all;
}
double dot(const Numbers& a, const Numbers& b) {
    double sum = 0;
    for (std::size_t k = 0; k < a.size(); ++k) sum += a[k] * b[k];
    return sum;
}
double norm(const Numbers& a) { return std::sqrt(dot(a, a)); }
double distance(const Numbers& a, const Numbers& b) { return norm(moved(a, b, -1)) / norm(b); }

// The derivative at 0, of fourth order.
Numbers difference(const std::function<Numbers(double)>& f, double h) {
    Numbers d = moved(f(h), f(-h), -1);
    for (double& each : d) each *= 8;
    d = moved(d, moved(f(2 * h), f(-2 * h), -1), -1);
    for (double& each : d) each /= 12 * h;
    return d;
}

}  // namespace

TEST_CASE("scene function: every derivative against differences of the one below it") {
    for (const DeviceOptions& device : devices) {
        SceneFunction f = springs(device, everything);
        CAPTURE(Device(device).describe());
        const std::size_t n = f.input_size(), m = f.output_size();
        CHECK(n == 3 + 3 + 1 + 3 + 3);
        CHECK(m == 1 + 6 * 3 + 21 * 6 * 3);
        CHECK(f.outputs()[2].shape == std::vector<std::int64_t>{21, 6, 3});
        const Numbers& x = f.scene_values();
        const Numbers t = direction(n, 0.2), u = direction(n, 2), c = direction(m, 1);
        constexpr double h = 2e-3;
        const Numbers jt = f({Kind::jvp, x, t});
        CHECK(distance(jt, difference(
                               [&](double s) {
                                   return f({Kind::value, moved(x, t, s)});
                               },
                               h)) < 1e-8);
        const Numbers jc = f({Kind::vjp, x, c});
        CHECK(std::fabs(dot(c, jt) - dot(jc, t)) < 1e-11 * norm(c) * norm(jt));
        // Along its own direction as well.
        const Numbers along = f({Kind::jvp, x, jc});
        CHECK(std::fabs(dot(c, along) / dot(jc, jc) - 1) < 1e-11);
        const Numbers jtu = f({Kind::jvp2, x, t, u});
        CHECK(distance(jtu, difference(
                                [&](double s) {
                                    return f({Kind::jvp, moved(x, u, s), t});
                                },
                                h)) < 1e-7);
        CHECK(distance(f({Kind::jvp2, x, u, t}), jtu) < 1e-11);
        const Numbers jcu = f({Kind::hvp, x, c, u});
        CHECK(distance(jcu, difference(
                                [&](double s) {
                                    return f({Kind::vjp, moved(x, u, s), c});
                                },
                                h)) < 1e-7);
        CHECK(std::fabs(dot(c, jtu) - dot(jcu, t)) < 1e-11 * norm(c) * norm(jtu));
    }
}

TEST_CASE("scene function: outputs are what a run leaves, the loss has the program's gradient") {
    for (const DeviceOptions& device : devices) {
        SceneFunction f = springs(device, {"state:position", "loss", "final:velocity"});
        SceneFunction loss = springs(device, {"loss"});
        const Numbers& x = f.scene_values();
        const Numbers y = f({Kind::value, x});
        const auto simulation = test::simulate(test::springs_in_wind);
        Numbers expected, gradient;
        const auto add = [&](const std::string& array) {
            const Numbers values = simulation->model().array(array).to_doubles();
            expected.insert(expected.end(), values.begin(), values.end());
        };
        const double value = simulation->run(false, [&](std::int64_t done) {
            if (done % 2 == 0) add("position");
            return true;
        });
        expected.push_back(value);
        add("velocity");
        CHECK(test::same_bits(y, expected));
        CHECK(loss({Kind::value, x})[0] == value);
        // A cotangent of the loss alone is its gradient, beside other outputs too.
        Numbers c(f.output_size(), 0.0);
        c[static_cast<std::size_t>(f.outputs()[1].first)] = 1;
        const Numbers g = loss({Kind::vjp, x, {1}});
        CHECK(test::same_bits(f({Kind::vjp, x, c}), g));
        CHECK(loss({Kind::vjp, x, {-2}})[3] == -2 * g[3]);
    }
}

TEST_CASE("scene function: a value and its derivative share one run") {
    for (const auto& outputs : {std::vector<std::string>{"loss"}, everything}) {
        SceneFunction f = springs({DeviceKind::cpu, 2}, outputs);
        SceneFunction alone = springs({DeviceKind::cpu, 2}, outputs);
        const Numbers c = direction(f.output_size(), 0.3);
        const auto vjp_alone = [&](const Numbers& x, const Numbers& cotangent) {
            alone({Kind::jvp, x, direction(f.input_size(), 0)});  // forgets the run before
            return alone({Kind::vjp, x, cotangent});
        };
        Numbers x = f.scene_values();
        std::int64_t runs = 0;
        const auto expect_runs = [&](std::int64_t more) {
            runs += more;
            CHECK(f.runs() == runs);
        };
        const Numbers y = f({Kind::value, x});
        CHECK(f({Kind::vjp, x, c}) == vjp_alone(x, c));
        expect_runs(2);  // the value did not know
        for (int k = 0; k < 3; ++k) {
            x[0] += 0.01;
            const Numbers there = f({Kind::value, x});
            CHECK(there != y);
            CHECK(there == alone({Kind::value, x}));
            CHECK(f({Kind::vjp, x, c}) == vjp_alone(x, c));
            CHECK(f({Kind::vjp, x, there}) == vjp_alone(x, there));  // another cotangent
            CHECK(f({Kind::value, x}) == there);
            expect_runs(1);
        }
        x[0] += 0.01;
        CHECK(f({Kind::vjp, x, c}) == vjp_alone(x, c));  // the other order
        CHECK(f({Kind::value, x}) == alone({Kind::value, x}));
        expect_runs(1);
        f({Kind::hvp, x, c, direction(x.size(), 1)});
        CHECK(f({Kind::value, x}) == alone({Kind::value, x}));
        expect_runs(2);
    }
}

TEST_CASE("scene function: many calls have the bits of each alone, on threads too") {
    SceneFunction f = springs({DeviceKind::cpu, 2}, everything);
    SceneFunction alone = springs({DeviceKind::cpu, 2}, everything);
    for (const Kind kind : {Kind::value, Kind::jvp, Kind::vjp, Kind::hvp, Kind::jvp2}) {
        const std::vector<std::size_t> sizes = f.operand_sizes(kind);
        std::vector<SceneFunction::Call> calls;
        for (int k = 0; k < 300; ++k) {
            SceneFunction::Call call{kind, moved(f.scene_values(), direction(sizes[0], k), 0.01)};
            if (sizes.size() > 1) call.a = direction(sizes[1], k + 0.5);
            if (sizes.size() > 2) call.b = direction(sizes[2], k + 0.7);
            calls.push_back(std::move(call));
        }
        const std::vector<Numbers> results = f(calls);
        REQUIRE(results.size() == calls.size());
        for (const std::size_t k : {0U, 1U, 150U, 298U, 299U})
            CHECK(test::same_bits(results[k], alone(calls[k])));
    }
}

TEST_CASE("scene function: both routes to second derivatives agree for grids, solids and contact") {
    struct Case {
        const char* scene;
        std::int64_t steps;
        std::vector<std::string> outputs;
    };
    for (const Case& each :
         {Case{"mpm_launch", 6, {"final:position"}}, Case{"soft_beam", 8, {"final:position"}},
          Case{"wave_image", 6, {"loss"}}, Case{"billiards", 40, {"loss"}},
          Case{"hanging_net", 5, {"state:position"}}}) {
        CAPTURE(each.scene);
        const Scene loaded =
            Scene::load(std::string(test::source_dir) + "/scenes/" + each.scene + ".json");
        document::Document document = loaded.document();
        // Its objective lies behind these few steps.
        if (each.outputs[0] != "loss") document.set("/objective", document::Node::array({}));
        const Scene scene = Scene::of(std::move(document), loaded.file());
        const SimulationOptions options = on({DeviceKind::cpu, 2}, each.steps);
        std::vector<std::string> paths;
        const Simulation simulation(scene, test::all_modules(), options);
        for (const Parameter& p : simulation.parameters().list()) paths.push_back(p.path);
        SceneFunction f(scene, test::all_modules(), options, paths, each.outputs);
        const Numbers& x = f.scene_values();
        const Numbers t = direction(f.input_size(), 0.3), u = direction(f.input_size(), 1.9),
                      c = direction(f.output_size(), 0.8);
        const Numbers jt = f({Kind::jvp, x, t}), jc = f({Kind::vjp, x, c});
        CHECK(std::fabs(dot(c, jt) - dot(jc, t)) <= 1e-10 * norm(c) * norm(jt));
        const Numbers jtu = f({Kind::jvp2, x, t, u}), jcu = f({Kind::hvp, x, c, u});
        CHECK(norm(jtu) > 0);
        CHECK(std::fabs(dot(c, jtu) - dot(jcu, t)) <= 1e-9 * norm(c) * norm(jtu));
    }
}

TEST_CASE("scene function: a run that diverges gives no numbers") {
    const Scene scene = Scene::parse(std::string("{\"format\": 1, ") + test::springs_in_wind + "}");
    SceneFunction f(scene, test::all_modules(), on({DeviceKind::cpu, 2}), {"links.stiffness"},
                    {"loss", "final:position"});
    const Numbers x(3, 1e12), t(3, 1.0), c(f.output_size(), 1.0);
    for (const Kind kind : {Kind::value, Kind::jvp, Kind::vjp, Kind::hvp, Kind::jvp2}) {
        const auto sizes = f.operand_sizes(kind);
        SceneFunction::Call call{kind, x};
        if (sizes.size() > 1) call.a = sizes[1] == 3 ? t : c;
        if (sizes.size() > 2) call.b = t;
        const Numbers result = f(call);
        CHECK(result.size() == f.result_size(kind));
        CHECK(std::ranges::all_of(result, [](double r) { return std::isnan(r); }));
    }
    CHECK(std::isfinite(f({Kind::value, f.scene_values()})[0]));
}

TEST_CASE("scene function: what cannot be had is refused by its name") {
    const auto refused = [](const std::vector<std::string>& inputs,
                            const std::vector<std::string>& outputs) -> std::string {
        try {
            const Scene scene =
                Scene::parse(std::string("{\"format\": 1, ") + test::springs_in_wind + "}");
            SceneFunction(scene, test::all_modules(), on({DeviceKind::cpu, 1}), inputs, outputs);
        } catch (const Error& error) {
            return error.what();
        }
        return "";
    };
    const auto has = [](const std::string& text, const char* part) {
        CAPTURE(text);
        CHECK(text.find(part) != std::string::npos);
    };
    has(refused({"gravity"}, {"lost"}), "there is no output 'lost'");
    has(refused({"gravity"}, {"final:positon"}), "did you mean 'position'");
    has(refused({"gravity"}, {"loss", "loss"}), "the output 'loss' is given twice");
    has(refused({"gravity", "gravity"}, {"loss"}), "the input 'gravity' is given twice");
    has(refused({}, {"loss"}), "a function needs inputs");
    has(refused({"gravity"}, {}), "a function needs outputs");
    SceneFunction f = springs({DeviceKind::cpu, 1}, {"loss"});
    CHECK_THROWS_WITH_AS(f({Kind::jvp, f.scene_values(), {1}}),
                         "operand 1 of the function has 13 numbers, and is given 1", Error);
}
