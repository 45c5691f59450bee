// The objects of the scene, by section. The menus for adding objects come from the registry: a new
// module appears by itself.
#include <fmt/format.h>
#include <imgui.h>
#include <imgui_internal.h>
#include <imgui_stdlib.h>

#include <algorithm>
#include <cmath>

#include "app/gui/draw/words.hpp"
#include "app/gui/input/actions.hpp"
#include "app/gui/making/add_menu.hpp"
#include "app/gui/panels/inspector_fields.hpp"
#include "app/gui/panels/panel.hpp"
#include "app/gui/work/edits/adding.hpp"
#include "app/gui/work/picture.hpp"
#include "app/gui/work/state/chosen.hpp"
#include "app/gui/work/state/edited_scene.hpp"
#include "app/gui/work/state/running.hpp"
#include "app/gui/work/view/looks.hpp"

namespace hindcast::gui {

namespace {

using document::Node;
using model::Section;

const char* help_of(Section section) {
    switch (section) {
        case Section::bodies: return "What moves";
        case Section::forces: return "What acts on bodies";
        case Section::colliders: return "What bodies cannot go through";
        case Section::controllers: return "What acts by a plan";
        case Section::objective: return "What is wanted: terms whose weighted sum is the loss";
    }
    return "";
}

const char* icon_of(Section section) {
    switch (section) {
        case Section::bodies: return icon::cube;
        case Section::forces: return icon::bolt;
        case Section::colliders: return icon::hidden;
        case Section::controllers: return icon::sliders;
        case Section::objective: return icon::target;
    }
    return "";
}

class SceneTree final : public Panel {
public:
    SceneTree() : Panel("Scene", icon::tree, Place::left_top, "What the scene is made of") {}

    void draw(Context& context) override {
        Topics& work = context.work;
        if (text_button(icon::add, "Add",
                        "Adds a body, force, collider, controller, objective, parameter, or a "
                        "group of parameters"))
            ImGui::OpenPopup("add");
        popup_below();
        if (ImGui::BeginPopup("add")) {
            for (const Section section : model::all_sections) {
                if (!ImGui::BeginMenu(title_of(section))) continue;
                add_items(work.scene, work.adding, work.requests, section);
                ImGui::EndMenu();
            }
            if (ImGui::BeginMenu("Parameters")) {
                parameter_items(work);
                ImGui::EndMenu();
            }
            if (ImGui::BeginMenu("Parameter groups")) {
                group_items(work);
                ImGui::EndMenu();
            }
            ImGui::EndPopup();
        }
        ImGui::SameLine();
        search_field("##search", search_, "Find");
        being_added(work.adding);
        if (ImGui::BeginChild("tree")) {
            // As many rows as the panel has room for.
            ImGui::PushStyleVar(ImGuiStyleVar_ItemSpacing, {px(8), px(3)});
            settings_row(work.chosen, "/time", icon::history, "Time",
                         "Length and number of the steps");
            settings_row(work.chosen, "/gravity", icon::arrow_right, "Gravity",
                         "Acceleration of everything that is free (m/s^2)");
            for (const Section section : model::all_sections) draw_section(context, section);
            draw_parameters(context);
            settings_row(work.chosen, "/optimizer", icon::sliders, "Optimizer",
                         "How the parameters are changed");
            draw_groups(context);
            settings_row(work.chosen, "/gradients", icon::memory, "Gradients",
                         "What the backward pass may take, and how far back it goes");
            ImGui::PopStyleVar();
        }
        ImGui::EndChild();
    }

private:
    // The object that is being added: values that load are still sought.
    static void being_added(Adding& adding) {
        if (adding.task() == nullptr) return;
        ImGui::AlignTextToFramePadding();
        quiet_text("Adding " + adding.task()->label() + "...");
        tip("Values with which the scene can be built are being sought");
        ImGui::SameLine();
        if (icon_button("cancel", icon::close, "Adds nothing")) adding.cancel();
    }

    // The "+" at the end of a row.
    static void add_button(const char* id, const std::string& help, const auto& items) {
        const float side = ImGui::GetTextLineHeight() + px(4);
        ImGui::SameLine(right_edge() - side);
        ImGui::PushID(id);
        ImGui::PushStyleColor(ImGuiCol_Text, style().palette().quiet);
        ImGui::PushStyleColor(ImGuiCol_Button, ImVec4(0, 0, 0, 0));
        ImGui::PushStyleVar(ImGuiStyleVar_FramePadding, {0, 0});
        if (ImGui::Button(fmt::format("{}##add", icon::add).c_str(), {side, 0}))
            ImGui::OpenPopup("kinds");
        ImGui::PopStyleVar();
        ImGui::PopStyleColor(2);
        tip(help);
        if (ImGui::BeginPopup("kinds")) {
            items();
            ImGui::EndPopup();
        }
        ImGui::PopID();
    }

    void settings_row(Chosen& chosen, const char* pointer, const char* symbol, const char* name,
                      const char* help) {
        if (!matches(name, search_)) return;
        ImGui::TreeNodeEx(pointer,
                          ImGuiTreeNodeFlags_Leaf | ImGuiTreeNodeFlags_NoTreePushOnOpen |
                              ImGuiTreeNodeFlags_SpanAvailWidth |
                              (chosen.object.pointer == pointer ? ImGuiTreeNodeFlags_Selected : 0),
                          "%s  %s", symbol, name);
        if (ImGui::IsItemClicked()) chosen.select({pointer, -1, ""});
        tip(help);
    }

    void draw_section(Context& context, Section section) {
        Topics& work = context.work;
        const Node* list = work.scene.document().find(std::string("/") + model::name_of(section));
        const std::size_t count = list != nullptr ? list->size() : 0;
        if (!search_.empty()) {
            bool any = false;
            for (std::size_t k = 0; k < count; ++k)
                any |= matches(
                    work.scene.name_at(fmt::format("/{}/{}", model::name_of(section), k)), search_);
            if (!any) return;
        }
        ImGui::SetNextItemOpen(true, ImGuiCond_Once);
        const bool open =
            ImGui::TreeNodeEx(model::name_of(section),
                              ImGuiTreeNodeFlags_SpanAvailWidth | ImGuiTreeNodeFlags_AllowOverlap |
                                  (count == 0 ? ImGuiTreeNodeFlags_Leaf : 0),
                              "%s", title_of(section));
        tip(help_of(section));
        add_button(model::name_of(section), fmt::format("Add to {}", title_of(section)),
                   [&] { add_items(work.scene, work.adding, work.requests, section); });
        if (!open) return;
        for (std::size_t k = 0; k < count; ++k) draw_object(context, section, k);
        ImGui::TreePop();
    }

    void draw_object(Context& context, Section section, std::size_t k) {
        Topics& work = context.work;
        const std::string pointer = fmt::format("/{}/{}", model::name_of(section), k);
        const std::string name = work.scene.name_at(pointer);
        if (!matches(name, search_)) return;
        ImGui::PushID(pointer.c_str());
        if (renaming_ == pointer) {
            rename_field(work.scene, pointer);
            ImGui::PopID();
            return;
        }
        const Node* type = work.scene.document().find(pointer + "/type");
        const std::string kind = type != nullptr && type->is_string() ? type->string() : "?";
        ImGui::TreeNodeEx(
            "object",
            ImGuiTreeNodeFlags_Leaf | ImGuiTreeNodeFlags_NoTreePushOnOpen |
                ImGuiTreeNodeFlags_SpanAvailWidth | ImGuiTreeNodeFlags_AllowOverlap |
                (work.chosen.object.pointer == pointer ? ImGuiTreeNodeFlags_Selected : 0),
            "%s  %s", icon_of(section), cut_to(name, row_room(icon_of(section))).c_str());
        if (ImGui::IsItemClicked()) work.chosen.select({pointer, -1, ""});
        if (ImGui::IsItemHovered() && ImGui::IsMouseDoubleClicked(ImGuiMouseButton_Left))
            begin_renaming(pointer, name);
        const model::ModuleType* module = work.scene.registry().find(section, kind);
        const std::string title = module != nullptr ? module->title : label_of(kind);
        tip(name + " (" + title + ")" + (module != nullptr ? "\n" + module->documentation : "") +
            "\n\nDouble click renames, right click does more.");
        if (ImGui::BeginPopupContextItem("menu")) {
            work.chosen.select({pointer, -1, ""});
            if (ImGui::MenuItem("Rename")) begin_renaming(pointer, name);
            tip("Everywhere that the scene names it, the name is changed as well");
            object_items(context);
            ImGui::Separator();
            visibility(context, name);
            ImGui::EndPopup();
        }
        // The kind of the object, and for a term its value in the loss.
        std::string right = title;
        const auto term =
            std::ranges::find(work.running.now().run.terms, name, &session::TermInfo::name);
        if (section == Section::objective && term != work.running.now().run.terms.end() &&
            !std::isnan(term->value))
            right = number_text(term->value, 3);
        const float room =
            right_edge() -
            (ImGui::GetTreeNodeToLabelSpacing() + ImGui::CalcTextSize(name.c_str()).x) - px(60);
        right = cut_to(right, room);
        if (right != name && label_of(kind) != label_of(name) && room > px(30)) {
            ImGui::SameLine(right_edge() - ImGui::CalcTextSize(right.c_str()).x);
            quiet_text(right);
        }
        ImGui::PopID();
    }

    static void visibility(Context& context, const std::string& name) {
        const render::Stage* stage = context.picture.stage();
        if (stage == nullptr) return;
        const bool any = std::ranges::any_of(
            stage->drawables,
            [&](const render::Drawable& drawable) { return drawable.name == name; });
        std::set<std::string>& hidden = context.work.looks.hidden;
        if (any &&
            ImGui::MenuItem(hidden.contains(name) ? "Show in the picture" : "Hide in the picture"))
            if (hidden.erase(name) == 0) hidden.insert(name);
        if (any) tip("Only the picture changes, not the scene");
    }

    void begin_renaming(const std::string& pointer, const std::string& name) {
        renaming_ = pointer;
        name_ = name;
        fresh_ = true;
    }

    void rename_field(EditedScene& scene, const std::string& pointer) {
        if (name_field("##name", name_, fresh_, "A name of letters, digits and _") ==
            Typed::goes_on)
            return;
        const bool canceled = ImGui::IsKeyPressed(ImGuiKey_Escape, false);
        if (!canceled && name_ != scene.name_at(pointer))
            scene.edit([&](session::Editor& e) { e.rename(pointer, name_); });
        renaming_.clear();
    }

    void draw_parameters(Context& context) {
        Topics& work = context.work;
        const auto document = work.scene.editor().document();  // this one, also after an edit
        const Node* list = document ? document->find("/parameters") : nullptr;
        const std::size_t count = list != nullptr ? list->size() : 0;
        if (!search_.empty()) return;
        ImGui::SetNextItemOpen(true, ImGuiCond_Once);
        const bool open =
            ImGui::TreeNodeEx("parameters",
                              ImGuiTreeNodeFlags_SpanAvailWidth | ImGuiTreeNodeFlags_AllowOverlap |
                                  (count == 0 ? ImGuiTreeNodeFlags_Leaf : 0),
                              "Parameters");
        tip("The quantities that the optimization may change. The lock beside a quantity in the "
            "inspector puts it here.");
        add_button("add parameter", "Add a parameter: something that the optimization may change",
                   [&] { parameter_items(work); });
        if (!open) return;
        for (std::size_t k = 0; k < count; ++k) {
            const std::string pointer = fmt::format("/parameters/{}", k);
            const Node* path = list->item(k).find("path");
            const std::string name = path != nullptr && path->is_string() ? path->string() : "?";
            ImGui::PushStyleColor(ImGuiCol_Text, style().palette().gradient);
            row(work, pointer, icon::lock, path_label(name));
            ImGui::PopStyleColor();
            tip(name +
                "\nA parameter of the optimization; its bounds, scale, group and rate are in the "
                "inspector. Right click does more");
            if (!ImGui::BeginPopupContextItem()) continue;
            work.chosen.select({pointer, -1, ""});
            const Action& copy = context.actions["duplicate"];
            if (ImGui::MenuItem(copy.name.c_str(), Actions::key_name(copy.key).c_str()))
                copy.run(work);
            tip("Of a parameter that is restricted to some components: another one of the others. "
                "A number belongs to one parameter only");
            if (ImGui::MenuItem("New group"))
                work.scene.edit([&](session::Editor& e) {
                    work.chosen.select({e.add_group(pointer), -1, ""});
                });
            tip("A group of parameters that begins with this one, with a factor on their rate");
            ImGui::Separator();
            const Action& remove = context.actions["delete"];
            if (ImGui::MenuItem("Take out of the optimization",
                                Actions::key_name(remove.key).c_str()))
                remove.run(work);
            tip("The number stays as it is written in the scene; the optimization leaves it alone");
            ImGui::EndPopup();
        }
        ImGui::TreePop();
    }

    static void row(Topics& work, const std::string& pointer, const char* symbol,
                    const std::string& name) {
        ImGui::TreeNodeEx(
            pointer.c_str(),
            ImGuiTreeNodeFlags_Leaf | ImGuiTreeNodeFlags_NoTreePushOnOpen |
                ImGuiTreeNodeFlags_SpanAvailWidth |
                (work.chosen.object.pointer == pointer ? ImGuiTreeNodeFlags_Selected : 0),
            "%s  %s", symbol, cut_to(name, row_room(symbol)).c_str());
        if (ImGui::IsItemClicked()) work.chosen.select({pointer, -1, ""});
    }

    // The width for a name, beside its symbol.
    static float row_room(const char* symbol) {
        return ImGui::GetContentRegionAvail().x - ImGui::GetTreeNodeToLabelSpacing() -
               ImGui::CalcTextSize(fmt::format("{}  ", symbol).c_str()).x;
    }

    // Groups of parameters, below the optimizer that they are of.
    void draw_groups(Context& context) {
        Topics& work = context.work;
        if (!search_.empty() || !work.scene.is_open()) return;
        ImGui::Indent();
        for (const session::Editor::Group& group : work.scene.editor().groups()) {
            row(work, group.pointer, icon::list, group.name);
            tip(fmt::format("A group of {} parameter{}: a factor on the optimizer's rate",
                            group.parameters.size(), group.parameters.size() == 1 ? "" : "s"));
            if (!ImGui::BeginPopupContextItem()) continue;
            work.chosen.select({group.pointer, -1, ""});
            const Action& remove = context.actions["delete"];
            if (ImGui::MenuItem("Delete group", Actions::key_name(remove.key).c_str()))
                remove.run(work);
            tip("Its factor goes; its parameters stay, each in the group of its path");
            ImGui::EndPopup();
        }
        ImGui::Unindent();
    }

    std::string search_, renaming_, name_;
    bool fresh_ = false;
};

}  // namespace

std::unique_ptr<Panel> make_scene_tree() { return std::make_unique<SceneTree>(); }

}  // namespace hindcast::gui
