// A robot's model: what its arrays hold, against numbers worked out by hand; names, options,
// copies.
#include <doctest/doctest.h>

#include <algorithm>
#include <fstream>
#include <numbers>

#include "engine/robot/robot_model.hpp"
#include "tests/support/error_message.hpp"
#include "tests/support/mujoco.hpp"
#include "tests/support/temporary_folder.hpp"

using namespace hindcast;
using namespace hindcast::robot;
using namespace hindcast::test;

namespace {

// A box of 2 x 4 x 6 m and 24 kg on a hinge, a ball on a slide below it, and one thing of each kind.
const char* const arm = R"(<mujoco>
  <option timestep="0.01" gravity="0 0 -9.5" wind="1 2 3" density="0" impratio="2"
          integrator="implicitfast" cone="elliptic" solver="CG" iterations="7" ls_iterations="9">
    <flag warmstart="disable" energy="enable"/>
  </option>
  <custom><numeric name="gains" data="1.5 2.5"/></custom>
  <asset>
    <hfield name="hills" nrow="2" ncol="3" size="1 2 3 4" elevation="0 1 2 3 4 5"/>
    <mesh name="wedge" vertex="0 0 0  1 0 0  0 1 0  0 0 1"/>
  </asset>
  <worldbody>
    <light name="sun"/>
    <camera name="eye"/>
    <geom name="floor" type="plane" size="1 1 1"/>
    <body name="target" mocap="true" pos="3 0 0"/>
    <body name="torso" pos="0 0 10">
      <joint name="swing" type="hinge" axis="0 3 0" range="-90 45" damping="0.5" stiffness="2"
             armature="0.25" frictionloss="0.125"/>
      <geom name="trunk" type="box" size="1 2 3" mass="24" friction="0.5 0.25 0.125"/>
      <site name="tip" pos="1 2 3"/>
      <body name="weight">
        <joint name="drop" type="slide" axis="0 0 1"/>
        <geom size="0.5" mass="2"/>
      </body>
    </body>
    <body name="loose" pos="0 5 0"><freejoint name="free"/><geom name="ball" size="0.1"/></body>
  </worldbody>
  <contact>
    <pair name="touch" geom1="trunk" geom2="ball"/>
    <exclude name="apart" body1="torso" body2="loose"/>
  </contact>
  <equality><connect name="hook" body1="torso" body2="loose" anchor="0 0 1"/></equality>
  <tendon><fixed name="cord"><joint joint="drop" coef="2.5"/></fixed></tendon>
  <actuator>
    <motor name="push" joint="swing" gear="100" ctrlrange="-1 1"/>
    <general name="lag" tendon="cord" dyntype="filter" dynprm="0.5" gainprm="3"/>
  </actuator>
  <sensor><framepos name="where" objtype="site" objname="tip"/></sensor>
  <keyframe><key name="up" time="2" qpos="0.1 0.2 1 2 3 1 0 0 0"/></keyframe>
</mujoco>)";

}  // namespace

TEST_CASE("robot model: arrays have what the text says") {
    HINDCAST_NEEDS_MUJOCO();
    const RobotModel m = RobotModel::from_text(arm);
    CHECK(m.size("nbody") == 5);
    CHECK(m.size("nq") == 9);
    CHECK(m.size("nv") == 8);
    CHECK(m.size("nu") == 2);
    CHECK(m.size("na") == 1);
    const auto torso = static_cast<std::size_t>(m.find(ObjectKind::body, "torso"));
    const auto swing = static_cast<std::size_t>(m.find(ObjectKind::joint, "swing"));
    CHECK(m.reals("body_mass")[torso] == 24);
    CHECK(m.reals("body_subtreemass")[torso] == 26);
    // m (b^2 + c^2) / 12 of a box, about x, y and z.
    const auto inertia = m.reals("body_inertia").subspan(3 * torso, 3);
    std::vector<double> sorted(inertia.begin(), inertia.end());
    std::ranges::sort(sorted);
    CHECK(sorted == std::vector<double>{40, 80, 104});
    CHECK(m.reals("body_pos")[3 * torso + 2] == 10);
    CHECK(m.array("jnt_axis").rows == 3);
    CHECK(m.array("jnt_axis").columns == 3);
    CHECK(m.reals("jnt_axis")[3 * swing + 1] == 1);
    CHECK(m.reals("jnt_range")[2 * swing] == doctest::Approx(-std::numbers::pi / 2));
    CHECK(m.reals("jnt_range")[2 * swing + 1] == doctest::Approx(std::numbers::pi / 4));
    CHECK(m.integers("jnt_limited")[swing] == 1);
    CHECK(enum_at<JointType>(m.integers("jnt_type"), 0) == JointType::hinge);
    CHECK(enum_at<JointType>(m.integers("jnt_type"), 1) == JointType::slide);
    CHECK(enum_at<JointType>(m.integers("jnt_type"), 2) == JointType::free);
    const auto dof = static_cast<std::size_t>(m.integers("jnt_dofadr")[swing]);
    CHECK(m.reals("dof_damping")[dof] == 0.5);
    CHECK(m.reals("dof_armature")[dof] == 0.25);
    CHECK(m.reals("dof_frictionloss")[dof] == 0.125);
    CHECK(m.reals("jnt_stiffness")[swing] == 2);
    const auto trunk = static_cast<std::size_t>(m.find(ObjectKind::geom, "trunk"));
    CHECK(enum_at<GeomType>(m.integers("geom_type"), m.find(ObjectKind::geom, "trunk")) ==
          GeomType::box);
    CHECK(m.reals("geom_size")[3 * trunk + 2] == 3);
    CHECK(m.reals("geom_friction")[3 * trunk + 1] == 0.25);
    CHECK(m.reals("actuator_gear")[0] == 100);
    CHECK(m.reals("actuator_dynprm")[10] == 0.5);
    CHECK(enum_at<DynamicsType>(m.integers("actuator_dyntype"), 1) == DynamicsType::filter);
    CHECK(m.reals("wrap_prm")[0] == 2.5);
    CHECK(m.array("key_qpos").rows == 1);
    CHECK(m.array("key_qpos").columns == 9);
    CHECK(m.reals("key_qpos")[1] == 0.2);
    CHECK(m.reals("key_time")[0] == 2);
    CHECK(m.array("key_mpos").columns == 3);
    CHECK(m.reals("key_mpos")[0] == 3);  // a mocap body's place where the key gives none
    // Elevations from 0 to 1, the first row last, kept in single precision.
    CHECK(m.integers("hfield_ncol")[0] == 3);
    CHECK(m.reals("hfield_data")[4] == static_cast<double>(0.2F));
    CHECK(m.reals("hfield_size")[3] == 4);
    CHECK(m.size("nmeshvert") == 4);
    CHECK(m.size("nmeshface") == 4);
    CHECK(m.reals("numeric_data")[1] == 2.5);
    CHECK(enum_at<SensorType>(m.integers("sensor_type"), 0) == SensorType::framepos);
    CHECK(enum_at<EqualityType>(m.integers("eq_type"), 0) == EqualityType::connect);
    CHECK(m.reals("stat.center").size() == 3);
}

TEST_CASE("robot model: options") {
    HINDCAST_NEEDS_MUJOCO();
    const RobotModel m = RobotModel::from_text(arm);
    const RobotOptions& o = m.options();
    CHECK(o.timestep == 0.01);
    CHECK(o.gravity == std::array<double, 3>{0, 0, -9.5});
    CHECK(o.wind == std::array<double, 3>{1, 2, 3});
    CHECK(o.impratio == 2);
    CHECK(o.integrator == IntegratorType::implicitfast);
    CHECK(o.cone == ConeType::elliptic);
    CHECK(o.solver == SolverType::cg);
    CHECK(o.iterations == 7);
    CHECK(o.ls_iterations == 9);
    CHECK(o.disabled(DisableFlag::warmstart));
    CHECK(!o.disabled(DisableFlag::gravity));
    CHECK(o.enabled(EnableFlag::energy));
    CHECK(!o.enabled(EnableFlag::sleep));
    CHECK(m.reals("opt.timestep")[0] == 0.01);
    CHECK(m.reals("opt.gravity")[2] == -9.5);
}

TEST_CASE("robot model: names of every kind") {
    HINDCAST_NEEDS_MUJOCO();
    const RobotModel m = RobotModel::from_text(arm);
    using Names = std::vector<std::string>;
    CHECK(m.names(ObjectKind::body) == Names{"world", "target", "torso", "weight", "loose"});
    CHECK(m.names(ObjectKind::joint) == Names{"swing", "drop", "free"});
    CHECK(m.names(ObjectKind::geom) == Names{"floor", "trunk", "", "ball"});
    CHECK(m.names(ObjectKind::site) == Names{"tip"});
    CHECK(m.names(ObjectKind::camera) == Names{"eye"});
    CHECK(m.names(ObjectKind::light) == Names{"sun"});
    CHECK(m.names(ObjectKind::mesh) == Names{"wedge"});
    CHECK(m.names(ObjectKind::height_field) == Names{"hills"});
    CHECK(m.names(ObjectKind::pair) == Names{"touch"});
    CHECK(m.names(ObjectKind::exclude) == Names{"apart"});
    CHECK(m.names(ObjectKind::equality) == Names{"hook"});
    CHECK(m.names(ObjectKind::tendon) == Names{"cord"});
    CHECK(m.names(ObjectKind::actuator) == Names{"push", "lag"});
    CHECK(m.names(ObjectKind::sensor) == Names{"where"});
    CHECK(m.names(ObjectKind::numeric) == Names{"gains"});
    CHECK(m.names(ObjectKind::keyframe) == Names{"up"});
    CHECK(m.names(ObjectKind::flex).empty());
    CHECK(m.describe(ObjectKind::geom, 1) == "geom 'trunk'");
    CHECK(m.describe(ObjectKind::geom, 2) == "geom 2 of body 'weight'");
}

TEST_CASE("robot model: what it has not") {
    HINDCAST_NEEDS_MUJOCO();
    const RobotModel m = RobotModel::from_text(arm);
    CHECK(message([&] { (void)m.find(ObjectKind::body, "torsoo"); }) ==
          "the robot has no body 'torsoo'; did you mean 'torso'?");
    CHECK(message([&] { (void)m.find(ObjectKind::actuator, "elbow"); }) ==
          "the robot has no actuator 'elbow'; write one of push, lag");
    CHECK(message([&] { (void)m.find(ObjectKind::geom, ""); }) ==
          "the robot has no geom ''; write one of floor, trunk, ball");
    CHECK(message([&] { (void)m.array("body_mas"); }) ==
          "a robot's model has no array 'body_mas'; did you mean 'body_mass'?");
    CHECK(message([&] { (void)m.size("nboddy"); }) ==
          "a robot's model has no size 'nboddy'; did you mean 'nbody'?");
    CHECK(message([&] { (void)m.integers("body_mass"); }) ==
          "the array 'body_mass' of a robot's model holds reals; read it with reals()");
    CHECK(message([&] { (void)m.reals("jnt_type"); }) ==
          "the array 'jnt_type' of a robot's model holds integers; read it with integers()");
    CHECK(message([] { RobotModel::load("/nowhere/arm.xml"); }).find("/nowhere/arm.xml") !=
          std::string::npos);
}

TEST_CASE("robot model: a copy stands alone") {
    HINDCAST_NEEDS_MUJOCO();
    RobotModel copy = [] {
        const RobotModel first = RobotModel::from_text(arm);
        return RobotModel(first);
    }();
    const RobotModel moved = std::move(copy);
    CHECK(moved.reals("body_mass")[2] == 24);
    CHECK(moved.find(ObjectKind::body, "torso") == 2);
}

TEST_CASE("robot model: a URDF, with meshes in packages") {
    HINDCAST_NEEDS_MUJOCO();
    const TemporaryFolder folder;
    // The package of the URDF and one beside it, in a folder whose name XML would not take.
    const auto packages = folder / "a & b";
    std::filesystem::create_directories(packages / "arm/urdf");
    std::filesystem::create_directories(packages / "parts/meshes");
    const char* const tetrahedron =
        "v 0 0 0\nv 1 0 0\nv 0 1 0\nv 0 0 1\nf 1 3 2\nf 1 2 4\nf 1 4 3\nf 2 3 4\n";
    std::ofstream(packages / "parts/meshes/tip.obj") << tetrahedron;
    std::ofstream(packages / "arm/own.obj") << tetrahedron;
    const auto file = packages / "arm/urdf/arm.urdf";
    const auto write = [&](const std::string& package) {
        std::ofstream(file) << R"(<robot name="arm"><link name="base"/><link name="tip">
<inertial><origin xyz="0 0 2"/><mass value="3"/>
<inertia ixx="1" iyy="2" izz="3" ixy="0" ixz="0" iyz="0"/></inertial>
<collision><geometry><mesh filename="package://)"
                            << package << R"("/></geometry></collision></link>
<joint name="turn" type="revolute"><parent link="base"/><child link="tip"/><axis xyz="0 1 0"/>
<limit lower="-1" upper="2" effort="5" velocity="1"/><dynamics damping="0.5" friction="0.25"/>
</joint></robot>)";
    };
    for (const char* const package : {"parts/meshes/tip.obj", "arm/own.obj", "/arm/own.obj"}) {
        write(package);
        const RobotModel m = RobotModel::load(file);
        const auto tip = static_cast<std::size_t>(m.find(ObjectKind::body, "tip"));
        CHECK(m.size("nmeshvert") == 4);
        CHECK(m.reals("body_mass")[tip] == 3);
        CHECK(m.reals("body_ipos")[3 * tip + 2] == 2);
        CHECK(m.reals("jnt_range")[1] == 2);
        CHECK(m.reals("dof_damping")[0] == 0.5);
        CHECK(m.reals("dof_frictionloss")[0] == 0.25);
        CHECK(m.reals("jnt_actfrcrange")[1] == 5);
    }
    std::ofstream(packages / "arm/own.dae") << "<COLLADA/>";
    write("arm/own.dae");
    CHECK(message([&] { RobotModel::load(file); }).find("no decoder found for mesh file") !=
          std::string::npos);
    CHECK(message([&] { RobotModel::load(file); }).ends_with("; convert the mesh to .obj or .stl"));
    write("missing/tip.obj");
    CHECK(message([&] { RobotModel::load(file); }) ==
          file.string() +
              ": MuJoCo refuses the model: Error: Error opening file 'package:/missing/tip.obj'; "
              "put the package's folder above the model's file, or beside a folder there");
}
