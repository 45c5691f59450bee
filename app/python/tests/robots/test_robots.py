"""What `hindcast info ROBOT --json --arrays` prints is what MuJoCo's package says, bit for bit."""

import json
import os
import pathlib
import re
import subprocess
import sys

import numpy as np
import pytest

root = pathlib.Path(__file__).resolve().parents[4]
wheel = root / "build/mujoco"
models = root / "build/robot_models"
mjx = models / "mjx/mujoco/mjx/test_data"
robots = models / "robots/cmeel.prefix/share/example-robot-data/robots"

if not wheel.exists():
    pytest.skip("build/mujoco is not there", allow_module_level=True)
sys.path.append(str(wheel))
try:
    import mujoco
except ImportError as error:
    pytest.skip(f"MuJoCo's Python package cannot be imported: {error}", allow_module_level=True)

ours = [
    wheel / "mujoco/testdata/model.xml",
    wheel / "mujoco/testdata/model.urdf",
    wheel / "mujoco/testdata/msh.xml",
    mjx / "humanoid/humanoid.xml",
    mjx / "humanoid/03_humanoids.xml",
    mjx / "barkour_v0/assets/barkour_v0_mjx.xml",
    mjx / "shadow_hand/scene_right.xml",
    mjx / "actuator/arm21.xml",
    mjx / "actuator/general_dyntype.xml",
    mjx / "actuator/tendon_force_clamp.xml",
    mjx / "convex.xml",
    mjx / "pendula.xml",
    mjx / "quadratic_frictionloss.xml",
    mjx / "ray.xml",
    mjx / "sensor/model.xml",
    mjx / "sensor/sensor.xml",
    *sorted((mjx / "tendon").glob("*.xml")),
    robots / "double_pendulum_description/urdf/double_pendulum.urdf",
    robots / "double_pendulum_description/urdf/double_pendulum_simple.urdf",
    robots / "bolt_description/robots/bolt.urdf",
    robots / "solo_description/robots/solo12.urdf",
    robots / "go2_description/urdf/go2.urdf",
    robots / "panda_description/urdf/panda.urdf",
    robots / "simple_humanoid_description/urdf/simple_humanoid_classical.urdf",
    robots / "talos_data/robots/talos_reduced.urdf",
    robots / "talos_data/robots/talos_full_v2.urdf",
]


@pytest.fixture(autouse=True)
def elsewhere(tmp_path, monkeypatch):
    """MuJoCo's package writes a log into the working folder."""
    monkeypatch.chdir(tmp_path)


def theirs(file):
    """The model of MuJoCo's package, which knows nothing of packages in a URDF."""
    text = file.read_text()
    if "package://" not in text:
        return mujoco.MjModel.from_xml_path(str(file))
    share = robots.parents[1]
    return mujoco.MjModel.from_xml_string(re.sub("package:///?", f"{share}/", text))


def printed(file):
    environment = dict(os.environ, HINDCAST_MUJOCO=str(wheel / "mujoco/libmujoco.so.4.0.1"))
    run = subprocess.run(
        [os.environ["HINDCAST"], "info", str(file), "--json", "--arrays"],
        env=environment, stdout=subprocess.PIPE, check=False)
    return json.loads(run.stdout)


@pytest.mark.parametrize("file", ours, ids=lambda file: file.stem)
def test_arrays_are_those_of_mujoco(file):
    if not file.exists():
        pytest.skip(f"{file.name} is not there")
    model, said = theirs(file), printed(file)
    for name, value in said["sizes"].items():
        assert value == getattr(model, name), name
    assert len(said["arrays"]) > 250
    for name, array in said["arrays"].items():
        holder, _, field = name.rpartition(".")
        value = np.asarray(getattr(getattr(model, holder) if holder else model, field))
        values = np.array(array["values"], dtype=value.dtype)
        assert values.size == array["rows"] * array["columns"] == value.size, name
        if not holder and value.size:
            assert value.shape[0] == array["rows"], name
        # Bit for bit, signed zeros too.
        assert values.tobytes() == value.tobytes(), name
    bodies = [model.body(i).name for i in range(model.nbody)]
    assert [body["name"] for body in said["bodies"]] == bodies
    joints = [model.joint(i).name for i in range(model.njnt)]
    assert [joint["name"] for body in said["bodies"] for joint in body["joints"]] == joints


def test_every_array_that_is_not_for_looks_is_there():
    """Of the fields of mjModel that MuJoCo's package lists, only these are left out."""
    file = mjx / "sensor/sensor.xml"
    if not file.exists():
        pytest.skip("models of MJX are not there")
    model, said = theirs(file), printed(file)
    left_out = re.compile(
        r"light_|flex_|flexedge_|efm0_|efmC_|skin_|tex_|mat_|oct_|text_|tuple_|names|paths|mesh_oct"
        r"|mesh_texcoord|mesh_facetexcoord|plugin|name_|.*_pathadr$|.*_matid$")
    arrays = {name for name in dir(model)
              if not name.startswith("_") and isinstance(getattr(model, name), np.ndarray)}
    missing = {name for name in arrays - set(said["arrays"]) if not left_out.match(name)}
    assert missing == set()


def test_a_batch_of_robots_has_the_gradient_of_one(monkeypatch):
    """Windows keep every published array: motions and inertias have 6 and 10 components."""
    monkeypatch.setenv("HINDCAST_MUJOCO", str(wheel / "mujoco/libmujoco.so.4.0.1"))
    import hindcast as hc

    simulation = hc.load(str(root / "scenes/robots/double_pendulum.json"), precision="f64")
    loss, gradient = simulation.value_and_grad(["pendulum.dof_damping"])
    batch = simulation.batch(2)
    pulled = batch.vjp(["pendulum.dof_damping"], 200, loss=1.0)
    for member in range(2):
        assert pulled.losses[member] == loss
        assert np.array_equal(pulled.paths["pendulum.dof_damping"][member],
                              np.asarray(gradient["pendulum.dof_damping"]))
