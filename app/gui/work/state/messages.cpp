#include "app/gui/work/state/messages.hpp"

#include <utility>

#include "app/gui/work/state/frame_wishes.hpp"
#include "app/gui/work/state/process_log.hpp"

namespace hindcast::gui {

void Messages::log_error(const std::string& text) {
    if (log) log->add(session::LogLine::Level::error, text);
}

void Messages::tell(Notice notice) {
    if (notice.kind == Notice::Kind::error) {
        const bool both = !notice.detail.empty() && notice.detail != notice.text;
        log_error(both ? notice.text + ": " + notice.detail : notice.text);
    }
    show(std::move(notice));
}

void Messages::show(Notice notice) {
    ++told_;
    // The same again replaces the old one: a fault in a slider's range is not said sixty times.
    remove(notice.text);
    notices_.push_back(std::move(notice));
    while (notices_.size() > 4) notices_.pop_front();
}

void Messages::tell(const std::string& text, Notice::Kind kind) {
    Notice notice;
    notice.kind = kind;
    notice.text = text;
    notice.until = frame_wishes().now() + notice_seconds;
    tell(std::move(notice));
}

void Messages::fail(const std::exception& error) {
    Notice notice;
    notice.kind = Notice::Kind::error;
    notice.text = error.what();
    notice.until = frame_wishes().now() + 3 * notice_seconds;
    tell(std::move(notice));
}

void Messages::mended_now(const std::string& about) {
    std::erase_if(notices_, [&](const Notice& n) { return n.about == about; });
}

void Messages::remove(const std::string& text) {
    std::erase_if(notices_, [&](const Notice& n) { return n.text == text; });
}

void Messages::remove_old() {
    const double now = frame_wishes().now();
    std::erase_if(notices_, [now](const Notice& n) { return n.until > 0 && n.until < now; });
}

}  // namespace hindcast::gui
