#include "app/gui/panels/inspector_fields.hpp"

#include <fmt/format.h>
#include <imgui.h>

#include <algorithm>

#include "app/gui/work/state/edited_scene.hpp"

namespace hindcast::gui {

using document::Node;

namespace {

constexpr const char* default_method = "lbfgs";  // of a scene without "optimizer"

}  // namespace

const session::SceneForms& forms_of(const Registry& registry) {
    // One program has one registry; a test with another one would see the first one's fields.
    static const session::SceneForms forms(registry);
    return forms;
}

void edit_plain_field(Topics& work, const std::string& pointer, const session::Form& form,
                      const FieldLook& look, const Picks* picks) {
    const std::string object = pointer.substr(0, pointer.rfind('/'));
    const std::string key = pointer.substr(object.size() + 1);
    FieldPlace place(work, pointer, "Change " + work.scene.name_at(object) + "." + key, form,
                     nullptr, picks);
    const float indent = ImGui::GetFrameHeight() + px(8);
    ImGui::Indent(indent);
    draw_field(place, look);
    ImGui::Unindent(indent);
}

void edit_by_schema(Topics& work, const std::string& pointer, const Node& rows,
                    const std::function<bool(const std::string&)>& wanted) {
    const Node& schema = forms_of(work.scene.registry()).schema().root();
    for (std::size_t k = 0; k < rows.size(); ++k) {
        const std::string& key = rows.key(k);
        if (wanted && !wanted(key)) continue;
        const session::Form form = session::form_of(rows.item(k), schema);
        std::string help = form.help;
        if (!form.fallback.is_null())
            help.append("\nDefault: ").append(document::to_line(form.fallback));
        std::string here = pointer, name = "Change ";
        here.append("/").append(key);
        name.append(session::in_words(key));
        FieldPlace place(work, here, name, form);
        ImGui::PushID(key.c_str());
        draw_field(
            place,
            {.label = session::in_words(key), .help = help, .optional = form.fallback.is_null()});
        ImGui::PopID();
    }
}

void edit_optimiser(Topics& work, const document::Document& schema) {
    const Node* rows = schema.find("/properties/optimizer/properties");
    const Node* cases = schema.find("/properties/optimizer/allOf");
    const Node* all = schema.find("/properties/optimizer/properties/type/enum");
    if (rows == nullptr || all == nullptr) return;
    const Node* type = work.scene.document().find("/optimizer/type");
    std::string method = type != nullptr && type->is_string() ? type->string() : default_method;
    // The keys that a method takes, by the schema.
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
    const float column = label_width();
    ImGui::TextUnformatted("method");
    ImGui::SameLine(start + column);
    if (choice("##method", methods, method, "How the parameters are updated from the gradient", 0,
               nullptr, label_of)) {
        // Keys that the new method does not take are dropped, those that it needs are added.
        const Node* old = work.scene.document().find("/optimizer");
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
        work.scene.set("/optimizer", std::move(fresh), "Optimise by " + label_of(method));
    }
    edit_by_schema(work, "/optimizer", *rows, [&](const std::string& key) {
        return key != "type" && key != "groups" && takes(method, key);
    });
    edit_groups(work);
}

}  // namespace hindcast::gui
