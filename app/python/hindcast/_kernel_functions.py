"""What hindcast.jax.kernel and hindcast.torch.kernel share: kernels as functions between arrays.

A function is made once (the kernels, the names of what goes in and out, and how each output begins);
for the shapes and the precision of the arrays that it is called with, C++ records its launches
(kernel_functions.hpp). Those are kept, for the shapes that came last.
"""

import collections
import inspect

import numpy as np

from hindcast import _core
from hindcast._errors import ArgumentError
from hindcast._kernel_parameters import DTYPES, SUMS, Parameter, Recorded, SharedArray, listed
from hindcast._starts import Call, Start

most_kept = 32  # recorded for so many shapes at once


class KernelFunction:
    """A function that runs kernels; libraries add their arrays and how it is called.

    Takes arrays by name, or in the order of `inputs`, or as one dict, and returns its output, or a dict
    of them by name if there are several.
    """

    def __init__(self, calls, inputs, outputs, precision, device, temporaries):
        if precision not in (None, "f32", "f64"):
            raise ArgumentError(f"precision: '{precision}' is neither 'f32' nor 'f64'")
        self._arguments = (calls, inputs, outputs, precision, device, temporaries)
        device = _core.device(device) if isinstance(device, str) else device
        self._calls, self._precision, self._device = calls, precision, device
        self._recorded = collections.OrderedDict()
        self._effects = {}
        self._arrays = {}
        self._of_call = []
        for call in calls:
            described = _core._kernel_signature(call.kernel)
            of_call = [Parameter(call, k, d) for k, d in enumerate(described)]
            self._of_call.append(of_call)
            for p in of_call:
                self._arrays.setdefault(p.array, SharedArray(p.array)).parameters.append(p)
        for array in self._arrays.values():
            array.check()
        self.outputs = tuple(self._take_starts(outputs, "outputs"))
        if not self.outputs:
            raise ArgumentError("outputs: at least one is needed, such as {'y': hc.written()}")
        self._take_starts(temporaries, "temporaries")
        self.inputs = tuple(self._choose_inputs(inputs))
        self._of_inputs = [self._parameter_of(name) for name in self.inputs]

    def __reduce__(self):
        return type(self), self._arguments

    # ---- given when the function is made

    def _take_starts(self, given, what):
        if isinstance(given, str):
            raise ArgumentError(f"{what}: a dict or a list of names is expected, not one text")
        given = given if isinstance(given, dict) else dict.fromkeys(given or ())
        for name, start in given.items():
            if name not in self._arrays:
                raise ArgumentError(
                    f"{what}: no kernel has a parameter '{name}'; there are "
                    f"{listed(self._arrays)}"
                )
            array = self._arrays[name]
            if array.start is not None:
                raise ArgumentError(f"temporaries: '{name}' is an output already")
            if not array.is_written:
                raise ArgumentError(
                    f"{what}: '{name}' is not written by any kernel; leave it out, or declare the "
                    "parameter Write, Accumulate or the like"
                )
            if not isinstance(start, Start):
                start = self._as_start(name, start)
            array.start = start
        return given

    def _as_start(self, name, given):
        """What is not made by hc.fill and the like: a shape, or the values themselves."""
        if given is None or callable(given) or isinstance(given, (int, tuple)):
            return Start(None, shape=given)
        try:
            values = np.asarray(given)
        except Exception:
            values = np.empty(0, object)
        if values.dtype.kind not in "iuf" or values.ndim == 0:
            raise ArgumentError(
                f"outputs: '{name}' begins with {given!r}; {self._zeros}(), hc.fill(value), "
                "hc.written(), hc.copy_of(name), hc.in_out(name), a shape or an array of values is "
                "expected"
            )
        if not values.any():
            return Start("zeros", shape=values.shape)
        return Start("fill", values.copy(), values.shape)

    def _choose_inputs(self, given):
        needed = [n for n, a in self._arrays.items() if a.start is None and not a.is_written]
        for name, array in self._arrays.items():
            if array.start is None and array.is_written:
                array.start = Start(None)  # a temporary
            start = array.start
            if start is not None and start.kind in ("copy_of", "in_out"):
                source = start.value
                if source != name and source in self._arrays and self._arrays[source].start:
                    raise ArgumentError(
                        f"outputs: '{name}' begins as '{source}', which is no input; name an input"
                    )
                if source not in needed:
                    needed.append(source)
        if given is None:
            return needed
        if isinstance(given, str):
            raise ArgumentError("inputs: a list of names is expected, not one text")
        given = list(given)
        unknown = [n for n in given if n not in needed]
        missing = [n for n in needed if n not in given]
        if len(set(given)) != len(given):
            raise ArgumentError(f"inputs: a name is given twice: {listed(given)}")
        for name in unknown:
            if name in self._arrays:
                raise ArgumentError(
                    f"inputs: '{name}' is written by a kernel; give it in outputs, as "
                    f"'{name}': hc.copy_of('{name}') if it begins as an input"
                )
            raise ArgumentError(
                f"inputs: no kernel has a parameter '{name}'; there are {listed(needed)}"
            )
        if missing:
            raise ArgumentError(
                f"inputs: the kernels read {listed(missing)}, too; name every input, or leave "
                "inputs out"
            )
        return given

    # ---- known once there are arrays

    def _bind(self, args, named):
        if len(args) == 1 and isinstance(args[0], dict) and not named:
            args, named = (), args[0]
        if not named and len(args) == len(self.inputs):
            return dict(zip(self.inputs, args))
        if len(args) > len(self.inputs):
            raise ArgumentError(
                f"{len(args)} arrays are given for the inputs {listed(self.inputs)}"
            )
        values = dict(zip(self.inputs, args))
        twice = [n for n in named if n in values]
        if twice:
            raise ArgumentError(f"'{twice[0]}' is given by its place and by its name")
        values.update(named)
        unknown = [n for n in values if n not in self.inputs]
        missing = [n for n in self.inputs if n not in values]
        if unknown or missing:
            what = f"'{unknown[0]}' is no input" if unknown else f"'{missing[0]}' is not given"
            raise ArgumentError(f"{what}; the inputs are {listed(self.inputs)}")
        return values

    def _parameter_of(self, name):
        """A parameter that takes the input, or the output that begins as it."""
        if name in self._arrays and self._arrays[name].start is None:
            return self._arrays[name].first
        for array in self._arrays.values():
            start = array.start
            if start and start.kind in ("copy_of", "in_out") and start.value == name:
                return array.first
        raise AssertionError(name)

    # ---- what a library adds

    _library = ""

    @property
    def _zeros(self):
        return f"hc.{self._library}.zeros"

    def _taken(self, name, value):
        """The library's array of a value, what it holds (for messages, and to compare with a dtype of
        NumPy), whether that is "real", "integer" or neither, and whether a number of Python may become
        another kind."""
        raise NotImplementedError

    def _cast(self, array, dtype):
        raise NotImplementedError

    def _conversion(self, name, dtype):
        """How users convert an array."""
        raise NotImplementedError

    def _usual_precision(self):
        """Of reals that are numbers of Python."""
        raise NotImplementedError

    def _check_wide(self, p):
        """Raises where the library has no 64-bit numbers."""

    def _check_precision(self):
        """The same for reals."""

    def _run(self, recorded, operands):
        """The results, in the order of recorded.names."""
        raise NotImplementedError

    # ---- the arrays of a call

    def _convert(self, values):
        """The library's arrays, each of the type that its parameter holds, and the precision."""
        arrays, reals = {}, {}
        for name, p in zip(self.inputs, self._of_inputs):
            try:
                array, kind, family, weak = self._taken(name, values[name])
            except ArgumentError:
                raise
            except Exception as error:
                raise ArgumentError(f"{name}: no array can be made of it: {error}") from error
            if p.type == "real":
                if family != "real" and not (weak and family == "integer"):
                    raise ArgumentError(
                        f"{name}: it holds {kind}, where {p.words()} takes reals; convert it: "
                        f"{self._conversion(name, None)}"
                    )
                if not weak:
                    reals[name] = kind
            elif kind != DTYPES[p.type] and not (
                weak and (p.type in ("f32", "f64") or family == "integer")
            ):
                dtype = np.dtype(DTYPES[p.type])
                raise ArgumentError(
                    f"{name}: it holds {kind}, where {p.words()} takes {p.type}; convert it: "
                    f"{self._conversion(name, dtype)}"
                )
            arrays[name] = array
        precision = self._precision or self._precision_of(reals)
        if precision == "f64":
            self._check_precision()
        for name, p in zip(self.inputs, self._of_inputs):
            arrays[name] = self._cast(arrays[name], self._dtype(p, precision))
        return arrays, precision

    def _precision_of(self, reals):
        for name, kind in reals.items():
            if kind not in (np.float32, np.float64):
                raise ArgumentError(
                    f"{name}: it holds {kind}; kernels take float32 and float64: convert it, or "
                    "give the function a precision"
                )
            first, of_first = next(iter(reals.items()))
            if kind != of_first:
                raise ArgumentError(
                    f"{name}: it holds {kind}, but '{first}' holds {of_first}; convert one of them, "
                    "or give the function a precision: the reals of a function have one"
                )
        if reals:
            return "f64" if next(iter(reals.values())) == np.float64 else "f32"
        return self._usual_precision()

    def _dtype(self, p, precision):
        dtype = np.dtype(DTYPES[precision if p.type == "real" else p.type])
        if dtype.itemsize == 8:
            self._check_wide(p)
        return dtype

    def _ask(self, function, shapes, what):
        """What a function of the inputs' shapes says: it takes them by name, or all as one dict."""
        parameters = inspect.signature(function).parameters
        names = [n for n, p in parameters.items() if p.default is p.empty]
        if all(n in shapes for n in names):
            return function(**{n: shapes[n] for n in names})
        if len(names) == 1:
            return function(dict(shapes))
        raise ArgumentError(
            f"{what}: the function takes {listed(names)}; it is given the shapes of the inputs by "
            f"name ({listed(shapes)}), or all of them as one dict"
        )

    def _dim(self, call, shapes):
        dim = call.dim
        if isinstance(dim, str):
            if dim not in shapes:
                raise ArgumentError(f"dim: '{dim}' is no input; there are {listed(shapes)}")
            if not shapes[dim]:
                raise ArgumentError(f"dim: '{dim}' is one number, which has no length")
            return shapes[dim][0]
        if callable(dim):
            found = self._ask(dim, shapes, "dim")
            try:
                dim = found.__index__()
            except AttributeError:
                raise ArgumentError(
                    f"dim: the function gives {found!r}, which is no number of items"
                ) from None
            if dim < 0:
                raise ArgumentError(f"dim: the function gives {dim} items")
        return dim

    def _check_shape(self, name, shape, p, shared):
        element = p.element
        if p.is_single or shared:
            if shape not in (element, (1, *element)):
                raise ArgumentError(
                    f"{name}: the shape is {shape}, but {p.words()} is one value, of shape {element}"
                )
            return 1
        if len(shape) != 1 + len(element) or shape[1:] != element:
            extents = ", ".join(["n", *map(str, element)]) + ("" if element else ",")
            raise ArgumentError(
                f"{name}: the shape is {shape}, but {p.words()} takes elements of shape {element}: "
                f"an array of shape ({extents})"
            )
        return shape[0]

    def _own_shape(self, array, dims):
        """The shape of what a kernel writes, where the kernels tell."""
        for p in array.parameters:
            if p.access == "Reduce":
                return p.element
            if p.access in ("Write", "ReadWrite"):
                return (dims[self._calls.index(p.call)], *p.element)
        raise ArgumentError(
            f"outputs: the shape of '{array.name}' is not known; give it, as in "
            f"'{array.name}': {self._zeros}(shape=...)"
            if array.name in self.outputs
            else f"'{array.name}' is written by {array.first.words()} and is no output; give it in "
            f"outputs or in temporaries, with its shape: '{array.name}': {self._zeros}(shape=...)"
        )

    def _shape_of(self, array, shapes, dims):
        start = array.start
        if start.kind in ("copy_of", "in_out"):
            return shapes[start.value]
        shape = start.shape
        if callable(shape):
            shape = self._ask(shape, shapes, f"outputs: the shape of '{array.name}'")
        if shape is None:
            return self._own_shape(array, dims)
        try:
            shape = (shape.__index__(),) if hasattr(shape, "__index__") else tuple(
                e.__index__() for e in shape
            )
        except (AttributeError, TypeError):
            raise ArgumentError(
                f"outputs: the shape of '{array.name}' is {shape!r}, which is no tuple of numbers"
            ) from None
        if any(e < 0 for e in shape):
            raise ArgumentError(f"outputs: the shape of '{array.name}' is {shape}")
        return shape

    def _effects_of(self, call, shared):
        key = (id(call), shared)
        if key not in self._effects:
            self._effects[key] = _core._kernel_effects(call.kernel, list(shared))
        return self._effects[key]

    def _not_written(self, array, elements, dims, shared):
        """Why not every element is stored before anything is read; None if it is."""
        call = next(
            c
            for c, of in zip(self._calls, self._of_call)
            if any(p.array == array.name for p in of)
        )
        at = self._calls.index(call)
        found = []
        for p in self._of_call[at]:
            if p.array != array.name:
                continue
            defines, why, place, clears = self._effects_of(call, shared[at])[p.number]
            if defines and (clears or dims[at] == elements):
                return None
            words = p.words() + (f" ({place})" if place else "")
            if defines:
                found.append(
                    f"{words} stores {dims[at]} of {elements} elements: the kernel runs over "
                    f"{dims[at]} items"
                )
            else:
                found.append(f"{words} {why}")
        return found[0]

    def _start_bytes(self, array, shape, dtype, elements, dims, shared):
        kind = array.start.kind
        if kind is None:
            sums = any(p.access in SUMS for p in array.parameters)
            why = None if sums else self._not_written(array, elements, dims, shared)
            if why:
                raise ArgumentError(
                    f"'{array.name}' has no start, and {why}; say how it begins: "
                    f"{self._zeros}(), hc.fill(value), hc.copy_of(name) or hc.in_out(name)"
                )
            return b""
        if kind == "written":
            why = self._not_written(array, elements, dims, shared)
            if why:
                raise ArgumentError(
                    f"outputs: '{array.name}' cannot be hc.written(): {why}; say how it begins: "
                    f"{self._zeros}(), hc.fill(value), hc.copy_of(name) or hc.in_out(name)"
                )
            return b""
        if kind == "zeros":
            return b""
        given = np.asarray(array.start.value)
        values = given.astype(dtype)
        exact = dtype.kind == "f" or np.array_equal(values, given)
        if given.dtype.kind not in "iuf" or not exact:
            raise ArgumentError(
                f"outputs: '{array.name}' begins with {array.start.value!r}, which {dtype} "
                "cannot hold"
            )
        if values.ndim == 0:
            return values.tobytes()
        try:
            return np.ascontiguousarray(np.broadcast_to(values, shape)).tobytes()
        except ValueError:
            raise ArgumentError(
                f"outputs: '{array.name}' has the shape {shape}, but begins with values of shape "
                f"{values.shape}"
            ) from None

    def _record(self, shapes, precision):
        dims = [self._dim(call, shapes) for call in self._calls]
        shared_arrays = {
            n
            for n, a in self._arrays.items()
            if all(p.may_share for p in a.parameters)
            and shapes.get(n) in (a.first.element, (1, *a.first.element))
        }
        shared = [
            tuple(p.name for p in of if p.may_share and p.array in shared_arrays)
            for of in self._of_call
        ]
        sides = {"x": [], "k": []}  # operands: (name, shape, dtype)
        place = {}
        for name in self.inputs:
            p = self._parameter_of(name)
            dtype = self._dtype(p, precision)
            side = sides["x" if dtype.kind == "f" else "k"]
            place[name] = len(side)
            side.append((name, shapes[name], dtype))
        buffers, number, results = [], {}, {}
        for name, array in self._arrays.items():
            p = array.first
            dtype = self._dtype(p, precision)
            if array.start is None:
                shape, source, start = shapes[name], name, b""
            else:
                shape, source, start = self._shape_of(array, shapes, dims), array.start.value, b""
            counts = {
                self._check_shape(name, shape, q, name in shared_arrays) for q in array.parameters
            }
            elements = max(counts)
            if array.start is not None and array.start.kind not in ("copy_of", "in_out"):
                memory = self._in_memory(array, dtype, name in shared_arrays)
                start = self._start_bytes(array, shape, memory, elements, dims, shared)
                source = None
            number[name] = len(buffers)
            results[name] = (shape, dtype)
            memory = self._in_memory(array, dtype, name in shared_arrays)
            buffers.append(
                (
                    name,
                    next(t for t, d in DTYPES.items() if d == memory),
                    elements,
                    p.components,
                    -1 if source is None else place[source],
                    start,
                )
            )
        calls = []
        for at, (call, of) in enumerate(zip(self._calls, self._of_call)):
            effects = self._effects_of(call, shared[at])
            defines = [
                d and (clears or dims[at] == buffers[number[p.array]][2])
                for p, (d, _, _, clears) in zip(of, effects)
            ]
            calls.append(
                (
                    call.kernel,
                    dims[at],
                    [number[p.array] for p in of],
                    [int(p.name in shared[at]) for p in of],
                    [int(d) for d in defines],
                )
            )
        real = [n for n in self.outputs if results[n][1].kind == "f"]
        whole = [n for n in self.outputs if results[n][1].kind != "f"]
        aliases = {}
        for at, name in enumerate(real + whole):
            start = self._arrays[name].start
            if start.kind == "in_out":
                integer = results[name][1].kind != "f"
                operand = place[start.value] + (len(sides["x"]) if integer else 0)
                if operand not in aliases:
                    aliases[operand] = at
        size = lambda shape: int(np.prod(shape, dtype=np.int64))
        name_of = lambda dtype: next(t for t, d in DTYPES.items() if d == dtype)
        outside = lambda side: [(name_of(d), size(s)) for s, d in side]
        inputs, constants = ([(s, d) for _, s, d in sides[side]] for side in "xk")
        outputs, others = [results[n] for n in real], [results[n] for n in whole]
        arguments = (
            self._device,
            precision,
            outside(inputs),
            outside(constants),
            outside(outputs),
            outside(others),
            [number[n] for n in real],
            [number[n] for n in whole],
            buffers,
            calls,
        )
        recorded = Recorded(arguments, inputs, outputs, constants, others, aliases)
        recorded.names = real + whole
        recorded.operands = [n for side in "xk" for n, _, _ in sides[side]]
        return recorded

    @staticmethod
    def _in_memory(array, dtype, is_shared):
        """Single reals are f64 in memory, in both precisions."""
        single = is_shared or any(p.is_single for p in array.parameters)
        return np.dtype(np.float64) if single and dtype.kind == "f" else dtype

    def __call__(self, *args, **named):
        arrays, precision = self._convert(self._bind(args, named))
        shapes = {name: arrays[name].shape for name in self.inputs}
        key = (precision, *shapes.values())
        recorded = self._recorded.get(key)
        if recorded is None:
            recorded = self._recorded[key] = self._record(shapes, precision)
            if len(self._recorded) > most_kept:
                self._recorded.popitem(last=False)
        self._recorded.move_to_end(key)
        results = self._run(recorded, [arrays[name] for name in recorded.operands])
        by_name = dict(zip(recorded.names, results))
        if len(by_name) == 1:
            return results[0]
        return {name: by_name[name] for name in self.outputs}

    def __repr__(self):
        kernels = ", ".join(call.kernel.name for call in self._calls)
        return (
            f"<hindcast.{self._library} function: {kernels}; ({listed(self.inputs)}) -> "
            f"{listed(self.outputs)}>"
        )


def checked_calls(calls, outputs):
    calls = list(calls)
    for call in calls:
        if not isinstance(call, Call):
            raise ArgumentError(
                f"calls: a list of hc.call(kernel, dim=...) is expected, not {type(call).__name__}"
            )
    if not calls:
        raise ArgumentError("calls: at least one is needed")
    if outputs is None:
        raise ArgumentError("outputs: they are not given, such as {'y': hc.written()}")
    # One for each place in the list, as one may be there twice.
    return [Call(c.kernel, c.dim, c.names) for c in calls]
