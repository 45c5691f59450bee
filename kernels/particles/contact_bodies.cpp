#include "kernels/particles/contact_bodies.hpp"

#include <algorithm>
#include <cmath>

#include "kernels/particles/implicit.hpp"
#include "kernels/particles/particles.hpp"
#include "kernels/particles/surfaces.hpp"

namespace hindcast::particles {

using model::Extent;
using model::Model;

std::function<model::Bounds(double)> bounds_of_points(const Model& model, model::Range range,
                                                      double radius) {
    return [array = model.array("position"), range, radius, dimension = model.dimension()](double) {
        const std::vector<double> x = array.to_doubles();
        model::Box box;
        for (std::int64_t p = range.first; p < range.first + range.count; ++p)
            box.add(&x[static_cast<std::size_t>(p * dimension)], dimension, radius);
        return model::Bounds{.boxes = {box}, .half_spaces = {}};
    };
}

namespace {

// The pointer of the object that a body's quantity "positions" stands in; "" if there is none.
std::string pointer_of(Model& model, const std::string& body) {
    const model::Quantity* const q = model.find_quantity(body + ".positions");
    return q == nullptr ? "" : q->scene_pointer.substr(0, q->scene_pointer.rfind('/'));
}

}  // namespace

void add_contact_bodies(Model& model) {
    const auto& surfaces = model.shared<Surfaces>().by_name;
    const std::vector<char>& fixed = model.shared<FixedPoints>().flags;
    for (const auto& [name, range] : model.bodies_with_points()) {
        if (model.contact_pairs().find(name) != nullptr || follows_from_coordinates(model, name))
            continue;
        const model::Quantity* const radius = model.find_quantity(name + ".radius");
        bool moves = false;
        for (std::int64_t p = range.first; p < range.first + range.count; ++p)
            moves = moves || static_cast<std::size_t>(p) >= fixed.size() ||
                    fixed[static_cast<std::size_t>(p)] == 0;
        model.contact_pairs().add(
            {.name = name,
             .pointer = pointer_of(model, name),
             .extent = surfaces.contains(name) ? Extent::surface
                       : radius != nullptr     ? Extent::balls
                                               : Extent::points,
             .moves = moves,
             .several = range.count > 1,
             .bounds =
                 bounds_of_points(model, range, radius != nullptr ? radius->values.front() : 0)});
    }
}

void keep_apart(Model& model, const std::string& obstacle, model::Range range,
                const std::string& law, bool through_forces) {
    for (const auto& [name, of] : model.bodies_with_points()) {
        if (!of.overlaps(range)) continue;
        if (!follows_from_coordinates(model, name))
            model.contact_pairs().keep_apart(obstacle, name, law);
        else if (through_forces)
            model.contact_pairs().keep_apart(obstacle, name, law + " at centers of mass");
    }
}

double longest_edge(Model& model, const std::string& body) {
    const auto& surfaces = model.shared<Surfaces>().by_name;
    const auto found = surfaces.find(body);
    if (found == surfaces.end()) return 0;
    const std::vector<std::int64_t>& corners = found->second;
    const std::vector<double>& x = model.initial_points();
    const std::int64_t dimension = model.dimension();
    if (dimension != 3) return 0;  // a surface in the plane has an inside
    double most = 0;
    for (std::size_t t = 0; t + 3 <= corners.size(); t += 3)
        for (std::size_t k = 0; k < 3; ++k) {
            double square = 0;
            for (std::int64_t c = 0; c < dimension; ++c) {
                const auto at = [&](std::int64_t point) {
                    return x[static_cast<std::size_t>(point * dimension + c)];
                };
                square += std::pow(at(corners[t + k]) - at(corners[t + (k + 1) % 3]), 2);
            }
            most = std::max(most, square);
        }
    return std::sqrt(most);
}

}  // namespace hindcast::particles
