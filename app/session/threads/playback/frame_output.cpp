#include "app/session/threads/playback/frame_output.hpp"

#include <utility>

namespace hindcast::session {

FrameOutput::FrameOutput(SharedState& shared, const Cursor& cursor, const Device& solver)
    : shared_(shared), cursor_(cursor) {
    if (solver.cuda()) return;
    DeviceOptions options = solver.options();
    options.threads = 1;
    writer_.emplace(std::make_shared<Device>(options));
}

void FrameOutput::show_on(std::shared_ptr<render::Exchange> exchange) {
    exchange_ = std::move(exchange);
    checked_stage_ = nullptr;
    shared_.draft.view.frame_error = nullptr;
    if (writer_)
        writer_->release();
    else
        shared_.frame_requests.release_exchange = true;
    shared_.frame_requests.job.reset();
    shared_.wake_runner();
}

bool FrameOutput::fits() {
    if (!exchange_ || !shared_.shown) return false;
    const auto& stage = shared_.shown->scene->plan.stage;
    if (checked_stage_ != stage) {
        checked_stage_ = stage;
        fits_ = &exchange_->stage() == stage.get() || same_layout(exchange_->stage(), *stage);
    }
    return fits_;
}

std::optional<FrameJob> FrameOutput::next_job() const {
    const TrajectoryPointer trajectory = shared_.shown;
    const std::int64_t step = cursor_.step_in(*trajectory->scene);
    FrameInput input;
    input.frame = trajectory->frame_at(step);
    if (!input.frame) return std::nullopt;
    input.adjoint = trajectory->adjoint_at(step);
    if (input.adjoint && input.adjoint->step != input.frame->step) input.adjoint = nullptr;
    // The ghost of another scene is shown at the same time.
    if (const TrajectoryPointer& ghost = shared_.ghost)
        input.ghost = ghost->frame_at(
            ghost->scene == trajectory->scene
                ? step
                : same_moment(step, trajectory->scene->step_seconds, *ghost->scene));
    input.gradient = trajectory->gradient;
    input.contents = shared_.wanted.contents;
    input.scene = trajectory->scene.get();
    input.trajectory = trajectory.get();
    // An object that was moved is drawn at its new place, even before its new trajectory is there.
    const TrajectoryPointer& newest =
        !shared_.wanted.iteration && shared_.current && shared_.current->scene == trajectory->scene
            ? shared_.current
            : trajectory;
    return FrameJob{trajectory->scene, trajectory,         exchange_,
                    newest->base,      newest->parameters, std::move(input)};
}

bool FrameOutput::write(Lock& lock) {
    if (!fits()) return false;
    std::optional<FrameJob> job = next_job();
    if (!job) return false;
    const FrameInput& input = job->input;
    Written now{input.frame,          input.adjoint,         input.ghost,          input.trajectory,
                job->base.get(),      job->parameters.get(), input.gradient.get(), exchange_.get(),
                input.contents.color, input.contents.arrows};
    if (now == written_) return false;
    written_ = std::move(now);
    if (!writer_) {  // only the newest job counts
        shared_.frame_requests.job = std::move(job);
        shared_.changed = true;
        shared_.wake_runner();
        return false;
    }
    std::optional<Error> failure;
    lock.unlock();
    try {
        writer_->write(*job);
    } catch (const Error& error) {
        failure = error;
    }
    lock.lock();
    if (failure) {
        fits_ = false;
        shared_.fail_frame(*failure);
    }
    return !failure;
}

bool FrameOutput::lags(const FramePointer& frame) const {
    const FrameContents& contents = shared_.wanted.contents;
    const bool other_frame = written_.frame != frame || written_.color != contents.color ||
                             written_.arrows != contents.arrows;
    return can_show() && frame &&
           (other_frame || shared_.frame_requests.job || shared_.frame_requests.is_writing);
}

}  // namespace hindcast::session
