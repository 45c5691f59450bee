// Text that is only read: monospaced, with search, Copy and Save.
//
//     view.set(text, TextView::Language::cpp);     // when it has changed
//     view.draw(work, "spring_force.cu");          // Save writes that file beside the scene
#pragma once

#include <TextEditor.h>

#include <filesystem>
#include <string>

#include "app/gui/work/workspace.hpp"

namespace hindcast::gui {

class TextView {
public:
    enum class Language { plain, cpp };

    TextView();
    void set(const std::string& text, Language language);
    const std::string& text() const { return text_; }
    // One line of search, Copy and Save, and the text in what is left of the window.
    void draw(Workspace& work, const std::string& file_name);
    // How often the words sought occur, in any case; 0 while nothing is sought.
    std::size_t found() const { return found_; }

private:
    void search(bool from_start);

    TextEditor editor_;
    std::string text_, sought_;
    std::size_t found_ = 0;
};

// Where a file of this name goes that belongs to the open scene: beside the scene, or into the
// current folder. What cannot be in a file's name becomes '_'.
std::filesystem::path beside_scene(const Workspace& work, const std::string& file_name);
// Writes it there, and tells the user so, or why not. Asks before it writes over another file.
void save_beside_scene(Workspace& work, const std::string& file_name, const std::string& text);

}  // namespace hindcast::gui
