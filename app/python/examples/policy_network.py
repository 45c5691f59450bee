"""A small network that leads a marionette: it is told where the chain's end should touch, and says how
the hand moves; it learns by the derivatives of the simulation, sixteen targets at a time.
"""

import pathlib
import sys

import hindcast as hc
import hindcast.jax
import jax
import jax.numpy as jnp
import numpy as np

scene = pathlib.Path(__file__).resolve().parents[3] / "scenes" / "marionette.json"
simulate = hindcast.jax.simulation(scene, inputs=["hand.places"], outputs=["final:position"])
(rest,) = simulate.initial()  # [90, 3]: the hand stays where it is
bends, hidden = 6, 32  # the hand's path bends so often


def policy(weights, target):
    """From a target to a path of the hand."""
    x = jnp.tanh(weights["in"] @ (target - jnp.array([0.5, 0.0, 1.2])) + weights["bias"])
    x = jnp.tanh(weights["middle"] @ x)
    points = 0.8 * jnp.tanh(weights["out"] @ x).reshape(bends, 3)
    points = jnp.concatenate([jnp.zeros((1, 3)), points])  # it begins where it is
    times = jnp.linspace(0, bends, rest.shape[0])
    moved = jax.vmap(lambda y: jnp.interp(times, jnp.arange(bends + 1), y), 1, 1)(points)
    return rest + moved


def miss(weights, target):
    end = simulate(policy(weights, target))[0]
    return jnp.sum((end - target) ** 2)


def loss(weights, targets):
    return jnp.mean(jax.vmap(lambda target: miss(weights, target))(targets))


def random_targets(key, count):
    low, high = jnp.array([0.3, -0.4, 1.0]), jnp.array([0.8, 0.4, 1.4])
    return jax.random.uniform(key, (count, 3), minval=low, maxval=high)


@jax.jit
def train(weights, moments, step, key):
    """One step of Adam."""
    value, slope = jax.value_and_grad(loss)(weights, random_targets(key, 16))
    first, second = moments
    first = jax.tree.map(lambda m, g: 0.9 * m + 0.1 * g, first, slope)
    second = jax.tree.map(lambda v, g: 0.99 * v + 0.01 * g * g, second, slope)
    rate = 0.01 * jnp.sqrt(1 - 0.99 ** (step + 1)) / (1 - 0.9 ** (step + 1))
    change = lambda w, m, v: w - rate * m / (jnp.sqrt(v) + 1e-8)
    return jax.tree.map(change, weights, first, second), (first, second), value


key = jax.random.key(0)
sizes = {"in": (hidden, 3), "bias": (hidden,), "middle": (hidden, hidden), "out": (bends * 3, hidden)}
keys = dict(zip(sizes, jax.random.split(key, len(sizes))))
weights = {k: jax.random.normal(keys[k], shape) * 0.5 / shape[-1] ** 0.5 for k, shape in sizes.items()}
moments = (jax.tree.map(jnp.zeros_like, weights),) * 2
unseen = random_targets(jax.random.key(99), 24)  # never trained on
before = float(loss(weights, unseen))
history = []
for step in range(150):
    weights, moments, value = train(weights, moments, step, jax.random.fold_in(key, step))
    history.append(float(value))
after = float(loss(weights, unseen))
print(f"distance to targets that it has not seen: {before**0.5:.3f} m, then {after**0.5:.3f} m")
assert after < 0.02 * before

if "--picture" in sys.argv:
    from drawing import above, beside, curves, save, smaller

    sim = hc.load(scene)
    shown = []
    for target in ([0.4, -0.3, 1.1], [0.75, -0.3, 1.3], [0.4, 0.3, 1.3], [0.75, 0.3, 1.1]):
        sim["touch.target"] = target
        sim["hand.places"] = np.array(policy(weights, jnp.array(target)))
        camera = {"eye": [0.9, -1.9, 1.7], "target": [0.35, 0, 1.3]}
        shown.append(smaller(sim.render(width=1040, height=800, camera=camera), 4))
    learned = curves([(np.arange(150), np.log10(history), (110, 200, 250))], 240, 406)
    save(sys.argv[-1], beside(above(*shown[:2]), above(*shown[2:]), learned))
