// The state of an Editor besides its document: the file on disk (editor.cpp), autosave and recent
// files (autosave.cpp). Internal to these.
#pragma once

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>

#include "app/session/document/editor.hpp"

namespace hindcast::session {

struct Editor::State {
    State() = default;
    ~State();
    State(const State&) = delete;
    State& operator=(const State&) = delete;

    // ---- the file ----
    std::optional<std::string> saved;     // the file's text; none: it differs from any document
    std::uint64_t reloaded_revision = 0;  // made by the last reload

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

    // ---- autosave ----
    std::filesystem::path folder;
    std::filesystem::path autosave_file;  // of this editor; empty: none written
    int lock = -1;                        // held while this editor lives
    std::uint64_t autosaved_revision = 0;
    void remove_autosave();
    void remember(const std::filesystem::path& file) const;  // as a recent one
};

}  // namespace hindcast::session
