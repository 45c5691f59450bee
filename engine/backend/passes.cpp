#include "engine/backend/passes.hpp"

#include <algorithm>

#include "engine/backend/cpu_plan.hpp"
#include "engine/backend/split.hpp"
#include "engine/base/float_environment.hpp"

namespace hindcast::backend {

namespace {

bool have_one_in_common(Passes::List a, Passes::List b) {
    return std::any_of(a.begin(), a.end(), [&](const Contents* array) {
        return std::find(b.begin(), b.end(), array) != b.end();
    });
}

}  // namespace

bool Passes::reads_elsewhere(const Contents& array) const {
    const Contents* const one = &array;
    return have_one_in_common({&one, 1}, read_elsewhere_.all());
}

bool Passes::can_remember(const Pass& pass) const {
    return written_.has_room(pass.written.size()) &&
           read_elsewhere_.has_room(pass.read_elsewhere.size());
}

bool Passes::may_follow(const Pass& pass) const {
    return pass.count == count_ && size_ < most && can_remember(pass) &&
           !have_one_in_common(written_.all(), pass.read_elsewhere) &&
           !have_one_in_common(read_elsewhere_.all(), pass.written);
}

void Passes::put(const Pass& pass, const Entry& entry) {
    if (pass.range.begin >= pass.range.end) return;
    make_way(pass);
    const Occupied range{pass.range.begin / block * block, pass.range.end, pass.range.columns};
    count_ = pass.count;
    range_ = hull(range_, range);
    if (occupied_.begin >= occupied_.end) occupied_ = pass.occupied;
    work_ += pass.work;
    entries_[size_] = entry;
    entries_[size_++].range = range;
    if (!can_remember(pass)) return run();
    written_.add(pass.written);
    read_elsewhere_.add(pass.read_elsewhere);
}

// As many elements at a time as stay in a core's cache from one pass to the next.
void Passes::run_all(std::int64_t begin, std::int64_t end) const {
    constexpr std::int64_t chunk = 64 * block;
    for (std::size_t k = 0; k < size_; ++k) __builtin_prefetch(&entries_[k]);
    for (std::int64_t at = begin; at < end; at += chunk) {
        const std::int64_t behind = std::min(at + chunk, end);
        for (std::size_t k = 0; k < size_; ++k) {
            const Entry& e = entries_[k];
            e.range.each(at, behind, cpu::most_lanes,
                         [&](std::int64_t from, std::int64_t to) { e.body(e.closure, from, to); });
        }
    }
}

void Passes::run() {
    if (size_ == 0) return;
    const FloatEnvironment environment;
    split(threads_for(work_, pool_), range_, block, occupied_,
          [this](std::int64_t begin, std::int64_t end) { run_all(begin, end); });
    size_ = 0;
    count_ = 0;
    range_ = occupied_ = {};
    work_ = 0;
    written_.size = read_elsewhere_.size = 0;
}

}  // namespace hindcast::backend
