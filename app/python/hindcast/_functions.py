"""Functions of kernels: hc.sqrt, hc.dot, hc.vec3(a, b, c), hc.grad, ..."""

import math

from hindcast import _core
from hindcast._values import (
    Value,
    as_value,
    call,
    copy,
    each,
    fail,
    is_number,
    literal,
    map_components,
    recorder,
    select,
    unary,
)


def _unary(code, doc):
    def function(x):
        x = as_value(x, "real", ())
        return unary(code, x)

    function.__name__, function.__doc__ = code, doc
    return function


sqrt = _unary("sqrt", "The square root.")
floor = _unary("floor", "The next whole number below, as a real; the derivative is zero.")
ceil = _unary("ceil", "The next whole number above, as a real; the derivative is zero.")
trunc = _unary("trunc", "The whole part, as a real; the derivative is zero.")
round = _unary("round", "The nearest whole number, ties to even; the derivative is zero.")
sin = _unary("sin", "The sine.")
cos = _unary("cos", "The cosine.")
tan = _unary("tan", "The tangent.")
asin = _unary("asin", "The arc sine.")
acos = _unary("acos", "The arc cosine.")
atan = _unary("atan", "The arc tangent.")
sinh = _unary("sinh", "The hyperbolic sine.")
cosh = _unary("cosh", "The hyperbolic cosine.")
tanh = _unary("tanh", "The hyperbolic tangent.")
exp = _unary("exp", "e to the power of x.")
expm1 = _unary("expm1", "exp(x) - 1, accurate near 0.")
log = _unary("log", "The natural logarithm.")
log1p = _unary("log1p", "log(1 + x), accurate near 0.")
cbrt = _unary("cbrt", "The cube root.")


def _reals(*values):
    return [as_value(v, "real", ()) for v in values]


def atan2(y, x):
    """The angle of (x, y)."""
    return map_components("atan2", *_reals(y, x))


def pow(x, y):
    """x to the power of y, both real."""
    return map_components("pow", *_reals(x, y))


def divz(a, b):
    """a / b, but 0 where a is 0, whatever b is; so is the derivative."""
    return map_components("divz", *_reals(a, b))


def mulz(a, b):
    """a * b, but 0 where a factor is 0, whatever the other is; so is the derivative."""
    return map_components("mulz", *_reals(a, b))


def fma(a, b, c):
    """a * b + c in one rounding."""
    a, b, c = _reals(a, b, c)
    return Value("real", (), (recorder().op("fma", a.ids + b.ids + c.ids),))


def sign(x):
    """-1, 0 or 1; the derivative is zero."""
    return call("sign", (), as_value(x, "real", ()))


def min(a, b, *more):
    """The least; the derivative is that of the argument taken. Vectors by component."""
    least = each("min", a, b, "min")
    return min(least, *more) if more else least


def max(a, b, *more):
    """The greatest; the derivative is that of the argument taken. Vectors by component."""
    greatest = each("max", a, b, "max")
    return max(greatest, *more) if more else greatest


def clamp(x, low, high):
    """x between two limits."""
    return min(max(x, low), high)


def abs(x):
    """The absolute value; the derivative at 0 is 0."""
    return unary("abs", as_value(x))


def stop_gradient(x):
    """x with the derivative zero."""
    x = as_value(x, "real")
    rec = recorder()
    return Value("real", x.shape, [rec.op("stop_gradient", (r,)) for r in x.ids])


# ---- vectors and matrices ----


def _vector(x, what):
    x = as_value(x)
    if len(x.shape) != 1:
        fail(TypeError, f"{what} takes vectors, not a {x.type}")
    return x


def _matrix(x, what):
    x = as_value(x, "real")
    if len(x.shape) != 2:
        fail(TypeError, f"{what} takes matrices, not a {x.type}")
    return x


def _like(a, b, what):
    a, b = _vector(a, what), _vector(b, what)
    if a.shape != b.shape or a.kind != b.kind:
        fail(TypeError, f"{what} of a {a.type} and a {b.type}")
    return a, b


def sum(v):
    """The sum of a vector's components."""
    v = _vector(v, "sum")
    total = v[0]
    for k in range(1, len(v)):
        total = total + v[k]
    return total


def cwise_product(a, b):
    """The products of the components."""
    a, b = _like(a, b, "cwise_product")
    return map_components("mul", a, b)


def dot(a, b):
    """The scalar product."""
    a, b = _like(a, b, "dot")
    if a.kind != "real":
        return sum(cwise_product(a, b))
    return call(f"dot{len(a)}", (), a, b)


def norm(v):
    """The Euclidean length; the derivative at zero is zero."""
    return call(f"norm{len(_vector(v, 'norm'))}", (), as_value(v, "real"))


def normalize(v):
    """v / norm(v); the zero vector at zero."""
    return call(f"normalize{len(_vector(v, 'normalize'))}", v.shape, as_value(v, "real"))


def cross(a, b):
    """The vector product of vec3; of vec2 the number a.x * b.y - a.y * b.x."""
    a, b = _like(a, b, "cross")
    if a.kind != "real" or len(a) > 3:
        fail(TypeError, f"cross of a {a.type} is not defined")
    return call(f"cross{len(a)}", (3,) if len(a) == 3 else (), a, b)


def outer(a, b):
    """The matrix of products a[r] * b[c]."""
    a, b = _like(a, b, "outer")
    as_value(a, "real")
    return Value("real", (len(a), len(b)), [(x * y).ids[0] for x in a for y in b])


def transpose(m):
    """Rows as columns."""
    n = _matrix(m, "transpose").shape[0]
    return Value("real", m.shape, [m.ids[c * n + r] for r in range(n) for c in range(n)])


def trace(m):
    """The sum of the diagonal."""
    n = _matrix(m, "trace").shape[0]
    total = m[0, 0]
    for k in range(1, n):
        total = total + m[k, k]
    return total


def identity(n):
    """The unit matrix of n rows."""
    ones = [literal(1.0 if k % (n + 1) == 0 else 0.0, "real") for k in range(n * n)]
    return Value("real", (n, n), [one.ids[0] for one in ones])


def _up_to_3(m, what):
    n = _matrix(m, what).shape[0]
    if n > 3:
        fail(TypeError, f"{what} is there for mat2 and mat3")
    return n


def determinant(m):
    """The determinant of a mat2 or mat3."""
    return call(f"determinant{_up_to_3(m, 'determinant')}", (), m)


def inverse(m):
    """The inverse of a mat2 or mat3."""
    return call(f"inverse{_up_to_3(m, 'inverse')}", m.shape, m)


# ---- constructors and conversions: hc.vec3(a, b, c), hc.real(i) ----

TYPES = {
    **{name: (name, ()) for name in ("real", "f32", "i32", "u32", "i64", "u64")},
    **{f"vec{n}": ("real", (n,)) for n in (2, 3, 4)},
    **{f"mat{n}": ("real", (n, n)) for n in (2, 3, 4)},
    **{f"ivec{n}": ("i32", (n,)) for n in (2, 3, 4)},
}


def _converted(x, kind):
    """A scalar of another kind: reals truncate to integers, conditions give 1 and 0."""
    if is_number(x):
        return literal(x, kind)
    x = as_value(x)
    if x.kind == "bool":
        return select(x, literal(1, kind), literal(0, kind))
    if x.kind == kind:
        return copy(x)
    rec = recorder()
    return Value(kind, x.shape, [rec.op("convert", (r,), kind) for r in x.ids])


def construct(dtype, *arguments):
    """What hc.vec3(...), hc.real(...) are inside kernels."""
    name = dtype.name
    if name not in TYPES:
        fail(TypeError, f"hc.{name} is no type of kernels; hc.real has the precision of the launch")
    recorder()
    kind, shape = TYPES[name]
    count = math.prod(shape)
    parts = []
    for a in arguments:
        if isinstance(a, (list, tuple)):
            parts.extend(a)
        elif isinstance(a, Value) and a.shape:
            parts.extend(Value(a.kind, (), (r,)) for r in a.use())
        else:
            parts.append(a)
    if len(parts) == 0:
        parts = [0] * count
    elif len(parts) == 1 and len(shape) == 1:
        parts = parts * count
    for part in parts:
        if not is_number(part) and not (isinstance(part, Value) and not part.shape):
            fail(TypeError, f"hc.{name}: {type(part).__name__} stands where a scalar is expected")
    if len(parts) != count:
        fail(TypeError, f"hc.{name} takes {count} components, but {len(parts)} are given")
    if count > 1:  # of one kind already, as in every other expression
        parts = [as_value(p, kind, (), f"a component of hc.{name}") for p in parts]
    return Value(kind, shape, [_converted(p, kind).ids[0] for p in parts])


# ---- derivatives inside a kernel ----


def grad(function, *variables):
    """The gradient of a real function(x, ...) at x, ..., in the shape of each."""
    rec = recorder()
    inputs = []
    for v in variables:
        v = as_value(v, "real")
        inputs.append(Value("real", v.shape, [rec.op("variable", (r,)) for r in v.ids]))
    at = [copy(v) for v in inputs]  # the function may assign components
    result = as_value(function(*at), "real", (), "what grad differentiates")
    registers = [r for v in inputs for r in v.ids]
    out = list(rec.fresh(len(registers)))
    rec.add("gradient", out, result.ids + tuple(registers))
    gradients = []
    for v in inputs:
        gradients.append(Value("real", v.shape, out[: len(v.ids)]))
        out = out[len(v.ids) :]
    return gradients[0] if len(gradients) == 1 else tuple(gradients)


def injective(index):
    """Declares that no two items compute the same value of this index, so that it may be the own
    index of what they write."""
    index = as_value(index, "i32", ())
    recorder().add("injective", (), index.ids)
    return index


__all__ = [
    "abs", "acos", "asin", "atan", "atan2", "cbrt", "ceil", "clamp", "copy", "cos", "cosh", "cross",
    "cwise_product", "determinant", "divz", "dot", "exp", "expm1", "floor", "fma", "grad",
    "identity", "injective", "inverse", "log", "log1p", "max", "min", "mulz", "norm", "normalize", "outer",
    "pow", "round", "select", "sign", "sin", "sinh", "sqrt", "stop_gradient", "sum", "tan", "tanh",
    "trace", "transpose", "trunc",
]  # fmt: skip
