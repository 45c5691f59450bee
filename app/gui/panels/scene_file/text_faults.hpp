// Faults of the scene's text: those that the loader finds beside the window while the text is typed
// (session/text/check_task.hpp), and the one for which the text was refused as a whole. They are
// marked in the text and listed below it.
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "app/gui/panels/scene_file/text_widget.hpp"
#include "app/session/text/check_task.hpp"

namespace hindcast::gui {

class TextFaults {
public:
    explicit TextFaults(TextWidget& text) : text_(text) {}

    // Texts are checked from now on, as scenes with these modules and options.
    void start(const Registry& registry, const SimulationOptions& options);
    bool has_started() const { return check_ != nullptr; }
    void update();  // takes the faults of a check that has ended; call it once a frame
    bool is_busy() const { return check_ != nullptr && check_->is_busy(); }
    // True if the text that stands is not checked yet.
    bool is_checking() const { return is_busy() || checked_version_ != text_.version(); }

    const std::vector<session::SceneFault>& shown() const { return shown_; }
    std::string first() const;  // in words; "": there is none

    // Checks what was typed. `as_loaded`: the text is the scene's, which was checked when it was
    // loaded. `place`: the file that it belongs to.
    void check_if_changed(bool as_loaded, const std::filesystem::path& place);
    void note_checked() { checked_version_ = text_.version(); }  // the text that stands is good
    // The error of something that was to be taken over. Its place is shown. `is_file`: the text is
    // that of the file that the error names; else of a scene that was edited.
    void refuse(const Error& error, bool is_file);
    void accept();  // the text was taken over
    void forget();

    // At most so many rows below the text.
    void draw(std::size_t rows);

private:
    void show();

    TextWidget& text_;
    std::unique_ptr<session::CheckTask> check_;
    std::uint64_t checked_version_ = 0;  // of the text
    // Faults that the check of the text has found, the one refused as a whole, and both.
    std::vector<session::SceneFault> found_, shown_;
    std::optional<session::SceneFault> refused_;
    std::string refused_what_;
    std::uint64_t refused_at_ = 0;  // the text's version
};

}  // namespace hindcast::gui
