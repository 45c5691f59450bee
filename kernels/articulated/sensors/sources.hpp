// Sources: the input of a kernel of sensors: arrays by the names of the kernels that make them, and
// numbers of the model by MuJoCo's names.
#pragma once

#include "kernels/articulated/dynamics/tendons.hpp"

namespace hindcast::articulated {

using Two = Vec<Float, 2>;

// Numbers of the model.
struct ModelSources {
    Property<Float> body_mass;
    Property<Vec3> body_inertia;
    Property<Quat> body_iquat;
    Property<Six> body_fullinertia;
    Property<Vec3> geom_pos;
    Property<Quat> geom_quat;
    Property<Vec3> geom_size;
    Property<Vec3> gravity;
    Property<Float> jnt_stiffness, qpos_spring;
    Property<Two> jnt_range, tendon_range;
    Property<Vec<Float, 12>> eq_data;
    Property<Six> gear;
};

// Arrays of constraints (constraints/constraint_terms.hpp).
struct RowSources {
    Read<Float> dof_row_aref, dof_row_mass, dof_row_low, dof_row_high;
    Read<Float> row_jacobian, row_mass, row_force;
};

// Arrays of contacts (contact_rows.hpp).
struct ContactSources {
    Read<Int> contact_count, contact_slot, slot_pair;
    Read<Vec<Int, 7>> pair_numbers;
    Read<Float> slot_dist;
    Read<Vec3> slot_pos;
    Read<Mat3> slot_frame;
    Read<Six> contact_wrench;
    Read<Int3> pair_order;  // pair_order() in contact_sensors.hpp
};

// Arrays of the slots of Distances, and of Triangles.
struct GeometrySources {
    Read<Mat3> geom_xmat;
    Read<Float> apart_dist;
    Read<Vec3> apart_pos;
    Read<Mat3> apart_frame;
    Read<Float> apart_sign;
    Read<Int3> ray_triangle;
    Read<Vec3> ray_vertex;
};

struct Sources {
    Read<Float> qpos, qvel;
    Read<Vec3> xpos;
    Read<Quat> xquat;
    Read<Vec3> xipos;
    Read<Six> cdof, cvel;
    Read<Float> moment, actuator_length, actuator_force, actuator;
    TendonReader tendons;
    Read<Float> qacc;
    Read<Float> inertia;
    ModelSources model;
    RowSources rows;
    ContactSources contacts;
    GeometrySources geometry;
    // Arrays of tendons in space.
    Read<Float> tendon_bias, tendon_length0;
    Read<Vec4> volume_side;  // SensorPlan::sides
    // For each of SensorPlan::load_bodies: 1 for the bodies that it carries.
    Read<Int> sensor_carries;
    Read<Vec3> point_force;  // of the scene's forces
    Param<Int> step;
    Param<Float> h;
};

}  // namespace hindcast::articulated
