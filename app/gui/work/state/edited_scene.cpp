#include "app/gui/work/state/edited_scene.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <cstdlib>
#include <utility>

#include "app/gui/draw/words.hpp"
#include "app/gui/work/state/messages.hpp"

namespace hindcast::gui {

namespace fs = std::filesystem;
using document::Document;
using document::Node;

EditedScene::EditedScene(const Registry& registry, fs::path state_folder,
                         std::vector<fs::path> galleries, Messages& messages)
    : registry_(registry),
      state_folder_(std::move(state_folder)),
      galleries_(std::move(galleries)),
      messages_(messages) {
    std::error_code ignored;
    fs::create_directories(state_folder_, ignored);
    editor_ = fresh_editor();
}

const Document& EditedScene::document() const {
    static const Document empty;
    return editor_->document() ? *editor_->document() : empty;
}

int EditedScene::dimension() const {
    const Node* const d = document().find("/dimension");
    return d != nullptr && d->is_integer() && d->integer() == 2 ? 2 : 3;
}

std::unique_ptr<session::Editor> EditedScene::fresh_editor() const {
    auto fresh = std::make_unique<session::Editor>(registry_);
    fresh->keep_in(state_folder_);
    return fresh;
}

void EditedScene::show(std::unique_ptr<session::Editor> editor) {
    editor_ = std::move(editor);
    ++scenes_shown_;
}

void EditedScene::close() {
    edit([](session::Editor& e) { e.close(); });
    ++scenes_shown_;
}

// ---- edits --------------------------------------------------------------------------------------

bool EditedScene::edit(const std::function<void(session::Editor&)>& change) {
    try {
        change(*editor_);
        return true;
    } catch (const Error& error) {
        messages_.fail(error);
        return false;
    }
}

bool EditedScene::set(const std::string& pointer, Node value, const std::string& name,
                      const std::string& merge) {
    return edit([&](session::Editor& e) { e.set(pointer, std::move(value), name, merge); });
}

bool EditedScene::change(const std::string& name,
                         const std::function<Document(const Document&)>& make) {
    return edit([&](session::Editor& e) {
        if (!e.has_scene()) throw Error("there is no scene");
        e.replace(make(*e.document()), name);
    });
}

// ---- names --------------------------------------------------------------------------------------

std::string EditedScene::name_at(const std::string& pointer) const {
    return object_name(document(), pointer);
}

std::string EditedScene::pointer_of(const std::string& name) const {
    for (const model::Section section : model::all_sections) {
        const std::string head = std::string("/") + model::name_of(section);
        const Node* list = document().find(head);
        if (list == nullptr) continue;
        for (std::size_t k = 0; k < list->size(); ++k) {
            std::string pointer = fmt::format("{}/{}", head, k);
            if (name_at(pointer) == name) return pointer;
        }
    }
    return "";
}

std::string EditedScene::title() const {
    if (!is_open()) return "no scene";
    const Node* name = document().find("/name");
    std::string text = name != nullptr && name->is_string() ? name->string()
                       : editor_->file().empty()            ? "new scene"
                                                            : editor_->file().stem().string();
    return text;
}

std::string EditedScene::heading() const {
    const std::string text = title(), file = editor_->file().filename().string();
    return !is_open() || file.empty() || file == text ? text : text + " (" + file + ")";
}

std::string EditedScene::file_stem() const {
    std::string stem = title();
    for (char& c : stem) {
        const auto byte = static_cast<unsigned char>(c);
        if (byte < 128 && std::isalnum(byte) == 0 && c != '.' && c != '-') c = '_';
    }
    if (stem.starts_with('.') || stem.starts_with('-')) stem.front() = '_';
    return stem;
}

// ---- files --------------------------------------------------------------------------------------

bool EditedScene::is_bundled(const fs::path& file) const {
    std::error_code error;
    const fs::path place = fs::weakly_canonical(fs::absolute(file, error), error);
    return std::ranges::any_of(galleries_, [&](const fs::path& gallery) {
        const fs::path folder = fs::weakly_canonical(fs::absolute(gallery, error), error);
        return std::ranges::mismatch(folder, place).in1 == folder.end();
    });
}

fs::path EditedScene::output_folder() const {
    const fs::path file = editor_->place();
    if (!file.empty() && !is_bundled(file)) return fs::absolute(file).parent_path();
    fs::path here = fs::current_path();
    if (!is_bundled(here)) return here;
    const char* const home = std::getenv("HOME");
    return home != nullptr && *home != '\0' ? fs::path(home) : fs::temp_directory_path();
}

}  // namespace hindcast::gui
