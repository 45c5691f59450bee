#include "engine/runtime/program/sequence.hpp"

#include <algorithm>
#include <set>

#include "engine/backend/cuda/context.hpp"
#include "engine/base/error.hpp"
#include "engine/runtime/array/memory.hpp"

namespace hindcast {

struct Sequence::Noted {
    backend::cuda::Graph graph;
    std::vector<std::pair<Array, std::uint64_t>> indices;  // with their versions
    std::vector<const void*> places;                       // of all arrays, on the device
    std::string refusal;
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
        if (part.launches) part.launch.each_array(visit);
        if (part.to) visit(part.to);
        if (part.from) visit(part.from);
    }
}

void Sequence::ran_on_device() const {
    for (const Part& part : parts_) {
        if (part.launches) part.launch.ran_on_device();
        if (part.to) part.to.wrote_on_device();
    }
}

// Sends what the host has changed; whether the graph would do the same work.
bool Sequence::holds() const {
    std::vector<const void*> places;
    each_array([&](const Array& array) {
        if (array && array.bytes() > 0) places.push_back(array.memory().on(device_->cuda()));
    });
    const bool same =
        noted_->graph && places == noted_->places &&
        std::all_of(noted_->indices.begin(), noted_->indices.end(),
                    [](const auto& index) { return index.first.version() == index.second; });
    noted_->places = std::move(places);
    return same;
}

bool Sequence::note() {
    backend::cuda::Context& cuda = *device_->cuda();
    noted_->indices.clear();
    std::set<const void*> seen;
    each_array([&](const Array& array) {
        if (array && !ir::is_real(array.type()) && seen.insert(array.version_counter()).second)
            noted_->indices.emplace_back(array, array.version());
    });
    struct Leave {
        backend::cuda::Context& cuda;
        ~Leave() { cuda.drop_capture(); }
    } const leave{cuda};
    try {
        cuda.begin_capture();
        put();
        cuda.end_capture(noted_->graph);
    } catch (const Error& e) {
        noted_->graph = {};
        noted_->refusal = e.happened();
        if (device_->options().whole_program == WholeProgramUse::always) throw;
    }
    return static_cast<bool>(noted_->graph);
}

void Sequence::run() {
    const auto& cuda = device_->cuda();
    if (cuda && cuda->follows_capture()) return put();
    const bool may_note = cuda && !parts_.empty() && runs_ > 0 && noted_->refusal.empty() &&
                          device_->options().whole_program != WholeProgramUse::never;
    ++runs_;
    if (!may_note) return put();
    if (!holds() && !note()) return put();
    cuda->launch(noted_->graph, device_->options().single_block);
    ran_on_device();
}

std::string Sequence::report() const {
    if (!noted_->refusal.empty()) return "launch by launch: " + noted_->refusal;
    if (!noted_->graph) return "launch by launch: run a few times only";
    return noted_->graph.report();
}

}  // namespace hindcast
