#include "app/gui/panels/runs/checkpoints.hpp"

#include <fmt/format.h>
#include <imgui.h>
#include <imgui_stdlib.h>

#include <algorithm>
#include <cmath>

#include "app/gui/draw/widgets.hpp"
#include "app/gui/draw/words.hpp"
#include "app/gui/work/state/edited_scene.hpp"
#include "app/gui/work/state/running.hpp"
#include "app/gui/work/values/kept_values.hpp"
#include "app/session/document/checkpoints.hpp"

namespace hindcast::gui {

using session::CheckpointInfo;

CheckpointList::Offer CheckpointList::offer_of(const Running& running) {
    const session::Snapshot& now = running.now();
    Offer offer;
    offer.build = now.scene.shown_build;
    offer.loss = now.run.loss;
    offer.parameters = now.values.flat;
    offer.name = now.optimization.shown_iteration >= 0
                     ? fmt::format("iteration {}", now.optimization.shown_iteration)
                     : "as it is";
    if (now.shows_older_scene())
        offer.problem =
            "What is shown belongs to the scene before an edit. Branch from it (B), which "
            "goes back to that scene, and keep it then.";
    else if (!now.values.flat || now.values.flat->empty())
        offer.problem = "The values come with the first run.";
    // The loss of an iteration is known before its run is shown to its end.
    if (std::isnan(offer.loss) && now.optimization.history) {
        const auto row =
            std::ranges::find(*now.optimization.history, now.optimization.shown_iteration,
                              &session::IterationInfo::iteration);
        if (row != now.optimization.history->end()) offer.loss = row->loss;
    }
    return offer;
}

void CheckpointList::keep_button(Topics& work) {
    const Offer offer = offer_of(work.running);
    const std::string what =
        std::isfinite(offer.loss) ? " with the loss " + number_text(offer.loss, 4) : "";
    if (text_button(icon::flag, "Keep as...",
                    offer.problem.empty()
                        ? "Keeps the parameters that are shown" + what +
                              " in the scene under a name, to go back to. They are saved with it, "
                              "and --checkpoint starts from them"
                        : offer.problem,
                    offer.problem.empty())) {
        offered_ = offer;
        typed_ = session::unused_checkpoint_name(work.scene.document(), offer.name);
        takes_focus_ = true;
        ImGui::OpenPopup("keep");
    }
    if (!ImGui::BeginPopup("keep")) return;
    quiet_text(std::isfinite(offered_.loss)
                   ? fmt::format("{}, loss {}", offered_.name, number_text(offered_.loss, 4))
                   : offered_.name);
    if (takes_focus_) ImGui::SetKeyboardFocusHere();
    takes_focus_ = false;
    ImGui::SetNextItemWidth(px(190));
    const bool entered =
        ImGui::InputText("##name", &typed_,
                         ImGuiInputTextFlags_EnterReturnsTrue | ImGuiInputTextFlags_AutoSelectAll);
    tip("What the checkpoint is called");
    const auto list = session::checkpoints_of(work.scene.document());
    const bool taken = std::ranges::find(list, typed_, &CheckpointInfo::name) != list.end();
    if (taken) ImGui::TextColored(style().palette().warn, "It takes the place of the old one");
    if (text_button(nullptr, taken ? "Replace" : "Keep",
                    "Writes the checkpoint into the scene; can be undone", !typed_.empty(), true) ||
        (entered && !typed_.empty())) {
        work.checkpoints.keep(typed_, offered_.parameters, offered_.build, offered_.loss);
        ImGui::CloseCurrentPopup();
    }
    ImGui::EndPopup();
}

void CheckpointList::row(Topics& work, const CheckpointInfo& checkpoint, const Offer& offer) {
    const auto& [name, pointer, loss, numbers] = checkpoint;
    ImGui::TableNextRow();
    ImGui::TableNextColumn();
    ImGui::AlignTextToFramePadding();
    if (renamed_ == name) {
        const Typed typed = name_field("##rename", new_name_, takes_focus_,
                                       "Enter takes the name, Escape leaves it");
        if (typed == Typed::entered)
            work.scene.change("Rename " + name + " to " + new_name_,
                              [&, name = name](const document::Document& d) {
                                  return session::with_checkpoint_renamed(d, name, new_name_);
                              });
        if (typed != Typed::goes_on) renamed_.clear();
    } else {
        cut_text(name, ImGui::GetContentRegionAvail().x);
        tip(fmt::format("{}: {} number{}{}", name, numbers, numbers == 1 ? "" : "s",
                        loss ? ", loss " + number_text(*loss, 12) : ""));
    }
    ImGui::TableNextColumn();
    ImGui::AlignTextToFramePadding();
    ImGui::TextUnformatted(loss ? number_text(*loss, 4).c_str() : "-");
    tip(loss ? "The loss when it was kept: " + number_text(*loss, 12)
             : std::string("It was kept without a loss"));
    ImGui::TableNextColumn();
    if (icon_button("show", icon::visible,
                    "Show: writes these parameters into the scene, which runs with them; can be "
                    "undone"))
        work.checkpoints.use(name);
    ImGui::SameLine(0, px(2));
    if (icon_button("more", icon::list, "Update, rename or delete it")) ImGui::OpenPopup("more");
    if (!ImGui::BeginPopup("more")) return;
    if (ImGui::MenuItem("Update", nullptr, false, offer.problem.empty()))
        work.checkpoints.keep(name, offer.parameters, offer.build, offer.loss);
    tip(offer.problem.empty() ? "Takes the parameters that are shown in place of those kept here"
                              : offer.problem);
    if (ImGui::MenuItem("Rename")) {
        renamed_ = new_name_ = name;
        takes_focus_ = true;
    }
    tip("Gives it another name");
    if (ImGui::MenuItem("Delete"))
        work.scene.change("Delete " + name, [name = name](const document::Document& d) {
            return session::without_checkpoint(d, name);
        });
    tip("Takes it out of the scene; can be undone");
    ImGui::EndPopup();
}

void CheckpointList::draw(Topics& work) {
    heading("Checkpoints");
    ImGui::PushID("checkpoints");
    keep_button(work);
    const std::vector<CheckpointInfo> list = session::checkpoints_of(work.scene.document());
    if (!list.empty() &&
        ImGui::BeginTable("list", 3, ImGuiTableFlags_RowBg | ImGuiTableFlags_PadOuterX)) {
        const float side = ImGui::GetFrameHeight() + px(4);
        ImGui::TableSetupColumn("name", ImGuiTableColumnFlags_WidthStretch);
        ImGui::TableSetupColumn("loss", ImGuiTableColumnFlags_WidthFixed,
                                ImGui::CalcTextSize("-1.234e-05").x);
        ImGui::TableSetupColumn("what", ImGuiTableColumnFlags_WidthFixed, 2 * side + px(4));
        const Offer offer = offer_of(work.running);
        for (const CheckpointInfo& checkpoint : list) {
            ImGui::PushID(checkpoint.name.c_str());
            row(work, checkpoint, offer);
            ImGui::PopID();
        }
        ImGui::EndTable();
    }
    ImGui::PopID();
    ImGui::Spacing();
}

}  // namespace hindcast::gui
