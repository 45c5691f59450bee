// The scene's document as the user edits it: undo with names, files, autosave. It belongs to the
// window's thread; every change makes a new immutable document with a higher revision, which the
// window sends to the session.
//
//     Editor editor(registry);
//     editor.open("scenes/spring_cage.json");
//     editor.set("/forces/0/stiffness", 120, "Stiffness of cage", /*merge=*/"stiffness drag");
//     session.send(Apply{editor.document(), editor.revision(), editor.file()});
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "engine/document/document.hpp"
#include "engine/document/layout.hpp"
#include "engine/model/registry.hpp"

namespace hindcast::session {

class Editor {
public:
    explicit Editor(const Registry& registry);

    // ---- documents ----
    const std::shared_ptr<const document::Document>& document() const { return document_; }
    std::uint64_t revision() const { return revision_; }
    const std::filesystem::path& file() const { return file_; }  // empty: never saved
    bool has_scene() const { return document_ != nullptr; }
    bool unsaved() const;
    // As it is saved: comments and layout of the text that was read stay where the content did.
    const std::string& text() const;

    // ---- files; each throws Error and then changes nothing ----
    void open(const std::filesystem::path& file);
    // A scene that runs: one particle that falls, an objective and a parameter.
    void make_new();
    void save();
    void save_as(const std::filesystem::path& file);
    // True once after the file was changed by someone else (looked at twice a second at most).
    bool changed_on_disk();
    void reload();  // as an edit that can be undone
    void close();

    // ---- edits; each throws Error and then changes nothing. `name` is shown by undo. Edits with
    // the same non-empty `merge` in a row are one step of undo (a slider being dragged) until
    // end_merge(). ----
    void set(const std::string& pointer, document::Node value, const std::string& name,
             const std::string& merge = {});
    void insert(const std::string& pointer, document::Node value, const std::string& name);
    void erase(const std::string& pointer, const std::string& name);
    void replace(document::Document whole, const std::string& name);
    // Parsed; strict. A change of comments or layout alone is an edit too.
    void replace_text(const std::string& text, const std::string& name);
    void end_merge();

    // ---- objects of sections, by the registry's rows ----
    // An object with the required fields of the type filled in by values that load in this scene
    // (the first body for a body field, and so on), and a name of its own. Gives its pointer.
    std::string add(model::Section section, const std::string& type);
    // This object, under its name or, if that is taken, one like it. Gives its pointer.
    std::string append(model::Section section, document::Node object, const std::string& name);
    std::string duplicate(const std::string& pointer);
    // Everywhere that the old name is referred to (paths, bodies, controllers) it is changed too.
    void rename(const std::string& pointer, const std::string& name);
    // What still refers to it: shown before erasing.
    std::vector<std::string> references_to(const std::string& name) const;
    // Takes a field, such as "/forces/0/damping", out of its object, so that its default holds.
    // Where a parameter or an objective names it, the default is written out instead. If it has
    // none, parameters that name it go with it, in the same step of undo; for an objective it is an
    // error.
    void reset(const std::string& pointer);
    // Adds or takes away {"path": path} of "parameters".
    void set_optimised(const std::string& path, bool on);
    bool is_optimised(const std::string& path) const;

    // ---- undo ----
    bool can_undo() const;
    bool can_redo() const;
    std::string undo_name() const;  // "" if there is none
    std::string redo_name() const;
    void undo();
    void redo();
    std::vector<std::string> undo_names() const;  // newest first

    // ---- autosave and recent files, in `folder` (the user's state folder) ----
    void keep_in(const std::filesystem::path& folder);
    void autosave();  // if unsaved and not yet saved there; cheap otherwise
    // What a session that did not end left behind.
    struct Rescued {
        std::filesystem::path file, original;  // `original` may be empty
        std::string when;
    };
    // The newest of all, or of those of this file.
    std::optional<Rescued> rescued(const std::filesystem::path& original = {}) const;
    void open_rescued(const Rescued& found);
    static void discard_rescued(const Rescued& found);
    // Writes what is unsaved once more and leaves it behind, as a crash would; the editor is not to
    // be used after. False: there was nothing unsaved.
    bool leave_autosave();
    std::vector<std::filesystem::path> recent() const;  // newest first, those that exist

private:
    struct State;
    std::string readable_text() const;  // throws Error where it is too deep to be read again
    void become(document::Document next, std::shared_ptr<const document::Layout> layout,
                const std::string& name);
    std::shared_ptr<State> state_;
    std::shared_ptr<const document::Document> document_;
    std::uint64_t revision_ = 0;
    std::filesystem::path file_;
};

// A number as the user writes it in a field: an expression with + - * / ^ ( ) and functions, with
// an optional unit that must fit `unit` ("3 cm" for "m", "90 deg", "2*9.81"). Throws Error.
double number_of_input(const std::string& text, const std::string& unit);

}  // namespace hindcast::session
