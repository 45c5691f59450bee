// Warnings as values: pairs that nothing keeps apart, steps beyond the limit of stability, runs that
// leave physics; and the ways in which they reach people.
#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <fstream>

#include "engine/document/document.hpp"
#include "tests/physics/module_scene.hpp"
#include "tests/support/module_coverage.hpp"
#include "tests/support/paths.hpp"
#include "tests/support/program.hpp"
#include "tests/support/temporary_folder.hpp"
#include "tests/support/warnings/warnings.hpp"

using namespace hindcast;
using namespace hindcast::test;

namespace {

double number(const Warning& w, const std::string& name) {
    for (const auto& [key, value] : w.numbers)
        if (key == name) return value;
    return std::nan("");
}

// A mass on a spring to a fixed point, omega = sqrt(k / m).
std::string oscillator(double stiffness, double mass, double damping, const std::string& step) {
    return R"("time": {"step": )" + step + R"(, "steps": 400}, "gravity": [0, 0, 0],
        "bodies": [{"type": "particles", "name": "mass", "mass": )" +
           std::to_string(mass) + R"(, "positions": [[1.1, 0, 0]]},
                   {"type": "particles", "name": "wall", "positions": [[0, 0, 0]], "fixed": true}],
        "forces": [{"type": "springs", "name": "spring", "connect": [["wall", 0, "mass", 0]],
                    "rest_length": 1, "stiffness": )" +
           std::to_string(stiffness) + R"(, "damping": )" + std::to_string(damping) + "}]";
}

std::string quoted(double value) { return document::shortest(value); }

const std::string two_clouds = R"("time": {"step": "1/100", "steps": 100}, "gravity": [0, 0, 0],
    "bodies": [
        {"type": "particles", "name": "left", "positions": [[0, 0, 0]], "velocity": [1, 0, 0],
         "radius": 0.1},
        {"type": "particles", "name": "right", "positions": [[1, 0, 0]], "radius": 0.1}])";

}  // namespace

TEST_CASE("warnings: pairs that nothing keeps apart are named once, with what to write") {
    const auto sim = simulate(two_clouds);
    const Warning* const w = find_warning(*sim, "contact_pairs");
    REQUIRE(w != nullptr);
    CHECK(w->happened.find("'left' and 'right'") != std::string::npos);
    CHECK(w->remedy.find("particle_contact") != std::string::npos);
    CHECK(w->remedy.find(R"(["left", "right"])") != std::string::npos);
    CHECK(number(*w, "pairs") == 1);
    CHECK(w->step == -1);
    CHECK(sim->warnings().size() == 1);

    const auto guarded = simulate(two_clouds + R"(, "colliders": [{"type": "particle_contact"}])");
    CHECK(guarded->warnings().empty());
    const auto meant = simulate(two_clouds + R"(, "contact": {"exceptions": [["right", "left"]]})");
    CHECK(meant->warnings().empty());
    const auto accepted = simulate(two_clouds + R"(, "accepted_warnings": ["contact_pairs"])");
    CHECK(accepted->warnings().empty());
}

TEST_CASE("warnings: at most five pairs are named") {
    std::string bodies;
    for (int k = 0; k < 5; ++k)
        bodies += (k > 0 ? ", " : "") +
                  (R"({"type": "particles", "radius": 0.1, "name": "b)" + std::to_string(k) +
                   R"(", "positions": [[)" + std::to_string(k) + ", 0, 0]]}");
    const auto sim = simulate(R"("time": {"step": 1, "steps": 1}, "bodies": [)" + bodies + "]");
    const Warning* const w = find_warning(*sim, "contact_pairs");
    REQUIRE(w != nullptr);
    CHECK(number(*w, "pairs") == 10);
    CHECK(w->happened.find("'b0' and 'b4'") != std::string::npos);
    CHECK(w->happened.find("'b1' and 'b3'") == std::string::npos);
    CHECK(w->happened.find("and 5 more pairs") != std::string::npos);
}

TEST_CASE("warnings: the step in which boxes first overlap is named") {
    // The balls touch where the distance is 0.2: after 0.8 s, in step 80. Rounding may cost one step.
    const auto sim = simulate(two_clouds);
    sim->run();
    const Warning* const w = find_warning(*sim, "bodies_overlap");
    REQUIRE(w != nullptr);
    CHECK(std::abs(w->step - 80) <= 1);
    CHECK(w->happened.find("'left' and 'right'") != std::string::npos);
    CHECK(w->pointer == "/bodies/0");
    sim->run();  // said once
    CHECK(sim->warnings().size() == 2);
}

TEST_CASE("warnings: the look at boxes does not change a bit") {
    const auto watched = simulate(two_clouds);
    const auto unwatched =
        simulate(two_clouds + R"(, "accepted_warnings": ["contact_pairs", "bodies_overlap"])");
    watched->run();
    unwatched->run();
    CHECK(watched->state_hash().digest() == unwatched->state_hash().digest());
}

TEST_CASE("warnings: every kind of pair stands in the table with its law") {
    const auto sim = simulate(R"("time": {"step": "1/1000", "steps": 1},
        "bodies": [
            {"type": "particles", "name": "dust", "positions": [[0, 0, 2], [1, 0, 2]]},
            {"type": "particles", "name": "more dust", "positions": [[0, 0, 3]]},
            {"type": "particles", "name": "anchor", "positions": [[0, 0, 4]], "fixed": true},
            {"type": "cloth", "name": "sheet", "area_density": 0.1, "warp_stiffness": 10,
             "mesh": {"grid": {"origin": [0, 0, 1], "warp": [1, 0, 0], "weft": [0, 1, 0], "cells": [8, 8]}}},
            {"type": "solid", "name": "block", "mu": 100, "lambda": 100, "mesh": {"box": {"min": [3, 0, 1],
             "max": [4, 1, 2], "cells": [1, 1, 1]}}}],
        "colliders": [
            {"type": "plane", "name": "floor", "normal": [0, 0, 1], "of": "dust", "response": "impact"},
            {"type": "sphere", "name": "ball", "center": [0, 0, 0], "radius": 0.5, "response": "impact"}])");
    CHECK(law_between(*sim, "dust", "floor") == "impact");
    CHECK(law_between(*sim, "sheet", "floor") == "none");
    CHECK(law_between(*sim, "sheet", "ball") == "impact");
    CHECK(law_between(*sim, "sheet", "block") == "none");
    CHECK(law_between(*sim, "sheet", "sheet") == "none");
    CHECK(law_between(*sim, "dust", "sheet") == "none");
    CHECK(law_between(*sim, "dust", "more dust") == "not in the table");  // neither has a size
    CHECK(law_between(*sim, "anchor", "sheet") == "not in the table");
    CHECK(law_between(*sim, "floor", "ball") == "not in the table");
}

TEST_CASE("warnings: a sheet whose triangles are wider than an obstacle") {
    const auto scene = [](double radius, int cells) {
        return R"("time": {"step": "1/1000", "steps": 1}, "contact": {"exceptions": [["sheet", "rod"]]},
            "bodies": [{"type": "cloth", "name": "sheet", "area_density": 0.1, "warp_stiffness": 10,
             "mesh": {"grid": {"origin": [0, 0, 1], "warp": [1, 0, 0], "weft": [0, 1, 0], "cells": [)" +
               std::to_string(cells) + ", " + std::to_string(cells) + R"(]}}}],
            "colliders": [{"type": "sphere", "name": "rod", "center": [0, 0, 0], "response": "impact",
              "radius": )" +
               std::to_string(radius) + "}]";
    };
    // The longest edge of a square cell of 1/4 m is its diagonal, sqrt(2)/4 = 0.35 m.
    const auto coarse = simulate(scene(0.17, 4)), fine = simulate(scene(0.18, 4));
    const Warning* const w = find_warning(*coarse, "coarse_mesh");
    REQUIRE(w != nullptr);
    CHECK(number(*w, "edge") == doctest::Approx(std::sqrt(2.0) / 4));
    CHECK(number(*w, "thickness") == doctest::Approx(0.34));
    CHECK(find_warning(*fine, "coarse_mesh") == nullptr);
}

TEST_CASE("warnings: an oscillator beyond 2/omega, and not below") {
    // omega = sqrt(400 / 0.25) = 40/s: the limit is 1/20 s.
    const auto stable = simulate(oscillator(400, 0.25, 0, quoted(0.0499)));
    CHECK(stable->warnings().empty());
    const auto unstable = simulate(oscillator(400, 0.25, 0, quoted(0.0501)));
    const Warning* const w = find_warning(*unstable, "time_step");
    REQUIRE(w != nullptr);
    CHECK(number(*w, "limit") == doctest::Approx(0.05).epsilon(1e-9));
    CHECK(w->pointer == "/forces/0");
    CHECK(w->remedy.find("\"substeps\": 2") != std::string::npos);
    // With damping c along it: h^2 k + 2 h c = 4 m, h = (-c + sqrt(c^2 + 4 k m)) / k.
    const double c = 3, limit = (-c + std::sqrt(c * c + 4 * 400 * 0.25)) / 400;
    CHECK(simulate(oscillator(400, 0.25, c, quoted(0.999 * limit)))->warnings().empty());
    const auto damped = simulate(oscillator(400, 0.25, c, quoted(1.001 * limit)));
    REQUIRE(find_warning(*damped, "time_step") != nullptr);
    CHECK(number(*find_warning(*damped, "time_step"), "limit") ==
          doctest::Approx(limit).epsilon(1e-9));
}

TEST_CASE("warnings: a chain's limit is that of its highest mode") {
    // n free masses between walls: omega_max = 2 sqrt(k/m) sin(n pi / (2 (n + 1))) (Kittel), along
    // the chain; springs at rest length have nothing across it.
    const int n = 40;
    const double omega = 2 * std::sqrt(50 / 0.5) * std::sin(n * M_PI / (2.0 * (n + 1)));
    const auto chain = [&](double step) {
        std::string places, fixed = "[0, " + std::to_string(n + 1) + "]";
        for (int i = 0; i <= n + 1; ++i)
            places += (i > 0 ? ", [" : "[") + std::to_string(i) + ", 0, 0]";
        return R"("time": {"step": )" + quoted(step) + R"(, "steps": 1},
            "bodies": [{"type": "particles", "name": "beads", "mass": 0.5, "fixed": )" +
               fixed + R"(, "positions": [)" + places + R"(]}],
            "forces": [{"type": "springs", "name": "chain", "connect": {"chain": "beads"}, "stiffness": 50}])";
    };
    CHECK(simulate(chain(1.999 / omega))->warnings().empty());
    const auto beyond = simulate(chain(2.1 / omega));
    const Warning* const w = find_warning(*beyond, "time_step");
    REQUIRE(w != nullptr);
    CHECK(number(*w, "limit") == doctest::Approx(2 / omega).epsilon(0.03));
}

TEST_CASE("warnings: an element's limit, against the growth of a small disturbance") {
    // One tetrahedron at rest: below the limit a push stays small, above it grows without bound.
    const auto block = [](double step) {
        return R"("time": {"step": )" + quoted(step) + R"(, "steps": 600}, "gravity": [0, 0, 0],
            "bodies": [{"type": "solid", "name": "block", "young_modulus": 1e4, "poisson_ratio": 0.3,
              "velocity": [[1e-9, 2e-9, 0], [0, 0, 1e-9], [-1e-9, 0, 0], [0, -2e-9, 1e-9]],
              "mesh": {"points": [[0, 0, 0], [0.1, 0, 0], [0, 0.12, 0], [0.02, 0.01, 0.09]],
                       "tetrahedra": [[0, 1, 2, 3]]}}])";
    };
    const auto beyond = simulate(block(0.1));
    REQUIRE(find_warning(*beyond, "time_step") != nullptr);
    const double limit = number(*find_warning(*beyond, "time_step"), "limit");
    const auto speed_after = [&](double step) {
        const auto sim = simulate(block(step));
        sim->run();
        double most = 0;
        for (int p = 0; p < 4; ++p)
            for (int c = 0; c < 3; ++c) {
                const double speed = std::abs(velocity(*sim, p, c));
                most = std::max(most, std::isfinite(speed) ? speed : 1e300);
            }
        return most;
    };
    CHECK(simulate(block(0.999 * limit))->warnings().empty());
    CHECK(speed_after(0.98 * limit) < 1e-7);
    CHECK(!(speed_after(1.02 * limit) < 1e-5));
}

TEST_CASE("warnings: an element's limit does not depend on bodies before it") {
    // The same tetrahedron alone, and behind points that are heavy or light.
    const auto limit = [](const std::string& before) {
        const auto sim = simulate(
            R"("time": {"step": 0.1, "steps": 1}, "gravity": [0, 0, 0],
            "contact": {"exceptions": )" +
            std::string(before.empty() ? "[]" : R"([["dust", "block"]])") + R"(}, "bodies": [)" +
            before +
            R"({"type": "solid", "name": "block", "young_modulus": 1e4, "poisson_ratio": 0.3,
              "mesh": {"points": [[0, 0, 0], [0.1, 0, 0], [0, 0.12, 0], [0.02, 0.01, 0.09]],
                       "tetrahedra": [[0, 1, 2, 3]]}}])");
        const Warning* const w = find_warning(*sim, "time_step");
        return w == nullptr ? 0.0 : number(*w, "limit");
    };
    const double alone = limit("");
    REQUIRE(alone > 0);
    for (const char* const mass : {"1e-6", "1e6"})
        CHECK(limit(R"({"type": "particles", "name": "dust", "mass": )" + std::string(mass) +
                    R"(, "positions": [[5, 0, 0], [6, 0, 0]]}, )") ==
              doctest::Approx(alone).epsilon(1e-6));
}

TEST_CASE("warnings: what is fixed does not count for a contact by penalty") {
    const auto sim = simulate(R"("time": {"step": 0.00201, "steps": 1},
        "bodies": [{"type": "particles", "name": "peas", "mass": [0.01, 1], "fixed": [0],
                    "positions": [[0, 0, 1], [1, 0, 1]]}],
        "colliders": [{"type": "plane", "name": "floor", "normal": [0, 0, 1],
                       "response": "penalty", "stiffness": 1e4}])");
    CHECK(sim->warnings().empty());
}

TEST_CASE("warnings: numbers that are not finite are texts") {
    Warning warning;
    warning.identifier = "friction_step";
    warning.numbers = {{"ratio", HUGE_VAL}, {"limit", 2}};
    const document::Node node = warning.to_node();
    CHECK(node.find("numbers")->find("ratio")->string() == "inf");
    CHECK(node.find("numbers")->find("limit")->real() == 2);
}

TEST_CASE("warnings: a run that leaves physics below the largest number says so") {
    const auto sim = simulate(oscillator(3e4, 1, 0, "0.02"));  // 2/omega = 0.0115 s
    sim->run(false, [](std::int64_t) { return true; });
    const Warning* const w = find_warning(*sim, "runaway");
    REQUIRE(w != nullptr);
    CHECK(w->step >= 16);
    CHECK(w->step <= 64);
    CHECK(w->happened.find("'mass'") != std::string::npos);
    CHECK(number(*w, "way") > number(*w, "size"));
}

TEST_CASE("warnings: a batch whose variants blow up says so, and a fit of such a run is refused") {
    HINDCAST_NEEDS_PROGRAM();
    const TemporaryFolder folder;
    std::ofstream(folder / "swing.json") << "{\"format\": 1, " + oscillator(100, 1, 0, "0.02") +
                                                R"(, "accepted_warnings": ["time_step"],
        "objective": [{"type": "point_target", "of": "mass", "target": [0, 0, 0]}]})";
    const Finished batch =
        run_program({"batch", "swing.json", "--vary", "spring.stiffness=100,12000", "--precision",
                     "f64", "--device", test_device(), "-o", "out"},
                    folder.path());
    CAPTURE(batch.err);
    CHECK(batch.err.find("[runaway]") != std::string::npos);

    // The recording is reached only by a run that has blown up.
    std::string fit = oscillator(12000, 1, 0, "0.02");
    fit.replace(fit.find("400"), 3, "100");
    std::ofstream(folder / "motion.csv") << "time,x\n0.02,1\n1,1e10\n2,1e30\n";
    std::ofstream(folder / "fit.json")
        << "{\"format\": 1, " + fit + R"(, "accepted_warnings": ["time_step", "runaway"],
        "objective": [{"type": "measured", "name": "camera", "of": "mass", "file": "motion.csv",
            "sigma": 1, "channels": [{"column": "x", "array": "position"}]}],
        "parameters": [{"path": "mass.velocity", "components": ["x"]}]})";
    const Finished identify =
        run_program({"identify", "fit.json", "--device", test_device()}, folder.path());
    CHECK(identify.status == 1);
    CHECK(identify.err.find("has left physics") != std::string::npos);
    const Finished check = run_program(
        {"identify", "fit.json", "--check-only", "--device", test_device()}, folder.path());
    CHECK(check.status == 1);
    CHECK(check.err.find("has left physics") != std::string::npos);
}

TEST_CASE("warnings: friction by penalty beyond its step") {
    // At rest N = m g: h mu g / slip_speed = 2 at slip_speed = 0.5 * 0.01 * 9.81 / 2 = 0.024525.
    const auto block = [](double slip_speed) {
        return R"("time": {"step": 0.01, "steps": 1},
            "bodies": [{"type": "particles", "name": "stone", "mass": 2, "positions": [[0, 0, 0]]}],
            "colliders": [{"type": "plane", "name": "floor", "normal": [0, 0, 1], "response": "penalty",
              "stiffness": 1e4, "damping": 100, "friction": 0.5, "slip_speed": )" +
               quoted(slip_speed) + "}]";
    };
    CHECK(simulate(block(0.0246))->warnings().empty());
    const auto sim = simulate(block(0.0244));
    const Warning* const w = find_warning(*sim, "friction_step");
    REQUIRE(w != nullptr);
    CHECK(number(*w, "ratio") == doctest::Approx(0.5 * 0.01 * 9.81 / 0.0244));
    CHECK(w->pointer == "/colliders/0");
}

TEST_CASE("warnings: balls that overlap at the start, and those that are placed side by side") {
    const auto balls = [](const std::string& places) {
        return R"("time": {"step": 0.01, "steps": 1}, "bodies": [{"type": "particles", "name": "balls",
            "radius": 0.1, "positions": )" +
               places + R"(}], "colliders": [{"type": "particle_contact", "name": "hits"}])";
    };
    const auto sim = simulate(balls("[[0, 0, 0], [0.15, 0, 0], [0.35, 0, 0]]"));
    const Warning* const w = find_warning(*sim, "overlapping_balls");
    REQUIRE(w != nullptr);
    CHECK(number(*w, "pairs") == 1);
    CHECK(number(*w, "distance") == doctest::Approx(0.15));
    CHECK(number(*w, "reach") == doctest::Approx(0.2));
    CHECK(simulate(balls("[[0, 0, 0], [0.2, 0, 0], [0.4, 0, 0]]"))->warnings().empty());
}

TEST_CASE("warnings: a contact by penalty that is too stiff for the step") {
    // 2 sqrt(m / k) = 2 sqrt(0.01 / 1e4) = 2 ms.
    const auto scene = [](double step) {
        return R"("time": {"step": )" + quoted(step) + R"(, "steps": 1},
            "bodies": [{"type": "particles", "name": "pea", "mass": 0.01, "positions": [[0, 0, 1]]}],
            "colliders": [{"type": "plane", "name": "floor", "normal": [0, 0, 1],
              "response": "penalty", "stiffness": 1e4}])";
    };
    CHECK(simulate(scene(0.00199))->warnings().empty());
    CHECK(find_warning(*simulate(scene(0.00201)), "time_step") != nullptr);
}

TEST_CASE("warnings: an obstacle without effect is an error") {
    const std::string points = R"("dimension": 2, "time": {"step": 1e-4, "steps": 1},
        "bodies": [{"type": "material_points", "name": "jelly", "mu": 10, "lambda": 10,
                    "positions": [[0.5, 0.5]]}],
        "forces": [{"type": "mpm_grid", "nodes": [32, 32], "spacing": 0.03125}],
        "colliders": [{"type": "plane", "name": "floor", "normal": [0, 1], "offset": 0.2, "response": )";
    const std::string said = message([&] { simulate(points + "\"impact\"}]"); });
    CHECK(said.find("'floor' would have no effect") != std::string::npos);
    CHECK(said.find("impulse") != std::string::npos);
    CHECK(simulate(points + "\"impulse\"}]")->warnings().empty());
}

TEST_CASE("warnings: unknown identifiers and names are errors at their place") {
    const auto fails = [](const std::string& keys) {
        return message([&] { simulate(two_clouds + keys); });
    };
    CHECK(fails(R"(, "accepted_warnings": ["contact_pair"])").find("contact_pairs") !=
          std::string::npos);
    CHECK(fails(R"(, "contact": {"exceptions": [["left", "rigth"]]})").find("right") !=
          std::string::npos);
    CHECK(fails(R"(, "contact": {"friction": 1})").find("friction") != std::string::npos);
}

TEST_CASE("warnings: commands print them, summaries list them, --strict makes them errors") {
    HINDCAST_NEEDS_PROGRAM();
    const TemporaryFolder folder;
    std::ofstream(folder / "balls.json") << "{\"format\": 1, " + two_clouds + "}";
    const Finished run = run_program(
        {"run", "balls.json", "--device", test_device(), "--quiet", "-o", "out"}, folder.path());
    CHECK(run.status == 0);
    CHECK(run.err.find("[contact_pairs]") != std::string::npos);
    CHECK(run.err.find("[bodies_overlap]") != std::string::npos);
    const document::Document summary =
        document::Document::load(folder.path() / "out" / "summary.json");
    const document::Node* const list = summary.find("/warnings");
    REQUIRE(list != nullptr);
    REQUIRE(list->size() == 2);
    CHECK(list->item(0).find("identifier")->string() == "contact_pairs");
    CHECK(list->item(1).find("identifier")->string() == "bodies_overlap");
    CHECK(summary.find("/contact_pairs/0/a")->string() == "left");

    const Finished strict =
        run_program({"run", "balls.json", "--device", test_device(), "--strict"}, folder.path());
    CHECK(strict.status == 1);
    CHECK(strict.err.find("nothing keeps these apart") != std::string::npos);
    CHECK(strict.err.find("accepted_warnings") != std::string::npos);

    const Finished pairs = run_program({"info", "--scene", "balls.json", "--pairs"}, folder.path());
    CHECK(pairs.status == 0);
    CHECK(pairs.out.find("left    right  none") != std::string::npos);
}

TEST_CASE("warnings: no bundled scene warns when it is loaded, and one that accepts some says so") {
    namespace fs = std::filesystem;
    int count = 0;
    for (const fs::directory_entry& entry :
         fs::recursive_directory_iterator(fs::path(source_dir) / "scenes")) {
        const std::string file = entry.path().filename().string();
        if (entry.path().extension() != ".json" || file.ends_with(".test.json") ||
            file.ends_with(".schema.json"))
            continue;
        const document::Document document = document::Document::load(entry.path());
        if (document.find("/format") == nullptr || document.find("/time") == nullptr) continue;
        const Scene scene = Scene::load(entry.path());
        if (!can_build(scene)) continue;
        CAPTURE(file);
        SimulationOptions options;
        options.device = std::make_shared<Device>(DeviceOptions{DeviceKind::interpreter});
        std::string found;
        options.on_warning = [&](const Warning& w) { found += w.text() + "\n"; };
        const Simulation sim(scene, all_modules(), options);
        CHECK(found == "");
        if (document.find("/accepted_warnings") != nullptr ||
            document.find("/contact/exceptions") != nullptr)
            CHECK(scene.description().find("pass") != std::string::npos);
        ++count;
    }
    CHECK(count >= 30);
}
