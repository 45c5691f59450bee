#include "app/gui/work/file_dialog.hpp"

#include <fmt/chrono.h>
#include <fmt/format.h>
#include <imgui.h>
#include <imgui_internal.h>
#include <imgui_stdlib.h>

#include <algorithm>
#include <chrono>
#include <utility>

#include "app/gui/draw/widgets.hpp"
#include "app/gui/draw/words.hpp"
#include "app/gui/work/files/opened_results.hpp"
#include "app/gui/work/files/opening.hpp"
#include "app/gui/work/files/saving.hpp"
#include "app/gui/work/scene_card.hpp"
#include "app/gui/work/state/edited_scene.hpp"
#include "app/gui/work/state/requests.hpp"
#include "app/gui/work/state/settings.hpp"
#include "app/session/document/scene_files.hpp"
#include "engine/base/files.hpp"
#include "engine/robot/robot_scene.hpp"

namespace hindcast::gui {

namespace fs = std::filesystem;

namespace {

constexpr std::size_t most_entries = 2000;

std::string changed_text(const fs::path& file) {
    std::error_code error;
    const auto time = fs::last_write_time(file, error);
    if (error) return "";
    const auto system = std::chrono::time_point_cast<std::chrono::system_clock::duration>(
        time - fs::file_time_type::clock::now() + std::chrono::system_clock::now());
    return fmt::format("{:%Y-%m-%d %H:%M}",
                       fmt::localtime(std::chrono::system_clock::to_time_t(system)));
}

}  // namespace

// ---- the dialog ---------------------------------------------------------------------------------

void FileDialog::begin(Topics& work, Purpose purpose) {
    purpose_ = purpose;
    const bool saving = this->saving();
    confirm_ = false;
    fault_.clear();
    const fs::path& file = work.scene.editor().file();
    // The folder that was used last, in this or an earlier session.
    std::error_code error;
    folder_ = work.settings.folder;
    if (folder_.empty() || !fs::is_directory(folder_, error))
        folder_ = file.empty() ? fs::current_path() : fs::absolute(file).parent_path();
    // A scene is saved where it is; a bundled one is not.
    if (saving && !file.empty() && !work.scene.is_example())
        folder_ = fs::absolute(file).parent_path();
    if (saving && work.scene.is_bundled(folder_)) folder_ = work.scene.output_folder();
    if (purpose == Purpose::results) {
        folder_ = results_folder_;
        if (folder_.empty()) folder_ = work.scene.output_folder() / "out";
        if (!fs::is_directory(folder_, error)) folder_ = work.scene.output_folder();
    }
    name_ =
        saving ? (file.empty() ? work.scene.file_stem() + ".json" : file.filename().string()) : "";
    preview_ = {};
    go_to(folder_);
    ImGui::OpenPopup("###files");
}

bool FileDialog::is_results_folder() const {
    std::error_code error;
    return purpose_ == Purpose::results && fs::is_regular_file(folder_ / "summary.json", error);
}

bool FileDialog::is_wanted(const fs::path& file) const {
    if (purpose_ == Purpose::results) {  // what says that a folder has results
        const std::string name = file.filename().string();
        return name == "batch.csv" || name == "starts.csv" || name == "history.csv" ||
               name == "summary.json";
    }
    if (purpose_ != Purpose::choose)
        return is_scene(file) || (!saving() && robot::is_robot_file(file));
    return session::ends_with_one(file, wish_.endings);
}

// Shows the folder; typing goes on in the name's field, or in `typed_in` if it cannot be read.
void FileDialog::go_to(const fs::path& folder, TextField typed_in) {
    std::error_code error;
    fs::directory_iterator items(folder, fs::directory_options::skip_permission_denied, error);
    if (error) {
        refuse(folder.string() + " cannot be read: " + error.message(), typed_in);
        return;
    }
    fault_.clear();
    confirm_ = false;
    takes_focus_ = TextField::name;
    folder_ = fs::weakly_canonical(folder, error);
    folder_text_ = folder_.string();
    entries_.clear();
    for (const fs::directory_entry& item : items) {
        if (entries_.size() >= most_entries) break;
        const std::string name = item.path().filename().string();
        if (name.starts_with('.')) continue;
        const bool folder_item = item.is_directory(error);
        if (!folder_item && !is_wanted(item.path())) continue;
        entries_.push_back({item.path(), folder_item, folder_item ? 0 : item.file_size(error),
                            changed_text(item.path())});
    }
    sort();
}

// Folders first; then as the headers of the table say.
void FileDialog::sort() {
    const auto before = [this](const Entry& a, const Entry& b) {
        switch (sorted_by_) {
            case 1: return a.bytes < b.bytes;
            case 2: return a.changed < b.changed;
            default: return a.path.filename() < b.path.filename();
        }
    };
    std::ranges::stable_sort(entries_, [&](const Entry& a, const Entry& b) {
        if (a.folder != b.folder) return a.folder;
        return descending_ ? before(b, a) : before(a, b);
    });
}

// Shows the fault; typing goes on in the field `typed_in`.
void FileDialog::refuse(const std::string& fault, TextField typed_in) {
    fault_ = fault;
    takes_focus_ = typed_in;
}

void FileDialog::choose(Topics& work) {
    if (name_.empty() && is_results_folder()) {
        results_folder_ = folder_;
        work.results.open(folder_);
        ImGui::CloseCurrentPopup();
        return;
    }
    if (name_.empty()) return;
    fs::path file = fs::path(name_).is_absolute() ? fs::path(name_) : folder_ / name_;
    std::error_code error;
    if (fs::is_directory(file, error)) {
        name_.clear();
        go_to(file);
        return;
    }
    if (saving()) {
        if (file.extension() != ".json") file += ".json";
        if (work.scene.is_bundled(file)) {
            refuse("bundled scenes are not written over; choose another folder");
            return;
        }
        if (fs::exists(file, error) && !confirm_ && file != work.scene.editor().file()) {
            confirm_ = true;
            takes_focus_ = TextField::name;
            return;
        }
        if (!work.saving.save_as(file)) return;
    } else {
        if (!fs::exists(file, error)) {
            refuse(file.filename().string() + " does not exist in this folder");
            return;
        }
        if (purpose_ == Purpose::results) {
            results_folder_ = fs::absolute(file).parent_path();
            work.results.open(file);
            ImGui::CloseCurrentPopup();
            return;
        }
        if (purpose_ == Purpose::open)
            work.opening.open(file);
        else
            std::exchange(wish_, {}).chosen(file);
    }
    work.settings.folder = fs::absolute(file).parent_path().string();
    work.settings.save();
    ImGui::CloseCurrentPopup();
}

// Name and description of the scene that is chosen.
void FileDialog::draw_preview() {
    if (preview_.of != folder_ / name_) {
        preview_ = {folder_ / name_, {}, {}};
        std::error_code error;
        if (!name_.empty() && purpose_ != Purpose::results && is_scene(preview_.of) &&
            fs::is_regular_file(preview_.of, error)) {
            const SceneCard card = read_card(preview_.of);
            preview_.name = card.name;
            preview_.description = card.description;
        }
    }
    const float room = ImGui::GetContentRegionAvail().x;
    if (preview_.name.empty())
        quiet_text(" ");
    else
        cut_text(preview_.name, room);
    ImGui::PushStyleColor(ImGuiCol_Text, style().palette().quiet);
    cut_text(preview_.description.empty() ? " " : preview_.description, room);
    ImGui::PopStyleColor();
}

void FileDialog::draw(Topics& work) {
    if (work.requests.show_open || work.requests.show_save_as) {
        begin(work, work.requests.show_save_as ? Purpose::save : Purpose::open);
        work.requests.show_open = work.requests.show_save_as = false;
    } else if (work.requests.show_open_results) {
        work.requests.show_open_results = false;
        begin(work, Purpose::results);
    } else if (work.requests.wants_file) {
        wish_ = std::move(*work.requests.wants_file);
        work.requests.wants_file.reset();
        begin(work, Purpose::choose);
    }
    const std::string title = saving()                       ? "Save scene as"
                              : purpose_ == Purpose::open    ? "Open scene"
                              : purpose_ == Purpose::results ? "Open results"
                                                             : wish_.title;
    const ImGuiViewport* screen = ImGui::GetMainViewport();
    ImGui::SetNextWindowPos(screen->GetCenter(), ImGuiCond_Appearing, {0.5F, 0.5F});
    ImGui::SetNextWindowSize({std::min(px(640), screen->WorkSize.x - px(40)),
                              std::min(px(470), screen->WorkSize.y - px(40))},
                             ImGuiCond_Appearing);
    ImGui::PushStyleVar(ImGuiStyleVar_WindowPadding, {px(16), px(12)});
    const bool open = ImGui::BeginPopupModal((title + "###files").c_str(), nullptr,
                                             ImGuiWindowFlags_NoSavedSettings);
    ImGui::PopStyleVar();
    if (!open) return;
    if (icon_button("up", icon::up, "The folder above", folder_.has_parent_path()))
        go_to(folder_.parent_path());
    ImGui::SameLine();
    if (takes_focus_ == TextField::folder) {
        takes_focus_ = TextField::none;
        ImGui::SetKeyboardFocusHere();
    }
    ImGui::SetNextItemWidth(-FLT_MIN);
    if (ImGui::InputText("##folder", &folder_text_, ImGuiInputTextFlags_EnterReturnsTrue))
        go_to(folder_text_, TextField::folder);
    else if (ImGui::IsItemDeactivated())
        folder_text_ = folder_.string();  // the list is still of this one
    tip("The folder that is shown; Enter goes to what is typed");

    const float below = 2 * ImGui::GetFrameHeightWithSpacing() + px(6) +
                        2 * ImGui::GetTextLineHeightWithSpacing() +
                        (fault_.empty() && !confirm_ ? 0 : ImGui::GetTextLineHeightWithSpacing());
    bool chosen = false;
    if (ImGui::BeginTable("list", 3,
                          ImGuiTableFlags_ScrollY | ImGuiTableFlags_RowBg |
                              ImGuiTableFlags_BordersOuter | ImGuiTableFlags_Sortable,
                          {0, -below})) {
        ImGui::TableSetupColumn("Name", ImGuiTableColumnFlags_DefaultSort);
        ImGui::TableSetupColumn("Size", ImGuiTableColumnFlags_WidthFixed, px(70));
        ImGui::TableSetupColumn("Changed", ImGuiTableColumnFlags_WidthFixed, px(125));
        ImGui::TableSetupScrollFreeze(0, 1);
        if (ImGuiTableSortSpecs* wanted = ImGui::TableGetSortSpecs();
            wanted != nullptr && wanted->SpecsDirty && wanted->SpecsCount > 0) {
            sorted_by_ = wanted->Specs[0].ColumnIndex;
            descending_ = wanted->Specs[0].SortDirection == ImGuiSortDirection_Descending;
            sort();
            wanted->SpecsDirty = false;
        }
        static constexpr const char* helps[] = {"Folders and files; a click sorts",
                                                "Of the file; a click sorts",
                                                "When it was written last; a click sorts"};
        table_headers(helps);
        std::optional<fs::path> enter;
        for (const Entry& entry : entries_) {
            ImGui::TableNextRow();
            ImGui::TableNextColumn();
            const std::string name = entry.path.filename().string();
            if (ImGui::Selectable(
                    fmt::format("{}  {}###{}", entry.folder ? icon::folder : icon::file, name, name)
                        .c_str(),
                    name == name_,
                    ImGuiSelectableFlags_SpanAllColumns | ImGuiSelectableFlags_AllowDoubleClick |
                        ImGuiSelectableFlags_NoAutoClosePopups)) {
                const bool twice = ImGui::IsMouseDoubleClicked(ImGuiMouseButton_Left);
                if (entry.folder) {
                    enter = entry.path;
                } else {
                    name_ = name;
                    confirm_ = false;
                    takes_focus_ = TextField::name;
                    chosen = twice && !saving();
                }
            }
            tip(entry.path.string() + "\n" +
                (entry.folder ? "A click goes into this folder."
                 : saving()   ? "A click takes its name."
                              : "A click chooses it, a double click opens it."));
            ImGui::TableNextColumn();
            if (!entry.folder) quiet_text(bytes_text(static_cast<double>(entry.bytes)));
            ImGui::TableNextColumn();
            quiet_text(entry.changed);
        }
        if (entries_.empty()) {
            ImGui::TableNextRow();
            ImGui::TableNextColumn();
            quiet_text("No such files and no folders here");
        }
        ImGui::EndTable();
        if (enter) go_to(*enter);
    }
    draw_preview();
    if (takes_focus_ == TextField::name) {
        takes_focus_ = TextField::none;
        ImGui::SetKeyboardFocusHere();
    }
    ImGui::SetNextItemWidth(-FLT_MIN);
    if (ImGui::InputTextWithHint("##name",
                                 saving() ? "Name of the file"
                                 : purpose_ == Purpose::open
                                     ? "Choose a scene or a robot's model, or type its name"
                                     : "Choose a file, or type its name",
                                 &name_, ImGuiInputTextFlags_EnterReturnsTrue))
        chosen = true;
    if (ImGui::IsItemEdited()) {
        fault_.clear();
        confirm_ = false;
    }
    tip("The file; a whole path may be typed as well");
    if (!fault_.empty()) ImGui::TextColored(style().palette().bad, "%s", fault_.c_str());
    if (confirm_)
        ImGui::TextColored(style().palette().warn, "%s exists; press Replace to write over it",
                           name_.c_str());
    const float width = px(96);
    ImGui::SetCursorPosX(ImGui::GetCursorPosX() + ImGui::GetContentRegionAvail().x - 2 * width -
                         ImGui::GetStyle().ItemSpacing.x);
    const bool opens = purpose_ == Purpose::open || purpose_ == Purpose::results;
    const char* verb = opens ? "Open" : !saving() ? "Choose" : confirm_ ? "Replace" : "Save";
    if (text_button(nullptr, verb,
                    saving()                       ? "Writes the scene there"
                    : purpose_ == Purpose::open    ? "Opens the chosen scene"
                    : purpose_ == Purpose::results ? "Opens the results in this folder"
                                                   : "Takes the chosen file",
                    !name_.empty() || is_results_folder(), true, width) ||
        chosen)
        choose(work);
    ImGui::SameLine();
    if (text_button(nullptr, "Cancel", "Closes this", true, false, width) ||
        ImGui::IsKeyPressed(ImGuiKey_Escape, false)) {
        work.saving.forget_name();
        ImGui::CloseCurrentPopup();
        if (const auto canceled = std::exchange(wish_, {}).canceled) canceled();
    }
    ImGui::EndPopup();
}

}  // namespace hindcast::gui
