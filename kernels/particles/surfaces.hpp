// Surfaces of bodies: drawn, and known to modules that act on them.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "engine/model/model.hpp"

namespace hindcast::particles {

// Corners of the triangles, three numbers of the scene's points each; Model::shared() holds it.
// Filled as bodies are built, which is before all forces.
struct Surfaces {
    std::map<std::string, std::vector<std::int64_t>> by_name;
};

// Of the body `owner`. `element_of`: the body's element that each triangle belongs to; empty: its
// own.
inline void add_surface(model::Model& model, const std::string& owner,
                        const std::vector<std::int64_t>& corners,
                        const std::vector<std::int64_t>& element_of) {
    model.shared<Surfaces>().by_name[owner] = corners;
    model.draw({owner, model::DrawnSurface{{corners.begin(), corners.end()},
                                           {element_of.begin(), element_of.end()}}});
}

}  // namespace hindcast::particles
