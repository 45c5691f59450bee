"""How an output of a function of JAX begins, and which kernels it runs.

    outputs={"force": hc.jax.zeros(shape=(n, 3)), "y": hc.written(), "x": hc.in_out("x")}
    hc.call(kernel, dim=n, a="x")
"""

from hindcast import _core
from hindcast._errors import ArgumentError

__all__ = ["Call", "Start", "call", "copy_of", "fill", "in_out", "starts_zero", "written", "zeros"]


class Start:
    """How an output begins: made by zeros, fill, written, copy_of and in_out."""

    __slots__ = ("kind", "value", "shape")

    def __init__(self, kind, value=None, shape=None):
        self.kind, self.value, self.shape = kind, value, shape

    def __repr__(self):
        parts = [] if self.value is None else [repr(self.value)]
        parts += [] if self.shape is None else [f"shape={self.shape!r}"]
        return f"hc.{self.kind}({', '.join(parts)})"


def starts_zero(shape=None):
    """Begins with zeros. shape: extents, the last ones those of vectors and matrices; or a function of
    the inputs' shapes; left out where the kernels tell."""
    return Start("zeros", shape=shape)


def fill(value, shape=None):
    """Begins with one number, or with these numbers, in every element."""
    return Start("fill", value, shape)


def written(shape=None):
    """Every element is stored by the kernel on every path: looked at, and refused otherwise."""
    return Start("written", shape=shape)


def copy_of(name):
    """Begins as the input of that name, which stays as it is."""
    return Start("copy_of", _name(name, "copy_of"))


def in_out(name):
    """Begins as the input of that name, in its memory if the input is not needed any more, such as one
    that is donated to jax.jit."""
    return Start("in_out", _name(name, "in_out"))


def _name(name, what):
    if not isinstance(name, str):
        raise ArgumentError(f"hc.{what} takes the name of an input, not {type(name).__name__}")
    return name


def zeros(shape, dtype=None, precision="f32", device=None):
    """Zeros: `shape` counts elements, so that zeros(4, hc.vec3) has the shape (4, 3).
    device='cuda:0': in the memory of that device. As the start of an output of hc.jax.kernel, `shape`
    may be a function of the inputs' shapes."""
    if callable(shape):
        return starts_zero(shape)
    return _core.zeros(shape, dtype, precision, device)


class Call:
    """A kernel over so many items; `names` says which array a parameter takes, where the names
    differ."""

    __slots__ = ("kernel", "dim", "names")

    def __init__(self, kernel, dim, names):
        if not isinstance(kernel, _core.Kernel):
            raise ArgumentError(f"kernel: a kernel is expected, not {type(kernel).__name__}")
        known = kernel.parameters
        for parameter, name in names.items():
            if parameter not in known:
                raise ArgumentError(
                    f"kernel '{kernel.name}' has no parameter '{parameter}'; it has "
                    f"{', '.join(known) or 'none'}"
                )
            _name(name, f"call(..., {parameter}=...)")
        if not callable(dim) and not isinstance(dim, str):
            try:
                dim = dim.__index__()
            except AttributeError:
                raise ArgumentError(
                    f"dim: a number of items, the name of an input for its length or a function of "
                    f"the inputs' shapes is expected, not {dim!r}"
                ) from None
            if dim < 0:
                raise ArgumentError(f"dim: {dim} items are not possible")
        self.kernel, self.dim, self.names = kernel, dim, names

    def __repr__(self):
        names = "".join(f", {p}={n!r}" for p, n in self.names.items())
        return f"hc.call({self.kernel.name}, dim={self.dim!r}{names})"


def call(kernel, dim, **names):
    """One launch of hc.jax.callable: `kernel` over `dim` items. A parameter takes the array of its own
    name; names: of another one, as in a="x". dim: a number, the name of an input for its length, or
    a function of the inputs' shapes."""
    return Call(kernel, dim, names)
