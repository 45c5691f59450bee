// Scenes with measured data that a test writes itself.
#pragma once

#include <fstream>
#include <memory>
#include <string>

#include "engine/sim/simulation.hpp"
#include "tests/support/all_modules.hpp"
#include "tests/support/devices.hpp"
#include "tests/support/temporary_folder.hpp"

namespace hindcast::test {

// The scene as text, beside what the test has put into the folder; on the interpreter in f64.
inline std::unique_ptr<Simulation> measured_scene(const TemporaryFolder& folder,
                                                  const std::string& scene,
                                                  DeviceKind device = DeviceKind::interpreter) {
    SimulationOptions options;
    options.device = std::make_shared<Device>(DeviceOptions{device});
    options.precision = ir::Precision::f64;
    return std::make_unique<Simulation>(
        Scene::of(document::Document::parse(scene, "scene"), folder / "scene.json"), all_modules(),
        options);
}

inline void put_file(const TemporaryFolder& folder, const std::string& name,
                     const std::string& content) {
    std::ofstream(folder / name) << content;
}

}  // namespace hindcast::test
