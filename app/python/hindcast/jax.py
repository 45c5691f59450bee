"""Simulations as functions of JAX: under jit, grad, jvp, vmap, jacfwd, jacrev, hessian and scan.

    import hindcast.jax
    loss = hindcast.jax.simulation("scene.json", inputs=["cage.rest_length"], precision="f64")
    jax.value_and_grad(loss)(rest)

A simulation is five primitives, each of which XLA calls in C++ (jax_functions.cpp): its value, its
derivative along a direction, the transpose of that, and the derivatives of both (_jax_rules.py).
Third derivatives are an error.
"""

import functools
import pathlib

import numpy as np

from hindcast import _core
from hindcast._errors import ArgumentError

try:
    import jax
    import jax.numpy as jnp

    from hindcast._jax_rules import five_primitives
except ImportError as error:  # pragma: no cover
    raise ImportError("hindcast.jax needs JAX 0.10 or newer: pip install 'jax>=0.10'") from error

if not hasattr(_core, "_jax_targets"):
    raise ImportError(
        "this build of hindcast has no handlers for JAX: jaxlib was not there when it was built"
    )


@functools.cache
def _register():
    # Once there is a client, which takes types and handlers in this order; what is registered
    # before, it takes in the other one, which is an error.
    jax.devices("cpu")
    jax.ffi.register_ffi_type("hindcast_state", _core._jax_state_type(), platform="cpu")
    for name, stages in _core._jax_targets().items():
        jax.ffi.register_ffi_target(name, stages, platform="cpu")


_calls = five_primitives("hindcast", "simulation", _register)


# ---- what users call -------------------------------------------------------------------------------------


class Simulation:
    """A function of JAX: takes the inputs in the order given and returns the output, or a dict of
    them by name if there are several."""

    def __init__(self, function, precision):
        self._function = function
        self._dtype = np.dtype(np.float64 if precision == "f64" else np.float32)
        self.inputs = tuple(function.paths)
        self.shapes = tuple(function.shapes)
        self.outputs = tuple(function.output_names)
        self.output_shapes = tuple(function.output_shapes)

    def initial(self):
        """The inputs as the scene has them."""
        values, arrays, first = np.asarray(self._function.scene_values), [], 0
        for shape in self.shapes:
            size = int(np.prod(shape, dtype=int))
            arrays.append(jnp.asarray(values[first : first + size].reshape(shape), self._dtype))
            first += size
        return tuple(arrays)

    def __call__(self, *values):
        if len(values) == 1 and isinstance(values[0], dict):
            unknown = set(values[0]) - set(self.inputs)
            missing = set(self.inputs) - set(values[0])
            if unknown or missing:
                raise ArgumentError(
                    f"the inputs are {', '.join(self.inputs)}; given are {', '.join(values[0])}"
                )
            values = tuple(values[0][path] for path in self.inputs)
        if len(values) != len(self.inputs):
            raise ArgumentError(
                f"{len(values)} values are given for the inputs {', '.join(self.inputs)}"
            )
        _check_x64(self._dtype)
        flat = []
        for path, shape, value in zip(self.inputs, self.shapes, values):
            value = jnp.asarray(value)
            if value.shape != shape:
                raise ArgumentError(
                    f"{path}: the shape is {value.shape}, but the scene's value has {shape}"
                )
            if jnp.issubdtype(value.dtype, jnp.complexfloating):
                raise ArgumentError(f"{path}: complex numbers cannot be taken")
            flat.append(jnp.ravel(value).astype(self._dtype))
        y = _calls.value.bind(
            jnp.concatenate(flat), function=self._function, batch=(), has=((),)
        )
        results, first = {}, 0
        for name, shape in zip(self.outputs, self.output_shapes):
            size = int(np.prod(shape, dtype=int))
            results[name] = y[first : first + size].reshape(shape)
            first += size
        return results if len(results) > 1 else results[self.outputs[0]]

    def __repr__(self):
        def named(names, shapes):
            return ", ".join(f"{p}: {s}" for p, s in zip(names, shapes))

        return (
            f"hindcast.jax.simulation({named(self.inputs, self.shapes)}) -> "
            f"{named(self.outputs, self.output_shapes)}"
        )


def _check_x64(dtype):
    if dtype == np.float64 and not jax.config.jax_enable_x64:
        raise ValueError(
            "precision 'f64' needs 64-bit numbers in JAX: "
            "jax.config.update('jax_enable_x64', True), or use precision='f32'"
        )


def simulation(scene, inputs, outputs=("loss",), precision="f32", device=None, steps=None):
    """A scene as a function of JAX.

    scene: a file, or its text or dict. inputs: paths of values that have gradients, such as
    "cage.stiffness"; the function takes them in this order, each in the shape that the scene's value
    has (one number for a value that all elements share), or as one dict. outputs: "loss", the scene's
    objective; "final:NAME", a state array after the last step, such as "final:position" of shape
    [points, 3]; "state:NAME", the same before the first step and after each, [steps + 1, points, 3].
    precision: "f32" or "f64",
    which needs jax_enable_x64. device: a hindcast.Device; compiled code on all processors if none
    is named. steps: instead of the scene's.
    """
    if isinstance(outputs, str):
        raise ArgumentError("outputs: a list of names is expected, not one text")
    if precision not in ("f32", "f64"):
        raise ArgumentError(f"precision: '{precision}' is neither 'f32' nor 'f64'")
    if isinstance(inputs, str):
        raise ArgumentError("inputs: a list of paths is expected, not one text")
    dtype = np.dtype(np.float64 if precision == "f64" else np.float32)
    _check_x64(dtype)
    text, file = "", ""
    if isinstance(scene, dict):
        import json

        text = json.dumps(scene)
    elif isinstance(scene, pathlib.PurePath) or not scene.lstrip().startswith("{"):
        file = str(scene)
    else:
        text = scene
    function = _core.SceneFunction(
        text, file, list(inputs), list(outputs), device, precision, -1 if steps is None else steps
    )
    return Simulation(function, precision)
