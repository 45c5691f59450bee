#include "app/session/document/scene_files.hpp"

#include <algorithm>
#include <cctype>
#include <set>

#include "engine/base/files.hpp"
#include "engine/robot/model_files.hpp"
#include "engine/robot/robot_scene.hpp"

namespace hindcast::session {

namespace fs = std::filesystem;
using document::Node;

namespace {

constexpr int deepest = 4;
constexpr std::size_t most_looked_at = 5000, most_found = 400;

// The path from the folder; none where it leads out of it.
std::optional<fs::path> below(const fs::path& file, const fs::path& folder) {
    fs::path name = (fs::current_path() / file)
                        .lexically_normal()
                        .lexically_relative((fs::current_path() / folder).lexically_normal());
    if (name.empty() || name.is_absolute() || *name.begin() == "..") return std::nullopt;
    return name;
}

// The file and what it is read from.
std::vector<fs::path> with_parts(const fs::path& file) {
    return robot::is_robot_file(file) ? robot::files_of_model(file) : std::vector{file};
}

void collect(const Node& node, const fs::path& folder, std::set<fs::path>& names) {
    for (std::size_t k = 0; k < node.size(); ++k)
        if (!node.is_object() || node.key(k) != "$schema") collect(node.item(k), folder, names);
    if (!node.is_string() || node.string().find('.') == std::string::npos) return;
    const fs::path name(node.string());
    std::error_code error;
    if (name.is_absolute() || !below(folder / name, folder) ||
        !fs::is_regular_file(folder / name, error))
        return;
    for (const fs::path& part : with_parts(folder / name))
        if (const auto found = below(part, folder)) names.insert(*found);
}

bool same_contents(const fs::path& a, const fs::path& b) {
    std::error_code error;
    return fs::file_size(a, error) == fs::file_size(b, error) && !error &&
           read_file(a) == read_file(b);
}

}  // namespace

std::vector<fs::path> files_named_in(const document::Document& scene, const fs::path& folder) {
    std::set<fs::path> names;
    collect(scene.root(), folder, names);
    return {names.begin(), names.end()};
}

bool ends_with_one(const fs::path& file, const std::vector<std::string>& endings) {
    std::string ending = file.extension().string();
    std::ranges::transform(ending, ending.begin(),
                           [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
    return endings.empty() || std::ranges::find(endings, ending) != endings.end();
}

std::vector<std::string> files_below(const fs::path& folder,
                                     const std::vector<std::string>& endings) {
    std::vector<std::string> found;
    std::size_t looked_at = 0;
    std::error_code fault;
    const fs::path root = folder.empty() ? fs::current_path() : folder;
    fs::recursive_directory_iterator entry(root, fs::directory_options::skip_permission_denied,
                                           fault);
    for (; !fault && entry != fs::recursive_directory_iterator(); entry.increment(fault)) {
        if (++looked_at > most_looked_at || found.size() >= most_found) break;
        const std::string name = entry->path().filename().string();
        if (entry->is_directory(fault)) {
            if (entry.depth() + 1 >= deepest || name.starts_with('.'))
                entry.disable_recursion_pending();
            continue;
        }
        if (!ends_with_one(entry->path(), endings)) continue;
        found.push_back(entry->path().lexically_relative(root).generic_string());
    }
    std::ranges::sort(found);
    return found;
}

void copy_files(const std::vector<fs::path>& names, const fs::path& from, const fs::path& to) {
    std::error_code error;
    std::vector<fs::path> missing;
    for (const fs::path& name : names) {
        if (!fs::exists(to / name, error))
            missing.push_back(name);
        else if (!same_contents(from / name, to / name))
            throw Error("there is another " + name.string() + " in " + to.string())
                .remedy("choose another folder, or take that file away");
    }
    for (const fs::path& name : missing) {
        fs::create_directories((to / name).parent_path(), error);
        fs::copy_file(from / name, to / name, error);
        if (error)
            throw Error("the scene's file " + name.string() + " could not be copied to " +
                        to.string() + ": " + error.message())
                .remedy("copy it by hand");
    }
}

std::optional<std::string> name_below(const fs::path& file, const fs::path& folder) {
    std::error_code error;
    const auto name = below(fs::weakly_canonical(fs::current_path() / file, error),
                            fs::weakly_canonical(fs::current_path() / folder, error));
    return name && !error ? std::optional(name->generic_string()) : std::nullopt;
}

std::string brought_beside(const fs::path& file, const fs::path& folder) {
    if (const auto name = name_below(file, folder)) return *name;
    // The deepest folder that holds all parts.
    const std::vector<fs::path> parts = with_parts(fs::absolute(file).lexically_normal());
    fs::path root = parts.front().parent_path();
    std::vector<fs::path> names;
    while (names.size() < parts.size()) {
        const auto name = below(parts[names.size()], root);
        if (name) {
            names.push_back(*name);
        } else {
            root = root.parent_path();
            names.clear();
        }
    }
    copy_files(names, root, folder);
    return names.front().generic_string();
}

}  // namespace hindcast::session
