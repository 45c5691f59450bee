"""Parameters of kernels that are functions between arrays, and arrays that several of them share."""

import numpy as np

from hindcast import _core, _exports
from hindcast._errors import ArgumentError

DTYPES = {
    "f32": np.float32,
    "f64": np.float64,
    "i32": np.int32,
    "u32": np.uint32,
    "i64": np.int64,
    "u64": np.uint64,
}
SUMS = ("Accumulate", "Sum", "Reduce", "Atomic", "WriteSlice")


def listed(names):
    return ", ".join(names) or "none"


class Parameter:
    """A parameter of one kernel, and the array that it takes."""

    def __init__(self, call, number, described):
        self.call, self.number = call, number
        self.name, self.access, self.type, self.components, self.rows, self.may_share = described
        self.array = call.names.get(self.name, self.name)
        self.is_single = self.access in ("Param", "Reduce")
        self.reads_only = self.access in ("Read", "Param")

    @property
    def element(self):
        """The trailing dimensions of an array of it."""
        if self.components == 1:
            return ()
        return (self.rows, self.components // self.rows) if self.rows > 1 else (self.components,)

    def words(self):
        return f"'{self.name}' of kernel '{self.call.kernel.name}'"


class SharedArray:
    """What has one name: all parameters that take it, and how it begins."""

    def __init__(self, name):
        self.name, self.parameters, self.start = name, [], None

    @property
    def first(self):
        return self.parameters[0]

    def check(self):
        for p in self.parameters:
            if (p.type, p.element) != (self.first.type, self.first.element):
                raise ArgumentError(
                    f"'{self.name}' is one array, but {self.first.words()} holds "
                    f"{self.first.type}{list(self.first.element) or ''} and {p.words()} "
                    f"{p.type}{list(p.element) or ''}; give one of them another name: "
                    f"hc.call({p.call.kernel.name}, ..., {p.name}=\"another\")"
                )

    @property
    def is_written(self):
        return any(not p.reads_only for p in self.parameters)


class Recorded:
    """A function for given shapes: what the five calls take (_jax_rules.py)."""

    def __init__(self, arguments, inputs, outputs, constants, others, aliases):
        self.handle = handle = _core.KernelFunction(*arguments)
        self.number, self.arguments = handle.number, arguments
        self.inputs, self.outputs = inputs, outputs
        self.constants, self.others, self.aliases = constants, others, aliases
        self.compiled = {}

    def text(self):
        return _exports.text_of_kernels(*self.arguments)
