// A roll-out lowered to blocks of items (runtime/schedule/timeline.hpp).
#include <doctest/doctest.h>

#include <algorithm>

#include "engine/runtime/rollout/rollout.hpp"
#include "engine/runtime/schedule/timeline.hpp"
#include "tests/support/devices.hpp"
#include "tests/support/paths.hpp"
#include "tests/support/program.hpp"

using namespace hindcast;
using namespace hindcast::lang;

namespace {

const KernelDef start =
    kernel("start", {"p", "x"}, [](Int i, Read<Float> p, Write<Float> x) { x[i] = p[i] * 0.5; });
const KernelDef square =
    kernel("square", {"x"}, [](Int i, ReadWrite<Float> x) { x[i] = x[i] * x[i] * 0.9; });
const KernelDef sum =
    kernel("sum", {"x", "loss"}, [](Int i, Read<Float> x, Reduce<Float> loss) { loss += x[i]; });

struct Scene {
    Array p{ir::Type::f64, {4}}, x{ir::Type::f64, {4}}, loss{ir::Type::f64, {1}};
    Array counter = Rollout::make_step_counter();
    Program prologue, step;
    std::map<std::int64_t, Program> events;
    std::unique_ptr<Schedule> schedule;

    explicit Scene(bool backward = true) {
        const auto device = test::interpreter_device();
        const auto launch = [&](const KernelDef& kernel, std::vector<Argument> arguments) {
            return Launch(device, kernel, ir::Precision::f64, 4, std::move(arguments));
        };
        prologue.add(launch(start, {p, x}));
        step.add(launch(square, {x}));
        const Launch looks = launch(sum, {x, loss});
        for (const std::int64_t t : {2, 5}) events[t].add(looks);
        schedule = make_schedule(prologue, step, 5, events, RolloutMode::first, backward);
    }
};

// The words with which lines of items begin, and the titles of blocks.
std::string outline(const std::string& text) {
    std::string words;
    for (std::size_t at = 0; at < text.size(); at = text.find('\n', at) + 1) {
        const bool item = text.compare(at, 2, "  ") == 0;
        const std::size_t begin = item ? at + 2 : at;
        const std::size_t end =
            std::min(text.find('\n', at), item ? text.find(' ', begin) : std::string::npos);
        words += (item ? " " : "|") + text.substr(begin, end - begin);
    }
    return words;
}

}  // namespace

TEST_CASE("timeline: what a run with gradients does, item by item") {
    Scene scene;
    const Timeline timeline(*scene.schedule, scene.counter);
    CHECK(outline(timeline.describe()) ==
          "|before the first step count run"
          "|step t, t = 0 ... 4 count copy run"
          "|after steps 2, 5 ... 5 (2 times) count run"
          "|backwards, after steps 2, 5 ... 5 (2 times) count run"
          "|backwards, step t, t = 4 ... 0 count run"
          "|backwards, before the first step count run");
    CHECK(timeline.describe().find(
              "copy   x to its history of each step, " + std::to_string(scene.x.bytes()) +
              " bytes\n  run    square, forward, 4 items\n") != std::string::npos);
    CHECK(timeline.describe().find("run    square, adjoint, 4 items; from history: x\n") !=
          std::string::npos);
}

TEST_CASE("timeline: a run that keeps nothing copies nothing") {
    Scene scene(false);
    const Timeline timeline(*scene.schedule, {});
    CHECK(
        outline(timeline.describe()) ==
        "|before the first step run|step t, t = 0 ... 4 run|after steps 2, 5 ... 5 (2 times) run");
}

TEST_CASE("timeline: a whole run is a list of loops over steps, with events between") {
    Scene scene;
    Timeline timeline(*scene.schedule, scene.counter);
    timeline.check_finite({scene.x}, 3);
    const auto ranges = [&](RunKind kind) {
        std::string text;
        for (const BlockLoop& loop : timeline.run(kind))
            text += " " + std::to_string(loop.begin) + ".." + std::to_string(loop.end) +
                    (loop.event != nullptr ? "e" : "");
        return text;
    };
    // Of five steps the looks after every third end with one after the last.
    CHECK(ranges(RunKind::recording) == " 0..1 0..2 2..3e 2..5 5..6e 5..6");
    CHECK(ranges(RunKind::back) == " 5..6e 5..2 2..3e 2..0 0..1");
    const std::vector<BlockLoop> forward = timeline.run(RunKind::forward);
    const auto checks = [](const BlockLoop& loop) {
        return std::count_if(loop.block.begin(), loop.block.end(), [](const TimelineItem& item) {
            return std::holds_alternative<CheckItem>(item);
        });
    };
    CHECK(checks(forward[1]) == 1);
    CHECK(checks(forward[2]) == 0);
    CHECK(checks(forward.back()) == 1);
    CHECK(std::holds_alternative<ClearItem>(forward[0].block.front()));  // the reduced loss
}

TEST_CASE("info --timeline prints a scene's timeline before and after each pass") {
    if (!test::has_cpu_device()) return;
    const std::string scene = std::string(test::source_dir) + "/scenes/mpm_launch.json";
    const auto text = [&](const std::vector<std::string>& more) {
        std::vector<std::string> arguments{"info", "--scene", scene, "--timeline"};
        arguments.insert(arguments.end(), more.begin(), more.end());
        const test::Finished result = test::run_program(arguments);
        CHECK(result.status == 0);
        return result.out;
    };
    const std::string all = text({});
    for (const char* part : {"as recorded, with what adjoints need kept", "after rematerialization",
                             "after sparse-history", "after fusion", "after rotation",
                             "between two steps", "  again  ", "  lines  "}) {
        CAPTURE(part);
        CHECK(all.find(part) != std::string::npos);
    }
    const std::string none = text({"--without", "all"});
    CHECK(none.find("after rem") == std::string::npos);
    CHECK(none.find("  again  ") == std::string::npos);
}
