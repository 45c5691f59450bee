"""What the names of a kernel's function mean while it is traced.

Names walks over the local names of the frames between the kernel and the innermost function, the
traced values among their globals, and what these hold: lists, tuples, dicts, attributes, closures.
"""

import ctypes
import functools
import sys
import types

import numpy as np

from hindcast._values import Value, recorder, user_frame

_PLAIN = (int, float, complex, bool, str, bytes, type(None), np.generic)


class Place:
    """Where a value is found: a name, or a path from a name."""

    __slots__ = ("text", "hidden")

    def __init__(self, text, hidden):
        self.text = text
        self.hidden = hidden  # a name of a calling function, which the body cannot read


class Names:
    """What the names of the kernel's frames mean now."""

    def __init__(self, rec):
        self.values, self.plain, self.sizes, self.places = {}, {}, {}, {}
        self.seen, self.frames = set(), {}
        self.keep = []  # so that the ids of objects stay theirs
        frame = innermost = user_frame()
        globals_seen = []
        while frame is not None and frame is not rec.caller:
            if frame.f_globals.get("__name__", "").split(".")[0] != "hindcast":
                self.frames[id(frame)] = frame
                cells = set(frame.f_code.co_cellvars) | set(frame.f_code.co_freevars)
                for name, x in list(frame.f_locals.items()):
                    hidden = frame is not innermost and name not in cells
                    self.visit((id(frame), name), name, x, hidden)
                if not any(frame.f_globals is g for g in globals_seen):
                    globals_seen.append(frame.f_globals)
            frame = frame.f_back
        for names in globals_seen:
            for name, x in list(names.items()):
                if isinstance(x, Value):
                    self.visit((id(names), name), name, x, False)

    # Gives a local name another value; False where the path is not one.
    def rebind(self, path, value):
        frame = self.frames.get(path[0])
        if frame is None or len(path) != 2:
            return False
        frame.f_locals[path[1]] = value
        if sys.version_info < (3, 13):
            ctypes.pythonapi.PyFrame_LocalsToFast(ctypes.py_object(frame), ctypes.c_int(0))
        return True

    def visit(self, path, text, x, hidden):
        if isinstance(x, Value):
            self.values[path] = (x, x.ids, x.kind, x.shape)
            self.places[path] = Place(text, hidden)
            return
        if isinstance(x, _PLAIN):
            self.plain[path] = x
            self.places[path] = Place(text, hidden)
            return
        if isinstance(x, np.ndarray) and x.dtype != object:
            if x.nbytes <= 1 << 20:
                self.plain[path] = (x.shape, x.tobytes())
                self.places[path] = Place(text, hidden)
            return
        children = _children(x)
        if children is None or id(x) in self.seen:
            return
        self.seen.add(id(x))
        self.keep.append(x)
        if isinstance(x, (list, dict, set, frozenset)):
            self.sizes[path] = len(x)
            self.places[path] = Place(text, hidden)
        for key, suffix, child in children:
            self.visit((*path, key), text + suffix, child, False)


def _children(x):
    if isinstance(x, (list, tuple)):
        return [(k, f"[{k}]", v) for k, v in enumerate(x)]
    if isinstance(x, dict):
        return [(("key", k), f"[{k!r}]", v) for k, v in list(x.items())]
    if isinstance(x, (set, frozenset)):
        return [(("element", id(v)), "{...}", v) for v in x]
    if isinstance(x, np.ndarray):
        return [(k, f".flat[{k}]", v) for k, v in enumerate(x.flat)]
    if isinstance(x, types.FunctionType):
        found = [(("default", k), "()", v) for k, v in enumerate(x.__defaults__ or ())]
        found += [(("default", k), "()", v) for k, v in (x.__kwdefaults__ or {}).items()]
        for name, cell in zip(x.__code__.co_freevars, x.__closure__ or ()):
            try:
                found.append((("free", name), f"() with {name}", cell.cell_contents))
            except ValueError:
                pass
        return found
    if isinstance(x, types.MethodType):
        return [("self", ".__self__", x.__self__), ("function", "", x.__func__)]
    if isinstance(x, functools.partial):
        return [("function", "", x.func), ("args", "()", x.args), ("keywords", "()", x.keywords)]
    if isinstance(x, type) and x.__module__ != "builtins":
        held = (Value, list, dict, *_PLAIN)
        return [(("attribute", k), f".{k}", v) for k, v in list(vars(x).items())
                if isinstance(v, held) and not k.startswith("__")]  # fmt: skip
    if isinstance(x, (type, types.ModuleType)) or type(x).__module__.split(".")[0] in (
        "hindcast", "builtins", "numpy", "jax", "jaxlib", "torch",
    ):  # fmt: skip
        return None
    found = [("class", "", type(x))]
    if isinstance(getattr(x, "__dict__", None), dict):
        found += [(("attribute", k), f".{k}", v) for k, v in list(x.__dict__.items())]
    for cls in type(x).__mro__:
        slots = cls.__dict__.get("__slots__", ())
        for name in (slots,) if isinstance(slots, str) else slots:
            if name not in ("__dict__", "__weakref__") and hasattr(x, name):
                found.append((("attribute", name), f".{name}", getattr(x, name)))
    if hasattr(type(x), "__iter__") and type(x).__module__ == "collections":
        found += [(k, f"[{k}]", v) for k, v in enumerate(list(x))]
    return found


def names_of(value):
    """The names, elements of lists and the like that mean this very object."""
    names = Names(recorder())
    return [names.places[p].text for p, (x, *_) in names.values.items() if x is value]


def names_before(rec):
    """Names with their live values: as they are before a region."""
    names = Names(rec)
    names.live = {p: e for p, e in names.values.items() if e[0].region.open}
    names.now = {p: e[1] for p, e in names.live.items()}
    names.root_names = {p for p in names.plain if len(p) == 2}
    return names
