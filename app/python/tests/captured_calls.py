"""Calls of XLA that are captured into a graph, on the CUDA driver in software."""

import ctypes

import numpy as np
from software_cuda import Memory


class CapturedCall:
    """A program's call, captured on a stream of its own as XLA does it. The graph works with what the
    operands hold when it is launched, and is launched on the program's stream."""

    def __init__(self, driver, program, operands, shapes, dtype=np.float64):
        self.driver, self.stream = driver, program.stream
        self.shapes, self.dtype = shapes, dtype
        self.operands = [Memory(driver, np.full_like(o, -77), self.stream) for o in operands]
        self.results = [Memory(driver, np.full(s, np.nan, dtype), self.stream) for s in shapes]
        program.stream = driver.stream()
        driver.begin_capture(program.stream)
        waits, allocations = driver.count("synchronizations"), driver.count("allocations")
        program.execute(
            [(m.address, o.shape, o.dtype) for m, o in zip(self.operands, operands)],
            [(m.address, s, dtype) for m, s in zip(self.results, shapes)],
        )
        assert driver.count("synchronizations") == waits
        assert driver.count("allocations") == allocations
        self.graph = driver.instantiate(driver.end_capture(program.stream))
        program.stream = self.stream
        self.put(operands)

    def put(self, operands):
        for m, o in zip(self.operands, operands):
            m.put(o)
        self.driver.synchronize()

    def launch(self):
        """The results."""
        self.driver("cuGraphLaunch", self.graph, ctypes.c_void_p(self.stream))
        return [m.get(self.dtype, s) for m, s in zip(self.results, self.shapes)]
