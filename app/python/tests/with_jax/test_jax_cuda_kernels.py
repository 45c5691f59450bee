"""Kernels' handlers for XLA's CUDA platform, called as XLA calls them, on the CUDA driver in software;
against the same functions in jax.numpy."""

import gc
import re
import types

import hindcast as hc
import numpy as np
import pytest
import software_cuda
import xla_frame
from captured_calls import CapturedCall
from software_cuda import Driver, Memory
from xla_frame import FAILED_PRECONDITION, INVALID_ARGUMENT, Program, XlaError

jax = pytest.importorskip("jax")
jnp = pytest.importorskip("jax.numpy")

import hindcast.jax  # noqa: E402
from hindcast import _core  # noqa: E402
from jax_kernel_tools import (  # noqa: E402
    ENDS,
    J,
    MIXED,
    NUMBER,
    ROD,
    STEP,
    make_mix,
    make_rod,
    mix_of_jax,
    rod_of_jax,
)

software_cuda.needs_cuda()
driver = Driver()
targets = _core._jax_cuda_kernel_targets()
deleter = xla_frame.register_type(_core._jax_cuda_kernel_state_type())
KINDS = {"value": "x", "jvp": "xt", "vjp": "xc", "hvp": "xcu", "jvp2": "xtu"}


@hc.kernel
def bend(i: hc.Int, x: hc.Read[hc.vec2], k: hc.Param[hc.real], shift: hc.Param[hc.i32],
         y: hc.Write[hc.vec2], total: hc.Reduce[hc.real], kept: hc.ReadWrite[hc.real]):
    y[i] = hc.vec2(hc.sin(x[i].x) * k, x[i].y * x[i].x * hc.real(shift))
    total += hc.exp(x[i].y) * k
    kept[i] = kept[i] * kept[i] + x[i].x


X = np.array([[0.3, -0.2], [1.1, 0.4], [-0.7, 0.9]])
BEND = {"x": X, "k": np.array(0.8), "old": np.array([0.5, -1.5, 2.0])}
SHIFT = np.array(3, np.int32)


def make_bend():
    return hc.jax.kernel(
        bend, dim="x", outputs={"y": hc.written(), "total": hc.fill(2.0), "kept": hc.copy_of("old")}
    )


def bend_of_jax(x, k, old, shift=SHIFT):
    return {
        "y": jnp.stack([jnp.sin(x[:, 0]) * k, x[:, 1] * x[:, 0] * shift], 1),
        "total": 2.0 + (jnp.exp(x[:, 1]) * k).sum(),
        "kept": old**2 + x[:, 0],
    }


class Case:
    """A function on the device: what was recorded, and its operands in order."""

    def __init__(self, f, reals, integers, reference, precision="f64"):
        given = {**reals, **integers}
        self.dtype = np.float64 if precision == "f64" else np.float32
        self.recorded = f._record({n: np.shape(given[n]) for n in f.inputs}, precision)
        self.inputs = [n for n in self.recorded.operands if n in reals]
        self.constants = [np.asarray(given[n]) for n in self.recorded.operands if n in integers]
        self.reals = [np.asarray(reals[n], self.dtype) for n in self.inputs]
        names = self.recorded.names
        self.reference = lambda *x: [reference(**dict(zip(self.inputs, x)))[n] for n in names]

    def directions(self, seed):
        random = np.random.default_rng(seed)
        return [np.asarray(random.normal(size=x.shape), self.dtype) for x in self.reals]

    def cotangents(self, seed):
        random = np.random.default_rng(seed)
        shapes = [y.shape for y in self.reference(*self.reals)]
        return [np.asarray(random.normal(size=s), self.dtype) for s in shapes]

    def groups(self, kind):
        given = {"x": self.reals, "t": self.directions(1), "u": self.directions(2), "c": self.cotangents(3)}
        return [o for g in KINDS[kind] for o in given[g]] + self.constants

    def expected(self, kind):
        f, x = self.reference, tuple(jnp.asarray(x, jnp.float64) for x in self.reals)
        t, u, c = tuple(self.directions(1)), tuple(self.directions(2)), list(self.cotangents(3))
        if self.dtype == np.float32:
            t, u, c = (jax.tree.map(np.float64, v) for v in (t, u, c))
        along = lambda g, v: jax.jvp(g, x, v)[1]
        found = {
            "value": lambda: f(*x),
            "jvp": lambda: along(f, t),
            "vjp": lambda: jax.vjp(f, *x)[1](c),
            "hvp": lambda: along(lambda *x: jax.vjp(f, *x)[1](c), u),
            "jvp2": lambda: along(lambda *x: jax.jvp(f, x, t)[1], u),
        }[kind]()
        return [np.asarray(v) for v in found]

    def program(self, kind, stream, batch=(1,), has=None, waits=None):
        captured = self.recorded.handle.prepare_on(kind, 0)
        assert waits is None or captured != waits
        operands = len(self.groups(kind))
        return Program(
            targets[f"hindcast_kernel_{kind}" + ("" if captured else "_waits")],
            deleter,
            stream,
            function=self.recorded.number,
            batch=np.array(batch),
            has=np.array(has if has is not None else [[0] * len(batch)] * operands).ravel(),
        )


def memory_of(values, stream):
    return Memory(driver, np.full_like(values, -77), stream)


def run(p, operands, shapes, dtype):
    """On p's stream: operands are put there just before, the results are read there."""
    memories = [memory_of(o, p.stream) for o in operands]
    results = [Memory(driver, np.full(s, np.nan, dtype), p.stream) for s in shapes]
    for memory, operand in zip(memories, operands):
        memory.put(operand)
    p.execute(
        [(m.address, o.shape, o.dtype) for m, o in zip(memories, operands)],
        [(m.address, s, dtype) for m, s in zip(results, shapes)],
    )
    return [m.get(dtype, s) for m, s in zip(results, shapes)]


def bend_case(precision="f64"):
    return Case(make_bend(), BEND, {"shift": SHIFT}, bend_of_jax, precision)


CASES = {
    "bend": (bend_case, False),
    "mix": (lambda: Case(make_mix(), MIXED, {"j": J, "n": NUMBER}, mix_of_jax), True),
    "rod": (lambda: Case(make_rod(), {**ROD, "h": np.array(STEP)}, {"ends": ENDS}, rod_of_jax), True),
}


@pytest.mark.parametrize("seed", [1, 2])
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("name", CASES)
def test_each_call_on_the_stream_that_xla_gives(name, kind, seed):
    driver.set(f"seed={seed}")
    make, waits = CASES[name]
    case = make()
    expected = case.expected(kind)
    p = case.program(kind, driver.stream(), waits=waits)
    assert p.traits() == (0 if waits else xla_frame.COMMAND_BUFFER_COMPATIBLE)
    for _ in range(2):  # as often as one likes
        got = run(p, case.groups(kind), [e.shape for e in expected], case.dtype)
        for g, e in zip(got, expected):
            scale = np.abs(e).max() if e.size else 1
            assert np.allclose(g, e, rtol=0, atol=1e-12 * max(scale, 1))
    assert "DeviceMemory_Allocate" not in p.asked and "Error_Create" not in p.asked
    p.close()
    driver.set("")


@pytest.mark.parametrize("kind", KINDS)
def test_the_first_call_is_captured(kind):
    case = bend_case()
    groups, expected = case.groups(kind), case.expected(kind)
    p = case.program(kind, driver.stream(), waits=False)
    shapes = [e.shape for e in expected]
    call = CapturedCall(driver, p, groups, shapes)
    for _ in range(3):
        for got, e in zip(call.launch(), expected):
            assert np.allclose(got, e, rtol=1e-12, atol=1e-12)
    assert len(run(p, groups, shapes, case.dtype)) == len(expected)
    driver.synchronize()
    p.close()


def test_programs_of_one_function_have_arrays_of_their_own():
    case = bend_case()
    groups, expected = case.groups("value"), case.expected("value")
    other = [2 * o if o.dtype.kind == "f" else o for o in groups]
    stream = driver.stream()
    first, second = (case.program("value", stream, waits=False) for _ in range(2))
    shapes = [e.shape for e in expected]
    call = CapturedCall(driver, first, groups, shapes)
    doubled = run(second, other, shapes, np.float64)
    got = call.launch()
    again = run(second, other, shapes, np.float64)
    for g, e, d, a in zip(got, expected, doubled, again):
        assert np.allclose(g, e, rtol=1e-12)
        assert not np.allclose(d, e) and np.array_equal(d, a)
    driver.synchronize()
    first.close()
    second.close()


def test_f32_numbers_and_batches_with_an_index_map():
    case = bend_case("f32")
    rows = np.stack([X, 2 * X, -X]).astype(np.float32)
    k = np.array([0.5, 1.5], np.float32)
    by_name = {"x": rows, "k": k, "old": np.float32(BEND["old"])}
    has = {"x": (0, 1, 0), "k": (0, 0, 1), "old": (0, 0, 0)}
    operands = [by_name[n] for n in case.inputs] + case.constants
    p = case.program("value", driver.stream(), (1, 3, 2), [has[n] for n in case.inputs] + [(0, 0, 0)])
    names = case.recorded.names
    shapes = {"y": (1, 3, 2, 3, 2), "total": (1, 3, 2), "kept": (1, 3, 2, 3)}
    got = dict(zip(names, run(p, operands, [shapes[n] for n in names], np.float32)))
    for a in range(3):
        for b in range(2):
            e = bend_of_jax(rows[a].astype(float), float(k[b]), BEND["old"])
            for n in names:
                assert np.allclose(got[n][0, a, b], e[n], rtol=1e-5, atol=1e-5), n
    p.close()


def test_the_bits_of_the_host():
    for name, (make, _) in CASES.items():
        case = make()
        shapes = [e.shape for e in case.expected("value")]
        p = case.program("value", driver.stream())
        there = run(p, case.groups("value"), shapes, np.float64)
        cpu = Program(
            _core._jax_kernel_targets()["hindcast_kernel_value"],
            xla_frame.register_type(_core._jax_kernel_state_type()),
            None,
            function=case.recorded.number,
            batch=np.array([1]),
            has=np.zeros(len(case.groups("value")), np.int64),
        )
        operands = [np.ascontiguousarray(o) for o in case.groups("value")]
        here = [np.full(s, np.nan) for s in shapes]
        cpu.execute(
            [(o.ctypes.data, o.shape, o.dtype) for o in operands],
            [(r.ctypes.data, r.shape, r.dtype) for r in here],
        )
        assert [t.tobytes() for t in there] == [h.tobytes() for h in here], name
        p.close()
        cpu.close()


@hc.kernel
def scatter(i: hc.Int, k: hc.Read[hc.i32], x: hc.Read[hc.real], y: hc.Accumulate[hc.real]):
    y[hc.i32(x[i])] += x[i] * hc.real(k[i])


def test_what_fails_is_an_error_of_its_call():
    f = hc.jax.kernel(scatter, dim="x", outputs={"y": hc.jax.zeros(shape=(5,))})
    k, right = np.array([0, 1, 2], np.int32), np.array([1.0, 2.0, 4.0])
    recorded = f._record({"k": (3,), "x": (3,)}, "f64")
    assert not recorded.handle.prepare_on("value", 0)
    p = Program(
        targets["hindcast_kernel_value_waits"], deleter, driver.stream(),
        function=recorded.number, batch=[1], has=[0, 0],
    )
    for wrong in (9.0, -3.0):
        assert np.array_equal(run(p, [right, k], [(5,)], np.float64)[0], [0, 0, 2, 0, 8])
        with pytest.raises(XlaError, match=f"scatter.*item 1.*index {wrong:.0f} is out of range") as caught:
            run(p, [np.array([1.0, wrong, 4.0]), k], [(5,)], np.float64)
        assert caught.value.code == INVALID_ARGUMENT
        del caught  # and with it the memory on the stream
    gc.collect()
    # A stream that is captured is left as it is.
    driver.begin_capture(p.stream)
    with pytest.raises(XlaError, match="cannot be captured") as caught:
        p.execute([(64, (3,), np.float64), (64, (3,), np.int32)], [(64, (5,), np.float64)])
    assert caught.value.code == FAILED_PRECONDITION
    assert driver.nodes(driver.end_capture(p.stream)) == 0
    p.close()


def test_a_device_that_was_not_prepared():
    case = bend_case()
    p = case.program("value", driver.stream())
    p.ordinal = 99
    with pytest.raises(XlaError, match="99"):
        run(p, case.groups("value"), [e.shape for e in case.expected("value")], np.float64)
    p.close()


def test_a_program_keeps_its_function_and_memory_comes_back():
    gc.collect()
    before = _core._kernel_functions()[1]
    case = bend_case()
    groups, shapes = case.groups("value"), [e.shape for e in case.expected("value")]
    p = case.program("value", driver.stream())
    expected = case.expected("value")
    del case
    gc.collect()
    assert _core._kernel_functions()[1] == before + 1
    for g, e in zip(run(p, groups, shapes, np.float64), expected):
        assert np.allclose(g, e)
    p.close()
    assert _core._kernel_functions()[1] == before


@pytest.mark.parametrize("name, waits", [("bend", False), ("mix", True)])
def test_the_handler_is_chosen_when_a_program_is_lowered(name, waits, monkeypatch):
    """As if there were one device: XLA's client for it cannot be had here."""
    devices = lambda backend: [types.SimpleNamespace(local_hardware_id=0)]
    monkeypatch.setattr(jax, "local_devices", devices)
    f, given = {
        "bend": (make_bend(), {**BEND, "shift": SHIFT}),
        "mix": (make_mix(), {**MIXED, "j": J, "n": NUMBER}),
    }[name]
    traced = jax.jit(lambda given: f(given)).trace({k: jnp.asarray(v) for k, v in given.items()})
    text = traced.lower(lowering_platforms=("cuda",)).as_text()
    found = re.findall(r"hindcast_kernel_\w+", text)
    assert set(found) == {"hindcast_kernel_value" + ("_waits" if waits else "")}
