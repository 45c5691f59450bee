// A quantity: something with a path. Its numbers are edited where they stand in the document; what
// is not written yet (the default) is written with the first edit, what is generated says so.
#include <fmt/format.h>
#include <imgui.h>
#include <imgui_internal.h>

#include <algorithm>
#include <cmath>

#include "app/gui/draw/widgets.hpp"
#include "app/gui/draw/words.hpp"
#include "app/gui/input/gestures.hpp"
#include "app/gui/input/picking.hpp"
#include "app/gui/panels/entry_place.hpp"
#include "app/gui/panels/inspector_fields.hpp"
#include "app/gui/work/picture.hpp"
#include "app/gui/work/state/chosen.hpp"
#include "app/gui/work/state/edited_scene.hpp"
#include "app/gui/work/state/requests.hpp"
#include "app/gui/work/state/running.hpp"
#include "app/gui/work/topics.hpp"
#include "app/gui/work/values/handover.hpp"
#include "engine/document/values.hpp"
#include "engine/model/element_names.hpp"
#include "engine/sim/scene/path.hpp"

namespace hindcast::gui {

namespace {

using document::Node;
using session::FormKind;

constexpr std::size_t most_rows = 64;   // of a list of numbers, in one view
constexpr std::size_t most_names = 24;  // in one menu

std::string component_text(const session::QuantityInfo& q, std::size_t index) {
    const auto components = static_cast<std::size_t>(std::max(q.components, 1));
    return component_name(static_cast<int>(index % components), q.components);
}

// The gradient beside a value: its sign as a color, its size as a number.
void gradient_text(double gradient, const std::string& unit, float width) {
    const std::string text = number_text(gradient, 3);
    const float own = ImGui::CalcTextSize(text.c_str()).x;
    ImGui::SetCursorPosX(ImGui::GetCursorPosX() + std::max(width - own, 0.0F));
    ImGui::AlignTextToFramePadding();
    ImGui::TextColored(style().palette().gradient, "%s", text.c_str());
    tip(fmt::format("dLoss / d(this): {}{}\nA small increase of the value {} the loss.",
                    number_text(gradient, 9), unit.empty() ? "" : " per " + unit,
                    gradient > 0   ? "raises"
                    : gradient < 0 ? "lowers"
                                   : "does not change"));
}

// While it optimizes, gradients of what is not optimized wait: their place is kept.
bool gradient_waits(const Running& running, const session::QuantityInfo& q) {
    return q.gradient.empty() && q.may_optimize && !running.now().run.terms.empty() &&
           running.is_optimizing();
}

void waiting_text(float width) {
    ImGui::SetCursorPosX(ImGui::GetCursorPosX() +
                         std::max(width - ImGui::CalcTextSize("...").x, 0.0F));
    ImGui::AlignTextToFramePadding();
    quiet_text("...");
    tip("Its gradient is computed when the optimization pauses");
}

// The numbers that the module takes where nothing is written; the present numbers where its row
// does not say.
std::vector<double> unwritten(const EditedScene& scene, const session::QuantityInfo& q) {
    const std::size_t slash = q.scene_pointer.rfind('/');
    const std::string object = q.scene_pointer.substr(0, slash);
    const Node* const type = scene.document().find(object + "/type");
    if (slash == 0 || type == nullptr || !type->is_string()) return q.values;
    const std::string key = q.scene_pointer.substr(slash + 1);
    for (const model::Section section : model::all_sections) {
        if (!object.starts_with(std::string("/") + model::name_of(section) + "/")) continue;
        const model::ModuleType* const module = scene.registry().find(section, type->string());
        if (module == nullptr) continue;
        for (const model::Field& field : module->fields)
            if (field.key == key && field.fallback_json == "zero")
                return std::vector<double>(q.values.size(), 0.0);
    }
    return q.values;
}

void open_menu(ImGuiID menu, int entry) {
    if (!happens(Gesture::quantity_menu) || !ImGui::IsItemHovered()) return;
    ImGui::GetStateStorage()->SetInt(menu, entry);
    ImGui::OpenPopup(menu);
}

// One entry of a quantity, in what is left of the line.
void entry(Topics& work, const session::QuantityInfo& q, std::size_t index, const std::string& help,
           ImGuiID menu) {
    const EntryPlace place =
        place_of_entry(work.scene.document(), q, index, unwritten(work.scene, q));
    const bool has_gradient = index < q.gradient.size();
    const bool waits = gradient_waits(work.running, q), beside = has_gradient || waits;
    const float side = beside ? ImGui::CalcTextSize("-8.88e-88").x : 0;
    const float width = ImGui::GetContentRegionAvail().x - (beside ? side + px(8) : 0);
    if (place.pointer.empty()) {
        const float left = ImGui::GetCursorPosX();
        ImGui::AlignTextToFramePadding();
        cut_text(number_text(q.values[index], 6) + (q.unit.empty() ? "" : " " + q.unit), width);
        tip(help + "\n\n" + place.why_not);
        open_menu(menu, static_cast<int>(index));
        if (beside) ImGui::SameLine(left + width + px(8));
    } else {
        NumberField field{.value = q.values[index], .unit = q.unit, .low = q.low, .high = q.high};
        // An edited value is shown before the simulation has it.
        if (work.handover.is_behind())
            if (const Node* const edit = work.scene.document().find(place.pointer); edit != nullptr)
                field.value = plain_number(*edit).value_or(field.value);
        field.width = width;
        field.tooltip = help;
        const Edited edited = number_field("##value", field);
        open_menu(menu, static_cast<int>(index));
        if (edited != Edited::no) {
            const std::string merge = fmt::format("{}#{}", q.scene_pointer, index);
            work.scene.set(place.pointer, place.written(field.value), "Change " + q.path, merge);
        }
        if (edited == Edited::done) work.scene.edit([](session::Editor& e) { e.end_merge(); });
        if (beside) ImGui::SameLine(0, px(8));
    }
    if (has_gradient) gradient_text(q.gradient[index], q.unit, side);
    if (waits) waiting_text(side);
}

// The names that entry `index` of the quantity may have among the parameters' ("ball.velocity.x",
// "cage.rest_length[3]"), and the one that it has; "" if it is not optimized.
std::string optimized_name(const session::ValuesSnapshot& values, const session::QuantityInfo& q,
                           std::size_t index) {
    const auto components = static_cast<std::size_t>(std::max(q.components, 1));
    const std::string tail = components > 1 ? "." + component_text(q, index) : "";
    const std::size_t element = index / components;
    std::string named = q.names ? q.names->name(static_cast<std::int64_t>(element)) : "";
    named = named.empty() ? fmt::format("[{}]", element) : Path::in_brackets(named);
    named.insert(0, q.path).append(tail);
    for (const std::string& name : {q.path + tail, named})
        for (const session::ParameterInfo& p : values.present_parameters())
            if (std::ranges::find(p.names, name) != p.names.end()) return name;
    return "";
}

void sweep(Topics& work, const std::string& name) {
    work.running.send(session::Scan{{name, ""}, {0, 0}, 41});
    work.requests.focus_panel = "Landscape";
}

// Why there is nothing to sweep and to plot.
std::string why_not_optimized(const session::QuantityInfo& q, bool some) {
    if (!q.may_optimize)
        return "Only what is optimized can be swept and plotted, and this has no gradient: nothing "
               "optimizes it.";
    if (some)
        return "Its parameter leaves this number out. Change the parameter's components or "
               "selection, in the scene tree.";
    return "Only what is optimized can be swept and plotted: choose \"Optimize it\" here, or close "
           "its lock.";
}

// Numbers in place of what generates them: they can then be edited one by one, and moved by hand.
void write_item(Topics& work, const session::QuantityInfo& q, const Node* written) {
    const auto all = static_cast<std::size_t>(q.rows * q.components);
    std::string why;
    if (written != nullptr && !written->is_object())
        why = "They are written as numbers already";
    else if (q.values.size() < all)
        why = fmt::format(
            "{} numbers are too many for a scene file to hold (at most {}): keep them in a .npy "
            "file, {{\"file\": ...}}",
            all, q.values.size());
    else if (work.handover.is_behind())
        why = "The simulation does not have the last edit yet";
    if (ImGui::MenuItem("Write as numbers", nullptr, false, why.empty())) {
        work.scene.set(q.scene_pointer, document::written_form(q.values, q.components, q.shared),
                       fmt::format("Write {} as numbers", q.path));
        work.scene.edit([](session::Editor& e) { e.end_merge(); });
    }
    tip(!why.empty() ? why
                     : fmt::format("Writes the {} numbers that are shown into the scene file, in "
                                   "place of {}",
                                   all, written == nullptr ? "the default" : "what makes them"));
}

void context_menu(Context& context, const session::QuantityInfo& q, ImGuiID menu) {
    const int chosen = q.values.size() == 1 ? 0 : ImGui::GetStateStorage()->GetInt(menu, -1);
    if (!ImGui::BeginPopup("quantity")) return;
    Topics& work = context.work;
    const bool one = chosen >= 0 && static_cast<std::size_t>(chosen) < q.values.size();
    std::vector<std::string> names;  // of the entries that the menu is about
    for (std::size_t k = one ? static_cast<std::size_t>(chosen) : 0;
         k < (one ? static_cast<std::size_t>(chosen) + 1 : q.values.size()) &&
         names.size() < most_names;
         ++k)
        if (std::string name = optimized_name(work.running.now().values, q, k); !name.empty())
            names.push_back(std::move(name));
    const bool optimized = work.scene.editor().is_optimized(q.path);
    if (ImGui::MenuItem(optimized ? "Take out of the optimization" : "Optimize it", nullptr, false,
                        optimized || q.may_optimize))
        work.scene.edit([&](session::Editor& e) { e.set_optimized(q.path, !optimized); });
    tip(optimized        ? "Opens its lock: the optimization leaves " + q.path + " as it is"
        : q.may_optimize ? "Closes its lock: the optimization may change " + q.path
                         : "It has no gradient, so nothing can optimize it");
    const std::string why = names.empty() ? why_not_optimized(q, optimized) : "";
    if (names.size() <= 1) {
        if (ImGui::MenuItem("Sweep it", nullptr, false, !names.empty())) sweep(work, names.front());
        tip(!why.empty() ? why
                         : "Computes the loss along " + names.front() + ", in the background");
    } else {
        const bool open = ImGui::BeginMenu("Sweep");
        if (!open) tip("Computes the loss along one of its numbers, in the background");
        if (open) {
            for (const std::string& name : names) {
                if (ImGui::MenuItem(name.c_str())) sweep(work, name);
                tip("Computes the loss along " + name);
            }
            if (names.size() == most_names)
                quiet_text("Others: a right click on the number in the list");
            ImGui::EndMenu();
        }
    }
    if (ImGui::MenuItem("Plot it", nullptr, false, !names.empty())) {
        work.requests.plot_only = one && names.size() == 1 ? names.front() : q.path;
        work.requests.focus_panel = "Plots";
    }
    tip(why.empty() ? "Shows it over the iterations, alone" : why);
    const Node* written = work.scene.document().find(q.scene_pointer);
    write_item(work, q, written);
    if (ImGui::MenuItem("Reset to the default", nullptr, false, written != nullptr))
        work.scene.edit([&](session::Editor& e) { e.reset(q.scene_pointer); });
    tip(written == nullptr ? "It is not written in the scene: its default holds already"
                           : "Takes it out of the scene file, so that its default holds. If it is "
                             "optimized, its default is written out; if it has none, it is not "
                             "optimized any more");
    const std::string path = one && !names.empty() ? names.front() : q.path;
    if (ImGui::MenuItem("Copy its path")) ImGui::SetClipboardText(path.c_str());
    tip(path + ": what the command line and studies call it");
    ImGui::EndPopup();
}

void lock(EditedScene& scene, const session::QuantityInfo& q) {
    if (!q.may_optimize) {
        ImGui::Dummy({ImGui::GetFrameHeight() + px(4), 0});
        ImGui::SameLine(0, px(4));
        return;
    }
    const bool optimized = scene.editor().is_optimized(q.path);
    ImGui::PushStyleColor(ImGuiCol_Text,
                          optimized ? style().palette().gradient : style().palette().quiet);
    const bool toggled =
        icon_button("lock", optimized ? icon::lock : icon::unlock,
                    optimized ? "It is optimized: open the lock to keep it as it is"
                              : "It is fixed: close the lock to let the optimization change it");
    ImGui::PopStyleColor();
    if (toggled) scene.edit([&](session::Editor& e) { e.set_optimized(q.path, !optimized); });
    ImGui::SameLine(0, px(4));
}

// A list: how large its numbers are, and all of them on request.
void list(Context& context, const session::QuantityInfo& q, float start, const std::string& help,
          ImGuiID menu) {
    Topics& work = context.work;
    const std::size_t count = q.values.size();
    const auto components = static_cast<std::size_t>(std::max(q.components, 1));
    const bool open =
        ImGui::TreeNodeEx(fmt::format("{} numbers###list", q.rows * q.components).c_str(),
                          ImGuiTreeNodeFlags_SpanAvailWidth | ImGuiTreeNodeFlags_NoTreePushOnOpen);
    tip(help);
    open_menu(menu, -1);
    if (!open) {
        ImGui::SetCursorPosX(start);
        const std::string range =
            fmt::format("{} to {} {}", number_text(q.least, 4), number_text(q.most, 4), q.unit);
        quiet_text(range);
        if (q.gradient.empty()) return;
        const std::string text = "|gradient| " + number_text(q.gradient_norm, 3);
        const float needed = ImGui::CalcTextSize((range + text).c_str()).x + px(14);
        if (start + needed < ImGui::GetCursorPosX() + ImGui::GetContentRegionAvail().x)
            ImGui::SameLine(0, px(14));
        else
            ImGui::SetCursorPosX(start);
        ImGui::TextColored(style().palette().gradient, "%s", text.c_str());
        tip("Euclidean norm of dLoss / d(these numbers); open the list for each of them");
        return;
    }
    const std::size_t shown = std::min(count, most_rows * components);
    std::size_t first = 0;
    // The list begins with what was picked in the picture, if it is a list of such.
    const std::int64_t row =
        selected_row(context.picture.stage(), work.scene.name_at(work.chosen.object.pointer),
                     work.chosen.object.part(), q.rows);
    if (row > 0)
        first =
            std::min(static_cast<std::size_t>(row) * components, count > shown ? count - shown : 0);
    // Names take as much of the line as they need, up to a third.
    float widest = ImGui::CalcTextSize("88888 x").x;
    for (std::size_t k = first; q.names && k < first + shown; ++k)
        widest = std::max(widest,
                          ImGui::CalcTextSize((element_label(q, k / components) + " x").c_str()).x);
    const float number = px(14) + std::min(widest, ImGui::GetContentRegionAvail().x / 3);
    for (std::size_t k = first; k < first + shown; ++k) {
        ImGui::PushID(static_cast<int>(k));
        ImGui::SetCursorPosX(start);
        ImGui::AlignTextToFramePadding();
        const std::string label =
            element_label(q, k / components) + (components > 1 ? " " + component_text(q, k) : "");
        cut_text(label, number - px(6));
        tip(help);
        open_menu(menu, static_cast<int>(k));
        ImGui::SameLine(start + number);
        entry(work, q, k, help, menu);
        ImGui::PopID();
    }
    if (shown < count) quiet_text(fmt::format("and {} more", count - shown));
}

// The choice among forms of the numbers, if they are written as more than a number or a vector, and
// the controls of the chosen form.
void written_as(FieldPlace& place, float start, const std::string& help) {
    const Node* const written = place.find("");
    if (written == nullptr || !place.written() || place.form().kind != FormKind::alternatives)
        return;
    const std::vector<session::Form>& parts = place.form().parts;
    const std::size_t which =
        session::alternative_of(place.form(), *written).value_or(parts.size());
    const session::Form* const now = which < parts.size() ? &parts[which] : nullptr;
    if (now != nullptr && now->kind != FormKind::word && (now->is_scalar() || now->is_vector()))
        return;
    const float left = ImGui::GetCursorPosX();
    ImGui::Indent(start - left);
    ImGui::PushID("written");
    ImGui::AlignTextToFramePadding();
    quiet_text("written as");
    tip(help);
    ImGui::SameLine(0, px(6));
    draw_choice_of_form(place, "", place.form(), help, false);
    if (now != nullptr) {
        const bool fold = now->kind == FormKind::list;
        const bool open =
            !fold || ImGui::TreeNodeEx("table", ImGuiTreeNodeFlags_SpanAvailWidth |
                                                    ImGuiTreeNodeFlags_NoTreePushOnOpen);
        if (fold) tip("The list as a table: rows are added, removed and pasted");
        if (open) draw_block(place, "", *now, now->help);
    }
    ImGui::PopID();
    ImGui::Unindent(start - left);
}

}  // namespace

void draw_quantity(Context& context, const session::QuantityInfo& q, const std::string& label,
                   const std::string& documentation, const session::Form* form,
                   const Picks* picks) {
    Topics& work = context.work;
    static const session::Form any{};
    FieldPlace place(work, q.scene_pointer, "Change " + q.path, form != nullptr ? *form : any, &q,
                     picks);
    const bool many_ways = form != nullptr && form->kind == FormKind::alternatives;
    ImGui::PushID(q.path.c_str());
    const ImGuiID menu = ImGui::GetID("quantity");
    lock(work.scene, q);
    const std::string help = fmt::format(
        "{}{}{}{}", q.path, documentation.empty() ? "" : "\n" + documentation,
        q.unit.empty() ? "" : "\nUnit: " + q.unit,
        q.rows * q.components > 1 ? fmt::format("\n{} x {} numbers", q.rows, q.components) : "");
    const std::size_t count = q.values.size();
    const auto components = static_cast<std::size_t>(std::max(q.components, 1));
    const bool is_vector = count <= components && count > 1;
    const bool is_list = count > components;
    const float start = ImGui::GetCursorPosX();
    // Beside the name if both can be read, else below it.
    const float room = ImGui::GetContentRegionAvail().x;
    const bool plain = q.gradient.empty() && !gradient_waits(work.running, q);
    const float needed =
        is_list
            ? ImGui::GetTreeNodeToLabelSpacing() +
                  ImGui::CalcTextSize(fmt::format("{} numbers", q.rows * q.components).c_str()).x
            : ImGui::CalcTextSize(plain ? "-8.88888 N" : "-8.88888 N -8.88e-88").x + px(16);
    const float column = std::min(label_width(), room - needed);
    const float arrow = many_ways ? ImGui::GetTextLineHeight() : 0;
    const float text = ImGui::CalcTextSize(session::in_words(label).c_str()).x;
    const bool beside = count > 0 && !is_vector && column - px(8) - arrow >= text;
    ImGui::AlignTextToFramePadding();
    ImGui::BeginGroup();
    cut_text(session::in_words(label), (beside ? column - px(8) : room) - arrow);
    ImGui::EndGroup();
    tip(help);
    open_menu(menu, -1);
    if (many_ways) {
        ImGui::SameLine(0, px(2));
        draw_ways(place, "", *form);
    }
    if (beside)
        ImGui::SameLine(start + column);
    else if (count == 1 || is_list)
        ImGui::SetCursorPosX(start + px(8));
    if (count == 1) {
        entry(work, q, 0, help, menu);
    } else if (is_vector) {
        for (std::size_t k = 0; k < count; ++k) {
            ImGui::PushID(static_cast<int>(k));
            ImGui::SetCursorPosX(start + px(8));
            ImGui::AlignTextToFramePadding();
            quiet_text(component_text(q, k));
            open_menu(menu, static_cast<int>(k));
            ImGui::SameLine(start + px(28));
            entry(work, q, k, help, menu);
            ImGui::PopID();
        }
    } else if (is_list) {
        list(context, q, start, help, menu);
    }
    context_menu(context, q, menu);
    if (many_ways) written_as(place, start, help);
    if (const std::vector<std::string> parameters = work.scene.editor().parameters_of(q.path);
        parameters.size() == 1) {
        ImGui::SetCursorPosX(start);
        edit_bounds(work.scene, parameters.front(), q);
    }
    ImGui::PopID();
}

}  // namespace hindcast::gui
