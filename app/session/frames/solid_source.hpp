// SolidSource: the mesh and the pose of an obstacle (model::DrawnSolid).
#pragma once

#include <array>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "app/exchange/stage.hpp"
#include "engine/geometry/surface/surface_mesh.hpp"
#include "engine/model/drawing.hpp"

namespace hindcast::session {

// A surface as the renderer has it.
render::Mesh drawn(geometry::SurfaceMesh surface);
// The rows of the rotation by a quaternion (w, x, y, z) of any length but 0.
std::array<render::Vec3, 3> rotation_of(const std::array<double, 4>& quaternion);
class SolidSource {
public:
    using Values = std::shared_ptr<const std::vector<double>>;

    explicit SolidSource(const model::DrawnSolid& shape);

    // Frame::numbers at the time, s: center, rotation by rows. `values` gives those of a quantity.
    std::vector<double> pose(const std::function<std::vector<double>(const std::string&)>& values,
                             double time) const;
    // Made anew where the values that it depends on are others than at the last call.
    std::shared_ptr<const render::Mesh> mesh(
        const std::function<Values(const std::string&)>& values) const;

private:
    geometry::ShapeKind kind_;
    int dimension_;
    std::string place_, extent_, radius_, orientation_, velocity_, angular_velocity_, samples_;
    std::vector<std::int64_t> counts_;
    double spacing_;
    mutable std::mutex mutex_;
    mutable std::vector<Values> made_from_;
    mutable std::shared_ptr<const render::Mesh> made_;
};

}  // namespace hindcast::session
