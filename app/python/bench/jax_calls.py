"""What a call of a kernel costs under JAX: python app/python/bench/jax_calls.py

A kernel of 8 elements in a jitted fori_loop, beside a handler of XLA that does nothing, in the same
loop: both in turn, the least of several rounds of each.
"""

import argparse
import time

import hindcast as hc
import hindcast.jax
import jax
import jax.numpy as jnp

CALLS = 10_000


@hc.kernel
def halve(i: hc.Int, x: hc.Read[hc.real], k: hc.Param[hc.real], y: hc.Write[hc.real]):
    y[i] = x[i] * k


@hc.kernel
def spread(i: hc.Int, x: hc.Read[hc.real], k: hc.Param[hc.real], y: hc.Accumulate[hc.real]):
    y[i] += x[i] * k


def loop(f):
    return jax.jit(lambda x, k: jax.lax.fori_loop(0, CALLS, lambda _, x: f(x, k), x))


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rounds", type=int, default=40)
    rounds = parser.parse_args().rounds
    jax.devices("cpu")
    for name, handler in hc._core._jax_probes().items():
        jax.ffi.register_ffi_target(name, handler, platform="cpu")
    written = hc.jax.kernel(halve, dim="x", outputs={"y": hc.written()})
    zeros = hc.jax.kernel(spread, dim="x", outputs={"y": hc.jax.zeros(8)})
    gradient = jax.grad(lambda x, k: written(x, k).sum())
    work = {
        "nothing": lambda x, k: jax.ffi.ffi_call("hindcast_probe_nothing", x)(x, k),
        "written": written,
        "zeros": zeros,
        "gradient": gradient,
    }
    x, k = jnp.ones(8, jnp.float32), jnp.float32(0.999)
    loops = {name: loop(f) for name, f in work.items()}
    least = dict.fromkeys(loops, float("inf"))
    for _ in range(rounds + 1):
        for name, f in loops.items():
            begin = time.perf_counter()
            f(x, k).block_until_ready()
            least[name] = min(least[name], (time.perf_counter() - begin) / CALLS)
    nothing = least["nothing"]
    print("| a call in a jitted loop | us | against a handler that does nothing | more, us |")
    print("|---|---|---|---|")
    for name, seconds in least.items():
        print(
            f"| {name} | {seconds * 1e6:.2f} | {seconds / nothing:.2f} x | "
            f"{(seconds - nothing) * 1e6:.2f} |"
        )


if __name__ == "__main__":
    main()
