"""Batches: members against simulations that run alone, windows against differences."""

import json
import os
import signal
import threading
import time

import hindcast as hc
import numpy as np
import pytest
from scene_tools import CAGE, SCENES, flat

MARIONETTE = SCENES / "marionette.json"
STIFFNESS = np.array([60.0, 90.0, 120.0, 150.0, 180.0])


def alone(stiffness, precision="f64", **options):
    sim = hc.load(CAGE, precision=precision, **options)
    sim["cage.stiffness"] = stiffness
    return sim


@pytest.mark.parametrize("precision", ["f32", "f64"])
def test_members_have_the_bits_of_a_run_alone(precision):
    envs = hc.load(CAGE, precision=precision).batch(5, {"cage.stiffness": STIFFNESS})
    states = [envs.observe("position")]
    while not envs.done.all():
        envs.step(steps=7)
        states.append(envs.observe("position"))
    assert envs.steps_done.tolist() == [30] * 5
    for m, stiffness in enumerate(STIFFNESS):
        sim = alone(stiffness, precision)
        assert sim.run(keep="position") == envs.losses[m]
        for k, frame in enumerate([0, 7, 14, 21, 28, 30]):
            np.testing.assert_array_equal(sim.state("position")[frame], states[k][m])


@pytest.mark.parametrize(
    "scene, steps", [("mpm_launch", 20), ("billiards", 20), ("slingshot", None), ("hanging_net", 20)]
)
def test_scenes_of_other_kinds(scene, steps):
    sim = hc.load(SCENES / f"{scene}.json", precision="f32", steps=steps)
    loss = sim.run(keep="position")
    envs = sim.batch(3)
    for steps in (3, 1, 9, 100):
        done = envs.step(steps=steps)
    assert done.all() and envs.losses.tolist() == [loss] * 3
    for row in envs.observe("position"):
        np.testing.assert_array_equal(row, sim.state("position")[-1])


def test_value_and_grad_of_members():
    envs = hc.load(CAGE).batch(5, {"cage.stiffness": STIFFNESS})
    rest = envs["cage.rest_length"] * np.linspace(0.9, 1.1, 5)[:, None]
    envs["cage.rest_length"] = rest
    paths = ["cage.rest_length", "gravity"]
    for _ in range(3):  # alone at first, through the ensemble later
        losses, grads = envs.value_and_grad(paths)
        assert grads["cage.rest_length"].shape == (5, 8) and grads["gravity"].shape == (5, 3)
        for m, stiffness in enumerate(STIFFNESS):
            sim = alone(stiffness)
            sim["cage.rest_length"] = rest[m]
            loss, grad = sim.value_and_grad(paths)
            assert loss == losses[m]
            for path in paths:
                np.testing.assert_array_equal(grad[path], grads[path][m])


def test_actions_act_from_the_next_step_on():
    """A free ball: v and x by the rule of the integrator, gravity being the action."""
    sim = hc.load(SCENES / "free_flight.json")
    start = sim["ball.velocity"].reshape(-1)
    envs = sim.batch(2)
    x, v = envs.observe("position"), np.tile(start, (2, 1))
    rng = np.random.default_rng(1)
    h = sim._core.step
    for _ in range(5):
        g = rng.normal(size=(2, 3))
        envs.step({"gravity": g}, steps=2)
        for _ in range(2):
            v = v + h * g
            x = x + h * v[:, None]
        np.testing.assert_allclose(envs.observe("position"), x, rtol=0, atol=1e-14)


def test_masks():
    envs = hc.load(CAGE).batch(4)
    envs.step(steps=5)
    at_5 = envs.observe("position")
    mask = np.array([True, False, True, False])
    envs.step({"gravity": [0, 0, -5.0]}, steps=5, mask=mask)
    assert envs.steps_done.tolist() == [10, 5, 10, 5]
    assert envs["gravity"][:, 2].tolist() == [-5, -9.81, -5, -9.81]
    np.testing.assert_array_equal(envs.observe("position")[~mask], at_5[~mask])
    envs.reset(~mask)
    assert envs.steps_done.tolist() == [10, 0, 10, 0]
    envs.step(steps=5)
    np.testing.assert_array_equal(envs.observe("position")[1], at_5[1])
    envs.step(steps=15)
    assert envs.done.tolist() == [True, False, True, False]
    envs.step(steps=3)
    assert envs.steps_done.tolist() == [30, 23, 30, 23]


def test_reset_to_given_states():
    sim = hc.load(CAGE)
    sim.run(keep=["position", "velocity"])
    expected = sim.final("position")
    envs = sim.batch(3)
    x = np.tile(sim.state("position")[10], (3, 1, 1))
    v = np.tile(sim.state("velocity")[10], (3, 1, 1))
    v[2] += 1
    envs.step(steps=3)
    envs.reset(np.array([True, False, True]), states={"position": x, "velocity": v})
    assert envs.steps_done.tolist() == [0, 3, 0]
    envs.step(steps=20)
    np.testing.assert_allclose(envs.observe("position")[0], expected, rtol=0, atol=1e-12)
    assert np.abs(envs.observe("position")[2] - expected).max() > 0.1


def test_saved_members():
    envs = hc.load(CAGE).batch(3)
    envs.step(steps=4)
    saved = envs.save()
    envs.step(steps=6)
    expected = envs.observe("velocity")
    envs.restore(saved)
    assert envs.steps_done.tolist() == [4] * 3
    envs.step(steps=6)
    np.testing.assert_array_equal(envs.observe("velocity"), expected)
    with pytest.raises(hc.ArgumentError, match="saved: it is not of this batch"):
        hc.load(CAGE).batch(3).restore(saved)


def window_losses(envs, saved, actions, steps, weights, loss):
    """By the steps themselves."""
    envs.restore(saved)
    envs.step(actions, steps=steps)
    total = loss * np.nan_to_num(envs.losses)
    for name, weight in weights.items():
        total = total + np.sum(weight * envs.observe(name), axis=(1, 2))
    return total


@pytest.mark.parametrize("begin, steps, loss", [(3, 4, 0.0), (84, 6, 2.0)])
def test_windows_against_differences(begin, steps, loss):
    """The hand's path depends on the step's number, so that the window must know where it is."""
    rng = np.random.default_rng(2)
    sim = hc.load(MARIONETTE)
    envs = sim.batch(3)
    places = envs["hand.places"] + 0.1 * rng.normal(size=(3, 90, 3))
    envs.step({"hand.places": places, "links.stiffness": [300.0, 400.0, 500.0]}, steps=begin)
    saved = envs.save()
    weights = {name: rng.normal(size=(3, 5, 3)) for name in ("position", "velocity")}
    paths, names = ["hand.places", "links.stiffness", "gravity"], ["position", "velocity"]
    pulled = envs.vjp(paths, steps, weights, loss=loss, states=names)
    np.testing.assert_array_equal(envs.steps_done, begin)
    base = window_losses(envs, saved, {}, steps, weights, loss)
    if loss:
        np.testing.assert_array_equal(pulled.losses, envs.losses)

    def slope(change):
        h = 1e-5
        return (change(h) - change(-h)) / (2 * h)

    values = {path: envs[path] for path in paths}
    for path in paths:
        d = rng.normal(size=values[path].shape) * (100 if path == "links.stiffness" else 1)
        numeric = slope(
            lambda h: window_losses(
                envs, saved, {path: values[path] + h * d}, steps, weights, loss
            )
        )
        envs[path] = values[path]
        exact = np.sum((pulled.paths[path] * d).reshape(3, -1), axis=1)
        np.testing.assert_allclose(exact, numeric, rtol=1e-6, atol=1e-7 * np.abs(base).max())
    # The places of other times have no part in it.
    inside = np.zeros(90, bool)
    inside[begin : begin + steps] = True
    assert np.any(pulled.paths["hand.places"][:, inside])
    assert not np.any(pulled.paths["hand.places"][:, ~inside])

    # By the state where the window begins: a run from a state that is reset to, whose hand is led
    # as in the window.
    envs.restore(saved)
    state = envs.observe(names)
    d = {name: rng.normal(size=state[name].shape) for name in names}
    late = hc.load(MARIONETTE).batch(3)
    shifted = np.concatenate([places[:, begin:], places[:, :begin]], axis=1)
    late.step({"hand.places": shifted, "links.stiffness": envs["links.stiffness"]}, steps=0)

    def from_state(h):
        late.reset(states={name: state[name] + h * d[name] for name in names})
        late.step(steps=steps)
        return sum(np.sum(weights[n] * late.observe(n), axis=(1, 2)) for n in names)

    if not loss:
        exact = sum(np.sum(pulled.states[n] * d[n], axis=(1, 2)) for n in names)
        np.testing.assert_allclose(exact, slope(from_state), rtol=1e-6)


def test_windows_in_a_row_are_the_gradient_of_the_whole():
    """Backpropagation through time by hand: from window to window, by the states between them."""
    sim = hc.load(CAGE)
    loss, whole = sim.value_and_grad(["cage.stiffness", "gravity"])
    envs = sim.batch(2)
    saved = []
    while not envs.done.all():
        saved.append(envs.save())
        envs.step(steps=8)
    names = [n for n in envs.observed if n in ("position", "velocity")]
    total = {"cage.stiffness": 0.0, "gravity": 0.0}
    cotangents = {}
    for k, where in enumerate(reversed(saved)):
        envs.restore(where)
        pulled = envs.vjp(list(total), 8, cotangents, loss=1.0 if k == 0 else 0.0, states=names)
        cotangents = pulled.states
        for path in total:
            total[path] = total[path] + pulled.paths[path]
        if k == 0:
            assert pulled.losses.tolist() == [loss] * 2
    for path in total:
        for row in total[path]:
            np.testing.assert_allclose(row, whole[path], rtol=1e-12)


def test_a_diverging_member_alone_is_lost():
    sim = hc.load(CAGE)
    envs = sim.batch(3, {"cage.stiffness": [100.0, 1e9, 100.0]})
    envs.step(steps=30)
    assert envs.diverged.tolist() == [False, True, False]
    assert envs.done.all()
    losses = envs.losses
    assert np.isnan(losses[1]) and losses[0] == losses[2] == sim.run()
    pulled = envs.vjp(["gravity"], 1, loss=1.0)
    assert np.isnan(pulled.paths["gravity"][1]).all()
    losses, grads = envs.value_and_grad(["gravity"])
    assert np.isnan(losses[1]) and np.isnan(grads["gravity"][1]).all()
    np.testing.assert_array_equal(grads["gravity"][0], sim.value_and_grad(["gravity"])[1]["gravity"])


def test_the_simulation_goes_its_own_way():
    sim = hc.load(CAGE)
    envs = sim.batch(2)
    sim["cage.stiffness"] = 10.0
    sim["time.steps"] = 3
    envs.step(steps=30)
    assert envs.losses.tolist() == [hc.load(CAGE).run()] * 2
    assert envs["cage.stiffness"].tolist() == [hc.load(CAGE)["cage.stiffness"]] * 2


WRONG = [
    (lambda e, s: s.batch(0), "n: 0"),
    (lambda e, s: s.batch(2.5), "n: 2.5"),
    (lambda e, s: s.batch(2, {"cage.stiffness": [1.0, 2.0, 3.0]}), r"values: 'cage.stiffness'.*\(3,\)"),
    (lambda e, s: e.step({"cage.stifness": 1.0}), "did you mean"),
    (lambda e, s: e.step({"cage.stiffness": -1.0}), "cage.stiffness cannot be -1"),
    (lambda e, s: e.step([1.0]), "actions: a dict"),
    (lambda e, s: e.step(steps=-1), "steps: -1"),
    (lambda e, s: e.step(mask=[1, 0, 1]), r"mask: bool \[3\] is needed"),
    (lambda e, s: e.reset(np.ones(2, bool)), r"mask: bool \[3\] is needed"),
    (lambda e, s: e.reset(states={"positon": 0.0}), "there is no state array 'positon'"),
    (lambda e, s: e.reset(states={"position": np.zeros((2, 9, 3))}), "states: 'position': has the shape"),
    (lambda e, s: e.reset(states={"position": np.full((3, 9, 3), np.nan)}), "not finite"),
    (lambda e, s: e.observe("inverse_mass"), "does not change in a run"),
    (lambda e, s: e.vjp(["nothing"]), "nothing"),
    (lambda e, s: e.vjp(["gravity"], cotangents={"position": "a"}), "cotangents: 'position'"),
    (lambda e, s: e.restore(3), "saved: what save"),
    (lambda e, s: e.set("cage.rest_length[2]", 1.0) or e.set("cage.rest_length", 1.0), "set before"),
]


@pytest.mark.parametrize("wrong, message", WRONG, ids=[message for _, message in WRONG])
def test_wrong_uses(wrong, message):
    sim = hc.load(CAGE)
    envs = sim.batch(3)
    with pytest.raises(hc.ArgumentError, match=message):
        wrong(envs, sim)
    envs.step(steps=30)
    if message != "set before":
        assert envs.losses[0] == sim.run()


@pytest.mark.parametrize("what", ["step", "gradient", "vjp"])
def test_an_interrupt_leaves_the_members_where_they_were(what):
    document = json.loads(CAGE.read_text())
    document["time"]["steps"] = 3_000_000
    document["gradients"] = {"memory": "1 GiB"}
    envs = hc.scene(document).batch(4)
    envs.step(steps=2)
    call = {
        "step": lambda: envs.step(steps=3_000_000),
        "gradient": lambda: envs.value_and_grad(["gravity"]),
        "vjp": lambda: envs.vjp(["gravity"], 3_000_000, loss=1.0),
    }[what]
    timer = threading.Timer(0.3, os.kill, (os.getpid(), signal.SIGINT))
    timer.start()
    begin = time.perf_counter()
    with pytest.raises(KeyboardInterrupt):
        call()
    timer.join()
    assert time.perf_counter() - begin < 10
    assert envs.steps_done.tolist() == [2] * 4
    envs.step(steps=28)
    np.testing.assert_array_equal(
        envs.observe("position")[3], _final(hc.load(CAGE))
    )


def _final(sim):
    sim.run()
    return sim.final("position")


def test_python_runs_beside_a_step():
    envs = hc.load(CAGE, steps=200_000).batch(2)
    counted = []
    thread = threading.Thread(target=lambda: envs.step(steps=200_000))
    thread.start()
    while thread.is_alive():
        counted.append(time.perf_counter())
        time.sleep(0.001)
    thread.join()
    assert envs.done.all()
    assert len(counted) > 10


def test_one_thread():
    one = hc.load(CAGE, device=hc.device("cpu", threads=1)).batch(3, {"cage.stiffness": STIFFNESS[:3]})
    many = hc.load(CAGE).batch(3, {"cage.stiffness": STIFFNESS[:3]})
    for envs in (one, many):
        envs.step(steps=30)
    np.testing.assert_array_equal(one.losses, many.losses)
    a, b = one.vjp(["gravity"], 5, loss=1.0), many.vjp(["gravity"], 5, loss=1.0)
    np.testing.assert_array_equal(flat(a.paths), flat(b.paths))
