"""Numbers that a kernel's function takes from outside: globals, closures and their attributes.

The function runs once, so such a number is part of the kernel. watch() notes them behind that run;
a later hc.record() raises where one has changed, since the kernel does not follow it.
"""

import dis
import inspect
import types

import numpy as np

from hindcast._core import Error
from hindcast._values import Value

_PLAIN = (int, float, complex, bool, str, bytes, type(None), np.generic)
_OURS = ("hindcast", "numpy", "math", "builtins", "jax", "jaxlib", "torch")
_MOST = 10_000  # numbers in one container; larger ones are not watched


class _Source:
    """A name that a function reads, with the attributes that it reads of it."""

    __slots__ = ("names", "name", "attributes", "text")

    def __init__(self, names, name, attributes):
        self.names, self.name, self.attributes = names, name, attributes
        self.text = ".".join((name, *attributes))

    def found(self):
        """What it means now; a Value where it means nothing."""
        if isinstance(self.names, types.CellType):
            try:
                x = self.names.cell_contents
            except ValueError:
                return Value
        else:
            x = self.names.get(self.name, Value)
        for attribute in self.attributes:
            if _is_ours(x):
                return Value
            x = inspect.getattr_static(x, attribute, Value)
            if hasattr(type(x), "__get__") and not isinstance(x, types.FunctionType):
                return Value  # a property or a slot: reading it may do anything
        return x


def _is_ours(x):
    name = x.__name__ if isinstance(x, types.ModuleType) else getattr(x, "__module__", None)
    return isinstance(name, str) and name.split(".")[0] in _OURS


def _codes(code):
    yield code
    for constant in code.co_consts:
        if isinstance(constant, types.CodeType):
            yield from _codes(constant)


def _sources(function):
    """What a function reads from outside, and never assigns."""
    cells = dict(zip(function.__code__.co_freevars, function.__closure__ or ()))
    found, assigned = {}, set()
    for code in _codes(function.__code__):
        steps = list(dis.get_instructions(code))
        for at, step in enumerate(steps):
            if step.opname in ("STORE_GLOBAL", "STORE_DEREF"):
                assigned.add(step.argval)
            if step.opname == "LOAD_GLOBAL":
                names = function.__globals__
            elif step.opname == "LOAD_DEREF" and step.argval in cells:
                names = cells[step.argval]
            else:
                continue
            attributes = []
            for further in steps[at + 1 :]:
                if further.opname not in ("LOAD_ATTR", "LOAD_METHOD"):
                    break
                attributes.append(further.argval)
            source = _Source(names, step.argval, tuple(attributes))
            found.setdefault(source.text, source)
    return [s for s in found.values() if s.name not in assigned]


def _note(x, text, numbers):
    """Adds the numbers of x; False where there are too many of them."""
    if len(numbers) > _MOST:
        return False
    if isinstance(x, _PLAIN):
        numbers[text] = x
    elif isinstance(x, np.ndarray) and x.dtype != object:
        if x.nbytes > 8 * _MOST:
            return False
        numbers[text] = (x.dtype.str, x.shape, x.tobytes())
    elif isinstance(x, (list, tuple)):
        numbers[f"len({text})"] = len(x)
        return all(_note(v, f"{text}[{k}]", numbers) for k, v in enumerate(x))
    elif isinstance(x, dict):
        numbers[f"len({text})"] = len(x)
        return all(_note(v, f"{text}[{k!r}]", numbers) for k, v in x.items())
    elif isinstance(x, types.FunctionType):
        numbers[text] = x.__code__
    return True


def _numbers(source):
    numbers = {}
    return numbers if _note(source.found(), source.text, numbers) else {}


def _shown(x):
    if isinstance(x, types.CodeType):
        return f"the function of line {x.co_firstlineno}"
    return "other numbers" if isinstance(x, tuple) else repr(x)


def _same(x, y):
    return type(x) is type(y) and bool(x == y or (x != x and y != y))


def watch(function):
    """A function that raises once a number that this one has taken is another."""
    watched, seen, waiting = [], set(), [function]
    while waiting:
        of = waiting.pop()
        if of.__code__ in seen:
            continue
        seen.add(of.__code__)
        for source in _sources(of):
            x = source.found()
            if isinstance(x, types.FunctionType):
                if _is_ours(x):
                    continue
                waiting.append(x)
            if numbers := _numbers(source):
                watched.append((source, numbers))
    name = function.__name__

    def unchanged():
        for source, before in watched:
            now = _numbers(source)
            for text, x in before.items():
                if text in now and _same(x, now[text]):
                    continue
                is_now = f"{_shown(now[text])} now" if text in now else "another kind of thing now"
                raise Error(
                    f"kernel '{name}' was made with {text} = {_shown(x)}, which is {is_now}; its "
                    "function runs once and does not see that: make the kernel anew, or give the "
                    "number as a parameter, such as k: hc.Param[hc.real]"
                )

    return unchanged
