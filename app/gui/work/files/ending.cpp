#include "app/gui/work/files/ending.hpp"

#include "app/gui/work/files/saving.hpp"
#include "app/gui/work/state/edited_scene.hpp"
#include "app/gui/work/state/messages.hpp"
#include "app/gui/work/values/found_values.hpp"

namespace hindcast::gui {

Ending::Ending(EditedScene& scene, FoundValues& values, Saving& saving, Messages& messages)
    : scene_(scene), values_(values), saving_(saving), messages_(messages) {}

void Ending::request() {
    saving_.when_saved([this] { come_ = true; });
}

void Ending::end_without_asking(bool now) {
    using std::chrono::steady_clock;
    constexpr auto patience = std::chrono::seconds(2);
    if (!ends_by_) {
        messages_.question().reset();
        const bool waits = values_.has_unaccepted() && !now;
        ends_by_ = steady_clock::now() + (waits ? patience : patience * 0);
        // The scene as it was edited is safe at once, with what was identified.
        if (values_.has_unaccepted_identification() && !values_.has_unaccepted())
            values_.identification->accept();
        scene_.edit([](session::Editor& e) { e.autosave(); });
        if (values_.has_unaccepted() && !now)
            values_.accept_then([this] { ends_by_ = steady_clock::time_point(); }, true);
    }
    if (now) {
        ends_by_ = steady_clock::time_point();
        update();
    }
}

void Ending::update() {
    if (!ends_by_ || come_ || std::chrono::steady_clock::now() < *ends_by_) return;
    scene_.edit([this](session::Editor& e) { left_autosave_ = e.leave_autosave(); });
    come_ = true;
}

}  // namespace hindcast::gui
