// Bodies of points that are joined by elements with a mass: where the points start, and an equal
// part of each element's mass for each of its corners.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "engine/model/model.hpp"

namespace hindcast::particles {

// The elements of a body, as its mesh has them at rest.
struct ElementMesh {
    std::vector<double> points;     // of every point, m
    Array corners;                  // numbers of the scene's points, `corner_count` per element
    int corner_count = 0;           // 3 or 4
    Array measure;                  // volume (m^3) or area (m^2) of each element
    std::vector<double> centroids;  // of every element, m
    std::int64_t elements = 0;
};

// Adds the body's points to the scene, for declare(): where the field "positions" says, or as at
// rest.
struct PlacedPoints {
    model::Range range;
    std::vector<double> start;  // m
};
PlacedPoints place_at_rest(model::Model& model, const model::Settings& settings,
                           const std::vector<double>& points);

// Adds to the prologue what gives the points their start, their masses and what is fixed, for
// build(). `density`: the field of the mass per measure.
void start_elements(model::Model& model, const model::Settings& settings,
                    const PlacedPoints& placed, const ElementMesh& mesh, const char* density);
// "positions", "velocity" and "fixed", as these functions read them, and "rest_positions".
std::vector<model::Field> element_body_fields();

// "corners", "volume", "density", "m": adds the part of an element's mass to that of each corner.
template <int K>
lang::KernelDef lumped_mass();

}  // namespace hindcast::particles
