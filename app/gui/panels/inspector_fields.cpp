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
        const session::Form form = session::form_of({rows.item(k), schema});
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

void edit_optimizer(Topics& work, const document::Document& schema) {
    const Node* rows = schema.find("/properties/optimizer/properties");
    if (rows == nullptr) return;
    const session::SchemaView optimizer(schema.at("/properties/optimizer"), schema.root());
    const Node* type = work.scene.document().find("/optimizer/type");
    std::string method = type != nullptr && type->is_string() ? type->string() : default_method;
    // The part of the schema that says which keys a method takes and needs.
    const auto case_of = [&](const std::string& name) -> std::optional<session::SchemaView> {
        for (const session::SchemaView& one : optimizer.parts("allOf"))
            if (const auto then = one.chosen([&](const std::string&) { return name; })) return then;
        return std::nullopt;
    };
    const auto takes = [&](const std::string& name, const std::string& key) {
        const auto then = case_of(name);
        const auto keys = then ? then->part("propertyNames") : std::nullopt;
        return !keys || keys->lists("enum", key);
    };
    const std::vector<std::string> methods = optimizer.member("type")->names("enum");
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
        if (const auto then = case_of(method))
            for (const std::string& key : then->names("required"))
                if (fresh.find(key) == nullptr) fresh.set(key, Node(0.1));
        work.scene.set("/optimizer", std::move(fresh), "Optimize by " + label_of(method));
    }
    edit_by_schema(work, "/optimizer", *rows, [&](const std::string& key) {
        return key != "type" && key != "groups" && takes(method, key);
    });
    edit_groups(work);
}

}  // namespace hindcast::gui
