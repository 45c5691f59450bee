// Free room in a scene: boxes around everything that is there at the start, the ground, and a place
// for something new.
#pragma once

#include <algorithm>
#include <array>
#include <optional>
#include <string>
#include <vector>

#include "engine/document/document.hpp"
#include "engine/sim/simulation.hpp"

namespace hindcast::session {

using Place = std::array<double, 3>;  // m; in the plane without the last

struct Room {
    int dimension = 3;
    std::size_t up = 2;  // the axis: 1 or 2
    struct Box {
        Place low{}, high{};
    };
    std::vector<Box> taken;        // by bodies and obstacles
    std::optional<double> ground;  // the height of the highest plane that faces up
    void raise_ground(double height) { ground = std::max(ground.value_or(height), height); }
};

// Obstacles and rigid shapes come from the document, places of points at the start from the
// simulation; null: no points.
Room room_of(const document::Document& document, const Simulation* simulation);

// The low corner for a box of this size, `above` metres over the ground, or around `look_at` where
// there is none. If something is there it goes on top of that by `above`, or beside it.
enum class Aside { above, beside };
Place place_for(const Room& room, const Place& size, const Place& look_at, double above,
                Aside aside);

}  // namespace hindcast::session
