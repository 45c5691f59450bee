"""Kernels as functions of JAX, and the same functions written in jax.numpy."""

import jax

import hindcast as hc
import jax.numpy as jnp
import numpy as np
from rod_kernels import kick, move, pull

jax.config.update("jax_enable_x64", True)


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


def loss_of(f):
    return lambda p: sum((jnp.sin(r) * r).sum() for r in jax.tree.leaves(f(p)))
