#include "kernels/articulated/collision/robot_bounds.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <span>

#include "kernels/articulated/tree/host_axes.hpp"

namespace hindcast::articulated {

using model::Model;

namespace {

using V = std::array<double, 3>;
using R = HostMatrix;

V times(const R& m, const double* v) {
    V result{};
    for (std::size_t i = 0; i < 3; ++i)
        for (std::size_t j = 0; j < 3; ++j) result[i] += m[i][j] * v[j];
    return result;
}

R times(const R& a, const R& b) {
    R result{};
    for (std::size_t i = 0; i < 3; ++i)
        for (std::size_t j = 0; j < 3; ++j)
            for (std::size_t k = 0; k < 3; ++k) result[i][j] += a[i][k] * b[k][j];
    return result;
}

// Below a plane through this place, with z as its normal.
model::HalfSpace half_space(const R& turn, const V& at) {
    const V normal{turn[0][2], turn[1][2], turn[2][2]};
    return {normal, normal[0] * at[0] + normal[1] * at[1] + normal[2] * at[2]};
}

// A geom that collides, in the frame of its body.
struct Geom {
    std::size_t body = 0;
    bool is_plane = false;
    V place{};
    R turn{};
    V center{}, half{};  // of the box around it, in its own frame
};

std::vector<Geom> colliding_geoms(const robot::RobotModel& robot) {
    const auto bodies = robot.integers("geom_bodyid"), types = robot.integers("geom_type"),
               contype = robot.integers("geom_contype"),
               conaffinity = robot.integers("geom_conaffinity");
    const auto places = robot.reals("geom_pos"), turns = robot.reals("geom_quat"),
               boxes = robot.reals("geom_aabb");
    std::vector<Geom> geoms;
    for (std::size_t g = 0; g < bodies.size(); ++g) {
        if (contype[g] == 0 && conaffinity[g] == 0) continue;
        Geom geom{.body = static_cast<std::size_t>(bodies[g]),
                  .is_plane = static_cast<robot::GeomType>(types[g]) == robot::GeomType::plane};
        for (std::size_t k = 0; k < 3; ++k) {
            geom.place[k] = places[3 * g + k];
            geom.center[k] = boxes[6 * g + k];
            geom.half[k] = boxes[6 * g + 3 + k];
        }
        geom.turn = axes_of(turns.subspan(4 * g, 4));
        geoms.push_back(geom);
    }
    return geoms;
}

}  // namespace

void add_contact_body(Model& model, const std::string& name, const std::string& pointer,
                      const robot::RobotModel& robot, bool touches_itself) {
    std::vector<Geom> geoms = colliding_geoms(robot);
    if (geoms.empty()) return;
    std::vector<model::HalfSpace> ground;
    for (const Geom& geom : geoms)
        if (geom.is_plane && geom.body == 0) ground.push_back(half_space(geom.turn, geom.place));
    if (touches_itself) model.contact_pairs().keep_apart(name, name, "mujoco");
    model.contact_pairs().add(
        {.name = name,
         .pointer = pointer,
         .extent = model::Extent::rigid,
         .moves = robot.size("nv") > 0,
         .several = geoms.size() > 1,
         .falls = std::ranges::find(robot.integers("jnt_type"),
                                    static_cast<std::int32_t>(robot::JointType::free)) !=
                  robot.integers("jnt_type").end(),
         .own_ground = touches_itself ? std::move(ground) : std::vector<model::HalfSpace>{},
         .bounds = [geoms = std::move(geoms), xpos = model.array(name + ".xpos"),
                    xquat = model.array(name + ".xquat")](double) {
             const std::vector<double> places = xpos.to_doubles(), turns = xquat.to_doubles();
             model::Bounds bounds;
             for (const Geom& geom : geoms) {
                 const R body = axes_of(std::span(turns).subspan(4 * geom.body, 4)),
                         turn = times(body, geom.turn);
                 V at = times(body, geom.place.data());
                 for (std::size_t k = 0; k < 3; ++k) at[k] += places[3 * geom.body + k];
                 if (geom.is_plane) {
                     bounds.half_spaces.push_back(half_space(turn, at));
                     continue;
                 }
                 const V off = times(turn, geom.center.data());
                 model::Box box;
                 for (std::size_t k = 0; k < 3; ++k) {
                     double reach = 0;
                     for (std::size_t j = 0; j < 3; ++j)
                         reach += std::abs(turn[k][j]) * geom.half[j];
                     box.low[k] = at[k] + off[k] - reach;
                     box.high[k] = at[k] + off[k] + reach;
                 }
                 bounds.boxes.push_back(box);
             }
             return bounds;
         }});
}

}  // namespace hindcast::articulated
