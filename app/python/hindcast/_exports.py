"""Functions in programs that jax.export has written: what they are made of, as text.

A program that runs in this process calls its functions by number. One that is exported has their text
in each call, and the process that runs it makes them again from that: a scene of its text, kernels of
their recorded steps. Files that a scene names are looked for where they were.
"""

import base64
import json

from hindcast import _core, _pickling
from hindcast._core import Error


def text_of_scene(text, file, arguments):
    inputs, outputs, device, *rest = arguments
    return _text("scene", text, file, inputs, outputs, device and _core._device_parts(device), *rest)


def text_of_kernels(device, *arguments):
    *arguments, buffers, calls = arguments
    buffers = [(*buffer[:-1], base64.b64encode(buffer[-1]).decode()) for buffer in buffers]
    calls = [(_core._kernel_parts(call[0]), *call[1:]) for call in calls]
    return _text("kernels", device and _core._device_parts(device), *arguments, buffers, calls)


def function_of(text):
    """The handle of the function that a text is of: C++ calls this."""
    kind, version, *parts = json.loads(text)
    if version != _core.__version__:
        raise Error(
            f"the program was exported by hindcast {version}, and this is {_core.__version__}; export "
            "it again"
        )
    if kind == "scene":
        text, file, inputs, outputs, device, *rest = parts
        return _core.SceneFunction(text, file, inputs, outputs, _device(device), *rest)
    device, *arguments, buffers, calls = parts
    buffers = [(*buffer[:-1], base64.b64decode(buffer[-1])) for buffer in buffers]
    calls = [(_pickling.kernel_of_parts(call[0]), *call[1:]) for call in calls]
    return _core.KernelFunction(_device(device), *arguments, buffers, calls)


def _text(kind, *parts):
    return json.dumps([kind, _core.__version__, *parts])


def _device(parts):
    return parts and _core.device(*parts)
