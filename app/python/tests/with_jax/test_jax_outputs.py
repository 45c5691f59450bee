"""Final states and states of each step as functions of JAX, and batches of which operands lack axes."""

import os

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
from test_jax import ALL, ANCHORS, CAGE, DIRECTION, INPUTS, STEPS, TARGET, close, trajectory

OUTPUTS = ["final:position", "loss", "state:velocity"]
BALL = 0  # of the points; the others are the anchors, at rest


def reference(rest, stiffness, velocity):
    x, v = trajectory(rest, stiffness, velocity)
    velocities = jnp.concatenate([velocity[None], v])
    return {
        "final:position": jnp.concatenate([x[None], ANCHORS]),
        "loss": ((x - TARGET) ** 2).sum(),
        "state:velocity": jnp.zeros((STEPS + 1, 9, 3)).at[:, BALL].set(velocities),
    }


@pytest.fixture(scope="module")
def simulation():
    return hc.jax.simulation(CAGE, inputs=INPUTS, outputs=OUTPUTS, precision="f64")


@pytest.fixture(scope="module")
def point(simulation):
    rest, stiffness, velocity = simulation.initial()
    return rest * 1.05, stiffness * 0.9, velocity + jnp.array([0.3, -0.2, 0.5])


def weights():
    """A cotangent of each output."""
    return jax.tree.map(
        lambda y: jnp.cos(jnp.arange(y.size, dtype=float)).reshape(y.shape),
        jax.eval_shape(reference, jnp.zeros(8), jnp.zeros(()), jnp.zeros(3)),
    )


def weighted(f):
    return lambda *p: sum(
        (a * b).sum() for a, b in zip(jax.tree.leaves(f(*p)), jax.tree.leaves(weights()))
    )


def curved(f):
    """A function of all outputs that is not linear in them."""
    return lambda *p: sum((jnp.sin(y) ** 2).sum() for y in jax.tree.leaves(f(*p)))


COMPOSITIONS = {
    "values": lambda f, p: f(*p),
    "jvp": lambda f, p: jax.jvp(f, p, DIRECTION),
    "vjp": lambda f, p: jax.vjp(f, *p)[1](weights()),
    "jit grad of a nonlinear sum": lambda f, p: jax.jit(jax.grad(curved(f), ALL))(*p),
    "jacfwd": lambda f, p: jax.jacfwd(f, ALL)(*p),
    "jacrev of the final state": lambda f, p: jax.jacrev(
        lambda *q: f(*q)["final:position"][BALL], ALL
    )(*p),
    "hessian": lambda f, p: jax.hessian(weighted(f), ALL)(*p),
    "hessian of a nonlinear sum": lambda f, p: jax.jit(jax.hessian(curved(f), ALL))(*p),
    "jacfwd of jacfwd": lambda f, p: jax.jacfwd(
        jax.jacfwd(lambda *q: f(*q)["final:position"][BALL], ALL), ALL
    )(*p),
    "jacrev of jacfwd": lambda f, p: jax.jacrev(
        jax.jacfwd(lambda *q: f(*q)["final:position"][BALL], ALL), ALL
    )(*p),
    "second tangent": lambda f, p: jax.jvp(
        lambda *q: jax.jvp(f, q, DIRECTION)[1], p, tuple(2.0 - d for d in DIRECTION)
    )[1],
    "reverse over forward": lambda f, p: jax.vjp(
        lambda *q: jax.jvp(f, q, DIRECTION)[1], *p
    )[1](weights()),
    "vmap of the values": lambda f, p: jax.vmap(f, (None, 0, None))(
        p[0], jnp.array([80.0, 90.0, 100.0]), p[2]
    ),
    "vmap of vjp by cotangents": lambda f, p: jax.vmap(jax.vjp(f, *p)[1])(
        jax.tree.map(lambda w: jnp.stack([w, 2 - w]), weights())
    ),
    # x has the outer axis alone, the cotangents the inner one alone.
    "vmap of jacrev": lambda f, p: jax.vmap(
        jax.jacrev(lambda r: f(r, *p[1:])["final:position"][BALL])
    )(jnp.stack([p[0], p[0] * 1.1, p[0] * 0.9])),
    "vmap of vmap of hvp": lambda f, p: jax.vmap(
        lambda r: jax.vmap(
            lambda u: jax.jvp(jax.grad(lambda q: weighted(f)(q, *p[1:])), (r,), (u,))[1]
        )(jnp.eye(8)[:3])
    )(jnp.stack([p[0], p[0] * 1.1])),
    "grad through an unbatched operand": lambda f, p: jax.grad(
        lambda s: jax.vmap(lambda r: curved(f)(r, s, p[2]))(jnp.stack([p[0], p[0] * 1.1])).sum()
    )(p[1]),
    "hessian through an unbatched operand": lambda f, p: jax.hessian(
        lambda s: jax.vmap(lambda r: curved(f)(r, s, p[2]))(jnp.stack([p[0], p[0] * 1.1])).sum()
    )(p[1]),
    "scan over simulations": lambda f, p: jax.grad(
        lambda v: lax.scan(
            lambda v, _: (f(p[0], p[1], v)["state:velocity"][-1, BALL], None), v, None, 3
        )[0].sum()
    )(p[2]),
    "checkpoint": lambda f, p: jax.grad(curved(jax.checkpoint(f)), ALL)(*p),
}


@pytest.mark.parametrize("name", COMPOSITIONS)
def test_composition(simulation, point, name):
    second = any(word in name for word in ("hessian", "second", "over", "of jac", "hvp"))
    compose = COMPOSITIONS[name]
    wrap = jax.jit if second else lambda f: f  # compiled one by one these take many seconds
    close(
        wrap(lambda p: compose(simulation, p))(point),
        wrap(lambda p: compose(reference, p))(point),
        1e-11 if second else 1e-12,
    )


def test_check_grads(simulation, point):
    check_grads(weighted(simulation), point, order=2, modes=("fwd", "rev"), rtol=1e-4)


def test_shapes_and_names(simulation):
    assert simulation.outputs == tuple(OUTPUTS)
    assert simulation.output_shapes == ((9, 3), (), (STEPS + 1, 9, 3))
    one = hc.jax.simulation(CAGE, inputs=INPUTS, outputs=["final:velocity"])
    assert one(*one.initial()).shape == (9, 3)  # one output: the array itself
    assert "final:velocity: (9, 3)" in repr(one)


def test_states_are_those_of_the_run(simulation, point):
    """The same bits as the package's own run."""
    sim = hc.load(CAGE, precision="f64")
    for path, value in zip(INPUTS, point):
        sim[path] = np.asarray(value)
    loss = sim.run(keep="velocity")
    result = simulation(*point)
    assert float(result["loss"]) == loss
    np.testing.assert_array_equal(result["state:velocity"], sim.state("velocity"))


def test_a_batch_has_the_bits_of_its_members(simulation, point):
    stiffness = jnp.array([70.0, 85.0, 95.0, 120.0])
    batch = jax.vmap(simulation, (None, 0, None))(point[0], stiffness, point[2])
    for k, value in enumerate(stiffness):
        alone = simulation(point[0], value, point[2])
        for name in OUTPUTS:
            np.testing.assert_array_equal(batch[name][k], alone[name])


@pytest.mark.parametrize(
    "outputs, words",
    [
        (["final:color"], "color"),
        (["state:"], "state:"),
        (["energy"], "energy"),
        (["loss", "loss"], "loss"),
        ([], "output"),
        ("loss", "list"),
    ],
)
def test_outputs_that_are_refused(outputs, words):
    with pytest.raises((hc.Error, hc.ArgumentError), match=words):
        hc.jax.simulation(CAGE, inputs=INPUTS, outputs=outputs)


def test_nothing_unbatched_is_copied(simulation, point):
    """The program of a batch holds the shared operand once."""
    values = jnp.linspace(60, 120, 1000)
    text = (
        jax.jit(jax.vmap(lambda s: simulation(point[0], s, point[2])["loss"]))
        .lower(values)
        .as_text()
    )
    # x is one vector, so members differ; its cotangent by one direction is shared by all.
    assert "hindcast_value" in text
    shared = (
        jax.jit(lambda u: jax.vmap(lambda t: jax.jvp(simulation, point, (t, *DIRECTION[1:]))[1])(u))
        .lower(jnp.ones((1000, 8)))
        .as_text()
    )
    call = next(line for line in shared.splitlines() if "@hindcast_jvp" in line)
    assert "tensor<12xf64>" in call and "tensor<1000x12xf64>" in call
