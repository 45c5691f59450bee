// Copy and paste of objects. The clipboard has a part of a scene, {"forces": [{...}]}, which can be
// pasted into another scene, into its text, or sent to somebody.
#include <imgui.h>

#include "app/gui/draw/widgets.hpp"
#include "app/gui/input/actions.hpp"
#include "app/gui/work/state/chosen.hpp"
#include "app/gui/work/state/edited_scene.hpp"
#include "app/gui/work/state/messages.hpp"

namespace hindcast::gui {

namespace {

using document::Document;
using document::Node;

bool can_copy(const Topics& w) { return !w.scene.name_at(w.chosen.object.pointer).empty(); }

void copy_object(Topics& w) {
    const std::string pointer = w.chosen.object.pointer, name = w.scene.name_at(pointer);
    Node object = w.scene.document().at(pointer);
    object.set("name", Node(name));  // an object may go by the order of its type alone
    const std::string section = pointer.substr(1, pointer.find('/', 1) - 1);
    const Node part = Node::object({{section, Node::array({std::move(object)})}});
    ImGui::SetClipboardText(document::to_text(part).c_str());
    w.messages.tell("Copied " + name);
}

Document part_on_clipboard() {
    const char* const text = ImGui::GetClipboardText();
    try {
        return Document::parse(text != nullptr ? text : "");
    } catch (const Error&) {
        return {};
    }
}

void paste_objects(Topics& w) {
    w.scene.edit([&](session::Editor& editor) {
        const Document part = part_on_clipboard();
        std::string pointer;
        for (const model::Section section : model::all_sections) {
            const Node* const list = part.find(std::string("/") + model::name_of(section));
            for (std::size_t k = 0; list != nullptr && list->is_array() && k < list->size(); ++k) {
                const Node* const name = list->item(k).find("name");
                if (name != nullptr && name->is_string())
                    pointer = editor.append(section, list->item(k), "Paste " + name->string());
            }
        }
        if (pointer.empty())
            throw Error("the clipboard has no object of a scene")
                .remedy("select an object and copy it first (Ctrl+C)");
        w.chosen.select({pointer, -1, ""});
    });
}

}  // namespace

std::vector<Action> copying_actions() {
    return {
        {.id = "copy",
         .menu = "Edit",
         .icon = icon::copy,
         .name = "Copy",
         .key = ImGuiMod_Ctrl | ImGuiKey_C,
         .help = "Puts the selected object on the clipboard, as it is written in the scene file",
         .enabled = can_copy,
         .run = copy_object,
         .checked = {},
         .starts_group = true,
         .yields_to_text = true},
        {.id = "paste",
         .menu = "Edit",
         .name = "Paste",
         .key = ImGuiMod_Ctrl | ImGuiKey_V,
         .help = "Adds the objects on the clipboard to the scene, with names that are free",
         .enabled = [](const Topics& w) { return w.scene.is_open(); },
         .run = paste_objects,
         .checked = {},
         .yields_to_text = true},
    };
}

}  // namespace hindcast::gui
