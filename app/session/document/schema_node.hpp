// Questions to one node of a scene or of its JSON schema.
#pragma once

#include <string>

#include "engine/document/node.hpp"

namespace hindcast::session {

// The text of a key such as "description"; "" where there is none.
const std::string& text_of(const document::Node& node, const char* key);
// True if "type" of a schema is this, or a list that has it.
bool has_type(const document::Node& schema, const char* name);

}  // namespace hindcast::session
