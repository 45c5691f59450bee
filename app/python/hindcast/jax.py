"""Simulations as functions of JAX: under jit, grad, jvp, vmap, jacfwd, jacrev, hessian and scan.

    import hindcast.jax
    loss = hindcast.jax.simulation("scene.json", inputs=["cage.rest_length"], precision="f64")
    jax.value_and_grad(loss)(rest)

A simulation is five functions, each of which XLA calls in C++ (jax_functions.cpp): its value, its
derivative along a direction, the transpose of that, and the derivatives of both. They are
primitives that are each other's derivatives and transposes, so every composition of JAX's
transformations up to second order is one of them. Third derivatives are an error.
"""

import functools
import pathlib

import numpy as np

from hindcast import _core
from hindcast._errors import ArgumentError

try:
    import jax
    import jax.numpy as jnp
    from jax.extend.core import Primitive
    from jax.interpreters import ad, batching, mlir
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


# ---- the five primitives: operands [batch..., n] or, for tangents and cotangents of the loss, [batch...] ----


def _primitive(name, vector):
    """`vector`: whether the result has the size of x; else it is one number."""
    primitive = Primitive("hindcast_" + name)

    def abstract(x, *others, function):
        shape = x.shape if vector else x.shape[:-1]
        return jax.core.ShapedArray(shape, x.dtype)

    lowering = jax.ffi.ffi_lowering("hindcast_" + name)

    def lower(ctx, *operands, function):
        _register()
        return lowering(ctx, *operands, function=np.int64(function.number))

    def batch(operands, axes, *, function):
        size = next(o.shape[a] for o, a in zip(operands, axes) if a is not None)
        moved = [
            jnp.broadcast_to(o, (size, *o.shape))
            if a is None
            else jnp.moveaxis(o, a, 0)
            for o, a in zip(operands, axes)
        ]
        return primitive.bind(*moved, function=function), 0

    primitive.def_abstract_eval(abstract)
    # Outside of jit: compiled once for each function, too.
    primitive.def_impl(jax.jit(primitive.bind, static_argnames="function"))
    mlir.register_lowering(primitive, lower, platform="cpu")
    batching.primitive_batchers[primitive] = batch
    return primitive


_value = _primitive("value", vector=False)
_jvp = _primitive("jvp", vector=False)
_vjp = _primitive("vjp", vector=True)
_hvp = _primitive("hvp", vector=True)
_jvp2 = _primitive("jvp2", vector=False)


def _add(terms, result):
    """The sum of those that are there, or a symbolic zero of the result's type."""
    total = None
    for term in terms:
        total = term if total is None else ad.add_jaxvals(total, term)
    return ad.Zero(jax.typeof(result).to_tangent_aval()) if total is None else total


def _is_zero(tangent):
    return type(tangent) is ad.Zero


def _differentiate(primitive, *derivatives):
    """`derivatives`: per operand, its tangent's term; None: an error that names the third order."""

    def rule(operands, tangents, *, function):
        result = primitive.bind(*operands, function=function)
        terms = []
        for derivative, tangent in zip(derivatives, tangents):
            if _is_zero(tangent):
                continue
            if derivative is None:
                raise NotImplementedError(
                    "third derivatives of a simulation: hindcast has its first and second ones"
                )
            terms.append(derivative(*operands, tangent, function))
        return result, _add(terms, result)

    ad.primitive_jvps[primitive] = rule


_differentiate(_value, lambda x, d, f: _jvp.bind(x, d, function=f))
_differentiate(
    _jvp,
    lambda x, t, d, f: _jvp2.bind(x, t, d, function=f),
    lambda x, t, d, f: _jvp.bind(x, d, function=f),
)
_differentiate(
    _vjp,
    lambda x, c, d, f: _hvp.bind(x, c, d, function=f),
    lambda x, c, d, f: _vjp.bind(x, d, function=f),
)
_differentiate(
    _hvp,
    None,
    lambda x, c, u, d, f: _hvp.bind(x, d, u, function=f),
    lambda x, c, u, d, f: _hvp.bind(x, c, d, function=f),
)
_differentiate(
    _jvp2,
    None,
    lambda x, t, u, d, f: _jvp2.bind(x, d, u, function=f),
    lambda x, t, u, d, f: _jvp2.bind(x, t, d, function=f),
)


def _transpose(primitive):
    def register(rule):
        ad.primitive_transposes[primitive] = rule
        return rule

    return register


@_transpose(_jvp)
def _(c, x, t, *, function):
    return None, _vjp.bind(x, c, function=function)


@_transpose(_vjp)
def _(t, x, c, *, function):
    return None, _jvp.bind(x, t, function=function)


@_transpose(_hvp)
def _(t, x, c, u, *, function):
    if ad.is_undefined_primal(u):
        return None, None, _hvp.bind(x, c, t, function=function)
    return None, _jvp2.bind(x, u, t, function=function), None


@_transpose(_jvp2)
def _(c, x, t, u, *, function):
    if ad.is_undefined_primal(u):
        return None, None, _hvp.bind(x, c, t, function=function)
    return None, _hvp.bind(x, c, u, function=function), None


# ---- what users call -------------------------------------------------------------------------------------


class Simulation:
    """A function of JAX: takes the inputs in the order given and returns the loss."""

    def __init__(self, function, precision):
        self._function = function
        self._dtype = np.dtype(np.float64 if precision == "f64" else np.float32)
        self.inputs = tuple(function.paths)
        self.shapes = tuple(function.shapes)

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
        return _value.bind(jnp.concatenate(flat), function=self._function)

    def __repr__(self):
        arguments = ", ".join(f"{p}: {s}" for p, s in zip(self.inputs, self.shapes))
        return f"hindcast.jax.simulation({arguments}) -> loss"


def _check_x64(dtype):
    if dtype == np.float64 and not jax.config.jax_enable_x64:
        raise ValueError(
            "precision 'f64' needs 64-bit numbers in JAX: "
            "jax.config.update('jax_enable_x64', True), or use precision='f32'"
        )


def simulation(scene, inputs, outputs=("loss",), precision="f32", device=None, steps=None):
    """The loss of a scene as a function of JAX.

    scene: a file, or its text or dict. inputs: paths of values that have gradients, such as
    "cage.stiffness"; the function takes them in this order, each in the shape that the scene's value
    has (one number for a value that all elements share), or as one dict. precision: "f32" or "f64",
    which needs jax_enable_x64. device: a hindcast.Device; compiled code on all processors if none
    is named. steps: instead of the scene's.
    """
    if tuple(outputs) != ("loss",):
        raise ArgumentError(f"outputs: {tuple(outputs)}; a function's only output so far is 'loss'")
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
    function = _core.LossFunction(
        text, file, list(inputs), device, precision, -1 if steps is None else steps
    )
    return Simulation(function, precision)
