"""A CUDA device in software, and objects of another library on it that speak CuPy's protocols.

The driver is tests/cuda_driver, which conftest.py names to the module. Its memory cannot be read by
the host: a test that forgets to copy crashes.
"""

import ctypes
import os

import numpy as np
import pytest

KDLCUDA = 2


def needs_cuda():
    if "HINDCAST_CUDA_DRIVER" not in os.environ:
        pytest.skip("needs the CUDA driver in software: build with HINDCAST_TESTS=ON", allow_module_level=True)


class Driver:
    """The driver as another library of the process uses it."""

    def __init__(self):
        self.library = ctypes.CDLL(os.environ["HINDCAST_CUDA_DRIVER"])
        self("cuInit", 0)
        self.contexts = {}

    def __call__(self, name, *arguments):
        result = getattr(self.library, name)(*arguments)
        assert result == 0, f"{name}: {result}"

    def enter(self, device=0):
        if device not in self.contexts:
            context = ctypes.c_void_p()
            self("cuDevicePrimaryCtxRetain", ctypes.byref(context), device)
            self.contexts[device] = context
        self("cuCtxSetCurrent", self.contexts[device])

    def stream(self):
        self.enter()
        handle = ctypes.c_void_p()
        self("cuStreamCreate", ctypes.byref(handle), 1)
        return handle.value

    def synchronize(self):
        self.enter()
        self("cuCtxSynchronize")

    def count(self, what):
        function = self.library.hindcast_software_cuda_count
        function.restype = ctypes.c_longlong
        return function(what.encode())

    def begin_capture(self, stream):
        """As the owner of the stream, once all work is done."""
        self.synchronize()
        self("cuStreamBeginCapture_v2", ctypes.c_void_p(stream), 2)

    def end_capture(self, stream):
        """The graph."""
        graph = ctypes.c_void_p()
        self("cuStreamEndCapture", ctypes.c_void_p(stream), ctypes.byref(graph))
        return graph

    def instantiate(self, graph):
        made = ctypes.c_void_p()
        self("cuGraphInstantiateWithFlags", ctypes.byref(made), graph, ctypes.c_ulonglong(0))
        return made

    def nodes(self, graph):
        count = ctypes.c_size_t(7)
        self("cuGraphGetNodes", graph, None, ctypes.byref(count))
        return count.value

    def set(self, words):
        self.library.hindcast_software_cuda(words.encode())


class Memory:
    """An allocation; freed with the last reference."""

    is_own = True

    @classmethod
    def view(cls, driver, address, stream=None):
        """Of memory that another one owns."""
        memory = cls.__new__(cls)
        memory.driver, memory.address, memory.stream, memory.is_own = driver, address, stream, False
        return memory

    def __init__(self, driver, values, stream=None):
        driver.enter()
        self.driver, self.stream = driver, stream
        values = np.ascontiguousarray(values)
        self.bytes = max(values.nbytes, 1)
        address = ctypes.c_uint64()
        driver("cuMemAllocAsync", ctypes.byref(address), ctypes.c_size_t(self.bytes), None)
        self.address = address.value
        driver("cuStreamSynchronize", None)
        self.put(values)
        if stream is None:
            driver.synchronize()

    def put(self, values):
        values = np.ascontiguousarray(values)
        self.driver.enter()
        self.driver(
            "cuMemcpyHtoDAsync_v2",
            ctypes.c_uint64(self.address),
            values.ctypes.data_as(ctypes.c_void_p),
            ctypes.c_size_t(values.nbytes),
            ctypes.c_void_p(self.stream),
        )

    def get(self, dtype, shape):
        values = np.empty(shape, dtype)
        self.driver.enter()
        self.driver(
            "cuMemcpyDtoHAsync_v2",
            values.ctypes.data_as(ctypes.c_void_p),
            ctypes.c_uint64(self.address),
            ctypes.c_size_t(values.nbytes),
            ctypes.c_void_p(self.stream),
        )
        return values

    def __del__(self):
        if not self.is_own:
            return
        self.driver.enter()
        self.driver.library.cuMemFreeAsync(ctypes.c_uint64(self.address), ctypes.c_void_p(self.stream))


class Interface:
    """Nothing but __cuda_array_interface__, version 3, over memory."""

    def __init__(self, memory, like, offset=0, **changes):
        self.memory = memory
        self.__cuda_array_interface__ = {
            "shape": like.shape,
            "typestr": like.dtype.str,
            "data": (memory.address + offset, False),
            "version": 3,
            **changes,
        }


# ---- DLPack, by ctypes -------------------------------------------------------------------------


class Tensor(ctypes.Structure):
    _fields_ = [
        ("data", ctypes.c_void_p),
        ("device_type", ctypes.c_int32),
        ("device_id", ctypes.c_int32),
        ("ndim", ctypes.c_int32),
        ("code", ctypes.c_uint8),
        ("bits", ctypes.c_uint8),
        ("lanes", ctypes.c_uint16),
        ("shape", ctypes.POINTER(ctypes.c_int64)),
        ("strides", ctypes.POINTER(ctypes.c_int64)),
        ("byte_offset", ctypes.c_uint64),
    ]


DELETER = ctypes.CFUNCTYPE(None, ctypes.c_void_p)


class Old(ctypes.Structure):
    _fields_ = [("tensor", Tensor), ("context", ctypes.c_void_p), ("deleter", DELETER)]


class Versioned(ctypes.Structure):
    _fields_ = [
        ("major", ctypes.c_uint32),
        ("minor", ctypes.c_uint32),
        ("context", ctypes.c_void_p),
        ("deleter", DELETER),
        ("flags", ctypes.c_uint64),
        ("tensor", Tensor),
    ]


KINDS = {b"dltensor_versioned": Versioned, b"dltensor": Old}
_new = ctypes.pythonapi.PyCapsule_New
_new.restype, _new.argtypes = ctypes.py_object, [ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p]
_pointer = ctypes.pythonapi.PyCapsule_GetPointer
_pointer.restype, _pointer.argtypes = ctypes.c_void_p, [ctypes.py_object, ctypes.c_char_p]
_is_valid = ctypes.pythonapi.PyCapsule_IsValid
_is_valid.argtypes = [ctypes.py_object, ctypes.c_char_p]
_set_name = ctypes.pythonapi.PyCapsule_SetName
_set_name.argtypes = [ctypes.py_object, ctypes.c_char_p]


class Exporter:
    """An array that speaks DLPack: `versioned` or only the old way; notes what it was asked."""

    alive = {}

    def __init__(self, memory, like, versioned=True, flags=0, strides=None):
        self.memory, self.like, self.versioned, self.flags = memory, like, versioned, flags
        self.strides, self.asked = strides, None

    def __dlpack_device__(self):
        return (KDLCUDA, 0)

    def __dlpack__(self, **options):
        if not self.versioned and "max_version" in options:
            raise TypeError("unexpected argument max_version")
        self.asked = options
        managed = (Versioned if self.versioned else Old)()
        t = managed.tensor
        t.data, t.device_type, t.device_id = self.memory.address, KDLCUDA, 0
        t.ndim, t.lanes = self.like.ndim, 1
        t.code = {"i": 0, "u": 1, "f": 2}[self.like.dtype.kind]
        t.bits = 8 * self.like.dtype.itemsize
        shape = (ctypes.c_int64 * max(t.ndim, 1))(*self.like.shape)
        t.shape = shape
        strides = None
        if self.strides:
            strides = (ctypes.c_int64 * t.ndim)(*self.strides)
            t.strides = strides
        key = ctypes.addressof(managed)
        managed.deleter = DELETER(lambda at: Exporter.alive.pop(at))
        if self.versioned:
            managed.major, managed.flags = 1, self.flags
        Exporter.alive[key] = (managed, shape, strides, self.memory)
        name = b"dltensor_versioned" if self.versioned else b"dltensor"
        return _new(key, name, None)


def consume(capsule):
    """The structure in a capsule, and a function that ends it."""
    for name, kind in KINDS.items():
        if _is_valid(capsule, name):
            managed = kind.from_address(_pointer(capsule, name))
            used = ctypes.c_char_p(b"used_" + name)
            consume.names.append(used)
            _set_name(capsule, used)
            return managed, lambda: managed.deleter(ctypes.addressof(managed))
    raise ValueError("no DLPack capsule")


consume.names = []

