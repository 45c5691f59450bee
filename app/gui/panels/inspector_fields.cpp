#include "app/gui/panels/inspector_fields.hpp"

#include <fmt/format.h>
#include <imgui.h>
#include <imgui_internal.h>
#include <imgui_stdlib.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "app/gui/gestures.hpp"
#include "app/gui/picking.hpp"

namespace hindcast::gui {

namespace {

using document::Node;

constexpr std::size_t most_rows = 64;  // of a list of numbers, in one view
constexpr const char* axes[] = {"x", "y", "z", "w", "4", "5", "6", "7", "8"};

std::string words(const std::string& key) {
    std::string text = key;
    std::ranges::replace(text, '_', ' ');
    return text;
}

// The gradient beside a value: its sign as a colour, its size as a number.
void gradient_text(double gradient, const std::string& unit, float width) {
    const std::string text = number_text(gradient, 3);
    const float own = ImGui::CalcTextSize(text.c_str()).x;
    ImGui::SetCursorPosX(ImGui::GetCursorPosX() + std::max(width - own, 0.0F));
    ImGui::AlignTextToFramePadding();
    ImGui::TextColored(look().palette().gradient, "%s", text.c_str());
    tip(fmt::format("dLoss / d(this): {}{}\nA small increase of the value {} the loss.",
                    number_text(gradient, 9), unit.empty() ? "" : " per " + unit,
                    gradient > 0   ? "raises"
                    : gradient < 0 ? "lowers"
                                   : "does not change"));
}

// One entry of a quantity. The value's place in the document is `pointer`.
void entry(Workspace& work, const session::QuantityInfo& q, std::size_t index,
           const std::string& pointer, const std::string& help, const std::string& name) {
    NumberField field{.value = q.values[index], .unit = q.unit, .low = q.low, .high = q.high};
    const bool has_gradient = index < q.gradient.size();
    const float side = has_gradient ? px(72) : 0;
    field.width = ImGui::GetContentRegionAvail().x - (has_gradient ? side + px(8) : 0);
    field.tooltip = help;
    const Node* written = work.document().find(pointer);
    const bool editable =
        written != nullptr ? plain_number(*written).has_value() : !pointer.empty();
    ImGui::BeginDisabled(!editable);
    const Edited edited = number_field("##value", field);
    ImGui::EndDisabled();
    if (edited != Edited::no) work.set(pointer, Node(field.value), "Change " + name, pointer);
    if (edited == Edited::done) work.edit([](session::Editor& e) { e.end_merge(); });
    if (has_gradient) {
        ImGui::SameLine(0, px(8));
        gradient_text(q.gradient[index], q.unit, side);
    }
}

void context_menu(Context& context, const session::QuantityInfo& q) {
    if (happens(Gesture::quantity_menu) && ImGui::IsItemHovered()) ImGui::OpenPopup("quantity");
    if (!ImGui::BeginPopup("quantity")) return;
    Workspace& work = context.work;
    const auto parameter = std::ranges::find_if(
        work.now().parameters, [&](const session::ParameterInfo& p) { return p.path == q.path; });
    const bool is_parameter = parameter != work.now().parameters.end() && !parameter->names.empty();
    if (ImGui::MenuItem("Sweep it", nullptr, false, is_parameter)) {
        work.send(session::Scan{{parameter->names.front(), ""}, {0, 0}, 41});
        work.focus_panel = "Landscape";
    }
    tip("Computes the loss along this number, in the background");
    if (ImGui::MenuItem("Plot it", nullptr, false, is_parameter)) {
        work.select({work.selection().pointer, -1, q.path});
        work.focus_panel = "Plots";
    }
    tip("Shows it over the iterations");
    if (q.may_optimise &&
        ImGui::MenuItem(q.optimised ? "Take out of the optimisation" : "Optimise it"))
        work.edit([&](session::Editor& e) { e.set_optimised(q.path, !q.optimised); });
    const Node* written = work.document().find(q.scene_pointer);
    if (ImGui::MenuItem("Reset to the default", nullptr, false, written != nullptr))
        work.edit([&](session::Editor& e) { e.reset(q.scene_pointer); });
    tip("Takes it out of the scene file, so that its default holds. If it is optimised, its "
        "default "
        "is written out; if it has none, it is not optimised any more");
    if (ImGui::MenuItem("Copy its path")) ImGui::SetClipboardText(q.path.c_str());
    tip("What the command line and studies call it");
    ImGui::EndPopup();
}

}  // namespace

void draw_quantity(Context& context, const session::QuantityInfo& q, const std::string& label,
                   const std::string& documentation) {
    Workspace& work = context.work;
    ImGui::PushID(q.path.c_str());
    const bool optimised = work.editor().is_optimised(q.path);
    if (q.may_optimise) {
        ImGui::PushStyleColor(ImGuiCol_Text,
                              optimised ? look().palette().gradient : look().palette().quiet);
        const bool toggled = icon_button(
            "lock", optimised ? icon::lock : icon::unlock,
            optimised ? "It is optimised: open the lock to keep it as it is"
                      : "It is fixed: close the lock to let the optimisation change it");
        ImGui::PopStyleColor();
        if (toggled) work.edit([&](session::Editor& e) { e.set_optimised(q.path, !optimised); });
        ImGui::SameLine(0, px(4));
    } else {
        ImGui::Dummy({ImGui::GetFrameHeight() + px(4), 0});
        ImGui::SameLine(0, px(4));
    }
    const std::string help = fmt::format(
        "{}{}{}{}", q.path, documentation.empty() ? "" : "\n" + documentation,
        q.unit.empty() ? "" : "\nUnit: " + q.unit,
        q.rows * q.components > 1 ? fmt::format("\n{} x {} numbers", q.rows, q.components) : "");
    const std::size_t count = q.values.size();
    const auto components = static_cast<std::size_t>(std::max(q.components, 1));
    const float column = std::max(px(104), ImGui::GetContentRegionAvail().x * 0.34F);
    ImGui::AlignTextToFramePadding();
    const float start = ImGui::GetCursorPosX();
    ImGui::BeginGroup();
    if (count <= components && count > 1)
        ImGui::TextUnformatted(words(label).c_str());
    else
        cut_text(words(label), column - px(8));
    ImGui::EndGroup();
    tip(help);
    context_menu(context, q);
    if (count == 1) {
        ImGui::SameLine(start + column);
        entry(work, q, 0, q.scene_pointer, help, q.path);
    } else if (count <= components) {
        const Node* written = work.document().find(q.scene_pointer);
        const bool listed = written == nullptr || written->is_array();
        for (std::size_t k = 0; k < count; ++k) {
            ImGui::PushID(static_cast<int>(k));
            ImGui::SetCursorPosX(start + px(8));
            ImGui::AlignTextToFramePadding();
            quiet_text(axes[std::min<std::size_t>(k, 8)]);
            ImGui::SameLine(start + px(28));
            entry(work, q, k,
                  listed && written != nullptr ? fmt::format("{}/{}", q.scene_pointer, k) : "",
                  help, q.path);
            ImGui::PopID();
        }
    } else {
        // A list: how large its numbers are, and all of them on request.
        const auto [low, high] = std::ranges::minmax(q.values);
        ImGui::SameLine(start + column);
        const bool open = ImGui::TreeNodeEx(
            "list", ImGuiTreeNodeFlags_SpanAvailWidth | ImGuiTreeNodeFlags_NoTreePushOnOpen, "%s",
            fmt::format("{} numbers", q.rows * q.components).c_str());
        tip(help);
        if (!open) {
            ImGui::SetCursorPosX(start);
            quiet_text(
                fmt::format("{} to {} {}", number_text(low, 4), number_text(high, 4), q.unit));
            if (!q.gradient.empty()) {
                double square = 0;
                for (const double g : q.gradient) square += g * g;
                ImGui::SameLine(0, px(14));
                ImGui::TextColored(look().palette().gradient, "|gradient| %s",
                                   number_text(std::sqrt(square), 3).c_str());
                tip("Euclidean norm of dLoss / d(these numbers); open the list for each of them");
            }
        }
        if (open) {
            const Node* written = work.document().find(q.scene_pointer);
            const std::size_t shown = std::min(count, most_rows * components);
            std::size_t first = 0;
            // The list begins with what was picked in the picture, if it is a list of such.
            const std::int64_t row =
                selected_row(context.picture.stage(), work.name_at(work.selection().pointer),
                             work.selection().part(), q.rows);
            if (row > 0)
                first = std::min(static_cast<std::size_t>(row) * components,
                                 count > shown ? count - shown : 0);
            const float number = px(14) + ImGui::CalcTextSize("88888 x").x;
            for (std::size_t k = first; k < first + shown; ++k) {
                ImGui::PushID(static_cast<int>(k));
                ImGui::SetCursorPosX(start);
                ImGui::AlignTextToFramePadding();
                quiet_text(components > 1
                               ? fmt::format("{} {}", k / components,
                                             axes[std::min<std::size_t>(k % components, 8)])
                               : fmt::format("{}", k));
                ImGui::SameLine(start + number);
                std::string pointer;
                if (written != nullptr && written->is_array())
                    pointer = components > 1 ? fmt::format("{}/{}/{}", q.scene_pointer,
                                                           k / components, k % components)
                                             : fmt::format("{}/{}", q.scene_pointer, k);
                entry(work, q, k, pointer, help, q.path);
                ImGui::PopID();
            }
            if (shown < count) quiet_text(fmt::format("and {} more", count - shown));
            if (written != nullptr && !written->is_array()) {
                ImGui::SetCursorPosX(start);
                quiet_text("Written as " + document::describe(*written));
            }
        }
    }
    ImGui::PopID();
}

void edit_plain_field(Workspace& work, const std::string& pointer, const model::Field& field) {
    const Node* written = work.document().find(pointer);
    const std::string object = pointer.substr(0, pointer.rfind('/'));
    const std::string name = "Change " + work.name_at(object) + "." + field.key;
    std::string help = field.documentation;
    if (!field.unit_text.empty()) help += "\nUnit: " + field.unit_text;
    if (!field.fallback_json.empty() && field.fallback_json != "none")
        help += "\nDefault: " + field.fallback_json;
    const float indent = ImGui::GetFrameHeight() + px(8);
    ImGui::SetCursorPosX(ImGui::GetCursorPosX() + indent);
    const float start = ImGui::GetCursorPosX();
    const float column = std::max(px(104), ImGui::GetContentRegionAvail().x * 0.34F);
    ImGui::AlignTextToFramePadding();
    cut_text(words(field.key), column - px(8));
    tip(help);
    ImGui::SameLine(start + column);
    Node fallback;
    if (!field.fallback_json.empty() && field.fallback_json != "none" &&
        field.fallback_json != "zero") {
        try {
            fallback = document::Document::parse(field.fallback_json).root();
        } catch (const Error&) {
            fallback = Node();  // a word, shown as it is
        }
    }
    const Node& value = written != nullptr ? *written : fallback;
    switch (field.kind) {
        case model::FieldKind::number:
        case model::FieldKind::values:
        case model::FieldKind::integer: {
            const auto number = plain_number(value);
            if (!number && !value.is_null() && !value.is_string()) {
                quiet_text(document::describe(value));
                tip(document::to_line(value));
                return;
            }
            NumberField edit{.value = number.value_or(0),
                             .unit = field.unit_text,
                             .low = field.low,
                             .high = field.high,
                             .whole = field.kind == model::FieldKind::integer,
                             .tooltip = help,
                             .mixed = !number};
            const Edited edited = number_field("##value", edit);
            if (edited != Edited::no)
                work.set(
                    pointer,
                    edit.whole ? Node(static_cast<std::int64_t>(edit.value)) : Node(edit.value),
                    name, pointer);
            if (edited == Edited::done) work.edit([](session::Editor& e) { e.end_merge(); });
            return;
        }
        case model::FieldKind::boolean: {
            if (!value.is_boolean() && !value.is_null()) break;
            bool on = value.is_boolean() && value.boolean();
            if (ImGui::Checkbox("##value", &on)) work.set(pointer, Node(on), name);
            tip(help);
            return;
        }
        case model::FieldKind::choice: {
            std::string chosen = value.is_string() ? value.string() : "";
            if (choice("##value", field.choices, chosen, help))
                work.set(pointer, Node(chosen), name);
            return;
        }
        case model::FieldKind::body: {
            std::vector<std::string> bodies;
            const Node* list = work.document().find("/bodies");
            for (std::size_t k = 0; list != nullptr && k < list->size(); ++k)
                bodies.push_back(work.name_at(fmt::format("/bodies/{}", k)));
            std::string chosen = value.is_string() ? value.string() : "";
            if (choice("##value", bodies, chosen, help)) work.set(pointer, Node(chosen), name);
            return;
        }
        case model::FieldKind::text: {
            std::string text = value.is_string() ? value.string() : "";
            ImGui::SetNextItemWidth(-FLT_MIN);
            if (ImGui::InputText("##value", &text, ImGuiInputTextFlags_EnterReturnsTrue))
                work.set(pointer, Node(text), name);
            tip(help + "\nEnter takes it over");
            return;
        }
        default: break;
    }
    // What the module reads itself: shown, and edited as text.
    ImGui::AlignTextToFramePadding();
    const std::string line = value.is_null() ? "-" : document::to_line(value);
    if (icon_button("text", icon::code, "Edit it in the scene file's text")) {
        work.select({object, -1, field.key});
        work.focus_panel = "Scene file";
    }
    ImGui::SameLine(0, px(4));
    ImGui::PushStyleColor(ImGuiCol_Text, look().palette().quiet);
    cut_text(line.substr(0, 200), ImGui::GetContentRegionAvail().x);
    ImGui::PopStyleColor();
}

void edit_by_schema(Workspace& work, const std::string& pointer, const Node& rows,
                    const std::function<bool(const std::string&)>& wanted) {
    for (std::size_t k = 0; k < rows.size(); ++k) {
        const std::string& key = rows.key(k);
        const Node& row = rows.item(k);
        if (wanted && !wanted(key)) continue;
        const std::string at = pointer + "/" + key;
        const auto text = [&](const char* member) {
            const Node* n = row.find(member);
            return n != nullptr && n->is_string() ? n->string() : std::string();
        };
        const Node* written = work.document().find(at);
        const Node* fallback = row.find("default");
        const Node* value = written != nullptr ? written : fallback;
        std::string help = text("description");
        if (fallback != nullptr) help += "\nDefault: " + document::to_line(*fallback);
        ImGui::PushID(key.c_str());
        const float start = ImGui::GetCursorPosX();
        const float column = std::max(px(104), ImGui::GetContentRegionAvail().x * 0.40F);
        ImGui::AlignTextToFramePadding();
        cut_text(words(key), column - px(8));
        tip(help);
        ImGui::SameLine(start + column);
        // A missing object is made with its first member.
        const auto put = [&](Node fresh) {
            if (work.document().find(pointer) == nullptr) {
                Node object = Node::object();
                object.set(key, std::move(fresh));
                work.set(pointer, std::move(object), "Change " + words(key));
            } else {
                work.set(at, std::move(fresh), "Change " + words(key), at);
            }
        };
        const Node* type = row.find("type");
        const Node* words_allowed = row.find("enum");
        const bool reference = row.find("$ref") != nullptr;
        const auto is_type = [&](const char* name) {
            if (type == nullptr) return false;
            if (type->is_string()) return type->string() == name;
            for (std::size_t j = 0; j < type->size(); ++j)
                if (type->item(j).is_string() && type->item(j).string() == name) return true;
            return false;
        };
        if (words_allowed != nullptr) {
            std::vector<std::string> list;
            for (std::size_t j = 0; j < words_allowed->size(); ++j)
                if (words_allowed->item(j).is_string())
                    list.push_back(words_allowed->item(j).string());
            std::string chosen = value != nullptr && value->is_string() ? value->string() : "";
            if (choice("##value", list, chosen, help)) put(Node(chosen));
        } else if (is_type("boolean")) {
            bool on = value != nullptr && value->is_boolean() && value->boolean();
            if (ImGui::Checkbox("##value", &on)) put(Node(on));
            tip(help);
        } else if (is_type("integer") || is_type("number") || (reference && key != "path")) {
            const auto limit = [&](const char* name, double otherwise) {
                const Node* n = row.find(name);
                return n != nullptr ? plain_number(*n).value_or(otherwise) : otherwise;
            };
            const double infinite = std::numeric_limits<double>::infinity();
            const bool positive = reference || row.find("exclusiveMinimum") != nullptr;
            const std::optional<double> number =
                value != nullptr ? plain_number(*value) : std::nullopt;
            NumberField field{
                .value = number.value_or(0),
                .unit = text("unit"),
                .low = limit("minimum", positive ? std::numeric_limits<double>::min() : -infinite),
                .high = limit("maximum", limit("exclusiveMaximum", infinite)),
                .whole = is_type("integer"),
                .tooltip = help,
                .mixed = !number};
            const Edited edited = number_field("##value", field);
            if (edited != Edited::no)
                put(field.whole ? Node(static_cast<std::int64_t>(field.value)) : Node(field.value));
            if (edited == Edited::done) work.edit([](session::Editor& e) { e.end_merge(); });
        } else if (is_type("object") && row.find("properties") != nullptr) {
            const bool open = ImGui::TreeNodeEx(
                "group", ImGuiTreeNodeFlags_SpanAvailWidth | ImGuiTreeNodeFlags_NoTreePushOnOpen,
                "%s", written != nullptr ? "set" : "not set");
            tip(help);
            if (open) {
                ImGui::Indent(px(12));
                edit_by_schema(work, at, *row.find("properties"), nullptr);
                ImGui::Unindent(px(12));
            }
        } else if (key == "bounds") {
            for (int end = 0; end < 2; ++end) {
                const std::optional<double> number =
                    written != nullptr && written->size() == 2
                        ? plain_number(written->item(static_cast<std::size_t>(end)))
                        : std::nullopt;
                NumberField field{
                    .value = number.value_or(0),
                    .unit = "",
                    .width = end == 0 ? ImGui::GetContentRegionAvail().x / 2 - px(4) : 0,
                    .tooltip = end == 0 ? "Lowest value" : "Highest value",
                    .mixed = !number};
                if (end == 1) ImGui::SameLine(0, px(8));
                ImGui::PushID(end);
                const Edited edited = number_field("##bound", field);
                ImGui::PopID();
                if (edited == Edited::no) continue;
                const double other =
                    written != nullptr && written->size() == 2
                        ? plain_number(written->item(static_cast<std::size_t>(1 - end))).value_or(0)
                        : (end == 0 ? field.value + 1 : field.value - 1);
                Node pair = Node::array();
                pair.push_back(Node(end == 0 ? field.value : other));
                pair.push_back(Node(end == 0 ? other : field.value));
                put(std::move(pair));
                if (edited == Edited::done) work.edit([](session::Editor& e) { e.end_merge(); });
            }
        } else if (is_type("string") || key == "path") {
            std::string word = value != nullptr && value->is_string() ? value->string() : "";
            ImGui::SetNextItemWidth(-FLT_MIN);
            if (ImGui::InputText("##value", &word, ImGuiInputTextFlags_EnterReturnsTrue))
                put(Node(word));
            tip(help + "\nEnter takes it over");
        } else {
            ImGui::PushStyleColor(ImGuiCol_Text, look().palette().quiet);
            cut_text(value != nullptr ? document::to_line(*value) : "-",
                     ImGui::GetContentRegionAvail().x);
            ImGui::PopStyleColor();
            tip(help + "\nIt is edited in the scene file's text");
        }
        if (ImGui::IsMouseReleased(ImGuiMouseButton_Right) && ImGui::IsItemHovered() &&
            written != nullptr)
            ImGui::OpenPopup("reset");
        if (ImGui::BeginPopup("reset")) {
            if (ImGui::MenuItem("Reset to the default"))
                work.edit([&](session::Editor& e) { e.erase(at, "Reset " + words(key)); });
            ImGui::EndPopup();
        }
        ImGui::PopID();
    }
}

void edit_optimiser(Workspace& work, const document::Document& schema) {
    const Node* rows = schema.find("/properties/optimizer/properties");
    const Node* cases = schema.find("/properties/optimizer/allOf");
    const Node* all = schema.find("/properties/optimizer/properties/type/enum");
    if (rows == nullptr || all == nullptr) return;
    const Node* type = work.document().find("/optimizer/type");
    std::string method = type != nullptr && type->is_string() ? type->string() : "lbfgs";
    // Which keys a method takes, by the schema.
    const auto keys_of = [&](const std::string& name) -> const Node* {
        for (std::size_t k = 0; cases != nullptr && k < cases->size(); ++k) {
            const Node* which = document::find_below(cases->item(k), "/if/properties/type/const");
            if (which != nullptr && which->is_string() && which->string() == name)
                return document::find_below(cases->item(k), "/then");
        }
        return nullptr;
    };
    const auto takes = [&](const std::string& name, const std::string& key) {
        const Node* then = keys_of(name);
        const Node* list =
            then != nullptr ? document::find_below(*then, "/propertyNames/enum") : nullptr;
        if (list == nullptr) return true;
        for (std::size_t k = 0; k < list->size(); ++k)
            if (list->item(k).is_string() && list->item(k).string() == key) return true;
        return false;
    };
    std::vector<std::string> methods;
    for (std::size_t k = 0; k < all->size(); ++k) methods.push_back(all->item(k).string());
    ImGui::AlignTextToFramePadding();
    const float start = ImGui::GetCursorPosX();
    const float column = std::max(px(104), ImGui::GetContentRegionAvail().x * 0.40F);
    ImGui::TextUnformatted("method");
    ImGui::SameLine(start + column);
    if (choice("##method", methods, method, "How the parameters are updated from the gradient")) {
        // What the new method has no use for goes, what it needs comes.
        const Node* old = work.document().find("/optimizer");
        Node fresh = Node::object();
        fresh.set("type", Node(method));
        for (std::size_t k = 0; old != nullptr && k < old->size(); ++k)
            if (old->key(k) != "type" && takes(method, old->key(k)))
                fresh.set(old->key(k), old->item(k));
        const Node* then = keys_of(method);
        const Node* required = then != nullptr ? then->find("required") : nullptr;
        for (std::size_t k = 0; required != nullptr && k < required->size(); ++k)
            if (fresh.find(required->item(k).string()) == nullptr)
                fresh.set(required->item(k).string(), Node(0.1));
        work.set("/optimizer", std::move(fresh), "Optimise by " + method);
    }
    edit_by_schema(work, "/optimizer", *rows,
                   [&](const std::string& key) { return key != "type" && takes(method, key); });
}

}  // namespace hindcast::gui
