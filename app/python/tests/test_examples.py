"""Every example runs, and asserts what it shows."""

import json
import linecache
import os
import pathlib
import struct
import subprocess
import sys

import hindcast
import pytest

FOLDER = pathlib.Path(__file__).resolve().parents[1] / "examples"
EXAMPLES = sorted(file for file in FOLDER.glob("*.py") if file.stem != "drawing")
PICTURES = [file for file in EXAMPLES if "--picture" in file.read_text()]


def ran(example, folder, *options):
    for package in ("jax", "optax"):
        if f"import {package}" in example.read_text():
            pytest.importorskip(package)
    where = {**os.environ, "PYTHONPATH": str(pathlib.Path(hindcast.__file__).absolute().parents[1])}
    done = subprocess.run(
        [sys.executable, example, *options], cwd=folder, env=where, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.parametrize("example", EXAMPLES, ids=lambda path: path.stem)
def test_example(example, tmp_path):
    if example not in PICTURES or not hasattr(hindcast._core, "render_scene"):
        return ran(example, tmp_path)
    ran(example, tmp_path, "--picture", "picture.png")
    data = (tmp_path / "picture.png").read_bytes()
    width, height = struct.unpack(">II", data[16:24])
    assert data[1:4] == b"PNG" and width > 300 and height > 100


def test_the_notebook(monkeypatch):
    """Its cells in order, without Jupyter."""
    monkeypatch.chdir(FOLDER)
    cells = json.loads((FOLDER / "first_steps.ipynb").read_text())["cells"]
    codes = ["".join(cell["source"]) for cell in cells if cell["cell_type"] == "code"]
    names = {"__name__": "__main__"}
    for k, code in enumerate(codes):
        file = f"<cell {k}>"  # where kernels find their source
        linecache.cache[file] = (len(code), None, code.splitlines(True), file)
        exec(compile(code, file, "exec"), names)
    assert len(codes) > 5


def test_there_are_examples():
    assert len(EXAMPLES) >= 8 and len(PICTURES) >= 3
