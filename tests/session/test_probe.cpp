// Gradients of what could be optimized and is not, computed beside: against central differences.
#include <doctest/doctest.h>

#include <algorithm>

#include "engine/document/values.hpp"
#include "tests/session/support.hpp"

using namespace hindcast;
using test::OpenScene;
using namespace session;

namespace {

SessionOptions in_f64() {
    SessionOptions options = OpenScene::options(64 << 20);
    options.simulation.precision = ir::Precision::f64;
    return options;
}

double loss_of(const document::Document& document, const std::filesystem::path& file) {
    SimulationOptions options = in_f64().simulation;
    Simulation simulation(Scene::of(document, file), test::all_modules(), options);
    return simulation.run();
}

const QuantityInfo& quantity(const Snapshot& s, const std::string& path) {
    const auto found = std::ranges::find(s.values.quantities, path, &QuantityInfo::path);
    REQUIRE(found != s.values.quantities.end());
    return *found;
}

// dLoss by one number of the document, and by the one that the inspector shows.
void check(const OpenScene& scene, const Snapshot& s, const std::string& path,
           const std::string& pointer, std::size_t entry, double step) {
    CAPTURE(path);
    const double at = document::number_of(scene.document->at(pointer));
    const auto loss = [&](double value) {
        document::Document moved = *scene.document;
        moved.set(pointer, value);
        return loss_of(moved, scene.file);
    };
    const double difference = (loss(at + step) - loss(at - step)) / (2 * step);
    const QuantityInfo& q = quantity(s, path);
    CHECK_FALSE(q.optimized);
    REQUIRE(entry < q.gradient.size());
    CHECK(q.gradient[entry] == doctest::Approx(difference).epsilon(1e-6));
    CHECK(difference != 0);
}

}  // namespace

TEST_CASE("session: everything that could be optimized has its gradient") {
    OpenScene scene(test::scene_file("spring_cage.json"), in_f64());
    scene.wait_complete();
    scene.session.send(WatchGradients{});
    const auto probed = [](const Snapshot& s) {
        return s.reports.activity == Activity::idle && !s.values.quantities.empty() &&
               std::ranges::all_of(s.values.quantities, [](const QuantityInfo& q) {
                   return !q.may_optimize || !q.gradient.empty();
               });
    };
    const auto first = scene.wait(probed);
    check(scene, *first, "cage.stiffness", "/forces/0/stiffness", 0, 1e-3);
    check(scene, *first, "cage.damping", "/forces/0/damping", 0, 1e-3);

    // After an edit they are those of the edited scene, of what was changed in place too.
    document::Document edited = *scene.document;
    edited.set("/forces/0/stiffness", 55);
    scene.apply(edited);
    const auto second = scene.wait([&](const Snapshot& s) {
        return probed(s) && quantity(s, "cage.stiffness").values[0] == 55 &&
               s.run.steps_computed == 30;
    });
    CHECK(quantity(*second, "cage.stiffness").gradient !=
          quantity(*first, "cage.stiffness").gradient);
    check(scene, *second, "cage.stiffness", "/forces/0/stiffness", 0, 1e-3);

    // Of another iteration they are taken at its parameters.
    scene.optimize();
    scene.session.send(ShowIteration{10});
    const auto tenth = scene.wait([&](const Snapshot& s) {
        return probed(s) && s.optimization.shown_iteration == 10 && s.values.flat;
    });
    document::Document there = edited;
    there.set("/forces/0/rest_length", document::written_form(*tenth->values.flat, 1, false));
    scene.document = std::make_shared<const document::Document>(there);
    check(scene, *tenth, "cage.stiffness", "/forces/0/stiffness", 0, 1e-3);
}
