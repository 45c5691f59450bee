"""Objects in other processes and as copies: pickle, multiprocessing's spawn, copy.deepcopy."""

import copy
import json
import multiprocessing
import pickle

import hindcast as hc
import numpy as np
import pytest
from scene_tools import CAGE, SCENES


@hc.kernel
def shear(i: hc.Int, x: hc.Read[hc.vec3], k: hc.Param[hc.real], y: hc.Write[hc.vec3]):
    """Of a module."""
    y[i] = hc.vec3(x[i].x + k * x[i].y, x[i].y, hc.sin(x[i].z))


def gradient_of(sim, paths):
    """What another process makes of it: loss, gradient and state, as bytes."""
    loss, gradient = sim.value_and_grad(paths)
    return [float(loss), *(np.asarray(g).tobytes() for g in gradient.values()), sim.hash]


def run_kernel(kernel, x):
    y = hc.zeros(len(x), hc.vec3, precision="f64")
    launch = hc.record(kernel, dim=len(x), x=x, k=0.5, y=y)
    launch.forward()
    y.grad.fill(1)
    launch.adjoint()
    return y.numpy().copy(), x.grad.numpy().copy(), launch.grad("k")


def elsewhere(f, *arguments):
    with multiprocessing.get_context("spawn").Pool(1) as pool:
        return pool.apply(f, arguments)


def simulation(precision="f64"):
    """With everything that is carried: another number of steps, seed, values, one per element."""
    sim = hc.load(CAGE, precision=precision, steps=20, seed=3)
    sim["cage.stiffness"] = np.linspace(80, 120, 8)  # one per element, so that all is made again
    sim["ball.velocity"] = [1 / 3, -0.2, 0.1]
    sim["gravity"] = [0, 0, -9]
    sim["cage.rest_length"] = sim["cage.rest_length"] * 1.05
    return sim


PATHS = ["cage.stiffness", "cage.rest_length", "ball.velocity"]


@pytest.mark.parametrize("precision", ["f32", "f64"])
def test_a_simulation_in_another_process_has_the_same_bits(precision):
    sim = simulation(precision)
    assert elsewhere(gradient_of, sim, PATHS) == gradient_of(sim, PATHS)


def test_a_copy_has_the_values_and_goes_its_own_way():
    sim = simulation()
    other = copy.deepcopy(sim)
    assert (other.precision, other.steps, other.name) == (sim.precision, sim.steps, sim.name)
    assert gradient_of(other, PATHS) == gradient_of(sim, PATHS)
    before = sim["cage.stiffness"].copy()
    other["cage.stiffness"] = 50.0
    np.testing.assert_array_equal(sim["cage.stiffness"], before)
    with pytest.raises(hc.Error, match="nothing has been run"):
        copy.deepcopy(sim).loss


def test_after_an_optimization():
    sim = hc.load(CAGE)
    sim.optimize(iterations=3)
    paths = sim.parameters
    assert gradient_of(pickle.loads(pickle.dumps(sim)), paths) == gradient_of(sim, paths)


def test_the_text_travels_not_the_file(tmp_path):
    file = tmp_path / "scene.json"
    file.write_text(CAGE.read_text())
    sim = hc.load(file)
    data = pickle.dumps(sim)
    file.unlink()
    assert pickle.loads(data).run() == sim.run()


def test_what_a_value_at_load_has_made_stays():
    """Rest lengths that were made of the positions as loaded, after the positions were set."""
    scene = json.loads((SCENES / "mass_spring_simple.json").read_text())
    sim = hc.scene(scene, steps=5, file=SCENES / "mass_spring_simple.json")
    path = next(p for p in sim.paths() if p.endswith(".positions"))
    moved = np.asarray(sim[path]) * 1.01
    sim[path] = moved
    sim["time.steps"] = 6  # everything is made again
    other = pickle.loads(pickle.dumps(sim))
    assert other.steps == 6
    np.testing.assert_array_equal(other[path], moved)
    assert other.run() == sim.run() and other.hash == sim.hash


def test_devices():
    one = pickle.loads(pickle.dumps(hc.device("cpu", threads=1, checked=True, without="fusion")))
    assert repr(one) == repr(hc.device("cpu", threads=1))
    assert hc._core._device_parts(one) == ("cpu", 1, True, "fusion")
    sim = hc.load(CAGE, device="interpreter", steps=3)
    assert repr(pickle.loads(pickle.dumps(sim)).device) == repr(sim.device)


@pytest.mark.parametrize("send", [copy.deepcopy, lambda x: pickle.loads(pickle.dumps(x))])
def test_arrays(send):
    numbers = np.arange(12, dtype=np.float32).reshape(4, 3)
    array = hc.array(numbers[::2], dtype=hc.vec3)
    other = send(array)
    numbers[:] = 0
    np.testing.assert_array_equal(other.numpy(), [[0, 1, 2], [6, 7, 8]])
    assert other.dtype == "f32"
    # What an element is travels: vectors are not taken for matrices.
    with pytest.raises(hc.ArgumentError):
        hc.record(shear, dim=2, x=send(hc.array(np.zeros((2, 3)), dtype=hc.f64)), k=1.0, y=other)
    undecided = send(hc.array(np.zeros((2, 3))))
    run_kernel(shear, undecided)
    for dtype in (hc.f32, hc.f64, hc.i32, hc.u32, hc.i64, hc.u64, hc.real, hc.vec2, hc.mat3, hc.ivec4):
        assert repr(send(dtype)) == repr(dtype)
    for kind in (hc.i32, hc.u64):
        assert send(hc.array([1, 2], dtype=kind)).dtype == kind.name


def made_in_a_function(factor):
    @hc.kernel
    def scaled(i: hc.Int, x: hc.Read[hc.vec3], k: hc.Param[hc.real], y: hc.Write[hc.vec3]):
        y[i] = x[i] * k
        with hc.if_(k > factor):
            y[i] = y[i] * factor

    return scaled


@pytest.mark.parametrize("name", ["module", "function", "library"])
def test_kernels_in_another_process(name):
    if name == "library":
        kernel = hc.built_in("spring_force", dimension=2, damped=True)
        other = pickle.loads(pickle.dumps(kernel))
        assert other.signature == kernel.signature and other.documentation == kernel.documentation
        return
    kernel = shear if name == "module" else made_in_a_function(0.25)
    x = np.random.default_rng(1).normal(size=(5, 3))
    here = run_kernel(kernel, hc.array(x.copy()))
    there = elsewhere(run_kernel, kernel, hc.array(x.copy()))
    for a, b in zip(here, there):
        np.testing.assert_array_equal(a, b)
    other = pickle.loads(pickle.dumps(kernel))
    assert other.signature == kernel.signature and other.documentation == kernel.documentation
    assert pickle.dumps(other) == pickle.dumps(kernel)
    assert copy.deepcopy(kernel) is kernel and copy.copy(kernel) is kernel


def test_what_cannot_travel_says_what_to_send():
    x = hc.zeros(2, hc.vec3)
    launch = hc.record(shear, dim=2, x=x, k=1.0, y=hc.zeros(2, hc.vec3))
    batch = hc.load(CAGE).batch(2)
    for thing, words in (
        (launch, r"a launch cannot .* send its kernel and its arrays, and hc.record\(\) there"),
        (batch, r"a batch cannot .* make sim.batch\(n, values\)"),
        (batch.save(), "a batch cannot"),
    ):
        for send in (pickle.dumps, copy.deepcopy):
            with pytest.raises(TypeError, match=words):
                send(thing)
