// The hand-over between the two threads: one mutex, one condition, one word that says whose turn it
// is. Only the side whose turn it is touches the data that the turn owns (point_, value_,
// gradient_).
#include "engine/optim/paused_search.hpp"

#include <algorithm>
#include <nlopt.hpp>

#include "engine/base/float_environment.hpp"

namespace hindcast::optim {

PausedSearch::PausedSearch(Body body)
    : thread_([this, body = std::move(body)] {
          const FloatEnvironment rules;
          std::string ending;
          std::exception_ptr failure;
          try {
              ending = body([this](std::span<const double> x, std::span<double> gradient) {
                  return ask(x, gradient);
              });
          } catch (...) {
              failure = std::current_exception();
          }
          const std::lock_guard lock(mutex_);
          ending_ = std::move(ending);
          failure_ = failure;
          turn_ = Turn::ended;
          changed_.notify_all();
      }) {}

PausedSearch::~PausedSearch() {
    {
        const std::lock_guard lock(mutex_);
        abandoned_ = true;
        changed_.notify_all();
    }
    thread_.join();
}

double PausedSearch::ask(std::span<const double> x, std::span<double> gradient) {
    std::unique_lock lock(mutex_);
    if (abandoned_) throw nlopt::forced_stop();
    point_.assign(x.begin(), x.end());
    turn_ = Turn::caller;
    changed_.notify_all();
    changed_.wait(lock, [this] { return turn_ == Turn::search || abandoned_; });
    if (abandoned_) throw nlopt::forced_stop();
    std::copy_n(gradient_.begin(), std::min(gradient.size(), gradient_.size()), gradient.begin());
    return value_;
}

const std::vector<double>* PausedSearch::next() {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [this] { return turn_ != Turn::search; });
    if (turn_ == Turn::caller) return &point_;
    if (failure_) std::rethrow_exception(failure_);
    return nullptr;
}

void PausedSearch::answer(double value, std::span<const double> gradient) {
    const std::lock_guard lock(mutex_);
    if (turn_ != Turn::caller) return;
    value_ = value;
    gradient_.assign(gradient.begin(), gradient.end());
    turn_ = Turn::search;
    changed_.notify_all();
}

}  // namespace hindcast::optim
