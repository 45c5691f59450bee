// Where the mesh and the pose of an obstacle come from (model::DrawnSolid).
#pragma once

#include <array>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "app/exchange/stage.hpp"
#include "engine/model/drawing.hpp"

namespace hindcast::session {

// In its own axes, about the centre. `half`: half extents, m.
render::Mesh box_mesh(const render::Vec3& half, int dimension);
// `half`: from the middle to an end of the axis; in the plane a stadium. `around`: sides of what is
// round, a multiple of 4.
render::Mesh capsule_mesh(const render::Vec3& half, double radius, int dimension, int around = 48);
render::Mesh cylinder_mesh(const render::Vec3& half, double radius, int around = 48);
render::Mesh ellipsoid_mesh(const render::Vec3& radii, int around = 48);
// Of a triangle, counter-clockwise as seen from its tip.
render::Vec3 normal_of(const render::Vec3& a, const render::Vec3& b, const render::Vec3& c);
// The rows of the rotation by a quaternion (w, x, y, z) of any length but 0.
std::array<render::Vec3, 3> rotation_of(const std::array<double, 4>& quaternion);
// Where the cubic B-spline with these coefficients at the nodes of a grid is zero (in the plane:
// not positive), by marching tetrahedra (triangles) on a lattice of at most 64 cells along each
// axis; its vertices are on the surface. What is thinner than a cell may be missing.
render::Mesh field_mesh(const std::vector<std::int64_t>& counts, double spacing,
                        const std::vector<double>& samples);

class SolidSource {
public:
    using Values = std::shared_ptr<const std::vector<double>>;

    explicit SolidSource(const model::DrawnSolid& shape);

    // Frame::numbers at the time, s: centre, rotation by rows. `values` gives those of a quantity.
    std::vector<double> pose(const std::function<std::vector<double>(const std::string&)>& values,
                             double time) const;
    // Made anew where the values that it depends on are others than at the last call.
    std::shared_ptr<const render::Mesh> mesh(
        const std::function<Values(const std::string&)>& values) const;

private:
    model::DrawnSolid::Kind kind_;
    int dimension_;
    std::string place_, extent_, radius_, orientation_, velocity_, angular_velocity_, samples_;
    std::vector<std::int64_t> counts_;
    double spacing_;
    mutable std::mutex mutex_;
    mutable std::vector<Values> made_from_;
    mutable std::shared_ptr<const render::Mesh> made_;
};

}  // namespace hindcast::session
