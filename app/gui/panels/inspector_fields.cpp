#include "app/gui/panels/inspector_fields.hpp"

#include <fmt/format.h>
#include <imgui.h>
#include <imgui_internal.h>
#include <imgui_stdlib.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <limits>

#include "app/gui/input/gestures.hpp"

namespace hindcast::gui {

using document::Node;

std::string words(const std::string& key) {
    std::string text = key;
    std::ranges::replace(text, '_', ' ');
    return text;
}

float label_width(float part) {
    const float room = ImGui::GetContentRegionAvail().x;
    return std::max(std::min(ImGui::GetFontSize() * 6, room * 0.5F), room * part);
}

namespace {

constexpr const char* default_method = "lbfgs";  // of a scene without "optimizer"

// A list of words of which some are chosen; the last one cannot go. Null where nothing changed.
std::optional<Node> edit_choices(const Node& allowed, const Node* chosen, const std::string& help) {
    std::optional<Node> result;
    for (std::size_t k = 0; k < allowed.size(); ++k) {
        const std::string word =
            allowed.item(k).is_string() ? allowed.item(k).string() : std::string();
        const auto has = [&](const std::string& w) {
            for (std::size_t j = 0; chosen != nullptr && j < chosen->size(); ++j)
                if (chosen->item(j).is_string() && chosen->item(j).string() == w) return true;
            return chosen == nullptr;  // not written: all
        };
        bool on = has(word);
        if (k > 0) ImGui::SameLine(0, px(8));
        if (ImGui::Checkbox(word.c_str(), &on)) {
            Node list = Node::array();
            for (std::size_t j = 0; j < allowed.size(); ++j)
                if (allowed.item(j).is_string() && (j == k ? on : has(allowed.item(j).string())))
                    list.push_back(allowed.item(j));
            if (list.size() > 0) result = std::move(list);
        }
        tip(help + "\nAt least one stays");
    }
    return result;
}

// Whole numbers with commas or spaces between them.
std::string list_text(const Node* list) {
    std::string text;
    for (std::size_t k = 0; list != nullptr && k < list->size(); ++k)
        text += (k > 0 ? ", " : "") + document::to_line(list->item(k));
    return text;
}

Node list_of_text(const std::string& text) {
    Node list = Node::array();
    std::string word;
    for (const char c : text + ' ') {
        if (c != ',' && c != ' ') {
            word += c;
            continue;
        }
        if (word.empty()) continue;
        std::int64_t number = 0;
        const auto [end, fault] = std::from_chars(word.data(), word.data() + word.size(), number);
        if (fault != std::errc() || end != word.data() + word.size())
            throw Error("'" + word + "' is no whole number")
                .remedy("write numbers with commas between them: 0, 2, 5");
        list.push_back(Node(number));
        word.clear();
    }
    return list;
}

}  // namespace

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
    const float column = label_width();
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
    ImGui::PushStyleColor(ImGuiCol_Text, style().palette().quiet);
    cut_text(line.substr(0, 200), ImGui::GetContentRegionAvail().x);
    ImGui::PopStyleColor();
}

void edit_by_schema(Workspace& work, const std::string& pointer, const Node& rows,
                    const std::function<bool(const std::string&)>& wanted) {
    for (std::size_t k = 0; k < rows.size(); ++k) {
        const std::string& key = rows.key(k);
        const Node& row = rows.item(k);
        if (wanted && !wanted(key)) continue;
        std::string at = pointer;
        (at += '/') += key;
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
        const float column = label_width(0.40F);
        ImGui::AlignTextToFramePadding();
        cut_text(words(key), column - px(8));
        tip(help);
        ImGui::SameLine(start + column);
        // A missing object is made with its first member.
        const auto put = [&](Node fresh) {
            if (work.document().find(pointer) == nullptr) {
                Node object = Node::object();
                if (pointer == "/optimizer") object.set("type", Node(default_method));
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
        } else if (is_type("integer") || is_type("number") || reference) {
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
        } else if (const Node* allowed = document::find_below(row, "/items/enum");
                   is_type("array") && allowed != nullptr) {
            if (auto list = edit_choices(*allowed, written, help)) put(std::move(*list));
        } else if (const Node* item = document::find_below(row, "/items/type");
                   is_type("array") && item != nullptr && item->is_string() &&
                   item->string() == "integer") {
            std::string list = list_text(value);
            ImGui::SetNextItemWidth(-FLT_MIN);
            if (ImGui::InputTextWithHint("##value", "0, 2, 5", &list,
                                         ImGuiInputTextFlags_EnterReturnsTrue))
                work.edit([&](session::Editor&) { put(list_of_text(list)); });
            tip(help + "\nWhole numbers with commas between them. Enter takes it over");
        } else if (is_type("string")) {
            std::string word = value != nullptr && value->is_string() ? value->string() : "";
            ImGui::SetNextItemWidth(-FLT_MIN);
            if (ImGui::InputText("##value", &word, ImGuiInputTextFlags_EnterReturnsTrue))
                put(Node(word));
            tip(help + "\nEnter takes it over");
        } else {
            ImGui::PushStyleColor(ImGuiCol_Text, style().palette().quiet);
            cut_text(value != nullptr ? document::to_line(*value) : "-",
                     ImGui::GetContentRegionAvail().x);
            ImGui::PopStyleColor();
            tip(help + "\nIt is edited in the scene file's text");
        }
        if (happens(Gesture::quantity_menu) && ImGui::IsItemHovered() && written != nullptr)
            ImGui::OpenPopup("reset");
        if (ImGui::BeginPopup("reset")) {
            if (ImGui::MenuItem("Reset to the default"))
                work.edit([&](session::Editor& e) { e.erase(at, "Reset " + words(key)); });
            tip(fallback != nullptr
                    ? "Takes it out of the scene file, so that its default holds: " +
                          document::to_line(*fallback)
                    : "Takes it out of the scene file");
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
    std::string method = type != nullptr && type->is_string() ? type->string() : default_method;
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
    const float column = label_width(0.40F);
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
    edit_by_schema(work, "/optimizer", *rows, [&](const std::string& key) {
        return key != "type" && key != "groups" && takes(method, key);
    });
    edit_groups(work);
}

}  // namespace hindcast::gui
