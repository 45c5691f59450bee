"""What the tests of scenes share."""

import csv
import json
import os
import subprocess
from pathlib import Path

import hindcast as hc
import numpy as np
import pytest

ROOT = Path(__file__).resolve().parents[3]
SCENES = ROOT / "scenes"
CAGE = SCENES / "spring_cage.json"
# Short, smooth ones of several kinds, with steps that differences can afford.
SMOOTH = [
    ("spring_cage", None),
    ("thrown_ball", None),
    ("two_body_spring", None),
    ("mass_spring_simple", 20),
    ("soft_beam", None),
]


def program():
    """The command-line program of the same build."""
    build = Path(hc._core.__file__).resolve().parents[2]
    for place in (os.environ.get("HINDCAST"), build / "hindcast"):
        if place and Path(place).is_file():
            return str(place)
    pytest.fail("the program hindcast is not built beside the module")


def optimized(folder, scene, *options):
    """What `hindcast optimize` leaves: rows of the history."""
    subprocess.run(
        [program(), "optimize", str(scene), "--quiet", "--output", str(folder), *options],
        check=True,
        capture_output=True,
    )
    with open(folder / "history.csv") as file:
        return list(csv.DictReader(file))


def ran(folder, scene, *options):
    subprocess.run(
        [program(), "run", str(scene), "--quiet", "--output", str(folder), *options],
        check=True,
        capture_output=True,
    )
    return json.loads((folder / "summary.json").read_text())


def flat(by_path):
    return np.concatenate([np.ravel(value) for value in by_path.values()])


def moved(sim, paths, direction, step):
    """The loss with the values moved along a direction; they are put back."""
    before = {path: sim[path] for path in paths}
    for path in paths:
        sim[path] = before[path] + step * direction[path]
    loss = sim.run()
    for path in paths:
        sim[path] = before[path]
    return loss


def slope(sim, paths, direction):
    """Central differences, extrapolated, of steps relative to the values."""
    relative = [
        np.max(np.abs(direction[path])) / (np.max(np.abs(sim[path])) or 1.0) for path in paths
    ]
    h = 1e-4 / max(relative)

    def central(step):
        above = moved(sim, paths, direction, step)
        return (above - moved(sim, paths, direction, -step)) / (2 * step)

    return (4 * central(h / 2) - central(h)) / 3
