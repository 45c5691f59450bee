"""Simulations as functions of PyTorch: under autograd, torch.func and torch.compile.

    import hindcast.torch
    loss = hindcast.torch.simulation("scene.json", inputs=["cage.rest_length"], precision="f64")
    loss(rest).backward()

A simulation is one function of autograd in five kinds that are each other's derivatives, as those of
hindcast.jax are (_jax_rules.py):

    value (x)         y
    jvp   (x, t)      J t
    vjp   (x, c)      transpose of J, times c
    hvp   (x, c, u)   the derivative of vjp along u
    jvp2  (x, t, u)   the derivative of jvp along u

Third derivatives are an error. Operands are [batch..., size], with as many batch axes each; an axis of
one is what the members of a batch share. vmap adds an axis, and a batch is one call of C++: the
ensemble, not a loop.
"""

import weakref

from hindcast import _scene_functions
from hindcast._errors import ArgumentError

try:
    import torch
except ImportError as error:  # pragma: no cover
    raise ImportError("hindcast.torch needs PyTorch: pip install torch") from error

__all__ = ["Simulation", "simulation"]

# For each operand, the kind of its tangent's term and the operands that it takes ("d": the tangent).
# None: third order.
_TANGENTS = {
    "value": (("jvp", (0, "d")),),
    "jvp": (("jvp2", (0, 1, "d")), ("jvp", (0, "d"))),
    "vjp": (("hvp", (0, 1, "d")), ("vjp", (0, "d"))),
    "hvp": (None, ("hvp", (0, "d", 2)), ("hvp", (0, 1, "d"))),
    "jvp2": (None, ("jvp2", (0, "d", 2)), ("jvp2", (0, 1, "d"))),
}
# The same for its adjoint ("d": the result's cotangent).
_ADJOINTS = {
    "value": (("vjp", (0, "d")),),
    "jvp": (("hvp", (0, "d", 1)), ("vjp", (0, "d"))),
    "vjp": (("hvp", (0, 1, "d")), ("jvp", (0, "d"))),
    "hvp": (None, ("jvp2", (0, 2, "d")), ("hvp", (0, 1, "d"))),
    "jvp2": (None, ("hvp", (0, "d", 2)), ("hvp", (0, "d", 1))),
}


# ---- the call of C++ -------------------------------------------------------------------------------------

# By key, which is all that a compiled graph holds of a function. Whoever calls it keeps it.
_functions = weakref.WeakValueDictionary()


class _Function:
    """A scene's function, which graphs of autograd keep."""

    def __init__(self, core):
        self.core = core
        self.key = str(core.number)
        self.input_size, self.output_size = core.input_size, core.output_size
        _functions[self.key] = self

    def result_size(self, kind):
        return self.input_size if kind in ("vjp", "hvp") else self.output_size


def _function_of(key):
    function = _functions.get(key)
    if function is None:
        raise RuntimeError(
            "the simulation of this graph is gone: keep what hindcast.torch.simulation returned"
        )
    return function


def _batch_of(operands):
    return torch.broadcast_shapes(*(operand.shape[:-1] for operand in operands))


@torch.library.custom_op("hindcast::simulation", mutates_args=())
def _run(kind: str, key: str, operands: list[torch.Tensor]) -> torch.Tensor:
    function = _function_of(key)
    batch = _batch_of(operands)
    rows = [o.expand(*batch, -1).reshape(-1, o.shape[-1]).numpy() for o in operands]
    result = torch.from_numpy(function.core.rows(kind, *rows)).to(operands[0].dtype)
    return result.reshape(*batch, function.result_size(kind))


@_run.register_fake
def _(kind, key, operands):
    return operands[0].new_empty((*_batch_of(operands), _function_of(key).result_size(kind)))


# ---- autograd --------------------------------------------------------------------------------------------


class _Call(torch.autograd.Function):
    """_run with its derivatives."""

    @staticmethod
    def forward(kind, function, *operands):
        return _run(kind, function.key, list(operands))

    @staticmethod
    def setup_context(ctx, inputs, output):
        ctx.kind, ctx.function, *operands = inputs
        ctx.set_materialize_grads(False)
        ctx.save_for_backward(*operands)
        ctx.save_for_forward(*operands)

    @staticmethod
    def backward(ctx, cotangent):
        operands = ctx.saved_tensors
        results = [None] * len(operands)
        for k, (operand, adjoint) in enumerate(zip(operands, _ADJOINTS[ctx.kind])):
            if cotangent is None or adjoint is None or not ctx.needs_input_grad[2 + k]:
                continue
            # What the members of a batch share comes together.
            results[k] = _term(ctx.function, adjoint, operands, cotangent).sum_to_size(operand.shape)
        return None, None, *results

    @staticmethod
    def jvp(ctx, _kind, _function, *tangents):
        total = None
        for tangent, rule in zip(tangents, _TANGENTS[ctx.kind]):
            if tangent is not None and rule is not None:
                term = _term(ctx.function, rule, ctx.saved_tensors, tangent)
                total = term if total is None else total + term
        return total

    @staticmethod
    def vmap(info, in_dims, kind, function, *operands):
        moved = [
            operand.unsqueeze(0) if axis is None else operand.movedim(axis, 0)
            for operand, axis in zip(operands, in_dims[2:])
        ]
        return _Call.apply(kind, function, *moved), 0


def _term(function, rule, operands, d):
    kind, taken = rule
    x, *others = (d if k == "d" else operands[k] for k in taken)
    if kind in ("hvp", "jvp2"):
        x = _Last.apply(x)
    return _Call.apply(kind, function, x, *others)


class _Last(torch.autograd.Function):
    """x of a second derivative: the same, but not to be differentiated. That what it is used for
    needs a derivative does not say that x does, so that its own rule raises."""

    error = "third derivatives of a simulation: hindcast has its first and second ones"

    @staticmethod
    def forward(x):
        return x.clone()

    @staticmethod
    def setup_context(ctx, inputs, output):
        pass

    @staticmethod
    def backward(ctx, cotangent):
        raise NotImplementedError(_Last.error)

    @staticmethod
    def jvp(ctx, tangent):
        raise NotImplementedError(_Last.error)

    @staticmethod
    def vmap(info, in_dims, x):
        return _Last.apply(x), in_dims[0]


# Dynamo puts it into its graphs as it stands; what is behind it is traced by AOTAutograd, with the
# shapes of register_fake.
@torch.compiler.allow_in_graph
def _value(key, x):
    return _Call.apply("value", _function_of(key), x)


# ---- what users call -------------------------------------------------------------------------------------


class Simulation(_scene_functions.Simulation):
    """A function of PyTorch; simulation() makes it.

    inputs, shapes, outputs, output_shapes: what it takes and gives, by name. dtype: of the tensors.
    """

    _library = "torch"

    def __init__(self, function, precision):
        super().__init__(function, precision)
        self.dtype = torch.float64 if precision == "f64" else torch.float32
        self._held = _Function(function)
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
            if value.device.type != "cpu":
                raise ArgumentError(
                    f"{path}: the tensor is on '{value.device}', and simulations take tensors on "
                    "the host: x.cpu()"
                )
            if value.dtype != self.dtype:
                raise ArgumentError(
                    f"{path}: the tensor holds {value.dtype}, and the simulation {self.dtype}: "
                    f"x.to({self.dtype}), or another precision of the simulation"
                )
            flat.append(value if value.dim() == 1 else value.reshape(-1))
        # Every operation here is a node of the graph, which takes longer than a small simulation.
        x = flat[0] if len(flat) == 1 else torch.cat(flat)
        return self._named(_value(self._key, x))


def simulation(scene, inputs, outputs=("loss",), precision="f32", device=None, steps=None):
    """A scene as a function of PyTorch.

    scene: a file, or its text or dict. inputs: paths of values that have gradients, such as
    "cage.stiffness"; the function takes them in this order, each in the shape that the scene's value
    has (one number for a value that all elements share), or as one dict. outputs: "loss", the scene's
    objective; "final:NAME", a state array after the last step, such as "final:position" of shape
    [points, 3]; "state:NAME", the same before the first step and after each, [steps + 1, points, 3].
    precision: "f32" or "f64", which tensors must have as well; they are on the host. device: where the
    simulation runs, a hindcast.Device or its name; compiled code on all processors if none is named.
    steps: instead of the scene's.
    """
    function = _scene_functions.load(scene, inputs, outputs, precision, device, steps)
    return Simulation(function, precision)
