// Gradient coverage: every module has scenes beside it, kernels/NAME/coverage.json and, where one
// scene cannot show all, others called coverage_*.json. Between them they have an object of each of
// the module's types, and each field that the module marks as differentiable is one of their
// parameters. For each parameter by itself reverse mode, forward mode and differences agree, Hessian
// products too, and f32 comes near.
#include <doctest/doctest.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <set>

#include "tests/physics/module_scene.hpp"
#include "tests/support/module_coverage.hpp"

using namespace hindcast;
using namespace hindcast::test;

namespace {

// Calls f(scene with one parameter) for each parameter of each coverage scene.
template <class F>
void for_each_parameter(const F& f) {
    for (const std::string& module : all_modules().modules())
        for (const Scene& scene : coverage_of(module)) {
            if (!can_build(scene)) continue;
            for (const std::string& path : parameter_paths(scene)) {
                CAPTURE(scene.file().string());
                CAPTURE(path);
                f(with_parameter(scene, path));
            }
        }
}

std::unique_ptr<Simulation> simulated(const Scene& scene, ir::Precision precision) {
    SimulationOptions options;
    options.device = std::make_shared<Device>(DeviceOptions{DeviceKind::interpreter});
    options.precision = precision;
    return std::make_unique<Simulation>(scene, all_modules(), options);
}

}  // namespace

TEST_CASE("every module has coverage scenes with its types and its differentiable fields") {
    CHECK(!all_modules().modules().empty());
    for (const std::string& module : all_modules().modules()) {
        const std::string folder = "kernels/" + module;
        CAPTURE(folder);
        REQUIRE_MESSAGE(
            std::filesystem::exists(std::filesystem::path(source_dir) / folder / "coverage.json"),
            "the module has no scene coverage.json: add one that exercises it, whose "
            "parameters are the module's differentiable fields");
        std::set<std::string> types, fields;  // "forces/springs", "forces/springs.stiffness"
        for (const Scene& scene : coverage_of(module)) {
            std::map<std::string, std::string> type_of;  // of an object's name
            for (const Scene::Object& object : scene.objects()) {
                const std::string type =
                    std::string(model::name_of(object.section)) + "/" + object.type;
                types.insert(type);
                type_of[object.name] = type;
            }
            for (const std::string& path : parameter_paths(scene)) {
                const std::size_t dot = path.rfind('.');
                if (dot == std::string::npos) continue;  // gravity
                fields.insert(type_of[path.substr(0, dot)] + path.substr(dot));
            }
        }
        for (const model::ModuleType& type : all_modules().all()) {
            if (type.module != module) continue;
            const std::string name = std::string(model::name_of(type.section)) + "/" + type.type;
            CHECK_MESSAGE(types.contains(name), "no coverage scene has an object of the type ",
                          name);
            for (const model::Field& field : type.fields)
                if (field.may_optimize)
                    CHECK_MESSAGE(fields.contains(name + "." + field.key),
                                  "no coverage scene has this field as a parameter: ", name, ".",
                                  field.key);
        }
    }
}

TEST_CASE("every array that a module publishes says what it is") {
    for (const std::string& module : all_modules().modules())
        for (const Scene& scene : coverage_of(module)) {
            if (!can_build(scene)) continue;
            const auto simulation = simulated(scene, ir::Precision::f64);
            for (const auto& [name, published] : simulation->model().arrays()) {
                CAPTURE(scene.file().string());
                CAPTURE(name);
                CHECK(!published.meaning.empty());
            }
        }
}

TEST_CASE("gravity is a parameter of a coverage scene") {
    bool found = false;
    for (const std::string& module : all_modules().modules())
        for (const Scene& scene : coverage_of(module))
            found |= std::ranges::count(parameter_paths(scene), "gravity") > 0;
    CHECK(found);
}

TEST_CASE("reverse mode, forward mode, differences and Hessian products agree on every field") {
    for_each_parameter(
        [](const Scene& scene) { check_derivatives(*simulated(scene, ir::Precision::f64)); });
}

TEST_CASE("gradients in f32 are within 1e-3 of those in f64 on every field") {
    for_each_parameter([](const Scene& scene) {
        const auto wide = simulated(scene, ir::Precision::f64);
        const auto narrow = simulated(scene, ir::Precision::f32);
        wide->run(true);
        narrow->run(true);
        const std::vector<double> exact = wide->gradient(), found = narrow->gradient();
        std::vector<double> miss = found;
        for (std::size_t k = 0; k < miss.size(); ++k) miss[k] -= exact[k];
        CHECK(norm(miss) < 1e-3 * norm(exact));
        CHECK(dot(found, exact) > 0.9999 * norm(found) * norm(exact));
    });
}
