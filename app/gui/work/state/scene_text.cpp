#include "app/gui/work/state/scene_text.hpp"

#include "engine/base/files.hpp"

namespace hindcast::gui {

void SceneText::mark_broken(const std::filesystem::path& file, const Error& error) {
    broken = Broken{file, read_file(file), error};
    mended = file;
}

}  // namespace hindcast::gui
