"""Kernels written in Python.

    @hc.kernel
    def scale(i: hc.Int, x: hc.Read[hc.vec3], k: hc.Param[hc.real], y: hc.Write[hc.vec3]):
        y[i] = x[i] * k

The first parameter is the work item. Every other one says what it holds and how it is used; one
declaration, one access. The function runs once, with traced values, when the first launch is
recorded: `if` and `for` of Python choose and unroll, with hc.if_, hc.for_ and hc.while_ it follows
traced values.
"""

import inspect
import sys

from hindcast import _core
from hindcast._arguments import to_json
from hindcast._captured import watch
from hindcast._core import Error
from hindcast._errors import ArgumentError
from hindcast._functions import TYPES, construct  # noqa: F401
from hindcast._regions import else_, for_, if_, while_  # noqa: F401
from hindcast._values import (
    Recorder,
    Value,
    _current,
    as_value,
    describe_type,
    fail,
    is_number,
    recorder,
)


class Int:
    """The work item: the first parameter of a kernel."""


class _Buffer:
    """A parameter inside its kernel."""

    __slots__ = ("number", "name", "kind", "shape", "count")
    __iter__ = None
    __hash__ = object.__hash__

    def __init__(self, number, name, kind, shape):
        self.number, self.name, self.kind, self.shape = number, name, kind, shape
        self.count = 1
        for extent in shape:
            self.count *= extent

    def __repr__(self):
        kind = describe_type(self.kind, self.shape)
        return f"<{type(self).__name__.strip('_')}[{kind}] {self.name}>"

    def index(self, i):
        if not isinstance(i, Value) and is_number(i) and i < 0:
            fail(IndexError, f"'{self.name}[{i}]': indices count from 0; there is no end to count "
                 "from, since the kernel is traced for arrays of any length")
        if isinstance(i, (tuple, slice, list)):
            fail(TypeError, f"'{self.name}' is indexed by one integer: elements are numbered, and "
                 "an element's components come behind, as in x[i].x or x[i][0]")
        return as_value(i, "i32", (), f"the index of '{self.name}'").ids

    def element(self, value):
        return as_value(value, self.kind, self.shape, f"what '{self.name}' takes").ids

    def each(self, code, index, value):
        for k, r in enumerate(value):
            recorder().add(code, (), (*index, r), (self.number, k))

    def loaded(self, code, index, element=None):
        rec = recorder()
        ids = [rec.op(code, index, (self.number, k)) for k in range(self.count)]
        return Value(self.kind, self.shape, ids, element)

    def wrong(self, how):
        return f"'{self.name}' is declared {type(self).__name__.strip('_')}, {how}"

    def __getitem__(self, i):
        fail(TypeError, self.wrong("and has no elements to read"))

    def __setitem__(self, i, value):
        fail(TypeError, self.wrong("so its elements are not assigned; declare it Write or "
                                   "ReadWrite to assign the own element"))


class _Read(_Buffer):
    def __getitem__(self, i):
        return self.loaded("load", self.index(i))


class _Property(_Read):
    pass


class _Own(_Buffer):
    def __getitem__(self, i):
        index = self.index(i)
        return self.loaded("own_read", index, (self, index))

    def __setitem__(self, i, value):
        index = self.index(i)
        self.each("own_write", index, self.element(value))

    def store(self, index, component, value):
        recorder().add("own_write", (), (*index, *value.use()), (self.number, component))


class _Write(_Own):
    pass


class _ReadWrite(_Own):
    pass


class _Added:
    """force[j], or a component of it: takes += and -=."""

    __slots__ = ("buffer", "place", "key", "component", "done")
    __hash__ = object.__hash__

    def __init__(self, buffer, index, key, component=None):
        self.buffer, self.place, self.key, self.component = buffer, index, key, component
        self.done = False  # True after += or -=

    def _refuse(self, *_):
        fail(TypeError, self.buffer.wrong("so its elements are not read; take another parameter "
                                          "or another kernel to read them"))

    __add__ = __radd__ = __sub__ = __rsub__ = __mul__ = __rmul__ = __truediv__ = _refuse
    __rtruediv__ = __neg__ = __bool__ = __lt__ = __gt__ = __le__ = __ge__ = __float__ = _refuse
    __eq__ = __ne__ = __pow__ = __rpow__ = __matmul__ = __abs__ = __imul__ = __itruediv__ = _refuse
    __iter__ = _refuse

    def add(self, value, negative):
        b, k = self.buffer, self.component
        shape = b.shape if k is None else ()
        value = as_value(value, b.kind, shape, f"what '{b.name}' takes")
        if negative:
            value = -value
        for c, r in enumerate(value.ids):
            recorder().add("accumulate", (), (*self.place, r), (b.number, c if k is None else k))
        self.done = True
        return self

    def __iadd__(self, value):
        return self.add(value, False)

    def __isub__(self, value):
        return self.add(value, True)

    def part(self, key):
        shape, b = self.buffer.shape, self.buffer
        if self.component is not None or not shape:
            fail(TypeError, f"'{b.name}[i]' has no components there")
        probe = Value(b.kind, shape, range(b.count))
        return _Added(b, self.place, self.key, probe._position(key))

    def finish(self, part, key):
        if not isinstance(part, _Added) or part.component != self.part(key).component:
            part = None
        self.buffer.finish(part, self.key)

    def __getitem__(self, key):
        return self.part(key)

    def __setitem__(self, key, part):
        self.finish(part, key)


def _part_property(k, letter):
    def get(self):
        if len(self.buffer.shape) != 1 or k >= self.buffer.shape[0]:
            fail(AttributeError, f"'{self.buffer.name}[i]' has no component '{letter}'")
        return self.part(k)

    return property(get, lambda self, part: self.finish(part, k))


for _k, _letter in enumerate("xyzw"):
    setattr(_Added, _letter, _part_property(_k, _letter))


class _Accumulate(_Buffer):
    def __getitem__(self, i):
        return _Added(self, self.index(i), i)

    # Behind f[i] += v and f[i].x += v, which have been recorded, Python assigns the element.
    def __setitem__(self, i, part):
        self.finish(part if getattr(part, "component", 0) is None else None, i)

    def finish(self, part, key):
        same = isinstance(part, _Added) and part.buffer is self and part.key is key
        if same and part.done:
            part.done = False
        else:
            fail(TypeError, self.wrong("so its elements take += and -= and nothing else; declare "
                                       "it Write to assign the own element"))


class _Sum(_Accumulate):
    pass


class _WriteSlice(_Buffer):
    def store_once(self, i, value):
        """Stores an element that this item owns; each at most once per launch."""
        self.each("store_once", self.index(i), self.element(value))

    def __setitem__(self, i, value):
        fail(TypeError, self.wrong(f"so its elements are stored by {self.name}.store_once(j, "
                                   "value), each once"))


class _Reduce(_Buffer):
    def _refuse(self, *_):
        fail(TypeError, self.wrong("so it takes += and -= and nothing else"))

    __add__ = __radd__ = __sub__ = __rsub__ = __mul__ = __rmul__ = __neg__ = __bool__ = _refuse

    def __iadd__(self, value):
        self.each("reduce", (), self.element(value))
        return self

    def __isub__(self, value):
        value = as_value(value, self.kind, self.shape, f"what '{self.name}' takes")
        return self.__iadd__(-value)

    def __getitem__(self, i):
        fail(TypeError, self.wrong(f"so it has no elements; write {self.name} += value"))

    def __setitem__(self, i, value):
        self[i]


class _Counter:
    """n[j] of atomics."""

    def __init__(self, buffer, index):
        self.buffer, self.place = buffer, index

    def _effect(self, code, value):
        self.buffer.each(code, self.place, self.buffer.element(value))

    def add(self, value):
        self._effect("atomic_add", value)

    def min(self, value):
        self._effect("atomic_min", value)

    def max(self, value):
        self._effect("atomic_max", value)

    def __iadd__(self, value):
        fail(TypeError, self.buffer.wrong(f"so write {self.buffer.name}[j].add(value)"))


class _Atomic(_Buffer):
    def __getitem__(self, i):
        return _Counter(self, self.index(i))


class _Param(_Buffer):
    pass


# ---- annotations -----------------------------------------------------------------------------


class Declared:
    """What an annotation such as hc.Read[hc.vec3] is."""

    __slots__ = ("access", "dtype")

    def __init__(self, access, dtype):
        self.access, self.dtype = access, dtype

    def __repr__(self):
        return f"hc.{self.access.__name__}[hc.{self.dtype.name}]"


class _Access:
    inside = None

    def __class_getitem__(cls, dtype):
        if not isinstance(dtype, _core.DataType):
            raise ArgumentError(
                f"hc.{cls.__name__}[...] takes a type such as hc.real, hc.i32 or hc.vec3, not "
                f"{dtype!r}"
            )
        return Declared(cls, dtype)

    def __init__(self):
        name = type(self).__name__
        raise TypeError(f"hc.{name} stands in annotations, with a type: hc.{name}[hc.real]")


class Read(_Access):
    """x[i] at any index."""

    inside = _Read


class Write(_Access):
    """y[i] = v at the item's own index, on every path; the old value is dead."""

    inside = _Write


class ReadWrite(_Access):
    """y[i] read and assigned, whole or by component, at the item's own index."""

    inside = _ReadWrite


class Accumulate(_Access):
    """f[j] += v at any index; adds to what is there, in the order of the items."""

    inside = _Accumulate


class Sum(_Access):
    """f[j] += v at any index, after clearing the whole array."""

    inside = _Sum


class WriteSlice(_Access):
    """y.store_once(j, v): elements that the item owns, each stored at most once."""

    inside = _WriteSlice


class Reduce(_Access):
    """e += v: one result per launch. Summed in f64: its array has one element, of float64 in both
    precisions, such as hc.zeros(1, hc.f64)."""

    inside = _Reduce


class Atomic(_Access):
    """n[j].add(v), .min(v), .max(v) of integers."""

    inside = _Atomic


class Param(_Access):
    """One value per launch: a number, or an array of one element, of float64 for reals."""

    inside = _Param


class Property(_Access):
    """p[i]: one value per item, or one for all where a number is given."""

    inside = _Property


# ---- @hc.kernel ------------------------------------------------------------------------------


def _annotation(function, name, given, names):
    if not isinstance(given, str):
        return given
    try:
        return eval(given, function.__globals__, names)  # noqa: S307: the user's own text
    except Exception as error:
        raise ArgumentError(
            f"kernel '{function.__name__}': the annotation '{given}' of '{name}' cannot be "
            f"evaluated: {error}"
        ) from error


def _declared(function, names):
    def refuse(what):
        raise ArgumentError(f"kernel '{function.__name__}': {what}")

    signature = inspect.signature(function)
    found = []
    for position, (name, p) in enumerate(signature.parameters.items()):
        if p.kind in (p.VAR_POSITIONAL, p.VAR_KEYWORD):
            refuse(f"'*{name}' is not possible; name every parameter, with its annotation")
        if p.kind is p.KEYWORD_ONLY:
            refuse(f"'{name}' stands behind *; leave * out, arguments are given by name anyway")
        if name in ("kernel", "dim", "device", "precision"):
            refuse(f"'{name}' is a name that hc.record() takes itself; choose another")
        if p.default is not p.empty:
            refuse(f"'{name}' has a default value; leave it out and give it to hc.record()")
        if p.annotation is p.empty:
            what = "hc.Int" if position == 0 else "such as hc.Read[hc.vec3] or hc.Param[hc.real]"
            refuse(f"'{name}' has no annotation; write {name}: {what}")
        annotation = _annotation(function, name, p.annotation, names)
        if position == 0:
            if annotation is not Int:
                refuse(f"the first parameter '{name}' is the work item; write {name}: hc.Int")
            continue
        if annotation is Int:
            refuse(f"'{name}' is a second work item; write {name}: hc.Param[hc.i32] for a number")
        if isinstance(annotation, type) and issubclass(annotation, _Access):
            refuse(f"'{name}' does not say what it holds; write hc.{annotation.__name__}[hc.real]")
        if isinstance(annotation, _core.DataType):
            refuse(f"'{name}' does not say how it is used; write hc.Read[hc.{annotation.name}], or "
                   f"hc.Param[hc.{annotation.name}] for one value per launch")
        if not isinstance(annotation, Declared):
            refuse(f"'{name}' is annotated with {annotation!r}; write one such as "
                   "hc.Read[hc.vec3], hc.Write[...], hc.Accumulate[...] or hc.Param[hc.real]")
        if annotation.dtype.name not in TYPES:
            refuse(f"'{name}' holds hc.{annotation.dtype.name}; write hc.real, which has the "
                   "precision of the arrays given")
        kind, shape = TYPES[annotation.dtype.name]
        if annotation.access is Reduce and kind != "real":
            refuse(f"'{name}' reduces {annotation.dtype.name}; Reduce sums reals: add hc.real(n), "
                   "or use Atomic for integers")
        if annotation.access is Atomic and (kind in ("real", "f32") or shape):
            refuse(f"'{name}' is Atomic of {annotation.dtype.name}; Atomic is for integers: use "
                   "Accumulate")
        found.append((name, annotation.access, kind, shape))
    if inspect.isgeneratorfunction(function) or inspect.iscoroutinefunction(function):
        refuse("it is a generator or a coroutine; leave yield and async out")
    if not signature.parameters:
        refuse("it has no parameters; the first is the work item: i: hc.Int")
    return found


def _describe(function, parameters):
    """Runs the function with traced values; what it did, for the C++ side."""
    rec = Recorder(function.__name__)
    before = getattr(_current, "recorder", None)
    _current.recorder = rec
    try:
        code = function.__code__
        rec.places[(code.co_filename, code.co_firstlineno)] = 0
        arguments = [Value("i32", (), rec.fresh())]
        rec.add("item", arguments[0].ids, place=0)
        for number, (name, access, kind, shape) in enumerate(parameters):
            buffer = access.inside(number, name, kind, shape)
            if access is Param:
                ids = rec.fresh(buffer.count)
                for k, r in enumerate(ids):
                    rec.add("value", (r,), (), (number, k), 0)
                buffer = Value(kind, shape, ids)
            arguments.append(buffer)
        rec.caller = sys._getframe()
        result = function(*arguments)
        if result is not None:
            raise Error(f"kernel '{rec.name}' returns a value; store it in an element: y[i] = ...")
        if rec.broken:
            raise Error(f"kernel '{rec.name}': an exception left the {rec.broken}, and the "
                        "function went on; let it pass")
        rec.region.open = False
        rec.check_controls()
        return (*rec.describe(), watch(function))
    finally:
        rec.caller = None
        rec.root.open = False
        _current.recorder = before


def kernel(function):
    """Makes a kernel of a function with annotated parameters."""
    if not inspect.isfunction(function):
        raise ArgumentError(f"@hc.kernel stands above a function, not {type(function).__name__}")
    names = dict(sys._getframe(1).f_locals)
    parameters = _declared(function, names)
    made = [
        (name, access.__name__, kind, _count(shape), shape[0] if len(shape) == 2 else 1)
        for name, access, kind, shape in parameters
    ]
    text = inspect.getdoc(function) or ""
    return _core._make_kernel(
        function.__name__, made, text, lambda: _describe(function, parameters)
    )


# ---- the kernels of the library --------------------------------------------------------------


def built_in(name, **options):
    """A kernel of the library by its name, for arrays of one's own: what its options ask for.

    force = hc.built_in("spring_force", dimension=2, damped=True)
    print(force.signature)       # its parameters
    print(force.documentation)   # what it does, all options and parameters
    hc.record(force, dim=len(ends), ends=ends, ...)

    built_in_kernels() has the names. An ArgumentError names options that are not there, are missing
    or out of range.
    """
    if not isinstance(name, str):
        raise ArgumentError(f"name: a kernel's name is a str, not {type(name).__name__}")
    return _core._built_in(name, to_json(options, "options"))


def built_in_kernels():
    """The names of the library's kernels, each with its reference: a dict."""
    return dict(_core._built_in_kernels())


def _count(shape):
    n = 1
    for extent in shape:
        n *= extent
    return n
