"""Simulations and kernels as functions of PyTorch: under autograd, torch.func and torch.compile.

    import hindcast.torch
    loss = hindcast.torch.simulation("scene.json", inputs=["cage.rest_length"], precision="f64")
    loss(rest).backward()

    f = hindcast.torch.kernel(scale, dim="x", outputs={"y": hindcast.written()})
    f(x=x, k=2.0)

Both have derivatives up to the second ones, in both modes (_torch_rules.py), and are on the host.
"""

import math

import numpy as np

from hindcast import _kernel_functions, _scene_functions
from hindcast._errors import ArgumentError

try:
    import torch
except ImportError as error:  # pragma: no cover
    raise ImportError("hindcast.torch needs PyTorch: pip install torch") from error

# Also part of the public names of this module.
from hindcast import _torch_rules  # noqa: E402
from hindcast._kernel_parameters import DTYPES  # noqa: E402
from hindcast._starts import Call, copy_of, fill, in_out, written  # noqa: E402
from hindcast._starts import starts_zero as zeros  # noqa: E402

__all__ = [
    "Simulation",
    "callable",
    "copy_of",
    "fill",
    "in_out",
    "kernel",
    "simulation",
    "written",
    "zeros",
]


def _require_host(name, tensor, what):
    if tensor.device.type != "cpu":
        raise ArgumentError(
            f"{name}: the tensor is on '{tensor.device}', and {what} take tensors on the host: x.cpu()"
        )


# ---- what users call -------------------------------------------------------------------------------------


class Simulation(_scene_functions.Simulation):
    """A function of PyTorch; simulation() makes it.

    inputs, shapes, outputs, output_shapes: what it takes and gives, by name. dtype: of the tensors.
    """

    _library = "torch"

    def __init__(self, function, arguments):
        super().__init__(function, arguments)
        self.dtype = torch.float64 if self._precision == "f64" else torch.float32
        self._held = _torch_rules.Called(
            "simulation",
            [(function.input_size, self.dtype)],
            [(function.output_size, self.dtype)],
            [],
            [],
            lambda kind, *rows: [function.rows(kind, *rows)],
        )
        self._key = self._held.key

    def initial(self):
        """The inputs as the scene has them: new tensors."""
        return tuple(torch.as_tensor(value) for value in self._scene_values())

    def __call__(self, *values):
        """The output, or a dict of them by name if there are several, of the inputs in the order
        given or in one dict by name. Numbers, lists and NumPy arrays become tensors."""
        flat = []
        for path, shape, value in zip(self.inputs, self.shapes, self._in_order(values)):
            if not isinstance(value, torch.Tensor):
                value = torch.as_tensor(value, dtype=self.dtype)
            self._check_shape(path, value.shape, shape)
            _require_host(path, value, "simulations")
            if value.dtype != self.dtype:
                raise ArgumentError(
                    f"{path}: the tensor holds {value.dtype}, and the simulation {self.dtype}: "
                    f"x.to({self.dtype}), or another precision of the simulation"
                )
            flat.append(value if value.dim() == 1 else value.reshape(-1))
        # Every operation here is a node of the graph, which takes longer than a small simulation.
        x = flat[0] if len(flat) == 1 else torch.cat(flat)
        return self._named(_torch_rules.call(self._key, x)[0])


def simulation(scene, inputs, outputs=("loss",), precision="f32", device=None, steps=None):
    """A scene as a function of PyTorch.

    scene: a file, or its text or dict. inputs: paths of values that have gradients, such as
    "cage.stiffness"; the function takes them in this order, each in the shape that the scene's value
    has (one number for a value that all elements share), or as one dict. outputs: "loss", the scene's
    objective; "final:NAME", a state array after the last step, such as "final:position" of shape
    [points, 3]; "state:NAME", the same before the first step and after each, [steps + 1, points, 3].
    precision: "f32" or "f64", which tensors must have as well; they are on the host. device: where the
    simulation runs, a hindcast.Device or its name; compiled code on all processors if none is named.
    steps: instead of the scene's. A call with a value that the scene cannot have, such as a negative
    stiffness, raises the error of sim[path] = value.
    """
    return Simulation(*_scene_functions.load(scene, inputs, outputs, precision, device, steps))


class KernelFunction(_kernel_functions.KernelFunction):
    """A function of PyTorch that runs kernels."""

    _library = "torch"

    def _taken(self, name, value):
        weak = not isinstance(value, (torch.Tensor, np.ndarray, np.generic))
        tensor = value if isinstance(value, torch.Tensor) else torch.as_tensor(value)
        _require_host(name, tensor, "kernels")
        if weak and tensor.dtype.is_floating_point:
            tensor = torch.as_tensor(value, dtype=torch.float64)  # all digits of Python's numbers
        family = "real" if tensor.dtype.is_floating_point else "integer"
        if tensor.dtype.is_complex or tensor.dtype == torch.bool:
            family = "other"
        return tensor, _OF_TORCH.get(tensor.dtype, tensor.dtype), family, weak

    def _cast(self, tensor, dtype):
        return tensor.to(_torch_rules.of_dtype(dtype))

    def _conversion(self, name, dtype):
        return f"{name}.to(torch.{'get_default_dtype()' if dtype is None else dtype.name})"

    def _usual_precision(self):
        return "f64" if torch.get_default_dtype() == torch.float64 else "f32"

    # Decisions by shapes and records are not traced: torch.compile leaves its graph for the call.
    @torch.compiler.disable
    def __call__(self, *args, **named):
        return super().__call__(*args, **named)

    def _run(self, recorded, operands):
        called = getattr(recorded, "called", None)
        if called is None:
            sides = recorded.inputs, recorded.outputs, recorded.constants, recorded.others
            called = recorded.called = _torch_rules.Called(
                "kernel", *([_flat(*s) for s in side] for side in sides), recorded.handle.run
            )
        results = _torch_rules.call(called.key, *(o.reshape(-1) for o in operands))
        shapes = [shape for shape, _ in (*recorded.outputs, *recorded.others)]
        return [result.reshape(shape) for result, shape in zip(results, shapes)]


_OF_TORCH = {_torch_rules.of_dtype(np.dtype(d)): np.dtype(d) for d in DTYPES.values()}


def _flat(shape, dtype):
    return math.prod(shape), _torch_rules.of_dtype(dtype)


def kernel(kernel, dim, outputs, inputs=None, precision=None, device=None, temporaries=None, **names):
    """A kernel as a function of PyTorch, with its derivatives up to the second ones.

    outputs: {name: how it begins}. hc.torch.zeros(), the default of what is added to; hc.fill(value);
    hc.written(), where every element is stored, which is looked at; hc.copy_of("name") or
    hc.in_out("name"), as an input, which stays as it is; or an array of values. Each but the last three
    takes shape=, a tuple or a function of the inputs' shapes, where the kernel does not tell: what is
    stored at the own index has `dim` elements. dim: a number, the name of an input for its length, or
    a function of the inputs' shapes. inputs: their names in the order of arguments by place; all that
    the kernel reads, in its order, if left out. precision: of reals, if not that of the tensors given.
    names: which tensor a parameter takes, where names differ.
    """
    return callable([Call(kernel, dim, names)], inputs, outputs, precision, device, temporaries)


def callable(calls, inputs=None, outputs=None, precision=None, device=None, temporaries=None):  # noqa: A001
    """Kernels one after the other as one function of PyTorch, differentiated as a whole.

    calls: a list of hc.call(kernel, dim, ...). Equal names are one tensor. outputs: as those of
    hc.torch.kernel. temporaries: how what is written and is no output begins, where the kernels do not
    tell.
    """
    return KernelFunction(
        _kernel_functions.checked_calls(calls, outputs), inputs, outputs, precision, device, temporaries
    )
