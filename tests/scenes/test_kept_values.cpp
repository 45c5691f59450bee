// What steps keep for their adjoints, counted: linear steps nothing, springs positions only, and
// nothing else twice.
#include <doctest/doctest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "engine/runtime/schedule/schedule.hpp"
#include "engine/sim/non_finite.hpp"
#include "tests/physics/module_scene.hpp"

using namespace hindcast;
using Kept = History::Kept;

namespace {

constexpr std::int64_t steps = 40;

// The model's arrays that are kept in every step.
std::vector<std::string> kept_per_step(Simulation& s) {
    std::vector<std::string> names;
    for (const Rollout::KeptValue& v : s.rollout().kept_values())
        if (v.kept == Kept::per_step) names.push_back(name_of(s.model(), v.array));
    std::sort(names.begin(), names.end());
    return names;
}

std::int64_t bytes_of(Simulation& s, const std::string& array) {
    return static_cast<std::int64_t>(s.model().array(array).bytes());
}

// What a run with gradients keeps in all.
std::int64_t kept_bytes(Simulation& s) {
    s.run(true);
    return s.rollout().kept_bytes();
}

std::unique_ptr<Simulation> rope(const std::string& more, const std::string& parameters) {
    return test::simulate(
        R"("time": {"step": 0.01, "steps": 40},
        "bodies": [{"type": "particles", "name": "rope",
                    "positions": [[0, 0, 0], [1, 0, 0], [2, 0.5, 0], [3, 0, 0.25]]}],)" +
        more +
        R"("objective": [{"type": "point_target", "of": "rope", "target": [0, 0, 1]}],
        "parameters": [)" +
        parameters + "]");
}

const std::vector<std::string> nothing;

}  // namespace

TEST_CASE("kept values: free flight, gravity and damping keep no step") {
    for (const char* parameter : {R"({"path": "rope.velocity"})", R"({"path": "rope.positions"})",
                                  R"({"path": "gravity"})"})
        for (const char* decay :
             {"", R"("forces": [{"type": "damping", "name": "air", "rate": 0.3}],)"}) {
            CAPTURE(parameter);
            CAPTURE(decay);
            const auto s = rope(decay, parameter);
            CHECK(kept_per_step(*s) == nothing);
            CHECK(kept_bytes(*s) == bytes_of(*s, "position"));  // the objective's, once
        }
}

TEST_CASE("kept values: a decay rate as parameter needs the velocity it acts on") {
    const auto s = rope(R"("forces": [{"type": "damping", "name": "air", "rate": 0.3}],)",
                        R"({"path": "air.rate"})");
    CHECK(kept_per_step(*s) == std::vector<std::string>{"velocity"});
    CHECK(kept_bytes(*s) == (steps + 1) * bytes_of(*s, "velocity") + bytes_of(*s, "position"));
}

TEST_CASE("kept values: springs keep positions, not forces") {
    for (const char* parameter :
         {R"({"path": "links.stiffness"})", R"({"path": "links.rest_length"})",
          R"({"path": "rope.velocity"})", R"({"path": "gravity"})"}) {
        CAPTURE(parameter);
        const auto s = rope(
            R"("forces": [{"type": "springs", "name": "links", "connect": {"chain": "rope"},
                           "stiffness": 20}],)",
            parameter);
        CHECK(kept_per_step(*s) == std::vector<std::string>{"position"});
        // The objective reads the last of them.
        CHECK(kept_bytes(*s) == (steps + 1) * bytes_of(*s, "position"));
    }
    const auto damped = rope(
        R"("forces": [{"type": "springs", "name": "links", "connect": {"chain": "rope"},
                       "stiffness": 20, "damping": 1}],)",
        R"({"path": "links.stiffness"})");
    CHECK(kept_per_step(*damped) == std::vector<std::string>{"position", "velocity"});
}

TEST_CASE("kept values: a mass as parameter needs the forces that it divides") {
    const auto s = rope(
        R"("forces": [{"type": "springs", "name": "links", "connect": {"chain": "rope"},
                       "stiffness": 20}],)",
        R"({"path": "rope.mass"})");
    CHECK(kept_per_step(*s) == std::vector<std::string>{"force", "position"});
}

TEST_CASE("kept values: waves keep no step unless their speed varies") {
    const auto membrane = [](const char* parameter) {
        return test::simulate(
            R"("dimension": 2, "time": {"step": "1/50", "steps": 40},
            "bodies": [{"type": "waves", "name": "drum", "nodes": [5, 6], "spacing": 0.5,
                        "boundary": "zero_outside", "speed": 1,
                        "level_0": {"formula": "x*y"}, "level_1": {"formula": "x"}}],
            "objective": [{"type": "field_target", "of": "drum", "target": 0}],
            "parameters": [{"path": ")" +
            std::string(parameter) + R"(", "per": "element"}])");
    };
    CHECK(kept_per_step(*membrane("drum.level_0")) == nothing);
    CHECK(kept_per_step(*membrane("drum.level_1")) == nothing);
    CHECK(!kept_per_step(*membrane("drum.speed")).empty());
}
