#include "app/session/making/room.hpp"

#include <algorithm>
#include <cmath>

#include "engine/document/read.hpp"
#include "engine/robot/rigid_shapes.hpp"

namespace hindcast::session {

namespace {

using document::Document;
using document::Node;
using model::Aside;
using model::number_at;
using model::Place;
using model::Room;

constexpr double least_gap = 0.02;  // m between things that are put beside each other

// Null: it is no list of numbers for this dimension.
std::optional<Place> place_at(const Node* node, int dimension) {
    if (node == nullptr || !node->is_array() || node->size() != static_cast<std::size_t>(dimension))
        return std::nullopt;
    Place place{};
    for (std::size_t k = 0; k < node->size(); ++k) {
        if (!document::is_number(node->item(k))) return std::nullopt;
        place[k] = document::number_of(node->item(k));
    }
    return place;
}

Room::Box around(const Place& center, const Place& half) {
    Room::Box box;
    for (std::size_t k = 0; k < 3; ++k) {
        box.low[k] = center[k] - half[k];
        box.high[k] = center[k] + half[k];
    }
    return box;
}

// The box around an obstacle. A box that is turned takes what it can turn into.
std::optional<Room::Box> box_of(const Node& obstacle, int dimension) {
    const double radius = number_at(obstacle, "radius", 0);
    const Place all{radius, radius, radius};
    const auto center = place_at(obstacle.find("center"), dimension);
    if (const auto half = place_at(obstacle.find("half_extents"), dimension); center && half) {
        if (obstacle.find("orientation") == nullptr) return around(*center, *half);
        const double r = std::hypot((*half)[0], (*half)[1], (*half)[2]);
        return around(*center, {r, r, r});
    }
    if (center && radius > 0) return around(*center, all);
    const auto start = place_at(obstacle.find("start"), dimension),
               end = place_at(obstacle.find("end"), dimension);
    if (!start || !end) return std::nullopt;
    Room::Box box = around(*start, all);
    const Room::Box other = around(*end, all);
    for (std::size_t k = 0; k < 3; ++k) {
        box.low[k] = std::min(box.low[k], other.low[k]);
        box.high[k] = std::max(box.high[k], other.high[k]);
    }
    return box;
}

// One that is turned takes what it can turn into.
Room::Box box_of_rigid(const Node& shape) {
    const Place center = place_at(shape.find("position"), 3).value_or(Place{});
    const auto size = place_at(shape.find("size"), 3);
    if (size && shape.find("orientation") == nullptr)
        return around(center, {(*size)[0] / 2, (*size)[1] / 2, (*size)[2] / 2});
    const double reach = size ? std::hypot((*size)[0], (*size)[1], (*size)[2]) / 2
                              : number_at(shape, "radius", 0) + number_at(shape, "length", 0) / 2;
    return around(center, {reach, reach, reach});
}

// Adds the boxes of a body's rigid shapes, and raises the ground to theirs.
void add_rigid_shapes(const Node& body, Room& room) {
    const Node* const shapes = robot::rigid_shapes_of(body);
    if (shapes == nullptr) return;
    if (body.find("model")->find("ground") != nullptr)
        room.raise_ground(number_at(*body.find("model"), "ground", 0));
    for (std::size_t k = 0; k < shapes->size(); ++k)
        if (shapes->item(k).is_object()) room.taken.push_back(box_of_rigid(shapes->item(k)));
}

}  // namespace

Room room_of(const Document& document, const Simulation* simulation) {
    Room room;
    if (const Node* const d = document.root().find("dimension"); d != nullptr && d->is_integer())
        room.dimension = static_cast<int>(d->integer());
    const Node* const up = document.root().find("up");
    if (room.dimension == 2 || (up != nullptr && up->is_string() && up->string() == "y"))
        room.up = 1;
    const Node* const obstacles = document.root().find("colliders");
    for (std::size_t k = 0; obstacles != nullptr && k < obstacles->size(); ++k) {
        const Node& obstacle = obstacles->item(k);
        if (const auto box = box_of(obstacle, room.dimension)) room.taken.push_back(*box);
        const auto normal = place_at(obstacle.find("normal"), room.dimension);
        if (!normal) continue;
        const double length = std::hypot((*normal)[0], (*normal)[1], (*normal)[2]);
        if (!(length > 0) || (*normal)[room.up] < 0.999 * length) continue;
        room.raise_ground(number_at(obstacle, "offset", 0));
    }
    const Node* const bodies = document.root().find("bodies");
    for (std::size_t k = 0; bodies != nullptr && room.dimension == 3 && k < bodies->size(); ++k)
        add_rigid_shapes(bodies->item(k), room);
    if (simulation == nullptr) return room;
    const std::vector<double>& x = simulation->model().initial_points();
    const auto d = static_cast<std::size_t>(room.dimension);
    for (const auto& [name, range] : simulation->model().bodies_with_points()) {
        if (range.count < 1) continue;
        Room::Box box;
        for (std::size_t k = 0; k < d; ++k) {
            box.low[k] = HUGE_VAL;
            box.high[k] = -HUGE_VAL;
            for (auto p = static_cast<std::size_t>(range.first);
                 p < static_cast<std::size_t>(range.first + range.count); ++p) {
                box.low[k] = std::min(box.low[k], x.at(p * d + k));
                box.high[k] = std::max(box.high[k], x.at(p * d + k));
            }
        }
        room.taken.push_back(box);
    }
    return room;
}

Place place_for(const Room& room, const Place& size, const Place& look_at, double above,
                Aside aside) {
    const auto d = static_cast<std::size_t>(room.dimension);
    Place low{};
    for (std::size_t k = 0; k < d; ++k) low[k] = look_at[k] - size[k] / 2;
    if (room.ground) low[room.up] = *room.ground + above;
    const double gap = std::max(above, least_gap);
    const std::size_t axis = aside == Aside::above ? room.up : 0;
    // Each pass leaves one box behind for good: low[axis] only grows.
    for (std::size_t pass = 0; pass <= room.taken.size(); ++pass) {
        const auto meets = [&](const Room::Box& box) {
            for (std::size_t k = 0; k < d; ++k)
                if (low[k] + size[k] <= box.low[k] - least_gap / 2 ||
                    low[k] >= box.high[k] + least_gap / 2)
                    return false;
            return true;
        };
        const auto hit = std::ranges::find_if(room.taken, meets);
        if (hit == room.taken.end()) break;
        low[axis] = hit->high[axis] + gap;
    }
    return low;
}

}  // namespace hindcast::session
