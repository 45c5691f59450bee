"""System identification with SciPy: the stiffness and the damping of springs from where a ball was.

A trajectory is simulated with values that are then forgotten, and found again from ten of its points.
"""

import json
import pathlib
import sys

import hindcast as hc
import numpy as np
from scipy.optimize import minimize

scenes = pathlib.Path(__file__).resolve().parents[3] / "scenes"
scene = json.loads((scenes / "spring_cage.json").read_text())
scene["forces"][0].update(stiffness=140, damping=4)
truth = hc.scene(scene)
truth.run(keep="position")
at = list(range(3, 31, 3))
seen = truth.state("position")[at, 0]

scene["forces"][0].update(stiffness=100, damping=10)
scene["objective"] = [
    {
        "type": "trajectory",
        "of": "ball",
        "points": [0],
        "at": [step / 30 for step in at],
        "targets": seen.tolist(),
    }
]
sim = hc.scene(scene)
paths = ["cage.stiffness", "cage.damping"]
scale = np.array([100.0, 10.0])


def loss(z):
    for path, value in zip(paths, z * scale):
        sim[path] = float(value)
    value, gradient = sim.value_and_grad(paths)
    return value, scale * np.array([gradient[path] for path in paths])


found = minimize(loss, np.ones(2), jac=True, method="BFGS", options={"gtol": 1e-12})
stiffness, damping = found.x * scale
print(f"stiffness {stiffness:.6f} N/m, damping {damping:.6f} N s/m after {found.nfev} runs")
assert abs(stiffness - 140) < 1e-3 and abs(damping - 4) < 1e-3

if "--picture" in sys.argv:
    from drawing import beside, curves, save

    lines = []
    for values, color in (((100, 10), (235, 120, 90)), ((stiffness, damping), (110, 200, 250))):
        for path, value in zip(paths, values):
            sim[path] = value
        sim.run(keep="position")
        lines.append((np.arange(31), sim.state("position")[:, 0, 2], color))
    dots = [([step], [place[2]], (240, 240, 240)) for step, place in zip(at, seen)]
    save(sys.argv[-1], beside(sim.render(8, width=320, height=240), curves(lines + dots)))
