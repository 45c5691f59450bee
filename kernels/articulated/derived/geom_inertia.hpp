// Inertias of bodies from their geoms, as MuJoCo's compiler finds them: each geom has its mass, or that of
// its volume (of a shell, its surface) by its density; a body's mass is their sum, its center that of
// theirs, and its inertia the sum of theirs about it, in the body's axes. Moments of solids and shells are
// the textbook's; those of a mesh are sums over the tetrahedra (of a shell, the triangles) of its faces,
// of the vertices in single precision that a compiled model keeps.
#pragma once

#include <array>
#include <memory>
#include <vector>

#include "kernels/articulated/dynamics/dynamics.hpp"

namespace hindcast::articulated {

struct MassedGeom {
    int number = 0;
    robot::GeomType type{};
    bool shell = false, has_mass = false;  // the latter: density says nothing
    // A mesh's volume (m^3; a shell's area, m^2), and the center (m) and inertia about it of a unit
    // mass (m^2; xx yy zz xy xz yz), in the geom's axes.
    double volume = 0;
    std::array<double, 3> center{};
    std::array<double, 6> inertia{};
};

struct GeomInertias {
    // The geoms that give each body its inertia; none if the body has an inertia of its own.
    std::vector<std::vector<MassedGeom>> of_body;
    // Values of each body as compiled, which bodies without such geoms keep. bodies, x 3, x 6.
    std::vector<double> body_mass, body_ipos, body_fullinertia;
    // Values of each geom: kg/m^3 or kg/m^2, and kg. 0 if it has no part in an inertia.
    std::vector<double> density, mass;
};

using GeomInertiasPointer = std::shared_ptr<const GeomInertias>;

// Throws Error, by name and with a remedy, where no body has its inertia from geoms; where a body's is not
// that of its geoms, since an attribute of <compiler> changes it; and for shells that are ellipsoids.
GeomInertiasPointer geom_inertias_of(const robot::RobotModel& model);

// geom_pos, geom_quat, geom_size, geom_density, geom_mass, and own_mass, own_ipos, own_inertia of bodies
// without such geoms -> body_mass (kg), body_ipos (m), body_fullinertia (kg m^2). One item for all.
KernelDef inertia_from_geoms(const GeomInertiasPointer& inertias);

}  // namespace hindcast::articulated
