// The scene's text, as the text panel and the rest of the window share it.
#pragma once

#include <filesystem>
#include <optional>
#include <string>

#include "engine/base/error.hpp"
#include "engine/sim/simulation.hpp"

namespace hindcast::gui {

struct SceneText {
    // A text that does not load, to be shown at its fault; the text panel takes it.
    struct Broken {
        std::filesystem::path file;
        std::string text;
        Error error{""};
    };
    std::optional<Broken> broken;
    // The file whose text is being corrected in the panel.
    std::optional<std::filesystem::path> mended;
    std::string fault;     // the fault in the text that the panel shows
    bool changed = false;  // the text has edits that were not applied
    // The options that scenes are checked with, without the session's device.
    SimulationOptions built_with = {};

    // Hands the file's text to the panel, with the fault to mark. Throws Error if the file cannot
    // be read.
    void mark_broken(const std::filesystem::path& file, const Error& error);
    // True if a file other than the scene's is being corrected. Without a scene its text fills the
    // window.
    bool mends_another(const std::filesystem::path& scene_file) const {
        return mended && *mended != scene_file;
    }
    // Forgets a broken text, because the scene loads.
    void clear() {
        broken.reset();
        mended.reset();
    }
};

}  // namespace hindcast::gui
