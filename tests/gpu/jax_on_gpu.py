#!/usr/bin/env python3
"""Scenes under JAX on a CUDA device: jax_on_gpu.py SCENE... For each, the loss and its gradient under
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


if __name__ == "__main__":
    print(json.dumps({"scene": "arrays", **arrays()}), flush=True)
    for scene in sys.argv[1:]:
        print(json.dumps({"scene": pathlib.Path(scene).stem, **measured(scene)}), flush=True)
