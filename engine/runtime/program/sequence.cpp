#include "engine/runtime/program/sequence.hpp"

#include <utility>

#include "engine/base/error.hpp"
#include "engine/runtime/array/index_versions.hpp"
#include "engine/runtime/launch/launch_state.hpp"
#include "engine/runtime/program/noted_graphs.hpp"

namespace hindcast {

struct Sequence::Noted {
    NotedGraphs graphs;
    IndexVersions indices;
    DevicePlaces places;
};

Sequence::Sequence(std::shared_ptr<Device> device)
    : device_(std::move(device)), noted_(std::make_unique<Noted>()) {}

Sequence::~Sequence() = default;

void Sequence::add(const Launch& launch) {
    Part part;
    part.launch = launch.forward();
    part.launches = true;
    parts_.push_back(std::move(part));
}

void Sequence::add_copy(const Array& to, const Array& from) {
    Part part;
    part.to = to;
    part.from = from;
    parts_.push_back(std::move(part));
}

void Sequence::add_clear(const Array& array) {
    Part part;
    part.to = array;
    parts_.push_back(std::move(part));
}

void Sequence::put() const {
    for (const Part& part : parts_) {
        if (part.launches)
            part.launch.run();
        else if (part.from)
            part.to.copy_from(part.from);
        else
            part.to.clear();
    }
}

void Sequence::each_array(const std::function<void(const Array&)>& visit) const {
    for (const Part& part : parts_) {
        if (part.launches) part.launch.bound().each_array(visit);
        if (part.to) visit(part.to);
        if (part.from) visit(part.from);
    }
}

void Sequence::ran_on_device() const {
    for (const Part& part : parts_) {
        if (part.launches) part.launch.bound().ran_on_device();
        if (part.to) part.to.wrote_on_device();
    }
}

bool Sequence::note() {
    noted_->indices.note([this](const auto& visit) { each_array(visit); });
    try {
        noted_->graphs.note(*device_, [this] { put(); });
    } catch (const Error&) {
        if (device_->options().whole_program == WholeProgramUse::always) throw;
        return false;
    }
    return true;
}

void Sequence::run() {
    const auto& cuda = device_->cuda();
    if (cuda && cuda->follows_capture()) return put();
    const bool may_note = cuda && !parts_.empty() && runs_ > 0 &&
                          noted_->graphs.refusal().empty() &&
                          device_->options().whole_program != WholeProgramUse::never;
    ++runs_;
    if (!may_note) return put();
    const bool same =
        noted_->places.send(*device_, [this](const auto& visit) { each_array(visit); });
    if ((!same || noted_->graphs.empty() || !noted_->indices.hold()) && !note()) return put();
    noted_->graphs.launch(*device_);
    ran_on_device();
}

std::string Sequence::report() const { return noted_->graphs.report(); }

}  // namespace hindcast
