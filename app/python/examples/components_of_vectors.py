"""Components of vectors are written one by one, in variables and in arrays, with exact derivatives."""

import hindcast as hc
import numpy as np


@hc.kernel
def bounce(i: hc.Int, v: hc.Read[hc.vec3], k: hc.Param[hc.real], out: hc.Write[hc.vec3]):
    w = v[i]
    w.z = -k * w.z  # a component of a variable
    w[0] += w.y * w.y
    out[i] = w
    out[i].y *= 2.0  # a component of an element


v = np.array([[1.0, 2.0, 3.0], [0.5, -1.0, -2.0]])
out = hc.zeros(2, hc.vec3, precision="f64")
launch = hc.record(bounce, dim=2, v=v, k=0.8, out=out)
launch.forward()
print(out.numpy())
assert np.allclose(out.numpy(), np.c_[v[:, 0] + v[:, 1] ** 2, 2 * v[:, 1], -0.8 * v[:, 2]])

seed = np.array([[1.0, 10.0, 100.0], [2.0, 20.0, 200.0]])
out.grad.numpy()[:] = seed
launch.adjoint()
gradient = launch["v"].grad.numpy()
print(gradient)
assert np.allclose(
    gradient, np.c_[seed[:, 0], 2 * v[:, 1] * seed[:, 0] + 2 * seed[:, 1], -0.8 * seed[:, 2]]
)
assert np.isclose(launch.grad("k"), -(v[:, 2] * seed[:, 2]).sum())
