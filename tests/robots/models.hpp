// Models without constraints, in MJCF, that between them have everything that articulated bodies
// simulate. INTEGRATOR stands where the option's attribute goes; `step` is that of all.
#pragma once

#include <string>
#include <vector>

namespace hindcast::test {

struct RobotText {
    const char *name, *text;
};

inline constexpr double robot_step = 0.005;

inline const std::vector<RobotText>& robot_texts() {
    static const std::vector<RobotText> all = {
        {"every joint that is not free, several on a body; springs, dampers, armature", R"(<mujoco>
  <option timestep="0.005" gravity="0.3 -0.2 -9.7" INTEGRATOR/>
  <worldbody>
    <body pos="0.1 0.2 1" quat="0.9 0.1 -0.2 0.3">
      <joint name="lift" type="slide" axis="0 0.3 1" stiffness="30" springref="0.1" damping="0.4"/>
      <joint name="yaw" type="hinge" axis="0.2 0.1 1" pos="0.05 0 0.02" armature="0.03"/>
      <joint name="tilt" type="hinge" axis="1 0 0.4" pos="0 0.1 0" damping="0.2" ref="0.3"/>
      <inertial pos="0.02 0.05 0.1" mass="1.3" fullinertia="0.02 0.03 0.025 0.002 -0.001 0.003"/>
      <body pos="0 0.1 0.5" euler="20 30 -10">
        <joint name="socket" type="ball" pos="0.02 -0.03 0.1" stiffness="2" damping="0.05"
               armature="0.01"/>
        <inertial pos="0.1 0 0.2" mass="0.7" diaginertia="0.01 0.012 0.007"/>
        <body pos="0.2 0 0.3">
          <joint name="elbow" type="hinge" axis="0 1 0.1" stiffness="1.5" damping="0.03"/>
          <geom type="capsule" fromto="0 0 0 0.2 0.1 0.3" size="0.04" contype="0" conaffinity="0"/>
          <body pos="0.1 0 0">
            <inertial pos="0 0 0.05" mass="0.2" diaginertia="0.001 0.002 0.0015"/>
          </body>
        </body>
        <body pos="-0.2 0.1 0.3" quat="0.5 0.5 -0.5 0.5">
          <joint name="probe" type="slide" axis="1 1 0" damping="0.3"/>
          <joint name="wrist" type="ball" damping="0.02"/>
          <geom type="box" size="0.1 0.05 0.02" pos="0.1 0 0" contype="0" conaffinity="0"/>
        </body>
      </body>
    </body>
  </worldbody>
</mujoco>)"},
        {"free bodies: alone, with a rigid child, as the root of a tree", R"(<mujoco>
  <option timestep="0.005" gravity="0 0.1 -9.81" INTEGRATOR/>
  <worldbody>
    <body name="stone" pos="0 0 2">
      <joint type="free" stiffness="3" damping="0.2"/>
      <inertial pos="0.05 0.02 -0.03" mass="2" fullinertia="0.02 0.05 0.04 0.003 0.001 -0.002"/>
    </body>
    <body name="pair" pos="1 0 2">
      <freejoint/>
      <inertial pos="0 0 0" mass="1" diaginertia="0.01 0.02 0.03"/>
      <body pos="0.2 0.1 0">
        <inertial pos="0 0.1 0" mass="0.5" diaginertia="0.002 0.001 0.003"/>
      </body>
    </body>
    <body name="trunk" pos="2 1 1" gravcomp="0.5">
      <joint type="free" armature="0.02"/>
      <geom type="ellipsoid" size="0.2 0.1 0.15" contype="0" conaffinity="0"/>
      <body pos="0.2 0 0" gravcomp="1">
        <joint name="leg" axis="0 1 0" damping="0.1" actuatorgravcomp="true"/>
        <joint name="twist" axis="1 0 0.3" armature="0.01"/>
        <geom type="cylinder" size="0.03 0.1" pos="0 0 -0.1" contype="0" conaffinity="0"/>
      </body>
      <body pos="-0.2 0 0">
        <joint name="tail" type="ball" damping="0.05"/>
        <geom type="sphere" size="0.06" pos="-0.1 0 0" contype="0" conaffinity="0"/>
      </body>
    </body>
  </worldbody>
  <actuator><motor joint="leg" gear="1.5"/></actuator>
</mujoco>)"},
        {"every actuator on joints, with activations and limits", R"(<mujoco>
  <option timestep="0.005" actuatorgroupdisable="3" INTEGRATOR/>
  <default><geom contype="0" conaffinity="0"/></default>
  <worldbody>
    <body>
      <joint name="a" axis="0 1 0" damping="0.1" actuatorfrcrange="-2 1.5"/>
      <geom type="capsule" fromto="0 0 0 0 0 -0.4" size="0.05"/>
      <body pos="0 0 -0.4">
        <joint name="b" axis="1 0 0"/>
        <geom type="capsule" fromto="0 0 0 0 0.1 -0.3" size="0.04"/>
        <body pos="0 0.1 -0.3">
          <joint name="c" type="slide" axis="0 0 1" damping="0.5"/>
          <geom type="box" size="0.05 0.04 0.03"/>
          <body pos="0 0 -0.1">
            <joint name="d" type="ball" damping="0.01"/>
            <geom type="box" size="0.05 0.08 0.03" pos="0 0 -0.1"/>
          </body>
        </body>
      </body>
    </body>
  </worldbody>
  <actuator>
    <motor joint="a" gear="2" ctrlrange="-0.8 0.8" ctrllimited="true"/>
    <position joint="a" kp="5" kv="0.3" forcerange="-3 2.5"/>
    <velocity joint="b" kv="0.7"/>
    <intvelocity joint="b" kp="4" kv="0.2" actrange="-0.6 0.6"/>
    <damper joint="c" kv="2" ctrlrange="0 1"/>
    <cylinder joint="c" timeconst="0.05" area="1.5" bias="0.2 -3 -0.4"/>
    <general joint="b" dyntype="filter" dynprm="0.03" gainprm="2" biastype="affine"
             biasprm="0.1 -1 -0.05"/>
    <general joint="c" dyntype="filterexact" dynprm="0.02" gaintype="affine"
             gainprm="3 0.5 -0.2" actearly="true" actlimited="true" actrange="-0.9 0.9"/>
    <general joint="a" dyntype="integrator" gainprm="1.2"/>
    <general joint="d" gear="0.3 -0.2 0.5" gainprm="0.4" biastype="affine"
             biasprm="0 -0.6 -0.02"/>
    <general jointinparent="d" gear="0.1 0.4 0.2" gainprm="0.3" biastype="affine"
             biasprm="0 -0.3 -0.01"/>
    <motor joint="b" gear="7" group="3"/>
    <general joint="b" dyntype="filter" dynprm="0.1" gainprm="2" group="3"/>
  </actuator>
</mujoco>)"},
        {"fixed tendons and sites", R"(<mujoco>
  <option timestep="0.005" INTEGRATOR/>
  <default><geom contype="0" conaffinity="0"/></default>
  <worldbody>
    <body pos="0 0 1">
      <joint name="base" type="free" damping="0.05"/>
      <geom type="box" size="0.2 0.1 0.05"/>
      <site name="jet" pos="0.2 0.05 0" euler="10 20 30"/>
      <body pos="0.2 0 0">
        <joint name="a" axis="0 1 0"/>
        <geom type="capsule" fromto="0 0 0 0.3 0 0" size="0.03"/>
        <body pos="0.3 0 0">
          <joint name="b" axis="0 1 0" armature="0.01"/>
          <geom type="capsule" fromto="0 0 0 0.2 0 0.1" size="0.03"/>
          <site name="hand" pos="0.2 0 0.1" quat="0.7 0.1 0.5 -0.2"/>
        </body>
      </body>
      <body pos="-0.2 0 0">
        <joint name="c" type="slide" axis="1 0 0.2"/>
        <geom type="sphere" size="0.08"/>
      </body>
    </body>
  </worldbody>
  <tendon>
    <fixed name="coupled" stiffness="4" damping="0.3">
      <joint joint="a" coef="0.7"/><joint joint="b" coef="-1.1"/>
    </fixed>
    <fixed name="across" stiffness="6" damping="0.2" springlength="-0.2 0.3">
      <joint joint="b" coef="1"/><joint joint="c" coef="2"/>
    </fixed>
    <fixed name="driven"><joint joint="a" coef="0.4"/><joint joint="c" coef="-0.9"/></fixed>
  </tendon>
  <actuator>
    <position tendon="driven" kp="3" kv="0.4" gear="1.3"/>
    <motor tendon="coupled" gear="0.5"/>
    <motor site="jet" gear="1 0.2 -0.3 0.05 -0.02 0.1"/>
    <general site="hand" gear="0 0.5 1 0.1 0 0" biastype="affine" biasprm="0.1 0 -0.2"/>
    <motor joint="base" gear="0.1 0.2 0.3 0.4 0.5 0.6"/>
    <motor jointinparent="base" gear="0.3 0.2 0.1 -0.4 0.5 0.2"/>
  </actuator>
</mujoco>)"},
        {"what stands still: static bodies, mocap, bodies that hang on them; flags", R"(<mujoco>
  <option timestep="0.005" INTEGRATOR><flag gravity="disable" damper="disable"/></option>
  <default><geom contype="0" conaffinity="0"/></default>
  <worldbody>
    <body pos="0.3 0 0" euler="0 30 0">
      <geom type="box" size="0.1 0.1 0.1"/>
      <body pos="0 0.2 0">
        <joint name="a" axis="0 0 1" damping="3" stiffness="2"/>
        <geom type="box" size="0.1 0.2 0.05" pos="0.1 0 0"/>
      </body>
    </body>
    <body name="target" mocap="true" pos="-1 0.2 0.3" quat="0.9 0.1 0.3 0">
      <geom type="sphere" size="0.1"/>
      <body pos="0.1 0 0">
        <joint name="b" type="ball" stiffness="0.4"/>
        <geom type="box" size="0.05 0.1 0.02" pos="0.1 0 0"/>
      </body>
    </body>
  </worldbody>
  <actuator><velocity joint="a" kv="0.5"/></actuator>
</mujoco>)"},
        {"gravity compensation without passive forces, actuators that are off", R"(<mujoco>
  <option timestep="0.005" INTEGRATOR>
    <flag spring="disable" damper="disable" actuation="disable"/></option>
  <default><geom contype="0" conaffinity="0"/></default>
  <worldbody>
    <body gravcomp="1">
      <joint name="a" axis="0 1 0" stiffness="2" damping="1" actuatorgravcomp="true"/>
      <geom type="box" size="0.1 0.2 0.05" pos="0.1 0 0"/>
      <body pos="0.2 0 0" gravcomp="0.5">
        <joint name="b" axis="0 1 0" damping="1"/>
        <geom type="box" size="0.1 0.2 0.05" pos="0.1 0 0"/>
      </body>
    </body>
  </worldbody>
  <actuator><general joint="b" dyntype="integrator"/></actuator>
</mujoco>)"},
        {"a chain of balls in space, without springs", R"(<mujoco>
  <option timestep="0.005" gravity="0 0 0" INTEGRATOR>
    <flag spring="disable" eulerdamp="disable" clampctrl="disable"/></option>
  <default><geom contype="0" conaffinity="0"/></default>
  <worldbody>
    <body>
      <freejoint/>
      <geom type="box" size="0.2 0.1 0.05"/>
      <body pos="0.3 0 0">
        <joint name="a" type="ball" stiffness="9" damping="0.3"/>
        <geom type="box" size="0.1 0.1 0.05" pos="0.1 0 0"/>
        <body pos="0.3 0 0">
          <joint name="b" type="ball" damping="0.1"/>
          <geom type="box" size="0.1 0.02 0.05" pos="0.1 0.05 0"/>
        </body>
      </body>
    </body>
  </worldbody>
  <actuator><motor joint="b" gear="0.1 0.2 0.3" ctrlrange="-0.1 0.1"/></actuator>
</mujoco>)"},
    };
    return all;
}

// The text with another integrator.
inline std::string with_integrator(const RobotText& robot, const std::string& integrator) {
    std::string text = robot.text;
    std::string words = "integrator=\"" + integrator + "\"";
    // MuJoCo searches for these steps also where nothing constrains them.
    if (integrator == "discrete" && text.find("tolerance=") == std::string::npos)
        words += R"( tolerance="0" iterations="200" ls_tolerance="1e-12" ls_iterations="100")";
    text.replace(text.find("INTEGRATOR"), 10, words);
    return text;
}

}  // namespace hindcast::test
