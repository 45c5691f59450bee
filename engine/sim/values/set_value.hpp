// Sets a value of a scene by its path, as --set and the tests do: the paths are those of
// parameters and of --vary.
#pragma once

#include <string>
#include <string_view>
#include <utility>

#include "engine/sim/simulation.hpp"

namespace hindcast {

// "cage.stiffness", "gravity", "time.steps": Scene::set(). A path with an element or a component
// ("ball.velocity[0].z", "ball.mass[2]") names numbers of the model, whatever the scene writes: a
// value for all elements becomes one per element, a default is written out; where elements have
// names, and the scene writes no list, those that are set are written by name. `options`: files and
// seed that the scene's values are evaluated with. Throws Error and changes nothing.
void set_value(Scene& scene, const Registry& registry, const SimulationOptions& options,
               const std::string& path, std::string_view json);

// Path and value of "path=value". Throws Error for another text.
std::pair<std::string, std::string> split_assignment(const std::string& text);
// The same with "path=value", as it stands on a command line: the value is JSON, or a bare word or
// fraction, for which no quotes are needed.
void set_assignment(Scene& scene, const Registry& registry, const SimulationOptions& options,
                    const std::string& assignment);

// With these files and this seed, on the interpreter in f64: what a scene's values are evaluated with.
SimulationOptions evaluating(const SimulationOptions& options);

}  // namespace hindcast
