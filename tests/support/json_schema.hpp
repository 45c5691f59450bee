// A small checker of JSON documents against a JSON schema (draft 2020-12): the keywords that our
// own schema uses, and an exception for every other one. Written from the standard, without a look
// at the code that generates schemas or reads scenes, so that it can judge both.
#pragma once

#include <string>
#include <vector>

#include "engine/document/node.hpp"

namespace hindcast::test {

// What is wrong with the document, one line each with its JSON pointer; empty: it is valid.
std::vector<std::string> schema_violations(const document::Node& schema,
                                           const document::Node& document);

}  // namespace hindcast::test
