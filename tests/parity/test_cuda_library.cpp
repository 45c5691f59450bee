// NVRTC makes code, for two architectures, of every kernel of the library as it is launched: those
// of the bundled scenes and of one that has what they lack, with the arrays as they lie there,
// joined as roll-outs join them, forward, adjoint and tangent, in both precisions; of the sums at
// dynamic indices in any order too; of the update rules. tests/gpu/registers.md records what they
// take; spilling more than stands there fails.
#include <doctest/doctest.h>
#include <fmt/format.h>

#include <cstdlib>
#include <fstream>
#include <map>
#include <sstream>

#include "engine/backend/cuda/context.hpp"
#include "engine/backend/cuda/emit.hpp"
#include "engine/backend/cuda/phases.hpp"
#include "engine/base/error.hpp"
#include "engine/optim/gradient_rule.hpp"
#include "engine/sim/optimization/optimization.hpp"
#include "tests/physics/module_scene.hpp"
#include "tests/support/paths.hpp"
#include "tests/support/patience.hpp"
#include "tests/support/scenes.hpp"
#include "tests/support/skip.hpp"
#include "tests/support/software_cuda.hpp"
#include "tests/support/system_nvrtc.hpp"

using namespace hindcast;
using ir::Precision;
namespace cuda = backend::cuda;

namespace {

using Texts = std::map<std::string, std::string>;  // by name, which ends with the text's hash

// What no bundled scene has.
std::string others() {
    return std::string(R"({"format": 1, )") + test::springs_in_wind + R"(, "colliders": [
        {"type": "plane", "name": "floor", "normal": [0, 0, 1], "offset": -9},
        {"type": "sphere", "name": "rock", "center": [0, 0, -9], "radius": 0.25}],
    "parameters": [{"path": "chain.velocity"}, {"path": "rope.stiffness"}]})";
}

// The texts of what is launched; with `stop` nothing is compiled, and the first launch throws.
class Collector {
public:
    Collector(Texts& texts, bool any_order) {
        DeviceOptions options;
        options.kind = DeviceKind::cuda;
        options.nondeterministic = any_order;
        device = std::make_shared<Device>(options);
        device->cuda()->code().look_at([this, &texts](const Texts& own) {
            texts.insert(own.begin(), own.end());
            if (stop) throw Error("not compiled");
        });
    }
    std::shared_ptr<Device> device;
    bool stop = false;
};

// Second derivatives, threads that stride over the items, the other precision and the other architecture are for
// tests/run --full: each takes as long as everything else.
using test::full;

bool collect(const Scene& scene, Precision precision, bool any_order, Texts& texts) {
    Texts own;
    Collector collector(own, any_order);
    SimulationOptions options;
    options.device = collector.device;
    options.precision = precision;
    Simulation simulation(scene, test::all_modules(), options);
    for (const Launch::Replay& replay : test::replays_of(simulation))
        if (replay.direction() != Direction::adjoint_tangent || full()) replay.prepare();
    collector.stop = true;
    CHECK_THROWS_AS(simulation.rollout().forward(true), Error);  // which prepares all of it
    bool sums = false;
    for (const auto& [name, text] : own) sums |= text.find("add_fixed(") != std::string::npos;
    texts.merge(own);
    return sums;
}

void collect_update_rules(Texts& texts) {
    constexpr double any = std::numeric_limits<double>::infinity();
    const optim::Variables variables{{0.1, -any}, {2, any}, {1, 0.5}, {true, false}};
    for (const optim::RuleType type :
         {optim::RuleType::gradient_descent, optim::RuleType::normalized_gradient_descent,
          optim::RuleType::momentum, optim::RuleType::adam})
        for (const bool nesterov : {false, true}) {
            if (nesterov && type != optim::RuleType::momentum) continue;
            Collector collector(texts, false);
            optim::Settings settings;
            settings.type = type;
            settings.rate = 0.1;
            settings.nesterov = nesterov;
            settings.clip_norm = 1;
            const optim::GradientRule rule(settings, variables, collector.device);
            Sequence look(collector.device), update(collector.device);
            rule.add_look(look);
            rule.add_update(update);
            rule.values().fill(1);
            rule.gradient().fill(1);
            look.run();
            update.run();
        }
    // With what goes to and fro between the scene's arrays and the vector of its parameters.
    Collector collector(texts, false);
    SimulationOptions options;
    options.device = collector.device;
    Scene scene = Scene::load(std::string(hindcast::test::source_dir) + "/scenes/spring_cage.json");
    scene.set("time.steps", "2");
    Simulation simulation(scene, test::all_modules(), options);
    Optimization(simulation, 2).run({});
}

// Most of all forms of one kernel.
struct Takes {
    int registers = 0, spilled = 0;
    std::string text() const {
        if (registers == 0) return "";
        return std::to_string(registers) +
               (spilled > 0 ? ", " + std::to_string(spilled) + " B spilled" : "");
    }
};
constexpr int columns = 4;
using Table = std::map<std::string, std::array<Takes, columns>>;
const std::array<std::pair<Precision, int>, columns> column = {
    {{Precision::f32, 75}, {Precision::f32, 90}, {Precision::f64, 75}, {Precision::f64, 90}}};
const std::string table_file = std::string(hindcast::test::source_dir) + "/tests/gpu/registers.md";

Table read_table() {
    Table table;
    std::ifstream file(table_file);
    for (std::string line; std::getline(file, line);) {
        if (line.rfind("| `", 0) != 0) continue;
        std::istringstream cells(line.substr(3));
        std::string name, cell;
        std::getline(cells, name, '`');
        std::getline(cells, cell, '|');
        for (Takes& takes : table[name]) {
            std::getline(cells, cell, '|');
            std::sscanf(cell.c_str(), "%d, %d B", &takes.registers, &takes.spilled);
        }
    }
    return table;
}

void write_table(const Table& table) {
    const backend::NvrtcInfo& nvrtc = test::system_nvrtc().info();
    std::ofstream file(table_file);
    file << "# Registers of the kernels\n\n"
         << "Registers of a thread, the most of all forms in which a kernel is launched, and the\n"
         << "bytes that it stores and loads because they are not enough, by NVRTC " << nvrtc.major
         << "." << nvrtc.minor << ".\nMade by\n\n"
         << "    HINDCAST_FULL=1 HINDCAST_WRITE_REGISTERS=1 build/release/hindcast_tests "
            "--test-case='CUDA library*'\n\n"
         << "Without the variable these tests fail where a kernel spills more than here.\n\n"
         << "| kernel | f32, sm_75 | f32, sm_90 | f64, sm_75 | f64, sm_90 "
            "|\n|---|---|---|---|---|\n";
    for (const auto& [name, row] : table) {
        file << "| `" << name << "` |";
        for (const Takes& takes : row) file << " " << takes.text() << " |";
        file << "\n";
    }
}

}  // namespace

TEST_CASE("CUDA library: NVRTC makes code of every kernel in every form, for two architectures") {
    if (!test::system_nvrtc().info().available) HINDCAST_SKIP(test::system_nvrtc().info().problem);
    if (!test::has_cuda_device()) HINDCAST_SKIP("there is no CUDA device");
    const Table recorded = read_table();
    Table found;
    Texts texts;  // of one precision
    for (std::size_t c = 0; c < columns; ++c) {
        if (c > 0 && !full()) break;
        const auto [precision, architecture] = column[c];
        if (c % 2 == 0) {
            texts.clear();
            std::vector<Scene> scenes = {Scene::parse(others(), "others")};
            for (const auto& file : test::bundled_scenes()) scenes.push_back(Scene::load(file));
            for (const Scene& scene : scenes)
                if (collect(scene, precision, false, texts)) collect(scene, precision, true, texts);
            if (precision == Precision::f32) collect_update_rules(texts);
        }
        std::string text = cuda::prelude + cuda::phases();
        for (const auto& [name, own] : texts) text += own;
        if (full())
            for (const auto& [name, own] : texts) text += cuda::with_stride(name, own);
        const backend::Cubin cubin = test::system_nvrtc().compile(text, architecture);
        int most = 0, spilled = 0;
        for (const auto& [name, function] : cubin.functions) {
            CHECK(function.registers > 0);
            constexpr std::size_t hash = 33;
            std::string kernel = texts.contains(name) ? name.substr(0, name.size() - hash) : name;
            const std::string suffix = cuda::stride_suffix;
            if (kernel.ends_with(suffix))
                kernel = name.substr(0, name.size() - hash - suffix.size()) + suffix;
            Takes& takes = found[kernel][c];
            takes.registers = std::max(takes.registers, function.registers);
            takes.spilled = std::max(takes.spilled, function.spilled_bytes);
            most = std::max(most, function.registers);
            spilled += function.spilled_bytes > 0 ? 1 : 0;
        }
        for (const auto& [name, own] : texts) CHECK(cubin.functions.contains(name));
        MESSAGE((precision == Precision::f32 ? "f32" : "f64")
                << ", sm_" << architecture << ": " << cubin.functions.size()
                << " functions, at most " << most << " registers, " << spilled << " spill, "
                << cubin.code.size() << " bytes");
    }
    if (std::getenv("HINDCAST_WRITE_REGISTERS") != nullptr) return write_table(found);
    REQUIRE(!recorded.empty());
    int unknown = 0;
    for (const auto& [name, row] : found) {
        CAPTURE(name);
        const auto known = recorded.find(name);
        unknown += known == recorded.end() ? 1 : 0;
        for (std::size_t c = 0; c < columns; ++c)
            CHECK(row[c].spilled <= (known == recorded.end() ? 0 : known->second[c].spilled));
    }
    if (unknown > 0) MESSAGE(unknown << " kernels are not in tests/gpu/registers.md");
}
