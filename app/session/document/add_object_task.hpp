// Editor::add on a thread of its own. Finding values with which the scene loads takes several
// builds, which use a device of their own.
//
//     AddObjectTask adding(editor, registry, Section::forces, "springs");
//     if (adding.ready()) pointer = adding.finish(editor);      // checked once a frame
#pragma once

#include <atomic>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "app/session/background_task.hpp"
#include "app/session/document/editor.hpp"

namespace hindcast::session {

class AddObjectTask {
public:
    // Throws Error for a type that is not registered.
    AddObjectTask(const Editor& editor, const Registry& registry, model::Section section,
                  const std::string& type);
    // `make` returns the document with an object added under this new name; it runs on the other
    // thread. `stem`: what the name begins with; `label`: the words for the object meanwhile.
    using Make = std::function<document::Document(
        const document::Document&, const std::filesystem::path& file, const std::string& name,
        const std::atomic<bool>* canceled)>;
    AddObjectTask(const Editor& editor, std::string label, std::string stem, Make make);

    const std::string& label() const { return label_; }
    bool is_for(const Editor& editor) const { return &editor == editor_ && editor.has_scene(); }
    bool ready() const { return ready_; }
    // Once ready: adds the object as one step of undo and returns its pointer. Throws the Error
    // that says why it cannot be added. If the scene was edited meanwhile, the task starts again
    // with that scene and returns "".
    std::string finish(Editor& editor);

private:
    void begin(const Editor& editor);

    const Editor* const editor_;
    std::string label_, stem_;
    Make make_;
    std::shared_ptr<const document::Document> document_;  // without the object
    std::string name_;
    std::optional<document::Document> made_;
    std::optional<Error> problem_;
    std::atomic<bool> ready_ = false;
    BackgroundTask background_;  // last: it ends before the members that it writes are destroyed
};

}  // namespace hindcast::session
