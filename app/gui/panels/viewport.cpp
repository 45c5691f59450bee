// The picture of the scene: camera by mouse, selection by a click, the gizmo at what is selected,
// and what the picture is coloured by.
#include <fmt/format.h>
#include <imgui.h>

#include <ImGuizmo.h>
#include <imgui_internal.h>

#include <algorithm>
#include <cmath>

#include "app/gui/gestures.hpp"
#include "app/gui/handles.hpp"
#include "app/gui/labels.hpp"
#include "app/gui/panels/panel.hpp"
#include "app/gui/pulling.hpp"

namespace hindcast::gui {

namespace {

using render::ColourMap;

constexpr const char* map_names[] = {"viridis", "magma", "turbo", "coolwarm"};

class Viewport final : public Panel {
public:
    Viewport()
        : Panel("View", icon::cube, Place::centre,
                "The scene at the time and iteration chosen below") {}
    bool padded() const override { return false; }

    void draw(Context& context) override {
        Workspace& work = context.work;
        const ImVec2 at = ImGui::GetCursorScreenPos(), room = ImGui::GetContentRegionAvail();
        const int width = std::max(static_cast<int>(room.x), 1);
        const int height = std::max(static_cast<int>(room.y), 1);
        aspect_ = static_cast<double>(width) / height;
        if (!work.camera_is_set && work.now().stage) work.reset_camera(aspect_);
        if (std::exchange(work.frame_requested, false)) work.frame_view(aspect_);
        select_in_view(context);
        const std::vector<PlacedName> placed = names(context);
        const auto picture = context.picture.draw(work, width, height);
        if (!picture) {
            empty(work);
            return;
        }
        // ImGuizmo does not take the mouse from an item.
        const bool on_gizmo =
            work.tool != Tool::look && (ImGuizmo::IsOver() || ImGuizmo::IsUsing());
        const ImVec2 size{static_cast<float>(width), static_cast<float>(height)};
        ImGui::SetNextItemAllowOverlap();
        if (on_gizmo)
            ImGui::Dummy(size);
        else
            ImGui::InvisibleButton("picture", size,
                                   ImGuiButtonFlags_MouseButtonLeft |
                                       ImGuiButtonFlags_MouseButtonRight |
                                       ImGuiButtonFlags_MouseButtonMiddle);
        const bool hovered = ImGui::IsItemHovered(), active = ImGui::IsItemActive();
        const bool pressed = ImGui::IsItemActivated();
        ImGui::GetWindowDrawList()->AddImage(
            *picture, at, {at.x + static_cast<float>(width), at.y + static_cast<float>(height)});
        draw_names(at, width, height, work.view.camera, placed);
        if (const render::Frame* frame = context.picture.frame();
            work.show_time && frame != nullptr)
            draw_time(at, height, time_text(frame->time, frame->iteration));
        const bool busy = gizmo(context, at, width, height);
        if (!busy && !pulling_.update(context, at, width, height, pressed, active))
            mouse(context, at, width, height, hovered, active);
        overlay(context, at, width);
        colour_bar(context, at, width, height);
    }

private:
    static void empty(Workspace& work) {
        const session::Snapshot& now = work.now();
        if (now.activity == session::Activity::building)
            empty_state(icon::settings, "Building the simulation", now.activity_text);
        else if (now.error)
            empty_state(icon::error, "The simulation cannot run", now.error->what());
        else
            empty_state(icon::cube, "Nothing to show yet",
                        "The picture comes with the first step.");
    }

    void mouse(Context& context, ImVec2 at, int width, int height, bool hovered, bool active) {
        Workspace& work = context.work;
        render::Camera& camera = work.view.camera;
        const ImGuiIO& io = ImGui::GetIO();
        const bool flat = camera.orthographic;
        if (active && happens(Gesture::move, flat)) {
            render::pan(camera, static_cast<double>(io.MouseDelta.x),
                        static_cast<double>(-io.MouseDelta.y), height);
        } else if (active && happens(Gesture::turn, flat)) {
            const double degrees = 0.35 / static_cast<double>(look().scale());
            render::orbit(camera, -static_cast<double>(io.MouseDelta.x) * degrees,
                          static_cast<double>(io.MouseDelta.y) * degrees);
        }
        if (hovered && happens(Gesture::zoom)) {
            const double x = 2 * static_cast<double>(io.MousePos.x - at.x) / width - 1;
            const double y = 1 - 2 * static_cast<double>(io.MousePos.y - at.y) / height;
            render::zoom(camera, std::pow(0.88, static_cast<double>(io.MouseWheel)), x, y, aspect_);
        }
        const auto pick = [&] {
            return context.picture.pick(static_cast<int>(io.MousePos.x - at.x),
                                        static_cast<int>(io.MousePos.y - at.y));
        };
        if (hovered && happens(Gesture::centre)) {
            const render::Pick found = pick();
            if (found.thing < 0) return;
            // The target moves there, and the eye with it.
            for (std::size_t k = 0; k < 3; ++k) {
                const double by = found.place[k] - camera.target[k];
                camera.target[k] += by;
                camera.eye[k] += by;
            }
        } else if (hovered && happens(Gesture::select)) {
            const render::Pick found = pick();
            const render::Stage* stage = context.picture.stage();
            if (found.thing < 0 || stage == nullptr) {
                work.select({});
                return;
            }
            const std::string& name = stage->things[static_cast<std::size_t>(found.thing)].name;
            work.select({work.pointer_of(name), found.element, ""});
        }
    }

    // What is selected is outlined.
    static void select_in_view(Context& context) {
        Workspace& work = context.work;
        work.view.selected_thing = -1;
        work.view.selected_element = -1;
        const render::Stage* stage = context.picture.stage();
        if (stage == nullptr || work.selection().pointer.empty()) return;
        const std::string name = work.name_at(work.selection().pointer);
        if (name.empty()) return;
        for (std::size_t k = 0; k < stage->things.size(); ++k)
            if (!stage->things[k].ghost && stage->things[k].name == name) {
                work.view.selected_thing = static_cast<int>(k);
                work.view.selected_element = work.selection().element;
                return;
            }
    }

    static std::vector<PlacedName> names(Context& context) {
        const render::Stage* stage = context.picture.stage();
        if (!context.work.show_labels || stage == nullptr) return {};
        return names_in(
            *stage, [&](int thing) { return context.picture.numbers(thing); },
            context.work.document(), context.work.registry());
    }

    // True while the gizmo has the mouse.
    bool gizmo(Context& context, ImVec2 at, int width, int height) {
        Workspace& work = context.work;
        const render::Stage* stage = context.picture.stage();
        if (work.tool == Tool::look || stage == nullptr || work.selection().pointer.empty()) {
            dragged_ = false;
            return false;
        }
        const int dimension = stage->dimension;
        const auto handles = handles_of(work.document(), work.registry(), work.selection().pointer,
                                        work.selection().element, dimension);
        if (handles.empty()) return false;
        const Handle& handle = handles.front();
        if (!dragged_) matrix_ = translation(handle.centre);
        Matrix view{}, projection{};
        const auto view_d = render::view_matrix(work.view.camera);
        const auto projection_d = render::projection_matrix(work.view.camera, aspect_);
        for (std::size_t k = 0; k < 16; ++k) {
            view[k] = static_cast<float>(view_d[k]);
            projection[k] = static_cast<float>(projection_d[k]);
        }
        // ImGuizmo takes y upwards.
        for (std::size_t column = 0; column < 4; ++column) projection[column * 4 + 1] *= -1;
        ImGuizmo::SetOrthographic(work.view.camera.orthographic);
        ImGuizmo::SetGizmoSizeClipSpace(0.22F);
        ImGuizmo::SetDrawlist();
        ImGuizmo::SetRect(at.x, at.y, static_cast<float>(width), static_cast<float>(height));
        const bool turning = work.tool == Tool::rotate && handle.turns;
        const ImGuizmo::OPERATION operation =
            turning          ? (dimension == 2 ? ImGuizmo::ROTATE_Z : ImGuizmo::ROTATE)
            : dimension == 2 ? ImGuizmo::TRANSLATE_X | ImGuizmo::TRANSLATE_Y
                             : ImGuizmo::TRANSLATE;
        Matrix delta{};
        const bool changed = ImGuizmo::Manipulate(view.data(), projection.data(), operation,
                                                  ImGuizmo::WORLD, matrix_.data(), delta.data());
        const bool using_it = ImGuizmo::IsUsing();
        if (changed && using_it) {
            if (!dragged_) work.edit([](session::Editor& e) { e.end_merge(); });
            dragged_ = true;
            Matrix by = delta;
            if (!turning) {
                // From where it is written now to where the gizmo is: nothing adds up.
                render::Vec3 to{};
                for (std::size_t k = 0; k < 3; ++k)
                    to[k] = static_cast<double>(matrix_[12 + k]) - handle.centre[k];
                by = translation(to);
            }
            const std::string name =
                (turning ? "Rotate " : "Move ") + work.name_at(work.selection().pointer);
            for (Change& change : moved(work.document(), handle, by, dimension))
                work.set(change.pointer, std::move(change.value), name, "gizmo");
        }
        if (dragged_ && !using_it) {
            dragged_ = false;
            work.edit([](session::Editor& e) { e.end_merge(); });
        }
        return using_it || ImGuizmo::IsOver();
    }

    // What the picture is coloured by, on the picture itself.
    void overlay(Context& context, ImVec2 at, int width) {
        Workspace& work = context.work;
        const session::Snapshot& now = work.now();
        ImGui::SetCursorScreenPos({at.x + px(10), at.y + px(10)});
        ImVec4 back = ImGui::GetStyle().Colors[ImGuiCol_WindowBg];
        back.w = 0.8F;
        ImGui::PushStyleColor(ImGuiCol_FrameBg, back);
        const auto fields = [](const std::vector<session::ShownField>& all) {
            std::vector<std::string> names;
            for (const session::ShownField& field : all) names.push_back(field.name);
            return names;
        };
        if (!now.colours.empty()) {
            if (choice("##colour", fields(now.colours), work.colour,
                       "Colour: what the elements are coloured by; gradients are of the loss",
                       px(168), "plain colours")) {
                work.look();
                const auto field =
                    std::ranges::find(now.colours, work.colour, &session::ShownField::name);
                const bool gradient = field != now.colours.end() && field->gradient;
                work.view.symmetric = gradient;
                work.view.map = gradient ? ColourMap::coolwarm : ColourMap::viridis;
                work.view.range.reset();
            }
            ImGui::SameLine(0, px(6));
        }
        if (!now.arrows.empty() && static_cast<float>(width) > px(420)) {
            if (choice("##arrows", fields(now.arrows), work.arrows,
                       "Arrows: a vector field at the points; gradients are of the loss\nforce "
                       "gradient (1/N): by a force that is held for one step, where no constraint "
                       "changes velocities",
                       px(168), "no arrows"))
                work.look();
            if (!work.arrows.empty()) {
                ImGui::SameLine(0, px(6));
                ImGui::SetNextItemWidth(px(80));
                auto scale = static_cast<float>(work.view.arrow_scale);
                if (ImGui::DragFloat("##arrow scale", &scale, scale / 50, 1e-9F, 1e9F, "x %.3g",
                                     ImGuiSliderFlags_Logarithmic))
                    work.view.arrow_scale = static_cast<double>(scale);
                tip("Length of the arrows: metres for each unit of the field");
                ImGui::SameLine(0, px(6));
                ImGui::Checkbox("log", &work.view.arrow_log);
                tip("Length by the logarithm: small arrows stay visible beside large ones");
            }
        }
        ImGui::PopStyleColor();
        float line = at.y + px(14) + ImGui::GetFrameHeight();
        const auto say = [&](const ImVec4& text_colour, const std::string& text) {
            ImGui::SetCursorScreenPos({at.x + px(12), line});
            ImGui::TextColored(text_colour, "%s", text.c_str());
            line += ImGui::GetTextLineHeightWithSpacing();
        };
        if (now.ghost_iteration >= 0)
            say(look().palette().ghost,
                fmt::format(
                    "ghost: iteration {}{}", now.ghost_iteration,
                    now.ghost_problem.empty() ? "" : " is not drawn: " + now.ghost_problem));
        if (now.shows_older_scene())
            say(look().palette().warn,
                fmt::format("iteration {}, of the scene before an edit", now.shown_iteration));
    }

    void colour_bar(Context& context, ImVec2 at, int width, int height) {
        Workspace& work = context.work;
        if (work.colour.empty() || work.now().colours.empty()) return;
        const auto range = work.view.range ? *work.view.range : context.picture.colour_range();
        const BarPlace bar =
            draw_colour_bar(at, width, height,
                            {colour_title(work.now().colours, work.colour), range, work.view.map});
        if (bar.size.y <= 0) return;
        ImGui::SetCursorScreenPos(bar.at);
        if (ImGui::InvisibleButton("colour bar", bar.size)) ImGui::OpenPopup("colours");
        tip("Colour map and range: click to change");
        if (ImGui::BeginPopup("colours")) {
            for (int k = 0; k < 4; ++k)
                if (ImGui::RadioButton(map_names[k], static_cast<int>(work.view.map) == k))
                    work.view.map = static_cast<ColourMap>(k);
            ImGui::Separator();
            ImGui::Checkbox("Symmetric about 0", &work.view.symmetric);
            tip("For numbers of both signs, such as gradients");
            bool fixed = work.view.range.has_value();
            if (ImGui::Checkbox("Fixed range", &fixed)) {
                if (fixed)
                    work.view.range = range;
                else
                    work.view.range.reset();
            }
            tip("Otherwise the range is that of what is shown");
            if (work.view.range) {
                for (std::size_t k = 0; k < 2; ++k) {
                    NumberField end{.value = (*work.view.range)[k],
                                    .unit = "",
                                    .width = px(120),
                                    .tooltip = k == 0 ? "Least value of the range"
                                                      : "Largest value of the range"};
                    if (number_field(k == 0 ? "##low" : "##high", end) != Edited::no)
                        (*work.view.range)[k] = end.value;
                }
            }
            ImGui::EndPopup();
        }
    }

    double aspect_ = 1;
    bool dragged_ = false;
    Pulling pulling_;
    Matrix matrix_{};
};

}  // namespace

std::unique_ptr<Panel> make_viewport() { return std::make_unique<Viewport>(); }

}  // namespace hindcast::gui
