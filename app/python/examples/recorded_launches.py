"""Launches that are recorded once and replayed, forwards and backwards, in a loop.

A line y = a x + b is fitted to points. Nothing is recorded, compiled or allocated within the loop.
"""

import hindcast as hc
import numpy as np


@hc.kernel
def line(
    i: hc.Int,
    x: hc.Read[hc.real],
    a: hc.Param[hc.real],
    b: hc.Param[hc.real],
    y: hc.Write[hc.real],
):
    y[i] = a * x[i] + b


@hc.kernel
def misfit(i: hc.Int, y: hc.Read[hc.real], seen: hc.Read[hc.real], loss: hc.Accumulate[hc.real]):
    loss[0] += 0.5 * (y[i] - seen[i]) ** 2


x = np.linspace(-1, 1, 50)
seen = 2.5 * x - 0.75
y, loss = hc.zeros(50, hc.real, precision="f64"), hc.zeros(1, hc.real, precision="f64")
first = hc.record(line, dim=50, x=x, a=0.0, b=0.0, y=y)
second = hc.record(misfit, dim=50, y=y, seen=seen, loss=loss)

for iteration in range(200):
    loss.fill(0)
    first.forward()
    second.forward()
    loss.grad.fill(1)  # the seed: dL/dL
    second.adjoint()
    first.adjoint()
    first.set("a", first["a"] - 0.02 * first.grad("a"))
    first.set("b", first["b"] - 0.02 * first.grad("b"))
    first.clear_gradients()
    second.clear_gradients()

print(f"a = {first['a']:.6f}, b = {first['b']:.6f}, loss = {loss.numpy()[0]:.2e}")
assert abs(first["a"] - 2.5) < 1e-6 and abs(first["b"] + 0.75) < 1e-6
