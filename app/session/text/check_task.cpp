#include "app/session/text/check_task.hpp"

#include <utility>

namespace hindcast::session {

CheckTask::CheckTask(const Registry& registry, SimulationOptions options)
    : registry_(registry), options_(std::move(options)) {}

void CheckTask::want(std::string text, std::filesystem::path file, double now) {
    wanted_ = Wanted{std::move(text), std::move(file), now + rest};
    stop_ = true;  // the running check is of an old text
    seen_ = false;
}

void CheckTask::forget() {
    wanted_.reset();
    stop_ = true;
    seen_ = false;
}

bool CheckTask::update(double now) {
    bool news = false;
    if (running_ && ended_) {
        background_.cancel();  // it has ended, so its results are visible
        running_ = false;
        if (seen_) {
            faults_ = std::move(found_);
            news = true;
        }
    }
    if (running_ || !wanted_ || now < wanted_->at) return news;
    checked_ = std::move(wanted_->text);
    found_.clear();
    ended_ = stop_ = false;
    running_ = seen_ = true;
    background_.start(
        [this, text = checked_, file = std::move(wanted_->file)] {
            found_ = find_faults(text, file, registry_, options_,
                                 [this] { return !stop_ && !background_.canceled(); });
        },
        [this](const std::optional<Error>& failure) {
            if (failure) found_.push_back({failure->happened(), failure->what_to_do()});
            ended_ = true;
        });
    wanted_.reset();
    return news;
}

}  // namespace hindcast::session
