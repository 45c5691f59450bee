"""The stiffness of springs from where a ball was, with optax: a simulation in a jitted training loop.

What is seen is simulated with 140 N/m, which is then forgotten; the search begins at 60 N/m.
"""

import json
import pathlib
import sys

import jax

jax.config.update("jax_enable_x64", True)
import hindcast as hc
import hindcast.jax
import jax.numpy as jnp
import numpy as np
import optax

file = pathlib.Path(__file__).resolve().parents[3] / "scenes" / "spring_cage.json"
scene = json.loads(file.read_text())
scene["forces"][0]["stiffness"] = 140
truth = hc.scene(scene)
truth.run(keep="position")
at = list(range(2, 31, 2))
seen = truth.state("position")[at, 0]
scene["objective"] = [
    {
        "type": "trajectory",
        "of": "ball",
        "points": [0],
        "at": [step / 30 for step in at],
        "targets": seen.tolist(),
    }
]
loss = hindcast.jax.simulation(scene, inputs=["cage.stiffness"], precision="f64")
rule = optax.adam(0.1)


@jax.jit
def update(log_stiffness, state):
    value, gradient = jax.value_and_grad(lambda z: loss(jnp.exp(z)))(log_stiffness)
    change, state = rule.update(gradient, state)
    return optax.apply_updates(log_stiffness, change), state, value


z = jnp.log(60.0)
state = rule.init(z)
history = []
for iteration in range(150):
    before = z
    z, state, value = update(z, state)
    history.append((float(jnp.exp(before)), float(value)))
stiffness = float(jnp.exp(z))
print(f"{stiffness:.4f} N/m after {len(history)} iterations, loss {history[-1][1]:.2e}")
assert abs(stiffness - 140) < 0.1
assert history[-1][1] < 1e-6 * history[0][1]

if "--picture" in sys.argv:
    from drawing import beside, curves, save

    height = hc.scene(scene)
    lines = []
    for value, color in ((60.0, (235, 120, 90)), (history[12][0], (230, 190, 90)), (stiffness, (110, 200, 250))):
        height["cage.stiffness"] = value
        height.run(keep="position")
        lines.append((np.arange(31), height.state("position")[:, 0, 2], color))
    dots = [([k], [z], (240, 240, 240)) for k, z in zip(at, seen[:, 2])]
    search = np.array(history)
    found = [(np.arange(150), np.log10(search[:, 1] + 1e-16), (110, 200, 250))]
    save(sys.argv[-1], beside(height.render(width=320, height=240), curves(lines + dots), curves(found)))
