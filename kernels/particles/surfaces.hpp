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

// Adds the surface of the body `owner`. `element_of`: the body's element that each triangle belongs
// to; empty: its own.
inline void add_surface(model::Model& model, const std::string& owner,
                        const std::vector<std::int64_t>& corners,
                        const std::vector<std::int64_t>& element_of) {
    model.shared<Surfaces>().by_name[owner] = corners;
    model.draw({owner, model::DrawnSurface{{corners.begin(), corners.end()},
                                           {element_of.begin(), element_of.end()}}});
}

// The entry, among those that modules keep by body, of the body that the field "of" names. Throws
// Error at the field if there is none: `is_not` is the text ("has no surface"), with the remedy.
template <class T>
const T& kept_of(const model::Settings& settings, const model::Model& model,
                 const std::map<std::string, T>& by_name, const std::string& is_not,
                 const std::string& remedy) {
    const std::string name = settings.text("of");
    if (const auto found = by_name.find(name); found != by_name.end()) return found->second;
    (void)settings.points(model, "of");  // an error where there is no such body
    throw settings.error("of", "'" + name + "' " + is_not).remedy(remedy);
}

}  // namespace hindcast::particles
