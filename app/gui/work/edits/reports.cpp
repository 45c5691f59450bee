#include "app/gui/work/edits/reports.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <utility>

#include "app/gui/work/state/chosen.hpp"
#include "app/gui/work/state/edited_scene.hpp"
#include "app/gui/work/state/frame_wishes.hpp"
#include "app/gui/work/state/messages.hpp"
#include "app/gui/work/state/requests.hpp"
#include "app/gui/work/state/running.hpp"

namespace hindcast::gui {

using document::Document;
using document::Node;

namespace {

constexpr const char* about_simulation = "the simulation";  // Notice::about
constexpr std::size_t most_told = 2;                        // at once; the panel has them all

std::string about(const Warning& warning) { return "warning: " + warning.text(); }

bool has(const std::shared_ptr<const std::vector<Warning>>& list, const Warning& warning) {
    return list && std::ranges::find(*list, warning.text(), &Warning::text) != list->end();
}

// The list at the end of a path of keys, made where it is missing.
void make_list(Document& scene, const std::string& pointer) {
    const std::string above = pointer.substr(0, pointer.rfind('/'));
    if (!above.empty() && scene.find(above) == nullptr) scene.set(above, Node::object());
    if (scene.find(pointer) == nullptr) scene.set(pointer, Node::array());
}

// Adds the value to the list, or takes it out; an empty list goes.
Document with_item(const Document& scene, const std::string& pointer, const Node& value, bool on,
                   const std::function<bool(const Node&)>& is_it) {
    Document changed = scene;
    make_list(changed, pointer);
    for (std::size_t k = changed.find(pointer)->size(); k-- > 0;)
        if (is_it(changed.find(pointer)->item(k))) changed.erase(fmt::format("{}/{}", pointer, k));
    if (on) changed.set(pointer + "/-", value);
    if (changed.find(pointer)->size() == 0) changed.erase(pointer);
    const std::string above = pointer.substr(0, pointer.rfind('/'));
    if (!above.empty() && changed.find(above)->size() == 0) changed.erase(above);
    return changed;
}

}  // namespace

Reports::Reports(Running& running, EditedScene& scene, Chosen& chosen, Requests& requests,
                 Messages& messages)
    : running_(running), scene_(scene), chosen_(chosen), requests_(requests), messages_(messages) {}

void Reports::update(bool opening) {
    if (!opening && has_new_error()) tell_error();
    if (!opening) tell_warnings();
    if (!running_.now().reports.error && told_error_) messages_.mended_now(about_simulation);
    error_is_told();
}

bool Reports::has_new_error() const {
    return running_.now().reports.error && running_.now().reports.error != told_error_;
}

void Reports::error_is_told() { told_error_ = running_.now().reports.error; }

// The message disappears; the panels show the error as long as it holds.
void Reports::tell_error() {
    const Error& error = *running_.now().reports.error;
    Notice notice;
    notice.kind = Notice::Kind::error;
    notice.text = error.happened();
    // The place and the remedy follow; the text is not repeated.
    notice.detail = error.what();
    if (notice.detail.starts_with(notice.text)) notice.detail = error.what_to_do();
    if (error.place().line > 0) {
        notice.button = "Show in the file";
        notice.action = [this] { requests_.focus_panel = "Scene file"; };
    }
    notice.until = frame_wishes().now() + 3 * Messages::notice_seconds;
    notice.about = about_simulation;
    messages_.show(std::move(notice));  // the session has put it into the log
}

std::size_t Reports::warning_count() const {
    return running_.now().scene.warnings ? running_.now().scene.warnings->size() : 0;
}

void Reports::tell_warnings() {
    if (running_.now().scene.warnings == told_warnings_) return;
    const auto before = std::exchange(told_warnings_, running_.now().scene.warnings);
    for (std::size_t k = 0; before && k < before->size(); ++k)
        if (!has(told_warnings_, (*before)[k])) messages_.mended_now(about((*before)[k]));
    std::size_t told = 0;
    for (std::size_t k = 0; told_warnings_ && k < told_warnings_->size(); ++k) {
        const Warning& warning = (*told_warnings_)[k];
        if (has(before, warning) || told++ >= most_told) continue;
        Notice notice;
        notice.kind = Notice::Kind::warning;
        notice.text =
            (warning.step >= 0 ? fmt::format("Step {}: ", warning.step) : "") + warning.happened;
        notice.detail = warning.remedy;
        notice.button = "Show";
        notice.action = [this, pointer = warning.pointer] {
            if (scene_.document().find(pointer) != nullptr && !pointer.empty())
                chosen_.select({pointer, -1, ""});
            requests_.focus_panel = "Warnings";
        };
        notice.other_button = "Accept";
        notice.other_action = [this, identifier = warning.identifier] { accept(identifier); };
        notice.about = about(warning);
        notice.until = frame_wishes().now() + 5 * Messages::notice_seconds;
        messages_.show(std::move(notice));  // the session has put it into the log
    }
}

void Reports::accept(const std::string& identifier, bool on) {
    const std::string name =
        on ? "Accept the warning " + identifier : "Take back that " + identifier + " is accepted";
    if (!scene_.change(name, [&](const Document& scene) {
            return with_item(scene, "/accepted_warnings", Node(identifier), on,
                             [&](const Node& item) { return item == Node(identifier); });
        }))
        return;
    messages_.tell(on ? "The scene accepts " + identifier +
                            " now. Ctrl+S saves it, Ctrl+Z takes it back."
                      : "The scene warns of " + identifier + " again.");
}

void Reports::except_pair(const std::string& a, const std::string& b, bool on) {
    const auto is_pair = [&](const Node& item) {
        return item == Node::array({Node(a), Node(b)}) || item == Node::array({Node(b), Node(a)});
    };
    scene_.change(fmt::format("{} and {} {}", a, b, on ? "may pass" : "may not pass"),
                  [&](const Document& scene) {
                      return with_item(scene, "/contact/exceptions",
                                       Node::array({Node(a), Node(b)}), on, is_pair);
                  });
}

}  // namespace hindcast::gui
