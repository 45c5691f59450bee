#include "app/gui/work/files.hpp"

#include <fmt/chrono.h>
#include <fmt/format.h>
#include <imgui.h>
#include <imgui_internal.h>
#include <imgui_stdlib.h>

#include <algorithm>
#include <chrono>
#include <utility>

#include "app/gui/draw/widgets.hpp"
#include "app/render/output/png.hpp"
#include "engine/base/files.hpp"

namespace hindcast::gui {

namespace fs = std::filesystem;

namespace {

constexpr std::size_t most_entries = 2000;

bool is_scene(const fs::path& file) {
    const std::string name = file.filename().string();
    return name.ends_with(".json") && !name.ends_with(".test.json") &&
           !name.ends_with(".schema.json");
}

std::string changed_text(const fs::path& file) {
    std::error_code error;
    const auto time = fs::last_write_time(file, error);
    if (error) return "";
    const auto system = std::chrono::time_point_cast<std::chrono::system_clock::duration>(
        time - fs::file_time_type::clock::now() + std::chrono::system_clock::now());
    return fmt::format("{:%Y-%m-%d %H:%M}",
                       fmt::localtime(std::chrono::system_clock::to_time_t(system)));
}

// A file that cannot be read is described by what is wrong with it.
SceneCard read_card(const fs::path& file) {
    SceneCard card;
    card.name = file.stem().string();
    try {
        const document::Document scene = document::Document::load(file);
        const auto text = [&](const char* pointer) {
            const document::Node* node = scene.find(pointer);
            return node != nullptr && node->is_string() ? node->string() : std::string();
        };
        if (!text("/name").empty()) card.name = text("/name");
        card.description = text("/description");
        if (const document::Node* list = scene.find("/parameters");
            list != nullptr && list->size() > 0) {
            for (std::size_t k = 0; k < list->size() && k < 2; ++k)
                if (const document::Node* path = list->item(k).find("path");
                    path != nullptr && path->is_string())
                    card.what += (card.what.empty() ? "" : ", ") + path->string();
            if (list->size() > 2) card.what += ", ...";
        }
    } catch (const Error& fault) {
        card.description = fault.happened();
    }
    return card;
}

}  // namespace

// ---- the dialog ---------------------------------------------------------------------------------

void FileDialog::begin(Workspace& work, bool saving) {
    saving_ = saving;
    confirm_ = false;
    fault_.clear();
    const fs::path& file = work.editor().file();
    // The folder that was used last, in this or an earlier session.
    std::error_code error;
    folder_ = work.settings.folder;
    if (folder_.empty() || !fs::is_directory(folder_, error))
        folder_ = file.empty() ? fs::current_path() : fs::absolute(file).parent_path();
    // A scene is saved where it is; a bundled one is not.
    if (saving && !file.empty() && !work.is_example()) folder_ = fs::absolute(file).parent_path();
    if (saving && work.is_bundled(folder_)) folder_ = work.output_folder();
    name_ = saving ? (file.empty() ? work.file_stem() + ".json" : file.filename().string()) : "";
    preview_ = {};
    go_to(folder_);
    ImGui::OpenPopup("###files");
}

// What is typed next is a name in it, or the folder once more.
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
        if (!folder_item && !is_scene(item.path())) continue;
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

// What cannot be done; what is typed goes on where it was typed.
void FileDialog::refuse(const std::string& fault, TextField typed_in) {
    fault_ = fault;
    takes_focus_ = typed_in;
}

void FileDialog::choose(Workspace& work) {
    if (name_.empty()) return;
    fs::path file = fs::path(name_).is_absolute() ? fs::path(name_) : folder_ / name_;
    std::error_code error;
    if (fs::is_directory(file, error)) {
        name_.clear();
        go_to(file);
        return;
    }
    if (saving_) {
        if (file.extension() != ".json") file += ".json";
        if (work.is_bundled(file)) {
            refuse("bundled scenes are not written over; choose another folder");
            return;
        }
        if (fs::exists(file, error) && !confirm_ && file != work.editor().file()) {
            confirm_ = true;
            takes_focus_ = TextField::name;
            return;
        }
        if (!work.save_as(file)) return;
    } else {
        if (!fs::exists(file, error)) {
            refuse(file.filename().string() + " does not exist in this folder");
            return;
        }
        work.open(file);
    }
    work.settings.folder = fs::absolute(file).parent_path().string();
    work.save_settings();
    ImGui::CloseCurrentPopup();
}

// Name and description of the scene that is chosen.
void FileDialog::draw_preview() {
    if (preview_.of != folder_ / name_) {
        preview_ = {folder_ / name_, {}, {}};
        std::error_code error;
        if (!name_.empty() && fs::is_regular_file(preview_.of, error)) {
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

void FileDialog::draw(Workspace& work) {
    if (work.show_open || work.show_save_as) {
        begin(work, work.show_save_as);
        work.show_open = work.show_save_as = false;
    }
    const ImGuiViewport* screen = ImGui::GetMainViewport();
    ImGui::SetNextWindowPos(screen->GetCenter(), ImGuiCond_Appearing, {0.5F, 0.5F});
    ImGui::SetNextWindowSize({std::min(px(640), screen->WorkSize.x - px(40)),
                              std::min(px(470), screen->WorkSize.y - px(40))},
                             ImGuiCond_Appearing);
    ImGui::PushStyleVar(ImGuiStyleVar_WindowPadding, {px(16), px(12)});
    const bool open =
        ImGui::BeginPopupModal(saving_ ? "Save scene as###files" : "Open scene###files", nullptr,
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
        static constexpr const char* helps[] = {"Folders, and scenes (.json); a click sorts",
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
                    chosen = twice && !saving_;
                }
            }
            tip(entry.path.string() + "\n" +
                (entry.folder ? "A click goes into this folder."
                 : saving_    ? "A click takes its name."
                              : "A click chooses it, a double click opens it."));
            ImGui::TableNextColumn();
            if (!entry.folder) quiet_text(bytes_text(static_cast<double>(entry.bytes)));
            ImGui::TableNextColumn();
            quiet_text(entry.changed);
        }
        if (entries_.empty()) {
            ImGui::TableNextRow();
            ImGui::TableNextColumn();
            quiet_text("No scenes (.json) and no folders here");
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
                                 saving_ ? "Name of the file" : "Choose a scene, or type its name",
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
    const char* verb = !saving_ ? "Open" : confirm_ ? "Replace" : "Save";
    if (text_button(nullptr, verb, saving_ ? "Writes the scene there" : "Opens the chosen scene",
                    !name_.empty(), true, width) ||
        chosen)
        choose(work);
    ImGui::SameLine();
    if (text_button(nullptr, "Cancel", "Closes this", true, false, width) ||
        ImGui::IsKeyPressed(ImGuiKey_Escape, false)) {
        work.forget_name();
        ImGui::CloseCurrentPopup();
    }
    ImGui::EndPopup();
}

// ---- the gallery --------------------------------------------------------------------------------

void Gallery::read(Workspace& work) {
    read_ = true;
    cards_.clear();
    for (const fs::path& folder : work.galleries()) {
        std::error_code error;
        for (const fs::directory_entry& item : fs::directory_iterator(folder, error)) {
            if (!is_scene(item.path())) continue;
            Card card;
            static_cast<SceneCard&>(card) = read_card(item.path());
            card.file = item.path();
            cards_.push_back(std::move(card));
        }
    }
    // The scene of the tour comes first.
    std::ranges::sort(cards_, [](const Card& a, const Card& b) {
        const bool first = a.name == "spring cage", second = b.name == "spring cage";
        return first != second ? first : a.name < b.name;
    });
}

bool Gallery::draw_card(Workspace& work, Card& card, float width, float text_height) {
    if (!card.looked_for) {
        card.looked_for = true;
        const fs::path file =
            card.file.parent_path() / "pictures" / (card.file.stem().string() + ".png");
        try {
            if (fs::exists(file) && canvas_ != nullptr) {
                const render::Image image = render::read_png(file);
                card.aspect = static_cast<float>(image.width) / static_cast<float>(image.height);
                card.picture = canvas_->upload(image);
            }
        } catch (const Error&) {
            card.picture.reset();  // a card without a picture still opens its scene
        }
    }
    const float pad = px(10), picture = std::floor((width - 2 * px(1)) * 9 / 16);
    const float height = picture + text_height;
    ImGui::PushID(card.file.c_str());
    const ImVec2 at = ImGui::GetCursorScreenPos();
    const bool clicked = ImGui::InvisibleButton(card.name.c_str(), {width, height});
    const bool hovered = ImGui::IsItemHovered();
    ImDrawList* list = ImGui::GetWindowDrawList();
    const Palette& colours = style().palette();
    const ImVec2 end{at.x + width, at.y + height};
    list->AddRectFilled(at, end, ImGui::GetColorU32(colours.raised), px(6));
    const ImVec2 picture_end{end.x, at.y + picture};
    if (card.picture) {
        // The middle of the picture fills the card.
        const float aspect = 16.0F / 9.0F;
        ImVec2 uv0{0, 0}, uv1{1, 1};
        if (card.aspect > aspect) {
            uv0.x = (1 - aspect / card.aspect) / 2;
            uv1.x = 1 - uv0.x;
        } else {
            uv0.y = (1 - card.aspect / aspect) / 2;
            uv1.y = 1 - uv0.y;
        }
        list->AddImageRounded(ImTextureRef(*card.picture), at, picture_end, uv0, uv1, 0xffffffff,
                              px(6), ImDrawFlags_RoundTop);
    } else {
        list->AddRectFilled(at, picture_end, ImGui::GetColorU32(ImGuiCol_FrameBg), px(6),
                            ImDrawFlags_RoundTop);
        ImGui::PushFont(nullptr, font_size * 2.2F);
        const ImVec2 size = ImGui::CalcTextSize(icon::cube);
        list->AddText({at.x + (width - size.x) / 2, at.y + (picture - size.y) / 2},
                      ImGui::GetColorU32(ImGuiCol_FrameBgActive), icon::cube);
        ImGui::PopFont();
    }
    list->AddRect(
        at, end,
        ImGui::GetColorU32(hovered ? colours.accent : ImGui::GetStyle().Colors[ImGuiCol_Border]),
        px(6), hovered ? px(2) : px(1));
    list->PushClipRect({at.x + pad, picture_end.y}, {end.x - pad, end.y - px(6)}, true);
    ImGui::PushFont(style().fonts().bold, 0);
    list->AddText({at.x + pad, picture_end.y + px(8)}, ImGui::GetColorU32(ImGuiCol_Text),
                  card.name.c_str());
    ImGui::PopFont();
    const float line = ImGui::GetTextLineHeight();
    list->AddText(nullptr, 0, {at.x + pad, picture_end.y + px(10) + line},
                  ImGui::GetColorU32(colours.quiet), card.description.c_str(), nullptr,
                  width - 2 * pad);
    list->PopClipRect();
    tip(card.description + (card.what.empty() ? "" : "\n\nOptimised: " + card.what) + "\n" +
        card.file.string());
    ImGui::PopID();
    if (clicked) work.open(card.file);
    return clicked;
}

void Gallery::draw(Workspace& work, Picture&, Canvas&) {
    if (!read_) read(work);
    ImGui::PushStyleVar(ImGuiStyleVar_WindowPadding, {px(28), px(18)});
    ImGui::BeginChild("gallery", {0, 0}, ImGuiChildFlags_AlwaysUseWindowPadding);
    ImGui::PopStyleVar();
    ImGui::PushFont(style().fonts().bold, font_size * 1.6F);
    ImGui::TextUnformatted("Choose a scene");
    ImGui::PopFont();
    quiet_text(
        "Each one is a simulation with something wanted and something that may change. Open it "
        "and press O: Hindcast finds the values.");
    ImGui::Dummy({0, px(2)});
    if (text_button(icon::open, "Open a file...", "A scene file from your disk (Ctrl+O)"))
        work.show_open = true;
    ImGui::SameLine();
    if (text_button(icon::add, "New scene", "A small scene to build upon (Ctrl+N)"))
        work.make_new();
    if (work.has_scene()) {
        ImGui::SameLine();
        if (text_button(icon::close, "Back to " + work.title(), "The scene that is open"))
            work.show_gallery = false;
    }
    if (work.is_opening()) {
        ImGui::SameLine();
        ImGui::AlignTextToFramePadding();
        ImGui::TextColored(style().palette().accent, "%s",
                           fmt::format("Opening {}... {}", work.opening_file().filename().string(),
                                       work.now().activity_text)
                               .c_str());
    }
    ImGui::SameLine(std::max(ImGui::GetCursorPosX(), right_edge() - px(220)));
    search_field("##search", search_, "Find a scene");

    if (const auto rescued = work.editor().find_autosave()) {
        ImGui::Dummy({0, px(4)});
        ImGui::TextColored(style().palette().warn, "%s", icon::warning);
        ImGui::SameLine();
        ImGui::AlignTextToFramePadding();
        ImGui::TextUnformatted(
            fmt::format(
                "The last session did not end by itself. Its unsaved scene{} of {} was kept.",
                rescued->original.empty() ? "" : " " + rescued->original.filename().string(),
                rescued->when)
                .c_str());
        ImGui::SameLine();
        if (text_button(nullptr, "Open it", "Opens what was kept", true, true))
            work.open_autosave(*rescued);
        ImGui::SameLine();
        if (text_button(nullptr, "Throw it away", "Deletes what was kept"))
            session::Editor::discard_autosave(*rescued);
    }
    const auto recent = work.editor().recent();
    if (!recent.empty()) {
        heading("Recent");
        for (std::size_t k = 0; k < recent.size() && k < 4; ++k) {
            ImGui::PushID(static_cast<int>(k));
            if (ImGui::TextLink(recent[k].filename().c_str())) work.open(recent[k]);
            tip(recent[k].string());
            ImGui::SameLine();
            quiet_text(recent[k].parent_path().string());
            ImGui::PopID();
        }
    }
    heading("Bundled scenes");
    const float room = ImGui::GetContentRegionAvail().x, space = px(14);
    const int columns = std::max(1, static_cast<int>((room + space) / (px(224) + space)));
    const float width =
        std::floor((room - space * static_cast<float>(columns - 1)) / static_cast<float>(columns));
    int column = 0;
    bool any = false;
    ImGui::PushStyleVar(ImGuiStyleVar_ItemSpacing, {space, space});
    // All are as high as the longest description needs.
    float text_height = 0;
    for (const Card& card : cards_)
        text_height = std::max(
            text_height,
            ImGui::CalcTextSize(card.description.c_str(), nullptr, false, width - 2 * px(10)).y);
    text_height += px(10) + ImGui::GetTextLineHeight() + px(10);
    for (Card& card : cards_) {
        if (!matches(card.name + " " + card.description, search_)) continue;
        any = true;
        if (column > 0) ImGui::SameLine();
        column = (column + 1) % columns;
        draw_card(work, card, width, text_height);
    }
    ImGui::PopStyleVar();
    if (!any)
        quiet_text(cards_.empty() ? "No scenes were found beside the program; open a file instead."
                                  : "No scene has these words.");
    ImGui::EndChild();
}

}  // namespace hindcast::gui
