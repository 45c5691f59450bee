// A scene may say where its schema is: a file beside it or elsewhere, for editors of text. A copy of
// the scene in another folder names the same file, by its way from there.
#pragma once

#include <filesystem>
#include <optional>

#include "engine/document/document.hpp"

namespace hindcast::document {

// The document with "$schema" leading from the folder `to` to where it leads from the folder
// `from`, or without it where nothing is there. None: it can stay as it is, since it names no file,
// or one that is found from `to` as well.
std::optional<Document> with_schema_from(const Document& document,
                                         const std::filesystem::path& from,
                                         const std::filesystem::path& to);

}  // namespace hindcast::document
