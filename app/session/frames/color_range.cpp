#include "app/session/frames/color_range.hpp"

#include <algorithm>

namespace hindcast::session {

namespace {

using Range = std::optional<std::array<double, 2>>;

// The gradient that the colors come from; null: they come from something else, or there is none yet.
SharedValues gradient_for(const Trajectory& t, const std::string& color) {
    const auto source = t.scene->color_sources.find(color);
    const bool needed = source != t.scene->color_sources.end() &&
                        source->second.kind == ValueSource::Kind::quantity_gradient;
    return needed ? t.gradient : nullptr;
}

Range joined(const Range& a, const Range& b) {
    if (!a || !b) return a ? a : b;
    return std::array{std::min((*a)[0], (*b)[0]), std::max((*a)[1], (*b)[1])};
}

}  // namespace

ColorJob::Found ColorJob::measure(FrameWriter& writer,
                                  std::chrono::steady_clock::time_point until) {
    Found found;
    try {
        for (const Moment& moment : moments) {
            job.input.frame = moment.frame;
            job.input.adjoint = moment.adjoint;
            found.range = joined(found.range, writer.color_range(job));
            ++found.measured;
            if (std::chrono::steady_clock::now() >= until) break;
        }
    } catch (const Error& error) {
        found = {.measured = moments.size(), .range = {}, .failure = error};
    }
    return found;
}

std::optional<ColorJob> ColorRangeOfRun::next(const TrajectoryPointer& trajectory,
                                              const FrameContents& contents) {
    const bool any =
        trajectory && (!contents.color.empty() || !trajectory->scene->plan.fields.empty());
    if (!any) {
        *this = {};
        return std::nullopt;
    }
    const Trajectory& t = *trajectory;
    if (!is_of(trajectory, contents)) {
        const bool follows = color_ == contents.color && scene_.lock() == t.scene;
        const Range before = follows ? (complete_ ? found_ : joined(before_, found_)) : Range();
        *this = {};
        trajectory_ = trajectory;
        scene_ = t.scene;
        gradient_ = gradient_for(t, contents.color);
        color_ = contents.color;
        before_ = before;
    }
    if (complete_) return std::nullopt;
    if (lacks(t, contents)) {  // another run brings it, or none does
        complete_ = t.failed || t.of_mouse_pull;
        return std::nullopt;
    }
    const auto source = t.scene->color_sources.find(color_);
    const bool of_adjoints = source != t.scene->color_sources.end() &&
                             source->second.kind == ValueSource::Kind::array_gradient;
    if (of_adjoints && !t.adjoints_complete) {
        complete_ = t.gradient_failed;
        return std::nullopt;
    }
    const auto first = std::ranges::upper_bound(t.frames, measured_to_, {}, &KeptFrame::step);
    if (first == t.frames.end()) {
        complete_ = t.complete || t.failed;
        return std::nullopt;
    }
    ColorJob job;
    job.job.scene = t.scene;
    job.job.trajectory = trajectory;
    job.job.base = t.base;
    job.job.parameters = t.parameters;
    job.job.input.scene = t.scene.get();
    job.job.input.trajectory = trajectory.get();
    job.job.input.gradient = t.gradient;
    job.job.input.contents = contents;
    for (auto frame = first; frame != t.frames.end() && job.moments.size() < most_moments;
         ++frame) {
        FramePointer adjoint = t.adjoint_at((*frame)->step);
        if (adjoint && adjoint->step != (*frame)->step) adjoint = nullptr;
        job.moments.push_back({*frame, std::move(adjoint)});
    }
    return job;
}

void ColorRangeOfRun::take(const ColorJob& job, const ColorJob::Found& found) {
    if (found.measured == 0 || !is_of(job.job.trajectory, job.job.input.contents) ||
        (gradient_ && gradient_ != job.job.input.gradient))
        return;  // of what was shown before
    measured_to_ = job.moments[found.measured - 1].frame->step;
    found_ = joined(found_, found.range);
}

bool ColorRangeOfRun::is_of(const TrajectoryPointer& trajectory,
                            const FrameContents& contents) const {
    return trajectory && trajectory_.lock() == trajectory && color_ == contents.color &&
           gradient_ == gradient_for(*trajectory, color_);
}

std::optional<ColorRange> ColorRangeOfRun::range(const TrajectoryPointer& trajectory,
                                                 const FrameContents& contents) const {
    const bool same = is_of(trajectory, contents);
    if (!same && (!trajectory || scene_.lock() != trajectory->scene || color_ != contents.color))
        return std::nullopt;
    const bool complete = same && complete_;
    const Range range = complete_ ? found_ : joined(before_, found_);
    if (!range && !complete) return std::nullopt;
    return ColorRange{color_, range, complete};
}

}  // namespace hindcast::session
