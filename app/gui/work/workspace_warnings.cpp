// Warnings of the simulation: each is told once; a scene accepts those that it means.
#include <fmt/format.h>
#include <imgui.h>

#include <algorithm>

#include "app/gui/work/frame_wishes.hpp"
#include "app/gui/work/workspace.hpp"
#include "engine/model/warnings/warning.hpp"

namespace hindcast::gui {

using document::Document;
using document::Node;

namespace {

constexpr std::size_t most_told = 2;  // at once; the panel has them all

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

std::size_t Workspace::warning_count() const { return now().warnings ? now().warnings->size() : 0; }

void Workspace::tell_warnings() {
    if (opening_ || now().warnings == warned_) return;
    const auto before = std::exchange(warned_, now().warnings);
    for (std::size_t k = 0; before && k < before->size(); ++k)
        if (!has(warned_, (*before)[k])) mended_now(about((*before)[k]));
    std::size_t told = 0;
    for (std::size_t k = 0; warned_ && k < warned_->size(); ++k) {
        const Warning& warning = (*warned_)[k];
        if (has(before, warning) || told++ >= most_told) continue;
        Notice notice;
        notice.kind = Notice::Kind::warning;
        notice.text =
            (warning.step >= 0 ? fmt::format("Step {}: ", warning.step) : "") + warning.happened;
        notice.detail = warning.remedy;
        notice.button = "Show";
        notice.action = [this, pointer = warning.pointer] {
            if (document().find(pointer) != nullptr && !pointer.empty()) select({pointer, -1, ""});
            focus_panel = "Warnings";
        };
        notice.other_button = "Accept";
        notice.other_action = [this, identifier = warning.identifier] {
            accept_warning(identifier);
        };
        notice.about = about(warning);
        notice.until = frame_wishes().now() + 5 * notice_seconds;
        show_notice(std::move(notice));  // the session has put it into the log
    }
}

void Workspace::accept_warning(const std::string& identifier, bool on) {
    const std::string name =
        on ? "Accept the warning " + identifier : "Take back that " + identifier + " is accepted";
    if (!change(name, [&](const Document& scene) {
            return with_item(scene, "/accepted_warnings", Node(identifier), on,
                             [&](const Node& item) { return item == Node(identifier); });
        }))
        return;
    tell(on ? "The scene accepts " + identifier + " now. Ctrl+S saves it, Ctrl+Z takes it back."
            : "The scene warns of " + identifier + " again.");
}

void Workspace::except_pair(const std::string& a, const std::string& b, bool on) {
    const auto is_pair = [&](const Node& item) {
        return item == Node::array({Node(a), Node(b)}) || item == Node::array({Node(b), Node(a)});
    };
    change(fmt::format("{} and {} {}", a, b, on ? "may pass" : "may not pass"),
           [&](const Document& scene) {
               return with_item(scene, "/contact/exceptions", Node::array({Node(a), Node(b)}), on,
                                is_pair);
           });
}

}  // namespace hindcast::gui
