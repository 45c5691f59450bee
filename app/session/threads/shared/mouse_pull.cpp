#include "app/session/threads/shared/mouse_pull.hpp"

#include <algorithm>
#include <cstdio>
#include <cstdlib>

namespace hindcast::session {

namespace {

double rounded(double value, int digits) {
    char text[40];
    std::snprintf(text, sizeof text, "%.*g", digits, value);
    return std::strtod(text, nullptr);
}

}  // namespace

PullSpring pull_spring(double point_mass, double body_mass, double step_seconds) {
    constexpr double wanted_rate =
        10;  // 1/s: the point reaches the mouse in some tenths of a second
    const double rate = std::min(wanted_rate, 1 / (4 * step_seconds));
    const double mass = std::min(body_mass, point_mass / (4 * rate * step_seconds));
    return {rounded(mass * rate * rate, 4), rounded(2 * mass * rate, 4)};
}

double written_place(double meters) { return rounded(meters, 7); }

document::Node force_of(const PullPath& path, const std::string& name) {
    using document::Node;
    Node places = Node::array();
    for (const std::vector<double>& place : path.places) {
        Node vector = Node::array();
        for (const double x : place) vector.push_back(Node(x));
        places.push_back(std::move(vector));
    }
    return Node::object({{"type", "pull"},
                         {"name", name},
                         {"of", path.body},
                         {"point", path.point},
                         {"start_step", path.start_step},
                         {"stiffness", path.spring.stiffness},
                         {"damping", path.spring.damping},
                         {"places", std::move(places)}});
}

}  // namespace hindcast::session
