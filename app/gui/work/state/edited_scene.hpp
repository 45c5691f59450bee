// The scene that is open: its document with undo, its name, its file and the folders around it.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "app/session/document/editor.hpp"

namespace hindcast::gui {

class Messages;

class EditedScene {
public:
    // Makes the state folder, where unsaved scenes are kept.
    EditedScene(const Registry& registry, std::filesystem::path state_folder,
                std::vector<std::filesystem::path> galleries, Messages& messages);

    const Registry& registry() const { return registry_; }
    session::Editor& editor() { return *editor_; }
    const session::Editor& editor() const { return *editor_; }
    bool is_open() const { return editor_->has_scene(); }
    // The editor's document; an empty one without a scene.
    const document::Document& document() const;
    int dimension() const;  // of the document: 2 or 3
    const std::vector<std::filesystem::path>& galleries() const { return galleries_; }
    const std::filesystem::path& state_folder() const { return state_folder_; }
    // An editor without a scene that keeps unsaved edits in the state folder.
    std::unique_ptr<session::Editor> fresh_editor() const;
    // Shows the scene of another editor.
    void show(std::unique_ptr<session::Editor> editor);
    void close();
    std::uint64_t scenes_shown() const { return scenes_shown_; }  // number so far

    // ---- edits. An edit that fails changes nothing and shows why; it returns false. ----
    bool edit(const std::function<void(session::Editor&)>& change);
    bool set(const std::string& pointer, document::Node value, const std::string& name,
             const std::string& merge = {});
    // One step of undo with that name: the document that `make` returns.
    bool change(const std::string& name,
                const std::function<document::Document(const document::Document&)>& make);

    // ---- names ----
    // The pointer of the object of this name; "" if there is none.
    std::string pointer_of(const std::string& name) const;
    std::string name_at(const std::string& pointer) const;
    std::string title() const;    // "spring cage"
    std::string heading() const;  // "spring cage (cage2.json)"
    // The title as a part of file names: its only ASCII characters are letters, digits, '.', '-',
    // '_'.
    std::string file_stem() const;

    // ---- files ----
    // Bundled scenes are examples: neither they nor their folders are written to.
    bool is_example() const { return !editor_->file().empty() && is_bundled(editor_->file()); }
    bool is_bundled(const std::filesystem::path& file) const;
    // The folder for pictures and tables: the scene's, or the current one for an example or a new
    // scene.
    std::filesystem::path output_folder() const;

private:
    const Registry& registry_;
    std::filesystem::path state_folder_;
    std::vector<std::filesystem::path> galleries_;
    Messages& messages_;
    std::unique_ptr<session::Editor> editor_;
    std::uint64_t scenes_shown_ = 0;
};

}  // namespace hindcast::gui
