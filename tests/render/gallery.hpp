// Stages in which every kind of thing is seen: for golden pictures, transports and people.
#pragma once

#include "tests/render/studio.hpp"

namespace hindcast::test {

// Balls, springs, a cloth, a ball, a box, targets, arrows, a floor that is an obstacle, a ghost.
StageMaker solid_gallery(render::RealType real = render::RealType::f32);
// A field under points, a half plane, a disc, targets and a surface.
StageMaker plane_gallery(render::RealType real = render::RealType::f32);
// A wave as a height field.
StageMaker wave_gallery();
// A ball of particles, about `count`, colored by height.
StageMaker particle_gallery(int count);
render::View gallery_view(const StageMaker& maker, int width, int height, bool dark = true);

}  // namespace hindcast::test
