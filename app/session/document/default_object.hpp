// A new object of a type with values that load, for Editor::add.
#pragma once

#include <atomic>
#include <filesystem>
#include <string>

#include "engine/document/document.hpp"
#include "engine/model/registry.hpp"

namespace hindcast::session {

// The document with such an object at the end of its section. Candidates for the required fields
// come from their rows (kind, unit, bounds, schema) and from the scene (bodies, their numbers of
// points). They are tried until the scene can be built, together with an object of another type
// where one needs the other. If all fail, throws the Error of the first try, which says what the
// type needs (two dimensions, a body with a field). Throws before the next try once `canceled` is
// set.
document::Document with_default_object(const document::Document& document,
                                       const std::filesystem::path& file, const Registry& registry,
                                       const model::ModuleType& type, const std::string& name,
                                       const std::atomic<bool>* canceled = nullptr);

}  // namespace hindcast::session
