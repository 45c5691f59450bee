#include "app/gui/work/values/handover.hpp"

#include <utility>

#include "app/gui/work/edits/reports.hpp"
#include "app/gui/work/state/edited_scene.hpp"
#include "app/gui/work/state/frame_wishes.hpp"
#include "app/gui/work/state/messages.hpp"
#include "app/gui/work/state/running.hpp"

namespace hindcast::gui {

Handover::Handover(Running& running, EditedScene& scene, Reports& reports, Messages& messages)
    : running_(running), scene_(scene), reports_(reports), messages_(messages) {}

bool Handover::apply() {
    const session::Editor& editor = scene_.editor();
    if (opening_ || !editor.has_scene() || editor.revision() == sent_revision_) return false;
    sent_revision_ = editor.revision();
    running_.send(session::Apply{editor.document(), ++number_, editor.place(), false});
    return true;
}

bool Handover::is_behind() const {
    return scene_.editor().revision() != sent_revision_ ||
           running_.now().handover.revision < number_;
}

bool Handover::is_refused() const {
    const session::Snapshot& now = running_.now();
    return scene_.editor().revision() == sent_revision_ &&
           now.handover.applied_revision == number_ && now.handover.revision < number_;
}

// ---- edits on trial -----------------------------------------------------------------------------

void Handover::take_back_unless_it_loads() {
    // With an error, the edit may be there to mend something.
    if (!running_.now().reports.error) on_trial_ = scene_.editor().revision();
}

void Handover::take_back_refused() {
    if (!on_trial_) return;
    const session::Snapshot& now = running_.now();
    const session::Editor& editor = scene_.editor();
    const bool edited = opening_ || editor.revision() != *on_trial_ || !editor.can_undo();
    const bool tried = sent_revision_ == *on_trial_ && now.handover.applied_revision >= number_;
    if (!edited && !tried) return;
    on_trial_.reset();
    if (edited || now.handover.revision == number_ || !now.reports.error) return;
    const std::string name = editor.undo_name(), reason = now.reports.error->what();
    if (!scene_.edit([](session::Editor& e) { e.undo(); })) return;
    reports_.error_is_told();
    Notice notice;
    notice.kind = Notice::Kind::error;
    notice.text = name + " is taken back";
    notice.detail = "The scene cannot be built with it: " + reason;
    notice.until = frame_wishes().now() + 3 * Messages::notice_seconds;
    messages_.tell(std::move(notice));
}

// ---- a scene to be opened -----------------------------------------------------------------------

void Handover::open(std::unique_ptr<session::Editor> fresh) {
    opening_ = std::move(fresh);
    opening_number_ = ++number_;
    error_before_ = running_.now().reports.error;
    running_.send(session::Apply{opening_->document(), opening_number_, opening_->place(), true});
}

std::filesystem::path Handover::opening_file() const {
    return opening_ ? opening_->file() : std::filesystem::path();
}

Handover::State Handover::opening_state() const {
    const session::Snapshot& now = running_.now();
    if (!opening_ || now.handover.applied_revision < opening_number_) return State::waits;
    if (now.handover.revision >= opening_number_) return State::built;
    // While it is being built there is no error yet, or one of something before.
    return !now.reports.error || now.reports.error == error_before_ ? State::waits : State::refused;
}

std::unique_ptr<session::Editor> Handover::take_refused() { return std::move(opening_); }

void Handover::show_opened() {
    scene_.show(std::move(opening_));
    sent_revision_ = scene_.editor().revision();
}

}  // namespace hindcast::gui
