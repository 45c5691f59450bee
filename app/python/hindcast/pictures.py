"""Pictures as files: what sim.render() gives, or any array of bytes.

    pathlib.Path("scene.png").write_bytes(hc.png(sim.render()))
    IPython.display.Image(hc.png(sim.render()))         # in a notebook
"""

from __future__ import annotations

import struct
import zlib
from typing import Any

import numpy as np

from hindcast._errors import ArgumentError

__all__ = ["png"]


def png(picture: Any) -> bytes:
    """The bytes of a PNG file: of uint8 [height, width], or [height, width, 3 or 4]."""
    array = np.asarray(picture)
    gray = array.ndim == 2
    if array.dtype != np.uint8 or not (gray or array.ndim == 3 and array.shape[2] in (3, 4)):
        what = "uint8 [height, width] or [height, width, 3 or 4] is needed"
        raise ArgumentError(f"picture: {what}, not {array.dtype} {list(array.shape)}")
    if 0 in array.shape:
        raise ArgumentError(f"picture: it has no pixels: {list(array.shape)}")
    height, width = array.shape[:2]
    channels = 1 if gray else array.shape[2]
    rows = array.reshape(height, width * channels).astype(np.int16)
    # Each row is either as it is, or less the one above: whichever is nearer to zero.
    above = np.vstack([np.zeros_like(rows[:1]), rows[:-1]])
    kinds = np.stack([rows & 255, (rows - above) & 255])
    size = np.minimum(kinds, 256 - kinds).sum(axis=2)
    best = np.argmin(size, axis=0)
    lines = np.empty((height, 1 + width * channels), np.uint8)
    lines[:, 0] = 2 * best  # the filters "none" and "up"
    lines[:, 1:] = kinds[best, np.arange(height)]

    def chunk(name: bytes, data: bytes) -> bytes:
        check = zlib.crc32(name + data)
        return struct.pack(">I", len(data)) + name + data + struct.pack(">I", check)

    color = {1: 0, 3: 2, 4: 6}[channels]
    header = struct.pack(">IIBBBBB", width, height, 8, color, 0, 0, 0)
    return (
        b"\x89PNG\r\n\x1a\n"
        + chunk(b"IHDR", header)
        + chunk(b"IDAT", zlib.compress(lines.tobytes(), 9))
        + chunk(b"IEND", b"")
    )
