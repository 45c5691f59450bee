#include "app/gui/window/gallery.hpp"

#include <fmt/format.h>
#include <imgui.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "app/gui/draw/widgets.hpp"
#include "app/gui/making/add_menu.hpp"
#include "app/gui/work/files/opening.hpp"
#include "app/gui/work/state/edited_scene.hpp"
#include "app/gui/work/state/frame_wishes.hpp"
#include "app/gui/work/state/requests.hpp"
#include "app/gui/work/state/running.hpp"
#include "app/gui/work/values/handover.hpp"
#include "app/render/output/png.hpp"

namespace hindcast::gui {

namespace fs = std::filesystem;

void Gallery::set_canvas(Canvas& canvas) {
    canvas_ = &canvas;
    for (Group& group : groups_)
        for (Card& card : group.cards) card.still = card.strip = {};
}

void Gallery::read(const EditedScene& scene) {
    read_ = true;
    groups_.clear();
    for (const fs::path& folder : scene.galleries()) {
        std::vector<SceneGroup> groups;
        try {
            groups = scene_groups(folder);
        } catch (const Error& error) {
            fault_ = error.what();
            groups = ungrouped_scenes(folder);
        }
        for (const SceneGroup& group : groups) {
            Group shown{group.title, {}};
            for (const fs::path& file : group.scenes) {
                Card card;
                static_cast<SceneCard&>(card) = read_card(file);
                card.file = file;
                card.picture = folder / "pictures" / file.stem();
                shown.cards.push_back(std::move(card));
            }
            groups_.push_back(std::move(shown));
        }
    }
}

// A card without a picture still opens its scene.
void Gallery::load(Shown& shown, const Card& card, const char* ending) {
    if (std::exchange(shown.looked_for, true)) return;
    const fs::path file = card.picture.string() + ending;
    try {
        if (!fs::exists(file) || canvas_ == nullptr) return;
        const render::Image image = render::read_png(file);
        shown.aspect = static_cast<float>(image.width) / static_cast<float>(image.height);
        shown.texture = canvas_->upload(image);
    } catch (const Error&) {
        shown.texture.reset();
    }
}

void Gallery::draw_card(Opening& opening, Card& card, float width, float text_height) {
    load(card.still, card, ".png");
    const float pad = px(10), picture = std::floor((width - 2 * px(1)) * 9 / 16);
    const float height = picture + text_height;
    ImGui::PushID(card.file.c_str());
    const ImVec2 at = ImGui::GetCursorScreenPos();
    const bool clicked = ImGui::InvisibleButton(card.name.c_str(), {width, height});
    const bool hovered = ImGui::IsItemHovered();
    ImDrawList* list = ImGui::GetWindowDrawList();
    const Palette& colors = style().palette();
    const ImVec2 end{at.x + width, at.y + height};
    list->AddRectFilled(at, end, ImGui::GetColorU32(colors.raised), px(6));
    const ImVec2 picture_end{end.x, at.y + picture};
    if (hovered && std::exchange(under_, card.file) != card.file) since_ = ImGui::GetTime();
    if (!hovered && under_ == card.file) under_.clear();
    constexpr int strip_frames = strip_columns * strip_rows;
    int frame = -1;  // of the strip
    if (hovered) {
        load(card.strip, card, ".strip.png");
        const double frames = (ImGui::GetTime() - since_) * strip_frames_per_second;
        if (card.strip.texture && frames < strip_frames * strip_rounds) {
            frame = static_cast<int>(frames);
            frame_wishes().want(FrameReason::animation,
                                (frame + 1 - frames) / strip_frames_per_second);
        }
    }
    if (const Shown& shown = frame >= 0 ? card.strip : card.still; shown.texture) {
        ImVec2 uv0{0, 0}, uv1{1, 1};
        const float aspect = 16.0F / 9.0F;
        if (&shown == &card.strip) {
            frame %= strip_frames;
            const auto at_tile = [](int column, int row) {
                return ImVec2{static_cast<float>(column) / strip_columns,
                              static_cast<float>(row) / strip_rows};
            };
            uv0 = at_tile(frame % strip_columns, frame / strip_columns);
            uv1 = at_tile(frame % strip_columns + 1, frame / strip_columns + 1);
        } else if (shown.aspect > aspect) {  // the middle of the picture fills the card
            uv0.x = (1 - aspect / shown.aspect) / 2;
            uv1.x = 1 - uv0.x;
        } else {
            uv0.y = (1 - shown.aspect / aspect) / 2;
            uv1.y = 1 - uv0.y;
        }
        list->AddImageRounded(ImTextureRef(*shown.texture), at, picture_end, uv0, uv1, 0xffffffff,
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
        ImGui::GetColorU32(hovered ? colors.accent : ImGui::GetStyle().Colors[ImGuiCol_Border]),
        px(6), hovered ? px(2) : px(1));
    list->PushClipRect({at.x + pad, picture_end.y}, {end.x - pad, end.y - px(6)}, true);
    ImGui::PushFont(style().fonts().bold, 0);
    list->AddText({at.x + pad, picture_end.y + px(8)}, ImGui::GetColorU32(ImGuiCol_Text),
                  card.name.c_str());
    ImGui::PopFont();
    const float line = ImGui::GetTextLineHeight();
    list->AddText(nullptr, 0, {at.x + pad, picture_end.y + px(10) + line},
                  ImGui::GetColorU32(colors.quiet), card.description.c_str(), nullptr,
                  width - 2 * pad);
    list->PopClipRect();
    tip(card.description + (card.what.empty() ? "" : "\n\nOptimized: " + card.what) + "\n" +
        card.file.string());
    ImGui::PopID();
    if (clicked) opening.open(card.file);
}

void Gallery::draw_head(Topics& work) {
    ImGui::PushFont(style().fonts().bold, font_size * 1.6F);
    ImGui::TextUnformatted("Choose a scene");
    ImGui::PopFont();
    quiet_text(
        "Each one is a simulation with something wanted and something that may change. Open it "
        "and press O: Hindcast finds the values.");
    ImGui::Dummy({0, px(2)});
    if (text_button(icon::open, "Open a file...", "A scene file from your disk (Ctrl+O)"))
        work.requests.show_open = true;
    ImGui::SameLine();
    if (text_button(icon::add, "New scene", "A small scene to build upon (Ctrl+N)"))
        work.opening.make_new();
    ImGui::SameLine();
    if (text_button(icon::add, "New from...",
                    "Scenes to begin with: something that hangs, falls "
                    "or is thrown, and what is wanted of it"))
        ImGui::OpenPopup("templates");
    popup_below();
    if (ImGui::BeginPopup("templates")) {
        template_items(work.scene, work.opening);
        ImGui::EndPopup();
    }
    if (work.scene.is_open()) {
        ImGui::SameLine();
        if (text_button(icon::close, "Back to " + work.scene.title(), "The scene that is open"))
            work.requests.show_gallery = false;
    }
    if (work.handover.is_opening()) {
        ImGui::SameLine();
        ImGui::AlignTextToFramePadding();
        ImGui::TextColored(
            style().palette().accent, "%s",
            fmt::format("Opening {}... {}", work.handover.opening_file().filename().string(),
                        work.running.now().reports.activity_text)
                .c_str());
    }
    ImGui::SameLine(std::max(ImGui::GetCursorPosX(), right_edge() - px(220)));
    search_field("##search", search_, "Find a scene");

    if (const auto rescued = work.scene.editor().find_autosave()) {
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
            work.opening.open_autosave(*rescued);
        ImGui::SameLine();
        if (text_button(nullptr, "Throw it away", "Deletes what was kept"))
            session::Editor::discard_autosave(*rescued);
    }
    const auto recent = work.scene.editor().recent();
    if (!recent.empty()) {
        heading("Recent");
        for (std::size_t k = 0; k < recent.size() && k < 4; ++k) {
            ImGui::PushID(static_cast<int>(k));
            if (ImGui::TextLink(recent[k].filename().c_str())) work.opening.open(recent[k]);
            tip(recent[k].string());
            ImGui::SameLine();
            quiet_text(recent[k].parent_path().string());
            ImGui::PopID();
        }
    }
}

bool Gallery::draw_group(Topics& work, Group& group) {
    const auto wanted = [&](const Card& card) {
        return matches(card.name + " " + card.description + " " + group.title, search_);
    };
    if (std::ranges::none_of(group.cards, wanted)) return false;
    if (!group.title.empty()) heading(group.title.c_str());
    const float room = ImGui::GetContentRegionAvail().x, space = px(14);
    const int columns = std::max(1, static_cast<int>((room + space) / (px(224) + space)));
    const float width =
        std::floor((room - space * static_cast<float>(columns - 1)) / static_cast<float>(columns));
    // All are as high as the longest description of the group needs.
    float text_height = 0;
    for (const Card& card : group.cards)
        text_height = std::max(
            text_height,
            ImGui::CalcTextSize(card.description.c_str(), nullptr, false, width - 2 * px(10)).y);
    text_height += px(10) + ImGui::GetTextLineHeight() + px(10);
    ImGui::PushStyleVar(ImGuiStyleVar_ItemSpacing, {space, space});
    int column = 0;
    for (Card& card : group.cards) {
        if (!wanted(card)) continue;
        if (column > 0) ImGui::SameLine();
        column = (column + 1) % columns;
        draw_card(work.opening, card, width, text_height);
    }
    ImGui::PopStyleVar();
    return true;
}

void Gallery::draw(Topics& work) {
    if (!read_) read(work.scene);
    if (std::exchange(scenes_shown_, work.scene.scenes_shown()) != work.scene.scenes_shown())
        search_.clear();
    ImGui::PushStyleVar(ImGuiStyleVar_WindowPadding, {px(28), px(18)});
    ImGui::BeginChild("gallery", {0, 0}, ImGuiChildFlags_AlwaysUseWindowPadding);
    ImGui::PopStyleVar();
    draw_head(work);
    if (!fault_.empty())
        wrapped_text("The list of bundled scenes cannot be read: " + fault_,
                     style().palette().warn);
    bool any = false;
    for (Group& group : groups_) any = draw_group(work, group) || any;
    if (!any)
        quiet_text(groups_.empty() ? "No scenes were found beside the program; open a file instead."
                                   : "No scene has these words.");
    ImGui::EndChild();
}

}  // namespace hindcast::gui
