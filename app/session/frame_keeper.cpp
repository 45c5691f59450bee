#include "app/session/frame_keeper.hpp"

#include <algorithm>

namespace hindcast::session {

void FrameKeeper::watch(model::Model& model, std::int64_t points, Names names, std::int64_t held) {
    names_ = std::move(names);
    arrays_.clear();
    for (const std::string& name : *names_) arrays_.push_back(model.array(name));
    mass_ = velocity_ = energy_ = position_ = which_ = ways_ = Array();
    const auto kept = [&](const std::string& name) {
        return points > 0 && std::find(names_->begin(), names_->end(), name) != names_->end();
    };
    if (kept("velocity") && model.has_array("mass")) {
        mass_ = model.array("mass");
        velocity_ = model.array("velocity");
        energy_ = Array(velocity_.type(), {1});
    }
    if (!kept("position")) return;
    position_ = model.array("position");
    const std::int64_t count = std::min(points, most_ways);
    std::vector<std::int64_t> which;
    for (std::int64_t k = 0; k < count; ++k) which.push_back(k * points / count);
    held_ = held >= 0;
    if (held_) which.push_back(held);
    const auto gathered = static_cast<std::int64_t>(which.size());
    which_ = Array(ir::Type::i32, {gathered});
    which_.assign_integers(which);
    ways_ = Array(position_.type(), {gathered, position_.components()});
}

void FrameKeeper::let_go() {
    names_ = nullptr;
    arrays_.clear();
    mass_ = velocity_ = energy_ = position_ = which_ = ways_ = Array();
}

FramePointer FrameKeeper::keep(std::int64_t step) {
    KeptFrame frame;
    frame.step = step;
    frame.names = names_;
    for (const Array& array : arrays_) frame.arrays.push_back(array.clone());
    if (mass_) kernels_.kinetic_energy(mass_, velocity_, energy_);
    if (which_) kernels_.gather(position_, which_, ways_);
    if (mass_) frame.kinetic_energy = energy_.value(0);
    if (which_) {
        const std::vector<double> places = ways_.to_doubles();
        const auto dimension = static_cast<std::size_t>(ways_.components());
        frame.ways.resize(places.size() / dimension);
        for (std::size_t k = 0; k < places.size(); ++k)
            frame.ways[k / dimension][k % dimension] = places[k];
        if (held_) {
            frame.held = frame.ways.back();
            frame.ways.pop_back();
        }
    }
    return graveyard_ ? Graveyard::keep(graveyard_, std::move(frame))
                      : std::make_shared<const KeptFrame>(std::move(frame));
}

FramePointer FrameKeeper::keep(std::int64_t step, Names names,
                               const std::vector<Array>& arrays) const {
    KeptFrame frame;
    frame.step = step;
    frame.names = std::move(names);
    for (const Array& array : arrays) frame.arrays.push_back(array.clone());
    return graveyard_ ? Graveyard::keep(graveyard_, std::move(frame))
                      : std::make_shared<const KeptFrame>(std::move(frame));
}

}  // namespace hindcast::session
