// The scene's document as the user edits it: named undo steps, files, autosave. Used only by the
// window's thread. Every change makes a new immutable document with a higher revision, which the
// window sends to the session.
//
//     Editor editor(registry);
//     editor.open("scenes/spring_cage.json");
//     editor.set("/forces/0/stiffness", 120, "Stiffness of cage", /*merge=*/"stiffness drag");
//     session.send(Apply{editor.document(), editor.revision(), editor.place()});
//
// Edits and undo: edited_document.hpp. Parameters: parameter_edits.hpp. Objects: object_edits.hpp.
// This class adds files and autosave.
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "app/session/document/object_edits.hpp"

namespace hindcast::session {

class Editor : public ObjectEdits {
public:
    explicit Editor(const Registry& registry);
    ~Editor();  // removes its autosave

    // Lets a scene without a file live in this folder.
    void live_in(const std::filesystem::path& folder);
    bool unsaved() const;

    // ---- files; each throws Error and then changes nothing ----
    // A robot's model becomes a scene without a file, which lives in the model's folder.
    void open(const std::filesystem::path& file);
    // A scene that runs: one falling particle, an objective and a parameter.
    void make_new();
    void make_new(document::Document scene);  // with this one instead
    void save();
    // Files that the scene names are copied with it into another folder (scene_files.hpp).
    void save_as(const std::filesystem::path& file);
    // The change that another program has made to the file, reported once; checked at most twice a
    // second. While the file is gone, the scene is unsaved.
    enum class FileNews : std::uint8_t { none, changed, gone };
    FileNews look_at_file();
    // Reads the file again, as an edit that can be undone. `runs`: true if the current document
    // runs. If it was itself reloaded and does not run, it gets no undo step.
    void reload(bool runs = true);
    void close();

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
    // editor must not be used afterward. False: nothing was unsaved.
    bool leave_autosave();
    std::vector<std::filesystem::path> recent() const;  // existing files, newest first

private:
    struct State;
    void make(document::Document scene, const std::filesystem::path& home);
    std::unique_ptr<State> state_;
};

// The number that the user typed into a field: an expression with + - * / ^ ( ) and functions, with
// an optional unit that must fit `unit` ("3 cm" for "m", "90 deg", "2*9.81"). Throws Error.
double number_of_input(const std::string& text, const std::string& unit);

}  // namespace hindcast::session
