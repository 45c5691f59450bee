"""Kernels as functions of JAX against the same functions written in jax.numpy."""

import concurrent.futures
import gc
import os
import pathlib

os.environ.setdefault("XLA_FLAGS", "--xla_force_host_platform_device_count=2")

import numpy as np
import pytest

jax = pytest.importorskip("jax")
jax.config.update("jax_enable_x64", True)

import hindcast as hc
import hindcast.jax
import jax.numpy as jnp
from jax import lax
from jax.test_util import check_grads


@hc.kernel
def scale(i: hc.Int, a: hc.Read[hc.i32], b: hc.Accumulate[hc.i32]):
    b[0] += a[i]


@hc.kernel
def mix(i: hc.Int, x: hc.Read[hc.real], j: hc.Read[hc.i32], k: hc.Param[hc.real],
        w: hc.Property[hc.real], n: hc.Param[hc.i32], y: hc.Write[hc.real],
        z: hc.Accumulate[hc.real], e: hc.Reduce[hc.real]):
    y[i] = hc.sin(x[i]) * k + x[j[i]] * x[i] * w[i]
    z[j[i]] += x[i] * x[i] * x[i] * k * hc.real(n)
    e += hc.exp(x[i] * k) * w[i]


J = jnp.array([2, 0, 2, 1, 4], jnp.int32)
MIXED = {
    "x": jnp.array([0.3, -1.2, 0.7, 2.1, -0.4]),
    "k": jnp.array(0.8),
    "w": jnp.array([1.0, -0.5, 2.0, 0.3, 0.9]),
}
NUMBER = jnp.array(3, jnp.int32)


def make_mix(**more):
    return hc.jax.kernel(
        mix, dim="x", outputs={"y": hc.written(), "z": hc.jax.zeros(shape=lambda x: x), "e": None},
        **more,
    )


_mix = make_mix()


def mix_of_jax(x, k, w, j=J, n=NUMBER):
    return {
        "y": jnp.sin(x) * k + x[j] * x * w,
        "z": jnp.zeros_like(x).at[j].add(x**3 * k * n),
        "e": (jnp.exp(x * k) * w).sum(),
    }


# ---- a rod of points on springs, several launches on arrays that they change ------------------------------


@hc.kernel
def pull(s: hc.Int, ends: hc.Read[hc.ivec2], rest: hc.Property[hc.real],
         stiffness: hc.Param[hc.real], x: hc.Read[hc.vec3], force: hc.Sum[hc.vec3]):
    a, b = ends[s]
    d = x[b] - x[a]
    length = hc.norm(d)
    f = d / length * (stiffness * (length - rest[s]))
    force[a] += f
    force[b] -= f


@hc.kernel
def kick(i: hc.Int, force: hc.Read[hc.vec3], h: hc.Param[hc.real], v: hc.ReadWrite[hc.vec3]):
    v[i] = v[i] * (1.0 - 0.1 * hc.dot(v[i], v[i])) + force[i] * h


@hc.kernel
def move(i: hc.Int, v: hc.Read[hc.vec3], h: hc.Param[hc.real], x: hc.ReadWrite[hc.vec3]):
    x[i] += v[i] * h


ENDS = jnp.array([[0, 1], [1, 2], [2, 3], [0, 2]], jnp.int32)
ROD = {
    "x": jnp.array([[0.0, 0, 0], [1.1, 0.2, 0], [2.0, -0.1, 0.3], [3.2, 0, 0.1]]),
    "v": jnp.array([[0.1, 0, 0.2], [0, 0.3, 0], [-0.2, 0, 0.1], [0, 0.1, -0.3]]),
    "rest": jnp.array([1.0, 0.9, 1.1, 2.0]),
    "stiffness": jnp.array(3.0),
}
STEP = 0.1


def make_rod(start=hc.copy_of, steps=2):
    step = [
        hc.call(pull, dim="ends"),
        hc.call(kick, dim=lambda v: v[0]),
        hc.call(move, dim=lambda shapes: shapes["v"][0]),
    ]
    return hc.jax.callable(
        step * steps,
        inputs=["x", "v", "rest", "stiffness", "ends", "h"],
        outputs={"x": start("x"), "v": start("v")},
        temporaries={"force": lambda x: x},
    )


_rod = make_rod()


def rod_of_jax(x, v, rest, stiffness, h=STEP):
    for _ in range(2):
        a, b = ENDS[:, 0], ENDS[:, 1]
        d = x[b] - x[a]
        length = jnp.sqrt((d * d).sum(1))
        f = d / length[:, None] * (stiffness * (length - rest))[:, None]
        force = jnp.zeros_like(x).at[a].add(f).at[b].add(-f)
        v = v * (1.0 - 0.1 * (v * v).sum(1))[:, None] + force * h
        x = x + v * h
    return {"x": x, "v": v}


PROBLEMS = {
    "mix": (lambda p: _mix(p | {"j": J, "n": NUMBER}), lambda p: mix_of_jax(**p), MIXED),
    "rod": (lambda p: _rod(p | {"ends": ENDS, "h": STEP}), lambda p: rod_of_jax(**p), ROD),
}


def norm(tree):
    leaves = [np.ravel(np.asarray(leaf)) for leaf in jax.tree.leaves(tree)]
    return float(np.linalg.norm(np.concatenate(leaves)))


def close(a, b, tolerance=1e-12):
    assert jax.tree.structure(a) == jax.tree.structure(b)
    for x, y in zip(jax.tree.leaves(a), jax.tree.leaves(b)):
        assert x.shape == y.shape and x.dtype == y.dtype
    difference = norm(jax.tree.map(lambda x, y: x - y, a, b))
    assert difference <= tolerance * norm(b), (difference, norm(b))


def direction(tree, seed=0):
    leaves, structure = jax.tree.flatten(tree)
    random = np.random.default_rng(seed)
    return structure.unflatten([jnp.asarray(random.normal(size=leaf.shape)) for leaf in leaves])


def dot(a, b):
    return sum(jnp.vdot(x, y) for x, y in zip(jax.tree.leaves(a), jax.tree.leaves(b)))


def loss_of(f):
    return lambda p: sum((jnp.sin(r) * r).sum() for r in jax.tree.leaves(f(p)))


def stacked(p, scales=(1.0, 1.1, 0.9)):
    return jax.tree.map(lambda leaf: jnp.stack([leaf * s for s in scales]), p)


def only(p, *names):
    """The axes of vmap: 0 for those names."""
    return ({name: 0 if name in names else None for name in p},)


def scanned(f, p):
    first = next(iter(p))

    def step(x, _):
        y = jax.tree.leaves(f(p | {first: x}))
        return x * 0.9 + 0.1 * jnp.tanh(sum((r * r).sum() for r in y)), y[0].sum()

    return lax.scan(step, p[first], None, 4)


COMPOSITIONS = {
    "value": lambda f, p: f(p),
    "jit": lambda f, p: jax.jit(f)(p),
    "jit grad": lambda f, p: jax.jit(jax.grad(loss_of(f)))(p),
    "value_and_grad": lambda f, p: jax.value_and_grad(loss_of(f))(p),
    "jvp": lambda f, p: jax.jvp(f, (p,), (direction(p),)),
    "vjp": lambda f, p: jax.vjp(f, p)[1](direction(f(p), 1)),
    "jacfwd": lambda f, p: jax.jacfwd(f)(p),
    "jacrev": lambda f, p: jax.jacrev(f)(p),
    "hessian": lambda f, p: jax.jit(jax.hessian(f))(p),
    "jacrev of jacfwd": lambda f, p: jax.jacrev(jax.jacfwd(loss_of(f)))(p),
    "jacfwd of jacfwd": lambda f, p: jax.jacfwd(jax.jacfwd(f))(p),
    "jacrev of jacrev": lambda f, p: jax.jacrev(jax.jacrev(loss_of(f)))(p),
    "forward over reverse": lambda f, p: jax.jvp(
        jax.grad(loss_of(f)), (p,), (direction(p),)
    ),
    "reverse over reverse": lambda f, p: jax.grad(
        lambda q: dot(jax.grad(loss_of(f))(q), direction(p))
    )(p),
    "reverse over forward": lambda f, p: jax.grad(
        lambda q: jax.jvp(loss_of(f), (q,), (direction(p),))[1]
    )(p),
    "linearize": lambda f, p: jax.linearize(f, p)[1](direction(p)),
    "linear_transpose": lambda f, p: jax.linear_transpose(jax.linearize(f, p)[1], p)(
        direction(f(p), 2)
    ),
    "vmap": lambda f, p: jax.vmap(f)(stacked(p)),
    "vmap of some": lambda f, p: jax.vmap(f, only(p, next(iter(p))))(
        p | {next(iter(p)): stacked(p)[next(iter(p))]}
    ),
    "vmap of grad": lambda f, p: jax.vmap(jax.grad(loss_of(f)))(stacked(p)),
    "vmap of hessian": lambda f, p: jax.vmap(jax.hessian(loss_of(f)))(stacked(p)),
    "grad of vmap": lambda f, p: jax.grad(lambda q: jax.vmap(loss_of(f))(q).sum())(stacked(p)),
    "grad of vmap of what all share": lambda f, p: jax.grad(
        lambda q: jax.vmap(lambda s: loss_of(f)(jax.tree.map(lambda leaf: leaf * s, q)))(
            jnp.array([1.0, 0.8])
        ).sum()
    )(p),
    "nested vmap": lambda f, p: jax.vmap(
        lambda a: jax.vmap(lambda b: f({n: v * (a if n == next(iter(p)) else b) for n, v in p.items()}))(
            jnp.array([1.0, 1.2])
        )
    )(jnp.array([0.9, 1.0, 1.1])),
    "scan": scanned,
    "grad of scan": lambda f, p: jax.grad(lambda q: scanned(f, q)[0].sum())(p),
    "fori_loop": lambda f, p: lax.fori_loop(
        0, 3, lambda _, q: jax.tree.map(lambda leaf: leaf * 0.9 + 0.01 * loss_of(f)(q), q), p
    ),
    "grad of checkpoint": lambda f, p: jax.grad(jax.checkpoint(loss_of(f)))(p),
    "cond": lambda f, p: jax.grad(
        lambda q: lax.cond(norm_of_first(q) > 0, loss_of(f), norm_of_first, q)
    )(p),
}


def norm_of_first(p):
    return (p[next(iter(p))] ** 2).sum()


@pytest.mark.parametrize("problem", PROBLEMS)
@pytest.mark.parametrize("name", COMPOSITIONS)
def test_composition(problem, name):
    f, reference, point = PROBLEMS[problem]
    close(COMPOSITIONS[name](f, point), COMPOSITIONS[name](reference, point))


@pytest.mark.parametrize("problem", PROBLEMS)
def test_check_grads(problem):
    f, _, point = PROBLEMS[problem]
    check_grads(f, (point,), order=2, modes=["fwd", "rev"], eps=1e-5)


@pytest.mark.parametrize("problem", PROBLEMS)
def test_third_derivatives_are_an_error(problem):
    f, _, point = PROBLEMS[problem]
    with pytest.raises(NotImplementedError, match="third derivatives of a kernel"):
        jax.jacfwd(jax.hessian(f))(point)


@pytest.mark.parametrize("problem", PROBLEMS)
def test_shard_map_over_two_devices(problem):
    devices = jax.devices("cpu")
    if len(devices) < 2:
        pytest.skip("JAX was started with one host device")
    f, reference, point = PROBLEMS[problem]
    mesh = jax.sharding.Mesh(np.array(devices[:2]), ("batch",))
    spec = jax.sharding.PartitionSpec("batch")
    each = jax.shard_map(
        jax.vmap(jax.value_and_grad(loss_of(f))),
        mesh=mesh,
        in_specs=spec,
        out_specs=spec,
        check_vma=False,
    )
    points = stacked(point, (1.0, 1.1, 0.9, 1.05))
    close(jax.jit(each)(points), jax.vmap(jax.value_and_grad(loss_of(reference)))(points))


@pytest.mark.parametrize("problem", PROBLEMS)
def test_single_precision(problem):
    f, reference, point = PROBLEMS[problem]
    single = jax.tree.map(lambda leaf: leaf.astype(jnp.float32), point)
    if problem == "rod":
        f = lambda p: _rod(p | {"ends": ENDS, "h": jnp.float32(STEP)})
    found = jax.jit(jax.value_and_grad(lambda p: loss_of(f)(p)))(single)
    assert all(leaf.dtype == jnp.float32 for leaf in jax.tree.leaves(found))
    expected = jax.value_and_grad(loss_of(reference))(point)
    as_double = jax.tree.map(lambda leaf: leaf.astype(jnp.float64), found)
    close(as_double, expected, 1e-5)


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

    def uninitialised(x):
        return jax.ffi.ffi_call(
            "hindcast_probe_uninitialised", jax.ShapeDtypeStruct(x.shape, x.dtype)
        )(x)

    functions = {
        "uninitialised": (uninitialised, x),
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
    assert wrong == {"uninitialised"}


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
            jax.clear_caches()
            gc.collect()
            at.append(resident())
            assert hc._core._kernel_functions() == (before[0] + 1, before[1] + 1)
    assert at[1] - at[0] < 30e6
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
