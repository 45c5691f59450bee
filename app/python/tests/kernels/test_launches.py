"""Launches and tapes: what is set, what is kept, what is refused."""

import gc
import os
import subprocess
import sys

import hindcast as hc
import numpy as np
import pytest


@hc.kernel
def scale(i: hc.Int, x: hc.Read[hc.vec3], k: hc.Param[hc.real], y: hc.Write[hc.vec3]):
    y[i] = x[i] * k


@hc.kernel
def add_up(i: hc.Int, at: hc.Read[hc.i32], x: hc.Read[hc.real], y: hc.Accumulate[hc.real]):
    y[at[i]] += x[i] * x[i]


@hc.kernel
def square(i: hc.Int, x: hc.ReadWrite[hc.real]):
    x[i] = x[i] * x[i]


def test_a_training_loop_records_once():
    """k is found such that y = k x fits: gradient descent on 1/2 |y - 3 x|^2."""
    x = np.arange(12.0).reshape(4, 3) / 10
    y = hc.zeros(4, hc.vec3, precision="f64")
    launch = hc.record(scale, dim=4, x=x, k=1.0, y=y)
    for _ in range(60):
        launch.forward()
        y.grad.numpy()[:] = y.numpy() - 3 * x
        launch.adjoint()
        launch.set("k", launch["k"] - 0.15 * launch.grad("k"))
        launch.clear_gradients()
    assert launch["k"] == pytest.approx(3, abs=1e-9)


def test_what_is_set_later():
    x, other = np.ones((2, 3)), np.full((2, 3), 5.0)
    y = hc.zeros(2, hc.vec3, precision="f64")
    launch = hc.record(scale, dim=2, x=x, k=2, y=y)
    launch.forward()
    assert np.all(y.numpy() == 2)
    launch.set("x", other)
    launch.set("k", 3)
    launch.forward()
    assert np.all(y.numpy() == 15)
    with pytest.raises(TypeError, match="'x'.*float32|'x'.*f64"):
        launch.set("x", other.astype(np.float32))
    launch.forward()  # a refused set changes nothing
    assert np.all(y.numpy() == 15) and np.array_equal(launch["x"].numpy(), other)


def test_indices_that_are_changed_in_place_are_seen():
    at = np.array([0, 1, 2, 0], np.int32)
    x, y = np.array([1.0, 2.0, 3.0, 4.0]), np.zeros(3)
    launch = hc.record(add_up, dim=4, at=at, x=x, y=y)
    launch.forward()
    assert y.tolist() == [17, 4, 9]
    at[:] = [2, 2, 2, 1]
    y[:] = 0
    launch.forward()
    assert y.tolist() == [0, 16, 14]


def test_a_tape_keeps_what_is_overwritten():
    x = hc.zeros(3, hc.real, precision="f64")
    start = np.array([0.5, -1.5, 2.0])
    x.numpy()[:] = start
    launch = hc.record(square, dim=3, x=x)
    with hc.Tape() as tape:
        launch.forward()
        launch.forward()
    assert len(tape) == 2 and np.array_equal(x.numpy(), start**4)
    x.grad.fill(1)
    tape.backward()
    assert np.allclose(x.grad.numpy(), 4 * start**3, rtol=1e-15)
    x.numpy()[:] = start * 2
    tape.clear_gradients()
    tape.forward()
    x.grad.fill(1)
    tape.backward()
    assert np.allclose(x.grad.numpy(), 4 * (2 * start) ** 3, rtol=1e-15)


def test_columns_of_a_matrix_are_arguments():
    m = np.arange(12.0).reshape(4, 3)
    at = np.zeros(4, np.int32)
    y = np.zeros((2, 5))
    hc.record(add_up, dim=4, at=at, x=m[::-1, 1], y=y[:, 3]).forward()
    assert y[0, 3] == (m[:, 1] ** 2).sum() and np.count_nonzero(y) == 1


@pytest.mark.parametrize(
    "change, why",
    [
        ({"x": np.zeros((4, 2))}, "must be \\(3\\)"),
        ({"x": np.zeros((4, 3), np.float32)}, "convert one of them"),
        ({"x": np.zeros((4, 3), int)}, "i64"),
        ({"k": [1.0, 2.0]}, "1 components, but 2 numbers"),
        ({"z": 1}, "there is no parameter 'z'"),
        ({"x": 3.0}, "is a buffer, but a number"),
        ({"x": None}, "x: "),
        ({"precision": "f16"}, "neither 'f32' nor 'f64'"),
        ({"precision": "f32"}, "where f32 is asked for"),
        ({"dim": 5}, "has 4 elements for 5 items"),
        ({"dim": -1}, "-1 items"),
    ],
)
def test_what_record_refuses(change, why):
    arguments = {"x": np.zeros((4, 3)), "k": 1.0, "y": np.zeros((4, 3)), "dim": 4, **change}
    with pytest.raises(hc.ArgumentError, match=why):
        hc.record(scale, **arguments)


def test_what_cannot_be_written_is_refused():
    x, y = np.zeros((4, 3)), np.zeros((4, 3))
    y.flags.writeable = False
    with pytest.raises(ValueError, match="'y' is written, but the array's memory is read only"):
        hc.record(scale, dim=4, x=x, k=1.0, y=y)
    with pytest.raises(ValueError, match="are bound to one array"):
        hc.record(scale, dim=3, x=x[:3], k=1.0, y=x[1:])
    with pytest.raises(ValueError, match="'k' is not given"):
        hc.record(scale, dim=4, x=x, y=np.zeros((4, 3)))
    with pytest.raises(hc.ArgumentError, match="there is no parameter 'q'|no parameter"):
        hc.record(scale, dim=4, x=x, k=1.0, y=np.zeros((4, 3))).grad("q")


def test_arguments_live_as_long_as_the_launch():
    x = np.zeros((4, 3))
    count = sys.getrefcount(x)
    launch = hc.record(scale, dim=4, x=x, k=1.0, y=np.zeros((4, 3)))
    assert sys.getrefcount(x) > count
    launch.set("x", np.ones((4, 3)))
    gc.collect()
    assert sys.getrefcount(x) == count
    del launch


def test_many_calls_keep_no_memory():
    resource = pytest.importorskip("resource")
    x, y = np.zeros((4, 3)), np.zeros((4, 3))
    launch = hc.record(scale, dim=4, x=x, k=1.0, y=y)

    def work(calls, records):
        for _ in range(calls):
            launch.forward()
            launch.adjoint()
        for _ in range(records):
            hc.record(scale, dim=4, x=x, k=1.0, y=y).forward()
        gc.collect()

    work(1000, 100)
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    work(100_000, 2000)
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 4096  # KiB


def test_without_llvm_there_is_an_error_and_no_slow_interpreter(tmp_path):
    script = (
        "import hindcast as hc, numpy as np\n"
        "@hc.kernel\n"
        "def twice(i: hc.Int, x: hc.ReadWrite[hc.real]):\n"
        "    x[i] = 2 * x[i]\n"
        "x = np.ones(3)\n"
        "try:\n"
        "    hc.record(twice, dim=3, x=x).forward()\n"
        "except hc.Error as error:\n"
        "    print(error)\n"
        "assert (x == 1).all()\n"
        "hc.record(twice, dim=3, x=x, device=hc.device('interpreter')).forward()\n"
        "assert (x == 2).all()\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", script],
        capture_output=True,
        text=True,
        env={**os.environ, "HINDCAST_LLVM": "/nowhere/libLLVM.so", "HINDCAST_CACHE": str(tmp_path)},
    )
    assert done.returncode == 0, done.stderr
    assert "libllvm19" in done.stdout and "'interpreter'" in done.stdout
