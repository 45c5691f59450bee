"""A kernel of one's own in ten lines: two substances that react and spread (Gray and Scott).

It is compiled as it is written here, and differentiated: how the amount of the second one depends
on how fast the first is fed, through two hundred steps, is compared with differences.
"""

import sys

import hindcast as hc
import numpy as np

n = 160


@hc.kernel
def react(i: hc.Int, old: hc.Read[hc.vec2], feed: hc.Param[hc.real], kill: hc.Param[hc.real],
          new: hc.Write[hc.vec2]):
    row, column = i // n, i % n
    around = (old[(row + 1) % n * n + column] + old[(row + n - 1) % n * n + column]
              + old[row * n + (column + 1) % n] + old[row * n + (column + n - 1) % n])
    c, flow = old[i], around - 4 * old[i]
    both = c.x * c.y * c.y
    new[i].x = c.x + 0.2 * flow.x - both + feed * (1 - c.x)
    new[i].y = c.y + 0.1 * flow.y + both - (feed + kill) * c.y


@hc.kernel
def amount(i: hc.Int, c: hc.Read[hc.vec2], total: hc.Reduce[hc.real]):
    total += c[i].y / (n * n)


start = np.zeros((n, n, 2))
start[..., 0] = 1
rng = np.random.default_rng(4)
for row, column in rng.integers(8, n - 16, (12, 2)):
    start[row : row + 8, column : column + 8] = [0.5, 0.25]
a, b = hc.array(start.reshape(-1, 2).copy()), hc.zeros(n * n, hc.vec2, "f64")
total = hc.zeros(1, hc.real, "f64")
values = {"feed": 0.037, "kill": 0.06}
there = hc.record(react, dim=n * n, old=a, new=b, **values)
back = hc.record(react, dim=n * n, old=b, new=a, **values)
count = hc.record(amount, dim=n * n, c=a, total=total)

with hc.Tape() as tape:
    for _ in range(100):
        there.forward()
        back.forward()
    count.forward()
total.grad.fill(1)
tape.backward()
slope = there.grad("feed") + back.grad("feed")


def after(feed):
    """The amount, by the same launches."""
    a.numpy()[:] = start.reshape(-1, 2)
    for launch in (there, back):
        launch.set("feed", feed)
    total.numpy()[:] = 0
    tape.forward()
    return float(total.numpy()[0])


h = 1e-6
difference = (after(0.037 + h) - after(0.037 - h)) / (2 * h)
print(f"amount {after(0.037):.6f}, its derivative {slope:.9f}, by differences {difference:.9f}")
assert abs(slope - difference) < 1e-6 * abs(slope)

if "--picture" in sys.argv:
    from drawing import beside, colors, save

    shown = [a.numpy().reshape(n, n, 2)[..., 1].copy()]
    for steps in (1500, 4000):
        for _ in range(steps // 2):
            there.forward()
            back.forward()
        shown.append(a.numpy().reshape(n, n, 2)[..., 1].copy())
    save(sys.argv[-1], beside(*(colors(c, 0, 0.4) for c in shown)))
