"""Arrays whose interface says nothing of strides, or says None, are C-contiguous: both are taken.

Strides that are given are honored, negative ones too, and what a kernel cannot read is refused with
the reason.
"""

import hindcast as hc
import numpy as np


class Sensor:
    """Readings in memory of its own, described as a library without strides would."""

    def __init__(self, readings, **more):
        self.readings = np.ascontiguousarray(readings, np.float32)
        self.__array_interface__ = {
            "version": 3,
            "shape": self.readings.shape,
            "typestr": "<f4",
            "data": (self.readings.ctypes.data, False),
            **more,
        }


@hc.kernel
def square(i: hc.Int, x: hc.Read[hc.real], y: hc.Write[hc.real]):
    y[i] = x[i] * x[i]


for more in ({}, {"strides": None}, {"strides": (4,)}):
    sensor, squares = Sensor([1, 2, 3], **more), hc.zeros(3, hc.real)
    hc.record(square, dim=3, x=sensor, y=squares).forward()
    print(more, squares.numpy())
    assert squares.numpy().tolist() == [1, 4, 9]

backwards = Sensor([1, 2, 3])
backwards.__array_interface__.update(
    strides=(-4,), data=(backwards.readings.ctypes.data + 8, False)
)
hc.record(square, dim=3, x=backwards, y=squares).forward()
assert squares.numpy().tolist() == [9, 4, 1]

try:
    hc.array(Sensor([1, 2, 3], strides=(6,)))
except hc.ArgumentError as error:
    print("refused:", error)
else:
    raise AssertionError("strides of a number and a half were taken")
