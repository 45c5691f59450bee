"""Types, docstrings and the reference of what users call."""

import ast
import importlib.util
import inspect
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


def test_the_types_name_all_that_is_public():
    tree = ast.parse((PYTHON / "hindcast" / "__init__.pyi").read_text())
    named = {}
    for node in tree.body:
        if isinstance(node, ast.ImportFrom):
            named |= {a.asname: None for a in node.names if a.asname}
        elif isinstance(node, ast.AnnAssign):
            named[node.target.id] = None
        elif isinstance(node, (ast.FunctionDef, ast.ClassDef)):
            named[node.name] = node
    public = {n for n in named if not n.startswith("_")} | {"__version__"}
    assert public - {"jax", "torch"} == set(hc.__all__)
    for name, node in named.items():
        function = None if name in ("jax", "torch") else getattr(hc, name, None)
        if not isinstance(node, ast.FunctionDef) or not inspect.isfunction(function):
            continue
        given = [*node.args.posonlyargs, *node.args.args, *node.args.kwonlyargs]
        given += [a for a in (node.args.vararg, node.args.kwarg) if a]
        expected = list(inspect.signature(function).parameters)
        if name != "zeros":  # which is several
            assert sorted(a.arg for a in given) == sorted(expected), name


def mypy(script, *options):
    """The lines of its errors in the script, each with its line."""
    pytest.importorskip("mypy", reason="mypy is not installed; tests/run --full has it")
    done = subprocess.run(
        [sys.executable, "-m", "mypy", "--no-incremental", *options, str(script)],
        capture_output=True,
        text=True,
        env={**os.environ, "MYPYPATH": str(PACKAGE.parent)},
    )
    assert done.returncode in (0, 1), done.stdout + done.stderr
    errors = [line for line in done.stdout.splitlines() if "error:" in line]
    return [line for line in errors if script.name in line.split(":")[0]]


def test_kernels_have_types(tmp_path):
    assert mypy(PYTHON / "tests" / "typed_program.py", "--strict") == []
    # As the README writes them.
    text = (PYTHON / "tests" / "typed_program.py").read_text()
    assert text.count("-> None:") == 2
    script = tmp_path / "without_results.py"
    script.write_text(text.replace(" -> None:", ":"))
    assert mypy(script, "--strict", "--allow-untyped-defs", "--allow-incomplete-defs") == []


def test_the_typed_program_runs():
    spec = importlib.util.spec_from_file_location("typed_program", PYTHON / "tests" / "typed_program.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    assert module.run() == 0  # all points lie in one place: no cable is tight
    n = 4
    hc.record(
        module.everything, dim=n, n=2, j=[0, 1, 2, 3], w=1.0, x=hc.zeros(n, hc.vec2),
        m=hc.zeros(n, hc.mat2), y=hc.zeros(n, hc.vec2), z=hc.zeros(n, hc.vec2),
        f=hc.zeros(n, hc.vec2), u=hc.zeros(2 * n), e=hc.zeros(1, hc.f64), c=hc.zeros(2, hc.i32),
    ).forward()  # fmt: skip


def test_wrong_kernels_are_found(tmp_path):
    script = tmp_path / "wrong.py"
    script.write_text(
        "import hindcast as hc\n"
        "@hc.kernel\n"
        "def scale(i: hc.Int, x: hc.Read[hc.vec3], y: hc.Write[hc.vec3]) -> None:\n"
        "    y[i] = 'text'\n"
        "    x[i] = 1.0\n"
        "    x.q\n"
        "@hc.kernel\n"
        "def without(x: str) -> None: ...\n"
        "hc.record(scale, 4, 5)\n"
        "hc.recorded(scale)\n"
        "hc.sqrt('a')\n"
    )
    lines = dict.fromkeys(error.split(":")[1] for error in mypy(script, "--strict"))
    assert list(lines) == ["4", "5", "6", "7", "9", "10", "11"]


def test_a_type_checker_finds_what_is_wrong(tmp_path):
    script = tmp_path / "script.py"
    script.write_text(
        "import hindcast as hc\n"
        "d: hc.Device = hc.device('cpu', threads=2)\n"
        "def items(launch: hc.Launch) -> int:\n"
        "    launch.forward()\n"
        "    launch.color()\n"
        "    return launch.dim\n"
        "a: hc.Array = hc.zeros(4, hc.vec3)\n"
        "extents: tuple[int, ...] = a.numpy().shape\n"
        "hc.array([1, 2], dtype=3)\n"
        "hc.load('scene.json').value_and_grad(3)\n"
        "hc.device('cpu', 'two')\n"
    )
    assert [error.split(":")[1] for error in mypy(script)] == ["5", "9", "10", "11"]
