"""Indices out of range of kernels under JAX: errors that name item, index and array, in every
transformation; and none for kernels without checks."""

import numpy as np
import pytest

jax = pytest.importorskip("jax")

import hindcast as hc
import jax.numpy as jnp
from jax import lax


@hc.kernel
def gather(i: hc.Int, j: hc.Read[hc.i32], x: hc.Read[hc.real], y: hc.Write[hc.real]):
    y[i] = x[j[i]] * x[j[i]]


@hc.kernel
def spread(i: hc.Int, j: hc.Read[hc.i32], x: hc.Read[hc.real], y: hc.Accumulate[hc.real]):
    y[j[i]] += x[i]


GATHER = hc.jax.kernel(gather, dim="j", outputs={"y": hc.written()})
X = jnp.asarray([1.0, 2, 3], jnp.float32)
GOOD, BAD = np.array([0, 2, 1, 2], np.int32), np.array([0, 2, 1, 3], np.int32)


def squared(j, x):
    return GATHER(j=j, x=x).sum()


CALLS = {
    "value": lambda j: GATHER(j=j, x=X),
    "jit": lambda j: jax.jit(lambda j, x: GATHER(j=j, x=x))(j, X),
    "grad": lambda j: jax.jit(jax.grad(squared, 1))(j, X),
    "jvp": lambda j: jax.jvp(lambda x: GATHER(j=j, x=x), (X,), (X,)),
    "hessian": lambda j: jax.jit(jax.hessian(squared, 1))(j, X),
    "vmap": lambda j: jax.jit(jax.vmap(lambda x: GATHER(j=j, x=x)))(jnp.stack([X, 2 * X])),
    "scan": lambda j: jax.jit(
        lambda j: lax.scan(lambda x, _: (GATHER(j=j, x=x)[:3] / 9, x.sum()), X, None, 3)
    )(j),
}


@pytest.mark.parametrize("call", CALLS)
def test_an_index_out_of_range_is_an_error(call):
    jax.block_until_ready(CALLS[call](GOOD))
    for _ in range(2):  # a recording that failed is not used again
        with pytest.raises(Exception, match="index 3 is out of range: 'x' has 3 elements") as error:
            jax.block_until_ready(CALLS[call](BAD))
        assert "item 3" in str(error.value) and "kernel 'gather" in str(error.value)
    jax.block_until_ready(CALLS[call](GOOD))


def test_sums_out_of_range_are_not_dropped():
    f = jax.jit(hc.jax.kernel(spread, dim="x", outputs={"y": hc.jax.zeros(shape=2)}))
    assert f(j=np.array([1, 0, 1], np.int32), x=X).tolist() == [2, 4]
    with pytest.raises(Exception, match="item 1.*index -1 is out of range: 'y' has 2 elements"):
        jax.block_until_ready(f(j=np.array([1, -1, 1], np.int32), x=X))


def test_lengths_are_compared_when_it_is_traced():
    @hc.kernel
    def copy(i: hc.Int, x: hc.Read[hc.real], y: hc.Write[hc.real]):
        y[i] = x[i]

    f = hc.jax.kernel(copy, dim=8, outputs={"y": hc.written()})
    with pytest.raises(hc.Error, match="'x' is read at the item's own index, but has 3 elements for 8"):
        jax.jit(f)(x=X)


def test_without_checks_the_values_are_the_same():
    free = hc.jax.kernel(gather.unchecked(), dim="j", outputs={"y": hc.written()})
    assert np.array_equal(free(j=GOOD, x=X), GATHER(j=GOOD, x=X))
    assert np.array_equal(free(j=GOOD, x=X), np.array([1, 9, 4, 9]))


def test_a_call_outside_of_jit_takes_arrays_as_they_are(monkeypatch):
    """Nothing is converted or cast; what is wrong with an array is said as ever."""
    j = jnp.asarray(GOOD)
    expected = np.asarray(GATHER(j=j, x=X))
    assert (expected == [1, 9, 4, 9]).all()
    wide = None
    with jax.enable_x64(True):
        wide = jnp.asarray([1.0, 2, 3], jnp.float64)
    deleted = jnp.asarray([1.0, 2, 3], jnp.float32)
    deleted.delete()

    with monkeypatch.context() as patch:
        for name in ("asarray", "array", "astype"):
            patch.setattr(jnp, name, lambda *_, **__: pytest.fail("an array is converted"))
        assert (np.asarray(GATHER(j=j, x=X)) == expected).all()
        assert (np.asarray(GATHER(j, X)) == expected).all()
    with pytest.raises(RuntimeError, match="deleted"):
        GATHER(j=j, x=deleted)
    with jax.enable_x64(False), pytest.raises(ValueError, match="64-bit"):
        GATHER(j=j, x=wide)
    with pytest.raises(hc.ArgumentError, match="j: it holds float32"):
        GATHER(j=X, x=X)
    # A number of Python becomes what it stands beside, and none is weak afterward.
    assert not jax.typeof(GATHER(j=GOOD, x=[1.0, 2.0, 3.0])).weak_type
