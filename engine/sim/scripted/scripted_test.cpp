// Finds tests, runs them and reports; what a test's steps do is in test_runner.cpp.
#include "engine/sim/scripted/scripted_test.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstring>
#include <optional>
#include <set>

#include "engine/backend/optional_passes.hpp"
#include "engine/base/files.hpp"
#include "engine/document/layout.hpp"
#include "engine/robot/mujoco_library.hpp"
#include "engine/sim/results/results.hpp"
#include "engine/sim/scripted/test_runner.hpp"

namespace hindcast {

namespace {

namespace fs = std::filesystem;
using Verdict = TestOutcome::Verdict;

template <class T>
bool contains(const std::vector<T>& list, const T& value) {
    return std::ranges::find(list, value) != list.end();
}

// ---------------------------------------------------------------- determinism

struct Bits {
    std::string hash;
    std::vector<double> gradient;
};

// With "steps" the roll-out stops early. Objective terms may then not have run, so the gradient is
// that of the sum of the state. With `checkpoints` most steps are recomputed on the way back.
Bits bits_on(const DeviceOptions& device, const TestScript& script, ir::Precision precision,
             const Registry& registry, const TestOptions& test, bool checkpoints) {
    SimulationOptions options;
    options.device = std::make_shared<Device>(device);
    options.precision = precision;
    options.allowed_paths = test.allowed_paths;
    Simulation simulation(Scene::load(script.scene), registry, options);
    const bool derivative = simulation.parameters().size() > 0;
    const std::int64_t last = script.determinism.steps * simulation.scene().substeps();
    const bool early = last >= 0 && last < simulation.steps();
    if (checkpoints && simulation.steps() > 0)
        simulation.rollout().force_plan((early ? last : simulation.steps()) / 9 + 1, 4);
    simulation.run(derivative, [&](std::int64_t done) { return !early || done < last; });
    Bits bits{to_string(simulation.state_hash().digest()), {}};
    if (!derivative) return bits;
    if (early) {
        std::vector<Rollout::Seed> seeds;
        for (const auto& [name, published] : simulation.model().arrays())
            if (published.state) seeds.push_back({published.array, 1});
        simulation.rollout().backward(seeds);
        bits.gradient = simulation.parameters().gradient();
    } else {
        bits.gradient = simulation.gradient();
    }
    return bits;
}

void check_determinism(const TestScript& script, ir::Precision precision, const Registry& registry,
                       const TestOptions& test, std::vector<std::string>& messages) {
    Findings findings(messages);
    std::vector<DeviceOptions> devices;
    for (const int threads : {1, 2, 3, 8}) devices.push_back({DeviceKind::cpu, threads, 0, false});
    for (const int width : {1, 4, 8, 16}) devices.push_back({DeviceKind::cpu, 2, width, false});
    if (script.determinism.interpreter) devices.push_back({DeviceKind::interpreter, 1, 0, false});
    std::optional<Bits> first;
    const auto compare = [&](const DeviceOptions& device, bool checkpoints) {
        if (test.go_on && !test.go_on()) throw TestStopped();
        const Bits bits = bits_on(device, script, precision, registry, test, checkpoints);
        if (!first) first = bits;
        const std::string left_out = device.passes.left_out();
        const std::string name = Device(device).describe() +
                                 (left_out.empty() ? "" : ", without " + left_out) +
                                 (checkpoints ? ", recomputed from checkpoints" : "");
        if (bits.hash != first->hash)
            findings.add(fmt::format("{}: expected the state hash {} of one thread, found {}", name,
                                     first->hash, bits.hash));
        for (std::size_t k = 0; k < bits.gradient.size(); ++k) {
            if (same_bits(bits.gradient[k], first->gradient[k])) continue;
            findings.add(fmt::format(
                "{}: entry {} of the gradient: expected {} of one thread, "
                "found {}",
                name, k, number_text(first->gradient[k]), number_text(bits.gradient[k])));
            break;
        }
    };
    for (const DeviceOptions& device : devices) compare(device, false);
    compare(devices[1], true);
    for (const PassSet& on : {PassSet().without(Pass::fusion), PassSet::none()}) {
        DeviceOptions without = devices[1];
        without.passes = on;
        compare(without, false);
    }
}

}  // namespace

// ---------------------------------------------------------------- files

std::vector<fs::path> find_tests(const std::vector<fs::path>& paths) {
    const auto is_test = [](const fs::path& path) {
        return path.filename().string().ends_with(".test.json");
    };
    std::set<fs::path> found;
    for (const fs::path& path : paths) {
        std::error_code error;
        const std::size_t before = found.size();
        if (fs::is_directory(path, error)) {
            for (fs::recursive_directory_iterator it(path, error), end; !error && it != end;
                 it.increment(error))
                if (is_test(it->path())) found.insert(it->path().lexically_normal());
        } else if (is_test(path)) {
            if (!fs::exists(path, error)) throw Error("there is no file " + path.string());
            found.insert(path.lexically_normal());
        } else {
            fs::path beside = path;
            beside.replace_extension(".test.json");
            if (fs::exists(beside, error))
                found.insert(beside.lexically_normal());
            else if (!fs::exists(path, error))
                throw Error("there is no file " + path.string());
        }
        if (error) throw Error(path.string() + ": " + error.message());
        if (found.size() == before && !fs::is_directory(path, error))
            throw Error("there is no test for " + path.string())
                .remedy("tests are files NAME.test.json beside a scene NAME.json");
    }
    if (found.empty())
        throw Error("there are no tests there")
            .remedy("tests are files NAME.test.json beside a scene NAME.json");
    return {found.begin(), found.end()};
}

void run_scripted_test(const fs::path& file, const Registry& registry, const TestOptions& options,
                       const std::function<void(const TestOutcome&)>& report) {
    std::string name = file.string();
    if (name.ends_with(".test.json")) name.resize(name.size() - std::strlen(".test.json"));
    const auto skipped = [&](const std::string& what, const std::string& reason) {
        report({name + what, Verdict::skipped, {reason}, 0});
    };
    std::optional<TestScript> script;
    // Runs one test and reports it; false if it was stopped.
    const auto run = [&](const std::string& what, const auto& body) {
        TestOutcome outcome;
        outcome.name = name + what;
        std::vector<std::string> updates;
        const auto start = std::chrono::steady_clock::now();
        bool stopped = false;
        try {
            body(outcome.messages, updates);
        } catch (const TestStopped&) {
            stopped = true;
        } catch (const std::exception& error) {
            outcome.messages.push_back(about(script->scene, error.what()));
        }
        if (stopped) return false;
        outcome.seconds =
            std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
        if (!outcome.messages.empty()) outcome.verdict = Verdict::failed;
        outcome.messages.insert(outcome.messages.end(), updates.begin(), updates.end());
        report(outcome);
        return true;
    };

    try {
        script = TestScript::load(file);
    } catch (const std::exception& error) {
        report({name, Verdict::failed, {error.what()}, 0});
        return;
    }
    if (script->skip) return skipped("", *script->skip);
    if (script->needs_mujoco)
        if (const robot::MujocoInfo& mujoco = robot::mujoco_library().info(); !mujoco.available)
            return skipped("", mujoco.problem);
    const auto in_scope = [&](ir::Precision p) { return contains(options.precisions, p); };
    const document::Document before = script->document;
    for (const ir::Precision precision : script->precisions) {
        if (!in_scope(precision)) continue;
        const bool done =
            run(std::string(", ") + name_of(precision), [&](auto& messages, auto& updates) {
                run_script(*script, precision, registry, options, messages, updates);
            });
        if (!done) return;
    }
    if (options.update && !(script->document == before))
        document::save_like(script->document, file, file);
    if (!script->determinism.wanted) return;
    for (const ir::Precision precision : script->determinism.precisions) {
        if (!in_scope(precision)) continue;
        const std::string what = std::string(", ") + name_of(precision) + ", determinism";
        if (options.device.kind == DeviceKind::interpreter) {
            skipped(what, "compares threads and lanes of the cpu, which --device left out");
            continue;
        }
        const bool done = run(what, [&](auto& messages, auto&) {
            check_determinism(*script, precision, registry, options, messages);
        });
        if (!done) return;
    }
}

}  // namespace hindcast
