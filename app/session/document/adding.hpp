// Editor::add beside the window's thread: finding values that load builds the scene, with a device
// of its own, as often as it takes.
//
//     Adding adding(editor, registry, Section::forces, "springs");
//     if (adding.ready()) pointer = adding.finish(editor);      // looked at once a frame
#pragma once

#include <atomic>
#include <memory>
#include <optional>
#include <string>

#include "app/session/document/editor.hpp"
#include "app/session/threads/background.hpp"

namespace hindcast::session {

class Adding {
public:
    // Throws Error for a type that is not registered.
    Adding(const Editor& editor, const Registry& registry, model::Section section,
           const std::string& type);

    const std::string& type() const { return type_->type; }
    bool is_for(const Editor& editor) const { return &editor == editor_ && editor.has_scene(); }
    bool ready() const { return ready_; }
    // Once ready: adds it, as one step of undo, and gives its pointer. Throws the Error that says
    // why it cannot be added. If the scene was edited meanwhile it begins anew with that scene,
    // gives "" and is not ready.
    std::string finish(Editor& editor);

private:
    void begin(const Editor& editor);

    const Editor* const editor_;
    const Registry& registry_;
    const model::ModuleType* type_;
    std::shared_ptr<const document::Document> document_;  // to which it is added
    std::string name_;
    std::optional<document::Document> made_;
    std::optional<Error> problem_;
    std::atomic<bool> ready_ = false;
    Background background_;  // last: it ends before what it writes goes
};

}  // namespace hindcast::session
