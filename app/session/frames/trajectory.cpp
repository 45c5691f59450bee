#include "app/session/frames/trajectory.hpp"

#include <algorithm>

namespace hindcast::session {

const Array* KeptFrame::find(const std::string& name) const {
    const auto found = std::find(names->begin(), names->end(), name);
    return found == names->end() ? nullptr
                                 : &arrays[static_cast<std::size_t>(found - names->begin())];
}

std::int64_t KeptFrame::bytes() const {
    std::int64_t sum = 0;
    for (const Array& a : arrays) sum += static_cast<std::int64_t>(a.bytes());
    return sum;
}

FramePointer DroppedFrames::keep(const std::shared_ptr<DroppedFrames>& dropped, KeptFrame frame) {
    return {new KeptFrame(std::move(frame)), [dropped](const KeptFrame* dead) {
                const std::lock_guard lock(dropped->mutex_);
                dropped->frames_.emplace_back(dead);
            }};
}

void DroppedFrames::clear() {
    std::vector<std::unique_ptr<const KeptFrame>> dead;
    const std::lock_guard lock(mutex_);
    dead.swap(frames_);
}

namespace {

// That are kept at most, whatever their numbers take: besides them a frame has some 2 KiB.
constexpr std::int64_t most_frames = std::int64_t{1} << 16;

FramePointer last_up_to(const std::vector<FramePointer>& frames, std::int64_t step) {
    const auto after =
        std::upper_bound(frames.begin(), frames.end(), step,
                         [](std::int64_t s, const FramePointer& f) { return s < f->step; });
    return after == frames.begin() ? nullptr : *std::prev(after);
}

}  // namespace

FramePointer Trajectory::frame_at(std::int64_t step) const {
    const auto exact = between_.find(step);
    return exact != between_.end() ? exact->second : last_up_to(frames, step);
}

void Trajectory::add_between(FramePointer frame) {
    const FramePointer kept = frame_at(frame->step);
    if (kept && kept->step == frame->step) return;
    bytes_ += frame->bytes();
    between_[frame->step] = std::move(frame);
}

void Trajectory::keep_between(std::int64_t first, std::int64_t last) {
    std::erase_if(between_, [&](const auto& entry) {
        const bool goes = entry.first < first || entry.first > last;
        if (goes) bytes_ -= entry.second->bytes();
        return goes;
    });
}

FramePointer Trajectory::adjoint_at(std::int64_t step) const {
    const auto after = adjoints.upper_bound(step);
    return after == adjoints.begin() ? nullptr : std::prev(after)->second;
}

bool Trajectory::holds(const std::string& array) const {
    return arrays && std::find(arrays->begin(), arrays->end(), array) != arrays->end();
}

bool Trajectory::holds_gradient(const std::string& array) const {
    return !adjoints.empty() && adjoints.begin()->second->find(array) != nullptr;
}

void Trajectory::add(FramePointer frame) {
    bytes_ += frame->bytes();
    frames.push_back(std::move(frame));
}

void Trajectory::add_adjoint(FramePointer frame) {
    FramePointer& place = adjoints[frame->step];
    bytes_ += frame->bytes() - (place ? place->bytes() : 0);
    place = std::move(frame);
}

void TrajectoryCache::clear() { kept_.clear(); }

TrajectoryPointer TrajectoryCache::find(std::int64_t iteration) {
    const auto found = kept_.find(iteration);
    if (found == kept_.end()) return nullptr;
    found->second.used = ++clock_;
    return found->second.trajectory;
}

TrajectoryPointer TrajectoryCache::peek(std::int64_t iteration) const {
    const auto found = kept_.find(iteration);
    return found == kept_.end() ? nullptr : found->second.trajectory;
}

void TrajectoryCache::put(std::int64_t iteration, TrajectoryPointer trajectory) {
    kept_[iteration] = {std::move(trajectory), ++clock_};
}

void TrajectoryCache::shrink(std::int64_t bytes, const std::vector<TrajectoryPointer>& pinned) {
    std::int64_t now = this->bytes(), frames = 0;
    for (const auto& [iteration, entry] : kept_)
        frames += static_cast<std::int64_t>(entry.trajectory->frames.size());
    while (now > bytes || frames > most_frames) {
        auto oldest = kept_.end();
        for (auto entry = kept_.begin(); entry != kept_.end(); ++entry) {
            const bool stays =
                std::find(pinned.begin(), pinned.end(), entry->second.trajectory) != pinned.end();
            if (!stays && (oldest == kept_.end() || entry->second.used < oldest->second.used))
                oldest = entry;
        }
        if (oldest == kept_.end()) return;
        now -= oldest->second.trajectory->bytes();
        frames -= static_cast<std::int64_t>(oldest->second.trajectory->frames.size());
        kept_.erase(oldest);
    }
}

std::int64_t TrajectoryCache::bytes() const {
    std::int64_t sum = 0;
    for (const auto& [iteration, entry] : kept_) sum += entry.trajectory->bytes();
    return sum;
}

std::vector<TrajectoryPointer> TrajectoryCache::all() const {
    std::vector<TrajectoryPointer> list;
    for (const auto& [iteration, entry] : kept_) list.push_back(entry.trajectory);
    return list;
}

}  // namespace hindcast::session
