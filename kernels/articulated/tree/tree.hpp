// The tree of bodies, joints and degrees of freedom that kernels of an articulated body are
// recorded for, and the numbers of the model that have no gradient.
//
// A tree is a part of a robot::RobotModel in the shape that host loops want. Names of sizes and the
// numbering of all things are MuJoCo's.
#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "engine/robot/robot_model.hpp"

namespace hindcast::articulated {

// For indices of lists: numbers of things are int, as MuJoCo has them.
inline std::size_t at(int i) { return static_cast<std::size_t>(i); }

// A closed interval; without limits where there are none.
struct Limits {
    bool present = false;
    double low = 0, high = 0;
};

struct Joint {
    robot::JointType type{};
    int body = 0;
    int qpos = 0, dof = 0;          // where its numbers begin in qpos and qvel
    double reference = 0;           // of a hinge or slide: its qpos where the model was drawn
    bool actuator_carries = false;  // gravity compensation counts as the actuators' force
    Limits force;                   // of the actuators, on a hinge or slide

    int dofs() const {
        return type == robot::JointType::free ? 6 : type == robot::JointType::ball ? 3 : 1;
    }
    // The count of its numbers in qpos that precede a quaternion, or of all. The velocity of each
    // has the same place among its degrees of freedom.
    int scalars() const {
        return type == robot::JointType::free ? 3 : type == robot::JointType::ball ? 0 : 1;
    }
};

struct Body {
    int parent = 0;
    int root = 0;             // the ancestor whose parent is the world
    std::vector<int> joints;  // from the parent on
    std::vector<int> dofs;    // all that move it, from the root on
    double gravity_compensation = 0;
};

struct Site {
    int body = 0;
    double position[3] = {}, orientation[4] = {};  // in the body
};

// A piece of a spatial tendon, from one site to another; around a geom if that is in the way.
struct TendonPiece {
    int first = 0, second = 0;  // sites
    int geom = -1, side = -1;   // a geom in Tree::obstacles and a site; -1: none
    double share = 1;           // of the piece's length in the tendon's
};

// The length of a fixed tendon is the sum of coefficient times joint position, of a spatial one that of
// its pieces.
struct Tendon {
    bool fixed = true;
    std::vector<std::pair<int, double>> joints;  // joint, coefficient
    std::vector<TendonPiece> pieces;
    std::vector<int> dofs;              // that its length may depend on
    double stiffness = 0, damping = 0;  // N/m, N s/m where its length is in m
    double low = 0, high = 0;           // no force of the spring in between
    double armature = 0;                // kg
    Limits force;                       // of its actuators together
};

// A geom that tendons go around.
struct RoundGeom {
    int number = 0, body = 0;  // in the model
    bool is_sphere = true;
};

struct Actuator {
    robot::TransmissionType acts_on{};
    int target = 0;           // joint, tendon or site
    int reference_site = -1;  // in whose frame a site's place counts; -1: none
    robot::DynamicsType dynamics{};
    double time_constant = 0;  // s, of a filter
    robot::GainType gain{};
    robot::BiasType bias{};
    int activation = -1;    // its number in act; -1: none
    bool early = false;     // the force uses the activation at the end of the step
    bool may_wrap = false;  // its input is an angle in space, if its gains and gear say so
    bool off = false;       // of a group that the model turns off
    Limits control, force, activation_limits;
    std::vector<int> dofs;  // that it may act on
};

struct Tree {
    int nq = 0, nv = 0, na = 0, nu = 0;
    std::vector<Body> bodies;  // 0 is the world
    std::vector<Joint> joints;
    std::vector<int> dof_body, dof_joint;
    std::vector<std::vector<int>>
        ancestors;  // of each degree of freedom, itself first, to the root
    std::vector<Site> sites;
    std::vector<Tendon> tendons;
    std::vector<RoundGeom> obstacles;
    std::vector<Actuator> actuators;
    robot::IntegratorType integrator{};
    bool springs = true, dampers = true, gravity = true;
    bool full_inertia = false;        // inertias of bodies are matrices: the scene's choice
    bool damping_is_implicit = true;  // of Euler's method, in the damping of joints

    bool has_spatial_tendons() const;
    bool has_tendon_armature() const;
    // In rows of nv.
    int entry(int row, int column) const { return row * nv + column; }
    bool moves(int body) const { return !bodies[at(body)].dofs.empty(); }
    // A body with a free joint, on which nothing moves.
    bool is_single(int body) const;
};

using TreePointer = std::shared_ptr<const Tree>;

// Throws Error, by name and with a remedy, where the model has something that moves it and that is
// not simulated, and what robot::require_supported() refuses.
TreePointer tree_of(const robot::RobotModel& model, bool full_inertia = false);

}  // namespace hindcast::articulated
