"""Calls, traces and functions that are dropped leave resident memory where it was."""

import gc
import os

import hindcast as hc
import numpy as np
import pytest

# One ball that falls for two steps: what a call costs is all that there is.
BALL = {
    "format": 1,
    "time": {"step": "1/64", "steps": 2},
    "gravity": [0, 0, -9.81],
    "bodies": [{"type": "particles", "name": "ball", "positions": [[0, 0, 1]], "mass": 1}],
    "objective": [{"type": "point_target", "of": "ball", "target": [0, 0, 0]}],
}
PATHS = ["ball.velocity"]
MIB = 1 << 20


def resident():
    gc.collect()
    with open("/proc/self/statm") as file:
        return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")


def growth(work, times, warm):
    """Bytes that so many calls leave behind, after some that fill what is filled once."""
    for _ in range(warm):
        work()
    before = resident()
    for _ in range(times):
        work()
    return resident() - before


# The height after two steps of 1/64 s, z - g h^2 (1 + 2), and what the objective makes of it.
HEIGHT = 1 - 9.81 * 3 / 64**2


def test_gradients_of_a_simulation():
    sim = hc.scene(BALL)
    assert abs(sim.run() - HEIGHT**2) < 1e-12
    assert growth(lambda: sim.value_and_grad(PATHS), 100_000, 5_000) < 2 * MIB


def test_simulations_that_are_dropped():
    assert growth(lambda: hc.scene(BALL).value_and_grad(PATHS), 500, 100) < 2 * MIB


def test_batches():
    sim = hc.scene(BALL)
    envs = sim.batch(3)

    def episode():
        saved = envs.save()
        envs.step({"gravity": [0, 0, -9.81]}, steps=2)
        envs.observe(["position", "velocity"])
        envs.value_and_grad(PATHS)
        envs.reset(envs.done)
        envs.vjp(["gravity"], 2, loss=1.0)
        envs.restore(saved)

    assert growth(episode, 5_000, 500) < 2 * MIB
    assert growth(lambda: sim.batch(3).step(steps=2), 300, 60) < 2 * MIB


def test_launches_and_arrays():
    @hc.kernel
    def scale(i: hc.Int, x: hc.Read[hc.real], y: hc.Write[hc.real]):
        y[i] = 2 * x[i]

    x, y = np.ones(8), np.zeros(8)
    launch = hc.record(scale, dim=8, x=x, y=y)
    assert growth(launch.forward, 100_000, 1_000) < 2 * MIB
    assert growth(lambda: hc.array(x).numpy(), 20_000, 1_000) < 2 * MIB
    assert growth(lambda: hc.record(scale, dim=8, x=x, y=y).forward(), 2_000, 200) < 2 * MIB


class TestJax:
    @pytest.fixture(autouse=True)
    def _jax(self):
        global jax, jnp
        jax = pytest.importorskip("jax")
        jax.config.update("jax_enable_x64", True)
        import jax.numpy as jnp

        jax.clear_caches()  # they hold functions that other tests have called
        gc.collect()
        self.functions = hc._core._scene_functions()
        yield
        jax.clear_caches()
        gc.collect()
        assert hc._core._scene_functions() == self.functions

    def make(self):
        return hc.jax.simulation(BALL, inputs=PATHS, precision="f64")

    def test_calls_of_a_compiled_function(self):
        loss, zero = jax.jit(self.make()), jnp.zeros(3)
        assert abs(loss(zero) - HEIGHT**2) < 1e-12
        assert growth(lambda: loss(zero), 100_000, 5_000) < 2 * MIB
        gradient = jax.jit(jax.value_and_grad(self.make()))
        assert growth(lambda: gradient(zero), 20_000, 2_000) < 2 * MIB

    def test_traces(self):
        loss, zero = self.make(), jnp.zeros(3)
        trace = lambda: jax.jit(lambda v: jax.grad(loss)(2 * v)).trace(zero)
        assert growth(trace, 500, 100) < 4 * MIB

    def test_compilations(self):
        loss, zero = self.make(), jnp.zeros(3)
        compiled = lambda: jax.jit(lambda v: loss(2 * v))(zero)
        assert growth(compiled, 60, 20) < 4 * MIB

    def test_functions_that_are_dropped(self):
        assert growth(self.make, 500, 50) < 2 * MIB
        # One that was called leaves nothing either; its program alone takes 3 MiB.
        zero = jnp.zeros(3)
        assert growth(lambda: jax.jit(self.make())(zero), 40, 20) < 8 * MIB
        assert growth(lambda: jax.grad(self.make())(zero), 40, 20) < 8 * MIB
        assert hc._core._scene_functions() == self.functions

    def test_what_was_derived_keeps_the_function(self):
        zero = jnp.zeros(3)
        value, transpose = jax.vjp(self.make(), zero)
        gc.collect()
        assert jnp.array_equal(transpose(1.0)[0], jax.grad(self.make())(zero))
