"""hindcast.jax against the same springs written in jax.numpy: every composition of transformations."""

import gc
import json
import os
import pathlib

os.environ.setdefault("XLA_FLAGS", "--xla_force_host_platform_device_count=4")

import numpy as np
import pytest

jax = pytest.importorskip("jax")
jax.config.update("jax_enable_x64", True)

import hindcast as hc
import hindcast.jax
import jax.numpy as jnp
from jax import lax
from jax.test_util import check_grads

SCENES = pathlib.Path(__file__).resolve().parents[4] / "scenes"
CAGE = SCENES / "spring_cage.json"
INPUTS = ["cage.rest_length", "cage.stiffness", "ball.velocity"]

_scene = json.loads(CAGE.read_text())
ANCHORS = jnp.array(_scene["bodies"][1]["positions"])
TARGET = jnp.array(_scene["objective"][0]["target"])
STEP, STEPS = 1 / 30, 30


def trajectory(rest, stiffness, velocity):
    """A ball of 1 kg on eight damped springs, by the symplectic Euler rule: where it ends, and its
    velocities after each step."""

    def step(state, _):
        x, v = state
        d = ANCHORS - x
        length = jnp.sqrt((d * d).sum(1))
        along = d / length[:, None]
        rate = -(along * v).sum(1)
        pull = stiffness * (length - rest) + 10.0 * rate
        v = v + STEP * ((pull[:, None] * along).sum(0) + jnp.array([0, 0, -9.81]))
        return (x + STEP * v, v), v

    (x, _), velocities = lax.scan(step, (jnp.zeros(3), velocity), None, STEPS)
    return x, velocities


def reference(rest, stiffness, velocity):
    x, _ = trajectory(rest, stiffness, velocity)
    return ((x - TARGET) ** 2).sum()


@pytest.fixture(scope="module")
def loss():
    return hc.jax.simulation(CAGE, inputs=INPUTS, precision="f64")


@pytest.fixture(scope="module")
def point(loss):
    rest, stiffness, velocity = loss.initial()
    return rest * 1.05, stiffness * 0.9, velocity + jnp.array([0.3, -0.2, 0.5])


def close(a, b, tolerance=1e-12):
    a, b = jax.tree.leaves(a), jax.tree.leaves(b)
    assert len(a) == len(b)
    for x, y in zip(a, b):
        assert x.shape == y.shape
        size = float(jnp.linalg.norm(jnp.ravel(y)))
        assert float(jnp.linalg.norm(jnp.ravel(x - y))) <= tolerance * max(size, 1e-300)


ALL = (0, 1, 2)
DIRECTION = (jnp.linspace(-1, 1, 8), jnp.array(2.0), jnp.array([0.3, -1.0, 0.7]))


def dot(a, b):
    return sum((x * y).sum() for x, y in zip(a, b))


COMPOSITIONS = {
    "value": lambda f, p: f(*p),
    "jit": lambda f, p: jax.jit(f)(*p),
    "jit grad": lambda f, p: jax.jit(jax.grad(f, ALL))(*p),
    "value_and_grad": lambda f, p: jax.value_and_grad(f, ALL)(*p),
    "jvp": lambda f, p: jax.jvp(f, p, DIRECTION),
    "vjp": lambda f, p: jax.vjp(f, *p)[1](jnp.array(2.5)),
    "jacfwd": lambda f, p: jax.jacfwd(f, ALL)(*p),
    "jacrev": lambda f, p: jax.jacrev(f, ALL)(*p),
    "hessian": lambda f, p: jax.jit(jax.hessian(f, ALL))(*p),
    "jacfwd of grad": lambda f, p: jax.jacfwd(jax.grad(f, ALL), ALL)(*p),
    "jacrev of grad": lambda f, p: jax.jacrev(jax.grad(f, ALL), ALL)(*p),
    "jacfwd of jacfwd": lambda f, p: jax.jacfwd(jax.jacfwd(f, ALL), ALL)(*p),
    "jacrev of jacfwd": lambda f, p: jax.jacrev(jax.jacfwd(f, ALL), ALL)(*p),
    "forward over reverse": lambda f, p: jax.jvp(jax.grad(f, ALL), p, DIRECTION)[1],
    "reverse over reverse": lambda f, p: jax.grad(
        lambda *q: dot(jax.grad(f, ALL)(*q), DIRECTION), ALL
    )(*p),
    "reverse over forward": lambda f, p: jax.grad(lambda *q: jax.jvp(f, q, DIRECTION)[1], ALL)(*p),
    "linearize": lambda f, p: jax.linearize(f, *p)[1](*DIRECTION),
    "linear_transpose": lambda f, p: jax.linear_transpose(jax.linearize(f, *p)[1], *p)(
        jnp.array(1.5)
    ),
    "vmap": lambda f, p: jax.vmap(f, (0, None, None))(jnp.stack([p[0], p[0] * 1.1]), *p[1:]),
    "vmap of grad": lambda f, p: jax.vmap(jax.grad(f, ALL), (None, 0, None))(
        p[0], jnp.array([80.0, 90.0, 100.0]), p[2]
    ),
    "vmap of hessian": lambda f, p: jax.vmap(jax.hessian(f), (1, None, None))(
        jnp.stack([p[0], p[0] * 1.1], 1), *p[1:]
    ),
    "grad of vmap": lambda f, p: jax.grad(
        lambda r: (jax.vmap(f, (0, None, None))(r, *p[1:]) ** 2).sum()
    )(jnp.stack([p[0], p[0] * 1.1])),
    "vmap of vmap": lambda f, p: jax.vmap(
        jax.vmap(f, (None, 0, None)), (0, None, None)
    )(jnp.stack([p[0], p[0] * 1.1]), jnp.array([80.0, 90.0]), p[2]),
    "vmap of jvp by tangents": lambda f, p: jax.vmap(
        lambda t: jax.jvp(lambda r: f(r, *p[1:]), (p[0],), (t,))[1]
    )(jnp.eye(8)),
    "grad of scan": lambda f, p: jax.grad(
        lambda r: lax.scan(lambda s, _: (s * (1 + 0.1 * f(s, *p[1:])), f(s, *p[1:])), r, None, 3)[
            0
        ].sum()
    )(p[0]),
    "grad of checkpoint": lambda f, p: jax.grad(jax.checkpoint(f), ALL)(*p),
    "grad through other work": lambda f, p: jax.grad(
        lambda a: f(p[0] * jnp.sin(a), p[1] * a, p[2]) ** 2
    )(1.1),
    "cond": lambda f, p: jax.grad(
        lambda r: lax.cond(r[0] > 0, lambda: f(r, *p[1:]), lambda: r.sum())
    )(p[0]),
}


@pytest.mark.parametrize("name", COMPOSITIONS)
def test_composition(loss, point, name):
    # The Hessian of a sum of squares of numbers near 1 has entries of 1e-2: rounding counts there.
    second = any(word in name for word in ("hessian", "jac", "over", "reverse"))
    compose = COMPOSITIONS[name]
    wrap = jax.jit if second else lambda f: f  # compiled one by one these take many seconds
    close(
        wrap(lambda p: compose(loss, p))(point),
        wrap(lambda p: compose(reference, p))(point),
        1e-11 if second else 1e-12,
    )


def test_check_grads(loss, point):
    scale = lambda *p: loss(p[0], 100 * p[1], p[2])
    check_grads(scale, (point[0], point[1] / 100, point[2]), order=2, modes=["fwd", "rev"], eps=1e-5)


def test_shard_map_over_two_devices(loss, point):
    devices = jax.devices("cpu")
    if len(devices) < 2:
        pytest.skip("JAX was started with one host device")
    mesh = jax.sharding.Mesh(np.array(devices[:2]), ("batch",))
    spec = jax.sharding.PartitionSpec
    rests = jnp.stack([point[0] * s for s in (1.0, 1.1, 0.9, 1.2)])
    each = jax.shard_map(
        jax.vmap(lambda r: jax.value_and_grad(loss)(r, *point[1:])),
        mesh=mesh,
        in_specs=spec("batch"),
        out_specs=spec("batch"),
        check_vma=False,
    )
    close(
        jax.jit(each)(rests),
        jax.vmap(lambda r: jax.value_and_grad(reference)(r, *point[1:]))(rests),
    )


def test_batch_has_the_bits_of_its_members(loss, point):
    rests = jnp.stack([point[0] * (1 + 0.01 * k) for k in range(33)])
    batch = jax.jit(jax.vmap(lambda r: jax.value_and_grad(loss)(r, *point[1:])))(rests)
    for k in (0, 7, 32):
        alone = jax.value_and_grad(loss)(rests[k], *point[1:])
        assert batch[0][k] == alone[0] and np.array_equal(batch[1][k], alone[1])


def test_dict_of_inputs_and_pytrees(loss, point):
    tree = dict(zip(INPUTS, point))
    close(jax.grad(loss)(tree), dict(zip(INPUTS, jax.grad(reference, ALL)(*point))))
    with pytest.raises(TypeError, match="the inputs are cage.rest_length"):
        loss({"cage.rest_length": point[0]})


def test_integers_have_no_tangent(loss, point):
    gradient = jax.grad(lambda n, r: loss(r * n, *point[1:]), allow_int=True)(2, point[0])
    assert gradient.dtype == jax.dtypes.float0


def test_third_derivatives_are_an_error(loss, point):
    with pytest.raises(NotImplementedError, match="third derivatives"):
        jax.jacfwd(jax.hessian(loss))(*point)


def test_single_precision(point):
    single = hc.jax.simulation(CAGE, inputs=INPUTS, precision="f32")
    value, gradient = jax.jit(jax.value_and_grad(single))(*point)
    assert value.dtype == np.float32
    close(gradient.astype(np.float64), jax.grad(reference)(*point), 1e-4)


def test_double_needs_x64():
    jax.config.update("jax_enable_x64", False)
    try:
        with pytest.raises(ValueError, match="jax_enable_x64"):
            hc.jax.simulation(CAGE, inputs=INPUTS, precision="f64")
    finally:
        jax.config.update("jax_enable_x64", True)


def test_what_is_refused(loss, point):
    make = lambda **k: hc.jax.simulation(**{"scene": CAGE, "inputs": INPUTS, **k})
    with pytest.raises(ValueError, match="neither 'f32' nor 'f64'"):
        make(precision="f16")
    with pytest.raises(TypeError, match="a list of paths"):
        make(inputs="cage.stiffness")
    with pytest.raises(hc.Error, match="cage.color"):
        make(inputs=["cage.color"])
    with pytest.raises(hc.Error, match="given twice"):
        make(inputs=["cage.stiffness", "cage.stiffness"])
    with pytest.raises(hc.Error, match="give paths"):
        make(inputs=[])
    with pytest.raises(ValueError, match=r"the shape is \(7,\), but the scene's value has \(8,\)"):
        loss(point[0][:7], *point[1:])
    with pytest.raises(ValueError, match="2 values are given"):
        loss(*point[:2])
    with pytest.raises(ValueError, match="complex"):
        loss(point[0] * 1j, *point[1:])


def test_an_error_of_the_run_names_the_launch():
    scene = {
        "format": 1,
        "dimension": 2,
        "gravity": [0, 0],
        "time": {"step": "1/64", "steps": 40},
        "bodies": [
            {
                "type": "material_points",
                "name": "block",
                "volume": 0.001,
                "mu": 500,
                "lambda": 400,
                "positions": [[0.19375, 0.5]],
                "velocity": [0, 0],
            }
        ],
        "forces": [{"type": "mpm_grid", "nodes": [32, 32], "spacing": "1/16", "walls": "none"}],
        "objective": [{"type": "point_target", "of": "block", "target": [0, 0]}],
    }
    f = jax.jit(hc.jax.simulation(scene, inputs=["block.velocity"], precision="f64"))
    f(jnp.zeros(2))
    with pytest.raises(Exception, match="point 0 of .+block.+ has left the grid(.|\n)*in step 12 of 40"):
        f(jnp.array([-1.0, 0.0])).block_until_ready()


def test_compiled_programs_keep_what_they_call(point):
    jax.clear_caches()
    gc.collect()
    before = hc._core._scene_functions()
    f = hc.jax.simulation(CAGE, inputs=INPUTS, precision="f64")
    compiled = jax.jit(lambda r: f(r, *point[1:])).lower(point[0]).compile()
    expected = f(*point)
    del f
    jax.clear_caches()
    gc.collect()
    assert compiled(point[0]) == expected
    del compiled
    gc.collect()
    assert hc._core._scene_functions() == before


# ---- values that the scene cannot have -------------------------------------------------------------------


@pytest.mark.parametrize("value, words", [(-3.0, "-3"), (float("nan"), "nan"), (0.0, None)])
@pytest.mark.parametrize(
    "compose",
    [
        lambda f: f,
        jax.jit,
        jax.grad,
        lambda f: lambda x: jax.jvp(f, (x,), (1.0,)),
        jax.hessian,
        lambda f: lambda x: jax.vmap(f)(jnp.stack([90.0, x])),
        lambda f: jax.jit(lambda x: jax.vmap(jax.grad(f))(jnp.stack([90.0, x]))),
    ],
)
def test_values_that_the_scene_refuses(loss, point, compose, value, words):
    f = compose(lambda stiffness: loss(point[0], stiffness, point[2]))
    sim = hc.load(CAGE)
    if words is None:
        sim["cage.stiffness"] = value
        jax.block_until_ready(f(value))
        return
    with pytest.raises(ValueError, match=rf"cage.stiffness cannot be {words}") as refused:
        sim["cage.stiffness"] = value
    # The same words, from the handler.
    message = str(refused.value).removeprefix("value: ")
    assert "give a number" in message
    with pytest.raises(Exception) as raised:
        jax.block_until_ready(f(value))
    assert message in str(raised.value)
    assert all(np.isfinite(leaf).all() for leaf in jax.tree.leaves(f(90.0)))


def test_the_element_that_is_refused_has_its_name(loss, point):
    rest = point[0].at[3].set(-0.5)
    with pytest.raises(Exception, match=r"cage.rest_length\[3\] cannot be -0.5"):
        jax.block_until_ready(jax.jit(loss)(rest, *point[1:]))
