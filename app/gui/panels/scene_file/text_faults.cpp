#include "app/gui/panels/scene_file/text_faults.hpp"

#include <fmt/format.h>
#include <imgui_internal.h>

#include <algorithm>

#include "app/gui/draw/widgets.hpp"

namespace hindcast::gui {

using session::SceneFault;
using session::TextTree;

void TextFaults::start(const Registry& registry, const SimulationOptions& options) {
    check_ = std::make_unique<session::CheckTask>(registry, options);
}

void TextFaults::update() {
    if (!check_ || !check_->update(ImGui::GetTime())) return;
    found_ = check_->faults();
    if (refused_at_ != text_.version()) refused_.reset();
    show();
}

std::string TextFaults::first() const {
    if (refused_) return refused_what_;
    return shown_.empty() ? "" : shown_.front().message();
}

void TextFaults::check_if_changed(bool as_loaded, const std::filesystem::path& place) {
    if (checked_version_ == text_.version()) return;
    checked_version_ = text_.version();
    if (!as_loaded || refused_) {
        check_->want(text_.text(), place, ImGui::GetTime());
    } else {
        check_->forget();
        found_.clear();
        show();
    }
}

void TextFaults::refuse(const Error& error, bool is_file) {
    Error here = error;
    // The lines of an error in a scene that was edited are those of the text that was read: in
    // this text it stands where its pointer leads.
    const int entry = error.json_pointer().empty() || is_file
                          ? TextTree::none
                          : text_.tree().find(error.json_pointer());
    if (entry != TextTree::none) {
        const session::TextPosition at = text_.tree().position(text_.tree()[entry].begin);
        here.at({"", static_cast<int>(at.line) + 1, static_cast<int>(at.column) + 1});
    }
    refused_ = session::fault_of(here, text_.text());
    refused_what_ = error.what();
    refused_at_ = text_.version();
    show();
    if (refused_->end > refused_->begin) text_.go_to(refused_->begin);
    // 0: the next check looks for the other faults.
    checked_version_ = 0;
}

void TextFaults::accept() {
    refused_.reset();
    show();
}

void TextFaults::forget() {
    if (check_) check_->forget();
    refused_.reset();
    found_.clear();
    show();
}

void TextFaults::show() {
    shown_ = found_;
    if (refused_ && std::ranges::none_of(found_, [&](const SceneFault& fault) {
            return fault.happened == refused_->happened;
        }))
        shown_.insert(shown_.begin(), *refused_);
    text_.mark(shown_);
}

void TextFaults::draw(std::size_t rows) {
    if (rows == 0) return;
    ImGui::Separator();
    if (ImGui::BeginChild("faults", {0, 0})) {
        for (std::size_t k = 0; k < shown_.size(); ++k) {
            const SceneFault& fault = shown_[k];
            ImGui::PushID(static_cast<int>(k));
            const ImVec2 at = ImGui::GetCursorPos();
            if (ImGui::Selectable("##fault") && fault.end > fault.begin) {
                text_.go_to(fault.begin);
                text_.focus();
            }
            tip(fault.message() + (fault.end > fault.begin ? "\nA click goes there" : ""));
            ImGui::SetCursorPos(at);
            ImGui::TextColored(style().palette().bad, "%s", icon::error);
            ImGui::SameLine(0, px(6));
            if (fault.end > fault.begin) {
                quiet_text(fmt::format("{}:{}", fault.line + 1, fault.column + 1));
                ImGui::SameLine(0, px(8));
            }
            const std::string text = fault.message();
            const ImVec2 from = ImGui::GetCursorScreenPos();
            const float right = from.x + ImGui::GetContentRegionAvail().x;
            ImGui::RenderTextEllipsis(ImGui::GetWindowDrawList(), from,
                                      {right, from.y + ImGui::GetTextLineHeight()}, right,
                                      text.c_str(), nullptr, nullptr);
            ImGui::NewLine();
            ImGui::PopID();
        }
    }
    ImGui::EndChild();
}

}  // namespace hindcast::gui
