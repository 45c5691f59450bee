"""Outputs of a function of JAX begin as it says, never with what stood in the memory that XLA gives them.

A kernel that adds to its output, f[j] += v, or that stores only some elements is wrong on memory that nobody has cleared,
and only now and then. Here every output says how it begins, and what it says is looked at.
"""

import jax

jax.config.update("jax_enable_x64", True)
import hindcast as hc
import jax.numpy as jnp
import numpy as np


@hc.kernel
def histogram(i: hc.Int, bin: hc.Read[hc.i32], weight: hc.Read[hc.real], total: hc.Accumulate[hc.real]):
    total[bin[i]] += weight[i] * weight[i]


@hc.kernel
def positive(i: hc.Int, x: hc.Read[hc.real], y: hc.ReadWrite[hc.real]):
    with hc.if_(x[i] > 0):
        y[i] = x[i]


def dirty(size):
    """Leaves NaN in the memory that XLA gives out next."""
    jax.block_until_ready([jnp.full(size, jnp.nan) + k for k in range(8)])


size = 1000
bins = jnp.arange(size, dtype=jnp.int32) % size
weights = jnp.linspace(-1, 1, size)

# Zeros, which are what sums begin with if nothing is said.
sums = jax.jit(hc.jax.kernel(histogram, dim="bin", outputs={"total": hc.jax.zeros(shape=size)}))
for _ in range(20):
    dirty(size)
    assert np.array_equal(sums(bin=bins, weight=weights), weights**2)
print("zeros:  ", sums(bin=bins, weight=weights)[:3])

# A number, or an input: as it is, or in its memory where it is donated.
kept = jax.jit(hc.jax.kernel(positive, dim="x", outputs={"y": hc.fill(0.5)}))
print("fill:   ", kept(x=weights)[:3])
assert np.array_equal(kept(x=weights), jnp.where(weights > 0, weights, 0.5))
more = hc.jax.kernel(histogram, dim="bin", outputs={"total": hc.in_out("total")})
more = jax.jit(more, donate_argnames="total")
total = jnp.ones(size)
for _ in range(3):
    total = more(bin=bins, weight=weights, total=total)
print("in_out: ", total[:3])
assert np.allclose(total, 1 + 3 * weights**2, rtol=1e-15)

# `written` says that the kernel stores every element. That is looked at: here it does not.
try:
    hc.jax.kernel(positive, dim="x", outputs={"y": hc.written()})(x=weights)
    raise SystemExit("nobody noticed")
except hc.ArgumentError as error:
    print("written:", error)
    assert "initialized_outputs.py" in str(error)

# All of it has derivatives, by numbers and arrays alike.
gradient = jax.grad(lambda w: sums(bin=bins, weight=w)[7] + kept(x=w).sum())(weights)
assert np.allclose(gradient, (weights > 0) + jnp.zeros(size).at[7].set(2 * weights[7]))
