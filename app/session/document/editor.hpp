// The scene's document as the user edits it: named undo steps, files, autosave. Used only by the
// window's thread. Every change makes a new immutable document with a higher revision, which the
// window sends to the session.
//
//     Editor editor(registry);
//     editor.open("scenes/spring_cage.json");
//     editor.set("/forces/0/stiffness", 120, "Stiffness of cage", /*merge=*/"stiffness drag");
//     session.send(Apply{editor.document(), editor.revision(), editor.place()});
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
    // The file that names in the scene are read from: file(), or for a scene without one a name in
    // the folder that it lives in, where no such file need be. Empty: the current folder.
    std::filesystem::path place() const;
    // Lets a scene without a file live in this folder.
    void live_in(const std::filesystem::path& folder);
    bool has_scene() const { return document_ != nullptr; }
    bool unsaved() const;
    // The text to be saved. Comments and layout of the text that was read are kept wherever the
    // content has not changed.
    const std::string& text() const;

    // ---- files; each throws Error and then changes nothing ----
    // Of a robot's model it makes a scene without a file, which lives in the model's folder.
    void open(const std::filesystem::path& file);
    // A scene that runs: one falling particle, an objective and a parameter.
    void make_new();
    void make_new(document::Document scene);  // with this one instead
    void save();
    // Files that the scene names are copied with it into another folder (scene_files.hpp).
    void save_as(const std::filesystem::path& file);
    // A change of the file by another program, reported once; checked at most twice a second. While
    // the file is gone, the scene is unsaved.
    enum class FileNews : std::uint8_t { none, changed, gone };
    FileNews look_at_file();
    // Reads the file again, as an edit that can be undone. `runs`: whether the current document
    // runs. If it was itself reloaded and does not run, it gets no undo step.
    void reload(bool runs = true);
    void close();

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
    void end_merge();

    // ---- objects of sections, by the registry's rows ----
    // Adds an object with a new name. Its required fields get values that load in this scene (the
    // first body for a body field, and so on). Returns its pointer. This may build the scene many
    // times; a window does it on another thread (add_object_task.hpp).
    std::string add(model::Section section, const std::string& type);
    // The name for a new object of the type.
    std::string name_for(const std::string& type) const;
    // Takes over the document with the added object of this name. Returns the object's pointer.
    std::string put_added(document::Document changed, const std::string& name);
    // Appends this object, under its name or a similar one if that is taken. Returns its pointer.
    std::string append(model::Section section, document::Node object, const std::string& name);
    // Inserts a copy after it with a new name; returns its pointer. For a parameter that is
    // restricted to some components, the copy has the components without a parameter. For any other
    // parameter, and for a group, it is an error that says why.
    std::string duplicate(const std::string& pointer);
    // Removes an object of a section, a parameter or a group of the optimiser.
    void remove(const std::string& pointer);
    // Changes all references to the old name too (paths, bodies, controllers).
    void rename(const std::string& pointer, const std::string& name);
    // The references to this name, shown before it is removed.
    std::vector<std::string> references_to(const std::string& name) const;
    // Removes a field, such as "/forces/0/damping", so that its default holds. If a parameter or an
    // objective names the field, the default is written out instead. If the field has no default,
    // parameters that name it are removed in the same undo step; for an objective it is an error.
    void reset(const std::string& pointer);

    // ---- parameters of the optimisation, and their groups. A group is a name that parameters have
    // as "group" (by default their path), and a factor on their rate in the optimiser's "groups".
    // An edit that removes the last parameter of a group removes its factor in the same undo step,
    // since a scene with a factor of no parameter does not run. ---- Adds {"path": path} to
    // "parameters", or removes every parameter of that path or of numbers within it.
    void set_optimised(const std::string& path, bool on);
    bool is_optimised(const std::string& path) const;  // it or some of its numbers
    std::vector<std::string> parameters_of(const std::string& path) const;  // their pointers
    // Returns its pointer. An error if another parameter has some of its numbers.
    std::string add_parameter(const std::string& path);
    void set_parameter_path(const std::string& pointer, const std::string& path);
    struct Group {
        std::string name, pointer;            // "/optimizer/groups/NAME", also without a factor
        std::optional<double> rate;           // the factor; none: 1
        std::vector<std::string> parameters;  // pointers
    };
    // The groups that a parameter names, and those with a factor.
    std::vector<Group> groups() const;
    // Makes a group of this parameter, with the factor 1 and a new name. Returns its pointer.
    std::string add_group(const std::string& parameter);
    // Moves a parameter into a group; "": into the group of its path.
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
    // An autosave left by a process that did not end properly.
    struct Autosave {
        std::filesystem::path file, original;  // `original` may be empty
        std::filesystem::path home;            // where it lived, without an original
        std::string when;
    };
    // The newest autosave, of all or of this file.
    std::optional<Autosave> find_autosave(const std::filesystem::path& original = {}) const;
    void open_autosave(const Autosave& found);
    static void discard_autosave(const Autosave& found);
    // Autosaves unsaved changes once more and leaves the autosave there, as a crash would. The
    // editor must not be used afterwards. False: nothing was unsaved.
    bool leave_autosave();
    std::vector<std::filesystem::path> recent() const;  // existing files, newest first

private:
    struct State;
    std::string readable_text() const;  // throws Error where it is too deep to be read again
    void become(document::Document next, std::shared_ptr<const document::Layout> layout,
                const std::string& name);
    std::shared_ptr<State> state_;
    std::shared_ptr<const document::Document> document_;
    std::uint64_t revision_ = 0;
    std::filesystem::path file_;
    std::filesystem::path home_;  // of a scene without a file; empty: the current folder
};

// The number that the user typed into a field: an expression with + - * / ^ ( ) and functions, with
// an optional unit that must fit `unit` ("3 cm" for "m", "90 deg", "2*9.81"). Throws Error.
double number_of_input(const std::string& text, const std::string& unit);

}  // namespace hindcast::session
