"""A simulation that XLA calls in C++: jitted, differentiated twice, batched, within a loop of JAX.

Newton's method, kept going downhill, finds the eight rest lengths of a cage of springs that carry a ball to its target. A call
raises an error for a length below zero, which the steps therefore avoid.
"""

import pathlib

import jax

jax.config.update("jax_enable_x64", True)
import hindcast.jax
import jax.numpy as jnp

scene = pathlib.Path(__file__).resolve().parents[3] / "scenes" / "spring_cage.json"
loss = hindcast.jax.simulation(scene, inputs=["cage.rest_length"], precision="f64")
(rest,) = loss.initial()


@jax.jit
def newton(rest):
    def step(rest, _):
        value, gradient = jax.value_and_grad(loss)(rest)
        curvatures, axes = jnp.linalg.eigh(jax.hessian(loss)(rest))
        # Downhill along every axis, also where the loss bends the other way.
        along = (axes.T @ gradient) / jnp.maximum(jnp.abs(curvatures), 0.1)
        return jnp.maximum(rest - axes @ along, 0.01), value

    return jax.lax.scan(step, rest, None, 30)


rest, losses = newton(rest)
for iteration, value in enumerate(losses):
    print(iteration, f"{value:.3e}")
final = loss(rest)
print("at the end", f"{final:.3e}")
assert final < 1e-12 * losses[0]

around = jnp.stack([rest * s for s in jnp.linspace(0.9, 1.1, 16)])
print("around it", jax.jit(jax.vmap(loss))(around))
