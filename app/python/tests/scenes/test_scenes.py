"""Scenes: values by path, runs and their states, optimization, errors."""

import gc
import json
import re

import hindcast as hc
import numpy as np
import pytest
from scene_tools import CAGE, SCENES, optimized, ran


# ---- against the program


@pytest.mark.parametrize("precision", ["f32", "f64"])
def test_values_states_and_gradients_are_the_programs(tmp_path, precision):
    summary = ran(tmp_path / "run", CAGE, "--precision", precision)
    sim = hc.load(CAGE, precision=precision)
    assert sim.run(keep=("position", "velocity")) == summary["loss"]
    assert sim.loss == summary["loss"]
    assert sim.hash == summary["state_hash"]
    frames = np.load(tmp_path / "run" / "states" / "position.npy")
    kept = sim.state("position")
    assert kept.dtype == frames.dtype == {"f32": np.float32, "f64": np.float64}[precision]
    every = json.loads((tmp_path / "run" / "summary.json").read_text())["states"]["every"]
    assert every == 1
    np.testing.assert_array_equal(kept, frames)
    np.testing.assert_array_equal(sim.final("position"), frames[-1])

    rows = optimized(tmp_path / "optimize", CAGE, "--precision", precision)
    loss, _ = sim.value_and_grad(["cage.rest_length"])
    assert loss == float(rows[0]["loss"])
    np.testing.assert_array_equal(
        sim["cage.rest_length"], [float(rows[0][f"cage.rest_length[{k}]"]) for k in range(8)]
    )
    result = sim.optimize()
    np.testing.assert_array_equal(result.history, [float(row["loss"]) for row in rows])
    np.testing.assert_array_equal(
        result.gradient_norms, [float(row["gradient_norm"]) for row in rows]
    )
    best = min(rows, key=lambda row: float(row["loss"]))
    np.testing.assert_array_equal(
        sim["cage.rest_length"], [float(best[f"cage.rest_length[{k}]"]) for k in range(8)]
    )


def test_values_that_are_set_are_those_of_the_option_set(tmp_path):
    summary = ran(
        tmp_path, CAGE, "--precision", "f64", "--set", "cage.stiffness=50", "--set", "gravity.z=-1",
        "--set", "ball.positions[0].x=0.125", "--set", "time.steps=20",
    )
    sim = hc.load(CAGE)
    sim["cage.stiffness"] = 50
    sim["gravity.z"] = -1
    sim["ball.positions[0].x"] = 0.125
    sim["time.steps"] = 20
    assert sim.run() == summary["loss"]
    assert sim.hash == summary["state_hash"]
    assert sim.steps == 20
    assert sim.time == pytest.approx(20 / 30)


def test_another_number_of_steps_and_precision(tmp_path):
    summary = ran(tmp_path, CAGE, "--steps", "7", "--precision", "f32")
    sim = hc.load(str(CAGE), steps=7, precision="f32", device="cpu")
    assert (sim.run(), sim.steps) == (summary["loss"], 7)
    assert hc.load(CAGE, steps=7, precision="f32", device=hc.device("interpreter")).run() == sim.loss


# ---- values


def test_values_read_and_set_by_path():
    sim = hc.load(CAGE)
    assert sim["cage.stiffness"] == 100.0 and isinstance(sim["cage.stiffness"], float)
    assert sim["gravity"].tolist() == [0, 0, -9.81]
    assert sim["gravity.z"] == -9.81
    assert sim["anchors.positions"].shape == (8, 3)
    assert sim["anchors.positions[1]"].tolist() == [1.1, 0, 0.2]
    assert sim["anchors.positions[1].x"] == 1.1
    assert sim["anchors.positions.x"].shape == (8,)
    assert sim["time.steps"] == 30
    assert sim["optimizer.type"] == "gradient_descent"

    rest = np.linspace(0.5, 1.2, 8)
    sim["cage.rest_length"] = rest
    assert sim["cage.rest_length"].tolist() == rest.tolist()
    sim["cage.rest_length"] = 0.75  # for each
    assert sim["cage.rest_length"].tolist() == [0.75] * 8
    sim["cage.rest_length[3]"] = 0.5
    assert sim["cage.rest_length"].tolist() == [0.75] * 3 + [0.5] + [0.75] * 4
    sim["gravity"] = [0, 1, 2]
    assert sim["gravity"].tolist() == [0, 1, 2]
    sim["ball.positions.z"] = 0.5
    assert sim["ball.positions"].tolist() == [[0, 0, 0.5]]

    got = sim["cage.rest_length"]
    got[:] = 9  # a copy
    assert sim["cage.rest_length[0]"] == 0.75


def test_a_value_for_all_becomes_one_per_element():
    sim, same = hc.load(CAGE), hc.load(CAGE)
    sim["ball.positions[0].y"] = 0.25
    sim["cage.stiffness"] = np.full(8, 80.0)
    assert sim["cage.stiffness"].shape == (8,)
    assert sim["ball.positions[0].y"] == 0.25
    same["ball.positions[0].y"] = 0.25
    same["cage.stiffness"] = 80
    assert sim.run() == same.run()
    _, each = sim.value_and_grad(["cage.stiffness"])
    _, all_ = same.value_and_grad(["cage.stiffness"])
    assert each["cage.stiffness"].shape == (8,)
    assert np.shape(all_["cage.stiffness"]) == ()
    assert each["cage.stiffness"].sum() == pytest.approx(all_["cage.stiffness"], rel=1e-12)

    sim = hc.load(CAGE)
    sim["cage.stiffness[2]"] = 30
    assert sim["cage.stiffness"].tolist() == [100, 100, 30, 100, 100, 100, 100, 100]
    sim = hc.load(CAGE)
    sim["cage.stiffness"] = {"formula": "100 + 10*i"}
    assert sim["cage.stiffness"].tolist() == [100 + 10 * k for k in range(8)]


def test_paths_tell_shapes_units_and_gradients():
    paths = hc.load(CAGE).paths()
    assert paths["cage.stiffness"] == ((), "N/m", True)
    assert paths["cage.rest_length"].shape == (8,)
    assert paths["ball.positions"].shape == (1, 3)
    assert paths["gravity"].unit == "m/s^2"


def test_scenes_from_dicts_and_text(tmp_path):
    loss = hc.load(CAGE).run()
    text = CAGE.read_text()
    assert hc.scene(text).run() == loss
    document = json.loads(text)
    document["forces"][0]["stiffness"] = np.float64(100)
    document["bodies"][1]["positions"] = np.array(document["bodies"][1]["positions"])
    assert hc.scene(document).run() == loss
    np.save(tmp_path / "anchors.npy", document["bodies"][1]["positions"])
    document["bodies"][1]["positions"] = {"file": "anchors.npy"}
    assert hc.scene(document, file=tmp_path / "scene.json").run() == loss
    document["bodies"][1]["positions"] = [[float("nan")] * 3]
    with pytest.raises(hc.ArgumentError, match="document"):
        hc.scene(document)


def test_saved_scenes_have_the_values_as_they_stand(tmp_path):
    sim = hc.load(CAGE)
    sim["cage.stiffness"] = 0.1 + 0.2
    sim["cage.damping"] = 3
    sim["ball.positions"] = [[0.01, 0.02, 1 / 3]]
    sim.optimize(iterations=2)
    sim.save(tmp_path / "saved.json")
    again = hc.load(tmp_path / "saved.json")
    for path in sim.paths():
        np.testing.assert_array_equal(again[path], sim[path], err_msg=path)
    assert again.run() == sim.run()
    assert again.hash == sim.hash
    assert again.parameters == sim.parameters
    with pytest.raises(hc.ArgumentError, match="file"):
        sim.save(tmp_path / "missing" / "saved.json")


def test_long_values_are_saved_beside_the_scene(tmp_path):
    n = 400
    document = {
        "format": 1,
        "time": {"step": 0.01, "steps": 3},
        "bodies": [{"type": "particles", "name": "dust", "positions": np.zeros((n, 3))}],
        "objective": [{"type": "point_target", "of": "dust", "target": [1, 0, 0]}],
    }
    sim = hc.scene(document)
    sim["dust.positions"] = np.arange(3.0 * n).reshape(n, 3)
    sim.save(tmp_path / "dust.json")
    assert (tmp_path / "dust_positions.npy").exists()
    assert hc.load(tmp_path / "dust.json").run() == sim.run()


# ---- states


def test_states_are_views_of_what_a_run_kept():
    sim = hc.load(CAGE)
    loss = sim.run(keep="position")
    state = sim.state("position")
    assert state.shape == (sim.steps + 1, 9, 3)
    assert not state.flags.owndata and not state.flags.writeable
    assert np.shares_memory(state, sim.state("position"))
    assert state[0, 0].tolist() == [0, 0, 0]
    kept = state.copy()
    sim["cage.stiffness"] = 5
    sim.run(keep=["position", "velocity"])
    assert np.array_equal(state, kept)  # of the first run, still
    assert not np.array_equal(sim.state("position"), kept)
    h = 1 / 30
    np.testing.assert_allclose(
        np.diff(sim.state("position"), axis=0), h * sim.state("velocity")[1:], atol=1e-15
    )
    del sim
    gc.collect()
    assert np.array_equal(state, kept)
    assert loss > 0


def test_states_at_whole_steps_of_a_scene_with_substeps():
    document = json.loads(CAGE.read_text())
    document["time"]["substeps"] = 4
    sim = hc.scene(document)
    sim.run(keep="position")
    assert sim.steps == 30
    assert sim.state("position").shape[0] == 31
    np.testing.assert_array_equal(sim.state("position")[-1], sim.final("position"))


def test_states_of_planar_arrays_are_strided():
    sim = hc.load(SCENES / "hanging_net.json", steps=5, precision="f32")
    sim.run(keep=sim.arrays)
    for name in sim.arrays:
        state = sim.state(name)
        assert state.shape[0] == 6
        np.testing.assert_array_equal(state[-1], sim.final(name), err_msg=name)


# ---- optimization


def test_the_callback_sees_rows_and_may_stop():
    sim = hc.load(CAGE)
    rows = []

    def callback(iteration, loss):
        rows.append((iteration, loss, sim["cage.rest_length[0]"]))
        return iteration < 3

    result = sim.optimize(callback=callback)
    assert [row[0] for row in rows] == [0, 1, 2, 3]
    assert result.stopped == "stopped"
    assert result.history.tolist() == [row[1] for row in rows]
    assert result.loss == min(result.history) == sim.loss == sim.run()
    assert len({row[2] for row in rows}) == 4
    assert result.parameters["cage.rest_length"].tolist() == sim["cage.rest_length"].tolist()
    assert len(hc.load(CAGE).optimize(iterations=5, progress=True).history) == 6


def test_an_error_of_the_callback_is_raised_and_the_best_values_stay():
    sim = hc.load(CAGE)
    losses = []

    def callback(iteration, loss):
        losses.append(loss)
        if iteration == 2:
            raise KeyError("mine")

    with pytest.raises(KeyError, match="mine"):
        sim.optimize(callback=callback)
    assert sim.run() == min(losses)

    def changes(iteration, loss):
        sim["cage.stiffness"] = 1

    with pytest.raises(hc.Error, match="being optimized"):
        sim.optimize(callback=changes)
    assert sim["cage.stiffness"] == 100.0


# ---- what goes wrong


def test_wrong_arguments_name_the_argument():
    sim = hc.load(CAGE)
    wrong = [
        (lambda: sim["cage.stifness"], "path: .*cage.stifness.*did you mean 'cage.stiffness'"),
        (lambda: sim["nothing.here"], "path: .*there are .*ball.positions"),
        (lambda: sim["cage..x"], "path: "),
        (lambda: sim[3], "path: .*int"),
        (lambda: sim["cage.rest_length[8]"], "path: .*8 elements"),
        (lambda: sim["cage.stiffness.z"], "path: .*1 component"),
        (lambda: sim.__setitem__("cage.stiffness", -1), "value: .*-1.*above 0|value: .*-1"),
        (lambda: sim.__setitem__("cage.stiffness", float("nan")), "value: .*nan"),
        (lambda: sim.__setitem__("cage.rest_length", [1, 2]), r"value: .*\(2,\).*\(8,\)"),
        (lambda: sim.__setitem__("cage.rest_length", [[1], [2, 3]]), "value: "),
        (lambda: sim.__setitem__("cage.rest_length", 1j), "value: .*complex"),
        (lambda: sim.value_and_grad([]), "paths: "),
        (lambda: sim.value_and_grad(["cage.stifness"]), "paths: .*did you mean"),
        (lambda: sim.value_and_grad(["time.steps"]), "paths: "),
        (lambda: sim.value_and_grad(3), "paths: .*int"),
        (lambda: sim.value_and_grad(["cage.damping", "cage.damping"]), "paths: .*another path"),
        (lambda: sim.run(keep="positon"), "keep: .*did you mean 'position'"),
        (lambda: sim.jvp("cage.stiffness", {}), "direction: .*missing"),
        (lambda: sim.jvp("cage.stiffness", {"cage.stiffness": [1, 2]}), "direction: .*shape"),
        (lambda: sim.jvp("cage.stiffness", {"gravity": [1, 2, 3]}), "direction: 'gravity'"),
        (lambda: sim.hvp("cage.stiffness", 3), "direction: .*int"),
        (lambda: sim.optimize(iterations=-1), "iterations: "),
        (lambda: sim.optimize(callback=3), "callback: .*int"),
        (lambda: hc.load(CAGE, precision="f16"), "precision: 'f16'"),
        (lambda: hc.load(CAGE, steps=-2), "steps: -2"),
        (lambda: hc.load(CAGE, device=3), "device: .*int"),
        (lambda: hc.load(3), "file: .*int"),
        (lambda: hc.scene(3), "document: .*int"),
    ]
    before = sim.run()
    for call, message in wrong:
        with pytest.raises(hc.ArgumentError, match=message):
            call()
    assert sim.run() == before


def test_errors_of_scenes_and_of_what_was_not_run():
    sim = hc.load(CAGE)
    with pytest.raises(hc.Error, match="nothing has been run"):
        sim.loss
    with pytest.raises(hc.Error, match="nothing has been run"):
        sim.final("position")
    sim.run()
    with pytest.raises(hc.Error, match=r"run\(keep=\(\"position\",\)\)"):
        sim.state("position")
    sim.run(keep="velocity")
    with pytest.raises(hc.Error, match="kept velocity, not 'position'"):
        sim.state("position")
    with pytest.raises(hc.Error, match="missing.json"):
        hc.load("missing.json")
    with pytest.raises(hc.Error, match="scene:1:"):
        hc.scene('{"format": }')
    with pytest.raises(hc.Error, match="stiffness"):
        sim["cage.stiffness"] = "stiff"
    assert sim["cage.stiffness"] == 100.0
    aimless = json.loads(CAGE.read_text())
    del aimless["objective"], aimless["parameters"]
    sim = hc.scene(aimless)
    with pytest.raises(hc.Error, match="no objective"):
        sim.value_and_grad("cage.stiffness")
    with pytest.raises(hc.ArgumentError, match="no parameters"):
        sim.value_and_grad()
    with pytest.raises(hc.Error, match="no parameters"):
        sim.optimize()
    single = hc.load(CAGE, precision="f32")
    with pytest.raises(hc.ArgumentError, match="f32"):
        single["cage.stiffness"] = 1e60


def test_a_run_that_diverges_has_no_loss():
    sim = hc.load(CAGE, steps=200)
    sim["cage.stiffness"] = 1e9
    assert np.isnan(sim.run(keep="position"))
    assert 1 <= len(sim.state("position")) <= 201
    loss, gradient = sim.value_and_grad()
    assert np.isnan(loss) and np.isnan(gradient["cage.rest_length"]).all()
    assert np.isnan(sim.loss)
    sim["cage.stiffness"] = 100.0
    assert np.isfinite(sim.value_and_grad()[0])


def test_what_a_simulation_says_of_itself():
    sim = hc.load(CAGE, steps=1)
    assert re.fullmatch(
        r"hindcast.Simulation 'spring cage': 1 step of 0.0333333 s; f64; cpu, .*", repr(sim)
    )
    assert sim.name == "spring cage" and sim.precision == "f64"
    assert sim.parameters == ["cage.rest_length"]
    loss = sim.run()
    assert sim.terms == {"target": loss} and loss > 0
