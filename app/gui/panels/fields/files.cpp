// Files for a field: those beside the scene and below, which are all that a scene may name.
#include <imgui.h>
#include <imgui_stdlib.h>

#include <algorithm>
#include <filesystem>

#include "app/gui/draw/widgets.hpp"
#include "app/gui/panels/fields/field_view.hpp"
#include "app/gui/work/edits/adding.hpp"
#include "app/gui/work/state/requests.hpp"
#include "app/session/document/scene_files.hpp"

namespace hindcast::gui {

std::string choose_file(const FieldPlace& place, const session::Form& form,
                        std::function<void(const std::string& name)> then) {
    // Looked up once for each opening of the popup; only one popup is open at a time.
    static std::vector<std::string> files;
    static std::string search;
    std::string endings;
    for (const std::string& ending : form.files) endings += (endings.empty() ? "" : ", ") + ending;
    if (icon_button("file", icon::open,
                    "Choose among the files beside the scene and below" +
                        (endings.empty() ? "" : ": " + endings))) {
        files = session::files_below(place.folder(), form.files);
        search.clear();
        ImGui::OpenPopup("files");
    }
    std::string chosen;
    ImGui::SetNextWindowSizeConstraints({px(260), 0}, {px(520), px(420)});
    if (!ImGui::BeginPopup("files")) return chosen;
    quiet_text(place.folder().string());
    if (files.size() > 8) search_field("##search", search, "Search");
    for (const std::string& file : files)
        if (matches(file, search) && ImGui::MenuItem(file.c_str())) chosen = file;
    if (files.empty())
        quiet_text(("No file here fits" + (endings.empty() ? "" : " (" + endings + ")")).c_str());
    ImGui::Separator();
    if (ImGui::MenuItem("From elsewhere..."))
        place.work().requests.wants_file = {
            "Choose a file",
            form.files,
            [&work = place.work(), then](const std::filesystem::path& file) {
                if (const auto name = work.adding.bring(file)) then(*name);
            },
            {}};
    tip("A file of another folder is copied beside the scene");
    ImGui::EndPopup();
    return chosen;
}

}  // namespace hindcast::gui
