"""How outputs of kernels under JAX begin, integers, what is refused, memory and threads."""

import concurrent.futures
import gc
import os
import pathlib

os.environ.setdefault("XLA_FLAGS", "--xla_force_host_platform_device_count=4")

import numpy as np
import pytest

jax = pytest.importorskip("jax")

import hindcast as hc
import jax.numpy as jnp
from jax import lax
from jax_kernel_tools import J, MIXED, PROBLEMS, _mix, close, loss_of, make_mix, move, scale


# ---- how outputs begin ---------------------------------------------------------------------------------


def test_the_example_of_the_design():
    f = hc.jax.kernel(scale, dim=3, outputs={"b": hc.fill(10, shape=(1,))})
    a = jnp.array([1, 2, 3], jnp.int32)
    for g in (f, jax.jit(f)):
        b = g(a=a)
        assert b.dtype == jnp.int32 and b.tolist() == [16]
        assert g(a=2 * a).tolist() == [22]
        assert g(a).tolist() == [16]


@pytest.mark.parametrize(
    "start, expected",
    [
        (hc.jax.zeros(shape=(2,)), [6, 0]),
        (hc.zeros(shape=(2,)), [6, 0]),
        (hc.zeros(2, hc.i32), [6, 0]),
        (hc.zeros(shape=lambda a: (2,)), [6, 0]),
        (hc.zeros(shape=lambda shapes: (shapes["a"][0] - 1,)), [6, 0]),
        ((2,), [6, 0]),
        (2, [6, 0]),
        (lambda a: a[0] - 1, [6, 0]),
        (hc.fill(10, shape=2), [16, 10]),
        (hc.fill([3, 4], shape=(2,)), [9, 4]),
        (np.array([3, 4]), [9, 4]),
    ],
)
def test_starts(start, expected):
    f = hc.jax.kernel(scale, dim="a", outputs={"b": start})
    b = jax.jit(f)(a=jnp.array([1, 2, 3], jnp.int32))
    assert b.dtype == jnp.int32 and b.tolist() == expected


def test_copy_and_in_out():
    a, first = jnp.array([1, 2, 3], jnp.int32), jnp.array([5, 7], jnp.int32)
    for start in (hc.copy_of("first"), hc.in_out("first")):
        f = hc.jax.kernel(scale, dim="a", outputs={"b": start})
        assert f.inputs == ("a", "first")
        assert jax.jit(f)(a=a, first=first).tolist() == [11, 7]
        assert first.tolist() == [5, 7]
    for start in (hc.copy_of("b"), hc.in_out("b")):
        f = hc.jax.kernel(scale, dim="a", outputs={"b": start})
        assert jax.jit(f)(a=a, b=first).tolist() == [11, 7]


def test_in_out_has_the_memory_of_a_donated_input():
    f = hc.jax.kernel(move, dim="v", outputs={"x": hc.in_out("x")})
    g = jax.jit(lambda x, v: f(x=x, v=v, h=0.5), donate_argnums=0)
    x, v = jnp.ones((50, 3)), jnp.full((50, 3), 4.0)
    x = g(x, v)
    place = x.unsafe_buffer_pointer()
    for k in range(5):
        before = x
        x = g(x, v)
        assert before.is_deleted() and x.unsafe_buffer_pointer() == place
        assert (np.asarray(x) == 1 + 2 * (k + 2)).all()
    # The same memory is not taken from who still needs it.
    h = jax.jit(lambda x, v: (f(x=x, v=v, h=0.5), x * 2), donate_argnums=0)
    moved, doubled = h(jnp.ones((50, 3)), v)
    assert (np.asarray(moved) == 3).all() and (np.asarray(doubled) == 2).all()
    assert "output_to_operand_aliasing" in g.lower(x, v).compile().as_text()


def test_in_out_in_a_loop_and_under_vmap():
    f = hc.jax.kernel(move, dim="v", outputs={"x": hc.in_out("x")})
    x, v = jnp.zeros((2, 4, 3)), jnp.ones((4, 3))
    loop = jax.jit(
        lambda x: lax.fori_loop(0, 10, lambda k, x: jax.vmap(lambda x: f(x=x, v=v, h=0.5))(x), x),
        donate_argnums=0,
    )
    assert (np.asarray(loop(x)) == 5).all()


def poison(shape, count=8):
    """Leaves NaN in the memory that is given out next."""
    blocks = [jnp.full(shape, jnp.nan) + k for k in range(count)]
    jax.block_until_ready(blocks)
    del blocks


@hc.kernel
def add_to(i: hc.Int, x: hc.Read[hc.real], y: hc.Accumulate[hc.real]):
    y[i] += x[i]


@hc.kernel
def double(i: hc.Int, x: hc.Read[hc.real], y: hc.Write[hc.real]):
    y[i] = 2 * x[i]


@hc.kernel
def copy_some(i: hc.Int, x: hc.Read[hc.real], y: hc.WriteSlice[hc.real]):
    with hc.if_(i > 2):
        y.store_once(i, x[i])


def test_nothing_depends_on_what_stood_in_the_memory():
    size = 4096
    x = jnp.arange(size, dtype=float)
    for name, handler in hc._core._jax_probes().items():
        jax.ffi.register_ffi_target(name, handler, platform="cpu")

    def uninitialized(x):
        return jax.ffi.ffi_call(
            "hindcast_probe_uninitialized", jax.ShapeDtypeStruct(x.shape, x.dtype)
        )(x)

    functions = {
        "uninitialized": (uninitialized, x),
        "zeros": (hc.jax.kernel(add_to, dim="x", outputs={"y": hc.jax.zeros(shape=size)}), x),
        "default": (hc.jax.kernel(add_to, dim="x", outputs={"y": size}), x),
        "fill": (hc.jax.kernel(add_to, dim="x", outputs={"y": hc.fill(2.0, size)}), x + 2),
        "written": (hc.jax.kernel(double, dim="x", outputs={"y": hc.written()}), 2 * x),
        "slice": (
            hc.jax.kernel(copy_some, dim="x", outputs={"y": hc.jax.zeros(size)}),
            jnp.where(x > 2, x, 0),
        ),
        "copy_of": (
            lambda x: hc.jax.kernel(add_to, dim="x", outputs={"y": hc.copy_of("x")})(x),
            2 * x,
        ),
    }
    wrong = set()
    for name, (f, expected) in functions.items():
        compiled = jax.jit(lambda x, f=f: f(x * 1.0)).lower(x).compile()
        for _ in range(20):
            poison(size)
            if not np.array_equal(compiled(x), expected):
                wrong.add(name)
    # The one that adds to what is there is found out: the test can fail.
    assert wrong == {"uninitialized"}


# ---- integers --------------------------------------------------------------------------------------------


@hc.kernel
def count(i: hc.Int, x: hc.Read[hc.real], bin: hc.Read[hc.i32], n: hc.Atomic[hc.i32],
          s: hc.Accumulate[hc.real]):
    n[bin[i]].add(1)
    s[bin[i]] += x[i] * x[i]


def test_integer_outputs_and_inputs_have_no_gradient():
    f = hc.jax.kernel(count, dim="x", outputs={"n": 3, "s": 3})
    x, bins = jnp.array([1.0, 2, 3, 4]), jnp.array([0, 2, 2, 0], jnp.int32)
    found = jax.jit(f)(x=x, bin=bins)
    assert found["n"].tolist() == [2, 0, 2] and found["n"].dtype == jnp.int32
    assert found["s"].tolist() == [17, 0, 13]
    assert list(found) == ["n", "s"]
    gradient = jax.grad(lambda x: f(x=x, bin=bins)["s"] @ jnp.array([1.0, 2, 3]))(x)
    assert gradient.tolist() == [2, 12, 18, 8]
    primal, tangent = jax.jvp(lambda x: f(x=x, bin=bins), (x,), (jnp.ones(4),))
    assert tangent["n"].dtype == jax.dtypes.float0 and tangent["s"].tolist() == [10, 0, 10]
    of_integers = jax.grad(lambda b, x: f(x=x, bin=b)["s"].sum(), allow_int=True)(bins, x)
    assert of_integers.dtype == jax.dtypes.float0
    _, back = jax.vjp(lambda x: f(x=x, bin=bins), x)
    zero = np.zeros(3, jax.dtypes.float0)
    assert back({"n": zero, "s": jnp.ones(3)})[0].tolist() == [2, 4, 6, 8]


def test_integers_are_batched_and_change_from_call_to_call():
    f = jax.jit(jax.vmap(hc.jax.kernel(count, dim="x", outputs={"n": 3, "s": 3}), (None, 0)))
    x = jnp.array([1.0, 2, 3, 4])
    for seed in range(5):
        bins = np.random.default_rng(seed).integers(0, 3, (6, 4)).astype(np.int32)
        found = f(x, bins)
        assert np.array_equal(found["n"], [np.bincount(b, minlength=3) for b in bins])
        assert np.array_equal(found["s"], [np.bincount(b, x * x, minlength=3) for b in bins])


def test_numbers_may_be_traced():
    f = hc.jax.kernel(move, dim="v", outputs={"x": hc.copy_of("x")})
    x, v = jnp.ones((2, 3)), jnp.full((2, 3), 2.0)
    assert jax.jit(jax.grad(lambda h: f(x=x, v=v, h=h).sum()))(0.5) == 12
    assert jax.grad(lambda h: f(x=x, v=v, h=h).sum())(jnp.float64(0.5)) == 12


# ---- what is refused -------------------------------------------------------------------------------------

FILE = pathlib.Path(__file__).name


@hc.kernel
def store_some(i: hc.Int, x: hc.Read[hc.real], y: hc.ReadWrite[hc.real]):
    with hc.if_(x[i] > 0):
        y[i] = x[i]


def test_written_is_looked_at():
    x = jnp.ones(4)
    made = lambda k, start, dim=4: hc.jax.kernel(k, dim=dim, outputs={"y": start})(x=x)
    assert made(double, hc.written()).tolist() == [2, 2, 2, 2]
    with pytest.raises(ValueError, match=r"'y' cannot be hc.written\(\).*'store_some' \(.*"
                       + FILE + r":\d+.*is read.*hc.fill"):
        made(store_some, hc.written())
    with pytest.raises(ValueError, match="kernel 'add_to' .*is added to"):
        made(add_to, hc.written(4))
    with pytest.raises(ValueError, match="stored at indices that the kernel computes"):
        made(copy_some, hc.written(4))
    with pytest.raises(ValueError, match="stores 4 of 5 elements"):
        made(double, hc.written(5))
    with pytest.raises(ValueError, match="'y' has no start, and .*is read"):
        made(store_some, None)
    assert made(store_some, hc.fill(7.0)).tolist() == [1, 1, 1, 1]


def test_written_means_before_it_is_read():
    @hc.kernel
    def use(i: hc.Int, y: hc.Read[hc.real], z: hc.Write[hc.real]):
        z[i] = y[i] + 1

    calls = [hc.call(double, dim="x"), hc.call(use, dim="x")]
    f = hc.jax.callable(calls, outputs={"z": hc.written(), "y": hc.written()})
    assert [r.tolist() for r in f(x=jnp.ones(2)).values()] == [[3, 3], [2, 2]]
    # y need not be an output: it is stored before it is read.
    assert hc.jax.callable(calls, outputs=["z"])(x=jnp.ones(2)).tolist() == [3, 3]
    with pytest.raises(ValueError, match="'y' .*'use'.* is read"):
        hc.jax.callable(calls[::-1], outputs={"z": hc.written(), "y": hc.written()})(x=jnp.ones(2))
    close(
        jax.grad(lambda x: (hc.jax.callable(calls, outputs=["z"])(x=x) ** 2).sum())(jnp.ones(2)),
        jnp.array([12.0, 12.0]),
    )


def test_names_are_changed():
    calls = [hc.call(double, dim="a", x="a", y="b"), hc.call(double, dim="a", x="b", y="c")]
    f = hc.jax.callable(calls, inputs=["a"], outputs=["c"])
    assert f(jnp.arange(3.0)).tolist() == [0, 4, 8]
    assert jax.grad(lambda a: f(a)[2])(jnp.arange(3.0)).tolist() == [0, 0, 4]
    g = hc.jax.kernel(double, dim="t", x="t", outputs=["y"])
    assert g(t=jnp.arange(3.0)).tolist() == [0, 2, 4]


@pytest.mark.parametrize(
    "make, message",
    [
        (lambda: hc.call(double, dim=2, q="x"), "'double' has no parameter 'q'; it has x, y"),
        (lambda: hc.call(double, dim=2.5), "dim: a number of items"),
        (lambda: hc.call(double, dim=-1), "dim: -1 items"),
        (lambda: hc.call(3, dim=1), "a kernel is expected"),
        (lambda: hc.jax.callable([], outputs=["y"]), "at least one is needed"),
        (lambda: hc.jax.callable([double], outputs=["y"]), r"a list of hc.call\(kernel"),
        (lambda: hc.jax.kernel(double, dim=2, outputs={}), "outputs: at least one"),
        (lambda: hc.jax.kernel(double, dim=2, outputs="y"), "not one text"),
        (lambda: hc.jax.kernel(double, dim=2, outputs=["q"]), "no kernel has a parameter 'q'"),
        (lambda: hc.jax.kernel(double, dim=2, outputs=["x"]), "'x' is not written by any kernel"),
        (lambda: hc.jax.kernel(double, dim=2, outputs={"y": "zeros"}), "'y' begins with 'zeros'"),
        (lambda: hc.jax.kernel(double, dim=2, outputs=["y"], inputs=["y"]), "'y' is written"),
        (lambda: hc.jax.kernel(double, dim=2, outputs=["y"], inputs=[]), "read x, too"),
        (lambda: hc.jax.kernel(double, dim=2, outputs=["y"], precision="f16"), "neither 'f32'"),
        (lambda: hc.copy_of(3), "takes the name of an input"),
        (
            lambda: hc.jax.callable([hc.call(double, 2), hc.call(move, 2)], outputs=["y"]),
            "'x' is one array, but 'x' of kernel 'double' holds real",
        ),
    ],
)
def test_what_is_refused_when_a_function_is_made(make, message):
    with pytest.raises(hc.ArgumentError, match=message):
        make()


@pytest.mark.parametrize(
    "make, message",
    [
        (lambda: make_mix()(x=jnp.ones(2)), "'j' is not given; the inputs are x, j, k, w, n"),
        (lambda: make_mix()(q=1), "'q' is no input"),
        (lambda: make_mix()(1, 2, 3, 4, 5, 6), "6 arrays are given"),
        (lambda: make_mix()(MIXED["x"], x=1), "given by its place and by its name"),
        (lambda: _mix(MIXED | {"j": J * 1.0, "n": 3}), "j: it holds float64.*takes i32"),
        (lambda: _mix(MIXED | {"j": jnp.arange(5), "n": 3}), r"j: it holds int64.*astype\(jnp.int32"),
        (lambda: _mix(MIXED | {"j": J, "n": 3, "x": J}), "x: it holds int32.*takes reals"),
        (lambda: _mix(MIXED | {"j": J, "n": 3, "x": MIXED["x"] * 1j}), "x: it holds complex"),
        (
            lambda: _mix(MIXED | {"j": J, "n": 3, "w": MIXED["w"].astype(jnp.float32)}),
            "w: it holds float32, but 'x' holds float64",
        ),
        (lambda: _mix(MIXED | {"j": J, "n": 3, "k": jnp.ones(3)}), r"k: the shape is \(3,\).*one value"),
        (lambda: _mix(MIXED | {"j": J, "n": 3, "x": jnp.ones((5, 1))}), r"array of shape \(n,\)"),
        (
            lambda: hc.jax.kernel(add_to, dim=2, outputs=["y"])(x=jnp.ones(2)),
            "the shape of 'y' is not known",
        ),
        (
            lambda: hc.jax.kernel(add_to, dim="q", outputs={"y": 2})(x=jnp.ones(2)),
            "dim: 'q' is no input",
        ),
        (
            lambda: hc.jax.kernel(add_to, dim=lambda x: x, outputs={"y": 2})(x=jnp.ones(2)),
            "no number of items",
        ),
        (
            lambda: hc.jax.kernel(add_to, dim=2, outputs={"y": lambda q, r: 2})(x=jnp.ones(2)),
            "the function takes q, r",
        ),
        (
            lambda: hc.jax.kernel(scale, dim=2, outputs={"b": hc.fill(0.5, 1)})(a=J),
            "begins with 0.5, which int32 cannot hold",
        ),
        (
            lambda: hc.jax.kernel(double, dim=4, outputs={"y": hc.fill(0.5, 3)})(x=jnp.ones(4)),
            "'y' is written at the item's own index, but has 3 elements for 4 items",
        ),
        (
            lambda: hc.jax.kernel(add_to, dim=2, outputs={"x": 2}, y="x")(),
            r"'x' \(Read\) and 'y' \(Accumulate\) are bound to one array",
        ),
    ],
)
def test_what_is_refused_when_a_function_is_called(make, message):
    with pytest.raises((hc.ArgumentError, hc.Error), match=message):
        make()


def test_double_needs_x64():
    f = make_mix(precision="f64")
    jax.config.update("jax_enable_x64", False)
    try:
        with pytest.raises(ValueError, match="jax_enable_x64"):
            f(MIXED | {"j": J, "n": 3})
        g = make_mix()
        assert g({n: np.asarray(v) for n, v in MIXED.items()} | {"j": J, "n": 3})["y"].dtype == np.float32
    finally:
        jax.config.update("jax_enable_x64", True)


def test_errors_name_the_kernel_and_its_line():
    @hc.kernel
    def wrong(i: hc.Int, x: hc.Read[hc.real], y: hc.Write[hc.real]):
        y[i] = x

    with pytest.raises(Exception, match=rf"{FILE}:\d+"):
        hc.jax.kernel(wrong, dim="x", outputs=["y"])(x=jnp.ones(2))

    @hc.kernel
    def beyond(i: hc.Int, x: hc.Read[hc.real], y: hc.Write[hc.real]):
        y[i] = x[i + 1]

    f = hc.jax.kernel(beyond, dim="x", outputs=["y"], device=hc.device("cpu", checked=True))
    with pytest.raises(Exception, match=rf"(?s)(?=.*'x')(?=.*beyond).*{FILE}:\d+"):
        jax.jit(f)(x=jnp.ones(2)).block_until_ready()
    # A failed call does not spoil the next one.
    g = hc.jax.kernel(beyond, dim=1, outputs={"y": hc.written()}, device=hc.device("cpu", checked=True))
    assert g(x=jnp.array([1.0, 5])).tolist() == [5]


# ---- memory and threads ----------------------------------------------------------------------------------


def resident():
    pages = int(pathlib.Path("/proc/self/statm").read_text().split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE")


def test_traces_and_dropped_functions_leave_nothing():
    jax.clear_caches()
    gc.collect()
    before = hc._core._kernel_functions()
    x = jnp.ones(3)
    f = hc.jax.kernel(double, dim="x", outputs=["y"])
    at = []
    for k in range(500):
        jax.jit(lambda x: f(x)).lower(x)  # a function of its own: traced again
        if k in (100, 499):
            jax.clear_caches()
            gc.collect()
            at.append(resident())
    assert hc._core._kernel_functions() == (before[0] + 1, before[1] + 1)
    assert at[1] - at[0] < 8e6
    at = []
    for k in range(500):
        g = hc.jax.kernel(double, dim="x", outputs=["y"])
        assert g(x).tolist() == [2, 2, 2]
        del g
        if k in (100, 499):
            gc.collect()
            at.append(resident())
            assert hc._core._kernel_functions() == (before[0] + 1, before[1] + 1)
    assert at[1] - at[0] < 20e6
    del f
    jax.clear_caches()
    gc.collect()
    assert hc._core._kernel_functions() == before


def test_compiled_programs_keep_what_they_call():
    f = hc.jax.kernel(double, dim="x", outputs=["y"])
    compiled = jax.jit(f).lower(jnp.ones(3)).compile()
    del f
    jax.clear_caches()
    gc.collect()
    assert compiled(jnp.ones(3)).tolist() == [2, 2, 2]


def test_shapes_that_come_and_go_are_not_kept():
    f = hc.jax.kernel(double, dim="x", outputs=["y"])
    before = hc._core._kernel_functions()[1]
    for n in range(1, 80):
        assert f(jnp.ones(n)).shape == (n,)
    jax.clear_caches()
    gc.collect()
    assert hc._core._kernel_functions()[1] - before <= 32


def test_one_compiled_function_on_many_threads():
    f, reference, point = PROBLEMS["rod"]
    compiled = jax.jit(jax.value_and_grad(loss_of(f))).lower(point).compile()
    points = [jax.tree.map(lambda leaf, s=s: leaf * s, point) for s in np.linspace(0.9, 1.1, 16)]
    alone = [compiled(p) for p in points]

    def work(k):
        return [compiled(points[(k + n) % 16]) for n in range(50)]

    with concurrent.futures.ThreadPoolExecutor(8) as pool:
        for k, results in enumerate(pool.map(work, range(8))):
            for n, result in enumerate(results):
                expected = alone[(k + n) % 16]
                for a, b in zip(jax.tree.leaves(result), jax.tree.leaves(expected)):
                    assert np.array_equal(a, b)
