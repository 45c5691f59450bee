// Models with limits, friction loss and equalities, in MJCF; the rest as in models.hpp. MuJoCo's solver
// is asked for all digits.
#pragma once

#include <string>
#include <vector>

#include "tests/robots/models.hpp"

namespace hindcast::test {

inline const std::vector<RobotText>& constrained_texts() {
    static const std::vector<RobotText> all = {
        {"limits and friction loss of hinges, slides, ball and free joints", R"(<mujoco>
  <option timestep="0.005" gravity="0.3 -0.2 -9.7" solver="Newton" tolerance="0" iterations="200"
          ls_tolerance="1e-12" ls_iterations="100" INTEGRATOR><flag warmstart="disable"/></option>
  <worldbody>
    <body pos="0.1 0.2 1">
      <joint type="slide" axis="0 0.3 1" range="-0.4 0.3" margin="0.1" damping="0.4"/>
      <joint type="hinge" axis="0.2 0.1 1" pos="0.05 0 0.02" range="-60 50" frictionloss="1.5"
             solreffriction="0.03 0.7" solimpfriction="0.7 0.9 0.1 0.4 3"/>
      <inertial pos="0.02 0.05 0.1" mass="1.3" fullinertia="0.02 0.03 0.025 0.002 -0.001 0.003"/>
      <body pos="0 0.1 0.5" euler="20 30 -10">
        <joint type="ball" range="0 40" pos="0.02 -0.03 0.1" damping="0.05" frictionloss="0.1"
               solreflimit="-300 -20"/>
        <inertial pos="0.1 0 0.2" mass="0.7" diaginertia="0.01 0.012 0.007"/>
        <body pos="0.2 0 0.3">
          <joint type="hinge" axis="0 1 0.1" range="-20 20" solimplimit="0.5 0.95 0.2 0.5 1"
                 solreflimit="0.001 1.2"/>
          <inertial pos="0.1 0 0" mass="0.4" diaginertia="0.004 0.003 0.002"/>
        </body>
        <body pos="-0.2 0.1 0.3">
          <joint type="slide" axis="1 1 0" range="-0.01 0.01" margin="0.5" frictionloss="0.6"/>
          <inertial pos="0.1 0 0" mass="0.4" diaginertia="0.004 0.003 0.002"/>
        </body>
      </body>
    </body>
    <body pos="1 0 2">
      <joint type="free" frictionloss="0.4" damping="0.1"/>
      <inertial pos="0.05 0.02 -0.03" mass="2" fullinertia="0.02 0.05 0.04 0.003 0.001 -0.002"/>
    </body>
  </worldbody>
</mujoco>)"},
        {"equalities: bodies connected and welded, sites, joints, tendons, to the world",
         R"(<mujoco>
  <option timestep="0.005" gravity="0 0.1 -9.81" solver="Newton" tolerance="0" iterations="200"
          ls_tolerance="1e-12" ls_iterations="100" INTEGRATOR><flag warmstart="disable"/></option>
  <worldbody>
    <site name="hook" pos="0.4 0.1 1.2" euler="10 20 30"/>
    <body name="a" pos="0 0 1">
      <joint name="a1" type="hinge" axis="0 1 0" damping="0.1"/>
      <joint name="a2" type="hinge" axis="1 0 0.2"/>
      <inertial pos="0.1 0.05 0.1" mass="1.1" diaginertia="0.01 0.02 0.015"/>
      <site name="tip" pos="0.2 0 0.1" quat="0.9 0.1 0.2 0"/>
      <body name="b" pos="0.3 0 0">
        <joint name="b1" type="hinge" axis="0 1 0"/>
        <joint name="b2" type="slide" axis="1 0 0" damping="0.3"/>
        <inertial pos="0.1 0 0" mass="0.8" diaginertia="0.006 0.01 0.008"/>
      </body>
    </body>
    <body name="c" pos="0.5 0.3 1">
      <freejoint/>
      <inertial pos="0.02 0 0.01" mass="1.5" diaginertia="0.01 0.015 0.02"/>
      <site name="grip" pos="0.1 0.1 0"/>
      <body name="d" pos="0 0.2 0.1">
        <joint name="d1" type="ball"/>
        <inertial pos="0 0.1 0" mass="0.5" diaginertia="0.004 0.003 0.005"/>
      </body>
    </body>
    <body name="e" pos="-0.5 0 1">
      <joint name="e1" type="hinge" axis="0 0 1"/>
      <inertial pos="0.1 0 0" mass="0.6" diaginertia="0.004 0.003 0.005"/>
      <body name="f" pos="0.2 0 0">
        <joint name="f1" type="hinge" axis="0 1 0"/>
        <joint name="f2" type="slide" axis="0 1 1"/>
        <inertial pos="0.1 0 0" mass="0.6" diaginertia="0.004 0.003 0.005"/>
      </body>
    </body>
  </worldbody>
  <tendon>
    <fixed name="t1" range="-0.2 0.3" margin="0.05" frictionloss="0.3" solreffriction="0.05 1"
           solimplimit="0.8 0.9 0.05 0.3 2"><joint joint="a1" coef="0.5"/><joint joint="b2" coef="-2"/></fixed>
    <fixed name="t2" stiffness="3" damping="0.2"><joint joint="e1" coef="1"/><joint joint="f1" coef="0.7"/></fixed>
  </tendon>
  <equality>
    <connect body1="b" body2="c" anchor="0.15 0 0.02"/>
    <weld body1="d" body2="e" relpose="0.1 0.2 0.3 0.9 0.1 0.2 0.3" torquescale="0.7" anchor="0.1 0 0.05"
          solref="0.04 0.9"/>
    <weld site1="tip" site2="grip" solimp="0.6 0.8 0.3 0.5 2"/>
    <connect site1="tip" site2="hook" solref="-200 -10"/>
    <connect body1="f" anchor="0.1 0 0"/>
    <joint joint1="a2" joint2="e1" polycoef="0.1 0.8 -0.3 0.2 0.05"/>
    <joint joint1="f2" polycoef="0.02 0 0 0 0" solref="0.001 1"/>
    <tendon tendon1="t1" tendon2="t2" polycoef="0.05 0.4 0.3 0 0.1"/>
    <weld body1="a" body2="f" active="false"/>
  </equality>
</mujoco>)"},
        {"contact of balls, capsules and boxes with a plane and with each other, pyramids",
         R"(<mujoco>
  <option timestep="0.005" gravity="0.3 -0.2 -9.7" solver="Newton" tolerance="0" iterations="200"
          ls_tolerance="1e-12" ls_iterations="100" impratio="2" INTEGRATOR><flag warmstart="disable"/></option>
  <worldbody>
    <geom type="plane" size="5 5 1" friction="0.7 0.01 0.002" margin="0.02" solref="0.03 0.8"/>
    <body pos="0 0 0.1"><freejoint/>
      <geom size="0.6" mass="1" solmix="2"/><geom type="capsule" size="0.3 0.5" pos="0.4 0 0" euler="0 50 0" condim="4"/></body>
    <body pos="0.6 0.3 0.2"><freejoint/>
      <geom type="box" size="0.5 0.4 0.3" mass="1.5" condim="6" friction="0.4 0.03 0.01"/>
      <body pos="0.5 0 0"><joint type="hinge" axis="0 1 0" range="-40 40" limited="true"/>
        <geom type="capsule" size="0.2 0.4" pos="0.5 0 0" mass="0.4" condim="1"/></body></body>
    <body pos="-0.6 0.1 0.3"><joint type="hinge" axis="1 0 0.3"/><joint type="slide" axis="0 0 1"/>
      <geom type="capsule" size="0.3 0.7" mass="0.8" priority="1" solimp="0.5 0.9 0.1 0.4 3"/></body>
  </worldbody>
</mujoco>)"},
        {"the same with elliptic cones, and pairs of their own", R"(<mujoco>
  <option timestep="0.005" gravity="0.3 -0.2 -9.7" solver="Newton" tolerance="0" iterations="200" cone="elliptic"
          ls_tolerance="1e-12" ls_iterations="100" impratio="2" INTEGRATOR><flag warmstart="disable"/></option>
  <worldbody>
    <geom name="floor" type="plane" size="5 5 1" friction="0.7 0.01 0.002" margin="0.02" solref="0.03 0.8"/>
    <body pos="0 0 0.1"><freejoint/>
      <geom name="ball" size="0.6" mass="1" solmix="2"/><geom type="capsule" size="0.3 0.5" pos="0.4 0 0" euler="0 50 0" condim="4"/></body>
    <body pos="0.6 0.3 0.2"><freejoint/>
      <geom name="box" type="box" size="0.5 0.4 0.3" mass="1.5" condim="6" friction="0.4 0.03 0.01"/>
      <body pos="0.5 0 0"><joint type="hinge" axis="0 1 0" range="-40 40" limited="true"/>
        <geom type="capsule" size="0.2 0.4" pos="0.5 0 0" mass="0.4" condim="1"/></body></body>
    <body pos="-0.6 0.1 0.3"><joint type="hinge" axis="1 0 0.3"/><joint type="slide" axis="0 0 1"/>
      <geom type="capsule" size="0.3 0.7" mass="0.8" priority="1" solimp="0.5 0.9 0.1 0.4 3"/></body>
  </worldbody>
  <contact><pair geom1="ball" geom2="floor" condim="6" friction="0.9 0.3 0.05 0.02 0.03" solreffriction="0.05 1.3"/>
    <pair geom1="box" geom2="ball" condim="3" friction="0.5 0.6 0.05 0.02 0.03" margin="0.1"/></contact>
</mujoco>)"},
        {"contact of meshes and a height field", R"(<mujoco>
  <option timestep="0.005" gravity="0.3 -0.2 -9.7" solver="Newton" tolerance="0" iterations="200"
          ls_tolerance="1e-12" ls_iterations="100" ccd_iterations="200" ccd_tolerance="1e-12" INTEGRATOR>
    <flag warmstart="disable" multiccd="disable"/></option>
  <asset>
    <hfield name="hills" nrow="3" ncol="4" size="2 2 0.4 0.3" elevation="0.7 0.1 0.5 0.9 0.3 0 0.2 0.8 0.4 0.6 1 0.1"/>
    <mesh name="stone" vertex="0.4 0.31 -0.33 -0.42 0.35 -0.3 -0.36 -0.4 -0.28 0.37 -0.33 -0.41
      0.31 0.36 0.38 -0.35 0.29 0.42 -0.3 -0.38 0.33 0.41 -0.28 0.3 0.02 0.05 0.6"/>
  </asset>
  <worldbody>
    <geom type="hfield" hfield="hills" contype="2" conaffinity="2"/>
    <geom type="plane" size="5 5 1" pos="0 0 -0.3"/>
    <body pos="0 0 0.1"><freejoint/><geom type="mesh" mesh="stone" mass="1"/></body>
    <body pos="0.5 0.3 0.2"><freejoint/><geom type="box" size="0.3 0.25 0.2" mass="0.8"/></body>
    <body pos="-0.4 0.2 0.2"><freejoint/><geom size="0.4" mass="0.6" contype="3" conaffinity="3"/></body>
    <body pos="0.3 -0.4 0.3"><joint type="hinge" axis="1 0 0.3"/><joint type="slide" axis="0 0 1"/>
      <geom type="capsule" size="0.2 0.4" mass="0.7"/></body>
  </worldbody>
</mujoco>)"},
    };
    return all;
}

}  // namespace hindcast::test
