"""What hindcast.jax.simulation and hindcast.torch.simulation share: a scene as a function between
two flat vectors, and the names and shapes of what is in them.
"""

import json
import math
import os
from collections.abc import Mapping

import numpy as np

from hindcast import _core
from hindcast._errors import ArgumentError
from hindcast.scenes import _options


def _listed(names, argument, what):
    if isinstance(names, str):
        raise ArgumentError(f"{argument}: a list of {what} is expected, not one text")
    return [str(name) for name in names]


def dtype_of(precision):
    return np.dtype(np.float64 if precision == "f64" else np.float32)


def load(scene, inputs, outputs, precision, device, steps):
    """What Simulation() takes for a scene: a file, or its text or dict."""
    inputs = _listed(inputs, "inputs", "paths")
    outputs = _listed(outputs, "outputs", "names")
    device, precision, steps, _ = _options(device, precision, steps, 0)
    text, file = "", ""
    if isinstance(scene, Mapping):
        text = json.dumps(dict(scene))
    elif isinstance(scene, str) and scene.lstrip().startswith("{"):
        text = scene
    elif isinstance(scene, (str, os.PathLike)):
        file = os.fsdecode(os.fspath(scene))
    else:
        raise ArgumentError(
            f"scene: a file, or its text or dict is expected, not {type(scene).__name__}"
        )
    arguments = inputs, outputs, device, precision, steps
    return _core.SceneFunction(text, file, *arguments), arguments


def _made_again(kind, text, file, arguments):
    return kind(_core.SceneFunction(text, file, *arguments), arguments)


class Simulation:
    """A function of a scene's values: what it takes and gives. Libraries of automatic
    differentiation add how it is called."""

    _library = ""

    def __init__(self, function, arguments):
        self._function = function
        self._arguments = arguments  # inputs, outputs, device, precision, steps
        self._precision = precision = arguments[3]
        self._numpy_dtype = dtype_of(precision)
        self.inputs = tuple(function.paths)
        self.shapes = tuple(function.shapes)
        self.outputs = tuple(function.output_names)
        self.output_shapes = tuple(function.output_shapes)

    def __reduce__(self):
        return _made_again, (type(self), *self._function.scene, self._arguments)

    def _scene_values(self):
        """The inputs as the scene has them, as NumPy arrays."""
        return [
            part.reshape(shape).astype(self._numpy_dtype)
            for part, shape in zip(
                _parts(np.asarray(self._function.scene_values), self.shapes), self.shapes
            )
        ]

    def _in_order(self, values):
        """The values that a call is given, one for each input: by position, or in one dict."""
        if len(values) == 1 and isinstance(values[0], Mapping):
            if set(values[0]) != set(self.inputs):
                raise ArgumentError(
                    f"the inputs are {', '.join(self.inputs)}; "
                    f"given are {', '.join(map(str, values[0]))}"
                )
            values = tuple(values[0][path] for path in self.inputs)
        if len(values) != len(self.inputs):
            raise ArgumentError(
                f"{len(values)} values are given for the inputs {', '.join(self.inputs)}"
            )
        return values

    def _check_shape(self, path, shape, needed):
        if tuple(shape) != tuple(needed):
            raise ArgumentError(
                f"{path}: the shape is {tuple(shape)}, but the scene's value has {needed}"
            )

    def _named(self, y):
        """The output of a flat vector, or a dict of them by name if there are several."""
        if len(self.outputs) == 1:
            return y.reshape(self.output_shapes[0])
        return {
            name: part.reshape(shape)
            for name, part, shape in zip(
                self.outputs, _parts(y, self.output_shapes), self.output_shapes
            )
        }

    def __repr__(self):
        def listed(names, shapes):
            return ", ".join(f"{name}: {shape}" for name, shape in zip(names, shapes))

        return (
            f"hindcast.{self._library}.simulation({listed(self.inputs, self.shapes)}) -> "
            f"{listed(self.outputs, self.output_shapes)}"
        )


def _parts(flat, shapes):
    first = 0
    for shape in shapes:
        size = math.prod(shape)
        yield flat[first : first + size]
        first += size
