"""Functions of JAX in other processes: pickled, and in programs that jax.export writes."""

import copy
import multiprocessing
import pickle
import subprocess
import sys

import numpy as np
import pytest

jax = pytest.importorskip("jax")
jax.config.update("jax_enable_x64", True)

import hindcast as hc
import hindcast.jax
import jax.export
import jax.numpy as jnp
from jax_kernel_tools import J, MIXED, NUMBER, mix
from test_jax import CAGE, INPUTS

REST = jnp.array([1.7, 1.8, 1.6, 1.7, 1.75, 1.65, 1.7, 1.72])


def scene():
    f = hc.jax.simulation(CAGE, inputs=INPUTS[:1], outputs=["loss", "final:position"],
                          precision="f64", steps=12)  # fmt: skip
    return f, (REST,)


def kernels():
    f = hc.jax.callable(
        [hc.call(mix, dim="x"), hc.call(mix, dim="x", x="y", y="y2", z="z2", e="e2")],
        inputs=["x", "j", "k", "w", "n"],
        outputs={"y2": None, "z": np.ones(5), "z2": hc.fill(0.5, shape=(5,)), "e2": None},
        temporaries={"y": None, "e": None},
        precision="f64",
    )
    return f, (MIXED["x"], J, MIXED["k"], MIXED["w"], NUMBER)


MAKE = {"simulation": scene, "kernels": kernels}


def scalar(f):
    return lambda x, *rest: sum((jnp.cos(y) * y).sum() for y in jax.tree.leaves(f(x, *rest)))


def gradient(f, arguments):
    """Bytes of the value and the gradient, in this process."""
    jax.config.update("jax_enable_x64", True)
    found = jax.jit(jax.value_and_grad(scalar(f)))(*map(jnp.asarray, arguments))
    return [np.asarray(leaf).tobytes() for leaf in jax.tree.leaves(found)]


@pytest.mark.parametrize("name", MAKE)
def test_pickled_for_another_process(name):
    f, arguments = MAKE[name]()
    arguments = [np.asarray(a) for a in arguments]
    here = gradient(f, arguments)
    with multiprocessing.get_context("spawn").Pool(1) as pool:
        assert pool.apply(gradient, (f, arguments)) == here
    other = copy.deepcopy(f)
    assert repr(other) == repr(f) and gradient(other, arguments) == here
    assert gradient(pickle.loads(pickle.dumps(other)), arguments) == here


# ---- jax.export ------------------------------------------------------------------------------------------


def export(f, arguments):
    pytest.importorskip("flatbuffers", reason="JAX serializes programs with it")
    return jax.export.export(jax.jit(f), disabled_checks=hc.jax.export_checks())(*arguments)


CALL = """
import sys, numpy as np, jax
jax.config.update("jax_enable_x64", True)
import jax.export, hindcast.jax
{before}
with open(sys.argv[1], "rb") as file:
    program = jax.export.deserialize(file.read())
given = np.load(sys.argv[2])
found = jax.tree.leaves(program.call(*(given[name] for name in given.files)))
np.savez(sys.argv[3], *found)
"""


def called_elsewhere(folder, program, arguments, before="hindcast.jax.register()"):
    (folder / "program").write_bytes(program.serialize(vjp_order=1))
    np.savez(folder / "given.npz", *arguments)
    files = [str(folder / name) for name in ("program", "given.npz", "found.npz")]
    done = subprocess.run(
        [sys.executable, "-c", CALL.format(before=before), *files], capture_output=True, text=True
    )
    if done.returncode:
        return done
    found = np.load(folder / "found.npz")
    return [found[name] for name in found.files]


@pytest.mark.parametrize("name", MAKE)
@pytest.mark.parametrize("wrap", [lambda f: f, lambda f: jax.value_and_grad(scalar(f))])
def test_exported_for_another_process(tmp_path, name, wrap):
    f, arguments = MAKE[name]()
    f = wrap(f)
    expected = jax.tree.leaves(jax.jit(f)(*arguments))
    program = export(f, arguments)
    for a, b in zip(jax.tree.leaves(program.call(*arguments)), expected, strict=True):
        np.testing.assert_array_equal(a, b)
    for a, b in zip(called_elsewhere(tmp_path, program, arguments), expected, strict=True):
        np.testing.assert_array_equal(a, b)


def test_a_batch_and_the_gradient_of_what_was_exported():
    f, (rest,) = scene()
    rests = jnp.stack([rest, rest * 1.1])
    loss = lambda x: f(x)["loss"]
    program = export(jax.vmap(loss), (rests,))
    program = jax.export.deserialize(program.serialize(vjp_order=1))
    np.testing.assert_array_equal(program.call(rests), jax.jit(jax.vmap(loss))(rests))
    found = jax.grad(lambda x: program.call(x).sum())(rests)
    np.testing.assert_array_equal(found, jax.vmap(jax.grad(loss))(rests))


def test_without_the_checks_left_out():
    f, arguments = scene()
    with pytest.raises(ValueError, match="hindcast_value"):
        jax.export.export(jax.jit(f))(*arguments)


def test_a_size_that_is_not_known_is_refused_at_export():
    f, (rest,) = scene()
    (b,) = jax.export.symbolic_shape("b")
    shape = jax.ShapeDtypeStruct((b, 8), rest.dtype)
    with pytest.raises(NotImplementedError, match="a batch of a simulation has a known size"):
        export(jax.vmap(f), (shape,))


def test_another_version_is_an_error_and_no_crash(tmp_path):
    f, arguments = scene()
    program = export(f, arguments)
    before = "hindcast._core.__version__ = '0.0.1'; hindcast.jax.register()"
    done = called_elsewhere(tmp_path, program, arguments, before)
    assert done.returncode == 1
    assert "exported by hindcast" in done.stderr and "export it again" in done.stderr
    done = called_elsewhere(tmp_path, program, arguments, "")
    assert done.returncode == 1 and "hindcast_value" in done.stderr


def test_a_function_that_is_gone_here_is_in_the_program():
    f, arguments = scene()
    expected = f(*arguments)["loss"]
    program = export(f, arguments)
    del f
    assert program.call(*arguments)["loss"] == expected
