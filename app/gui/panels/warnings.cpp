// The warnings of the simulation, each with its remedy; and all pairs of objects that can touch,
// each with what keeps them apart.
#include <fmt/format.h>
#include <imgui_internal.h>

#include <algorithm>

#include "app/gui/draw/words.hpp"
#include "app/gui/panels/panel.hpp"
#include "app/gui/work/edits/reports.hpp"
#include "app/gui/work/state/chosen.hpp"
#include "app/gui/work/state/edited_scene.hpp"
#include "app/gui/work/state/running.hpp"
#include "app/session/document/fields/form.hpp"
#include "engine/model/warnings/warning.hpp"

namespace hindcast::gui {

namespace {

using document::Node;
using session::PairInfo;

bool passes(const PairInfo& pair) { return pair.law.empty() && !pair.is_exception; }

class WarningsPanel final : public Panel {
public:
    WarningsPanel()
        : Panel("Warnings", icon::warning, Place::bottom,
                "What may not be as it was meant, and what keeps objects apart") {}

    void draw(Context& context) override {
        Topics& work = context.work;
        if (!work.running.has_run()) {
            empty_state(icon::warning, "Nothing has run", "Open a scene.");
            return;
        }
        if (ImGui::BeginChild("warnings")) {
            list(work);
            accepted(work);
            pairs(work);
        }
        ImGui::EndChild();
    }

private:
    static void list(Topics& work) {
        if (work.reports.warning_count() == 0) {
            quiet_text("The simulation warns of nothing.");
            return;
        }
        int number = 0;
        for (const Warning& warning : *work.running.now().scene.warnings) {
            ImGui::PushID(number++);
            const std::string when =
                warning.step >= 0 ? fmt::format("Step {}: ", warning.step) : "";
            wrapped_text(fmt::format("{}  {}{}", icon::warning, when, warning.happened),
                         style().palette().warn);
            std::string numbers = warning.identifier;
            for (const auto& [name, value] : warning.numbers)
                numbers += fmt::format("\n{}: {}", session::in_words(name), number_text(value));
            tip(numbers);
            ImGui::Indent(px(20));
            wrapped_text(warning.remedy, ImGui::GetStyle().Colors[ImGuiCol_Text]);
            const bool there =
                !warning.pointer.empty() && work.scene.document().find(warning.pointer) != nullptr;
            if (there) {
                if (ImGui::Button(
                        ("Show " + work.scene.name_at(warning.pointer) + "###show").c_str()))
                    work.chosen.select({warning.pointer, -1, ""});
                tip("Selects the object that this is about");
                ImGui::SameLine();
            }
            if (ImGui::Button("Accept")) work.reports.accept(warning.identifier);
            tip(
                fmt::format("Writes into the scene that this is meant: it does not warn of {} any "
                            "more",
                            warning.identifier));
            ImGui::Unindent(px(20));
            ImGui::Spacing();
            ImGui::PopID();
        }
    }

    // Warnings that the scene accepts. A button gives them again.
    static void accepted(Topics& work) {
        const Node* const names = work.scene.document().find("/accepted_warnings");
        for (std::size_t k = 0; names != nullptr && names->is_array() && k < names->size(); ++k) {
            if (!names->item(k).is_string()) continue;
            const std::string name = names->item(k).string();
            ImGui::PushID(name.c_str());
            ImGui::AlignTextToFramePadding();
            quiet_text("The scene accepts " + name);
            ImGui::SameLine();
            if (ImGui::Button("Warn again")) work.reports.accept(name, false);
            tip("Takes it out of the scene's accepted warnings");
            ImGui::PopID();
        }
    }

    static void object(Chosen& chosen, const std::string& name, const std::string& pointer) {
        ImGui::TableNextColumn();
        ImGui::AlignTextToFramePadding();
        if (ImGui::TextLink(name.c_str())) chosen.select({pointer, -1, ""});
        tip("Selects " + name);
    }

    static void pairs(Topics& work) {
        heading("What can touch");
        const auto& all = work.running.now().scene.pairs;
        if (!all || all->empty()) {
            quiet_text("Nothing in this scene can touch anything.");
            return;
        }
        static constexpr const char* helps[] = {
            "An object that can touch the second one", "The second one, or itself",
            "The law of contact between the two; none: they pass through each other",
            "Pairs that the scene lets pass through each other, without a warning"};
        if (!ImGui::BeginTable("pairs", 4,
                               ImGuiTableFlags_RowBg | ImGuiTableFlags_SizingStretchProp))
            return;
        for (const char* const name : {"Object", "and", "Kept apart by", "Exception"})
            ImGui::TableSetupColumn(name);
        table_headers(helps);
        // Pairs that nothing keeps apart come first.
        std::vector<const PairInfo*> rows;
        for (const PairInfo& pair : *all) rows.push_back(&pair);
        std::ranges::stable_partition(rows, [](const PairInfo* pair) { return passes(*pair); });
        ImGuiListClipper clipper;
        clipper.Begin(static_cast<int>(rows.size()));
        while (clipper.Step())
            for (int k = clipper.DisplayStart; k < clipper.DisplayEnd; ++k) {
                const PairInfo& pair = *rows[static_cast<std::size_t>(k)];
                ImGui::PushID(k);
                ImGui::TableNextRow();
                object(work.chosen, pair.a, pair.a_pointer);
                if (pair.a == pair.b) {
                    ImGui::TableNextColumn();
                    ImGui::AlignTextToFramePadding();
                    quiet_text("itself");
                } else {
                    object(work.chosen, pair.b, pair.b_pointer);
                }
                ImGui::TableNextColumn();
                ImGui::AlignTextToFramePadding();
                law(pair);
                ImGui::TableNextColumn();
                if (pair.is_exception) {
                    if (ImGui::Button("Warn again"))
                        work.reports.except_pair(pair.a, pair.b, false);
                    tip("The scene does not say any more that they may pass");
                } else if (pair.law.empty()) {
                    if (ImGui::Button("May pass")) work.reports.except_pair(pair.a, pair.b);
                    tip("Writes into the scene that the two may pass through each other");
                }
                ImGui::PopID();
            }
        ImGui::EndTable();
    }

    static void law(const PairInfo& pair) {
        if (!pair.law.empty())
            ImGui::TextUnformatted(pair.law.c_str());
        else if (pair.is_exception)
            quiet_text("none, as the scene says");
        else
            ImGui::TextColored(style().palette().warn, "none");
    }
};

}  // namespace

std::unique_ptr<Panel> make_warnings() { return std::make_unique<WarningsPanel>(); }

}  // namespace hindcast::gui
