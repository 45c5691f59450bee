"""What a kernel computes with while its function runs: traced scalars, vectors and matrices.

A Value names registers of the recording, one per component. Registers are never written again
inside the block that made them (loops write theirs at the end of a trip), so that a Value means
what it meant when it was made. Only `v.x = ...` and `v[k] = ...` change a Value, and regions, which
let a name mean its new value behind them (_regions.py).
"""

import numbers
import operator
import os
import sys
import threading

import numpy as np

from hindcast._core import Error

KINDS = ("real", "f32", "i32", "u32", "i64", "u64", "bool")
BITS = {"i32": 32, "u32": 32, "i64": 64, "u64": 64}
_current = threading.local()
# Operators between a number of NumPy and a Value ask for this.
_of_ufuncs = {
    "add": operator.add, "subtract": operator.sub, "multiply": operator.mul, "power": operator.pow,
    "divide": operator.truediv, "floor_divide": operator.floordiv, "remainder": operator.mod,
    "matmul": operator.matmul, "less": operator.lt, "less_equal": operator.le,
    "greater": operator.gt, "greater_equal": operator.ge, "equal": operator.eq,
    "not_equal": operator.ne, "bitwise_and": operator.and_, "bitwise_or": operator.or_,
    "bitwise_xor": operator.xor, "left_shift": operator.lshift, "right_shift": operator.rshift,
    "negative": operator.neg, "positive": operator.pos, "absolute": operator.abs,
    "invert": operator.invert,
}  # fmt: skip


def recorder():
    """The recorder of the kernel whose function runs on this thread."""
    found = getattr(_current, "recorder", None)
    if found is None:
        raise Error(
            "a traced value or function is used while no kernel is being traced; "
            "use it in a function with @hc.kernel, which hc.record() traces"
        )
    return found


def user_frame():
    """The innermost frame outside this package."""
    frame = sys._getframe(1)
    while frame.f_globals.get("__name__", "").split(".")[0] == "hindcast":
        frame = frame.f_back
    return frame


class Region:
    """A block of steps; open while the function is inside."""

    def __init__(self, what, place, parent=None):
        self.what, self.place, self.parent = what, place, parent
        self.open = True
        self.steps = []


class Recorder:
    def __init__(self, name):
        self.name = name
        self.registers = 0
        self.places = {}
        self.root = self.region = Region("kernel", -1)
        self.caller = None  # the frame that calls the kernel's function
        self.broken = None  # where an exception left a region
        self.controls = []  # with the place where each was made

    def where(self):
        frame = user_frame()
        return frame.f_code.co_filename, frame.f_lineno

    def place(self):
        key = self.where()
        return self.places.setdefault(key, len(self.places))

    def text_of(self, place):
        for (file, line), number in self.places.items():
            if number == place:
                return f"{os.path.basename(file)}:{line}"
        return "?"

    def fresh(self, count=1):
        first = self.registers
        self.registers += count
        return tuple(range(first, self.registers))

    def add(self, code, outputs=(), inputs=(), data=None, place=None):
        place = self.place() if place is None else place
        self.region.steps.append((code, list(outputs), list(inputs), data, place))

    def op(self, code, inputs, data=None):
        (out,) = self.fresh()
        self.add(code, (out,), inputs, data)
        return out

    def check_controls(self):
        for control, place in self.controls:
            if not control.used:
                file, line = next(key for key, number in self.places.items() if number == place)
                raise Error(
                    f"{file}:{line}: in kernel '{self.name}': hc.{control.what} stands without "
                    f"`with`, and would do nothing; write `with hc.{control.what}(...):`"
                )

    def describe(self):
        files = [list(key) for key in sorted(self.places, key=self.places.get)]
        return self.root.steps, self.registers, files


def fail(kind, text):
    """Raises an error with the kernel and the line of the user's code."""
    rec = getattr(_current, "recorder", None)
    file, line = (rec or Recorder("")).where()
    where = f"{file}:{line}: " + (f"in kernel '{rec.name}': " if rec else "")
    raise kind(where + text)


def describe_type(kind, shape):
    if not shape:
        return kind
    name = ("" if kind == "real" else kind[0]) + ("vec" if len(shape) == 1 else "mat")
    return f"{name}{shape[-1]}"


def a_type(kind, shape):
    name = describe_type(kind, shape)
    return ("an " if name[0] == "i" else "a ") + name


def is_number(x):
    return isinstance(x, (numbers.Real, np.bool_)) and not isinstance(x, Value)


class Value:
    """A traced scalar, vector or matrix."""

    __slots__ = ("kind", "shape", "ids", "region", "recorder", "element", "__weakref__")
    __hash__ = object.__hash__

    def __init__(self, kind, shape, ids, element=None):
        self.recorder = recorder()
        self.kind, self.shape, self.ids = kind, shape, tuple(ids)
        self.region = self.recorder.region
        self.element = element  # (buffer, index) of y[i], whose components can be stored

    @property
    def type(self):
        return describe_type(self.kind, self.shape)

    def use(self):
        """The registers, where they may be read."""
        if self.recorder is not getattr(_current, "recorder", None):
            fail(Error, "a value of another kernel is used, or one whose kernel is finished; "
                 "pass what changes as a parameter")
        if not self.region.open:
            fail(Error, f"a value that was made inside the {self.region.what} at "
                 f"{self.recorder.text_of(self.region.place)} is used behind it; give the name a "
                 "value before (such as x = hc.real(0)) and assign it inside")
        return self.ids

    def __repr__(self):
        return f"<traced {self.type}>"

    def __bool__(self):
        fail(TypeError, "a traced condition is not known while tracing; write `with hc.if_(c):` or "
             "hc.select(c, a, b), hc.while_ for a loop, and & | ~ for and, or, not")

    def _no_number(self, *_):
        fail(TypeError, f"a traced {self.type} is not a number of Python while tracing; convert "
             "with hc.real(x), hc.i32(x), write hc.sqrt(x) for math.sqrt(x), and loop with "
             "`with hc.for_(n) as k:`")

    __int__ = __float__ = __index__ = __complex__ = __round__ = _no_number

    # --- NumPy ---

    def _no_array(self, name):
        text = f"{name} does not take a traced {self.type}: the kernel is traced, not computed"
        word = name.split(".")[-1]
        word = {"arcsin": "asin", "arccos": "acos", "arctan": "atan", "arctan2": "atan2",
                "power": "pow", "minimum": "min", "maximum": "max", "absolute": "abs",
                "clip": "clamp", "where": "select", "det": "determinant", "inv": "inverse",
                "rint": "round"}.get(word, word)  # fmt: skip
        from hindcast import _functions

        known = word in _functions.__all__
        fail(TypeError, f"{text}; write hc.{word}(...)" if known else
             f"{text}; write it with the functions of hindcast, such as hc.norm and hc.sqrt")

    def __array__(self, *_, **__):
        self._no_array("NumPy")

    def __array_function__(self, function, types, arguments, options):
        module = getattr(function, "__module__", "numpy").replace("numpy", "np", 1)
        self._no_array(f"{module}.{function.__name__}")

    # NumPy's numbers leave the operators to this class.
    def __array_ufunc__(self, function, method, *inputs, **options):
        compute = _of_ufuncs.get(function.__name__)
        if method != "__call__" or compute is None or options:
            self._no_array(f"np.{function.__name__}")
        if any(isinstance(x, np.ndarray) and x.ndim > 0 for x in inputs):
            fail(TypeError, f"an array of NumPy and a traced {self.type} are not combined; give the "
                 "array as a parameter, such as x: hc.Read[hc.real], and write x[i]")
        return compute(*(x.item() if isinstance(x, (np.generic, np.ndarray)) else x
                          for x in inputs))  # fmt: skip

    def __format__(self, spec):
        return repr(self)

    # --- components ---

    def __len__(self):
        if not self.shape:
            raise TypeError("a traced scalar has no length")
        return self.shape[0]

    def __iter__(self):
        if len(self.shape) != 1:
            fail(TypeError, f"a traced {self.type} cannot be taken apart in a loop; "
                 "use m[r, c] for matrices")
        return iter([self[k] for k in range(self.shape[0])])

    def _position(self, key):
        keys = key if isinstance(key, tuple) else (key,)
        if len(keys) != len(self.shape) or not self.shape:
            how = {0: "no components", 1: "components v[k]", 2: "elements m[r, c]"}
            fail(TypeError, f"a {self.type} has {how[len(self.shape)]}")
        position = 0
        for k, n in zip(keys, self.shape):
            if isinstance(k, Value) or not isinstance(k, numbers.Integral):
                fail(TypeError, "a component is named by a whole number")
            if not -n <= k < n:
                fail(IndexError, f"a {self.type} has no component {key}")
            position = position * n + int(k) % n
        return position

    def __getitem__(self, key):
        if isinstance(key, Value) and len(self.shape) == 1:
            found = Value(self.kind, (), self.use()[:1])
            for k in range(1, self.shape[0]):
                found = select(key == k, Value(self.kind, (), (self.ids[k],)), found)
            return found
        return Value(self.kind, (), (self.use()[self._position(key)],))

    def __setitem__(self, key, value):
        from hindcast._names import names_of

        if isinstance(key, Value) and len(self.shape) == 1:
            for k in range(self.shape[0]):
                self[k] = select(key == k, as_value(value, self.kind, ()), self[k])
            return
        position = self._position(key)
        component = as_value(value, self.kind, (), "a component")
        self.use()
        names = names_of(self)
        if self.element is not None:
            if names:
                fail(Error, f"'{names[0]}' is the value that {self.element[0].name}[i] had; write "
                     f"{self.element[0].name}[i].x = ... to store a component, or "
                     f"{names[0]} = hc.copy({self.element[0].name}[i]) to change a copy")
            self.element[0].store(self.element[1], position, component)
        elif not names:
            fail(Error, "a component of a value without a name is assigned, which changes "
                 "nothing; give the value a name first: v = ...; v.x = ...")
        ids = list(self.ids)
        ids[position] = component.ids[0]
        self.ids = tuple(ids)

    # --- operators ---

    def __neg__(self):
        return unary("neg", self)

    def __pos__(self):
        arithmetic_kind(self, "+")
        return copy(self)

    def __abs__(self):
        return unary("abs", self)

    def __invert__(self):
        if self.kind == "bool":
            return Value("bool", (), (recorder().op("logical_not", self.use()),))
        if self.kind in BITS:
            return self ^ as_value(-1 if self.kind[0] == "i" else 2 ** BITS[self.kind] - 1,
                                   self.kind, ())
        fail(TypeError, f"~ is for conditions and integers, not {self.type}")


def literal(number, kind):
    """A number of Python as a value of a traced kind, where that is exact in meaning."""
    if isinstance(number, (bool, np.bool_)):
        if kind != "bool":
            fail(TypeError, f"{bool(number)} is used as a {kind}; write 1 or 0")
        number = int(number)
    elif kind == "bool":
        fail(TypeError, f"{number!r} is used as a condition; write True, False or a comparison")
    elif kind in BITS:
        if not isinstance(number, numbers.Integral):
            fail(TypeError, f"{number!r} is used as {kind}; convert the other operand with "
                 "hc.real(i), or write a whole number")
        number = int(number)
        low = -(2 ** (BITS[kind] - 1)) if kind[0] == "i" else 0
        high = 2 ** (BITS[kind] - (1 if kind[0] == "i" else 0))
        if not low <= number < high:
            fail(OverflowError, f"{number} does not fit into {kind}")
        if number >= 2**63:
            number -= 2**64  # the same bits
    else:
        number = float(number)
    return Value(kind, (), (recorder().op("literal", (), (kind, number)),))


def kind_of(number):
    if isinstance(number, (bool, np.bool_)):
        return "bool"
    return "i32" if isinstance(number, numbers.Integral) else "real"


def as_value(x, kind=None, shape=None, what="a value"):
    """A Value as it is, a number as a literal; checked against kind and shape where given."""
    if is_number(x):
        x = literal(x, kind or kind_of(x))
    if not isinstance(x, Value):
        kind_text = "a value" if kind is None else a_type(kind, shape or ())
        fail(TypeError, f"{type(x).__name__} stands where {kind_text} is expected")
    x.use()
    if (kind is not None and x.kind != kind) or (shape is not None and x.shape != shape):
        expected = a_type(kind or x.kind, x.shape if shape is None else shape)
        remedy = f"; convert it: hc.{kind}(x)" if kind != x.kind and kind != "bool" else ""
        fail(TypeError, f"{what} is {a_type(x.kind, x.shape)}, where {expected} is expected{remedy}")
    return x


def arithmetic_kind(x, symbol):
    if x.kind == "bool":
        fail(TypeError, f"{symbol} is not for conditions; write hc.select(c, 1, 0) for a number")
    if x.kind == "f32":
        fail(TypeError, f"{symbol} is not for f32; convert it first: hc.real(x)")


def pair(a, b, symbol):
    """Two operands of one kind; numbers take the kind of the other."""
    if not isinstance(a, Value) and not isinstance(b, Value):
        kind = "real" if "real" in (kind_of(a), kind_of(b)) else kind_of(a)
        return literal(a, kind), literal(b, kind)
    for x in (a, b):
        if isinstance(x, Value) and symbol not in ("==", "!=", "&", "|", "^", "select"):
            arithmetic_kind(x, symbol)
    if not isinstance(a, Value):
        a = as_value(a, b.kind)
    if not isinstance(b, Value):
        b = as_value(b, a.kind)
    a.use(), b.use()
    if a.kind != b.kind:
        fail(TypeError, f"{a.type} {symbol} {b.type} mixes kinds; convert one, such as hc.real(i)")
    return a, b


def unary(code, x):
    arithmetic_kind(x, code)
    rec = recorder()
    return Value(x.kind, x.shape, [rec.op(code, (r,)) for r in x.use()])


def map_components(code, a, b):
    rec = recorder()
    return Value(a.kind, a.shape, [rec.op(code, (p, q)) for p, q in zip(a.ids, b.ids)])


def each(code, a, b, symbol):
    a, b = pair(a, b, symbol)
    arithmetic_kind(a, symbol)
    if a.shape != b.shape:
        fail(TypeError, f"{a.type} {symbol} {b.type} is not defined")
    return map_components(code, a, b)


def product(a, b):
    a, b = pair(a, b, "*")
    arithmetic_kind(a, "*")
    if a.shape and b.shape:
        how = "write a @ b" if len(a.shape) == 2 else "write hc.dot(a, b) or hc.cwise_product(a, b)"
        fail(TypeError, f"{a.type} * {b.type} is ambiguous; {how}")
    rec = recorder()
    if a.shape:
        return Value(a.kind, a.shape, [rec.op("mul", (p, b.ids[0])) for p in a.ids])
    return Value(b.kind, b.shape, [rec.op("mul", (a.ids[0], q)) for q in b.ids])


def quotient(a, b):
    a, b = pair(a, b, "/")
    arithmetic_kind(a, "/")
    if a.kind != "real":
        fail(TypeError, f"{a.type} / {b.type} is no integer; write // for the floor, or "
             "hc.real(a) / hc.real(b)")
    if b.shape:
        fail(TypeError, f"{a.type} / {b.type} is not defined")
    rec = recorder()
    return Value(a.kind, a.shape, [rec.op("div", (p, b.ids[0])) for p in a.ids])


def _integers(a, b, symbol, remedy):
    a, b = pair(a, b, symbol)
    arithmetic_kind(a, symbol)
    if a.kind == "real":
        fail(TypeError, f"{symbol} is for integers; {remedy}")
    if a.shape or b.shape:
        fail(TypeError, f"{a.type} {symbol} {b.type} is not defined")
    return a, b, map_components("rem", a, b)


def _other_sign(a, b, r):
    return (r != 0) & ((r < 0) != (b < 0))


def floor_quotient(a, b):
    a, b, r = _integers(a, b, "//", "write hc.floor(a / b)")
    q = map_components("div", a, b)
    return q if a.kind[0] == "u" else select(_other_sign(a, b, r), q - 1, q)


def remainder(a, b):
    a, b, r = _integers(a, b, "%", "write a - hc.floor(a / b) * b")
    return r if a.kind[0] == "u" else select(_other_sign(a, b, r), r + b, r)


def power(a, b):
    if isinstance(a, Value) and isinstance(b, (int, np.integer)) and not isinstance(b, bool):
        arithmetic_kind(a, "**")
        if a.shape:
            fail(TypeError, f"{a.type} ** {b} is not defined")
        if a.kind != "real" and b < 0:
            fail(TypeError, f"{a.type} ** {b} is no integer; write hc.real(a) ** {b}")
        if b == 2:
            return a * a
        if a.kind != "real":
            result = literal(1, a.kind)
            for _ in range(int(b)):
                result = result * a
            return result
    a, b = pair(a, b, "**")
    if a.kind != "real" or a.shape or b.shape:
        fail(TypeError, f"{a.type} ** {b.type} is not defined; convert with hc.real(a)")
    return map_components("pow", a, b)


def bits(code, a, b, symbol):
    a, b = pair(a, b, symbol)
    if a.kind not in BITS and (a.kind != "bool" or code not in ("bit_and", "bit_or")):
        fail(TypeError, f"{a.type} {symbol} {b.type} is not defined")
    if a.shape or b.shape:
        fail(TypeError, f"{a.type} {symbol} {b.type} is not defined")
    return map_components(code, a, b)


def compare(code, a, b, symbol):
    a, b = pair(a, b, symbol)
    if a.shape or b.shape:
        fail(TypeError, f"{a.type} {symbol} {b.type}: only scalars are compared")
    if a.kind == "f32" or (a.kind == "bool" and code != "eq"):
        arithmetic_kind(a, symbol)
    return Value("bool", (), (recorder().op(code, (a.ids[0], b.ids[0])),))


def matrix_product(a, b):
    a, b = as_value(a), as_value(b)
    if a.kind != "real" or b.kind != "real" or len(a.shape) != 2 or b.shape[:1] != a.shape[1:]:
        fail(TypeError, f"{a.type} @ {b.type} is not defined")
    name = "matrix_vector" if len(b.shape) == 1 else "matrix_matrix"
    return call(f"{name}{a.shape[0]}", b.shape, a, b)


def call(name, shape, *values):
    """A function of engine/lang on reals."""
    rec = recorder()
    n = 1
    for extent in shape:
        n *= extent
    out = rec.fresh(n)
    rec.add("call", out, [r for v in values for r in v.use()], name)
    return Value("real", shape, out)


def select(c, a, b):
    """a where the condition holds, else b. Both are computed; the derivative is that of one."""
    if is_number(c):
        fail(TypeError, "the condition of select is known while tracing; write `a if c else b`")
    c = as_value(c, "bool", (), "the condition")
    a, b = pair(a, b, "select")
    if a.shape != b.shape:
        fail(TypeError, f"select between a {a.type} and a {b.type}")
    rec = recorder()
    return Value(a.kind, a.shape,
                 [rec.op("select", (c.ids[0], p, q)) for p, q in zip(a.ids, b.ids)])


def copy(x):
    """A value of its own, which `x` and regions leave alone."""
    x = as_value(x)
    return Value(x.kind, x.shape, x.use())


def _operators():
    def both(name, function):
        setattr(Value, f"__{name}__", guarded(function))
        setattr(Value, f"__r{name}__", guarded(lambda a, b: function(b, a)))

    def guarded(function):
        def operator(a, b):
            if not isinstance(b, Value) and not is_number(b):
                return NotImplemented
            return function(a, b)

        return operator

    both("add", lambda a, b: each("add", a, b, "+"))
    both("sub", lambda a, b: each("sub", a, b, "-"))
    both("mul", product)
    both("truediv", quotient)
    both("floordiv", floor_quotient)
    both("mod", remainder)
    both("pow", power)
    both("matmul", matrix_product)
    for name, code, symbol in (("and", "bit_and", "&"), ("or", "bit_or", "|"),
                               ("xor", "bit_xor", "^"), ("lshift", "shift_left", "<<"),
                               ("rshift", "shift_right", ">>")):
        both(name, lambda a, b, code=code, symbol=symbol: bits(code, a, b, symbol))

    def negated(a, b):
        return ~compare("eq", a, b, "!=")

    for name, function in (("lt", lambda a, b: compare("lt", a, b, "<")),
                           ("gt", lambda a, b: compare("lt", b, a, ">")),
                           ("le", lambda a, b: compare("le", a, b, "<=")),
                           ("ge", lambda a, b: compare("le", b, a, ">=")),
                           ("eq", lambda a, b: compare("eq", a, b, "==")), ("ne", negated)):
        setattr(Value, f"__{name}__", compared(function, name))
    for k, letter in enumerate("xyzw"):
        setattr(Value, letter, component_property(k, letter))


def compared(function, name):
    def operator(a, b):
        if not isinstance(b, Value) and not is_number(b):
            fail(TypeError, f"a traced {a.type} is compared with {type(b).__name__}; "
                 "`is None` works for None")
        return function(a, b)

    return operator


def component_property(k, letter):
    def check(self):
        if len(self.shape) != 1 or k >= self.shape[0]:
            fail(AttributeError, f"a {self.type} has no component '{letter}'")

    def get(self):
        check(self)
        return self[k]

    def put(self, value):
        check(self)
        self[k] = value

    return property(get, put)


_operators()
