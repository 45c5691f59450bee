// The selected thing: every field that its module has a row for, with value, unit and bounds, and
// beside each quantity the gradient of the loss. Edits go into the scene's document.
#include <fmt/format.h>
#include <imgui.h>
#include <imgui_internal.h>
#include <imgui_stdlib.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "app/gui/draw/words.hpp"
#include "app/gui/input/actions.hpp"
#include "app/gui/input/picking.hpp"
#include "app/gui/panels/inspector_fields.hpp"
#include "app/gui/panels/panel.hpp"
#include "app/gui/work/edits/reports.hpp"
#include "app/gui/work/state/chosen.hpp"
#include "app/gui/work/state/edited_scene.hpp"
#include "app/gui/work/state/running.hpp"
#include "engine/model/warnings/warning.hpp"

namespace hindcast::gui {

namespace {

using document::Node;

class Inspector final : public Panel {
public:
    Inspector()
        : Panel("Inspector", icon::sliders, Place::right,
                "Every number of the selected thing, with its gradient") {}

    void update(Context& context) override { picks_.look(context.work); }

    void draw(Context& context) override {
        Topics& work = context.work;
        const std::string pointer = work.chosen.object.pointer;
        if (work.running.now().shows_older_scene()) older_scene(context);
        if (pointer.empty()) {
            overview(context);
            return;
        }
        const Node* node = work.scene.document().find(pointer);
        const bool settings = pointer == "/time" || pointer == "/optimizer" ||
                              pointer == "/gradients" || pointer == "/gravity" ||
                              pointer.starts_with("/parameters/") ||
                              pointer.starts_with("/optimizer/groups/");
        if (node == nullptr && !settings) {
            empty_state(icon::pointer, "It is not there any more",
                        "Choose something in the scene tree.");
            return;
        }
        if (settings)
            draw_settings(context, pointer);
        else
            draw_object(context, pointer);
    }

private:
    // The picture is of a scene that an edit has changed since; what is edited here is not.
    static void older_scene(Context& context) {
        const session::Snapshot& now = context.work.running.now();
        wrapped_text(
            fmt::format("The picture shows iteration {}, of the scene before an edit. Here "
                        "is the scene as it is now; {} or an edit shows it again.",
                        now.optimization.shown_iteration,
                        Actions::key_name(context.actions["newest"].key)),
            style().palette().warn);
        tip("Branching from the iteration brings its scene back\nKey: " +
            Actions::key_name(context.actions["branch"].key));
        for (const session::QuantityInfo& q : now.values.quantities) {
            if (!q.optimized || q.values.empty()) continue;
            quiet_text(fmt::format("{} then: {}{} {}", q.path, number_text(q.least, 4),
                                   q.least == q.most ? "" : " to " + number_text(q.most, 4),
                                   q.unit));
        }
        ImGui::Separator();
    }

    // Nothing is selected: what the scene is, and all that is optimized.
    void overview(Context& context) {
        Topics& work = context.work;
        const auto text = [&](const char* at) {
            const Node* n = work.scene.document().find(at);
            return n != nullptr && n->is_string() ? n->string() : std::string();
        };
        ImGui::PushFont(style().fonts().bold, font_size * 1.15F);
        ImGui::TextUnformatted(work.scene.title().c_str());
        ImGui::PopFont();
        wrapped_text(text("/description"), style().palette().quiet);
        heading("What is optimized");
        bool any = false;
        for (const session::QuantityInfo& quantity :
             work.running.now().values.present_quantities()) {
            if (!quantity.optimized) continue;
            any = true;
            draw_quantity(context, quantity, quantity.path, "");
        }
        if (!any)
            wrapped_text("Nothing yet. Select something, and close the lock beside a number.",
                         style().palette().quiet);
        heading("What is wanted");
        if (work.running.now().run.terms.empty())
            wrapped_text("Nothing yet. Add an objective in the scene tree.",
                         style().palette().quiet);
        for (const session::TermInfo& term : work.running.now().run.terms) {
            if (ImGui::TextLink(term.name.c_str()))
                work.chosen.select({work.scene.pointer_of(term.name), -1, ""});
            tip("Selects this term");
            const std::string value = number_text(term.value, 4);
            const float left = right_edge() - ImGui::CalcTextSize(value.c_str()).x;
            ImGui::SameLine(std::max(ImGui::GetItemRectSize().x + px(16),
                                     std::min(left, ImGui::GetFontSize() * 10)));
            quiet_text(value);
        }
        scene_keys(work);
        ImGui::Spacing();
        wrapped_text("Click something in the picture or in the scene tree to see its numbers.",
                     style().palette().quiet);
    }

    void draw_object(Context& context, const std::string& pointer) {
        Topics& work = context.work;
        if (!std::exchange(watches_gradients_, true)) work.running.send(session::WatchGradients{});
        const std::string name = work.scene.name_at(pointer);
        const Node* type = work.scene.document().find(pointer + "/type");
        const std::string kind = type != nullptr && type->is_string() ? type->string() : "";
        const model::ModuleType* module = nullptr;
        for (const model::Section section : model::all_sections)
            if (pointer.starts_with(std::string("/") + model::name_of(section) + "/"))
                module = work.scene.registry().find(section, kind);
        ImGui::PushFont(style().fonts().bold, font_size * 1.15F);
        cut_text(name, ImGui::GetContentRegionAvail().x);
        ImGui::PopFont();
        const std::string title = module != nullptr ? module->title : label_of(kind);
        beside(ImGui::CalcTextSize(title.c_str()).x, 8);
        quiet_text(title);
        if (module == nullptr) return;
        tip(module->documentation);
        if (work.chosen.object.element >= 0) {
            const std::string part = element_text(work.chosen.object.part());
            beside(ImGui::CalcTextSize(part.c_str()).x, 8);
            quiet_text(part);
        }
        const bool objective = pointer.starts_with("/objective/");
        for (std::size_t k = 0; k < work.reports.warning_count(); ++k)
            if (const Warning& warning = (*work.running.now().scene.warnings)[k];
                warning.pointer == pointer) {
                wrapped_text(fmt::format("{}  {}", icon::warning, warning.happened),
                             style().palette().warn);
                tip(warning.remedy + "\nThe panel Warnings has them all");
            }
        ImGui::Spacing();
        if (objective)
            for (const char* const key : {"weight", "at"})
                draw_field(context, pointer, *module, key, "");
        // Fields that may be optimized come first, then those that the object is built from.
        for (const bool optimizable : {true, false})
            for (const model::Field& field : module->fields)
                if (field.may_optimize == optimizable &&
                    (!field.in_plane || work.scene.dimension() == 2 ||
                     work.scene.document().find(pointer + "/" + field.key) != nullptr))
                    draw_field(context, pointer, *module, field.key, field.documentation);
    }

    void draw_field(Context& context, const std::string& object, const model::ModuleType& module,
                    const std::string& key, const std::string& documentation) {
        Topics& work = context.work;
        const session::Form* const form =
            forms_of(work.scene.registry()).of_field(module.section, module.type, key);
        if (form == nullptr) return;
        const std::string pointer = object + "/" + key;
        const auto& quantities = work.running.now().values.present_quantities();
        const auto quantity =
            std::ranges::find(quantities, pointer, &session::QuantityInfo::scene_pointer);
        ImGui::PushID(key.c_str());
        if (quantity != quantities.end()) {
            draw_quantity(context, *quantity, key, documentation, form, &picks_);
            draw_refusal(work, pointer);
        } else {
            FieldLook look{.label = session::in_words(key), .help = form->help};
            if (!form->fallback.is_null())
                look.help += "\nDefault: " + document::to_line(form->fallback);
            const auto row = std::ranges::find(module.fields, key, &model::Field::key);
            look.optional = form->fallback.is_null() &&
                            (row == module.fields.end() || !row->fallback_json.empty());
            edit_plain_field(work, pointer, *form, look, &picks_);
        }
        ImGui::PopID();
    }

    void draw_settings(Context& context, const std::string& pointer) {
        Topics& work = context.work;
        if (pointer == "/gravity") {
            ImGui::PushFont(style().fonts().bold, font_size * 1.15F);
            ImGui::TextUnformatted("Gravity");
            ImGui::PopFont();
            ImGui::Spacing();
            for (const session::QuantityInfo& quantity :
                 work.running.now().values.present_quantities())
                if (quantity.path == "gravity")
                    draw_quantity(context, quantity, "gravity",
                                  "acceleration of everything that is free");
            return;
        }
        const document::Document& schema = forms_of(work.scene.registry()).schema();
        const bool parameter = pointer.starts_with("/parameters/");
        const std::string at = parameter ? "/properties/parameters/items" : "/properties" + pointer;
        const Node* rows = schema.find(at + "/properties");
        const bool group = pointer.starts_with("/optimizer/groups/");
        ImGui::PushFont(style().fonts().bold, font_size * 1.15F);
        ImGui::TextUnformatted(parameter                 ? "Parameter"
                               : group                   ? "Group of parameters"
                               : pointer == "/time"      ? "Time"
                               : pointer == "/optimizer" ? "Optimizer"
                                                         : "Gradients");
        ImGui::PopFont();
        ImGui::Spacing();
        if (pointer == "/optimizer")
            edit_optimizer(work, schema);
        else if (group)
            edit_group(work, pointer);
        else if (parameter && rows != nullptr && work.scene.document().find(pointer) != nullptr)
            edit_parameter(work, pointer, *rows);
        else if (parameter)
            wrapped_text("It is not there any more.", style().palette().quiet);
        else if (rows != nullptr)
            edit_by_schema(work, pointer, *rows, nullptr);
    }

    // The scene's own keys: its name, description, dimension, outputs and view.
    static void scene_keys(Topics& work) {
        const bool open = ImGui::CollapsingHeader("The scene itself");
        tip("Name, description, dimension, outputs and view of the scene");
        if (!open) return;
        const Node* const rows = forms_of(work.scene.registry()).schema().find("/properties");
        for (const char* const key : {"name", "description", "dimension", "up", "outputs", "view"})
            edit_by_schema(work, "", *rows, [&](const std::string& k) { return k == key; });
    }

    Picks picks_;
    bool watches_gradients_ = false;  // those of what is not optimized are asked for
};

}  // namespace

std::unique_ptr<Panel> make_inspector() { return std::make_unique<Inspector>(); }

}  // namespace hindcast::gui
