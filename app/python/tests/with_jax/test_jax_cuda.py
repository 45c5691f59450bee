"""The handlers for XLA's CUDA platform, called as XLA calls them, on the CUDA driver in software."""

import json
import pathlib
import re
import types

import numpy as np
import pytest
import software_cuda
import xla_frame
from captured_calls import CapturedCall
from software_cuda import Driver, Memory
from xla_frame import FAILED_PRECONDITION, INVALID_ARGUMENT, Program, XlaError

from hindcast import _core

software_cuda.needs_cuda()
if not hasattr(_core, "_jax_cuda_targets"):
    pytest.skip("this build has no handlers for JAX", allow_module_level=True)

driver = Driver()
targets = _core._jax_cuda_targets()
deleter = xla_frame.register_type(_core._jax_cuda_state_type())
SCENE = str(pathlib.Path(__file__).parents[4] / "scenes" / "free_flight.json")

# free_flight: 100 steps of 0.01 by semi-implicit Euler, the loss |x - target|^2, of the velocity.
STEPS, H, START, TARGET = 100, 0.01, np.array([0, 0, 1.0]), np.array([4, 1, 2.0])
FALL = np.array([0, 0, -9.81]) * H * H * STEPS * (STEPS + 1) / 2


def miss(v):
    return START + v * STEPS * H + FALL - TARGET


def function(precision="f64"):
    return _core.SceneFunction("", SCENE, ["ball.velocity"], ["loss"], None, precision, -1)


def program(kind, f, stream, batch=(1,), has=((0,), (0,), (0,)), waits=False):
    """On the device or, if it `waits` for it, by way of the host."""
    assert waits or f.prepare_on(kind, 0)
    return Program(
        targets[f"hindcast_{kind}" + ("_waits" if waits else "")],
        deleter,
        stream,
        function=f.number,
        batch=np.array(batch),
        has=np.array(has).ravel(),
    )


def run(p, operands, shape, dtype=np.float64):
    """On p's stream: operands are put there just before, the result is read there."""
    memories = [Memory(driver, np.full_like(o, np.nan), p.stream) for o in operands]
    result = Memory(driver, np.full(shape, np.nan, dtype), p.stream)
    for memory, operand in zip(memories, operands):
        memory.put(operand)
    p.execute(
        [(m.address, o.shape, o.dtype) for m, o in zip(memories, operands)],
        [(result.address, shape, dtype)],
    )
    return result.get(dtype, shape)


V, T = np.array([3.0, 0.5, 4.0]), np.array([1.0, -2.0, 0.5])


CALLS = pytest.mark.parametrize(
    "kind, operands, expected",
    [
        ("value", [V], [miss(V) @ miss(V)]),
        ("jvp", [V, T], [2 * miss(V) @ T]),
        ("vjp", [V, np.array([3.0])], 6 * miss(V)),
        ("hvp", [V, np.array([3.0]), T], 6 * T),
        ("jvp2", [V, T, V], [2 * T @ V]),
    ],
)


@pytest.mark.parametrize("waits", [False, True])
@pytest.mark.parametrize("seed", [1, 2, 3])
@CALLS
def test_each_call_on_the_stream_that_xla_gives(kind, operands, expected, seed, waits):
    driver.set(f"seed={seed}")
    f = function()
    p = program(kind, f, driver.stream(), has=((0,),) * len(operands), waits=waits)
    assert p.traits() == (0 if waits else xla_frame.COMMAND_BUFFER_COMPATIBLE)
    expected = np.asarray(expected)
    for scale in (1.0, 1.0):  # as often as one likes
        got = run(p, [np.asarray(o) * scale for o in operands], (1, expected.size))
        assert np.allclose(got[0], expected, rtol=1e-12, atol=1e-12)
    assert "DeviceMemory_Allocate" not in p.asked and "Error_Create" not in p.asked
    p.close()
    driver.set("")


@CALLS
def test_the_first_call_is_captured(kind, operands, expected):
    p = program(kind, function(), driver.stream(), has=((0,),) * len(operands))
    operands, expected = [np.asarray(o) for o in operands], np.asarray(expected)
    shape = (1, expected.size)
    call = CapturedCall(driver, p, operands, [shape])
    for _ in range(3):
        assert np.allclose(call.launch()[0], expected, rtol=1e-12, atol=1e-12)
    assert np.allclose(run(p, operands, shape)[0], expected, rtol=1e-12, atol=1e-12)
    driver.synchronize()
    p.close()


def test_f32_numbers():
    f = function("f32")
    p = program("vjp", f, driver.stream(), has=((0,), (0,)))
    got = run(p, [V.astype(np.float32), np.array([2.0], np.float32)], (1, 3), np.float32)
    assert got.dtype == np.float32 and np.allclose(got[0], 4 * miss(V), rtol=1e-5, atol=1e-4)
    p.close()


CAGE = str(pathlib.Path(SCENE).with_name("spring_cage.json"))


@pytest.mark.parametrize("kind, others", [("value", ()), ("jvp", (1.0,)), ("vjp", (1.0,)), ("hvp", (1.0, 1.0))])
@pytest.mark.parametrize("refused", [-3.0, np.nan, np.inf])
def test_values_that_the_scene_refuses(kind, others, refused):
    """NaN where a call cannot raise; an error by way of the host."""
    f = _core.SceneFunction("", CAGE, ["cage.stiffness"], ["loss"], None, "f64", 5)
    operands = [np.array([x]) for x in (refused, *others)]
    p = program(kind, f, driver.stream(), has=((0,),) * len(operands))
    assert np.isnan(run(p, operands, (1, 1))).all()
    assert np.isfinite(run(p, [np.array([90.0]), *operands[1:]], (1, 1))).all()
    p.close()
    p = program(kind, f, driver.stream(), has=((0,),) * len(operands), waits=True)
    with pytest.raises(XlaError, match=f"cage.stiffness cannot be {refused}"):
        run(p, operands, (1, 1))
    p.close()


def test_a_batch_that_xla_has_divided():
    """The part of this device: the operands' dimensions say how many rows it has."""
    f = function()
    v = np.stack([V * (1 + 0.1 * k) for k in range(3)])
    p = program("vjp", f, driver.stream(), batch=(-1,), has=((1,), (1,)), waits=True)
    got = run(p, [v, np.array([[1.0], [2.0], [0.5]])], (3, 3))
    assert np.allclose(got, [2 * miss(v[0]), 4 * miss(v[1]), miss(v[2])], rtol=1e-12, atol=1e-12)
    p.close()


def test_a_device_of_the_host_that_was_chosen():
    """A simulation that was made for a device of the host."""
    import hindcast as hc

    on_host = _core.SceneFunction(
        "", SCENE, ["ball.velocity"], ["loss"], hc.device("cpu"), "f64", -1
    )
    assert not on_host.prepare_on("value", 0)
    p = program("value", on_host, driver.stream(), waits=True)
    assert np.allclose(run(p, [V], (1, 1)), miss(V) @ miss(V), rtol=1e-12)
    p.close()


@pytest.mark.parametrize(
    "name, path, steps, captured",
    [
        ("hanging_net", "threads.stiffness", 5, True),
        ("spring_cage", None, 5, True),
        ("billiards", "cue.velocity", 20, False),  # there may be more impacts than it goes through
        ("mpm_launch", "block.velocity", 4, False),  # a point may leave the grid
    ],
)
def test_what_can_fail_on_the_device_is_not_captured(name, path, steps, captured):
    scene = pathlib.Path(SCENE).with_name(f"{name}.json")
    path = path or json.loads(scene.read_text())["parameters"][0]["path"]
    f = _core.SceneFunction("", str(scene), [path], ["loss"], None, "f64", steps)
    for kind in ("value", "vjp"):
        assert f.prepare_on(kind, 0) == captured


@pytest.mark.parametrize("vmap, ending", [(False, ""), (True, "_waits")])
def test_the_handler_is_chosen_when_a_program_is_lowered(vmap, ending, monkeypatch):
    """As if there were one device: XLA's client for it cannot be had here. Batches go through the
    ensemble."""
    jax = pytest.importorskip("jax")
    import hindcast as hc
    import hindcast.jax

    devices = lambda backend: [types.SimpleNamespace(local_hardware_id=0)]
    monkeypatch.setattr(jax, "local_devices", devices)
    loss = hc.jax.simulation(SCENE, inputs=["ball.velocity"], precision="f32")
    of = lambda v: loss({"ball.velocity": v})
    v = jax.numpy.asarray(V, jax.numpy.float32)
    f, x = (jax.vmap(of), jax.numpy.stack([v, 2 * v])) if vmap else (of, v)
    text = jax.jit(f).trace(x).lower(lowering_platforms=("cuda",)).as_text()
    assert set(re.findall(r"hindcast_(?!cuda)\w+", text)) == {f"hindcast_value{ending}"}


def test_f32_and_batches_with_an_index_map():
    f = function("f32")
    rows = np.array([V, T, V + T], np.float32)
    p = program("vjp", f, driver.stream(), batch=(1, 3), has=((0, 1), (0, 0)), waits=True)
    got = run(p, [rows, np.array([2.0], np.float32)], (1, 3, 3), np.float32)
    expected = np.array([4 * miss(r) for r in rows.astype(float)])
    assert got.dtype == np.float32 and np.allclose(got[0], expected, rtol=1e-5, atol=1e-4)
    p.close()


def test_a_captured_stream_is_refused_and_left_as_it_is():
    f = function()
    p = program("value", f, driver.stream(), waits=True)
    assert p.traits() == 0  # not said to be part of a command buffer
    run(p, [V], (1, 1))
    x, y = Memory(driver, V, p.stream), Memory(driver, np.zeros((1, 1)), p.stream)
    driver.begin_capture(p.stream)
    waits, allocations = driver.count("synchronizations"), driver.count("allocations")
    with pytest.raises(XlaError, match="cannot be captured") as caught:
        p.execute([(x.address, V.shape, V.dtype)], [(y.address, (1, 1), np.float64)])
    assert caught.value.code == FAILED_PRECONDITION
    assert driver.count("synchronizations") == waits and driver.count("allocations") == allocations
    assert driver.nodes(driver.end_capture(p.stream)) == 0  # it is whole
    p.close()


def test_errors_come_back_as_errors():
    f = function()
    p = program("value", f, driver.stream(), waits=True)
    with pytest.raises(XlaError, match="CUDA was asked for an operand") as caught:
        p.execute([(64, V.shape, V.dtype)], [(64, (1, 1), np.float64)])
    assert caught.value.code == INVALID_ARGUMENT
    p.close()
    with pytest.raises(XlaError, match="the simulation of this program is gone"):
        Program(targets["hindcast_value"], deleter, None, function=10**9, batch=[1], has=[0])


def test_a_compiled_program_keeps_its_simulation():
    before = _core._scene_functions()
    f = function()
    p = program("value", f, driver.stream())
    del f
    assert _core._scene_functions() == before
    assert np.allclose(run(p, [V], (1, 1)), miss(V) @ miss(V), rtol=1e-12)
    p.close()
