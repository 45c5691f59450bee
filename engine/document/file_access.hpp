// FileAccess: the files that a document may name: those below its own folder, and those below
// folders that the user allowed on the command line. Symbolic links are followed before the check.
#pragma once

#include <filesystem>
#include <vector>

#include "engine/document/node.hpp"

namespace hindcast::document {

struct FileAccess {
    std::filesystem::path folder;                // of the document; empty: the current folder
    std::vector<std::filesystem::path> allowed;  // further folders

    // The existing regular file that the string node names, relative to the folder. Throws Error at
    // the node if it is absolute or lies outside, does not exist, or is not a file.
    std::filesystem::path resolve(const Node& node) const;
};

}  // namespace hindcast::document
