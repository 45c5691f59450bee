// A document that is edited, with its undo steps and its text. Every change makes a new immutable
// document with a higher revision; the old one stays with undo and with those that still run it.
//
// Editor is built up in layers, each a class: this one, parameter_edits.hpp, object_edits.hpp, and
// editor.hpp with files and autosave.
#pragma once

#include <cstdint>
#include <deque>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "engine/document/document.hpp"
#include "engine/document/layout.hpp"

namespace hindcast::session {

using DocumentPointer = std::shared_ptr<const document::Document>;
using LayoutPointer = std::shared_ptr<const document::Layout>;

class UndoSteps {
public:
    // A document with the layout of its text. Layout null: the text has none of its own.
    struct State {
        DocumentPointer document;
        LayoutPointer layout = {};
    };

    bool can_undo() const { return !undo_.empty(); }
    bool can_redo() const { return !redo_.empty(); }
    std::string undo_name() const { return can_undo() ? undo_.back().name : ""; }
    std::string redo_name() const { return can_redo() ? redo_.back().name : ""; }
    std::vector<std::string> names() const;  // newest first

    void add(State before, const std::string& name);
    void forget_redo() { redo_.clear(); }
    void drop_last() { undo_.pop_back(); }
    void clear();
    // Gives back a state, and keeps the present one for the other direction. There must be one.
    State undo(State present);
    State redo(State present);

private:
    struct Step {
        State state;  // before the edit (undo), or after it (redo)
        std::string name;
    };
    std::deque<Step> undo_, redo_;
};

class EditedDocument {
public:
    EditedDocument(const EditedDocument&) = delete;
    EditedDocument& operator=(const EditedDocument&) = delete;

    const DocumentPointer& document() const { return document_; }
    std::uint64_t revision() const { return revision_; }
    const std::filesystem::path& file() const { return file_; }  // empty: never saved
    // The file that names in the scene are read from: file(), or for a scene without one a name in
    // the folder that it lives in, where no such file need be. Empty: the current folder.
    std::filesystem::path place() const;
    bool has_scene() const { return document_ != nullptr; }
    // The text to be saved. Comments and layout of the text that was read are kept wherever the
    // content has not changed.
    const std::string& text() const;

    // ---- edits; each throws Error and then changes nothing. `name` is the name of the undo step.
    // Successive edits with the same non-empty `merge` are one step (a slider being dragged) until
    // end_merge(). ----
    void set(const std::string& pointer, document::Node value, const std::string& name,
             const std::string& merge = {});
    void insert(const std::string& pointer, document::Node value, const std::string& name);
    void erase(const std::string& pointer, const std::string& name);
    void replace(document::Document whole, const std::string& name);
    // Parses the text strictly. A change of comments or layout alone is an edit too.
    void replace_text(const std::string& text, const std::string& name);
    void end_merge() { merge_.clear(); }

    // ---- undo ----
    bool can_undo() const { return steps_.can_undo(); }
    bool can_redo() const { return steps_.can_redo(); }
    std::string undo_name() const { return steps_.undo_name(); }  // "" if there is none
    std::string redo_name() const { return steps_.redo_name(); }
    void undo();
    void redo();
    std::vector<std::string> undo_names() const { return steps_.names(); }  // newest first

protected:
    EditedDocument() = default;
    ~EditedDocument() = default;

    const document::Document& needed_document() const;  // throws Error if there is no scene
    // An edit of document and layout. Every edit goes through here.
    void become(document::Document whole, LayoutPointer layout, const std::string& name);
    // The next edit with this `merge` is part of the last step.
    void merge_next(const std::string& merge) { merge_ = merge; }
    void drop_last_step() { steps_.drop_last(); }

    // Another scene, without undo steps. `home`: the folder of a scene without a file.
    void start(UndoSteps::State scene, const std::filesystem::path& file,
               const std::filesystem::path& home);
    // The same scene, in a document for another place. No undo step.
    void move_to_place(document::Document moved);
    void set_file(const std::filesystem::path& file) { file_ = file; }
    const std::filesystem::path& home() const { return home_; }
    void set_home(const std::filesystem::path& home);
    std::string readable_text() const;  // throws Error if it is too deep to be read again

private:
    void show(UndoSteps::State state);

    DocumentPointer document_;
    LayoutPointer layout_;  // of the text that the document was read from
    std::uint64_t revision_ = 0;
    std::filesystem::path file_;
    std::filesystem::path home_;  // of a scene without a file; empty: the current folder
    UndoSteps steps_;
    std::string merge_;                           // of the last edit; empty: the next is a new step
    mutable std::uint64_t written_revision_ = 0;  // of written_
    mutable std::string written_;                 // the text of the document of that revision
};

}  // namespace hindcast::session
