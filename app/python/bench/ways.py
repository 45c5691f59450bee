"""What the ways into Hindcast from Python cost: python app/python/bench/ways.py

Each figure is the least of several rounds, beside what it is compared with in the same round; ratios
hold on a machine that others use as well.
"""

import argparse
import itertools
import pathlib
import subprocess
import sys
import time

import hindcast as hc
import numpy as np

SCENES = pathlib.Path(__file__).resolve().parents[3] / "scenes"


def least(work, calls, rounds=7):
    """Seconds of one call, the least of some rounds of so many."""
    best = float("inf")
    for _ in range(rounds):
        begin = time.perf_counter()
        for _ in range(calls):
            work()
        best = min(best, (time.perf_counter() - begin) / calls)
    return best


def interleaved(first, second, rounds=15):
    """The least seconds of both, in turn."""
    best = [float("inf")] * 2
    for _ in range(rounds):
        for k, work in enumerate((first, second)):
            begin = time.perf_counter()
            work()
            best[k] = min(best[k], time.perf_counter() - begin)
    return best


@hc.kernel
def scale(i: hc.Int, x: hc.Read[hc.real], k: hc.Param[hc.real], y: hc.Write[hc.real]):
    y[i] = x[i] * k


def row(what, value, limit=""):
    print(f"| {what} | {value} | {limit} |")


def main():
    argparse.ArgumentParser(description=__doc__.splitlines()[0]).parse_args()
    print("| what | measured | asked |\n|---|---|---|")
    code = "import time; t = time.perf_counter(); import hindcast; print(time.perf_counter() - t)"
    seconds = min(
        float(subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout)
        for _ in range(5)
    )
    row("`import hindcast`", f"{seconds * 1e3:.0f} ms", "300 ms")

    x = np.arange(8, dtype=np.float32)
    launch = hc.record(scale, dim=8, x=x, k=2.0, y=np.zeros(8, np.float32))
    row("`launch.forward()`, 8 items", f"{least(launch.forward, 20000) * 1e9:.0f} ns", "1000 ns")
    launch.adjoint()
    row("`launch.adjoint()`", f"{least(launch.adjoint, 20000) * 1e9:.0f} ns", "")

    sim = hc.load(SCENES / "hanging_net.json", precision="f32")
    paths = ["net.velocity"]
    sim.value_and_grad(paths)
    row(
        "`sim.value_and_grad` of hanging_net",
        f"{least(lambda: sim.value_and_grad(paths), 3) * 1e3:.2f} ms",
        "",
    )
    try:
        import jax
        import hindcast.jax
    except ImportError as error:
        print(f"without JAX: {error}")
        return
    f = hindcast.jax.simulation(SCENES / "hanging_net.json", inputs=paths, precision="f32")
    initial = f.initial()
    both = jax.jit(jax.value_and_grad(f))
    # Another point for each call: at the same one JAX's function has its run already.
    points = itertools.cycle([initial[0] + 0.01 * k for k in range(7)])
    for _ in range(2):
        both(next(points))

    def of_sim():
        sim[paths[0]] = np.asarray(next(points))
        sim.value_and_grad(paths)

    ours, theirs = interleaved(of_sim, lambda: both(next(points))[0].block_until_ready())
    row("`jax.value_and_grad` against it", f"{theirs / ours:.2f} x", "1.4 x")
    small = hindcast.jax.simulation(SCENES / "free_flight.json", inputs=["ball.velocity"], precision="f32")
    (velocity,) = small.initial()
    many = jax.jit(lambda v: jax.lax.fori_loop(0, 1000, lambda _, s: s + 1e-6 * small(s), v))
    many(velocity).block_until_ready()
    row(
        "a call of free_flight's loss in a jitted loop",
        f"{least(lambda: many(velocity).block_until_ready(), 1) / 1000 * 1e6:.2f} us",
        "",
    )


if __name__ == "__main__":
    main()
