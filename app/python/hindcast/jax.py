"""Simulations and kernels as functions of JAX: under jit, grad, jvp, vmap, jacfwd, jacrev, hessian
and scan.

    import hindcast.jax
    loss = hindcast.jax.simulation("scene.json", inputs=["cage.rest_length"], precision="f64")
    jax.value_and_grad(loss)(rest)

    f = hindcast.jax.kernel(scale, dim="x", outputs={"y": hindcast.written()})
    f(x=x, k=2.0)

On several devices (jax.shard_map, jax.sharding) a batch is divided: its leading axes whose sizes are
multiples of the number of devices. Members are never divided; other operands are gathered. Functions can
be pickled, and exported by jax.export (register, export_checks).

A simulation is five primitives, each of which XLA calls in C++ (jax_functions.cpp): its value, its
derivative along a direction, the transpose of that, and the derivatives of both (_jax_rules.py).
Third derivatives are an error.
"""

import functools

from hindcast import _core, _exports, _scene_functions
from hindcast._errors import ArgumentError

try:
    import jax
    import jax.export
    import jax.numpy as jnp

    from hindcast._jax_rules import (
        check_x64,
        cuda_target,
        five_primitives,
        held_weakly,
        register_calls,
        undivided,
    )
except ImportError as error:  # pragma: no cover
    raise ImportError("hindcast.jax needs JAX 0.10 or newer: pip install 'jax>=0.10'") from error

if not hasattr(_core, "_jax_targets"):
    raise ImportError(
        "this build of hindcast has no handlers for JAX: jaxlib was not there when it was built"
    )

# Also part of the public names of this module.
from hindcast import _jax_kernels  # noqa: E402
from hindcast._jax_kernels import callable_ as callable  # noqa: A004, E402
from hindcast._jax_kernels import kernel  # noqa: E402
from hindcast._starts import copy_of, fill, in_out, written  # noqa: E402
from hindcast._starts import starts_zero as zeros  # noqa: E402


@functools.cache
def _register():
    register_calls(
        ("hindcast_state", _core._jax_state_type(), _core._jax_targets()),
        ("hindcast_cuda_state", _core._jax_cuda_state_type(), _core._jax_cuda_targets()),
    )


_calls = five_primitives(
    "hindcast",
    "simulation",
    _register,
    {"cpu": None, "cuda": cuda_target("hindcast", batches=False)},
)


@held_weakly
class _Scene:
    """What the five primitives take: one flat input, one flat output."""

    def __init__(self, function, arguments, dtype):
        self.handle, self.number, self.arguments = function, function.number, arguments
        self.inputs = [((function.input_size,), dtype)]
        self.outputs = [((function.output_size,), dtype)]
        self.constants, self.others, self.aliases, self.compiled = [], [], {}, {}

    def text(self):
        return _exports.text_of_scene(*self.handle.scene, self.arguments)


# ---- what users call -------------------------------------------------------------------------------------


class Simulation(_scene_functions.Simulation):
    """A function of JAX; simulation() makes it.

    inputs, shapes, outputs, output_shapes: what it takes and gives, by name.
    """

    _library = "jax"
    _scene = None

    def initial(self):
        """The inputs as the scene has them."""
        return tuple(jnp.asarray(value) for value in self._scene_values())

    def __call__(self, *values):
        """The output, or a dict of them by name if there are several, of the inputs in the order
        given or in one dict by name."""
        check_x64(self._precision)
        flat = []
        for path, shape, value in zip(self.inputs, self.shapes, self._in_order(values)):
            value = jnp.asarray(value)
            self._check_shape(path, value.shape, shape)
            if jnp.issubdtype(value.dtype, jnp.complexfloating):
                raise ArgumentError(f"{path}: complex numbers cannot be taken")
            flat.append(jnp.ravel(undivided(value)).astype(self._numpy_dtype))
        if self._scene is None:
            self._scene = _Scene(self._function, self._arguments, self._numpy_dtype)
        (y,) = _calls.value(self._scene, jnp.concatenate(flat))
        return self._named(y)


def register():
    """Hands the calls of hindcast to JAX. A process needs it before it calls a program that jax.export
    has written elsewhere; whatever is made by this module does it itself."""
    _register()
    _jax_kernels._register()


def export_checks():
    """What jax.export.export(f, disabled_checks=...) is given for an f that calls hindcast: JAX knows
    nothing of its calls. A program that was exported runs with the same version of hindcast, and raises
    an error with another one."""
    return [
        jax.export.DisabledSafetyCheck.custom_call(target)
        for targets in (
            _core._jax_targets(),
            _core._jax_cuda_targets(),
            _core._jax_kernel_targets(),
            _core._jax_cuda_kernel_targets(),
        )
        for target in targets
    ]


def simulation(scene, inputs, outputs=("loss",), precision="f32", device=None, steps=None):
    """A scene as a function of JAX.

    scene: a file, or its text or dict. inputs: paths of values that have gradients, such as
    "cage.stiffness"; the function takes them in this order, each in the shape that the scene's value
    has (one number for a value that all elements share), or as one dict. outputs: "loss", the scene's
    objective; "final:NAME", a state array after the last step, such as "final:position" of shape
    [points, 3]; "state:NAME", the same before the first step and after each, [steps + 1, points, 3].
    precision: "f32", or "f64", which needs jax_enable_x64. device: a hindcast.Device or its name;
    compiled code on all processors if none is named, and in programs on JAX's CUDA platform their own
    device. steps: instead of the scene's. A call with a value that the scene cannot have, such as a
    negative stiffness, raises the error of sim[path] = value; one that stays on a CUDA device gives NaN.
    """
    check_x64(precision)
    return Simulation(*_scene_functions.load(scene, inputs, outputs, precision, device, steps))
