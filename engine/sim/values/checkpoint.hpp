// Use of checkpoints (scene/checkpoint_list.hpp) in a simulation.
//
// A checkpoint's numbers take the place of the scene's as an optimization would set them: values
// computed at load from the scene's numbers stay fixed. A scene may hold checkpoints that do not
// fit its parameters any more; using one is then an error.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "engine/sim/scene/checkpoint_list.hpp"
#include "engine/sim/simulation.hpp"

namespace hindcast {

// Numbers of a quantity, and what they are to be: values[k] for quantity->values[entries[k]].
struct NewNumbers {
    model::Quantity* quantity = nullptr;
    std::vector<std::size_t> entries;
    std::vector<double> values;
};
// The numbers that keys may name. any_number: also those that are not parameters; then one number
// may stand for all that a key names.
enum class Naming : std::uint8_t { parameters, any_number };
// The "values" of a checkpoint as numbers of this simulation, one entry per key. Throws Error at
// the key's value if the scene has no such parameter, if it has another shape, or for a number that
// is not allowed there.
std::vector<NewNumbers> new_numbers(const document::Node& values, Simulation& simulation,
                                    Naming naming = Naming::parameters);

// "values" of a checkpoint: these of the simulation's parameters, in the order of the flat vector.
// A quantity of more than 1000 numbers goes to a file in `folder`, which is named by `stem` and its
// content, unless the folder is empty.
document::Node checkpoint_values(Simulation& simulation, std::span<const double> parameters,
                                 const std::filesystem::path& folder = {},
                                 const std::string& stem = {});

// `--checkpoint`: the scene with the values of that checkpoint, which stand in it as after
// Scene::set(). `options`: files and seed that the scene's values are evaluated with. Throws Error
// and changes nothing.
void use_checkpoint(Scene& scene, const Registry& registry, const SimulationOptions& options,
                    const std::string& name);

// The same with values that need not be kept with the scene: an object as a checkpoint's "values".
void use_values(Scene& scene, const Registry& registry, const SimulationOptions& options,
                const document::Node& values, Naming naming = Naming::parameters);

}  // namespace hindcast
