"""Which runs of which peers exist. Standard library only, so that it can be read where no peer is
installed; `python3 runs.py` prints what the interpreter that runs it has installed, as JSON.

A run is one process: `peer_<peer>.py WORKLOAD VARIANT --threads N` (see measure.py).
"""
import importlib.metadata
import json
from typing import NamedTuple


class Run(NamedTuple):
    workload: str
    peer: str
    variant: str
    parallel: bool = False  # may use more than one thread

    @property
    def label(self):
        return f"{self.peer}:{self.variant}"


# The strongest way of each peer: its ways to cut the cost per launch, for the spring net both forms
# of the force (a loop over springs that scatters, a loop over particles that gathers) where they
# differ, and one thread where that may beat several.
RUNS = (
    Run("launch_overhead", "warp", "recorded-launch"),
    Run("launch_overhead", "warp", "cpu-graph"),
    Run("launch_overhead", "jax", "jit-call", parallel=True),
    Run("spring_cage", "warp", "step-kernel-cpu-graph"),
    Run("spring_cage", "warp", "unrolled-kernel-cpu-graph"),
    Run("spring_cage", "taichi", "one-kernel"),
    Run("spring_cage", "jax", "scan", parallel=True),
    Run("cloth_springs", "warp", "springs-tape"),
    Run("cloth_springs", "warp", "springs-cpu-graph"),
    Run("cloth_springs", "taichi", "particles", parallel=True),
    Run("cloth_springs", "taichi", "springs-serial"),
    Run("cloth_springs", "jax", "scan-checkpoint", parallel=True),
    Run("wave2d", "warp", "cpu-graph"),
    Run("wave2d", "taichi", "parallel", parallel=True),
    Run("wave2d", "taichi", "serial"),
    Run("wave2d", "jax", "scan", parallel=True),
    Run("wave2d", "jax", "scan-one-thread"),
    Run("tet_neohookean", "warp", "cpu-graph"),
    Run("tet_neohookean", "taichi", "parallel", parallel=True),
    Run("tet_neohookean", "taichi", "serial"),
    Run("tet_neohookean", "jax", "scan-checkpoint", parallel=True),
    Run("mpm2d", "warp", "cpu-graph"),
    Run("mpm2d", "taichi", "parallel", parallel=True),
    Run("mpm2d", "taichi", "serial"),
    Run("mpm2d", "jax", "scan-checkpoint", parallel=True),
    Run("implicit_cloth", "cholmod", "supernodal", parallel=True),
    Run("implicit_cloth", "cholmod", "supernodal-one-thread"),
)

PACKAGES = {"warp": "warp-lang", "taichi": "taichi", "jax": "jax", "cholmod": "scikit-sparse"}
WORKLOADS = tuple(dict.fromkeys(run.workload for run in RUNS))


def installed():
    """Version of numpy and of every peer in this interpreter; None where it is missing."""
    versions = {}
    for name, package in {"numpy": "numpy", **PACKAGES}.items():
        try:
            versions[name] = importlib.metadata.version(package)
        except importlib.metadata.PackageNotFoundError:
            versions[name] = None
    return versions


if __name__ == "__main__":
    print(json.dumps(installed()))
