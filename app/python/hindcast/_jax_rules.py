"""Five primitives of JAX that are each other's derivatives and transposes.

A function y = f(x) between two flat vectors is five calls of XLA, each with C++ behind it:

    value(x)         y
    jvp(x, t)        J t
    vjp(x, c)        transpose of J, times c
    hvp(x, c, u)     the derivative of vjp along u
    jvp2(x, t, u)    the derivative of jvp along u

Every composition of JAX's transformations up to second order is one of them; the third order is an
error. A function is an object that can be hashed, with `input_size` and `output_size`, and a
`number` by which C++ finds it.

Operands are [batch..., size]. `batch` has the sizes of all batch axes; `has` says for each operand
which of them it has, so that vmap copies nothing that is not batched. Results have all of them.
"""

import types

import jax
import jax.numpy as jnp
import numpy as np
from jax.extend.core import Primitive
from jax.interpreters import ad, batching, mlir

__all__ = ["five_primitives"]


def _add(terms, result):
    """The sum of those that are there, or a symbolic zero of the result's type."""
    total = None
    for term in terms:
        total = term if total is None else ad.add_jaxvals(total, term)
    return ad.Zero(jax.typeof(result).to_tangent_aval()) if total is None else total


def _primitive(name, gives_inputs, register):
    """`gives_inputs`: whether the result has the size of x, or of y. `register` is called before the
    first lowering; its targets are called hindcast_NAME."""
    primitive = Primitive(name)

    def abstract(x, *others, function, batch, has):
        size = function.input_size if gives_inputs else function.output_size
        return jax.core.ShapedArray((*batch, size), x.dtype)

    lowering = jax.ffi.ffi_lowering(name)

    def lower(ctx, *operands, function, batch, has):
        register()
        # An axis of one for all, so that there always is one.
        return lowering(
            ctx,
            *operands,
            function=np.int64(function.number),
            batch=np.array([1, *batch], np.int64),
            has=np.array([[0, *h] for h in has], np.int64).ravel(),
        )

    def vmap(operands, axes, *, function, batch, has):
        size = next(o.shape[a] for o, a in zip(operands, axes) if a is not None)
        moved = [o if a is None else jnp.moveaxis(o, a, 0) for o, a in zip(operands, axes)]
        has = tuple((a is not None, *h) for a, h in zip(axes, has))
        return primitive.bind(*moved, function=function, batch=(size, *batch), has=has), 0

    primitive.def_abstract_eval(abstract)
    # Outside of jit: compiled once for each function, too.
    primitive.def_impl(jax.jit(primitive.bind, static_argnames=("function", "batch", "has")))
    for platform in ("cpu", "cuda"):
        mlir.register_lowering(primitive, lower, platform=platform)
    batching.primitive_batchers[primitive] = vmap
    return primitive


def _differentiate(primitive, what, *derivatives):
    """`derivatives`: per operand, the primitive of its tangent's term and the operands that it takes
    ("d": the tangent); None: third order."""

    def rule(operands, tangents, *, function, batch, has):
        result = primitive.bind(*operands, function=function, batch=batch, has=has)
        terms = []
        for k, (derivative, tangent) in enumerate(zip(derivatives, tangents)):
            if type(tangent) is ad.Zero:
                continue
            if derivative is None:
                raise NotImplementedError(
                    f"third derivatives of a {what}: hindcast has its first and second ones"
                )
            other, taken = derivative
            terms.append(
                other.bind(
                    *(tangent if o == "d" else operands[o] for o in taken),
                    function=function,
                    batch=batch,
                    has=tuple(has[k if o == "d" else o] for o in taken),
                )
            )
        return result, _add(terms, result)

    ad.primitive_jvps[primitive] = rule


def _transpose(primitive, *transposes):
    """`transposes`: per operand, the primitive and the operands that it takes ("d": the result's
    cotangent); None: not linear in it."""

    def rule(cotangent, *operands, function, batch, has):
        results = []
        for k, (operand, transpose) in enumerate(zip(operands, transposes)):
            if not ad.is_undefined_primal(operand) or transpose is None:
                results.append(None)
                continue
            if type(cotangent) is ad.Zero:
                results.append(ad.Zero(operand.aval))
                continue
            other, taken = transpose
            of_all = other.bind(
                *(cotangent if o == "d" else operands[o] for o in taken),
                function=function,
                batch=batch,
                has=tuple((True,) * len(batch) if o == "d" else has[o] for o in taken),
            )
            # What an operand is used for in every member comes together.
            missing = tuple(a for a, there in enumerate(has[k]) if not there)
            results.append(jnp.sum(of_all, axis=missing) if missing else of_all)
        return results

    ad.primitive_transposes[primitive] = rule


def five_primitives(prefix, what, register):
    """The primitives PREFIX_value and so on. what: the noun of errors."""
    value, jvp, vjp, hvp, jvp2 = (
        _primitive(f"{prefix}_{name}", name in ("vjp", "hvp"), register)
        for name in ("value", "jvp", "vjp", "hvp", "jvp2")
    )
    _differentiate(value, what, (jvp, (0, "d")))
    _differentiate(jvp, what, (jvp2, (0, 1, "d")), (jvp, (0, "d")))
    _differentiate(vjp, what, (hvp, (0, 1, "d")), (vjp, (0, "d")))
    _differentiate(hvp, what, None, (hvp, (0, "d", 2)), (hvp, (0, 1, "d")))
    _differentiate(jvp2, what, None, (jvp2, (0, "d", 2)), (jvp2, (0, 1, "d")))
    _transpose(jvp, None, (vjp, (0, "d")))
    _transpose(vjp, None, (jvp, (0, "d")))
    _transpose(hvp, None, (jvp2, (0, 2, "d")), (hvp, (0, 1, "d")))
    _transpose(jvp2, None, (hvp, (0, "d", 2)), (hvp, (0, "d", 1)))
    return types.SimpleNamespace(value=value, jvp=jvp, vjp=vjp, hvp=hvp, jvp2=jvp2)
