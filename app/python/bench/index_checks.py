"""What checks of indices cost: python app/python/bench/index_checks.py

Each kernel runs with its checks and without (kernel.unchecked()) in turn, and the least time of each
counts; ratios hold on a machine that others use as well.
"""

import argparse
import time

import hindcast as hc
import numpy as np


@hc.kernel
def own(i: hc.Int, x: hc.Read[hc.vec3], y: hc.Write[hc.vec3]):
    y[i] = x[i] * 2


@hc.kernel
def gather(i: hc.Int, j: hc.Read[hc.i32], x: hc.Read[hc.vec3], y: hc.Write[hc.vec3]):
    y[i] = x[j[i]] * 2


@hc.kernel
def pull(s: hc.Int, ends: hc.Read[hc.ivec2], rest: hc.Read[hc.real], k: hc.Param[hc.real],
         x: hc.Read[hc.vec3], force: hc.Accumulate[hc.vec3]):
    a, b = ends[s]
    d = x[b] - x[a]
    length = hc.norm(d)
    with hc.if_(length > rest[s]):
        f = d / length * (k * (length - rest[s]))
        force[a] += f
        force[b] -= f


@hc.kernel
def sample(i: hc.Int, at: hc.Read[hc.vec2], n: hc.Param[hc.i32], x: hc.Read[hc.real],
           y: hc.Write[hc.real]):
    column, row = hc.i32(at[i].x), hc.i32(at[i].y)
    u, v = at[i].x - hc.real(column), at[i].y - hc.real(row)
    k = row * n + column
    y[i] = ((x[k] * (1 - u) + x[k + 1] * u) * (1 - v)
            + (x[k + n] * (1 - u) + x[k + n + 1] * u) * v)


@hc.kernel
def around(i: hc.Int, near: hc.Read[hc.i32], x: hc.Read[hc.vec3], y: hc.Write[hc.vec3]):
    total = hc.vec3(0)
    with hc.for_(i * 8, i * 8 + 8) as k:
        total = total + x[near[k]]
    y[i] = total


def cases(n):
    random = np.random.default_rng(1)
    x = random.random((n, 3)).astype(np.float32)
    out = lambda *shape: np.zeros(shape or (n, 3), np.float32)
    j = random.integers(0, n, n).astype(np.int32)
    yield "x[i]: known when recorded", own, n, {"x": x, "y": out()}
    yield "x[j[i]]: looked at once", gather, n, {"j": j, "x": x, "y": out()}
    ends = np.stack([np.arange(n), (np.arange(n) + 1) % n], 1).astype(np.int32)
    yield "a spring's force: looked at once", pull, n, {
        "ends": ends, "rest": np.full(n, 0.1, np.float32), "k": 2.0, "x": x, "force": out()}  # fmt: skip
    side = int(n**0.5)
    at = (random.random((n, 2)) * (side - 2)).astype(np.float32)
    yield "x[i32(at[i])]: looked at by the kernel", sample, n, {
        "at": at, "n": side, "x": out(side * side), "y": out(n)}  # fmt: skip
    near = random.integers(0, n, 8 * n).astype(np.int32)
    yield "x[near[k]] in a loop: looked at by the kernel", around, n, {"near": near, "x": x, "y": out()}


def interleaved(works, rounds):
    best = [float("inf")] * len(works)
    for _ in range(rounds):
        for k, work in enumerate(works):
            begin = time.perf_counter()
            work()
            best[k] = min(best[k], time.perf_counter() - begin)
    return best


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--items", type=int, default=2**18)
    parser.add_argument("--rounds", type=int, default=25)
    options = parser.parse_args()
    print(f"{options.items} items, {options.rounds} rounds\n")
    print("| kernel | direction | without | with checks | ratio | first run |\n|---|---|---|---|---|---|")
    for name, kernel, n, arguments in cases(options.items):
        # Integers are looked at for changes before each run, with checks or without.
        given = {k: hc.array(v) if isinstance(v, np.ndarray) else v for k, v in arguments.items()}
        launches = [hc.record(k, dim=n, **given) for k in (kernel.unchecked(), kernel)]
        for direction in ("forward", "adjoint"):
            works = [getattr(launch, direction) for launch in launches]
            works[0]()
            begin = time.perf_counter()
            works[1]()
            first = time.perf_counter() - begin
            without, with_checks = interleaved(works, options.rounds)
            print(f"| {name} | {direction} | {without * 1e6:.0f} us | {with_checks * 1e6:.0f} us | "
                  f"{with_checks / without:.2f} | {first * 1e3:.0f} ms |")  # fmt: skip
    x = np.zeros((8, 3), np.float32)
    j = np.zeros(8, np.int32)
    for name, kernel, arguments in (("own", own, {}), ("gather", gather, {"j": j})):
        launches = [hc.record(k, dim=8, x=x, y=x.copy(), **arguments) for k in (kernel.unchecked(), kernel)]
        many = [lambda f=launch.forward: [f() for _ in range(2000)] for launch in launches]
        without, with_checks = (t / 2000 for t in interleaved(many, options.rounds))
        print(f"| {name}, 8 items | forward | {without * 1e9:.0f} ns | {with_checks * 1e9:.0f} ns | "
              f"{with_checks / without:.2f} | |")  # fmt: skip


if __name__ == "__main__":
    main()
