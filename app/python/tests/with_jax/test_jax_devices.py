"""Kernels and simulations on several devices: jax.shard_map with its defaults, and batches that XLA
divides. Expected values come from the same springs on one device in jax.numpy, and from differences."""

import os
import re

os.environ.setdefault("XLA_FLAGS", "--xla_force_host_platform_device_count=4")

import numpy as np
import pytest

jax = pytest.importorskip("jax")
jax.config.update("jax_enable_x64", True)

import hindcast as hc
import hindcast.jax
import jax.numpy as jnp
from jax.sharding import AxisType, NamedSharding
from jax.sharding import PartitionSpec as P
from test_jax import CAGE, reference

if len(jax.devices("cpu")) < 4:
    pytest.skip("JAX was started with fewer than four host devices", allow_module_level=True)

REST = jnp.array([1.7, 1.8, 1.6, 1.7, 1.75, 1.65, 1.7, 1.72])
STIFFNESS, VELOCITY = jnp.array(90.0), jnp.array([0.3, -0.2, 0.5])
RESTS = jnp.stack([REST * (1 + 0.02 * k) for k in range(8)])


@hc.kernel
def bend(i: hc.Int, x: hc.Read[hc.real], k: hc.Param[hc.real], y: hc.Write[hc.real]):
    y[i] = hc.sin(x[i] * k) * x[i]


_bend = hc.jax.kernel(bend, dim="x", outputs={"y": hc.written()})


def kernel_loss(x, k):
    return (_bend(x=x, k=k) ** 2).sum()


def kernel_reference(x, k):
    return ((jnp.sin(x * k) * x) ** 2).sum()


_scene = hc.jax.simulation(
    CAGE, inputs=["cage.rest_length", "cage.stiffness", "ball.velocity"], precision="f64"
)


def scene_loss(x, k):
    return _scene(x, k, VELOCITY)


def scene_reference(x, k):
    return reference(x, k, VELOCITY)


CASES = {
    "kernel": (kernel_loss, kernel_reference, jnp.array(0.8)),
    "simulation": (scene_loss, scene_reference, STIFFNESS),
}
cases = pytest.mark.parametrize("case", CASES)


def mesh(kind=AxisType.Auto, axes=(4,), names=("i",)):
    return jax.make_mesh(axes, names, axis_types=(kind,) * len(names))


def close(a, b, tolerance=1e-11):
    for x, y in zip(jax.tree.leaves(a), jax.tree.leaves(b), strict=True):
        assert x.shape == y.shape
        size = float(np.linalg.norm(np.ravel(y)))
        assert float(np.linalg.norm(np.ravel(np.asarray(x) - np.asarray(y)))) <= tolerance * size


def total(f):
    """Over all members, with the shared value k."""
    return lambda x, k: jax.vmap(f, (0, None))(x, k).sum()


# ---- shard_map with its defaults -------------------------------------------------------------------------


def mapped(f):
    """The sum over members that are divided among devices: x varies, k is the same everywhere."""

    def local(x, k):
        return jax.lax.psum(jax.vmap(f, (0, None))(x, k).sum(), "i")

    return jax.shard_map(local, mesh=mesh(), in_specs=(P("i"), P()), out_specs=P())


@cases
@pytest.mark.parametrize("jitted", [True, False])
def test_gradients_through_shard_map(case, jitted):
    f, plain, k = CASES[case]
    wrap = jax.jit if jitted else lambda g: g
    found = wrap(jax.value_and_grad(mapped(f), (0, 1)))(RESTS, k)
    close(found, jax.value_and_grad(total(plain), (0, 1))(RESTS, k))


@cases
def test_gradients_inside_shard_map(case):
    f, plain, k = CASES[case]

    def local(x, k):
        return jax.vmap(jax.value_and_grad(f), (0, None))(x, k)

    each = jax.shard_map(local, mesh=mesh(), in_specs=(P("i"), P()), out_specs=P("i"))
    close(jax.jit(each)(RESTS, k), jax.vmap(jax.value_and_grad(plain), (0, None))(RESTS, k))


@cases
def test_gradient_of_a_shared_value_inside_shard_map_is_that_of_all_devices(case):
    f, plain, k = CASES[case]

    def local(x, k):
        return jax.grad(lambda k: jax.vmap(f, (0, None))(x, k).sum())(k)

    each = jax.shard_map(local, mesh=mesh(), in_specs=(P("i"), P()), out_specs=P())
    close(jax.jit(each)(RESTS, k), jax.grad(total(plain), 1)(RESTS, k))


@cases
def test_other_transformations_through_shard_map(case):
    f, plain, k = CASES[case]
    tangents = jnp.cos(RESTS), jnp.array(0.3)
    close(
        jax.jvp(mapped(f), (RESTS, k), tangents), jax.jvp(total(plain), (RESTS, k), tangents)
    )
    along = lambda g: jax.jit(
        jax.grad(lambda x, k: (jax.grad(g)(x, k) * tangents[0]).sum(), (0, 1))
    )
    close(along(mapped(f))(RESTS, k), along(total(plain))(RESTS, k), 1e-10)


@cases
def test_gradient_through_shard_map_against_differences(case):
    f, _, k = CASES[case]
    g = jax.jit(mapped(f))
    direction = jnp.sin(jnp.arange(RESTS.size, dtype=float)).reshape(RESTS.shape)
    along = lambda h: float(g(RESTS + h * direction, k) - g(RESTS - h * direction, k)) / (2 * h)
    slope = (4 * along(5e-5) - along(1e-4)) / 3
    found = float((jax.grad(g)(RESTS, k) * direction).sum())
    assert abs(found - slope) <= 1e-8 * abs(slope)


@cases
def test_replicated_operands_in_shard_map(case):
    f, plain, k = CASES[case]
    same = jax.shard_map(f, mesh=mesh(), in_specs=(P(), P()), out_specs=P())
    close(
        jax.jit(jax.value_and_grad(same, (0, 1)))(REST, k),
        jax.value_and_grad(plain, (0, 1))(REST, k),
    )


@cases
def test_two_axes_of_shard_map(case):
    f, plain, k = CASES[case]
    ks = k * jnp.array([1.0, 1.1])

    def local(x, k):
        inner = jax.vmap(jax.vmap(f, (None, 0)), (0, None))(x, k).sum()
        return jax.lax.psum(inner, ("i", "j"))

    of_both = jax.shard_map(
        local, mesh=mesh(axes=(2, 2), names=("i", "j")), in_specs=(P("i"), P("j")), out_specs=P()
    )
    expected = lambda x, k: jax.vmap(jax.vmap(plain, (None, 0)), (0, None))(x, k).sum()
    close(
        jax.jit(jax.value_and_grad(of_both, (0, 1)))(RESTS, ks),
        jax.value_and_grad(expected, (0, 1))(RESTS, ks),
    )


@cases
def test_axes_that_are_left_to_xla(case):
    """shard_map over one axis of two."""
    f, plain, k = CASES[case]
    of_one = jax.shard_map(
        jax.vmap(jax.grad(f), (0, None)), mesh=mesh(axes=(2, 2), names=("i", "j")),
        in_specs=(P("i"), P()), out_specs=P("i"), axis_names={"i"},
    )  # fmt: skip
    close(jax.jit(of_one)(RESTS, k), jax.vmap(jax.grad(plain), (0, None))(RESTS, k))


# ---- batches that XLA divides ----------------------------------------------------------------------------


def rows_of_calls(compiled, kernel):
    """Rows that each call of C++ gets on one device."""
    prefix = "hindcast_kernel_" if kernel else "hindcast_"
    lines = [l for l in compiled.as_text().splitlines() if f'custom_call_target="{prefix}' in l]
    assert lines
    return [int(re.search(r"= \(?f64\[(\d+)", line)[1]) for line in lines]


def all_gathers(compiled):
    return len(re.findall(r"= \S+ all-gather", compiled.as_text()))


@cases
def test_a_divided_batch_stays_divided(case):
    f, plain, k = CASES[case]
    divided = NamedSharding(mesh(), P("i"))
    x = jax.device_put(RESTS, divided)
    each = jax.jit(jax.vmap(jax.value_and_grad(f), (0, None)))
    compiled = each.lower(x, k).compile()
    assert set(rows_of_calls(compiled, case == "kernel")) == {2} and all_gathers(compiled) == 0
    found = each(x, k)
    assert all(leaf.sharding.is_equivalent_to(divided, leaf.ndim) for leaf in found)
    close(found, jax.vmap(jax.value_and_grad(plain), (0, None))(RESTS, k))
    # The members' bits are those of an undivided batch.
    for a, b in zip(found, jax.jit(jax.vmap(jax.value_and_grad(f), (0, None)))(RESTS, k)):
        np.testing.assert_array_equal(a, b)


@cases
def test_gradient_of_what_the_members_share(case):
    f, plain, k = CASES[case]
    x = jax.device_put(RESTS, NamedSharding(mesh(), P("i")))
    compiled = jax.jit(jax.grad(total(f), 1)).lower(x, k).compile()
    assert set(rows_of_calls(compiled, case == "kernel")) == {2}
    close(compiled(x, k), jax.grad(total(plain), 1)(RESTS, k))


@cases
def test_two_batch_axes(case):
    f, plain, k = CASES[case]
    ks = k * jnp.array([1.0, 1.1, 0.9])
    x = jax.device_put(RESTS, NamedSharding(mesh(), P("i")))
    each = lambda g: jax.vmap(jax.vmap(jax.grad(g), (None, 0)), (0, None))
    compiled = jax.jit(each(f)).lower(x, ks).compile()
    assert set(rows_of_calls(compiled, case == "kernel")) == {2} and all_gathers(compiled) == 0
    close(compiled(x, ks), each(plain)(RESTS, ks))


@cases
def test_one_axis_of_two(case):
    f, plain, k = CASES[case]
    x = jax.device_put(RESTS, NamedSharding(mesh(axes=(2, 2), names=("i", "j")), P("j")))
    compiled = jax.jit(jax.vmap(jax.grad(f), (0, None))).lower(x, k).compile()
    assert set(rows_of_calls(compiled, case == "kernel")) == {4}
    close(compiled(x, k), jax.vmap(jax.grad(plain), (0, None))(RESTS, k))


@cases
def test_members_are_not_divided(case):
    f, plain, k = CASES[case]
    x = jax.device_put(RESTS, NamedSharding(mesh(), P(None, "i")))
    close(
        jax.jit(jax.vmap(jax.grad(f), (0, None)))(x, k), jax.vmap(jax.grad(plain), (0, None))(RESTS, k)
    )
    alone = jax.device_put(REST, NamedSharding(mesh(), P("i")))
    close(jax.jit(jax.grad(f))(alone, k), jax.grad(plain)(REST, k))
    close(jax.grad(f)(alone, k), jax.grad(plain)(REST, k))


@cases
def test_a_batch_that_does_not_divide_is_whole_on_each_device(case):
    f, plain, k = CASES[case]
    six = RESTS[:6]

    def each(x, k):
        x = jax.lax.with_sharding_constraint(x, NamedSharding(mesh(), P("i")))
        return jax.vmap(jax.grad(f), (0, None))(x, k)

    compiled = jax.jit(each).lower(six, k).compile()
    assert set(rows_of_calls(compiled, case == "kernel")) == {6}
    close(compiled(six, k), jax.vmap(jax.grad(plain), (0, None))(six, k))


# ---- arrays whose types say how they are divided ---------------------------------------------------------


@cases
def test_explicit_axes(case):
    f, plain, k = CASES[case]
    explicit = mesh(AxisType.Explicit)
    with jax.set_mesh(explicit):
        x = jax.device_put(RESTS, P("i"))
        each = jax.jit(jax.vmap(jax.value_and_grad(f), (0, None)))
        assert jax.typeof(x).sharding.spec == P("i", None)
        found = each(x, k)
        assert jax.typeof(found[1]).sharding.spec == P("i", None)
        compiled = each.lower(x, k).compile()
        assert set(rows_of_calls(compiled, case == "kernel")) == {2} and all_gathers(compiled) == 0
        shared = jax.jit(jax.grad(total(f), (0, 1)))(x, k)
        # One that is divided itself comes together, and its gradient is divided again.
        alone = jax.device_put(REST, P("i"))
        of_one = jax.jit(jax.grad(f))(alone, k)
        assert jax.typeof(of_one).sharding.spec == P("i")
    close(found, jax.vmap(jax.value_and_grad(plain), (0, None))(RESTS, k))
    close(shared, jax.grad(total(plain), (0, 1))(RESTS, k))
    close(of_one, jax.grad(plain)(REST, k))
