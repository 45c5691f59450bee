"""Every example runs, and asserts what it shows."""

import os
import pathlib
import subprocess
import sys

import hindcast
import pytest

EXAMPLES = sorted((pathlib.Path(__file__).resolve().parents[1] / "examples").glob("*.py"))


@pytest.mark.parametrize("example", EXAMPLES, ids=lambda path: path.stem)
def test_example(example, tmp_path):
    if "jax" in example.read_text():
        pytest.importorskip("jax")
    where = {**os.environ, "PYTHONPATH": str(pathlib.Path(hindcast.__file__).absolute().parents[1])}
    ran = subprocess.run(
        [sys.executable, example], cwd=tmp_path, env=where, capture_output=True, text=True
    )
    assert ran.returncode == 0, ran.stdout + ran.stderr


def test_there_are_examples():
    assert len(EXAMPLES) >= 5
