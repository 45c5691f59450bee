// Both the file and the folders are made free of links and dots before they are compared, so
// neither
// "../" nor a symbolic link leads out of the allowed folders.
#include "engine/document/file_access.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <system_error>

#include "engine/document/read.hpp"
#include "engine/document/text.hpp"

namespace hindcast::document {

namespace {

namespace fs = std::filesystem;

// Without symbolic links and dots; empty if that fails.
fs::path real_path(const fs::path& path) {
    std::error_code error;
    fs::path real = fs::weakly_canonical(path.empty() ? fs::path(".") : path, error);
    return error ? fs::path() : fs::absolute(real, error);
}

bool lies_below(const fs::path& path, const fs::path& folder) {
    if (folder.empty()) return false;
    const fs::path below = path.lexically_relative(folder);
    return !below.empty() && *below.begin() != "..";
}

}  // namespace

fs::path FileAccess::resolve(const Node& node) const {
    const std::string& name = string_of(node);
    if (name.empty() || name.find('\0') != std::string::npos) {
        throw fault(node, fmt::format("{} is no file name", shown(name))).remedy("name a file");
    }
    const fs::path path = folder / fs::path(name);  // an absolute name replaces the folder
    fs::path real = real_path(path);
    const bool inside = !real.empty() && (lies_below(real, real_path(folder)) ||
                                          std::ranges::any_of(allowed, [&](const fs::path& other) {
                                              return lies_below(real, real_path(other));
                                          }));
    if (!inside) {
        throw fault(node,
                    fmt::format("the file {} lies outside the document's folder", shown(name, 200)))
            .remedy("move it beside the document, or allow its folder with --allow-path");
    }
    std::error_code error;
    const fs::file_status status = fs::status(real, error);
    if (!fs::exists(status)) {
        throw fault(node, fmt::format("there is no file {}", shown(name, 200)))
            .remedy("check the name; it is relative to the document");
    }
    if (!fs::is_regular_file(status)) {
        throw fault(node, fmt::format("{} is no regular file", shown(name, 200)))
            .remedy("name a file");
    }
    return real;
}

}  // namespace hindcast::document
