#!/usr/bin/env python3
"""One workload of tests/bench/peers in Warp on the GPU: warp_on_gpu.py WORKLOAD VARIANT. The
peer's kernels and launches are those of peer_warp.py; its graphs are CUDA graphs here.
"""
import dataclasses
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "bench" / "peers"))
import measure  # noqa: E402
import peer_warp  # noqa: E402

import numpy as np  # noqa: E402
import warp as wp  # noqa: E402

DEVICE = "cuda:0"
handed_out = []  # (array, its copy on the host, how that copy was)
load = peer_warp.load
as_numpy = wp.array.numpy


def load_for_gpu():
    module = load()
    module.set_device(DEVICE)
    return module


def numpy(array):
    """The peer writes through what numpy() returns, which on the CPU is the array itself."""
    host = as_numpy(array)
    handed_out.append((array, host, host.copy()))
    return host


def on_gpu(builder):
    def build(variant, options):
        wp.array.numpy = numpy
        program = builder(variant, options)
        wp.array.numpy = as_numpy
        for array, host, before in handed_out:
            if not np.array_equal(host, before):
                array.assign(host)

        def finished(call):
            if call is None:
                return None

            def wait():
                call()
                wp.synchronize_device(DEVICE)
            return wait
        return dataclasses.replace(
            program, forward=finished(program.forward), adjoint=finished(program.adjoint),
            forward_backward=finished(program.forward_backward))
    return build


peer_warp.load = load_for_gpu
peer_warp.compile_seconds = lambda module: measure.elapsed(
    lambda: module.load_module("peer_warp", device=DEVICE))
measure.main("warp", {name: on_gpu(getattr(peer_warp, name)) for name in (
    "launch_overhead", "spring_cage", "cloth_springs", "wave2d", "tet_neohookean", "mpm2d")})
