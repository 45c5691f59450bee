"""Kernels as functions of JAX.

    f = hc.jax.kernel(scale, dim="x", outputs={"y": hc.written()})
    f(x=x, k=2.0)
"""

import functools

import jax
import jax.numpy as jnp

from hindcast import _core, _kernel_functions
from hindcast._jax_rules import (
    check_x64,
    cuda_target,
    five_primitives,
    held_weakly,
    is_plain,
    register_calls,
    undivided,
)
from hindcast._kernel_parameters import Recorded
from hindcast._starts import Call

held_weakly(Recorded)


@functools.cache
def _family(dtype):
    if jnp.issubdtype(dtype, jnp.floating):
        return "real"
    return "integer" if jnp.issubdtype(dtype, jnp.integer) else "other"


class KernelFunction(_kernel_functions.KernelFunction):
    """A function of JAX that runs kernels."""

    _library = "jax"

    def _taken(self, name, value):
        if is_plain(value):
            return value, value.dtype, _family(value.dtype), value.weak_type
        array = jnp.asarray(value)
        return array, array.dtype, _family(array.dtype), jax.typeof(array).weak_type

    def _cast(self, array, dtype):
        if is_plain(array) and array.dtype == dtype and not array.weak_type:
            return undivided(array)
        return undivided(array.astype(dtype))

    def _conversion(self, name, dtype):
        return f"{name}.astype({'float' if dtype is None else f'jnp.{dtype.name}'})"

    def _usual_precision(self):
        return "f64" if jax.config.jax_enable_x64 else "f32"

    def _check_precision(self):
        check_x64("f64")

    def _check_wide(self, p):
        if not jax.config.jax_enable_x64:
            raise ValueError(
                f"{p.words()} holds {p.type}, which needs 64-bit numbers in JAX: "
                "jax.config.update('jax_enable_x64', True)"
            )

    def _run(self, recorded, operands):
        return _calls.value(recorded, *operands)


@functools.cache
def _register():
    register_calls(
        ("hindcast_kernel_state", _core._jax_kernel_state_type(), _core._jax_kernel_targets()),
        (
            "hindcast_cuda_kernel_state",
            _core._jax_cuda_kernel_state_type(),
            _core._jax_cuda_kernel_targets(),
        ),
    )


_calls = five_primitives(
    "hindcast_kernel",
    "kernel",
    _register,
    {"cpu": None, "cuda": cuda_target("hindcast_kernel", batches=True)},
)


def kernel(kernel, dim, outputs, inputs=None, precision=None, device=None, temporaries=None, **names):
    """A kernel as a function of JAX, with its derivatives up to the second ones.

    outputs: {name: how it begins}. hc.jax.zeros(), the default of what is added to; hc.fill(value);
    hc.written(), where every element is stored, which is looked at; hc.copy_of("name");
    hc.in_out("name"), in the memory of an input; or an array of values. Each but the last three takes
    shape=, a tuple or a function of the inputs' shapes, where the kernel does not tell: what is
    stored at the own index has `dim` elements. dim: a number, the name of an input for its length, or
    a function of the inputs' shapes. inputs: their names in the order of arguments by place; all that
    the kernel reads, in its order, if left out. precision: of reals, if not that of the arrays given.
    names: which array a parameter takes, where names differ.
    """
    return callable_([Call(kernel, dim, names)], inputs, outputs, precision, device, temporaries)


def callable_(calls, inputs=None, outputs=None, precision=None, device=None, temporaries=None):
    """Kernels one after the other as one function of JAX, differentiated as a whole.

    calls: a list of hc.call(kernel, dim, ...). Equal names are one array. outputs: as those of
    hc.jax.kernel. temporaries: how what is written and is no output begins, where the kernels do not
    tell.
    """
    return KernelFunction(
        _kernel_functions.checked_calls(calls, outputs), inputs, outputs, precision, device, temporaries
    )
