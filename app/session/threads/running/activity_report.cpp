#include "app/session/threads/running/activity_report.hpp"

namespace hindcast::session {

void ActivityReport::set(Activity activity, const std::string& text, double progress) {
    const Lock lock(shared_.mutex);
    shared_.draft.reports.activity = activity;
    shared_.draft.reports.activity_text = text;
    shared_.draft.reports.progress = progress;
    shared_.mark_changed();
}

void ActivityReport::advance(double progress) {
    shared_.draft.reports.progress = progress;
    shared_.mark_changed();
}

void ActivityReport::advance(double progress, const std::string& text) {
    shared_.draft.reports.activity_text = text;
    advance(progress);
}

void ActivityReport::wait_for(const std::string& text) {
    const Lock lock(shared_.mutex);
    if (awaited_.empty()) own_text_ = shared_.draft.reports.activity_text;
    shared_.draft.reports.activity_text = text.empty() ? own_text_ : text;
    awaited_ = text;
    shared_.mark_changed();
}

void ActivityReport::end(bool has_scene) {
    const Activity rest = has_scene ? Activity::idle : Activity::empty;
    if (shared_.draft.reports.activity == rest) return;
    shared_.draft.reports.activity = rest;
    shared_.draft.reports.activity_text.clear();
    shared_.draft.reports.progress = -1;
    shared_.mark_changed();
}

}  // namespace hindcast::session
