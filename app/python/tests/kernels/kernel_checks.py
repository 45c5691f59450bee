"""What the tests of kernels share: runs on both devices, and derivatives against differences."""

import inspect

import hindcast as hc
import numpy as np
import pytest

DEVICES = {name: hc.device(name) for name in ("interpreter", "cpu")}


def forward(kernel, dim, outputs, **arguments):
    """Runs on both devices, which must give the same bits; the outputs by name."""
    found = []
    for device in DEVICES.values():
        given = {k: v.copy() if isinstance(v, np.ndarray) else v for k, v in arguments.items()}
        launch = hc.record(kernel, dim, device=device, **given)
        launch.forward()
        found.append({name: launch[name].numpy().copy() for name in outputs})
    for name in outputs:
        assert found[0][name].tobytes() == found[1][name].tobytes(), name
    return found[1] if len(outputs) > 1 else found[1][outputs[0]]


def gradients(kernel, dim, output, inputs, seed, **arguments):
    """The adjoint with a seed of the output: gradients of the inputs, the same on both devices."""
    found = []
    for device in DEVICES.values():
        given = {
            k: hc.array(v.copy()) if isinstance(v, np.ndarray) else v for k, v in arguments.items()
        }
        launch = hc.record(kernel, dim, device=device, **given)
        launch.forward()
        launch[output].grad.numpy()[...] = seed
        launch.adjoint()
        found.append([
            launch[n].grad.numpy().copy() if isinstance(arguments[n], np.ndarray)
            else np.array(launch.grad(n))
            for n in inputs
        ])
    for a, b in zip(*found):
        assert a.tobytes() == b.tobytes()
    return found[0]


def check(kernel, dim, output, inputs, **arguments):
    """f64: adjoint and tangent against central differences, for each component, along a random
    direction and along the gradient's own."""
    rng = np.random.default_rng(1)

    def value(**given):
        return forward(kernel, dim, [output], **given)

    y = value(**arguments)
    seed = rng.standard_normal(y.shape)
    found = gradients(kernel, dim, output, inputs, seed, **arguments)
    directions = [[rng.standard_normal(np.shape(arguments[n])) for n in inputs]]
    length = np.sqrt(sum(np.sum(g**2) for g in found))
    assert length > 0
    directions.append([g / length for g in found])
    for name_k, name in enumerate(inputs):
        for c in np.ndindex(np.shape(arguments[name])):
            unit = [np.zeros(np.shape(arguments[n])) for n in inputs]
            unit[name_k][c] = 1
            directions.append(unit)
    for direction in directions:
        h = 1e-5
        ends = []
        for sign in (1, -1):
            moved = dict(arguments)
            for n, d in zip(inputs, direction):
                moved[n] = moved[n] + sign * h * (d if d.shape else float(d))
            ends.append(value(**moved))
        slope = (ends[0] - ends[1]) / (2 * h)
        expected = np.sum(seed * slope)
        got = sum(np.sum(g * d) for g, d in zip(found, direction))
        assert got == pytest.approx(expected, rel=2e-7, abs=2e-8 * length)
        if all(isinstance(arguments[n], np.ndarray) for n in inputs):
            given = {k: hc.array(v.copy()) if isinstance(v, np.ndarray) else v
                     for k, v in arguments.items()}
            launch = hc.record(kernel, dim, **given)
            for n, d in zip(inputs, direction):
                launch[n].tangent.numpy()[...] = d
            launch.tangent()
            assert np.allclose(launch[output].tangent.numpy(), slope, rtol=1e-6, atol=1e-7)


def line_of(function, text):
    """Line of the first source line of the function with this text."""
    lines, first = inspect.getsourcelines(function)
    return next(first + k for k, line in enumerate(lines) if text in line)
