"""Five primitives of JAX that are each other's derivatives and transposes.

A function y = f(x), between arrays x1, x2, ... and y1, y2, ..., is five calls of XLA, each with C++
behind it:

    value(x, k)         y, and results without a derivative
    jvp(x, t, k)        J t
    vjp(x, c, k)        transpose of J, times c
    hvp(x, c, u, k)     the derivative of vjp along u
    jvp2(x, t, u, k)    the derivative of jvp along u

Each letter is a group of operands: x, t and u are as many as f has inputs, c as its outputs, and k
are the constants, of which nothing is differentiated, such as integers. Every composition of JAX's
transformations up to second order is one of the five; the third order is an error.

A function is an object that can be hashed, with

    inputs, outputs     [(shape, dtype), ...] of what is differentiated
    constants, others   the same of k, and of the results without a derivative
    aliases             {position among x and k: position among all results}: who may have one memory
    number              by which C++ finds it, as long as there is its `handle`
    compiled            {}, for what is called outside of jit
    text()              from which another process makes it again (_exports.py)

Operands are [batch..., *shape]. `batch` has the sizes of all batch axes; `has` says for each operand
which of them it has, so that vmap copies nothing that is not batched. Results have all of them.

On several devices, each has some members of a batch: inside of jax.shard_map results vary along the
axes along which an operand does; elsewhere XLA divides the leading batch axes whose sizes are
multiples of the number of devices. A member is never divided.
"""

import copy
import functools
import itertools
import types

import jax
import jax.numpy as jnp
import numpy as np
from jax.extend.core import Primitive
from jax.extend.mlir.dialects import sdy
from jax.interpreters import ad, batching, mlir
from jax.sharding import AxisType, NamedSharding, PartitionSpec, SingleDeviceSharding

__all__ = ["check_x64", "cuda_target", "five_primitives", "held_weakly", "register_calls", "undivided"]


def check_x64(precision):
    if precision == "f64" and not jax.config.jax_enable_x64:
        raise ValueError(
            "precision 'f64' needs 64-bit numbers in JAX: "
            "jax.config.update('jax_enable_x64', True), or use precision='f32'"
        )


def register_calls(cpu, cuda):
    """Hands a type of states and the handlers that work with it to JAX, as (name, type, targets): one
    for the host, and one for CUDA where JAX has it."""
    _register("cpu", *cpu)
    try:
        jax.devices("cuda")
    except RuntimeError:
        return  # the platform is missing here
    _register("cuda", *cuda)


def _register(platform, name, state_type, targets):
    # Once there is a client, which takes types and handlers in this order; what is registered
    # before, it takes in the other one, which is an error.
    jax.devices(platform)
    platform = "CUDA" if platform == "cuda" else platform
    jax.ffi.register_ffi_type(name, state_type, platform=platform)
    for target, stages in targets.items():
        jax.ffi.register_ffi_target(target, stages, platform=platform)
        jax.ffi.register_ffi_target_as_batch_partitionable(target)


def cuda_target(prefix, batches):
    """Of two handlers the one that XLA may capture into a command buffer, if it can be. What they need
    on each device is made here, and goes into the program that is compiled next. `batches`: whether
    batches can be captured too."""

    def choose(name, function, batch):
        if not batches and any(size != 1 for size in batch):
            return f"{name}_waits"
        kind = name.removeprefix(f"{prefix}_")
        captured = [
            function.handle.prepare_on(kind, device.local_hardware_id)
            for device in jax.local_devices(backend="cuda")
        ]
        return name if all(captured) else f"{name}_waits"

    return choose


def held_weakly(kind):
    """Marks a class of functions. JAX remembers the last two thousand results of abstract evaluation
    with what they were asked with, functions and so their simulations too, but for classes that it
    holds weakly. That list is not public: without it they stay until jax.clear_caches()."""
    try:
        from jax._src.util import weakref_cache_key_types
    except ImportError:
        return kind
    weakref_cache_key_types.add(kind)
    return kind


class _Call:
    """One of the five: its groups of operands, and whether its results are like x or like y."""

    def __init__(self, name, groups, gives_inputs):
        self.primitive = Primitive(name)
        self.primitive.multiple_results = True
        self.groups, self.gives_inputs = groups, gives_inputs

    def split(self, function, items):
        """The items of operands (themselves, tangents, `has`), by group."""
        sizes = {"c": len(function.outputs), "k": len(function.constants)}
        found, first = {}, 0
        for group in self.groups:
            size = sizes.get(group, len(function.inputs))
            found[group] = list(items[first : first + size])
            first += size
        return found

    def __call__(self, function, *operands):
        """The results for operands without batch axes, as a list."""
        groups = self.split(function, operands)
        return self.bind(function, (), groups, {g: [()] * len(o) for g, o in groups.items()})

    def bind(self, function, batch, operands, has):
        """Both by group."""
        flat = _varying_alike([o for group in self.groups for o in operands[group]])
        axes = tuple(h for group in self.groups for h in has[group])
        return self.primitive.bind(*flat, function=function, batch=batch, has=axes)


# ---- several devices -------------------------------------------------------------------------------------


def _varying_axes(x):
    """The axes of jax.shard_map along which a value differs between devices."""
    kind = jax.typeof(x)
    manual = getattr(kind, "manual_axis_type", None)
    return getattr(kind, "vma", frozenset()) if manual is None else manual.varying


def _varying_alike(operands):
    """Operands that differ along the same axes of jax.shard_map, as those of JAX's own primitives."""
    if not any(isinstance(o, jax.core.Tracer) for o in operands):
        return operands
    axes = [_varying_axes(o) for o in operands]
    every = frozenset().union(*axes)
    return [
        jax.lax.pcast(o, tuple(every - own), to="varying") if every - own else o
        for o, own in zip(operands, axes)
    ]


def is_plain(x):
    """True for an array that jnp.asarray gives back as it is: the values of a call outside of jit, whose
    types need not be asked for."""
    return (
        isinstance(x, jax.Array)
        and not isinstance(x, jax.core.Tracer)
        and isinstance(x.dtype, np.dtype)
        and (x.dtype.itemsize < 8 or jax.config.jax_enable_x64)
        and not x.is_deleted()
    )


def undivided(x):
    """x, whole on every device where types say how arrays are divided (axes of AxisType.Explicit)."""
    if (
        not isinstance(x, jax.core.Tracer)
        and isinstance(x.sharding, SingleDeviceSharding)
        and jax.sharding.get_abstract_mesh().empty
    ):
        return x
    sharding = getattr(jax.typeof(x), "sharding", None)
    if sharding is None:
        return x
    is_divided = any(part is not None for part in sharding.spec)
    # From outside of jax.set_mesh: its type does not go together with others.
    is_foreign = sharding.mesh.empty and AxisType.Explicit in jax.sharding.get_abstract_mesh().axis_types
    return jax.sharding.reshard(x, PartitionSpec()) if is_divided or is_foreign else x


def _result_types(operands, results, batch, has):
    """Of results [(shape, dtype), ...] without batch axes. They vary as the operands do; what the types of
    operands say of how batch axes are divided holds for results too."""
    like = next((o for o in operands if not o.sharding.mesh.empty), None)
    if like is None:
        return [jax.core.ShapedArray((*batch, *shape), dtype) for shape, dtype in results]
    divided = [None] * len(batch)
    for operand, own in zip(operands, has):
        for part, axis in zip(operand.sharding.spec, (a for a, there in enumerate(own) if there)):
            divided[axis] = divided[axis] or part
    mesh = like.sharding.mesh
    return [
        like.update(
            shape=(*batch, *shape),
            dtype=dtype,
            weak_type=False,
            sharding=NamedSharding(mesh, PartitionSpec(*divided, *[None] * len(shape))),
        )
        for shape, dtype in results
    ]


def _divisible_axes(ctx, batch):
    """How many leading batch axes XLA may divide among the devices of the program. Others would be padded
    with members that nobody gave, and whose runs may fail."""
    devices = getattr(ctx.module_context.axis_context, "num_devices", 1)
    if devices == 1:
        return 0
    return len(list(itertools.takewhile(lambda size: size > 0 and size % devices == 0, batch)))


def _everywhere(ctx, operands, batch, has):
    """The lowering's context and operands, each with all batch axes."""

    def broadcast(*given):
        found = []
        for operand, own in zip(given, has):
            shape = operand.shape[sum(own) :]
            ones = iter(operand.shape)
            expanded = [next(ones) if there else 1 for there in own]
            found.append(
                jnp.broadcast_to(jnp.reshape(operand, (*expanded, *shape)), (*batch, *shape))
            )
        return found

    shapes = [(*batch, *aval.shape[sum(own) :]) for aval, own in zip(ctx.avals_in, has)]
    avals = [jax.core.ShapedArray(s, aval.dtype) for s, aval in zip(shapes, ctx.avals_in)]
    lowered = mlir.lower_fun(broadcast, multiple_results=True)(
        ctx.replace(avals_out=avals), *operands
    )
    return ctx.replace(avals_in=avals), lowered


def _division(ctx, axes, batch):
    """Attributes of a call that say how XLA may divide it: its leading `axes` batch axes, nothing else."""
    attributes = {"mhlo.frontend_attributes": mlir.ir_attribute({"num_batch_dims": str(axes)})}
    if not getattr(jax.config, "jax_use_shardy_partitioner", True):
        return attributes
    sizes = list(batch)

    def mapping(shape):
        own = range(len(sizes), len(sizes) + len(shape) - len(batch))
        sizes.extend(shape[len(batch) :])
        return sdy.TensorMappingAttr.get(
            [sdy.DimMappingAttr.get([factor]) for factor in (*range(len(batch)), *own)]
        )

    operands, results = ([mapping(a.shape) for a in avals] for avals in (ctx.avals_in, ctx.avals_out))
    attributes["sdy.sharding_rule"] = sdy.OpShardingRuleAttr.get(
        sizes,
        operands,
        results,
        need_replication_factors=list(range(axes, len(sizes))),
        is_custom=True,
    )
    return attributes


def _make(name, what, groups, gives_inputs, register, platforms):
    """`register` is called before the first lowering; its targets have the primitives' names, but for
    what `platforms` says: {platform: function(name, function, batch) -> the target's name, or None}."""
    call = _Call(name, groups, gives_inputs)
    primitive, is_value = call.primitive, groups == "xk"

    def abstract(*operands, function, batch, has):
        results = list(function.inputs if gives_inputs else function.outputs)
        if is_value:
            results += function.others
        return _result_types(operands, results, batch, has)

    def lower(ctx, *operands, function, batch, has, choose):
        register()
        if not all(isinstance(size, int) for size in batch):
            raise NotImplementedError(
                f"a batch of a {what} has a known size, not {batch}; export the function for the sizes "
                "that are wanted"
            )
        number, made_of = function.number, ""
        if getattr(ctx.module_context.lowering_parameters, "for_export", False):
            # Another process finds no number; its programs are not captured.
            number, made_of = 0, function.text()
            target = f"{name}_waits" if choose else name
        else:
            target = choose(name, function, batch) if choose else name
            # A lowered program holds the number of the function only.
            ctx.module_context.add_keepalive(function.handle)
        aliases = {
            o: r for o, r in function.aliases.items() if is_value and len(has[o]) == sum(has[o])
        }
        # An axis of one for all, so that there always is one.
        sizes, axes, attributes = [1, *batch], [[0, *h] for h in has], None
        if divisible := _divisible_axes(ctx, batch):
            # Sizes are then those of the part that a device has: they are not known here.
            ctx, operands = _everywhere(ctx, operands, batch, has)
            sizes, axes = [-1] * len(batch), [[1] * len(batch)] * len(has)
            attributes = _division(ctx, divisible, batch)
        return jax.ffi.ffi_lowering(
            target, operand_output_aliases=aliases, extra_attributes=attributes
        )(
            ctx,
            *operands,
            function=np.int64(number),
            made_of=made_of,
            batch=np.array(sizes, np.int64),
            has=np.array(axes, np.int64).ravel(),
        )

    def vmap(operands, axes, *, function, batch, has):
        size = next(o.shape[a] for o, a in zip(operands, axes) if a is not None)
        moved = [o if a is None else jnp.moveaxis(o, a, 0) for o, a in zip(operands, axes)]
        has = tuple((a is not None, *h) for a, h in zip(axes, has))
        results = primitive.bind(*moved, function=function, batch=(size, *batch), has=has)
        return results, [0] * len(results)

    def evaluate(*operands, function, batch, has):
        # Outside of jit: compiled once for each function, too, and forgotten with it.
        compiled = function.compiled.get((name, batch, has))
        if compiled is None:
            # JAX keeps what it has traced as long as `compiled`: that must not keep the function,
            # which XLA's program keeps by itself.
            called = copy.copy(function)
            called.handle = called.compiled = None
            compiled = jax.jit(lambda *o: primitive.bind(*o, function=called, batch=batch, has=has))
            function.compiled[name, batch, has] = compiled
        if not jax.config.jax_disable_jit:
            return compiled(*operands)
        with jax.disable_jit(False):
            return compiled(*operands)

    primitive.def_abstract_eval(abstract)
    primitive.def_impl(evaluate)
    for platform, choose in platforms.items():
        rule = functools.partial(lower, choose=choose)
        mlir.register_lowering(primitive, rule, platform=platform)
    batching.primitive_batchers[primitive] = vmap
    return call


def _add(terms, results):
    """Per result the sum of the terms that are there, or a symbolic zero."""
    if not terms:
        return [ad.Zero(jax.typeof(r).to_tangent_aval()) for r in results]
    total = terms[0]
    for term in terms[1:]:
        total = [ad.add_jaxvals(a, b) for a, b in zip(total, term)]
    # Behind those with a derivative may stand others.
    return total + [ad.Zero(jax.typeof(r).to_tangent_aval()) for r in results[len(total) :]]


def _filled(values):
    return [ad.instantiate_zeros(v) for v in values]


def _differentiate(call, what, derivatives):
    """`derivatives`: per group the call that is its tangents' term, and the groups that it takes ("d":
    the tangents); None: third order."""

    def rule(operands, tangents, *, function, batch, has):
        given = call.split(function, operands)
        has_of = call.split(function, has)
        results = call.bind(function, batch, given, has_of)
        terms = []
        for group, tangent in call.split(function, tangents).items():
            if group == "k" or all(type(t) is ad.Zero for t in tangent):
                continue
            if derivatives[group] is None:
                raise NotImplementedError(
                    f"third derivatives of a {what}: hindcast has its first and second ones"
                )
            other, taken = derivatives[group]
            of = dict(zip(other.groups, taken + "k"))
            tangent = _filled(tangent)
            terms.append(
                other.bind(
                    function,
                    batch,
                    {g: tangent if o == "d" else given[o] for g, o in of.items()},
                    {g: has_of[group if o == "d" else o] for g, o in of.items()},
                )
            )
        return results, _add(terms, results)

    ad.primitive_jvps[call.primitive] = rule


def _transpose(call, transposes):
    """`transposes`: per group in which it is linear, the call and the groups that this takes ("d": the
    results' cotangents)."""

    def rule(cotangents, *operands, function, batch, has):
        given = call.split(function, operands)
        has_of = call.split(function, has)
        results = []
        for group in call.groups:
            group_results = [None] * len(given[group])
            wanted = [k for k, o in enumerate(given[group]) if ad.is_undefined_primal(o)]
            if wanted and all(type(c) is ad.Zero for c in cotangents):
                for k in wanted:
                    group_results[k] = ad.Zero(given[group][k].aval)
            elif wanted:
                other, taken = transposes[group]
                of = dict(zip(other.groups, taken + "k"))
                cotangent = _filled(cotangents)
                everywhere = [(True,) * len(batch)] * len(cotangent)
                found = other.bind(
                    function,
                    batch,
                    {g: cotangent if o == "d" else given[o] for g, o in of.items()},
                    {g: everywhere if o == "d" else has_of[o] for g, o in of.items()},
                )
                for k in wanted:
                    # Contributions to an operand that all members share are summed.
                    missing = tuple(a for a, there in enumerate(has_of[group][k]) if not there)
                    group_results[k] = jnp.sum(found[k], axis=missing) if missing else found[k]
            results += group_results
        return results

    ad.primitive_transposes[call.primitive] = rule


def five_primitives(prefix, what, register, platforms):
    """The calls PREFIX_value and so on: value(function, *operands) gives a list. what: the noun of errors.
    register, platforms: see _make."""
    value, jvp, vjp, hvp, jvp2 = (
        _make(f"{prefix}_{name}", what, groups, name in ("vjp", "hvp"), register, platforms)
        for name, groups in (
            ("value", "xk"),
            ("jvp", "xtk"),
            ("vjp", "xck"),
            ("hvp", "xcuk"),
            ("jvp2", "xtuk"),
        )
    )
    _differentiate(value, what, {"x": (jvp, "xd")})
    _differentiate(jvp, what, {"x": (jvp2, "xtd"), "t": (jvp, "xd")})
    _differentiate(vjp, what, {"x": (hvp, "xcd"), "c": (vjp, "xd")})
    _differentiate(hvp, what, {"x": None, "c": (hvp, "xdu"), "u": (hvp, "xcd")})
    _differentiate(jvp2, what, {"x": None, "t": (jvp2, "xdu"), "u": (jvp2, "xtd")})
    _transpose(jvp, {"t": (vjp, "xd")})
    _transpose(vjp, {"c": (jvp, "xd")})
    _transpose(hvp, {"c": (jvp2, "xud"), "u": (hvp, "xcd")})
    _transpose(jvp2, {"t": (hvp, "xdu"), "u": (hvp, "xdt")})
    return types.SimpleNamespace(value=value, jvp=jvp, vjp=vjp, hvp=hvp, jvp2=jvp2)
