// Read-only text: monospaced, with search, Copy and Save.
//
//     view.set(text, TextView::Language::cpp);     // when the text has changed
//     view.draw(scene, messages, "spring_force.cu");  // Save writes that file beside the scene
#pragma once

#include <TextEditor.h>

#include <filesystem>
#include <string>

namespace hindcast::gui {

class EditedScene;
class Messages;

class TextView {
public:
    enum class Language { plain, cpp };

    TextView();
    void set(const std::string& text, Language language);
    const std::string& text() const { return text_; }
    // A line with search, Copy and Save; the text fills the rest of the window.
    void draw(const EditedScene& scene, Messages& messages, const std::string& file_name);
    // The number of matches of the search, ignoring case; 0 without a search.
    std::size_t found() const { return found_; }

private:
    void search(bool from_start);

    TextEditor editor_;
    std::string text_, sought_;
    std::size_t found_ = 0;
};

// The path for a file of this name that belongs to the open scene: beside the scene, or in the
// current folder. Characters that a file name cannot have become '_'.
std::filesystem::path beside_scene(const EditedScene& scene, const std::string& file_name);
// Writes the file there and tells the user, also if it fails. Asks before it overwrites a file.
void save_beside_scene(const EditedScene& scene, Messages& messages, const std::string& file_name,
                       const std::string& text);

}  // namespace hindcast::gui
