"""Differentiable physics: kernels, launches and simulations with exact gradients.

    import hindcast as hc
"""

import os as _os
import site as _site
import sys as _sys

from hindcast import _core, _functions, _pickling
from hindcast._core import (
    Array,
    DataType,
    Device,
    Error,
    Event,
    Kernel,
    Launch,
    Stream,
    Tape,
    __version__,
    array,
    device,
    f32,
    f64,
    i32,
    i64,
    ivec2,
    ivec3,
    ivec4,
    mat2,
    mat3,
    mat4,
    real,
    record,
    stream,
    u32,
    u64,
    vec2,
    vec3,
    vec4,
)
from hindcast._errors import ArgumentError, PhysicsWarning
from hindcast._functions import *  # noqa: F403
from hindcast._starts import call, copy_of, fill, in_out, written, zeros
from hindcast.batches import Batch, Pulled
from hindcast.kernels import (
    Accumulate,
    Atomic,
    Int,
    Param,
    Property,
    Read,
    ReadWrite,
    Reduce,
    Sum,
    Write,
    WriteSlice,
    built_in,
    built_in_kernels,
    else_,
    for_,
    if_,
    kernel,
    while_,
)
from hindcast.pictures import png
from hindcast.scenes import Check, Optimized, Simulation, load, scene

_core._add_llvm_folder(_os.path.join(_sys.prefix, "lib"))
_core._add_llvm_folder(_os.path.join(_site.getuserbase(), "lib"))

__all__ = [
    "Accumulate", "ArgumentError", "Array", "Atomic", "Batch", "Check", "DataType", "Device", "Error",
    "Event", "Int", "Kernel", "Launch", "Optimized", "Param", "PhysicsWarning", "Property", "Pulled", "Read",
    "ReadWrite", "Reduce", "Simulation", "Stream", "Sum", "Tape", "Write", "WriteSlice", "__version__",
    "array", "built_in", "built_in_kernels", "call", "copy_of", "device", "else_", "f32", "f64",
    "fill", "for_", "i32", "i64", "if_", "in_out", "ivec2", "ivec3", "ivec4", "kernel", "load", "mat2",
    "mat3", "mat4", "png", "real", "record", "scene", "stream", "u32", "u64", "vec2", "vec3", "vec4",
    "while_", "written", "zeros", *_functions.__all__,
]  # fmt: skip


def __getattr__(name):
    # The doors to other libraries are imported when they are first used.
    if name in ("jax", "torch"):
        import importlib

        return importlib.import_module(f"hindcast.{name}")
    raise AttributeError(f"module 'hindcast' has no attribute '{name}'")
