"""Robots in scenes: their numbers by the names of bodies, joints and actuators."""

import os
import pathlib

import numpy as np
import pytest

import hindcast as hc

root = pathlib.Path(__file__).resolve().parents[4]
library = root / "build/mujoco/mujoco/libmujoco.so.4.0.1"
if not library.exists() and "HINDCAST_MUJOCO" not in os.environ:
    pytest.skip("MuJoCo's library is not there", allow_module_level=True)
os.environ.setdefault("HINDCAST_MUJOCO", str(library))


@pytest.fixture
def sim():
    return hc.load(root / "scenes/robots/double_pendulum.json", precision="f64")


def test_values_by_name(sim):
    assert sim["pendulum.dof_damping[elbow]"] == 0.1
    assert np.array_equal(sim["pendulum.dof_damping"], [0.1, 0.1])
    sim["pendulum.dof_damping[shoulder]"] = 0.04
    assert np.array_equal(sim["pendulum.dof_damping"], [0.04, 0.1])
    sim["pendulum.qpos[elbow]"] = 0.5
    assert np.array_equal(sim["pendulum.qpos"], [1.2, 0.5])
    assert sim["pendulum.body_inertia[lower].y"] == sim["pendulum.body_inertia"][2, 1]


def test_gradients_by_name(sim):
    path = "pendulum.dof_damping[elbow]"
    loss, gradient = sim.value_and_grad([path])
    h = 1e-6
    losses = []
    for side in (h, -h):
        sim[path] = 0.1 + side
        losses.append(sim.run())
    assert gradient[path] == pytest.approx((losses[0] - losses[1]) / (2 * h), rel=1e-5)
    assert loss == pytest.approx(sum(losses) / 2, rel=1e-6)


def test_unknown_names(sim):
    with pytest.raises(Exception, match="did you mean 'elbow'"):
        sim["pendulum.dof_damping[elbw]"]
    with pytest.raises(Exception, match="have no names"):
        sim["gravity[elbow]"]
