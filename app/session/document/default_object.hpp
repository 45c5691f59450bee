// A new object of a type, with values that load: for Editor::add.
#pragma once

#include <atomic>
#include <filesystem>
#include <string>

#include "engine/document/document.hpp"
#include "engine/model/registry.hpp"

namespace hindcast::session {

// The document with such an object at the end of its section. Candidates for the required fields
// come from their rows (kind, unit, bounds, schema) and from what the scene has (bodies, numbers of
// their points); they are tried until the scene can be built; with an object of another
// type where both only come together. Throws the Error of the first try if
// none can: it says what the type wants (two dimensions, a body with a field). Once `cancelled`
// holds, it throws before the next try.
document::Document with_default_object(const document::Document& document,
                                       const std::filesystem::path& file, const Registry& registry,
                                       const model::ModuleType& type, const std::string& name,
                                       const std::atomic<bool>* cancelled = nullptr);

}  // namespace hindcast::session
