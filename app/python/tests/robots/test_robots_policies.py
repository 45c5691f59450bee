"""Policies in Python: a robot that Python closes the loop of, against the scene's own controller."""

import os
import pathlib

import numpy as np
import pytest

root = pathlib.Path(__file__).resolve().parents[4]
scenes = root / "scenes/robots"
library = root / "build/mujoco/mujoco/libmujoco.so.4.0.1"
if "HINDCAST_MUJOCO" not in os.environ:
    if not library.exists():
        pytest.skip("build/mujoco is not there", allow_module_level=True)
    os.environ["HINDCAST_MUJOCO"] = str(library)

import hindcast as hc  # noqa: E402

STEPS = 40
TARGET, STIFFNESS, DAMPING = 0.3, 12.0, 3.0


def scene(controllers):
    return {
        "format": 1,
        "time": {"step": "1/100", "steps": STEPS},
        "bodies": [{"type": "articulated", "name": "cart", "model": "cart_pole.xml", "qpos": [0, 0.4], "ctrl": 0}],
        "controllers": controllers,
        "objective": [{"type": "joint_target", "of": "cart", "qpos": [TARGET, 0], "at": "all"}],
        "parameters": [{"path": "cart.ctrl"}],
    }


def in_scene():
    servo = {"type": "pd", "of": "cart", "targets": TARGET, "stiffness": STIFFNESS, "damping": DAMPING}
    sim = hc.scene(scene([servo]), file=scenes / "policy.json")
    return sim, sim.run()


def test_a_policy_in_python_is_the_scenes_controller():
    sim, loss = in_scene()
    envs = hc.scene(scene([]), file=scenes / "policy.json").batch(2)
    for _ in range(STEPS):
        q = envs.observe("cart.qpos").reshape(2, -1)
        v = envs.observe("cart.qvel").reshape(2, -1)
        force = STIFFNESS * (TARGET - q[:, 0]) - DAMPING * v[:, 0]
        envs.step({"cart.ctrl": force.reshape(envs["cart.ctrl"].shape)})
    assert np.array_equal(envs.done, [True, True])
    assert envs.losses == pytest.approx([loss, loss], rel=1e-12)


def test_a_state_that_is_set_is_where_a_run_goes_on():
    """Where bodies are follows from the positions of joints, in the first step already."""
    envs = hc.scene(scene([]), file=scenes / "policy.json").batch(2)
    envs.step(steps=5)
    q, v = envs.observe("cart.qpos"), envs.observe("cart.qvel")
    places = envs.observe("position")
    envs.step(steps=7)
    ahead = envs.observe(["cart.qpos", "cart.qvel", "position"])
    envs.reset(states={"cart.qpos": q, "cart.qvel": v})
    assert np.array_equal(envs.observe("position"), places)
    envs.step(steps=7)
    again = envs.observe(["cart.qpos", "cart.qvel", "position"])
    for name, values in ahead.items():
        assert np.array_equal(again[name], values), name


def test_backpropagation_through_a_policy_in_python():
    """The gradient of the loss by stiffness: windows of a step, one after the other backwards."""
    envs = hc.scene(scene([]), file=scenes / "policy.json").batch(1)

    def run(stiffness):
        envs.reset()
        path = []
        for _ in range(STEPS):
            q, v = (envs.observe(name).reshape(-1) for name in ("cart.qpos", "cart.qvel"))
            force = stiffness * (TARGET - q[0]) - DAMPING * v[0]
            envs["cart.ctrl"] = np.full(envs["cart.ctrl"].shape, force)
            path.append((envs.save(), q, force))
            envs.step()
        return envs.losses[0], path

    loss, path = run(STIFFNESS)
    shape = {name: envs.observe(name).shape for name in ("cart.qpos", "cart.qvel")}
    slope = 0.0
    end = {name: np.zeros(s) for name, s in shape.items()}
    for saved, q, force in reversed(path):
        envs.restore(saved)
        envs["cart.ctrl"] = np.full(envs["cart.ctrl"].shape, force)
        pulled = envs.vjp(["cart.ctrl"], 1, end, loss=1.0, states=list(shape))
        by_force = pulled.paths["cart.ctrl"].sum()
        slope += by_force * (TARGET - q[0])
        end = {name: pulled.states[name].copy() for name in shape}
        end["cart.qpos"].reshape(-1)[0] -= by_force * STIFFNESS
        end["cart.qvel"].reshape(-1)[0] -= by_force * DAMPING
    h = 1e-4
    difference = (run(STIFFNESS + h)[0] - run(STIFFNESS - h)[0]) / (2 * h)
    assert slope == pytest.approx(difference, rel=1e-6)
