#include "app/session/threads/work/row_writer.hpp"

namespace hindcast::session {

double RowWriter::seconds_since_begin() const {
    return std::chrono::duration<double>(Clock::now() - since_).count();
}

void RowWriter::write(const Optimization::Row& row, const SceneRevisionPointer& revision) {
    // The first row of a branch is the row that it started from.
    const IterationInfo* const from =
        branched_from_ >= 0 ? shared_.history.row_of(branched_from_) : nullptr;
    if (from != nullptr && row.iteration == 0 && from->loss == row.loss && from->parameters &&
        *from->parameters == row.parameters)
        return;
    IterationInfo info;
    info.iteration = shared_.history.last_iteration() + 1;
    info.branched_from = std::exchange(branched_from_, -1);
    info.loss = row.loss;
    info.gradient_norm = row.gradient_norm;
    info.seconds = seconds_ + seconds_since_begin();
    info.terms = term_infos(row.terms);
    info.parameters = state_.values;
    info.gradient = std::make_shared<const std::vector<double>>(row.gradient);
    info.build = state_.now.scene->build;
    if (last_run_ && *last_run_->parameters == row.parameters) {
        last_run_->iteration = info.iteration;
        last_run_->parameters = info.parameters;
        last_run_->gradient = info.gradient;
        shared_.current = last_run_;
        shared_.trajectories.put(info.iteration, last_run_);
    }
    history_.add(std::move(info), revision);
}

}  // namespace hindcast::session
