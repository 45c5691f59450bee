// The bundled scenes, and which of them are small enough for the devices that tests run on.
#pragma once

#include <algorithm>
#include <filesystem>
#include <string>
#include <vector>

#include "engine/sim/simulation.hpp"
#include "tests/support/devices.hpp"
#include "tests/support/paths.hpp"

namespace hindcast::test {

inline std::vector<std::filesystem::path> bundled_scenes() {
    std::vector<std::filesystem::path> list;
    for (const auto& entry :
         std::filesystem::directory_iterator(std::string(hindcast::test::source_dir) + "/scenes")) {
        const std::string name = entry.path().filename().string();
        if (name.ends_with(".json") && !name.ends_with(".test.json") &&
            !name.ends_with(".schema.json"))
            list.push_back(entry.path());
    }
    std::sort(list.begin(), list.end());
    return list;
}

// Every launch of a scene in every direction.
inline std::vector<hindcast::Launch::Replay> replays_of(Simulation& simulation) {
    model::Model& model = simulation.model();
    std::vector<hindcast::Launch> launches = model.prologue().launches();
    for (const hindcast::Launch& launch : model.step_program().launches())
        launches.push_back(launch);
    if (!model.events().empty())
        for (const hindcast::Launch& launch : model.events().rbegin()->second.launches())
            launches.push_back(launch);
    const Array energy(ir::Type::f64, {1});
    Program energies;
    for (const model::Energy& e : model.energies()) e.add(model, 1, energy, energies);
    for (const hindcast::Launch& launch : energies.launches()) launches.push_back(launch);
    std::vector<hindcast::Launch::Replay> replays;
    for (const hindcast::Launch& launch : launches) {
        replays.push_back(launch.forward());
        if (!launch.has_derivative()) continue;
        for (const Direction d :
             {Direction::adjoint, Direction::tangent, Direction::adjoint_tangent})
            replays.push_back(launch.replay(d));
    }
    return replays;
}

// Several runs of the scene take seconds: everything on compiled code, on the interpreter (where a
// sanitizer makes it twenty times slower still) what goes over few items in all.
inline bool affordable(Simulation& simulation) {
    if (has_cpu_device()) return true;
    std::int64_t items = 0;
    for (const hindcast::Launch& launch : simulation.model().step_program().launches())
        items += launch.items();
    return items * simulation.steps() <= 20'000;
}

}  // namespace hindcast::test
