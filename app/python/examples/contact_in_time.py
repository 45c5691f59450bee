"""The time at which a contact is felt decides where a gradient leads.

A force pushes one disc so that it sends another one to the origin (scenes/two_discs.json, and
two_discs_wall.json with a wall). SciPy's L-BFGS finds the force of each step twice: with the contact
of the scene, which splits the step at the impact, and with a contact at the ends of steps, which is
the kernel below. The optima of the continuous problems are known.
"""

import json
import pathlib

import hindcast as hc
import numpy as np
from scipy.optimize import minimize

scenes = pathlib.Path(__file__).resolve().parents[3] / "scenes"
steps, radius = 480, 0.2
h = 1 / steps


@hc.kernel
def contact_at_ends(i: hc.Int, force: hc.Read[hc.vec2], start: hc.Read[hc.vec2],
                    ceiling: hc.Param[hc.real], loss: hc.Reduce[hc.real]):
    x, y = hc.copy(start[0]), hc.copy(start[1])
    v, w = hc.vec2(0, 0), hc.vec2(0, 0)
    effort = hc.real(0)
    with hc.for_(steps) as k:
        effort = effort + hc.dot(force[k], force[k])
        v = v + force[k] * h
        x, y = x + v * h, y + w * h
        d = y - x
        n = hc.normalize(d)
        approach = hc.dot(w - v, n)
        # Equal masses exchange their speeds along the line of centers.
        given = hc.select((hc.dot(d, d) < 4 * radius**2) & (approach < 0), approach, hc.real(0))
        v, w = v + n * given, w - n * given
        v.y = hc.select((x.y > ceiling) & (v.y > 0), -v.y, v.y)
        w.y = hc.select((y.y > ceiling) & (w.y > 0), -w.y, w.y)
    loss += hc.dot(y, y) + 0.01 * h * effort


def at_its_time(scene):
    sim = hc.scene(scene, precision="f64")

    def function(u):
        sim["thrust.force"] = u.reshape(steps, 2)
        value, gradient = sim.value_and_grad(["thrust.force"])
        return value, gradient["thrust.force"].ravel()

    return function


def at_ends_of_steps(scene):
    start = np.array([body["positions"][0] for body in scene["bodies"]], float)
    walls = [-c["offset"] for c in scene["colliders"] if c["type"] == "plane"]
    force, loss = hc.zeros(steps, hc.vec2, "f64"), hc.zeros(1, hc.real, "f64")
    launch = hc.record(contact_at_ends, dim=1, force=force, start=hc.array(start), loss=loss,
                       ceiling=(walls or [1e9])[0] - radius)

    def function(u):
        force.numpy()[:] = u.reshape(steps, 2)
        loss.fill(0)
        launch.clear_gradients()
        launch.forward()
        loss.grad.fill(1)  # the seed: dL/dL
        launch.adjoint()
        return float(loss.numpy()[0]), force.grad.numpy().ravel().copy()

    return function


print("| scene | optimum | contact | loss found | above the optimum | iterations |")
print("|---|---|---|---|---|---|")
gap = {}
for name, optimum in (("two_discs", 0.3114168704), ("two_discs_wall", 0.3736363502)):
    scene = json.loads((scenes / f"{name}.json").read_text())
    start = np.tile(np.array(scene["forces"][0]["force"], float), steps)
    for contact in (at_its_time, at_ends_of_steps):
        found = minimize(contact(scene), start, jac=True, method="L-BFGS-B",
                         options={"maxiter": 500, "maxfun": 5000, "ftol": 1e-15, "gtol": 1e-10})
        gap[name, contact] = found.fun / optimum - 1
        print(f"| {name} | {optimum} | {contact.__name__.replace('_', ' ')} | {found.fun:.6f} "
              f"| {100 * gap[name, contact]:.3g} % | {found.nit} |")

for name in ("two_discs", "two_discs_wall"):
    assert abs(gap[name, at_its_time]) < 3e-3 and gap[name, at_ends_of_steps] > 0.1
