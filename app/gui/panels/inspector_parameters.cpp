// Parameters of the optimization and their groups, as the inspector and the scene tree edit them.
#include <fmt/format.h>
#include <imgui.h>
#include <imgui_internal.h>
#include <imgui_stdlib.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "app/gui/draw/widgets.hpp"
#include "app/gui/draw/words.hpp"
#include "app/gui/panels/inspector_fields.hpp"
#include "app/gui/work/state/chosen.hpp"
#include "app/gui/work/state/edited_scene.hpp"
#include "app/gui/work/state/running.hpp"
#include "app/gui/work/topics.hpp"
#include "engine/document/text.hpp"
#include "engine/sim/scene/path.hpp"

namespace hindcast::gui {

namespace {

using document::Node;

std::string path_at(const EditedScene& scene, const std::string& parameter) {
    const Node* const path = scene.document().find(parameter + "/path");
    return path != nullptr && path->is_string() ? path->string() : "?";
}

// The quantity that a path is of; null while the scene does not run with it.
const session::QuantityInfo* quantity_of(const Running& running, const std::string& path) {
    std::string base = path;
    try {
        base = Path::parse(path).base();
    } catch (const Error&) {
        return nullptr;
    }
    const auto& all = running.now().values.present_quantities();
    const auto found = std::ranges::find(all, base, &session::QuantityInfo::path);
    return found != all.end() ? &*found : nullptr;
}

std::string range_text(double low, double high, const std::string& unit) {
    const std::string tail = unit.empty() ? "" : " " + unit;
    const bool below = std::isfinite(low), above = std::isfinite(high);
    if (below && above) return number_text(low) + " to " + number_text(high) + tail;
    if (below) return "from " + number_text(low) + tail;
    if (above) return "up to " + number_text(high) + tail;
    return "any number";
}

constexpr float form_part = 0.40F;  // of the names, as edit_by_schema has it

// A line of a form: the name, and where its field begins.
void label(const std::string& name, const std::string& help, float part = form_part) {
    const float start = ImGui::GetCursorPosX(), column = label_width(part);
    ImGui::AlignTextToFramePadding();
    cut_text(name, column - px(8));
    tip(help);
    ImGui::SameLine(start + column);
}

}  // namespace

std::string choose_path(const Topics& work) {
    std::string chosen;
    bool any = false;
    for (const session::QuantityInfo& q : work.running.now().values.present_quantities()) {
        if (!q.may_optimize || work.scene.editor().is_optimized(q.path)) continue;
        any = true;
        if (ImGui::MenuItem((path_label(q.path) + "###" + q.path).c_str())) chosen = q.path;
        tip(fmt::format("{}: {} number{}{}", q.path, q.rows * q.components,
                        q.rows * q.components == 1 ? "" : "s",
                        q.unit.empty() ? "" : ", " + q.unit));
    }
    if (!any) {
        ImGui::MenuItem("Nothing is left", nullptr, false, false);
        tip("All that has a gradient in this scene is optimized already");
    }
    return chosen;
}

void parameter_items(Topics& work) {
    const std::string path = choose_path(work);
    if (!path.empty())
        work.scene.edit([&](session::Editor& e) {
            work.chosen.select({e.add_parameter(path), -1, ""});
        });
}

void group_items(Topics& work) {
    const auto document = work.scene.editor().document();  // this one, also after an edit
    const Node* const list = document ? document->find("/parameters") : nullptr;
    if (list == nullptr || list->size() == 0) {
        ImGui::MenuItem("Of what?", nullptr, false, false);
        tip("A group is of parameters, and this scene has none: add a parameter first");
        return;
    }
    for (std::size_t k = 0; k < list->size(); ++k) {
        const std::string pointer = fmt::format("/parameters/{}", k);
        const std::string path = path_at(work.scene, pointer);
        if (ImGui::MenuItem(fmt::format("{}##{}", path, k).c_str()))
            work.scene.edit([&](session::Editor& e) {
                work.chosen.select({e.add_group(pointer), -1, ""});
            });
        tip("A new group that begins with " + path +
            "; others are put into it in the inspector. Its factor multiplies their rate");
    }
}

void edit_bounds(EditedScene& scene, const std::string& parameter,
                 const session::QuantityInfo& quantity, float part) {
    ImGui::PushID("bounds");
    const std::string pointer = parameter + "/bounds", name = "Bounds of " + quantity.path;
    const Node* const written = scene.document().find(pointer);
    const bool pair = written != nullptr && written->size() == 2;
    std::array<std::optional<double>, 2> ends;
    for (std::size_t k = 0; pair && k < 2; ++k) ends[k] = plain_number(written->item(k));
    const std::string unit = quantity.unit.empty() ? "" : ", in " + quantity.unit;
    const std::string module = range_text(quantity.low, quantity.high, quantity.unit);
    const float side = written != nullptr ? ImGui::GetFrameHeight() + px(8) : 0;
    const float start = ImGui::GetCursorPosX(), all = ImGui::GetContentRegionAvail().x;
    label("bounds",
          "The optimization keeps the number" +
              std::string(quantity.values.size() == 1 ? "" : "s") +
              " within these, and within what the module allows: " + module,
          part);
    // Beside the name if they can be read there, else below it.
    const float needed = 2 * (ImGui::CalcTextSize(("-8888 " + quantity.unit).c_str()).x + px(4));
    float room = ImGui::GetContentRegionAvail().x - side;
    if (room < needed) {
        ImGui::NewLine();
        ImGui::SetCursorPosX(start);
        room = all - side;
    }
    const float width = room / 2 - px(2);
    for (std::size_t end = 0; end < 2; ++end) {
        NumberField field{
            .value = ends[end].value_or(0),
            .unit = quantity.unit,
            .low = end == 0 ? quantity.low : std::max(quantity.low, ends[0].value_or(-INFINITY)),
            .high = end == 0 ? std::min(quantity.high, ends[1].value_or(INFINITY)) : quantity.high,
            .width = width,
            .tooltip = fmt::format("{} value{}. The module allows: {}{}",
                                   end == 0 ? "Lowest" : "Highest", unit, module,
                                   pair ? ""
                                        : "\nThe other end is set beside the numbers as they are; "
                                          "change it as well."),
            .mixed = !ends[end]};
        if (end == 1) ImGui::SameLine(0, px(4));
        ImGui::PushID(static_cast<int>(end));
        const Edited edited = number_field("##bound", field);
        ImGui::PopID();
        if (edited != Edited::no) {
            // Without another end: what the module allows, or far beside the numbers as they are.
            const std::size_t other = 1 - end;
            double opposite = other == 0 ? quantity.low : quantity.high;
            if (ends[other]) {
                opposite = *ends[other];
            } else if (!std::isfinite(opposite)) {
                double reach = std::max(std::abs(field.value), 1.0);
                for (const double v : quantity.values) reach = std::max(reach, std::abs(v));
                opposite = other == 0 ? -10 * reach : 10 * reach;
            }
            scene.set(pointer,
                      Node::array({Node(end == 0 ? field.value : opposite),
                                   Node(end == 0 ? opposite : field.value)}),
                      name, pointer);
        }
        if (edited == Edited::done) scene.edit([](session::Editor& e) { e.end_merge(); });
    }
    if (written != nullptr) {
        ImGui::SameLine(0, px(4));
        if (icon_button("no_bounds", icon::close,
                        "Takes the bounds away: what the module allows holds alone: " + module))
            scene.edit([&](session::Editor& e) { e.erase(pointer, name); });
    }
    ImGui::PopID();
}

void edit_parameter(Topics& work, const std::string& pointer, const Node& rows) {
    const std::string path = path_at(work.scene, pointer);
    const session::QuantityInfo* const quantity = quantity_of(work.running, path);
    label("path", "Which numbers are optimized: name.field, name.field[i] or name.field[i].x");
    const float side = ImGui::GetFrameHeight() + px(8);
    std::string text = path;
    if (ImGui::CalcTextSize(path.c_str()).x + 2 * ImGui::GetStyle().FramePadding.x >
        ImGui::GetContentRegionAvail().x - side)
        ImGui::NewLine();
    ImGui::SetNextItemWidth(ImGui::GetContentRegionAvail().x - side);
    if (ImGui::InputText("##path", &text, ImGuiInputTextFlags_EnterReturnsTrue))
        work.scene.edit([&](session::Editor& e) { e.set_parameter_path(pointer, text); });
    tip("Enter takes it over");
    ImGui::SameLine(0, px(4));
    if (icon_button("paths", icon::list, "Choose among what can be optimized"))
        ImGui::OpenPopup("choose path");
    if (ImGui::BeginPopup("choose path")) {
        if (const std::string chosen = choose_path(work); !chosen.empty())
            work.scene.edit([&](session::Editor& e) { e.set_parameter_path(pointer, chosen); });
        ImGui::EndPopup();
    }
    if (quantity != nullptr) {
        const auto [low, high] = quantity->values.empty()
                                     ? std::ranges::min_max_result<double>{0, 0}
                                     : std::ranges::minmax(quantity->values);
        const std::string object = quantity->scene_pointer.substr(
            0, quantity->scene_pointer.rfind('/') > 0 ? quantity->scene_pointer.rfind('/')
                                                      : std::string::npos);
        label("numbers", "What it is of, as shown now");
        if (ImGui::TextLink(fmt::format("{}{}{}", number_text(low, 4),
                                        low == high ? "" : " to " + number_text(high, 4),
                                        quantity->unit.empty() ? "" : " " + quantity->unit)
                                .c_str()))
            work.chosen.select({object, -1, ""});
        tip("Shows " + quantity->path + " in the inspector, with its gradient");
        label("module", "What the module that has these numbers allows; bounds come on top of it");
        quiet_text(range_text(quantity->low, quantity->high, quantity->unit));
        edit_bounds(work.scene, pointer, *quantity, form_part);
    } else {
        quiet_text("The scene does not run with this path.");
    }
    // The group: that of its path, or one that has a name.
    const Node* const written = work.scene.document().find(pointer + "/group");
    const std::string group = written != nullptr && written->is_string() ? written->string() : "";
    label("group", "Parameters of a group share a factor on the optimizer's rate");
    const float add = ImGui::GetFrameHeight() + px(8);
    ImGui::SetNextItemWidth(ImGui::GetContentRegionAvail().x - add);
    if (ImGui::BeginCombo("##group", group.empty() ? "its path" : group.c_str())) {
        if (ImGui::Selectable("its path", group.empty()))
            work.scene.edit([&](session::Editor& e) { e.set_group(pointer, ""); });
        tip("It is alone in a group, " + path);
        for (const session::Editor::Group& g : work.scene.editor().groups())
            if (g.name != path && ImGui::Selectable(g.name.c_str(), g.name == group))
                work.scene.edit([&](session::Editor& e) { e.set_group(pointer, g.name); });
        ImGui::EndCombo();
    }
    tip("Parameters of a group share a factor on the optimizer's rate");
    ImGui::SameLine(0, px(4));
    if (icon_button("new_group", icon::add, "A new group with this parameter"))
        work.scene.edit([&](session::Editor& e) {
            work.chosen.select({e.add_group(pointer), -1, ""});
        });
    if (work.scene.document().find(pointer) == nullptr) return;
    // The quantity's own components are the choices.
    Node own = rows;
    if (Node* const axes = own.find("components"); axes != nullptr && quantity != nullptr) {
        Node names = Node::array();
        for (int c = 0; c < std::max(quantity->components, 1); ++c)
            names.push_back(Node(component_name(c, quantity->components)));
        axes->set("items", Node::object({{"enum", std::move(names)}}));
    }
    edit_by_schema(work, pointer, own, [&](const std::string& key) {
        if (work.scene.document().find(pointer + "/" + key) == nullptr && quantity != nullptr) {
            if (key == "components" && quantity->components < 2) return false;
            if (key == "select" && quantity->rows < 2) return false;
        }
        return key != "path" && key != "bounds" && key != "group";
    });
}

namespace {

constexpr const char* rate_help =
    "Factor on the optimizer's rate for all parameters of the group, and on each one's own";

void edit_rate(EditedScene& scene, const session::Editor::Group& group) {
    NumberField field{.value = group.rate.value_or(1),
                      .low = std::numeric_limits<double>::min(),
                      .tooltip = rate_help,
                      .mixed = false};
    const Edited edited = number_field("##rate", field);
    if (edited != Edited::no)
        scene.edit(
            [&](session::Editor& e) { e.set_group_rate(group.name, field.value, group.pointer); });
    if (edited == Edited::done) scene.edit([](session::Editor& e) { e.end_merge(); });
}

}  // namespace

void edit_group(Topics& work, const std::string& pointer) {
    const std::vector<session::Editor::Group> groups = work.scene.editor().groups();
    const auto group = std::ranges::find(groups, pointer, &session::Editor::Group::pointer);
    if (group == groups.end()) {
        wrapped_text("It is not there any more.", style().palette().quiet);
        return;
    }
    label("name", "What parameters say as \"group\"");
    std::string name = group->name;
    ImGui::SetNextItemWidth(-FLT_MIN);
    if (ImGui::InputText("##name", &name, ImGuiInputTextFlags_EnterReturnsTrue))
        work.scene.edit([&](session::Editor& e) {
            work.chosen.select({e.rename_group(group->name, name), -1, ""});
        });
    tip("Enter renames it, also in its parameters");
    label("rate", rate_help);
    edit_rate(work.scene, *group);
    heading("Its parameters");
    const auto document = work.scene.editor().document();  // this one, also after an edit
    const Node* const list = document->find("/parameters");
    for (std::size_t k = 0; list != nullptr && k < list->size(); ++k) {
        const std::string parameter = fmt::format("/parameters/{}", k);
        const std::string path = path_at(work.scene, parameter);
        const bool by_path = path == group->name && list->item(k).find("group") == nullptr;
        bool in = std::ranges::find(group->parameters, parameter) != group->parameters.end();
        ImGui::BeginDisabled(by_path);
        if (ImGui::Checkbox(fmt::format("{}##{}", path, k).c_str(), &in))
            work.scene.edit(
                [&](session::Editor& e) { e.set_group(parameter, in ? group->name : ""); });
        ImGui::EndDisabled();
        tip(by_path ? "It is in this group by its path. Put it into another one in its inspector, "
                      "or delete the group"
            : in    ? "Takes it out, into the group of its path; the last one takes the group along"
                    : "Puts it into this group");
    }
    ImGui::Spacing();
    if (text_button(icon::remove, "Delete group",
                    "Its factor goes; its parameters stay, each in the group of its path"))
        work.scene.edit([&](session::Editor& e) {
            e.remove_group(group->name);
            work.chosen.select({"/optimizer", -1, ""});
        });
}

void edit_groups(Topics& work) {
    heading("Groups");
    for (const session::Editor::Group& group : work.scene.editor().groups()) {
        ImGui::PushID(group.pointer.c_str());
        const float start = ImGui::GetCursorPosX();
        const float column = label_width(form_part);
        ImGui::AlignTextToFramePadding();
        if (ImGui::TextLink(group.name.c_str())) work.chosen.select({group.pointer, -1, ""});
        tip(fmt::format("{} parameter{}: shows the group in the inspector", group.parameters.size(),
                        group.parameters.size() == 1 ? "" : "s"));
        if (ImGui::GetItemRectSize().x + px(8) > column)
            ImGui::SetCursorPosX(start + column);
        else
            ImGui::SameLine(start + column);
        edit_rate(work.scene, group);
        ImGui::PopID();
    }
    if (text_button(icon::add, "Add group", "A group of parameters with a factor on their rate"))
        ImGui::OpenPopup("add group");
    if (ImGui::BeginPopup("add group")) {
        group_items(work);
        ImGui::EndPopup();
    }
}

}  // namespace hindcast::gui
