// What both threads know of a simulation that was built: immutable, made anew with each build.
#pragma once

#include <array>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "app/session/frames/stage_maker.hpp"
#include "app/session/frames/trajectory.hpp"
#include "app/session/snapshot.hpp"

namespace hindcast::session {

// A quantity without its values.
struct QuantityMeta {
    QuantityInfo info;       // values and gradient empty
    std::int64_t count = 0;  // elements it applies to
    std::string owner;
};

// A parameter's place in its quantity: entry `entries[k]` is number first + k of the flat vector.
struct ParameterPlace {
    std::size_t quantity = 0, first = 0;
    std::vector<std::size_t> entries;
};

// Where a colour or an arrow comes from.
struct Source {
    enum class Kind : std::uint8_t { array, quantity, array_gradient, quantity_gradient };
    Kind kind = Kind::array;
    std::string array;         // of the model
    std::size_t quantity = 0;  // of World::quantities
    // Of what the numbers are: every point, a range of points, the segments or surface of the
    // owner.
    enum class Of : std::uint8_t { points, range, segments, surface, field } of = Of::points;
    std::int64_t first = 0, count = 0;  // range
};

struct Probe;  // gradient_probe.hpp

struct World {
    std::shared_ptr<const document::Document> document;  // that it was built from
    std::int64_t build = 0;                              // Snapshot::build
    StagePlan plan;
    std::string name, device, precision;
    std::optional<std::array<std::uint8_t, 16>> cuda_uuid;
    double step_seconds = 0;
    std::int64_t steps = 0, substeps = 1;  // whole steps
    bool f64 = false;
    bool has_objective = false, has_parameters = false;

    std::vector<QuantityMeta> quantities;
    std::map<std::string, std::size_t> quantity_of;  // by path
    std::vector<ParameterPlace> places;
    std::vector<ParameterInfo> parameters;
    std::size_t parameter_count = 0;
    std::vector<TermInfo> terms;  // of a run that is not complete: their values are NaN

    std::vector<ShownField> colours, arrows;
    std::map<std::string, Source> colour_sources, arrow_sources;
    std::vector<std::string> recorded;                // arrays that every frame holds
    std::int64_t bytes() const;                       // about what it holds in memory
    std::map<std::string, std::int64_t> array_bytes;  // of one frame, by name

    // The numbers of a quantity in a run with these parameters.
    std::vector<double> values_of(std::size_t quantity, const std::vector<Numbers>& base,
                                  const Numbers& parameters) const;
    // The gradient at the quantity's own places, 0 where no parameter is; empty if none is there.
    std::vector<double> gradient_of(std::size_t quantity, const Numbers& gradient) const;
    // `probe`: of gradients of what is not optimised; may be null.
    std::vector<QuantityInfo> quantity_infos(const Trajectory& t, const Probe* probe) const;
    // Frame::numbers at a time in seconds.
    std::vector<std::vector<double>> thing_numbers(const std::vector<Numbers>& base,
                                                   const Numbers& parameters, double time) const;
};
using WorldPointer = std::shared_ptr<const World>;

std::shared_ptr<World> make_world(Simulation& simulation);
std::vector<TermInfo> term_infos(const std::vector<Simulation::TermValue>& terms);
// Whether runs of the one are runs of the other, if the numbers are the same.
bool same_shape(const World& a, const World& b);
// The whole step of the world at the moment of a step in a world of such steps: the nearest, within
// the run.
std::int64_t same_moment(std::int64_t step, double step_seconds, const World& world);
// Where a point of the scene is in a frame of the trajectory that holds positions, m; z is 0 in the
// plane. By the thread that has the trajectory's device.
render::Vec3 place_of(const KeptFrame& frame, const Trajectory& t, std::int64_t point);
// The numbers of all quantities as they stand.
std::shared_ptr<const std::vector<Numbers>> numbers_of(Simulation& simulation);

}  // namespace hindcast::session
