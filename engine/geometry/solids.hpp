// Volume and moments of inertia of solids and of their surfaces, by size; of double or
// of traced numbers. Sizes are MuJoCo's: radius; radius and half length; half axes; half edges. The axis of
// capsules and cylinders is z. Moments are of a unit mass about the centre, in the solid's axes.
//
// Formulas: tables of moments of inertia, such as Beer and Johnston, Vector Mechanics for Engineers. A
// capsule is a cylinder and two halves of a sphere, whose centres are 3/8 of the radius from their bases
// (of a hemispherical shell 1/2); a closed cylinder's surface is its side and two discs, a box's its six
// faces, each with the parallel axis theorem.
#pragma once

#include <numbers>

namespace hindcast::geometry {

template <class T>
struct Solid {
    T volume;      // m^3, of a surface m^2
    T xx, yy, zz;  // m^2
};

template <class T>
Solid<T> solid_sphere(const T& r) {
    const T moment = 0.4 * r * r;
    return {4 * std::numbers::pi / 3 * r * r * r, moment, moment, moment};
}

template <class T>
Solid<T> solid_capsule(const T& r, const T& h) {
    const T cylinder = 2 * std::numbers::pi * r * r * h,
            sphere = 4 * std::numbers::pi / 3 * r * r * r, all = cylinder + sphere;
    const T across =
        (cylinder * (0.25 * r * r + h * h / 3.0) + sphere * (0.4 * r * r + 0.75 * h * r + h * h)) /
        all;
    return {all, across, across, (cylinder * 0.5 + sphere * 0.4) * r * r / all};
}

template <class T>
Solid<T> solid_cylinder(const T& r, const T& h) {
    const T across = 0.25 * r * r + h * h / 3.0;
    return {2 * std::numbers::pi * r * r * h, across, across, 0.5 * r * r};
}

template <class T>
Solid<T> solid_ellipsoid(const T& a, const T& b, const T& c) {
    return {4 * std::numbers::pi / 3 * a * b * c, 0.2 * (b * b + c * c), 0.2 * (a * a + c * c),
            0.2 * (a * a + b * b)};
}

template <class T>
Solid<T> solid_box(const T& a, const T& b, const T& c) {
    return {8.0 * a * b * c, (b * b + c * c) / 3.0, (a * a + c * c) / 3.0, (a * a + b * b) / 3.0};
}

template <class T>
Solid<T> surface_of_sphere(const T& r) {
    const T moment = 2.0 / 3 * r * r;
    return {4 * std::numbers::pi * r * r, moment, moment, moment};
}

template <class T>
Solid<T> surface_of_capsule(const T& r, const T& h) {
    const T side = 4 * std::numbers::pi * r * h, sphere = 4 * std::numbers::pi * r * r,
            all = side + sphere;
    const T across =
        (side * (0.5 * r * r + h * h / 3.0) + sphere * (2.0 / 3 * r * r + h * r + h * h)) / all;
    return {all, across, across, (side + sphere * (2.0 / 3)) * r * r / all};
}

template <class T>
Solid<T> surface_of_cylinder(const T& r, const T& h) {
    const T side = 4 * std::numbers::pi * r * h, discs = 2 * std::numbers::pi * r * r,
            all = side + discs;
    const T across = (side * (0.5 * r * r + h * h / 3.0) + discs * (0.25 * r * r + h * h)) / all;
    return {all, across, across, (side + discs * 0.5) * r * r / all};
}

template <class T>
Solid<T> surface_of_box(const T& a, const T& b, const T& c) {
    const T x = 8.0 * b * c, y = 8.0 * a * c, z = 8.0 * a * b, all = x + y + z;
    const T aa = a * a, bb = b * b, cc = c * c;
    return {all, (x * (bb + cc) / 3.0 + y * (cc / 3.0 + bb) + z * (bb / 3.0 + cc)) / all,
            (x * (cc / 3.0 + aa) + y * (aa + cc) / 3.0 + z * (aa / 3.0 + cc)) / all,
            (x * (bb / 3.0 + aa) + y * (aa / 3.0 + bb) + z * (aa + bb) / 3.0) / all};
}

}  // namespace hindcast::geometry
