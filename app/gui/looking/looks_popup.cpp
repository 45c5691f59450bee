#include "app/gui/looking/looks_popup.hpp"

#include <algorithm>
#include <cmath>

#include "app/gui/draw/widgets.hpp"
#include "app/gui/input/actions.hpp"
#include "app/gui/looking/slicing.hpp"
#include "app/gui/work/state/running.hpp"
#include "app/gui/work/view/looks.hpp"

namespace hindcast::gui {

namespace {

constexpr const char* sides[] = {"x", "y", "z", "as seen"};
constexpr double default_radius = 0.01, default_pixels = 2;
constexpr float choice_wide = 84, slider_wide = 150;

// The axis that the slice is normal to; 3: none of them.
std::size_t side_of(const render::Slice& slice) {
    for (std::size_t c = 0; c < 3; ++c)
        if (slice.normal[c] != 0 && slice.normal[(c + 1) % 3] == 0 &&
            slice.normal[(c + 2) % 3] == 0)
            return c;
    return 3;
}

void choose_tubes(render::Tubes& tubes) {
    quiet_text("Springs and chains");
    if (ImGui::RadioButton("automatic", tubes == render::Tubes())) tubes = {};
    tip("As thick as suits how close their points start to each other");
    if (ImGui::RadioButton("radius in m", tubes.radius > 0)) tubes = {default_radius, 0};
    tip("Nearer ones look thicker, as everything does");
    if (ImGui::RadioButton("radius in pixels", tubes.pixels > 0)) tubes = {0, default_pixels};
    tip("As thick wherever they are");
    if (tubes == render::Tubes()) return;
    const bool meters = tubes.radius > 0;
    double& value = meters ? tubes.radius : tubes.pixels;
    NumberField field{.value = value,
                      .unit = meters ? "m" : "pixels",
                      .low = meters ? 1e-9 : 0.25,
                      .high = meters ? 1e9 : 100,
                      .width = px(150),
                      .tooltip = "Radius of the tubes",
                      .logarithmic = true};
    if (number_field("##tubes", field) != Edited::no) value = field.value;
}

}  // namespace

bool has_tubes(const Running& running) {
    const auto is_tube = [](const render::Drawable& drawable) {
        return drawable.kind == render::Drawable::Kind::segments && !drawable.ghost;
    };
    return running.now().scene.stage != nullptr &&
           std::ranges::any_of(running.now().scene.stage->drawables, is_tube);
}

void looks_button(Context& context) {
    Topics& work = context.work;
    if (icon_button("looks", icon::sliders,
                    "How things are drawn: tubes, slice, and what the scene keeps of it"))
        ImGui::OpenPopup("looks");
    if (!ImGui::BeginPopup("looks")) return;
    if (has_tubes(work.running)) {
        choose_tubes(work.looks.view.tubes);
        ImGui::Separator();
    }
    for (const char* id : {"slice", "measure_tool"}) {
        const Action& action = context.actions[id];
        if (ImGui::MenuItem(action.name.c_str(), Actions::key_name(action.key).c_str(),
                            action.checked(work), action.enabled(work)))
            action.run(work);
        tip(action.help);
    }
    ImGui::Separator();
    if (ImGui::Button("Keep with the scene")) {
        work.looks.keep_view();
        ImGui::CloseCurrentPopup();
    }
    tip("Writes arrows, tubes, slice and distances into the scene's view: the next start and "
        "hindcast render begin with them");
    ImGui::EndPopup();
}

float slice_controls_width() {
    return px(choice_wide) + px(4) + px(slider_wide) + px(4) +
           2 * (ImGui::GetFrameHeight() + px(8));
}

void slice_controls(Context& context) {
    Topics& work = context.work;
    if (!work.looks.view.slice || work.running.now().scene.stage == nullptr) return;
    render::Slice& slice = *work.looks.view.slice;
    const render::Bounds box = box_of(*work.running.now().scene.stage);
    std::string side = sides[side_of(slice)];
    if (choice("##slice side", {std::begin(sides), std::end(sides)}, side,
               "Slice across this axis; as seen: across the line of sight of now",
               px(choice_wide))) {
        const auto which = static_cast<std::size_t>(std::ranges::find(sides, side) - sides);
        render::Vec3 normal{};
        if (which < 3) {
            // Toward the eye, so that what is before the plane is hidden.
            normal[which] =
                work.looks.view.camera.eye[which] < work.looks.view.camera.target[which] ? -1 : 1;
        } else {
            for (std::size_t c = 0; c < 3; ++c)
                normal[c] = work.looks.view.camera.eye[c] - work.looks.view.camera.target[c];
        }
        slice = turned(slice, normal, box);
    }
    ImGui::SameLine(0, px(4));
    const std::array<double, 2> range = slice_range(slice, box);
    ImGui::SetNextItemWidth(px(slider_wide));
    ImGui::SliderScalar("##slice", ImGuiDataType_Double, &slice.offset, &range[0], &range[1],
                        "slice %.3g m");
    tip("Slice: where the plane is along its normal, in m from the origin. What is before it is "
        "hidden. "
        "Ctrl + click to type; the handle in the picture moves it too");
    ImGui::SameLine(0, px(4));
    if (icon_button("turn slice", icon::repeat, "Hides the other side of the slice")) {
        for (double& x : slice.normal) x = -x;
        slice.offset = -slice.offset;
    }
    ImGui::SameLine(0, px(4));
    if (icon_button("no slice", icon::close, "Without the slice")) work.looks.view.slice.reset();
}

}  // namespace hindcast::gui
