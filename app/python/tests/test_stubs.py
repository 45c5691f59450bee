"""Types, docstrings and the reference of what users call."""

import ast
import importlib.util
import os
import pathlib
import subprocess
import sys

import hindcast as hc
import pytest

PYTHON = pathlib.Path(__file__).resolve().parents[1]
PACKAGE = pathlib.Path(hc._core.__file__).parent


def reference():
    spec = importlib.util.spec_from_file_location("reference", PYTHON / "reference.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture(scope="module")
def stub():
    return ast.parse((PACKAGE / "_core.pyi").read_text())


def test_the_stub_names_all_that_is_public(stub):
    classes = {node.name: node for node in stub.body if isinstance(node, ast.ClassDef)}
    functions = {node.name for node in stub.body if isinstance(node, ast.FunctionDef)}
    values = {node.target.id for node in stub.body if isinstance(node, ast.AnnAssign)}
    for name in vars(hc._core):
        if name.startswith("_"):
            continue
        value = getattr(hc._core, name)
        known = classes if isinstance(value, type) else functions | values
        assert name in known, name
        if isinstance(value, type):
            members = {n.name for n in classes[name].body if isinstance(n, ast.FunctionDef)}
            missing = {m for m in vars(value) if not m.startswith("_")} - members
            assert not missing, f"{name}: {missing}"


def test_the_package_is_marked_as_typed():
    assert (PACKAGE / "py.typed").is_file()


def test_everything_public_has_a_docstring():
    missing = reference().generate(PACKAGE / "_core.pyi")[1]
    assert not missing


def test_the_reference_is_that_of_the_docstrings():
    text = reference().generate(PACKAGE / "_core.pyi")[0]
    assert (PYTHON / "REFERENCE.md").read_text() == text, (
        "app/python/REFERENCE.md is stale; write it anew: "
        "PYTHONPATH=build/release/python python3 app/python/reference.py"
    )


def test_the_reference_has_every_public_name():
    text = (PYTHON / "REFERENCE.md").read_text()
    for name in dir(hc):
        value = getattr(hc, name)
        if name.startswith("_") or type(value).__name__ == "module":
            continue
        assert f"`hc.{name}" in text, name


def test_a_type_checker_finds_what_is_wrong(tmp_path):
    pytest.importorskip("mypy", reason="mypy is not installed; tests/run --full has it")
    script = tmp_path / "script.py"
    script.write_text(
        "import hindcast as hc\n"
        "d: hc.Device = hc.device('cpu', threads=2)\n"
        "def items(launch: hc.Launch) -> int:\n"
        "    launch.forward()\n"
        "    launch.colour()\n"
        "    return launch.dim\n"
        "a: hc.Array = hc.zeros(4, hc.vec3)\n"
        "extents: tuple[int, ...] = a.numpy().shape\n"
        "hc.array([1, 2], dtype=3)\n"
        "hc.load('scene.json').value_and_grad(3)\n"
        "hc.device('cpu', 'two')\n"
    )
    done = subprocess.run(
        [sys.executable, "-m", "mypy", "--no-incremental", str(script)],
        capture_output=True,
        text=True,
        env={**os.environ, "MYPYPATH": str(PACKAGE.parent)},
    )
    errors = [line for line in done.stdout.splitlines() if "error:" in line]
    assert [line.split(":")[1] for line in errors] == ["5", "9", "10", "11"], done.stdout + done.stderr
