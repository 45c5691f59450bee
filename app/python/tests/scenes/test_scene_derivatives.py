"""Gradients, Hessian products and forward mode of scenes, against the program and differences."""

import csv
import re

import hindcast as hc
import numpy as np
import pytest
from scene_tools import CAGE, SCENES, SMOOTH, flat, optimized, slope


@pytest.mark.parametrize("precision", ["f32", "f64"])
@pytest.mark.parametrize(
    "name", ["spring_cage", "mass_spring_simple", "soft_beam", "billiards", "material_blocks", "flag"]
)
def test_gradients_have_the_programs_bits(tmp_path, name, precision):
    file = SCENES / f"{name}.json"
    rows = optimized(tmp_path, file, "--iterations", "0", "--precision", precision)
    with open(tmp_path / "gradient.csv") as table:
        expected = [float(row["last"]) for row in csv.DictReader(table)]
    sim = hc.load(file, precision=precision)
    for _ in range(4):  # launches at first, compiled then
        loss, gradient = sim.value_and_grad()
        assert loss == float(rows[0]["loss"])
        np.testing.assert_array_equal(flat(gradient), expected)


@pytest.mark.parametrize("name, steps", SMOOTH)
def test_gradients_against_differences(name, steps):
    sim = hc.load(SCENES / f"{name}.json", steps=steps)
    paths = sim.parameters
    loss, gradient = sim.value_and_grad(paths)
    assert loss == sim.run() and np.isfinite(loss)
    for path in paths:
        assert np.shape(gradient[path]) == np.shape(sim[path])
    along = slope(sim, paths, gradient)
    assert along == pytest.approx(flat(gradient) @ flat(gradient), rel=1e-7)
    rng = np.random.default_rng(1)
    for _ in range(3):
        u = {path: rng.normal(size=np.shape(sim[path])) for path in paths}
        size = np.linalg.norm(flat(gradient)) * np.linalg.norm(flat(u))
        assert slope(sim, paths, u) == pytest.approx(flat(gradient) @ flat(u), abs=1e-7 * size)


def test_gradients_of_paths_that_are_no_parameters():
    sim = hc.load(CAGE)
    sim["cage.rest_length[2]"] = 0.6  # values that are not the file's
    paths = ["ball.positions", "cage.stiffness", "gravity", "anchors.positions[3].y", "cage.damping"]
    loss, gradient = sim.value_and_grad(paths)
    assert loss == sim.run()
    assert list(gradient) == paths
    for path in paths:
        one = {path: np.ones(np.shape(sim[path]))}
        assert np.shape(gradient[path]) == np.shape(sim[path])
        assert slope(sim, [path], one) == pytest.approx(np.sum(gradient[path]), rel=1e-6), path
    sim["cage.stiffness"] = 70.0  # the same simulation takes new values
    assert sim.value_and_grad(paths)[0] == sim.run() != loss


def test_an_element_of_a_value_for_all_has_its_own_derivative():
    sim = hc.load(CAGE)
    loss, all_ = sim.value_and_grad("cage.stiffness")
    paths = [f"cage.stiffness[{k}]" for k in range(8)]
    again, each = sim.value_and_grad(paths)
    assert again == loss
    assert sum(each.values()) == pytest.approx(all_["cage.stiffness"], rel=1e-12)
    assert sim["cage.stiffness"] == 100.0  # it has stayed one


def test_the_order_of_paths_and_the_scenes_parameters_do_not_matter():
    sim = hc.load(CAGE)
    own = sim.grad()["cage.rest_length"]
    a = sim.grad(["cage.stiffness", "cage.rest_length"])
    b = sim.grad(("cage.rest_length", "cage.stiffness"))
    assert own.tolist() == a["cage.rest_length"].tolist() == b["cage.rest_length"].tolist()
    assert a["cage.stiffness"] == b["cage.stiffness"]
    for k in range(8):
        assert sim.grad(f"cage.rest_length[{k}]")[f"cage.rest_length[{k}]"] == own[k]


def test_more_sets_of_paths_than_are_kept():
    sim = hc.load(CAGE)
    names = [path for path, value in sim.paths().items() if value.differentiable]
    first = {name: sim.grad(name)[name] for name in names for _ in range(2)}
    for k in range(8):
        sim.grad([f"anchors.positions[{k}]"])
    for name in names:
        np.testing.assert_array_equal(sim.grad(name)[name], first[name])


def test_hessian_products_against_differences_of_gradients():
    sim = hc.load(CAGE)
    paths = ["cage.rest_length", "cage.stiffness"]
    rng = np.random.default_rng(2)
    u = {path: rng.normal(size=np.shape(sim[path])) for path in paths}
    product = sim.hvp(paths, u)
    before = {path: sim[path] for path in paths}

    def gradient(step):
        for path in paths:
            sim[path] = before[path] + step * u[path]
        return flat(sim.grad(paths))

    def central(h):
        return (gradient(h) - gradient(-h)) / (2 * h)

    difference = (4 * central(5e-4) - central(1e-3)) / 3
    np.testing.assert_allclose(
        flat(product), difference, atol=1e-8 * np.linalg.norm(difference), rtol=0
    )
    for path in paths:
        sim[path] = before[path]
        assert np.shape(product[path]) == np.shape(before[path])
    v = {path: rng.normal(size=np.shape(sim[path])) for path in paths}
    assert flat(v) @ flat(product) == pytest.approx(flat(u) @ flat(sim.hvp(paths, v)), rel=1e-10)


@pytest.mark.parametrize("name, steps", SMOOTH)
def test_forward_mode_is_the_gradient_along_the_direction(name, steps):
    sim = hc.load(SCENES / f"{name}.json", steps=steps)
    paths = sim.parameters
    rng = np.random.default_rng(3)
    u = {path: rng.normal(size=np.shape(sim[path])) for path in paths}
    loss, gradient = sim.value_and_grad(paths)
    again, derivative = sim.jvp(paths, u)
    assert again == loss
    scale = np.abs(flat(gradient) * flat(u)).sum()
    assert derivative == pytest.approx(flat(gradient) @ flat(u), abs=1e-12 * scale)


def test_watched_runs_have_the_same_bits():
    fast, slow = hc.load(CAGE), hc.load(CAGE)
    fast._core.patience, slow._core.patience = 1e9, 0.0
    for _ in range(3):  # launches at first, compiled then
        a, b = fast.value_and_grad(), slow.value_and_grad()
        assert a[0] == b[0] == fast.run() == slow.run()
        assert a[1]["cage.rest_length"].tolist() == b[1]["cage.rest_length"].tolist()
    a, b = fast.optimize(), slow.optimize()
    assert a.history.tolist() == b.history.tolist()
    assert a.parameters["cage.rest_length"].tolist() == b.parameters["cage.rest_length"].tolist()


def test_the_gradient_check():
    sim = hc.load(CAGE)
    sim["cage.stiffness"] = 90
    checked = sim.check(["cage.rest_length", "cage.stiffness"], hessian=True)
    assert checked and checked.passed and not checked.failures
    assert checked.verdicts == {"cage.rest_length": "ok", "cage.stiffness": "ok"}
    assert re.search("adjoint", str(checked))
