// Written by engine/robot/layout/generate.py from MuJoCo's headers; not to be edited.
//
// The numbers that stand in mjModel's fields of types and flags, with MuJoCo's names.
#pragma once

#include <string_view>

namespace hindcast::robot {

// clang-format off
enum class DisableFlag : int {
    constraint = 1, equality = 2, frictionloss = 4, limit = 8, contact = 16, spring = 32,
    damper = 64, gravity = 128, clampctrl = 256, warmstart = 512, filterparent = 1024,
    actuation = 2048, refsafe = 4096, sensor = 8192, midphase = 16384, eulerdamp = 32768,
    autoreset = 65536, nativeccd = 131072, island = 262144, multiccd = 524288,
};
enum class EnableFlag : int {
    override = 1, energy = 2, fwdinv = 4, invdiscrete = 8, sleep = 16, diagexact = 32,
    ipc = 64, speculative = 128,
};
enum class JointType : int {
    free = 0, ball = 1, slide = 2, hinge = 3,
};
enum class GeomType : int {
    plane = 0, hfield = 1, sphere = 2, capsule = 3, ellipsoid = 4, cylinder = 5, box = 6,
    mesh = 7, sdf = 8, arrow = 100, arrow1 = 101, arrow2 = 102, line = 103, linebox = 104,
    flex = 105, skin = 106, label = 107, triangle = 108, none = 1001,
};
enum class IntegratorType : int {
    euler = 0, rk4 = 1, implicit = 2, implicitfast = 3, discrete = 4,
};
enum class ConeType : int {
    pyramidal = 0, elliptic = 1,
};
enum class JacobianType : int {
    dense = 0, sparse = 1, auto_ = 2,
};
enum class SolverType : int {
    pgs = 0, cg = 1, newton = 2,
};
enum class EqualityType : int {
    connect = 0, weld = 1, joint = 2, tendon = 3, flex = 4, flexvert = 5, flexstrain = 6,
    distance = 7,
};
enum class TendonType : int {
    fixed = 0, spatial = 1,
};
enum class WrapType : int {
    none = 0, joint = 1, pulley = 2, site = 3, sphere = 4, cylinder = 5,
};
enum class TransmissionType : int {
    joint = 0, jointinparent = 1, slidercrank = 2, tendon = 3, site = 4, body = 5, so3 = 6,
    undefined = 1000,
};
enum class DynamicsType : int {
    none = 0, integrator = 1, filter = 2, filterexact = 3, muscle = 4, dcmotor = 5, pid = 6,
    user = 7,
};
enum class GainType : int {
    fixed = 0, affine = 1, muscle = 2, dcmotor = 3, so3 = 4, pid = 5, user = 6,
};
enum class BiasType : int {
    none = 0, affine = 1, muscle = 2, dcmotor = 3, so3 = 4, user = 5,
};
enum class ControlInput : int {
    pos = 1, vel = 2, ff = 4, voltage = 8, none = 16, pressure = 32,
};
enum class ObjectType : int {
    unknown = 0, body = 1, xbody = 2, joint = 3, dof = 4, geom = 5, site = 6, camera = 7,
    light = 8, flex = 9, mesh = 10, skin = 11, hfield = 12, texture = 13, material = 14,
    pair = 15, exclude = 16, equality = 17, tendon = 18, actuator = 19, sensor = 20,
    numeric = 21, text = 22, tuple = 23, key = 24, plugin = 25, frame = 100, default_ = 101,
    model = 102,
};
enum class SensorType : int {
    touch = 0, accelerometer = 1, velocimeter = 2, gyro = 3, force = 4, torque = 5,
    magnetometer = 6, rangefinder = 7, camprojection = 8, jointpos = 9, jointvel = 10,
    tendonpos = 11, tendonvel = 12, actuatorpos = 13, actuatorvel = 14, actuatorfrc = 15,
    jointactfrc = 16, tendonactfrc = 17, ballquat = 18, ballangvel = 19, jointlimitpos = 20,
    jointlimitvel = 21, jointlimitfrc = 22, tendonlimitpos = 23, tendonlimitvel = 24,
    tendonlimitfrc = 25, framepos = 26, framequat = 27, framexaxis = 28, frameyaxis = 29,
    framezaxis = 30, framelinvel = 31, frameangvel = 32, framelinacc = 33, frameangacc = 34,
    subtreecom = 35, subtreelinvel = 36, subtreeangmom = 37, insidesite = 38, geomdist = 39,
    geomnormal = 40, geomfromto = 41, contact = 42, e_potential = 43, e_kinetic = 44,
    clock = 45, tactile = 46, plugin = 47, user = 48,
};
enum class MeshInertia : int {
    convex = 0, exact = 1, legacy = 2, shell = 3,
};
enum class InertiaFromGeom : int {
    false_ = 0, true_ = 1, auto_ = 2,
};

// The name of a number, empty where MuJoCo has none for it.
std::string_view name_of(DisableFlag value);
std::string_view name_of(EnableFlag value);
std::string_view name_of(JointType value);
std::string_view name_of(GeomType value);
std::string_view name_of(IntegratorType value);
std::string_view name_of(ConeType value);
std::string_view name_of(JacobianType value);
std::string_view name_of(SolverType value);
std::string_view name_of(EqualityType value);
std::string_view name_of(TendonType value);
std::string_view name_of(WrapType value);
std::string_view name_of(TransmissionType value);
std::string_view name_of(DynamicsType value);
std::string_view name_of(GainType value);
std::string_view name_of(BiasType value);
std::string_view name_of(ControlInput value);
std::string_view name_of(ObjectType value);
std::string_view name_of(SensorType value);
std::string_view name_of(MeshInertia value);
std::string_view name_of(InertiaFromGeom value);
// clang-format on

}  // namespace hindcast::robot
