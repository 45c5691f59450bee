"""XLA's side of its foreign function interface, built by hand: the call frame of
xla/ffi/api/c_api.h (API 0.3), with a stream of the CUDA driver in software.

A Program is what XLA makes of one custom call: handlers that are instantiated once and executed any
number of times. It keeps count of what handlers ask of XLA.
"""

import ctypes
from ctypes import POINTER, c_char_p, c_int, c_int64, c_size_t, c_void_p

import numpy as np

INSTANTIATE, PREPARE, INITIALIZE, EXECUTE = range(4)
COMMAND_BUFFER_COMPATIBLE = 1
DTYPES = {"float32": 11, "float64": 12, "int32": 4, "int64": 5}
FAILED_PRECONDITION, INVALID_ARGUMENT = 9, 3


def structure(name, *fields):
    return type(name, (ctypes.Structure,), {"_fields_": list(fields)})


HEAD = (("struct_size", c_size_t), ("extension", c_void_p))
Buffer = structure(
    "Buffer", *HEAD, ("dtype", c_int), ("data", c_void_p), ("rank", c_int64), ("dims", POINTER(c_int64))
)
Span = structure("Span", ("ptr", c_char_p), ("len", c_size_t))
Scalar = structure("Scalar", ("dtype", c_int), ("value", c_void_p))
Array = structure("Array", ("dtype", c_int), ("size", c_size_t), ("data", c_void_p))
List = structure(
    "List", *HEAD, ("size", c_int64), ("types", POINTER(c_int)), ("items", POINTER(c_void_p))
)
Attributes = structure(
    "Attributes",
    *HEAD,
    ("size", c_int64),
    ("types", POINTER(c_int)),
    ("names", POINTER(c_void_p)),
    ("items", POINTER(c_void_p)),
)
Version = structure("Version", *HEAD, ("major", c_int), ("minor", c_int))
Frame = structure(
    "Frame",
    *HEAD,
    ("api", c_void_p),
    ("ctx", c_void_p),
    ("stage", c_int),
    ("args", List),
    ("rets", List),
    ("attrs", Attributes),
    ("future", c_void_p),
)
Metadata = structure(
    "Metadata", ("struct_size", c_size_t), ("version", Version), ("traits", ctypes.c_uint32), ("state", c_int64)
)
MetadataExtension = structure(
    "MetadataExtension",
    ("struct_size", c_size_t),
    ("type", c_int),
    ("next", c_void_p),
    ("metadata", POINTER(Metadata)),
)
# What functions of the interface are given, behind the head.
ErrorCreate = structure("ErrorCreate", *HEAD, ("message", c_char_p), ("code", c_int))
ErrorMessage = structure("ErrorMessage", *HEAD, ("error", c_void_p), ("message", c_char_p))
ErrorDestroy = structure("ErrorDestroy", *HEAD, ("error", c_void_p))
State = structure(
    "State", *HEAD, ("ctx", c_void_p), ("stage", c_int), ("type", POINTER(c_int64)), ("state", c_void_p)
)
Stream = structure("Stream", *HEAD, ("ctx", c_void_p), ("stream", c_void_p))
DeviceOrdinal = structure("DeviceOrdinal", *HEAD, ("ctx", c_void_p), ("ordinal", ctypes.c_int32))
Memory = structure(
    "Memory", *HEAD, ("ctx", c_void_p), ("size", c_size_t), ("alignment", c_size_t), ("data", c_void_p)
)

FUNCTIONS = (
    "Error_Create Error_GetMessage Error_Destroy Handler_Register Stream_Get Type_Register "
    "ExecutionContext_Get State_Set State_Get DeviceMemory_Allocate DeviceMemory_Free "
    "ThreadPool_Schedule ThreadPool_NumThreads Future_Create Future_SetAvailable Future_SetError "
    "RunId_Get DeviceOrdinal_Get"
).split()
FUNCTION = ctypes.CFUNCTYPE(c_void_p, c_void_p)
Api = structure(
    "Api", *HEAD, ("version", Version), ("internal", c_void_p), *((f, FUNCTION) for f in FUNCTIONS)
)
HANDLER = ctypes.CFUNCTYPE(c_void_p, POINTER(Frame))

_pointer = ctypes.pythonapi.PyCapsule_GetPointer
_pointer.restype, _pointer.argtypes = c_void_p, [ctypes.py_object, c_char_p]


class XlaError(Exception):
    def __init__(self, code, message):
        super().__init__(message)
        self.code = code


def register_type(described, number=41):
    """Gives a state's type its number, as XLA does."""
    where = ctypes.cast(_pointer(described["type_id"], None), POINTER(c_int64))
    where[0] = where[0] or number
    info = ctypes.cast(_pointer(described["type_info"], None), POINTER(c_void_p))
    return ctypes.CFUNCTYPE(None, c_void_p)(info[2])  # the deleter


class Program:
    def __init__(self, stages, deleter, stream=None, **attributes):
        self.stages = {name: HANDLER(_pointer(stage, None)) for name, stage in stages.items()}
        self.deleter, self.stream = deleter, stream
        self.attributes = {"made_of": "", **attributes}
        self.ordinal = 0  # of the device that executes
        self.state, self.type, self.errors, self.asked = None, None, {}, []
        self.api = Api(ctypes.sizeof(Api), None, Version(24, None, 0, 3), None)
        for name in FUNCTIONS:
            setattr(self.api, name, FUNCTION(self._function(name)))
        self._call("instantiate", INSTANTIATE, [], [])
        assert self.state, "nothing was instantiated"

    def close(self):
        self.deleter(self.state)
        self.state = None

    def traits(self, stage="execute"):
        metadata = Metadata(ctypes.sizeof(Metadata), Version(24, None, -1, -1), 0, 0)
        extension = MetadataExtension(
            ctypes.sizeof(MetadataExtension), 1, None, ctypes.pointer(metadata)
        )
        frame = Frame(Frame.future.offset, ctypes.addressof(extension), ctypes.addressof(self.api))
        error = self.stages[stage](ctypes.byref(frame))
        assert not error, self.errors
        assert (metadata.version.major, metadata.version.minor) == (0, 3)
        return metadata.traits

    def execute(self, operands, results):
        """Of (address, shape, dtype) each."""
        self._call("execute", EXECUTE, operands, results)

    # ---- what handlers call --------------------------------------------------------------------

    def _function(self, name):
        kinds = {
            "Error_Create": ErrorCreate,
            "Error_GetMessage": ErrorMessage,
            "Error_Destroy": ErrorDestroy,
            "State_Set": State,
            "State_Get": State,
            "Stream_Get": Stream,
            "DeviceOrdinal_Get": DeviceOrdinal,
            "DeviceMemory_Allocate": Memory,
        }

        def call(at):
            self.asked.append(name)
            if name not in kinds:
                return self._error(12, f"XLA_FFI_{name} is not there")
            return getattr(self, "_" + name)(kinds[name].from_address(at))

        return call

    def _error(self, code, message):
        key = len(self.errors) + 1
        self.errors[key] = (code, message)
        return key

    def _Error_Create(self, a):
        return self._error(a.code, a.message.decode())

    def _Error_GetMessage(self, a):
        a.message = self.errors[a.error][1].encode()

    def _Error_Destroy(self, a):
        self.errors.pop(a.error)

    def _State_Set(self, a):
        if self.state:
            return self._error(13, "the state is set already")
        self.state, self.type = a.state, a.type[0]

    def _State_Get(self, a):
        if a.type[0] != self.type:
            return self._error(13, "the state is of another type")
        a.state = self.state

    def _Stream_Get(self, a):
        a.stream = self.stream

    def _DeviceOrdinal_Get(self, a):
        a.ordinal = self.ordinal

    def _DeviceMemory_Allocate(self, a):
        return self._error(8, "this program allocates nothing")

    # ---- calls ---------------------------------------------------------------------------------

    def _call(self, stage, number, operands, results):
        keep = []

        def buffers(of):
            items = (c_void_p * max(len(of), 1))()
            for k, (address, shape, dtype) in enumerate(of):
                dims = (c_int64 * max(len(shape), 1))(*shape)
                b = Buffer(ctypes.sizeof(Buffer), None, DTYPES[str(np.dtype(dtype))], address, len(shape), dims)
                keep.extend([dims, b])
                items[k] = ctypes.addressof(b)
            types = (c_int * max(len(of), 1))(*([1] * len(of)))
            keep.extend([items, types])
            return List(ctypes.sizeof(List), None, len(of), types, items)

        names = (c_void_p * len(self.attributes))()
        items = (c_void_p * len(self.attributes))()
        types = (c_int * len(self.attributes))()
        for k, (name, value) in enumerate(sorted(self.attributes.items())):
            span = Span(name.encode(), len(name))
            if isinstance(value, str):
                types[k], item = 4, Span(value.encode(), len(value.encode()))
            elif np.ndim(value) == 0:
                value = np.array(value, np.int64)
                types[k], item = 3, Scalar(DTYPES["int64"], value.ctypes.data)
            else:
                value = np.ascontiguousarray(value, np.int64)
                types[k], item = 1, Array(DTYPES["int64"], value.size, value.ctypes.data)
            keep.extend([span, value, item])
            names[k], items[k] = ctypes.addressof(span), ctypes.addressof(item)
        attributes = Attributes(ctypes.sizeof(Attributes), None, len(names), types, names, items)
        frame = Frame(
            Frame.future.offset,
            None,
            ctypes.addressof(self.api),
            ctypes.cast(ctypes.pointer(ctypes.c_int(1)), c_void_p),
            number,
            buffers(operands),
            buffers(results),
            attributes,
        )
        error = self.stages[stage](ctypes.byref(frame))
        if error:
            raise XlaError(*self.errors.pop(error))
        assert not self.errors, "an error was made and not returned"
