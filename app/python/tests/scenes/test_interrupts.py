"""Ctrl-C while models are built and kernels are compiled: in a process of its own, without code from
before. The first gradient of the scene compiles for several seconds."""

import os
import signal
import subprocess
import sys
import time

import pytest
from scene_tools import SCENES

FILE = SCENES / "large" / "drape.json"
SOON = 2.0  # seconds; a tenth of one where nobody else works

JAX = """
jax = __import__("jax")
jax.config.update("jax_enable_x64", True)
import hindcast.jax
f = hc.jax.simulation(file, inputs=hc.load(file).parameters, precision="f64", steps=4)
x = f.initial()
"""
TORCH = """
import hindcast.torch
f = hc.torch.simulation(file, inputs=hc.load(file).parameters, precision="f64", steps=4)
x = [v.requires_grad_() for v in f.initial()]
"""
# A body of 440 thousand tetrahedra, whose surface is looked for in one go.
LARGE = """
import json, pathlib
scene = json.loads((pathlib.Path(file).parent / "bar.json").read_text())
scene["bodies"][0]["mesh"]["box"]["cells"] = [128, 24, 24]
"""
# Every step of this cloth takes a while, and no code is missing after the first.
CLOTH = """
import json, pathlib
scene = json.loads((pathlib.Path(file).parents[1] / "cloth_over_ball.json").read_text())
scene["bodies"][0]["mesh"]["grid"]["cells"] = [64, 64]
scene["time"]["steps"] = 12
sim = hc.scene(scene)
"""
SIMULATION = "sim = hc.load(file, steps=4); paths = sim.parameters"
WORK = {
    "load": (LARGE, "hc.scene(scene)"),
    "value_and_grad": (SIMULATION, "sim.value_and_grad()"),
    "implicit": (CLOTH, "sim.value_and_grad()"),
    "hvp": (SIMULATION, "sim.hvp(paths, {p: sim[p] for p in paths})"),
    "jax": (JAX, "jax.block_until_ready(jax.value_and_grad(f)(*x))"),
    "jit": (JAX, "jax.block_until_ready(jax.jit(jax.grad(f))(*x))"),
    "torch": (TORCH, "f(*x).backward()"),
}
SCRIPT = """
import signal, sys
signal.signal(signal.SIGINT, signal.default_int_handler)
import hindcast as hc
file = sys.argv[1]
{before}
print("at work", flush=True)
try:
    while True:  # the second of a delay may be enough for the first time
        {work}
except BaseException as error:
    print(type(error).__name__, flush=True)
{behind}
"""


def interrupted(kind, folder, delay, behind=""):
    """What the script prints, and the seconds until it has raised and until it has ended."""
    before, work = WORK[kind]
    process = subprocess.Popen(
        [sys.executable, "-c", SCRIPT.format(before=before, work=work, behind=behind), str(FILE)],
        stdout=subprocess.PIPE,
        text=True,
        env={**os.environ, "HINDCAST_CACHE": str(folder)},
    )
    assert process.stdout.readline() == "at work\n"
    time.sleep(delay)
    start = time.monotonic()
    process.send_signal(signal.SIGINT)
    raised = process.stdout.readline().strip()
    seconds = time.monotonic() - start
    rest = process.stdout.read().split()
    assert process.wait() == 0
    return raised, rest, seconds, time.monotonic() - start


@pytest.mark.parametrize("kind", WORK)
@pytest.mark.parametrize("delay", [0.1, 1.0])
def test_building_and_compiling_end_soon(kind, delay, tmp_path):
    pytest.importorskip("torch" if kind == "torch" else "numpy")
    if kind in ("jax", "jit"):
        pytest.importorskip("jax")
    raised, _, seconds, until_end = interrupted(kind, tmp_path, delay)
    assert raised == "KeyboardInterrupt" and seconds < SOON
    # A process does not wait for code that nobody wants any more (nor crashes by it).
    assert until_end < 2 * SOON + (4 if kind == "torch" else 0)


def test_a_simulation_is_usable_behind(tmp_path):
    behind = """
found = [x.value_and_grad() for x in (sim, hc.load(file, steps=4))]
print(found[0][0] == found[1][0] and all(
    (found[0][1][p] == found[1][1][p]).all() for p in paths))
"""
    assert interrupted("value_and_grad", tmp_path, 0.5, behind)[:2] == ("KeyboardInterrupt", ["True"])


def test_the_handler_of_a_program_stays_its_own(tmp_path):
    """What XLA calls takes the signal for itself only while it works."""
    behind = """
print(signal.getsignal(signal.SIGINT) is signal.default_int_handler)
with open("/proc/self/status") as status:
    caught = next(line for line in status if line.startswith("SigCgt"))
print(bool(int(caught.split()[1], 16) & 1 << signal.SIGINT - 1))
import os, time
try:
    os.kill(os.getpid(), signal.SIGINT)
    time.sleep(5)
except KeyboardInterrupt:
    print("again")
"""
    pytest.importorskip("jax")
    raised, rest, *_ = interrupted("jit", tmp_path, 0.5, behind)
    assert (raised, rest) == ("KeyboardInterrupt", ["True", "True", "again"])
