// All faults in a scene's text, in the loader's words. The loader stops at the first fault; here it
// runs again on a copy in which the refused part is left out or replaced, until it finds nothing
// more. Faults that only follow from such a repair are not reported.
#pragma once

#include <cstddef>
#include <filesystem>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "engine/sim/simulation.hpp"

namespace hindcast::session {

// Loads a document as the session does: builds the simulation and reads its optimizer's settings.
// Throws Error.
std::unique_ptr<Simulation> load_scene(const document::Document& document,
                                       const std::filesystem::path& file, const Registry& registry,
                                       const SimulationOptions& options);
// The error with the place of the node that its pointer leads to, or of the nearest node around it
// that was read from a text.
Error placed(Error error, const document::Document& document);

struct SceneFault {
    std::string happened, remedy = {};
    std::string pointer = {};          // into the text
    std::size_t begin = 0, end = 0;    // bytes of the text to be underlined; equal: unknown
    std::size_t line = 0, column = 0;  // from 0
    std::string message() const { return remedy.empty() ? happened : happened + "; " + remedy; }
};

// The fault that an error is, in the text that it is about.
SceneFault fault_of(const Error& error, const std::string& text);

// In the order of the text. `file` (which need not exist) is where files are looked for beside;
// nothing is written and `options.device` may be null: then nothing runs and the interpreter stands
// in. `go_on` is asked before each of the builds; false: those found so far are returned.
std::vector<SceneFault> find_faults(const std::string& text, const std::filesystem::path& file,
                                    const Registry& registry, SimulationOptions options,
                                    const std::function<bool()>& go_on = {});

}  // namespace hindcast::session
