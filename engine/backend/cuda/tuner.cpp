#include "engine/backend/cuda/tuner.hpp"

#include <algorithm>

#include "engine/backend/jit/code_cache.hpp"

namespace hindcast::backend::cuda {

namespace {
constexpr int fewest = 64;
constexpr double worth_it = 0.97;  // of the time by occupancy

std::string text_of(const LaunchShape& shape) {
    return shape.strides ? "strides" : std::to_string(shape.threads);
}
}  // namespace

Tuner::Tuner(const std::string& function, const std::string& device, int threads)
    : shape_{threads} {
    Hasher hash;
    hash.text("launch shape 1").text(function).text(device).integer(threads);
    key_ = hash.digest();
    candidates_.push_back({shape_});
    for (int size = 1024; size >= fewest; size /= 2)
        if (size < threads) candidates_.push_back({{size}});
    candidates_.push_back({{0, true}});
    const auto known = read_cached(key_);
    for (const Candidate& c : candidates_)
        if (known == text_of(c.shape)) {
            shape_ = c.shape;
            decided_ = true;
        }
}

bool Tuner::wants(std::int64_t items, int multiprocessors) const {
    const std::int64_t filled = std::int64_t{multiprocessors} * candidates_.front().shape.threads;
    return !decided_ && candidates_.size() > 1 && items >= filled &&
           (items_ == 0 || items == items_);
}

void Tuner::note(std::int64_t items, double seconds) {
    if (decided_) return;
    items_ = items;
    if (!warm_) {
        warm_ = true;
        return;
    }
    Candidate& c = candidates_[next_];
    c.seconds = std::min(c.seconds, seconds);
    if (++c.runs < runs) return;
    if (next_ == 0 && c.seconds < long_enough) return decide(shape_);
    if (++next_ < candidates_.size()) return;
    const auto best = std::min_element(
        candidates_.begin(), candidates_.end(),
        [](const Candidate& a, const Candidate& b) { return a.seconds < b.seconds; });
    decide(best->seconds < worth_it * candidates_.front().seconds ? best->shape : shape_);
}

void Tuner::decide(LaunchShape shape) {
    shape_ = shape;
    decided_ = true;
    next_ = 0;
    write_cached(key_, text_of(shape));
}

}  // namespace hindcast::backend::cuda
