"""Functions of C++ under PyTorch: one function of autograd in five kinds that are each other's
derivatives, as those of hindcast.jax are (_jax_rules.py):

    value (x, k)         y, and results without a derivative
    jvp   (x, t, k)      J t
    vjp   (x, c, k)      transpose of J, times c
    hvp   (x, c, u, k)   the derivative of vjp along u
    jvp2  (x, t, u, k)   the derivative of jvp along u

Each letter is a group of operands: x, t and u are as many as the function has inputs, c as its outputs,
and k are the constants, of which nothing is differentiated, such as integers. Third derivatives are an
error. Operands and results are [batch..., size], with as many batch axes each; an axis of one is what
the members of a batch share. vmap adds an axis, and a batch is one call of C++.
"""

import itertools
import weakref

import torch

__all__ = ["Called", "call", "of_dtype"]

_GROUPS = {"value": "xk", "jvp": "xtk", "vjp": "xck", "hvp": "xcuk", "jvp2": "xtuk"}
# For each group, the kind of its tangents' term and the groups that it takes ("d": the tangents). None:
# third order.
_TANGENTS = {
    "value": {"x": ("jvp", "xd")},
    "jvp": {"x": ("jvp2", "xtd"), "t": ("jvp", "xd")},
    "vjp": {"x": ("hvp", "xcd"), "c": ("vjp", "xd")},
    "hvp": {"x": None, "c": ("hvp", "xdu"), "u": ("hvp", "xcd")},
    "jvp2": {"x": None, "t": ("jvp2", "xdu"), "u": ("jvp2", "xtd")},
}
# The same for its adjoints ("d": the results' cotangents).
_ADJOINTS = {
    "value": {"x": ("vjp", "xd")},
    "jvp": {"x": ("hvp", "xdt"), "t": ("vjp", "xd")},
    "vjp": {"x": ("hvp", "xcd"), "c": ("jvp", "xd")},
    "hvp": {"x": None, "c": ("jvp2", "xud"), "u": ("hvp", "xcd")},
    "jvp2": {"x": None, "t": ("hvp", "xdu"), "u": ("hvp", "xdt")},
}


def of_dtype(dtype):
    """PyTorch's name for a dtype of NumPy."""
    return getattr(torch, dtype.name)


# ---- the call of C++ -------------------------------------------------------------------------------------

# By key, which is all that a compiled graph holds of a function. Whoever calls it keeps it.
_functions = weakref.WeakValueDictionary()
_numbers = itertools.count()


class Called:
    """A function of C++, which graphs of autograd keep.

    what: the noun of errors. inputs, outputs, constants, others: [(size, dtype of PyTorch), ...], of the
    groups x, y and k, and of results without a derivative. run(kind, *operands): arrays of NumPy
    [rows, size] for arrays of NumPy.
    """

    def __init__(self, what, inputs, outputs, constants, others, run):
        self.what, self.run = what, run
        self.inputs, self.outputs = inputs, outputs
        self.constants, self.others = constants, others
        self.key = str(next(_numbers))
        _functions[self.key] = self

    def results(self, kind):
        real = self.inputs if kind in ("vjp", "hvp") else self.outputs
        return [*real, *self.others] if kind == "value" else list(real)

    def split(self, kind, items):
        """Operands, or what stands for each, by group."""
        sizes = {"c": len(self.outputs), "k": len(self.constants)}
        items, found = iter(items), {}
        for group in _GROUPS[kind]:
            found[group] = list(itertools.islice(items, sizes.get(group, len(self.inputs))))
        return found


def _function_of(key):
    function = _functions.get(key)
    if function is None:
        raise RuntimeError(
            "the function of this graph is gone: keep what hindcast.torch returned as long as it is used"
        )
    return function


def _batch_of(operands):
    return torch.broadcast_shapes(*(operand.shape[:-1] for operand in operands))


@torch.library.custom_op("hindcast::call", mutates_args=())
def _run(kind: str, key: str, operands: list[torch.Tensor]) -> list[torch.Tensor]:
    function = _function_of(key)
    batch = _batch_of(operands)
    rows = [
        o.expand(*batch, -1).reshape(batch.numel(), o.shape[-1]).contiguous().numpy() for o in operands
    ]
    found = function.run(kind, *rows)
    return [
        torch.from_numpy(array).to(dtype).reshape(*batch, size)
        for array, (size, dtype) in zip(found, function.results(kind))
    ]


@_run.register_fake
def _(kind, key, operands):
    batch = _batch_of(operands)
    return [
        operands[0].new_empty((*batch, size), dtype=dtype)
        for size, dtype in _function_of(key).results(kind)
    ]


# ---- autograd --------------------------------------------------------------------------------------------


class _Call(torch.autograd.Function):
    """_run with its derivatives."""

    @staticmethod
    def forward(kind, function, *operands):
        return tuple(_run(kind, function.key, list(operands)))

    @staticmethod
    def setup_context(ctx, inputs, output):
        ctx.kind, ctx.function, *operands = inputs
        ctx.set_materialize_grads(False)
        ctx.save_for_backward(*operands)
        ctx.save_for_forward(*operands)
        if ctx.kind == "value":
            ctx.mark_non_differentiable(*output[len(ctx.function.outputs) :])

    @staticmethod
    def backward(ctx, *cotangents):
        function, kind, operands = ctx.function, ctx.kind, ctx.saved_tensors
        given = function.split(kind, operands)
        real = function.inputs if kind in ("vjp", "hvp") else function.outputs
        cotangents = cotangents[: len(real)]
        needed = function.split(kind, ctx.needs_input_grad[2:])
        results = {group: [None] * len(of) for group, of in given.items()}
        if any(c is not None for c in cotangents):
            batch = _batch_of(operands)
            d = [
                operands[0].new_zeros((*batch, size), dtype=dtype) if c is None else c
                for c, (size, dtype) in zip(cotangents, real)
            ]
            for group, adjoint in _ADJOINTS[kind].items():
                if adjoint is None or not any(needed[group]):
                    continue
                # Gradients of operands that all members share are summed.
                results[group] = [
                    term.sum_to_size(operand.shape)
                    for term, operand in zip(_term(function, adjoint, given, d), given[group])
                ]
        return None, None, *(r for group in _GROUPS[kind] for r in results[group])

    @staticmethod
    def jvp(ctx, _kind, _function, *tangents):
        function, kind = ctx.function, ctx.kind
        given = function.split(kind, ctx.saved_tensors)
        total = None
        for group, of_group in function.split(kind, tangents).items():
            rule = _TANGENTS[kind].get(group)
            if rule is None or all(t is None for t in of_group):
                continue
            d = [torch.zeros_like(o) if t is None else t for t, o in zip(of_group, given[group])]
            term = _term(function, rule, given, d)
            total = term if total is None else [a + b for a, b in zip(total, term)]
        others = len(function.others) if kind == "value" else 0
        return tuple(total) + (None,) * others

    @staticmethod
    def vmap(info, in_dims, kind, function, *operands):
        moved = [
            operand.unsqueeze(0) if axis is None else operand.movedim(axis, 0)
            for operand, axis in zip(operands, in_dims[2:])
        ]
        results = _Call.apply(kind, function, *moved)
        return results, (0,) * len(results)


def _term(function, rule, given, d):
    kind, taken = rule
    groups = {**given, "d": d}
    if kind in ("hvp", "jvp2"):
        groups["x"] = [_Last.apply(x, function.what) for x in given["x"]]
    return _Call.apply(kind, function, *(o for group in taken + "k" for o in groups[group]))


class _Last(torch.autograd.Function):
    """x of a second derivative: the same, but not to be differentiated. That what it is used for
    needs a derivative does not say that x does, so that its own rule raises."""

    @staticmethod
    def forward(x, what):
        return x.clone()

    @staticmethod
    def setup_context(ctx, inputs, output):
        ctx.what = inputs[1]

    @staticmethod
    def backward(ctx, cotangent):
        raise NotImplementedError(_third(ctx.what))

    @staticmethod
    def jvp(ctx, tangent, _what):
        raise NotImplementedError(_third(ctx.what))

    @staticmethod
    def vmap(info, in_dims, x, what):
        return _Last.apply(x, what), in_dims[0]


def _third(what):
    return f"third derivatives of a {what}: hindcast has its first and second ones"


# Dynamo puts it into its graphs as it stands; what is behind it is traced by AOTAutograd, with the
# shapes of register_fake.
@torch.compiler.allow_in_graph
def call(key, *operands):
    """The results of a function for flat operands: a tuple."""
    return _Call.apply("value", _function_of(key), *operands)
