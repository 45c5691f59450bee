// The picture of the scene: camera by mouse, selection by a click, the gizmo at what is selected.
// The controls on the picture itself are in view_controls.cpp.
#include <fmt/format.h>
#include <imgui.h>

#include <ImGuizmo.h>
#include <imgui_internal.h>

#include <algorithm>
#include <cmath>

#include "app/gui/input/gestures.hpp"
#include "app/gui/input/picking.hpp"
#include "app/gui/input/pulling.hpp"
#include "app/gui/looking/measuring.hpp"
#include "app/gui/looking/slicing.hpp"
#include "app/gui/making/part_tools.hpp"
#include "app/gui/making/sizing.hpp"
#include "app/gui/panels/panel.hpp"
#include "app/gui/panels/probe.hpp"
#include "app/gui/panels/view_controls.hpp"
#include "app/gui/places/handles.hpp"
#include "app/gui/places/labels.hpp"
#include "app/gui/work/picture.hpp"
#include "app/gui/work/state/chosen.hpp"
#include "app/gui/work/state/edited_scene.hpp"
#include "app/gui/work/state/requests.hpp"
#include "app/gui/work/state/running.hpp"
#include "app/gui/work/view/looks.hpp"

namespace hindcast::gui {

namespace {

// The least size of the box that the camera moves to, as a part of the scene's size.
constexpr double least_framed = 0.05;

class Viewport final : public Panel {
public:
    Viewport()
        : Panel("View", icon::cube, Place::center,
                "The scene at the time and iteration chosen below") {}
    bool padded() const override { return false; }

    void draw(Context& context) override {
        Topics& work = context.work;
        const ImVec2 at = ImGui::GetCursorScreenPos(), room = ImGui::GetContentRegionAvail();
        const int width = std::max(static_cast<int>(room.x), 1);
        const int height = std::max(static_cast<int>(room.y), 1);
        aspect_ = static_cast<double>(width) / height;
        if (!work.looks.camera_is_set && work.running.now().scene.stage)
            work.looks.reset_camera(aspect_);
        frame(context);
        select_in_view(context);
        const auto picture = context.picture.draw(work.looks.view, work.measured, width, height);
        if (!picture) {
            empty(work);
            return;
        }
        // ImGuizmo does not take the mouse from an item.
        const bool on_gizmo =
            has_gizmo(work.looks.tool) && (ImGuizmo::IsOver() || ImGuizmo::IsUsing());
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
        draw_names(at, width, height, work.looks.view.camera, names(context));
        if (const render::Frame* frame = context.picture.frame();
            work.looks.show_time && frame != nullptr)
            draw_time(at, height,
                      time_text(frame->time, frame->iteration, work.running.duration()));
        const bool busy = gizmo(context, at, width, height);
        work.chosen.where_is = [picture = &context.picture](const std::string& body,
                                                            std::int64_t point) {
            return place_of(*picture, body, point);
        };
        const bool sizing = !busy && sizing_.update(context, at, width, height, pressed, active);
        const bool slicing =
            !busy && !sizing && slicing_.update(context, at, width, height, pressed, active);
        const bool choosing = !busy && !sizing && !slicing &&
                              parts_.update(context, at, width, height, pressed, active);
        measuring_.update(context, at, width, height, hovered && !active && !busy && !slicing);
        if (!busy && !sizing && !slicing && !choosing &&
            !pulling_.update(context, at, width, height, pressed, active))
            mouse(context, at, width, height, hovered, active);
        probe_.draw(context, at, hovered && !active && !busy && !slicing);
        slicing_.draw(context, at, width, height);
        sizing_.draw(context, at, width, height);
        measuring_.draw(context, at, width, height);
        parts_.draw(context, at, width, height);
        view_menu(context, hovered && happens(Gesture::view_menu));
        controls_.draw(context, at, width, height);
    }

private:
    // The place at which a point of a body is drawn, m.
    static render::Vec3 place_of(Picture& picture, const std::string& body, std::int64_t point) {
        if (picture.stage() != nullptr)
            for (const render::Stage::Body& one : picture.stage()->bodies)
                if (one.name == body && point >= 0 && point < one.count)
                    if (const auto place = picture.point(one.first + point)) return *place;
        throw Error(fmt::format("{} has no point {}", body, point));
    }

    static void empty(Topics& work) {
        const session::Snapshot& now = work.running.now();
        if (now.reports.activity == session::Activity::building)
            empty_state(icon::settings, "Building the simulation", now.reports.activity_text);
        else if (now.reports.error)
            empty_state(icon::error, "The simulation cannot run", now.reports.error->what());
        else
            empty_state(icon::cube, "Nothing to show yet",
                        "The picture comes with the first step.");
    }

    void mouse(Context& context, ImVec2 at, int width, int height, bool hovered, bool active) {
        Topics& work = context.work;
        render::Camera& camera = work.looks.view.camera;
        const ImGuiIO& io = ImGui::GetIO();
        const bool flat = work.looks.is_flat();
        if (active && happens(Gesture::move, flat)) {
            render::pan(camera, static_cast<double>(io.MouseDelta.x),
                        static_cast<double>(-io.MouseDelta.y), height);
        } else if (active && happens(Gesture::turn, flat)) {
            const double degrees = 0.35 / static_cast<double>(style().scale());
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
        if (hovered && happens(Gesture::center)) {
            const render::Pick found = pick();
            if (found.drawable < 0) return;
            // The target moves there, and the eye with it.
            for (std::size_t k = 0; k < 3; ++k) {
                const double by = found.place[k] - camera.target[k];
                camera.target[k] += by;
                camera.eye[k] += by;
            }
        } else if (hovered && happens(Gesture::choose_part)) {
            PartTools::click(context, at);
        } else if (hovered && happens(Gesture::select) && work.looks.tool == Tool::measure) {
            measuring_.click(context, at, width, height);
        } else if (hovered && happens(Gesture::select)) {
            const render::Pick found = pick();
            const render::Stage* stage = context.picture.stage();
            if (found.drawable < 0 || stage == nullptr) {
                work.chosen.select({});
                return;
            }
            const Picked picked = picked_of(*stage, found);
            work.chosen.select(
                {work.scene.pointer_of(picked.name), picked.part.number, "", picked.part.kind});
        }
    }

    // Moves the camera to what is selected or, if that is not in the picture, to all that is drawn,
    // where it is now.
    void frame(Context& context) const {
        Topics& work = context.work;
        const Framing wanted = std::exchange(work.requests.framing, Framing::nothing);
        const std::shared_ptr<const render::Stage> stage = work.running.now().scene.stage;
        if (wanted == Framing::nothing || !stage) return;
        std::vector<int> all, selected;
        const std::string name = work.scene.name_at(work.chosen.object.pointer);
        for (std::size_t k = 0; k < stage->drawables.size(); ++k) {
            const render::Drawable& drawable = stage->drawables[k];
            if (drawable.ghost || work.looks.hidden.contains(drawable.name)) continue;
            all.push_back(static_cast<int>(k));
            if (!name.empty() && drawable.name == name) selected.push_back(static_cast<int>(k));
        }
        std::optional<render::Bounds> box;
        if (context.picture.stage() == stage.get()) {
            if (wanted == Framing::selection && !selected.empty())
                box = context.picture.bounds_of(selected, work.chosen.object.part());
            if (!box) box = context.picture.bounds_of(all);
        }
        if (!box) box = {stage->low, stage->high};  // nothing is drawn yet
        double own = 0, whole = 0;
        for (std::size_t c = 0; c < 3; ++c) {
            own += std::pow(box->high[c] - box->low[c], 2);
            whole += std::pow(stage->high[c] - stage->low[c], 2);
        }
        const double least = least_framed * std::sqrt(whole);
        if (std::sqrt(own) < least)
            for (std::size_t c = 0; c < 3; ++c) {
                box->low[c] -= least / 2;
                box->high[c] += least / 2;
            }
        render::frame_box(work.looks.view.camera, box->low, box->high, aspect_);
    }

    // The selected thing is outlined, hidden ones are not drawn.
    static void select_in_view(Context& context) {
        Topics& work = context.work;
        work.looks.view.selected_drawable = -1;
        work.looks.view.selected_element = -1;
        work.looks.view.hidden.clear();
        const render::Stage* stage = context.picture.stage();
        if (stage == nullptr) return;
        for (const render::Drawable& drawable : stage->drawables)
            work.looks.view.hidden.push_back(work.looks.hidden.contains(drawable.name) ||
                                             (drawable.measured && !work.looks.show_measured));
        if (work.chosen.object.pointer.empty()) return;
        const std::string name = work.scene.name_at(work.chosen.object.pointer);
        const render::Element part = work.chosen.object.part();
        // An object may be several drawables: the one that has such elements is selected.
        for (std::size_t k = 0; k < stage->drawables.size() && !name.empty(); ++k) {
            const render::Drawable& drawable = stage->drawables[k];
            if (drawable.ghost || drawable.name != name) continue;
            const bool has_part =
                part.number >= 0 && render::elements_of(drawable.kind) == part.kind;
            if (work.looks.view.selected_drawable >= 0 && !has_part) continue;
            work.looks.view.selected_drawable = static_cast<int>(k);
            if (!has_part) continue;
            work.looks.view.selected_element = part.number;
            return;
        }
    }

    static std::vector<PlacedName> names(Context& context) {
        const render::Stage* stage = context.picture.stage();
        const render::Frame* const frame = context.picture.frame();
        if (stage == nullptr || frame == nullptr) return {};
        if (!context.work.looks.show_labels) {
            std::vector<PlacedName> wanted = wanted_fields(*stage, *frame);
            std::erase_if(wanted, [&](const PlacedName& name) {
                return context.work.looks.hidden.contains(name.text);
            });
            return wanted;
        }
        return names_in(context.picture.renderer(), *stage, context.work.scene.document(),
                        context.work.scene.registry());
    }

    // True while the gizmo has the mouse.
    bool gizmo(Context& context, ImVec2 at, int width, int height) {
        Topics& work = context.work;
        const render::Stage* stage = context.picture.stage();
        work.looks.tool_problem.clear();
        if (!has_gizmo(work.looks.tool) || stage == nullptr || work.chosen.object.pointer.empty()) {
            dragged_ = false;
            return false;
        }
        const int dimension = stage->dimension;
        const std::string& object = work.chosen.object.pointer;
        const render::Element part = work.chosen.object.part();
        const bool turning = work.looks.tool == Tool::rotate;
        const Handles handles =
            handles_of(work.scene.document(), work.scene.registry(), object, part, dimension);
        const std::string& problem = turning ? handles.not_turned : handles.not_moved;
        if (!problem.empty())
            work.looks.tool_problem =
                fmt::format("{} cannot be {} here: {}", work.scene.name_at(object),
                            turning ? "turned" : "moved", problem);
        if (!problem.empty() || handles.all.empty()) {
            dragged_ = false;
            return false;
        }
        const Handle& handle = handles.all.front();
        if (!dragged_) matrix_ = translation(handle.center);
        Matrix view{}, projection{};
        const auto view_d = render::view_matrix(work.looks.view.camera);
        const auto projection_d = render::projection_matrix(work.looks.view.camera, aspect_);
        for (std::size_t k = 0; k < 16; ++k) {
            view[k] = static_cast<float>(view_d[k]);
            projection[k] = static_cast<float>(projection_d[k]);
        }
        // ImGuizmo takes y upwards.
        for (std::size_t column = 0; column < 4; ++column) projection[column * 4 + 1] *= -1;
        ImGuizmo::SetOrthographic(work.looks.view.camera.orthographic);
        ImGuizmo::SetGizmoSizeClipSpace(0.22F);
        ImGuizmo::SetDrawlist();
        ImGuizmo::SetRect(at.x, at.y, static_cast<float>(width), static_cast<float>(height));
        const ImGuizmo::OPERATION operation =
            turning          ? (dimension == 2 ? ImGuizmo::ROTATE_Z : ImGuizmo::ROTATE)
            : dimension == 2 ? ImGuizmo::TRANSLATE_X | ImGuizmo::TRANSLATE_Y
                             : ImGuizmo::TRANSLATE;
        Matrix delta{};
        const bool changed = ImGuizmo::Manipulate(view.data(), projection.data(), operation,
                                                  ImGuizmo::WORLD, matrix_.data(), delta.data());
        const bool using_it = ImGuizmo::IsUsing();
        if (changed && using_it) {
            if (!dragged_) work.scene.edit([](session::Editor& e) { e.end_merge(); });
            dragged_ = true;
            Matrix by = delta;
            if (!turning) {
                // From where it is written now to where the gizmo is: nothing adds up.
                render::Vec3 to{};
                for (std::size_t k = 0; k < 3; ++k)
                    to[k] = static_cast<double>(matrix_[12 + k]) - handle.center[k];
                by = translation(to);
            }
            const std::string name =
                (turning ? "Rotate " : "Move ") + work.scene.name_at(work.chosen.object.pointer);
            for (Change& change : moved(work.scene.document(), handle, by, dimension))
                work.scene.set(change.pointer, std::move(change.value), name, "gizmo");
        }
        if (dragged_ && !using_it) {
            dragged_ = false;
            work.scene.edit([](session::Editor& e) { e.end_merge(); });
        }
        return using_it || ImGuizmo::IsOver();
    }

    double aspect_ = 1;
    bool dragged_ = false;
    Pulling pulling_;
    PartTools parts_;
    Measuring measuring_;
    Slicing slicing_;
    Sizing sizing_;
    ViewControls controls_;
    Probe probe_;
    Matrix matrix_{};
};

}  // namespace

std::unique_ptr<Panel> make_viewport() { return std::make_unique<Viewport>(); }

}  // namespace hindcast::gui
