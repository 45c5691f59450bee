// SceneInfo: facts about a built simulation for both threads. Immutable; each build makes a new
// one.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "app/session/frames/stage_maker.hpp"
#include "app/session/frames/trajectory.hpp"
#include "app/session/link/run.hpp"
#include "app/session/link/scene.hpp"
#include "app/session/link/values.hpp"
#include "app/session/link/view.hpp"

namespace hindcast::session {

// A quantity without its values.
struct QuantityMeta {
    QuantityInfo info;  // values and gradient empty
    std::string owner;
};

// The entries of its quantity that a parameter consists of: entries[k] is number first + k of the
// flat vector.
struct ParameterPlace {
    std::size_t quantity = 0, first = 0;
    std::vector<std::size_t> entries;
};

// The source of the values of colors or arrows.
struct ValueSource {
    // shown: of the elements of several owners, computed with each frame (engine/model/shown.hpp).
    enum class Kind : std::uint8_t { array, shown, quantity, array_gradient, quantity_gradient };
    Kind kind = Kind::array;
    std::string array;  // of the model, or the key of what is shown of points
    struct Part {
        std::string key;   // of what is shown
        int drawable = 0;  // segments, a surface or arrows, with one element for each of the values
    };
    std::vector<Part> parts;   // shown
    std::size_t quantity = 0;  // of SceneInfo::quantities
    // The objects that have one value each: every point, a range of points, the segments or the
    // surface of the owner, the nodes of its field.
    enum class Of : std::uint8_t { points, range, segments, surface, field } of = Of::points;
    std::int64_t first = 0, count = 0;  // range

    // Names of the arrays that frames hold for it.
    std::vector<std::string> kept() const;
    // True if that drawable shows a part of it.
    bool draws(int drawable) const;
};

struct ProbedGradients;  // probed_gradients.hpp

struct SceneInfo {
    std::shared_ptr<const document::Document> document;  // it was built from this
    std::int64_t build = 0;                              // SceneSnapshot::build
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
    std::shared_ptr<const std::vector<PairInfo>> pairs;
    std::vector<TermInfo> terms;  // for a run that is not complete: their values are NaN

    std::vector<ShownField> colors, arrows;
    std::map<std::string, ValueSource> color_sources, arrow_sources;
    std::vector<std::string> recorded;  // arrays in every frame
    bool is_recorded(const std::string& array) const;
    // The source of the arrows with this name; null: there are none.
    const ValueSource* shown_arrows(const std::string& chosen) const;
    // Names of the arrays that frames hold for that look: `recorded`, and those that it needs
    // besides.
    std::vector<std::string> kept(const FrameContents& contents) const;
    std::int64_t bytes() const;                       // approximate size in memory
    std::map<std::string, std::int64_t> array_bytes;  // of one frame, by name

    // The values of a quantity in a run with these parameters.
    std::vector<double> values_of(std::size_t quantity, const std::vector<SharedValues>& base,
                                  const SharedValues& parameters) const;
    // The gradient with respect to the quantity's entries, 0 for entries without a parameter; empty
    // if the quantity has no parameter.
    std::vector<double> gradient_of(std::size_t quantity, const SharedValues& gradient) const;
    // `probe`: gradients of quantities that are not optimized; may be null.
    std::vector<QuantityInfo> quantity_infos(const Trajectory& t,
                                             const ProbedGradients* probe) const;
    // Frame::meshes.
    std::vector<std::shared_ptr<const render::Mesh>> drawable_meshes(
        const std::vector<SharedValues>& base, const SharedValues& parameters) const;
    // Frame::numbers at a time in seconds. `frame`: where bodies are; without it they are not drawn.
    std::vector<std::vector<double>> drawable_numbers(const std::vector<SharedValues>& base,
                                                      const SharedValues& parameters, double time,
                                                      const KeptFrame* frame = nullptr) const;
};
using SceneInfoPointer = std::shared_ptr<const SceneInfo>;

std::shared_ptr<SceneInfo> make_scene_info(Simulation& simulation);
std::vector<TermInfo> term_infos(const std::vector<Simulation::TermValue>& terms);
// True if both give the same runs if their values are the same.
bool same_shape(const SceneInfo& a, const SceneInfo& b);
// True if frames of the trajectory lack an array that the look needs.
bool lacks(const Trajectory& trajectory, const FrameContents& contents);
// The whole step of `scene` nearest in time to a step of length `step_seconds`, within the run.
std::int64_t same_moment(std::int64_t step, double step_seconds, const SceneInfo& scene);
// The position, m, of a point of the scene in a frame of the trajectory that holds positions; z is
// 0 in the plane. Only for the thread that owns the trajectory's device.
render::Vec3 place_of(const KeptFrame& frame, const Trajectory& t, std::int64_t point);
// The current values of all quantities.
std::shared_ptr<const std::vector<SharedValues>> numbers_of(Simulation& simulation);

}  // namespace hindcast::session
