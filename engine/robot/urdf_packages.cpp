#include "engine/robot/urdf_packages.hpp"

#include <algorithm>
#include <string_view>
#include <system_error>

namespace hindcast::robot {

namespace fs = std::filesystem;

namespace {

fs::path folder_of_package(const std::string& name, const fs::path& file) {
    std::error_code unreadable;
    fs::path folder = fs::absolute(file, unreadable).lexically_normal().parent_path();
    for (;; folder = folder.parent_path()) {
        if (folder.filename() == name) return folder;
        if (fs::is_directory(folder / name, unreadable)) return folder / name;
        if (folder == folder.parent_path()) return {};
    }
}

// As it may stand within an attribute of XML.
std::string escaped(const std::string& path) {
    std::string text;
    for (const char c : path) {
        if (c == '&')
            text += "&amp;";
        else if (c == '<')
            text += "&lt;";
        else if (c == '"')
            text += "&quot;";
        else if (c == '\'')
            text += "&apos;";
        else
            text += c;
    }
    return text;
}

}  // namespace

std::string with_packages_found(const std::string& text, const fs::path& file) {
    constexpr std::string_view scheme = "package://";
    std::string result;
    std::size_t done = 0;
    for (std::size_t at; (at = text.find(scheme, done)) != std::string::npos;) {
        result.append(text, done, at - done);
        // Some write three slashes.
        const std::size_t begin =
            std::min(text.find_first_not_of('/', at + scheme.size()), text.size());
        const std::size_t end = text.find_first_of("/\"'<> \n", begin);
        done = begin;
        const bool ends = end != std::string::npos && end > begin && text[end] == '/';
        const std::string name = ends ? text.substr(begin, end - begin) : "";
        const fs::path folder = ends ? folder_of_package(name, file) : fs::path();
        if (folder.empty()) {
            result.append(text, at, begin - at);
        } else {
            result.append(escaped(folder.string()));
            done = end;
        }
    }
    return result.append(text, done);
}

}  // namespace hindcast::robot
