// The points or elements within a box or a lasso on the picture. Pure functions of the stage and of
// the places of its points, so that they can be tested without a window.
#pragma once

#include <array>
#include <set>
#include <span>
#include <string>

#include "app/exchange/stage.hpp"
#include "app/session/making/parts.hpp"

namespace hindcast::gui {

using Pixel = std::array<double, 2>;  // from the picture's upper left corner

// By the even-odd rule; fewer than three corners hold nothing.
bool contains(std::span<const Pixel> polygon, const Pixel& pixel);

// The parts within the polygon in a picture of this size, including those behind other things.
// Points of bodies; or elements by their middles: triangles of surfaces, lines. `points`: the
// places of all points of the scene, m. Objects of the hidden names are left out.
session::Parts parts_within(const render::Stage& stage, std::span<const render::Vec3> points,
                            const std::set<std::string>& hidden, const render::Camera& camera,
                            int width, int height, std::span<const Pixel> polygon,
                            session::Parts::Kind kind);

// The points of the scene that an element of the object consists of; empty: there is no such.
std::vector<std::int64_t> points_of_element(const render::Stage& stage, const std::string& name,
                                            std::int64_t element);

// The part that was picked: the point of the element nearest to the place, or the element itself.
// None (an empty set) where nothing was.
session::Parts picked_part(const render::Stage& stage, std::span<const render::Vec3> points,
                           const render::Pick& pick, session::Parts::Kind kind);

}  // namespace hindcast::gui
