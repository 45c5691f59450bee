#include "app/gui/making/part_tools.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "app/gui/draw/widgets.hpp"
#include "app/gui/input/actions.hpp"
#include "app/gui/making/add_menu.hpp"
#include "app/gui/work/picture.hpp"
#include "app/gui/work/state/chosen.hpp"
#include "app/gui/work/state/edited_scene.hpp"
#include "app/gui/work/view/looks.hpp"

namespace hindcast::gui {

namespace {

using Kind = session::Parts::Kind;
using render::Stage;
using render::Vec3;

constexpr std::size_t most_marks = 20000;

// The corners of the box between two pixels.
std::vector<Pixel> box_between(const Pixel& a, const Pixel& b) {
    return {a, {b[0], a[1]}, b, {a[0], b[1]}};
}

std::vector<Pixel> outline(Tool tool, const std::vector<Pixel>& line) {
    if (tool == Tool::box && line.size() == 2) return box_between(line[0], line[1]);
    return line;
}

const Stage::Body* body_named(const Stage& stage, const std::string& name) {
    const auto found = std::ranges::find(stage.bodies, name, &Stage::Body::name);
    return found == stage.bodies.end() ? nullptr : &*found;
}

// A parameter with a number for each chosen element, by the names of what they have.
void parameter_items(Topics& work) {
    if (work.chosen.parts.of.size() != 1 ||
        work.scene.pointer_of(work.chosen.parts.of.front().name).empty()) {
        quiet_text("Elements of one object at a time");
        return;
    }
    const std::string name = work.chosen.parts.of.front().name;
    for (const std::string& key :
         session::keys_per_element(work.scene.document(), work.scene.registry(), name)) {
        std::string words = key;
        std::ranges::replace(words, '_', ' ');
        if (ImGui::MenuItem(fmt::format("{}###{}", words, key).c_str()))
            work.scene.change(
                fmt::format("Optimize {}.{}", name, key), [&](const document::Document& d) {
                    return session::optimized(d, work.scene.registry(), work.chosen.parts, key);
                });
        tip("Each of the chosen ones gets a number of its own, which the optimization may change");
    }
}

void action_item(Context& context, const char* id) {
    const Action& action = context.actions[id];
    const bool enabled = !action.enabled || action.enabled(context.work);
    if (ImGui::MenuItem(action.name.c_str(), Actions::key_name(action.key).c_str(), false, enabled))
        action.run(context.work);
    tip(action.help);
}

}  // namespace

bool PartTools::update(Context& context, ImVec2 at, int width, int height, bool pressed,
                       bool active) {
    Topics& work = context.work;
    const bool chooses = work.looks.tool == Tool::box || work.looks.tool == Tool::lasso;
    if (!chooses) {
        on_ = false;
        return false;
    }
    const ImVec2 mouse = ImGui::GetIO().MousePos;
    const Pixel pixel{static_cast<double>(mouse.x - at.x), static_cast<double>(mouse.y - at.y)};
    if (pressed && ImGui::IsMouseDown(ImGuiMouseButton_Left)) {
        on_ = true;
        line_ = {pixel};
    }
    if (!on_) return false;
    if (ImGui::IsKeyPressed(ImGuiKey_Escape, false)) {
        on_ = false;
        return true;
    }
    if (active) {
        if (work.looks.tool == Tool::box) line_.resize(1);
        if (line_.back() != pixel) line_.push_back(pixel);
        return true;
    }
    on_ = false;
    take(context, width, height);
    return true;
}

void PartTools::take(Context& context, int width, int height) {
    Topics& work = context.work;
    const Stage* const stage = context.picture.stage();
    if (stage == nullptr || line_.size() < 2) return;
    const std::vector<Vec3> points = context.picture.points();
    const std::vector<Pixel> polygon = outline(work.looks.tool, line_);
    const session::Parts found =
        parts_within(*stage, points, work.looks.hidden, work.looks.view.camera, width, height,
                     polygon, work.chosen.parts.kind);
    const ImGuiIO& io = ImGui::GetIO();
    if (!io.KeyShift && !io.KeyCtrl) work.chosen.parts.of.clear();
    for (const session::Parts::Of& of : found.of)
        if (io.KeyCtrl)
            work.chosen.parts.remove(of.name, of.numbers);
        else
            work.chosen.parts.add(of.name, of.numbers);
}

void PartTools::click(Context& context, ImVec2 at) {
    Topics& work = context.work;
    const Stage* const stage = context.picture.stage();
    if (stage == nullptr) return;
    const ImVec2 mouse = ImGui::GetIO().MousePos;
    const render::Pick pick =
        context.picture.pick(static_cast<int>(mouse.x - at.x), static_cast<int>(mouse.y - at.y));
    const session::Parts found =
        picked_part(*stage, context.picture.points(), pick, work.chosen.parts.kind);
    for (const session::Parts::Of& of : found.of)
        work.chosen.parts.toggle(of.name, of.numbers.front());
}

void PartTools::draw(Context& context, ImVec2 at, int width, int height) const {
    Topics& work = context.work;
    ImDrawList* const list = ImGui::GetWindowDrawList();
    const Palette& palette = style().palette();
    const auto on_screen = [&](const Pixel& p) {
        return ImVec2{at.x + static_cast<float>(p[0]), at.y + static_cast<float>(p[1])};
    };
    list->PushClipRect(at, {at.x + static_cast<float>(width), at.y + static_cast<float>(height)},
                       true);
    if (on_) {
        const std::vector<Pixel> polygon = outline(work.looks.tool, line_);
        std::vector<ImVec2> corners;
        for (const Pixel& p : polygon) corners.push_back(on_screen(p));
        list->AddPolyline(corners.data(), static_cast<int>(corners.size()),
                          ImGui::GetColorU32(palette.warn), px(1.5F), ImDrawFlags_Closed);
    }
    const Stage* const stage = context.picture.stage();
    if (stage != nullptr && !work.chosen.parts.empty()) {
        const std::vector<Vec3> points = context.picture.points();
        const ImU32 color = ImGui::GetColorU32(palette.warn);
        const auto pixel_of = [&](std::int64_t point) -> std::optional<ImVec2> {
            const auto k = static_cast<std::size_t>(point);
            if (point < 0 || k >= points.size()) return std::nullopt;
            const auto p = render::project(work.looks.view.camera, points[k], width, height);
            return p ? std::optional(on_screen(*p)) : std::nullopt;
        };
        std::size_t marks = 0;
        for (const session::Parts::Of& of : work.chosen.parts.of)
            for (const std::int64_t number : of.numbers) {
                if (++marks > most_marks) break;
                if (work.chosen.parts.kind == Kind::points) {
                    const Stage::Body* const body = body_named(*stage, of.name);
                    if (body == nullptr || number >= body->count) continue;
                    if (const auto p = pixel_of(body->first + number))
                        list->AddCircle(*p, px(5), color, 12, px(2));
                    continue;
                }
                std::vector<ImVec2> corners;
                for (const std::int64_t point : points_of_element(*stage, of.name, number))
                    if (const auto p = pixel_of(point)) corners.push_back(*p);
                if (corners.size() >= 2)
                    list->AddPolyline(corners.data(), static_cast<int>(corners.size()), color,
                                      px(1.5F), ImDrawFlags_Closed);
            }
    }
    list->PopClipRect();
    if (work.chosen.parts.empty() && work.looks.tool != Tool::box && work.looks.tool != Tool::lasso)
        return;
    // The bar: how many, and what can be done with them.
    const float side = ImGui::GetFrameHeight();
    ImGui::SetCursorScreenPos({at.x + px(10), at.y + static_cast<float>(height) - 3.2F * side});
    ImVec4 back = ImGui::GetStyle().Colors[ImGuiCol_WindowBg];
    back.w = 0.85F;
    ImGui::PushStyleColor(ImGuiCol_ChildBg, back);
    ImGui::PushStyleVar(ImGuiStyleVar_WindowPadding, {px(8), px(5)});
    if (ImGui::BeginChild("parts", {0, 0},
                          ImGuiChildFlags_AutoResizeX | ImGuiChildFlags_AutoResizeY |
                              ImGuiChildFlags_AlwaysUseWindowPadding | ImGuiChildFlags_Borders)) {
        ImGui::AlignTextToFramePadding();
        const bool of_points = work.chosen.parts.kind == Kind::points;
        ImGui::TextUnformatted(work.chosen.parts.empty()
                                   ? (of_points ? "Drag around points" : "Drag around elements")
                                   : work.chosen.parts.text().c_str());
        tip("Shift adds to what is chosen, Ctrl takes away from it");
        bool first = true;
        for (const char* id : {"pin", "unpin", "connect", "aim"}) {
            if (!of_points || work.chosen.parts.empty()) break;
            ImGui::SameLine(0, first ? px(10) : px(4));
            first = false;
            const Action& action = context.actions[id];
            if (text_button(action.icon, action.name, action.help,
                            !action.enabled || action.enabled(work)))
                action.run(work);
        }
        if (!of_points && !work.chosen.parts.empty()) {
            ImGui::SameLine(0, px(10));
            if (text_button(icon::lock, "Optimize of each", "A number of its own for each of them"))
                ImGui::OpenPopup("of each");
            if (ImGui::BeginPopup("of each")) {
                parameter_items(work);
                ImGui::EndPopup();
            }
        }
        ImGui::SameLine(0, px(10));
        if (text_button(nullptr, of_points ? "Points" : "Elements",
                        of_points ? "Points are chosen; click for elements"
                                  : "Elements are chosen: triangles, springs; click for points"))
            context.actions["choose_elements"].run(work);
        ImGui::SameLine(0, px(4));
        if (icon_button("none", icon::close, "Chooses nothing")) {
            work.chosen.parts.of.clear();
            work.looks.tool = Tool::look;
        }
    }
    ImGui::EndChild();
    ImGui::PopStyleVar();
    ImGui::PopStyleColor();
}

void view_menu(Context& context, bool asked) {
    Topics& work = context.work;
    if (asked) ImGui::OpenPopup("in view");
    if (!ImGui::BeginPopup("in view")) return;
    if (!work.chosen.parts.empty()) {
        quiet_text(work.chosen.parts.text());
        if (work.chosen.parts.kind == Kind::points)
            for (const char* id : {"pin", "unpin", "connect", "aim", "pull"})
                action_item(context, id);
        if (work.chosen.parts.kind == Kind::elements && ImGui::BeginMenu("Optimize of each")) {
            parameter_items(work);
            ImGui::EndMenu();
        }
        action_item(context, "no_parts");
        ImGui::Separator();
    }
    const std::string name = work.scene.name_at(work.chosen.object.pointer);
    if (!name.empty()) {
        if (ImGui::BeginMenu(fmt::format("{}###object", name).c_str())) {
            object_items(context);
            ImGui::EndMenu();
        }
    }
    if (ImGui::BeginMenu("Add")) {
        add_items_of_all(context);
        ImGui::EndMenu();
    }
    ImGui::EndPopup();
}

}  // namespace hindcast::gui
