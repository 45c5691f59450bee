"""Indices out of range: arrays that are too short when a launch is recorded, all others when it
runs. The error names item, index and array; unchecked() leaves the checks out."""

import pathlib
import subprocess
import sys

import hindcast as hc
import numpy as np
import pytest
from kernel_checks import DEVICES


@hc.kernel
def copy(i: hc.Int, x: hc.Read[hc.real], y: hc.Write[hc.real]):
    y[i] = x[i]


@hc.kernel
def gather(i: hc.Int, j: hc.Read[hc.i32], x: hc.Read[hc.real], y: hc.Write[hc.real]):
    y[i] = x[j[i]]


@pytest.fixture(params=DEVICES)
def device(request):
    return DEVICES[request.param]


def line_of(text):
    """The first line of this file with the text."""
    lines = pathlib.Path(__file__).read_text().splitlines()
    return next(k for k, line in enumerate(lines, 1) if text in line)


def raised(launch, direction="forward"):
    with pytest.raises(hc.Error) as error:
        getattr(launch, direction)()
    return str(error.value)


def test_an_array_that_is_too_short_is_refused_when_recorded(device):
    big, y = np.arange(1.0, 11), np.zeros(8)
    with pytest.raises(hc.ArgumentError) as error:
        hc.record(copy, dim=8, x=big[:3], y=y, device=device)
    text = str(error.value)
    for word in ("kernel 'copy'", "'x' is read", "has 3 elements for 8 items", "make the array larger"):
        assert word in text, text
    assert f"test_index_checks.py:{line_of('y[i] = x[i]')}" in text
    launch = hc.record(copy, dim=3, x=big[:3], y=y, device=device)
    with pytest.raises(hc.ArgumentError, match="has 2 elements for 3 items"):
        launch.set("x", big[:2])
    launch.forward()
    assert y.tolist() == [1, 2, 3, 0, 0, 0, 0, 0]


def test_neighbors_are_known_when_recorded(device):
    @hc.kernel
    def slope(i: hc.Int, x: hc.Read[hc.real], y: hc.Write[hc.real]):
        y[i] = x[i + 1] - x[i]

    x, y = np.array([1.0, 4, 9, 16]), np.zeros(4)
    with pytest.raises(hc.ArgumentError, match="'x' is read at index 4 by item 3, but has 4 elements"):
        hc.record(slope, dim=4, x=x, y=y, device=device)
    hc.record(slope, dim=3, x=x, y=y, device=device).forward()
    assert y.tolist() == [3, 5, 7, 0]

    @hc.kernel
    def before(i: hc.Int, x: hc.Read[hc.real], y: hc.Write[hc.real]):
        y[i] = x[i - 1]

    with pytest.raises(hc.ArgumentError, match="'x' is read at index -1 by item 0"):
        hc.record(before, dim=3, x=x, y=y, device=device)


def test_a_gather_out_of_range_is_an_error_in_every_direction(device):
    j, x, y = np.array([0, 2, 2**20, -1], np.int32), hc.array(np.array([1.0, 2, 3])), np.zeros(4)
    launch = hc.record(gather, dim=4, j=j, x=x, y=y, device=device)
    text = raised(launch)
    for word in ("kernel 'gather'", "item 2", "index 1048576 is out of range", "'x' has 3 elements",
                 f"test_index_checks.py:{line_of('y[i] = x[j[i]]')}"):
        assert word in text, text
    for direction in ("adjoint", "tangent"):
        assert "index 1048576 is out of range" in raised(launch, direction)
    j[2] = 1  # in memory that both see
    assert "item 3: index -1 is out of range" in raised(launch)
    j[3] = 2
    launch.forward()
    assert y.tolist() == [1, 3, 2, 3]
    launch["y"].grad.numpy()[:] = [1, 2, 4, 8]
    launch.adjoint()
    assert x.grad.numpy().tolist() == [1, 4, 10]
    with hc.Tape() as tape:
        launch.forward()
    j[0] = 3
    with pytest.raises(hc.Error, match="item 0: index 3 is out of range"):
        with hc.Tape():
            launch.forward()
    assert len(tape) == 1
    with pytest.raises(hc.Error):  # it has changed since the run
        tape.backward()
    with pytest.raises(hc.Error, match="item 0: index 3 is out of range"):
        tape.forward()
    j[0] = 1
    tape.forward()
    assert y.tolist() == [2, 3, 2, 3]


def test_a_wrong_index_ends_no_process():
    code = (
        "import hindcast as hc, numpy as np\n"
        "import sys; sys.path.insert(0, sys.argv[1])\n"
        "from test_index_checks import gather\n"
        "n = 2**28\n"
        "launch = hc.record(gather, dim=64, j=np.full(64, n, np.int32), x=np.zeros(3), y=np.zeros(64))\n"
        "try: launch.forward()\n"
        "except hc.Error as error: print('raised', error)\n"
    )
    done = subprocess.run([sys.executable, "-c", code, str(pathlib.Path(__file__).parent)], capture_output=True, text=True)
    assert done.returncode == 0 and "raised" in done.stdout, done.stderr


def test_sums_and_counters_out_of_range(device):
    @hc.kernel
    def add(i: hc.Int, j: hc.Read[hc.i32], f: hc.Accumulate[hc.vec2]):
        f[j[i]] += hc.vec2(1, 2)

    @hc.kernel
    def count(i: hc.Int, j: hc.Read[hc.i32], n: hc.Atomic[hc.i32]):
        n[j[i]].add(1)

    @hc.kernel
    def place(i: hc.Int, j: hc.Read[hc.i32], y: hc.WriteSlice[hc.real]):
        y.store_once(j[i], 1.0)

    j = np.array([1, 0, 3], np.int32)
    memory = np.zeros(8, np.int32)  # what lies behind the counters is somebody else's
    for kernel, name, array in ((add, "f", np.zeros((3, 2))), (count, "n", memory[:3]),
                                (place, "y", np.zeros(3))):  # fmt: skip
        launch = hc.record(kernel, dim=3, j=j, device=device, **{name: array})
        text = raised(launch)
        assert f"item 2: index 3 is out of range: '{name}' has 3 elements" in text
        assert not memory[3:].any()


def test_a_sum_of_own_elements_needs_one_for_each_item(device):
    @hc.kernel
    def add(i: hc.Int, x: hc.Read[hc.real], f: hc.Accumulate[hc.real]):
        with hc.if_(x[i] > 1.5):
            f[i] += 1.0

    with pytest.raises(hc.ArgumentError, match="'f' is added to at the item's own index, but has 2"):
        hc.record(add, dim=3, x=np.arange(3.0), f=np.zeros(2), device=device)


def test_conditions_that_are_known_and_that_are_not(device):
    @hc.kernel
    def inner(i: hc.Int, n: hc.Param[hc.i32], x: hc.Read[hc.real], y: hc.Write[hc.real]):
        s = hc.real(0)
        with hc.if_((i > 0) & (i < n)):
            s = x[i - 1] + x[i % 3 + 1]
        y[i] = s

    x, y = np.array([1.0, 2, 4]), np.full(4, 9.0)
    launch = hc.record(inner, dim=4, n=2, x=x, y=y, device=device)
    launch.forward()  # item 1 reads x[0] and x[2]
    assert y.tolist() == [0, 5, 0, 0]
    launch.set("n", 3)
    assert "item 2: index 3 is out of range" in raised(launch)

    @hc.kernel
    def chosen(i: hc.Int, j: hc.Read[hc.i32], x: hc.Read[hc.real], y: hc.Write[hc.real]):
        s = hc.real(0)
        with hc.if_(x[i] > 1.5):  # only the kernel knows
            s = x[j[i]]
        y[i] = s

    j = np.array([7, 0, 1], np.int32)
    launch = hc.record(chosen, dim=3, j=j, x=x, y=y, device=device)
    launch.forward()
    assert y[:3].tolist() == [0, 1, 2]
    j[:] = [7, 0, -5]
    assert "item 2: index -5 is out of range: 'x' has 3 elements" in raised(launch)
    x[2] = 1.0
    launch.forward()
    assert y[:3].tolist() == [0, 1, 0]


def test_indices_that_are_computed_while_it_runs(device):
    @hc.kernel
    def sample(i: hc.Int, at: hc.Read[hc.real], x: hc.Read[hc.vec2], y: hc.Write[hc.vec2]):
        k = hc.i32(hc.floor(at[i]))
        w = at[i] - hc.floor(at[i])
        y[i] = x[k] * (1 - w) + x[k + 1] * w

    @hc.kernel
    def window(i: hc.Int, first: hc.Read[hc.i32], x: hc.Read[hc.real], y: hc.Write[hc.real]):
        s = hc.real(0)
        with hc.for_(first[i], first[i] + 2, max_trips=4) as k:
            s = s + x[k]
        y[i] = s

    x = np.array([[0.0, 1], [2, 5], [6, 7]])
    at, y = np.array([0.5, 1.25]), np.zeros((2, 2))
    launch = hc.record(sample, dim=2, at=at, x=x, y=y, device=device)
    launch.forward()
    assert y.tolist() == [[1, 3], [3, 5.5]]
    at[1] = 2.5
    assert "item 1: index 3 is out of range: 'x' has 3 elements" in raised(launch)
    at[1] = np.inf  # saturates
    assert "item 1: index 2147483647 is out of range" in raised(launch)
    first, z = np.array([0, 1], np.int32), np.zeros(2)
    launch = hc.record(window, dim=2, first=first, x=x[:, 0].copy(), y=z, device=device)
    launch.forward()
    assert z.tolist() == [2, 8]
    first[0] = 2
    assert "item 0: index 3 is out of range" in raised(launch)
    launch["y"].grad.fill(1)
    assert "index 3 is out of range" in raised(launch, "adjoint")


def test_the_lowest_item_is_named_whatever_the_number_of_threads():
    n = 100_000
    j = np.zeros(n, np.int32)
    j[[777, 5_000, 99_999]] = [3, -7, 12]
    for kernel in (gather, dynamic):
        for threads in (1, 2):
            device = hc.device("cpu", threads=threads)
            launch = hc.record(kernel, dim=n, j=j, x=np.zeros(3), y=np.zeros(n), device=device)
            assert "item 777: index 3 is out of range" in raised(launch)


@hc.kernel
def dynamic(i: hc.Int, j: hc.Read[hc.i32], x: hc.Read[hc.real], y: hc.Write[hc.real]):
    y[i] = x[hc.i32(hc.real(j[i]))]


def test_indices_that_change_before_every_run(device):
    j, x, y = np.array([0, 1, 2], np.int32), np.array([1.0, 2, 3]), np.zeros(3)
    launch = hc.record(gather, dim=3, j=j, x=x, y=y, device=device)
    for k in range(20):
        j[:] = [k % 3, 1, 3 + k if k % 7 == 6 else 2]
        if k % 7 == 6:
            assert f"item 2: index {3 + k} is out of range" in raised(launch)
        else:
            launch.forward()
            assert y.tolist() == [k % 3 + 1, 2, 3]


def test_kernels_of_the_library_are_checked(device):
    force = hc.built_in("spring_force", dimension=2, damped=True)
    assert force.checked and not force.unchecked().checked
    ends = np.array([[0, 1], [1, 3]], np.int32)
    launch = hc.record(force, dim=2, ends=ends, rest_length=1.0, stiffness=50.0, damping=0.1,
                       x=np.random.default_rng(1).random((3, 2)), v=np.zeros((3, 2)),
                       force=np.zeros((3, 2)), device=device)  # fmt: skip
    assert "item 1: index 3 is out of range" in raised(launch)
    ends[1, 1] = 2
    launch.forward()


def test_without_checks_the_bits_are_the_same():
    random = np.random.default_rng(3)
    n = 1000
    for kernel in (gather, dynamic):
        j = random.integers(0, n, n).astype(np.int32)
        x, seed = random.standard_normal(n), random.standard_normal(n)
        found = []
        for k in (kernel, kernel.unchecked()):
            launch = hc.record(k, dim=n, j=j, x=hc.array(x.copy()), y=np.zeros(n))
            launch.forward()
            y = launch["y"].numpy().tobytes()
            launch["y"].grad.numpy()[:] = seed
            launch.adjoint()
            found.append((y, launch["x"].grad.numpy().tobytes()))
        assert found[0] == found[1]
        assert np.array_equal(np.frombuffer(found[0][0]), x[j])
    assert "unchecked" not in repr(gather) and gather.unchecked().name == "gather"
