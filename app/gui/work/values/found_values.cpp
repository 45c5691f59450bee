#include "app/gui/work/values/found_values.hpp"

#include <fmt/format.h>

#include <utility>

#include "app/gui/draw/words.hpp"
#include "app/gui/work/state/edited_scene.hpp"
#include "app/gui/work/state/messages.hpp"
#include "app/gui/work/state/running.hpp"
#include "app/gui/work/values/handover.hpp"

namespace hindcast::gui {

FoundValues::FoundValues(Running& running, EditedScene& scene, Handover& handover,
                         Messages& messages)
    : running_(running), scene_(scene), handover_(handover), messages_(messages) {}

// ---- asking for values --------------------------------------------------------------------------

void FoundValues::accept() { accept_then({}); }

void FoundValues::accept_best() {
    if (const session::IterationInfo* const best = running_.best_row())
        accept_then({}, false, best->iteration);
}

void FoundValues::accept_then(std::function<void()> next, bool newest,
                              std::optional<std::int64_t> iteration) {
    branch_asked_.reset();
    next_ = std::move(next);
    running_.send(session::Accept{++number_, newest, iteration});
}

void FoundValues::branch(std::int64_t iteration) {
    next_ = {};
    branch_asked_ = iteration;
    running_.send(session::Branch{iteration, ++number_});
    if (!running_.now().shows_older_scene()) running_.optimize(session::Optimize::What::start);
}

void FoundValues::use(session::UseValues values, std::function<void()> next) {
    branch_asked_.reset();
    next_ = std::move(next);
    values.number = ++number_;
    running_.send(std::move(values));
}

void FoundValues::begin() {
    accepted_waits_ = false;
    next_ = {};
}

// ---- once a frame -------------------------------------------------------------------------------

void FoundValues::take_answer() {
    const session::Snapshot& now = running_.now();
    if (!now.handover.answer || now.handover.answer_to == answered_ ||
        now.handover.answer_to != number_)
        return;
    answered_ = now.handover.answer_to;
    const std::string name =
        now.handover.answer_name.empty() ? "Accept parameters" : now.handover.answer_name;
    const auto branch = std::exchange(branch_asked_, std::nullopt);
    const std::function<void()> next = std::exchange(next_, {});
    const std::uint64_t before = scene_.editor().revision();
    if (!scene_.edit([&](session::Editor& e) { e.replace(*now.handover.answer, name); })) return;
    if (branch) branch_to_ = branch;  // once the scene is sent
    accepted_waits_ = !branch && scene_.editor().revision() != before;
    if (next) {
        next();
        return;
    }
    messages_.tell(branch
                       ? name + ": the scene is as it was then. Ctrl+Z brings the newer one back."
                       : name + ": written into the scene. Ctrl+S saves it, Ctrl+Z takes it back." +
                             better_text(),
                   Notice::Kind::success);
}

void FoundValues::apply() {
    if (!handover_.apply()) return;
    if (std::exchange(accepted_waits_, false)) accepted_in_ = handover_.number();
    if (const auto branch = std::exchange(branch_to_, std::nullopt)) {
        running_.send(session::Branch{*branch});
        running_.optimize(session::Optimize::What::start);
    }
}

// ---- values that are not in the document --------------------------------------------------------

bool FoundValues::has_unaccepted() const {
    return scene_.is_open() && !handover_.is_opening() && running_.now().optimization.unaccepted &&
           !accepted_waits_ && running_.now().handover.applied_revision >= accepted_in_;
}

bool FoundValues::has_unaccepted_identification() const {
    return scene_.is_open() && !handover_.is_opening() && identification && !identification->runs;
}

bool FoundValues::is_identifying() const {
    return scene_.is_open() && !handover_.is_opening() && identification && identification->runs;
}

std::string FoundValues::results_text() const {
    const session::Snapshot& now = running_.now();
    const auto& history = now.optimization.history;
    if (!history || history->empty()) return "the newest ones";
    const bool shown = now.optimization.shown_iteration >= 0 && !now.shows_older_scene();
    const std::int64_t last = history->back().iteration;
    const std::int64_t iteration = shown ? now.optimization.shown_iteration : last;
    for (const session::IterationInfo& row : *history)
        if (row.iteration == iteration)
            return fmt::format("those of iteration {}{}, with the loss {}", iteration,
                               iteration != last ? ", which is shown" : "",
                               number_text(row.loss, 3));
    return "the newest ones";
}

// The shown iteration was accepted, though another one has a lower loss.
std::string FoundValues::better_text() const {
    const session::Snapshot& now = running_.now();
    const session::IterationInfo* const best = running_.best_row();
    if (best == nullptr || best->iteration == now.optimization.shown_iteration ||
        !(best->loss < now.run.loss))
        return "";
    return fmt::format(" Iteration {} is better: its loss is {}, not {}.", best->iteration,
                       number_text(best->loss, 4), number_text(now.run.loss, 4));
}

}  // namespace hindcast::gui
