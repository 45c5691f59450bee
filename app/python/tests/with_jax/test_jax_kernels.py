"""Kernels as functions of JAX against the same functions written in jax.numpy: every composition of
transformations."""

import os

os.environ.setdefault("XLA_FLAGS", "--xla_force_host_platform_device_count=4")

import numpy as np
import pytest

jax = pytest.importorskip("jax")

import hindcast as hc
import jax.numpy as jnp
from jax import lax
from jax.test_util import check_grads
from jax_kernel_tools import ENDS, PROBLEMS, STEP, _rod, close, loss_of


def direction(tree, seed=0):
    leaves, structure = jax.tree.flatten(tree)
    random = np.random.default_rng(seed)
    return structure.unflatten([jnp.asarray(random.normal(size=leaf.shape)) for leaf in leaves])


def dot(a, b):
    return sum(jnp.vdot(x, y) for x, y in zip(jax.tree.leaves(a), jax.tree.leaves(b)))


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
    compose = COMPOSITIONS[name]
    # Second derivatives take many seconds where their operations are compiled one by one.
    second = any(word in name for word in ("hessian", "over", "of jac", "of grad"))
    wrap = jax.jit if second else lambda f: f
    close(wrap(lambda p: compose(f, p))(point), wrap(lambda p: compose(reference, p))(point))


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
