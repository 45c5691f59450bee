// Models with spatial tendons, armature and force limits of tendons, and reference sites, in MJCF; the rest
// as in models.hpp.
#pragma once

#include <vector>

#include "tests/robots/models.hpp"

namespace hindcast::test {

inline const std::vector<RobotText>& tendon_texts() {
    static const std::vector<RobotText> all = {
        {"tendons through sites, with pulleys, across trees; armature and force limits", R"(<mujoco>
  <option timestep="0.005" gravity="0.3 -0.2 -9.7" INTEGRATOR/>
  <default><geom contype="0" conaffinity="0"/></default>
  <worldbody>
    <site name="w1" pos="0.3 0.2 2"/><site name="w2" pos="-0.3 0.1 2"/>
    <body pos="0 0 1">
      <joint name="a" axis="0 1 0" damping="0.1"/>
      <joint name="a2" type="slide" axis="0 0.2 1"/>
      <geom type="capsule" fromto="0 0 0 0.3 0 0" size="0.05"/>
      <site name="s1" pos="0.1 0.05 0.1"/><site name="s2" pos="0.25 0 0.1"/>
      <body pos="0.3 0 0">
        <joint name="b" axis="0.2 1 0" armature="0.01"/>
        <geom type="capsule" fromto="0 0 0 0.2 0 0.1" size="0.03"/>
        <site name="s3" pos="0.1 0 0.1"/>
        <body pos="0.2 0 0.1">
          <joint name="c" type="ball" damping="0.02"/>
          <geom type="box" size="0.05 0.08 0.03" pos="0.05 0 0"/>
          <site name="s4" pos="0.1 0.1 0" euler="10 20 30"/>
        </body>
      </body>
    </body>
    <body pos="0.5 0.5 1.5">
      <freejoint/>
      <geom type="box" size="0.1 0.08 0.05"/>
      <site name="f1" pos="0.1 0.05 0" euler="40 -20 10"/><site name="f2" pos="-0.1 0.02 0"/>
    </body>
  </worldbody>
  <tendon>
    <spatial name="one" stiffness="40" damping="0.5" springlength="0.3 0.6">
      <site site="w1"/><site site="s1"/><site site="s2"/><site site="s3"/></spatial>
    <spatial name="two" stiffness="3" armature="0.4">
      <site site="s1"/><site site="s3"/><site site="s4"/></spatial>
    <spatial name="three" damping="0.7" stiffness="6">
      <site site="w1"/><site site="f1"/><pulley divisor="2"/><site site="f2"/><site site="s4"/>
      <pulley divisor="3"/><site site="w2"/><site site="f2"/></spatial>
    <spatial name="four" armature="0.3" actuatorfrcrange="-0.4 0.6">
      <site site="w2"/><site site="f1"/><site site="f2"/></spatial>
    <spatial name="six" armature="0.25"><site site="s4"/><site site="f1"/></spatial>
    <fixed name="five" armature="0.2" actuatorfrcrange="-0.5 0.4">
      <joint joint="a" coef="0.7"/><joint joint="b" coef="-1.1"/></fixed>
  </tendon>
  <actuator>
    <position tendon="one" kp="3" kv="0.4" gear="1.3"/>
    <motor tendon="four" gear="0.5"/>
    <general tendon="four" biastype="affine" biasprm="0.1 0.5 -0.2" gear="1.5"/>
    <motor tendon="five" gear="0.8"/>
    <position tendon="five" kp="1" kv="0.3"/>
    <motor site="s4" refsite="w1" gear="1 0.2 -0.3 0.05 -0.02 0.1"/>
    <position site="s4" refsite="s1" gear="0.3 0.5 1" kp="2" kv="0.1"/>
    <position site="f1" refsite="s4" gear="0 0 0 0.3 0.5 1" kp="2" kv="0.1"/>
    <intvelocity site="f1" refsite="s1" gear="0 0 0 0.3 -0.5 0.2" kp="2"/>
    <intvelocity joint="c" gear="0.3 -0.5 0.2" kp="3" kv="0.1"/>
    <general site="f1" refsite="f2" gear="0.2 0 0 0.3 0.5 1" biastype="affine" biasprm="0 -1 -0.3"/>
  </actuator>
</mujoco>)"},
        {"tendons around spheres and cylinders, and by their sides", R"(<mujoco>
  <option timestep="0.005" gravity="0.3 -0.2 -9.7" INTEGRATOR/>
  <default><geom contype="0" conaffinity="0"/></default>
  <worldbody>
    <site name="w1" pos="0.5 0.1 0.3"/>
    <geom name="peg" type="cylinder" size="0.1 0.3" pos="0.4 0 -0.1" euler="80 10 0"/>
    <site name="beside" pos="0.4 0.02 0.3"/>
    <body>
      <joint name="a" axis="0 1 0" damping="0.1"/>
      <joint name="a2" axis="1 0 0.2"/>
      <geom type="capsule" fromto="0 0 0 0.3 0 0" size="0.05"/>
      <site name="s1" pos="0.15 0.05 0.1"/><site name="s2" pos="0.25 0 0.12"/>
      <geom name="knob" size="0.12" pos="0.3 0.02 0"/>
      <site name="over" pos="0.3 0 0.25"/>
      <body pos="0.3 0 0">
        <joint name="b" axis="0.2 1 0" armature="0.01"/>
        <joint name="b2" axis="0.2 0 1" armature="0.01"/>
        <geom type="capsule" fromto="0 0 0 0.2 0 0.1" size="0.03"/>
        <geom name="roll" type="cylinder" size="0.08 0.1" pos="0.2 0 0.1" euler="90 0 0"/>
        <site name="on" pos="0.25 0 0.25"/><site name="hub" pos="0.2 0.2 0.11"/>
        <site name="s3" pos="0.15 0 0.02"/>
        <body pos="0.2 0 0.1">
          <joint name="c" type="ball" damping="0.02"/>
          <geom type="box" size="0.05 0.08 0.03" pos="0.05 0 0"/>
          <site name="s4" pos="0.15 0.1 0"/>
        </body>
      </body>
    </body>
  </worldbody>
  <tendon>
    <spatial name="sphere" stiffness="40" damping="0.5">
      <site site="s1"/><geom geom="knob"/><site site="s3"/></spatial>
    <spatial name="sided" stiffness="30" springlength="0.1">
      <site site="s2"/><geom geom="knob" sidesite="over"/><site site="s3"/></spatial>
    <spatial name="cylinder" stiffness="10" springlength="0.1" damping="0.3">
      <site site="s3"/><geom geom="roll"/><site site="s4"/></spatial>
    <spatial name="sided too" stiffness="10" springlength="0.1">
      <site site="s3"/><geom geom="roll" sidesite="on"/><site site="s4"/></spatial>
    <spatial name="hub" stiffness="5" springlength="0.1">
      <site site="s3"/><geom geom="roll" sidesite="hub"/><site site="s4"/></spatial>
    <spatial name="long">
      <site site="w1"/><geom geom="peg" sidesite="beside"/><site site="s1"/><geom geom="knob"/><site site="s3"/>
      <pulley divisor="2"/><site site="s3"/><geom geom="roll"/><site site="s4"/></spatial>
  </tendon>
  <actuator><position tendon="long" kp="4" kv="0.5"/></actuator>
</mujoco>)"},
        {"tendons through the inside of spheres and cylinders", R"(<mujoco>
  <option timestep="0.005" gravity="0.3 -0.2 -9.7" INTEGRATOR/>
  <default><geom contype="0" conaffinity="0"/></default>
  <worldbody>
    <body>
      <joint name="a" axis="0 1 0" damping="0.1"/>
      <inertial pos="0.1 0 0" mass="1" diaginertia="0.1 0.1 0.1"/>
      <site name="s2" pos="0.25 0 0.12"/>
      <geom name="knob" size="0.12" pos="0.3 0.02 0"/>
      <site name="in" pos="0.31 0.01 0.03"/>
      <body pos="0.3 0 0">
        <joint name="b" axis="0.2 1 0" armature="0.01"/>
        <geom name="roll" type="cylinder" size="0.08 0.1" pos="0.2 0 0.1" euler="90 0 0"/>
        <site name="deep" pos="0.2 0.01 0.11"/>
        <site name="s3" pos="0.15 0 0.02"/>
        <body pos="0.2 0 0.1">
          <joint name="c" type="ball" damping="0.02"/>
          <geom type="box" size="0.05 0.08 0.03" pos="0.05 0 0"/>
          <site name="s4" pos="0.15 0.1 0"/>
        </body>
      </body>
    </body>
  </worldbody>
  <tendon>
    <spatial name="inside" stiffness="20" springlength="0.1">
      <site site="s2"/><geom geom="knob" sidesite="in"/><site site="s3"/></spatial>
    <spatial name="deep" stiffness="5" springlength="0.1">
      <site site="s3"/><geom geom="roll" sidesite="deep"/><site site="s4"/></spatial>
  </tendon>
</mujoco>)"},
        {"limits, friction loss and equalities of spatial tendons", R"(<mujoco>
  <option timestep="0.005" gravity="0.3 -0.2 -9.7" solver="Newton" tolerance="0" iterations="200"
          ls_tolerance="1e-12" ls_iterations="100" INTEGRATOR><flag warmstart="disable"/></option>
  <default><geom contype="0" conaffinity="0"/></default>
  <worldbody>
    <site name="w1" pos="0.5 0.1 0.5"/>
    <body>
      <joint name="a" axis="0 1 0" damping="0.1"/>
      <joint name="a2" axis="1 0 0.2"/>
      <geom name="knob" size="0.12" pos="0.3 0.02 0"/>
      <site name="s1" pos="0.15 0.05 0.1"/>
      <body pos="0.3 0 0">
        <joint name="b" axis="0.2 1 0" armature="0.01"/>
        <joint name="b2" type="ball"/>
        <geom type="capsule" fromto="0 0 0 0.2 0 0.1" size="0.03"/>
        <site name="s2" pos="0.15 0 0.02"/>
      </body>
    </body>
    <body pos="0.5 0.5 0"><freejoint/><geom type="box" size="0.1 0.08 0.05"/><site name="f1" pos="0.1 0 0"/></body>
  </worldbody>
  <tendon>
    <spatial name="one" range="0.1 0.2" margin="0.03" frictionloss="0.4" solreffriction="0.05 1">
      <site site="s1"/><geom geom="knob"/><site site="s2"/></spatial>
    <spatial name="two" range="0 1" solimplimit="0.8 0.9 0.05 0.3 2"><site site="w1"/><site site="f1"/></spatial>
    <spatial name="three"><site site="s2"/><site site="f1"/></spatial>
    <fixed name="four"><joint joint="a" coef="0.7"/><joint joint="b" coef="-1.1"/></fixed>
  </tendon>
  <equality>
    <tendon tendon1="two" tendon2="three" polycoef="0.05 0.4 0.3 0 0.1"/>
    <tendon tendon1="four" tendon2="one" polycoef="0.02 0.5 0 0 0"/>
    <tendon tendon1="three" polycoef="0.1 0 0 0 0"/>
  </equality>
</mujoco>)"},
    };
    return all;
}

}  // namespace hindcast::test
