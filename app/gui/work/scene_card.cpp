#include "app/gui/work/scene_card.hpp"

#include <algorithm>
#include <set>
#include <utility>

#include "engine/document/document.hpp"
#include "engine/document/read.hpp"

namespace hindcast::gui {

namespace fs = std::filesystem;

using document::Document;
using document::Node;
using document::Reader;

namespace {

constexpr const char* list_name = "pictures/gallery.json";

std::vector<fs::path> scenes_of(const fs::path& folder) {
    std::vector<fs::path> scenes;
    std::error_code error;
    for (const fs::directory_entry& item : fs::directory_iterator(folder, error))
        if (is_scene(item.path())) scenes.push_back(item.path());
    std::ranges::sort(scenes);
    return scenes;
}

}  // namespace

bool is_scene(const fs::path& file) {
    const std::string name = file.filename().string();
    return name.ends_with(".json") && !name.ends_with(".test.json") &&
           !name.ends_with(".schema.json");
}

SceneCard read_card(const fs::path& file) {
    SceneCard card;
    card.name = file.stem().string();
    try {
        const Document scene = Document::load(file);
        const auto text = [&](const char* pointer) {
            const Node* node = scene.find(pointer);
            return node != nullptr && node->is_string() ? node->string() : std::string();
        };
        if (!text("/name").empty()) card.name = text("/name");
        card.description = text("/description");
        if (const Node* list = scene.find("/parameters"); list != nullptr && list->size() > 0) {
            for (std::size_t k = 0; k < list->size() && k < 2; ++k)
                if (const Node* path = list->item(k).find("path");
                    path != nullptr && path->is_string())
                    card.what += (card.what.empty() ? "" : ", ") + path->string();
            if (list->size() > 2) card.what += ", ...";
        }
    } catch (const Error& fault) {
        card.description = fault.happened();
    }
    return card;
}

std::vector<SceneGroup> scene_groups(const fs::path& folder) {
    if (!fs::exists(folder / list_name)) return ungrouped_scenes(folder);
    const Document list = Document::load(folder / list_name);
    std::vector<SceneGroup> groups;
    std::set<fs::path> named;
    Reader reader(list.root(), "a gallery");
    const Node& rows = reader.array("groups");
    reader.finish();
    for (std::size_t k = 0; k < rows.size(); ++k) {
        Reader row(rows.item(k), "a group of scenes");
        SceneGroup group{row.string("title"), {}};
        const Node& scenes = row.array("scenes");
        row.finish();
        for (std::size_t i = 0; i < scenes.size(); ++i) {
            const std::string& name = document::string_of(scenes.item(i));
            const fs::path file = folder / name;
            if (!fs::is_regular_file(file))
                throw document::fault(scenes.item(i), "there is no file '" + name + "'");
            if (!named.insert(file).second)
                throw document::fault(scenes.item(i), "'" + name + "' is named twice");
            group.scenes.push_back(file);
        }
        groups.push_back(std::move(group));
    }
    SceneGroup others{"Other scenes", {}};
    for (const fs::path& file : scenes_of(folder))
        if (!named.contains(file)) others.scenes.push_back(file);
    if (!others.scenes.empty()) groups.push_back(std::move(others));
    return groups;
}

std::vector<SceneGroup> ungrouped_scenes(const fs::path& folder) {
    return {{"", scenes_of(folder)}};
}

}  // namespace hindcast::gui
