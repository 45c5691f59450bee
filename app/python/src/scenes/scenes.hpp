// Scenes as Python opens them; engine/sim/runs/ runs them.
#pragma once

#include <string>

#include "engine/sim/runs/scene_runs.hpp"

namespace hindcast::python {

using namespace runs;

// Every physics module. It stays to the end of the process, as compiled programs that call
// simulations do.
const Registry& all_modules();

// The scene of a text, a file, or the text of a file that may have changed since. `loaded`: the
// text before the first Scene::set(), if there was one. Throws Error.
Scene scene_of(const std::string& text, const std::string& file, const std::string& loaded = "");

// The path by which another process finds scene.file(); "" for none.
std::string file_of(const Scene& scene);

}  // namespace hindcast::python
