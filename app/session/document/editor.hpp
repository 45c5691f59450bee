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
    // What somebody else has done to the file (looked at twice a second at most), told once. While
    // it is gone, the scene is unsaved.
    enum class FileNews : std::uint8_t { none, changed, gone };
    FileNews look_at_file();
    // As an edit that can be undone. What was reloaded before and does not run (`runs`: whether the
    // document does) is no step of undo: the file has been mended since.
    void reload(bool runs = true);
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
    // Builds the scene for it, perhaps many times: a window does that beside its thread
    // (adding.hpp).
    std::string add(model::Section section, const std::string& type);
    // The name that a new object of the type gets.
    std::string name_for(const std::string& type) const;
    // What adding came to: the document with the object of this name. Gives the object's pointer.
    std::string put_added(document::Document changed, const std::string& name);
    // This object, under its name or, if that is taken, one like it. Gives its pointer.
    std::string append(model::Section section, document::Node object, const std::string& name);
    // A copy beside it with a name of its own; gives its pointer. Of a parameter that is restricted
    // to some components: a parameter of the components that none has yet. Of any other parameter,
    // and of a group, it is an error that says why.
    std::string duplicate(const std::string& pointer);
    // Takes out an object of a section, a parameter or a group of the optimiser.
    void remove(const std::string& pointer);
    // Everywhere that the old name is referred to (paths, bodies, controllers) it is changed too.
    void rename(const std::string& pointer, const std::string& name);
    // What still refers to it: shown before erasing.
    std::vector<std::string> references_to(const std::string& name) const;
    // Takes a field, such as "/forces/0/damping", out of its object, so that its default holds.
    // Where a parameter or an objective names it, the default is written out instead. If it has
    // none, parameters that name it go with it, in the same step of undo; for an objective it is an
    // error.
    void reset(const std::string& pointer);

    // ---- parameters of the optimisation, and their groups. A group is a name that parameters give
    // as "group" (the group of one that gives none is called by its path), and a factor on their
    // rate in the optimiser's "groups". A factor whose last parameter goes by an edit here goes in
    // the same step of undo: a scene with a factor of no parameter does not run. ----
    // Adds {"path": path} to "parameters", or takes away every parameter of that path or of numbers
    // within it.
    void set_optimised(const std::string& path, bool on);
    bool is_optimised(const std::string& path) const;  // or some of its numbers are
    std::vector<std::string> parameters_of(const std::string& path) const;  // their pointers
    // Gives its pointer. An error if another parameter has some of its numbers.
    std::string add_parameter(const std::string& path);
    void set_parameter_path(const std::string& pointer, const std::string& path);
    struct Group {
        std::string name, pointer;            // "/optimizer/groups/NAME", also without a factor
        std::optional<double> rate;           // the factor; none is written: 1
        std::vector<std::string> parameters;  // pointers
    };
    // Those that a parameter names, and those with a factor.
    std::vector<Group> groups() const;
    // A group with this parameter, the factor 1 and a name of its own. Gives its pointer.
    std::string add_group(const std::string& parameter);
    // Moves a parameter into a group; "": into that of its path.
    void set_group(const std::string& parameter, const std::string& group);
    std::string rename_group(const std::string& name, const std::string& fresh);  // its pointer
    void set_group_rate(const std::string& name, double rate, const std::string& merge = {});
    void remove_group(const std::string& name);  // its parameters stay

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
