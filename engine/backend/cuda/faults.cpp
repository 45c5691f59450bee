#include "engine/backend/cuda/faults.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <limits>
#include <utility>

#include "engine/backend/cuda/context.hpp"
#include "engine/backend/executable.hpp"
#include "engine/backend/launch_error.hpp"

namespace hindcast::backend::cuda {

namespace {

// About as many as drivers queue before a launch waits: what fails is among them.
constexpr std::int64_t most_recent = 1024;

// Results that calls return because of work that was put on a stream before: lost devices, memory
// errors, exceptions within kernels, time limits.
bool is_of_earlier_work(int result) {
    for (const int r : {46, 214, 220, 226, 700, 702, 710, 719, 999})
        if (r == result) return true;
    return result >= 714 && result <= 718;
}

std::string words_for(const Work& work) {
    if (work.words) return *work.function + " (" + work.words->text() + ")";
    if (!work.graph) return *work.function;
    std::string text;
    for (const Work& w : *work.graph) text += (text.empty() ? "" : ", ") + words_for(w);
    return "a graph of: " + text;
}

}  // namespace

void Context::check(int result, std::string_view asked) const {
    if (result == success) return;
    Error error(fmt::format("CUDA device {} was asked for {}: {}", ordinal_, asked,
                            driver().words_for(result)));
    if (result == out_of_memory)
        error.remedy("use --device cpu, a smaller scene, or a limit of gradient memory");
    if (is_of_earlier_work(result) && !log_.empty()) throw LaunchError(error, log_.text());
    throw error;
}

void Context::synchronize() {
    const Lock held = lock();
    // A device with a stream that is captured cannot be waited for as a whole.
    if (captured_ != nullptr && !rehearsing_)
        throw Error(
            "the stream is captured, and what was asked for waits for the device, as values "
            "on the host and launches that can fail do")
            .remedy("run it outside of the capture");
    if (rehearsing_) return check(here().StreamSynchronize(stream_), "the end of its own work");
    const auto start = std::chrono::steady_clock::now();
    const int result = here().CtxSynchronize();
    calls_.waited_s +=
        std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    if (result != success) {
        Error error(fmt::format("a launch on CUDA device {} failed: {}", ordinal_,
                                driver().words_for(result)));
        if (!log_.empty()) throw LaunchError(error, log_.text());
        throw error;
    }
    log_.clear();
    faults_.raise();
}

void Context::wait() const noexcept {
    const Lock held = lock();
    if (!log_.empty()) here().CtxSynchronize();
}

void Context::note_work(Work work) {
    capturing_ ? log_.note_captured(std::move(work)) : log_.note(std::move(work));
}

// ---------------------------------------------------------------- work since the last wait

void WorkLog::note_captured(Work work) {
    if (std::find(captured_.begin(), captured_.end(), work) == captured_.end())
        captured_.push_back(std::move(work));
}

void WorkLog::note(Work work) {
    const auto at = static_cast<std::size_t>(put_++ % most_recent);
    if (at < recent_.size())
        recent_[at] = std::move(work);
    else
        recent_.push_back(std::move(work));
}

std::string WorkLog::text() const {
    struct Times {
        const Work* work;
        int count;
    };
    std::vector<Times> list;  // in order of the first time
    for (std::int64_t k = std::max<std::int64_t>(0, put_ - most_recent); k < put_; ++k) {
        const Work& work = recent_[static_cast<std::size_t>(k % most_recent)];
        const auto same = [&](const Times& t) { return *t.work == work; };
        const auto known = std::find_if(list.begin(), list.end(), same);
        if (known == list.end())
            list.push_back({&work, 1});
        else
            ++known->count;
    }
    std::string text = put_ > most_recent
                           ? fmt::format("the last {} of {} launches", most_recent, put_)
                           : std::string("launched");
    text += " since the last synchronization: ";
    for (const Times& t : list)
        text += (&t == list.data() ? "" : ", ") +
                (t.count > 1 ? fmt::format("{} times ", t.count) : "") + words_for(*t.work);
    return text;
}

// ---------------------------------------------------------------- faults of kernels

void FaultWatches::use(Fault* places) {
    places_ = places;
    std::fill_n(places_, most, Fault{});
}

int FaultWatches::add(Raise raise) {
    const Context::Lock held = context_.lock();
    if (!free_.empty()) {
        const int watch = free_.back();
        free_.pop_back();
        watches_[static_cast<std::size_t>(watch)] = {std::move(raise), 0};
        return watch;
    }
    if (watches_.size() == most)
        throw Error("there are more kernels on one CUDA device than it can watch")
            .remedy(fmt::format("{} is the most", most));
    watches_.push_back({std::move(raise), 0});
    return static_cast<int>(watches_.size()) - 1;
}

void FaultWatches::forget(int watch) noexcept {
    const Context::Lock held = context_.lock();
    context_.here().CtxSynchronize();  // it may still be written to
    const Watch w = std::exchange(watches_[static_cast<std::size_t>(watch)], {});
    const Fault fault = std::exchange(places_[watch], {});
    free_.push_back(watch);
    if (fault.key == Fault{}.key || (forgotten_ && forgotten_since_ <= w.since)) return;
    try {
        w.raise(fault);
    } catch (...) {
        forgotten_ = std::current_exception();
        forgotten_since_ = w.since;
        unsettled_ = true;
    }
}

void FaultWatches::may_come(int watch) {
    const Context::Lock held = context_.lock();
    if (context_.capturing()) {
        if (std::find(captured_.begin(), captured_.end(), watch) == captured_.end())
            captured_.push_back(watch);
        return;
    }
    std::int64_t& since = watches_[static_cast<std::size_t>(watch)].since;
    if (since == 0) since = ++launches_;
    unsettled_ = true;
}

void FaultWatches::raise() {
    unsettled_ = false;
    Raise raise;
    Fault fault;
    std::int64_t since = forgotten_ ? forgotten_since_ : std::numeric_limits<std::int64_t>::max();
    for (std::size_t k = 0; k < watches_.size(); ++k) {
        Watch& w = watches_[k];
        if (places_[k].key != Fault{}.key) {
            if (w.since < since) raise = w.raise, fault = places_[k], since = w.since;
            places_[k] = {};
        }
        w.since = 0;
    }
    const std::exception_ptr forgotten = std::exchange(forgotten_, {});
    if (raise) raise(fault);
    if (forgotten) std::rethrow_exception(forgotten);
}

}  // namespace hindcast::backend::cuda
