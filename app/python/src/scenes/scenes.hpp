// Scenes as Python opens them. What is done with them is engine/sim/runs/.
#pragma once

#include <string>

#include "engine/sim/runs/scene_runs.hpp"

namespace hindcast::python {

using namespace runs;

// Every physics module. It stays to the end of the process, as compiled programs that call
// simulations do.
const Registry& all_modules();

// Of a text, a file, or the text of a file that may have changed since. `loaded`: the text before the
// first Scene::set(), if there was one. Throws Error.
Scene scene_of(const std::string& text, const std::string& file, const std::string& loaded = "");

// Where another process finds what scene.file() names; "" for none.
std::string file_of(const Scene& scene);

}  // namespace hindcast::python
