#include "app/session/frames/frame_recorder.hpp"

#include <algorithm>

#include "engine/model/measured_motion.hpp"

namespace hindcast::session {

void FrameRecorder::watch(model::Model& model, std::int64_t points, SharedNames names,
                          std::int64_t held) {
    names_ = std::move(names);
    position_ = which_ = trail_points_ = Array();
    watch_energies(model);
    arrays_.clear();
    evaluated_.clear();
    measured_now_.clear();
    for (const std::string& name : *names_) {
        if (model.has_array(name)) {
            arrays_.push_back(model.array(name));
            continue;
        }
        if (const Array* const measured = watch_measured(model, name)) {
            arrays_.push_back(*measured);
            continue;
        }
        model::ShownValues& shown = shown_.try_emplace(name, model, name).first->second;
        evaluated_.push_back(&shown);
        arrays_.push_back(shown.values());
    }
    if (points == 0 || std::find(names_->begin(), names_->end(), "position") == names_->end())
        return;
    position_ = model.array("position");
    const std::int64_t count = std::min(points, max_trails);
    std::vector<std::int64_t> which;
    for (std::int64_t k = 0; k < count; ++k) which.push_back(k * points / count);
    held_ = held >= 0;
    if (held_) which.push_back(held);
    const auto gathered = static_cast<std::int64_t>(which.size());
    which_ = Array(ir::Type::i32, {gathered});
    which_.assign_integers(which);
    trail_points_ = Array(position_.type(), {gathered, position_.components()});
}

const Array* FrameRecorder::watch_measured(model::Model& model, const std::string& name) {
    for (const model::MeasuredMotion& motion : model.shared<model::MeasuredMotions>().list) {
        const Array* const array = name == motion.name_of_places()         ? &motion.places
                                   : name == motion.name_of_orientations() ? &motion.orientations
                                   : name == motion.name_of_known()        ? &motion.known
                                                                           : nullptr;
        if (array == nullptr) continue;
        if (!measured_.contains(motion.owner)) measured_[motion.owner] = motion.launches();
        measured_now_.insert(motion.owner);
        return array;
    }
    return nullptr;
}

void FrameRecorder::watch_energies(model::Model& model) {
    if (model_ == &model) return;
    model_ = &model;
    shown_.clear();
    measured_.clear();
    energy_names_.clear();
    energies_.clear();
    Program program;
    for (const model::Energy& energy : model.energies()) {
        energy_names_.push_back(energy.owner.empty() ? energy.name
                                                     : energy.name + " of " + energy.owner);
        energies_.emplace_back(ir::Type::f64, std::vector<std::int64_t>{1});
        energy.add(model, 1, energies_.back(), program);
    }
    add_energies_ = program.launches();
}

void FrameRecorder::release() {
    names_ = nullptr;
    arrays_.clear();
    evaluated_.clear();
    shown_.clear();
    measured_.clear();
    measured_now_.clear();
    position_ = which_ = trail_points_ = Array();
    model_ = nullptr;
    energy_names_.clear();
    energies_.clear();
    add_energies_.clear();
}

FramePointer FrameRecorder::record(std::int64_t step) {
    KeptFrame frame;
    frame.step = step;
    frame.names = names_;
    for (model::ShownValues* const shown : evaluated_) shown->evaluate();
    for (const std::string& owner : measured_now_)
        for (const Launch& launch : measured_.at(owner)) launch.forward().run();
    for (const Array& array : arrays_) frame.arrays.push_back(array.clone());
    for (const Array& energy : energies_) energy.fill(0);
    for (const Launch& launch : add_energies_) launch.forward().run();
    if (which_) kernels_.gather(position_, which_, trail_points_);
    for (const Array& energy : energies_) frame.energies.push_back(energy.value(0));
    if (which_) {
        const std::vector<double> places = trail_points_.to_doubles();
        const auto dimension = static_cast<std::size_t>(trail_points_.components());
        frame.trail_points.resize(places.size() / dimension);
        for (std::size_t k = 0; k < places.size(); ++k)
            frame.trail_points[k / dimension][k % dimension] = places[k];
        if (held_) {
            frame.held = frame.trail_points.back();
            frame.trail_points.pop_back();
        }
    }
    return dropped_frames_ ? DroppedFrames::keep(dropped_frames_, std::move(frame))
                           : std::make_shared<const KeptFrame>(std::move(frame));
}

FramePointer FrameRecorder::record(std::int64_t step, SharedNames names,
                                   const std::vector<Array>& arrays) const {
    KeptFrame frame;
    frame.step = step;
    frame.names = std::move(names);
    for (const Array& array : arrays) frame.arrays.push_back(array.clone());
    return dropped_frames_ ? DroppedFrames::keep(dropped_frames_, std::move(frame))
                           : std::make_shared<const KeptFrame>(std::move(frame));
}

}  // namespace hindcast::session
