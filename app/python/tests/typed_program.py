"""A program in the style of the README, with types: `mypy --strict` finds nothing in it."""

import hindcast as hc
import numpy as np


def energy(p: hc.vec2) -> hc.real:
    return hc.dot(p, p) * 0.5


@hc.kernel
def pull(s: hc.Int, ends: hc.Read[hc.ivec2], rest: hc.Read[hc.real], k: hc.Param[hc.real],
         x: hc.Read[hc.vec3], force: hc.Accumulate[hc.vec3]) -> None:
    a, b = ends[s]
    d = x[b] - x[a]
    length = hc.norm(d)
    with hc.if_(length > rest[s]):
        f = d / length * (k * (length - rest[s]))
        force[a] += f
        force[b] -= f


@hc.kernel
def everything(i: hc.Int, n: hc.Param[hc.i32], j: hc.Read[hc.i32], w: hc.Property[hc.real],
               x: hc.Read[hc.vec2], m: hc.Read[hc.mat2], y: hc.Write[hc.vec2],
               z: hc.ReadWrite[hc.vec2], f: hc.Sum[hc.vec2], u: hc.WriteSlice[hc.real],
               e: hc.Reduce[hc.real], c: hc.Atomic[hc.i32]) -> None:
    s = hc.real(0)
    with hc.for_(n) as k:
        s = s * 0.5 + hc.real(k)
    with hc.while_(lambda: s > 1, max_trips=60):
        s = s / 2
    with hc.if_((s > 0) & ~(i == 3)):
        s = s + w[i]
    with hc.else_():
        s = hc.real(0)
    v = hc.copy(x[j[i]])
    v.x += s
    v[1] = 2.0
    g = hc.grad(energy, v)
    first, second = hc.grad(lambda p, q: hc.dot(p, q), v, g)
    y[i] = m[i] @ first + np.float64(2) * hc.vec2(1, s) - second
    z[i].x += 1
    z[i][1] = z[i].y * 2
    f[j[i]] += g
    f[j[i]].x -= 1
    u.store_once(2 * i + 1, hc.max(s, 0.0, -s))
    e += hc.select(s > 1, s, s**2)
    c[i % 2].add(1)
    c[i // 2].max(hc.i32(s))


def run() -> float:
    x = hc.zeros(4, hc.vec3)
    ends = hc.array([[0, 1], [1, 2]], dtype=hc.ivec2)
    force = hc.zeros(4, dtype=hc.vec3, precision="f32")
    launch = hc.record(pull, dim=2, ends=ends, rest=[1.0, 1.0], k=2.0, x=x, force=force)
    fast = hc.record(pull.unchecked(), dim=2, ends=ends, rest=[1.0, 1.0], k=2.0, x=x, force=force)
    with hc.Tape() as tape:
        launch.forward()
        fast.forward()
    force.grad.fill(1)
    tape.backward()
    return float(x.grad.numpy().sum())


if __name__ == "__main__":
    print(run())
