"""Programs kept outside this repository that do one workload each, written and tuned by hand for
it: what a machine can reach. Standard library only.

`compare --limit DIR` runs DIR/build/WORKLOAD.COMPILER with the options below. Such a program prints
one line with "forward MS ms" and "fwd+bwd MS ms", its best times, and "loss VALUE"; what it says of
gradients is found by the patterns below and checked like a peer's.
"""
import pathlib
import re
from typing import NamedTuple


class Limit(NamedTuple):
    workload: str
    label: str  # what is special about this run
    options: tuple
    gradients: dict = {}  # name: pattern of its norm, or of its value if it is a number
    parallel: bool = True


CLOTH = {"K": r"gradK (\S+)", "v0": r"\|gv0\| (\S+)"}
TETRAHEDRA = {"mu": r"grad mu (\S+)", "la": r" la (\S+)", "v0": r"\|gv0\| (\S+)"}
WAVE = {"p0": r"\|g\| (\S+)"}
LIMITS = (
    Limit("cloth_springs", "index list", ("--form", "list"), CLOTH),
    Limit("cloth_springs", "grid known", ("--form", "grid"), CLOTH),
    Limit("wave2d", "one level at a time", ("--depth", "1", "--width", "512"), WAVE),
    Limit("wave2d", "tiled in time", ("--depth", "8", "--width", "512"), WAVE),
    Limit("wave2d", "tiled deeper", ("--depth", "16", "--width", "256"), WAVE),
    Limit("tet_neohookean", "index list", ("--form", "list"), TETRAHEDRA),
    Limit("tet_neohookean", "grid known", ("--form", "grid"), TETRAHEDRA),
    Limit("mpm2d", "fixed point", ("--strategy", "fixed", "--chunks", "{threads}")),
    Limit("mpm2d", "sorted", ("--strategy", "sorted", "--chunks", "{threads}")),
    Limit("mpm2d", "float", ("--strategy", "float", "--chunks", "{threads}")),
)
COMPILERS = ("gcc", "clang")


def commands(workload, folder, threads, seconds):
    """(limit, name, command) of every program of a workload that is there."""
    for limit in LIMITS:
        if limit.workload != workload:
            continue
        used = threads if limit.parallel else 1
        for compiler in COMPILERS:
            program = pathlib.Path(folder) / "build" / f"{workload}.{compiler}"
            if program.exists():
                options = [option.format(threads=used) for option in limit.options]
                yield limit, f"limit:{limit.label} ({compiler})", [
                    str(program), *options, "--threads", str(used), "--budget", str(seconds)]


def parsed(limit, text, threads, steps, peak_mb):
    """The program's line in the peers' form; None if it is not there."""
    times = re.search(r"forward ([\d.]+) ms.*?fwd\+bwd ([\d.]+) ms.*?loss ([-+\d.e]+)", text)
    if times is None:
        return None
    forward, both, loss = (float(number) for number in times.groups())
    line = {
        "workload": limit.workload, "threads": threads, "precision": "f32", "steps": steps,
        "forward_s": forward * 1e-3, "forward_backward_s": both * 1e-3, "compile_s": 0.0,
        "loss": loss, "peak_mb": peak_mb, "grad_norm": {}, "grad": {},
    }
    for name, pattern in limit.gradients.items():
        value = float(re.search(pattern, text).group(1))
        line["grad_norm"][name] = abs(value)
        if not pattern.startswith(r"\|"):
            line["grad"][name] = [value]
    return line
