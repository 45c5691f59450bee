// The state of an Editor besides the document: undo, the saved text, autosave. Internal to
// editor.cpp (edits, undo, files), editor_objects.cpp (objects of sections), editor_parameters.cpp
// (parameters and their groups) and autosave.cpp (autosave, recent files).
#pragma once

#include <chrono>
#include <deque>
#include <filesystem>
#include <set>
#include <string>
#include <vector>

#include "app/session/document/editor.hpp"
#include "engine/document/layout.hpp"

namespace hindcast::session {

using DocumentPointer = std::shared_ptr<const document::Document>;
using LayoutPointer = std::shared_ptr<const document::Layout>;

struct Editor::State {
    explicit State(const Registry& r) : registry(r) {}
    ~State();
    State(const State&) = delete;
    State& operator=(const State&) = delete;

    const Registry& registry;

    struct Step {
        DocumentPointer document;  // before the edit (undo), or after it (redo)
        std::string name;
        LayoutPointer layout = {};  // of its text
    };
    std::deque<Step> undo, redo;
    std::string merge;  // of the last edit; empty: the next edit is a new step

    LayoutPointer layout;                 // of the text that the document was read from
    std::optional<std::string> saved;     // the file's text; none: it differs from any document
    std::uint64_t reloaded_revision = 0;  // made by the last reload
    mutable std::uint64_t written_revision = 0;
    mutable std::string written;  // the text of the document of that revision

    struct Stamp {
        std::filesystem::file_time_type time;
        std::uintmax_t size = 0;
        bool exists = false;
        bool operator==(const Stamp&) const = default;
    };
    static Stamp stamp_of(const std::filesystem::path& file);
    Stamp on_disk;
    // Successive checks that did not find the file. Programs that rewrite a file may remove it
    // first, so it counts as gone from the second check on.
    int looks_without_file = 0;
    bool file_is_gone() const { return looks_without_file >= 2; }
    std::chrono::steady_clock::time_point looked;

    // ---- autosave (autosave.cpp) ----
    std::filesystem::path folder;
    std::filesystem::path autosave_file;  // of this editor; empty: none written
    int lock = -1;                        // held while this editor lives
    std::uint64_t autosaved_revision = 0;
    void remove_autosave();
    void remember(const std::filesystem::path& file) const;  // as a recent one
};

// The document; throws Error where there is none.
const document::Document& need(const DocumentPointer& document);

// `wanted`, or a similar name that no object of the document has.
std::string unused_name(const document::Document& document, const std::string& wanted);

// ---- parameters (editor_parameters.cpp) ----
std::string duplicate_parameter(document::Document& document, const std::string& pointer);
void remove_parameters(document::Document& document, const std::vector<std::string>& pointers);
std::set<std::string> groups_of_parameters(const document::Document& document);
// Removes the factors of those of the groups that have no parameter now.
void drop_unused_groups(document::Document& document, const std::set<std::string>& before);

// The references in the document to the object of this name, each as a pointer and a description.
// With `new_name` they are changed.
std::vector<std::string> references(document::Document& document, const Registry& registry,
                                    const std::string& name, const std::string* new_name);

}  // namespace hindcast::session
