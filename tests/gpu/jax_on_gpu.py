#!/usr/bin/env python3
"""Scenes and kernels under JAX on a CUDA device: jax_on_gpu.py SCENE... For each scene, the loss and its gradient under
jit and vmap have the bits of those on the host; arrays go both ways without a copy. One line of JSON
per scene, such as {"scene": "free_flight", "same": true, "seconds": 0.01}.
"""
import json
import pathlib
import sys
import time

import jax
import numpy as np

import hindcast as hc
import hindcast.jax


def measured(file):
    paths = [p["path"] for p in json.loads(pathlib.Path(file).read_text())["parameters"]]
    loss = hindcast.jax.simulation(file, inputs=paths)
    values = loss.initial()
    results = {}
    for platform in ("cpu", "cuda"):
        device = jax.devices(platform)[0]
        here = [jax.device_put(v, device) for v in values]
        f = jax.jit(jax.value_and_grad(loss, argnums=tuple(range(len(here)))))
        jax.block_until_ready(f(*here))
        start = time.perf_counter()
        value, gradient = jax.block_until_ready(f(*here))
        seconds = time.perf_counter() - start
        batch = jax.vmap(loss)(*[np.stack([np.asarray(v)] * 3) for v in values])
        results[platform] = [np.asarray(x).tobytes() for x in (value, *gradient, batch)]
    return {"same": results["cpu"] == results["cuda"], "seconds": seconds}


def arrays():
    """Memory of JAX on the device is taken where it is."""
    x = jax.device_put(np.arange(6, dtype=np.float32), jax.devices("cuda")[0])
    a = hc.array(x)
    same = a.__cuda_array_interface__["data"][0] == x.unsafe_buffer_pointer()
    return {"same": same and np.array_equal(a.numpy(), np.arange(6)), "seconds": 0.0}


@hc.kernel
def step(i: hc.Int, k: hc.Param[hc.real], x: hc.ReadWrite[hc.vec2], total: hc.Reduce[hc.real]):
    x[i] = hc.vec2(x[i].x + k * x[i].y, x[i].y - k * hc.sin(x[i].x))
    total += hc.dot(x[i], x[i])


@hc.kernel
def spread(i: hc.Int, j: hc.Read[hc.i32], x: hc.Read[hc.vec2], y: hc.Accumulate[hc.vec2]):
    y[j[i]] += x[i] * x[i].x


def kernels():
    """Kernels in a loop that XLA compiles, one that it may capture and one that waits for indices."""
    turn = hindcast.jax.kernel(step, dim="old", outputs={"x": hc.copy_of("old"), "total": None})
    to = hindcast.jax.kernel(spread, dim="x", outputs={"y": hindcast.jax.zeros(shape=lambda x: x)})

    def loss(k, x, j):
        def body(x, _):
            result = turn(k=k, old=x)
            return to(j=j, x=result["x"]) * 0.5 + 0.4 * result["x"], result["total"]

        return jax.lax.scan(body, x, None, length=20)[1].sum()

    random = np.random.default_rng(1)
    x = random.normal(scale=0.3, size=(1000, 2)).astype(np.float32)
    j = random.integers(0, 1000, 1000)
    results = {}
    for platform in ("cpu", "cuda"):
        device = jax.devices(platform)[0]
        here = [jax.device_put(v, device) for v in (np.float32(0.1), x, j.astype(np.int32))]
        f = jax.jit(jax.value_and_grad(loss, argnums=(0, 1)))
        jax.block_until_ready(f(*here))
        start = time.perf_counter()
        value, gradient = jax.block_until_ready(f(*here))
        seconds = time.perf_counter() - start
        results[platform] = [np.asarray(v) for v in (value, *gradient)]
    # XLA's own sums have other orders there.
    same = all(np.allclose(a, b, rtol=1e-4, atol=1e-4) for a, b in zip(*results.values()))
    return {"same": bool(same), "seconds": seconds}


if __name__ == "__main__":
    print(json.dumps({"scene": "arrays", **arrays()}), flush=True)
    print(json.dumps({"scene": "kernels", **kernels()}), flush=True)
    for scene in sys.argv[1:]:
        print(json.dumps({"scene": pathlib.Path(scene).stem, **measured(scene)}), flush=True)
