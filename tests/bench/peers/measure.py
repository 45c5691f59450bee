"""Times one peer on one workload and prints one JSON object on one line.

A peer script calls main() with a function per workload, which builds a Program: closures over the
peer's own objects. Everything a program does before the first timing (imports, inputs, compiling)
is outside the times; compile_s is the part of it that is the peer's compiler.
"""
import argparse
import json
import os
import resource
import time
from dataclasses import dataclass
from typing import Callable, Optional

from runs import RUNS
from workloads import DEFINITIONS, digest


@dataclass
class Program:
    """forward and forward_backward have finished their work when they return."""

    version: str
    threads: int
    compile_s: float
    forward: Callable[[], None]
    forward_backward: Callable[[], None]
    # Loss and gradients (name -> array) at the initial parameters.
    results: Callable[[], tuple]
    repeats: int = 5  # at least; fewer where a call takes long
    calls: int = 1  # calls per timing; more than one where a call is short
    restart: Callable[[], None] = lambda: None  # back to the initial parameters; not timed
    precision: str = "f32"
    # launch_overhead: 20 000 adjoints alone; forward_backward is then forward followed by this.
    adjoint: Optional[Callable[[], None]] = None


def fastest(call, seconds, least=5, calls=1, restart=lambda: None):
    """Seconds per call: the minimum over at least so many repeats after a warm-up; more repeats until
    `seconds` have passed."""
    restart()
    call()
    best, repeats = float("inf"), 0
    end = time.perf_counter() + seconds
    while repeats < least or (repeats < 200 and time.perf_counter() < end):
        restart()
        start = time.perf_counter()
        for _ in range(calls):
            call()
        best = min(best, (time.perf_counter() - start) / calls)
        repeats += 1
    return best, repeats


def elapsed(call):
    """Wall seconds of one call."""
    start = time.perf_counter()
    call()
    return time.perf_counter() - start


def restrict_to(threads):
    """Lets this process see only so many cores. Peers size their thread pools by it when they are
    imported, so this comes first."""
    if hasattr(os, "sched_setaffinity"):
        cores = sorted(os.sched_getaffinity(0))
        os.sched_setaffinity(0, cores[:threads])


def main(peer, builders, precisions=("f32",)):
    """builders: workload -> function(variant, options) that returns a Program."""
    parser = argparse.ArgumentParser(description=f"Runs one workload in {peer}, see README.md.")
    parser.add_argument("workload", choices=sorted(builders))
    parser.add_argument("variant", choices=[run.variant for run in RUNS if run.peer == peer])
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--seconds", type=float, default=2.0, help="least time per figure")
    parser.add_argument("--precision", choices=precisions, default=precisions[0])
    options = parser.parse_args()
    if not any(run[:3] == (options.workload, peer, options.variant) for run in RUNS):
        parser.error(f"{options.workload} has no variant {options.variant}, see runs.py")

    program = builders[options.workload](options.variant, options)
    loss, gradients = program.results()
    definition = DEFINITIONS[options.workload]
    line = {
        "workload": options.workload, "peer": peer, "variant": options.variant,
        "version": program.version, "threads": program.threads, "precision": program.precision,
        "n": definition.n, "steps": definition.steps,
    }
    timing = dict(seconds=options.seconds, least=program.repeats, calls=program.calls,
                  restart=program.restart)
    line["forward_s"], line["forward_repeats"] = fastest(program.forward, **timing)
    if program.adjoint is None:
        call = program.forward_backward
        line["forward_backward_s"], line["forward_backward_repeats"] = fastest(call, **timing)
    else:
        adjoint_s, line["adjoint_repeats"] = fastest(program.adjoint, **timing)
        line["forward_backward_s"] = line["forward_s"] + adjoint_s
        line["launch_s"] = line["forward_s"] / definition.steps
        line["adjoint_s"] = adjoint_s / definition.steps
    line["compile_s"] = round(program.compile_s, 3)
    line["loss"] = float(loss)
    line.update(digest(gradients))
    line["peak_mb"] = round(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024, 1)
    print(json.dumps(line), flush=True)
