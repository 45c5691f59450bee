"""Arrays in the memory of a CUDA device: CuPy's protocols both ways, by the letter."""

import gc
import os
import pathlib
import subprocess
import sys
import threading

import hindcast as hc
import numpy as np
import pytest
import software_cuda
from software_cuda import Driver, Exporter, Interface, Memory, consume

software_cuda.needs_cuda()
driver = Driver()


@hc.kernel
def twice(i: hc.Int, x: hc.Read[hc.vec3], y: hc.Write[hc.vec3]):
    y[i] = x[i] * 2.0


@hc.kernel
def scale(i: hc.Int, x: hc.Read[hc.real], k: hc.Param[hc.real], y: hc.Write[hc.real]):
    y[i] = x[i] * k


@hc.kernel
def pick(i: hc.Int, at: hc.Read[hc.i32], x: hc.Read[hc.real], y: hc.Accumulate[hc.real]):
    y[at[i]] += x[i]


@pytest.mark.parametrize("name", ["float32", "float64", "int32", "uint32", "int64", "uint64"])
def test_takes_memory_of_a_device(name):
    x = np.arange(6).astype(name).reshape(2, 3)
    memory = Memory(driver, x)
    a = hc.array(Interface(memory, x), copy=False)
    assert a.shape == (2, 3) and a.device is not None and not a.read_only
    assert np.array_equal(a.numpy(), x) and a.numpy().dtype == x.dtype
    memory.put(x + 1)  # shared
    driver.synchronize()
    assert np.array_equal(a.numpy(), x + 1)
    assert a.__dlpack_device__() == (2, 0)


def test_strides():
    x = np.arange(12.0).reshape(3, 4)
    memory = Memory(driver, x)
    missing = hc.array(Interface(memory, x))
    none = hc.array(Interface(memory, x, strides=None))
    assert np.array_equal(missing.numpy(), x) and np.array_equal(none.numpy(), x)
    assert missing.__cuda_array_interface__["strides"] is None
    turned = hc.array(Interface(memory, x.T, strides=(8, 32), shape=(4, 3)))
    assert np.array_equal(turned.numpy(), x.T)
    assert turned.__cuda_array_interface__["strides"] == (8, 32)
    backwards = hc.array(Interface(memory, x, strides=(-32, -8), offset=88))
    assert np.array_equal(backwards.numpy(), x[::-1, ::-1])
    same = hc.array(Interface(memory, x, strides=(0, 8), shape=(3, 4)), dtype=hc.vec4)
    assert same.read_only and np.array_equal(same.numpy(), np.broadcast_to(x[0], (3, 4)))


def test_launches_read_and_write_strided_memory():
    x = np.arange(20.0).reshape(4, 5)
    from_, to = Memory(driver, x), Memory(driver, x)
    a = hc.array(Interface(from_, x[:, :3], strides=(40, 8), shape=(4, 3)), dtype=hc.vec3)
    b = hc.array(Interface(to, x, strides=(-40, 8), shape=(4, 3), offset=15 * 8 + 16), dtype=hc.vec3)
    launch = hc.record(twice, dim=4, x=a, y=b)
    launch.forward()
    driver.synchronize()
    expected = x.copy()
    expected[::-1, 2:5] = 2 * x[:, :3]
    assert np.array_equal(to.get(x.dtype, x.shape), expected)
    b.grad.fill(1)
    launch.adjoint()
    assert a.grad.device is not None and np.array_equal(a.grad.numpy(), np.full((4, 3), 2.0))


@hc.kernel
def gather_up(
    i: hc.Int,
    at: hc.Read[hc.i32],
    x: hc.Read[hc.vec2],
    y: hc.Accumulate[hc.vec2],
    z: hc.Sum[hc.real],
    e: hc.Reduce[hc.real],
):
    y[at[i]] += x[i] * x[i].x
    z[i] += x[i].y
    e += x[i].x


def test_sums_and_gradients_over_strided_memory():
    """Against NumPy: every second row, backwards, of wider arrays; what lies between stays."""
    n, m = 40, 7
    rng = np.random.default_rng(3)
    at = rng.integers(0, m, n).astype(np.int32)
    x, y, z = rng.normal(size=(2 * n, 5)), rng.normal(size=(2 * m, 3)), rng.normal(size=(n, 4))
    memories = [Memory(driver, v) for v in (x, y, z)]
    views = (slice(None, None, -2), slice(3, 0, -2)), (slice(None, None, -2), slice(0, 2)), (
        slice(None),
        2,
    )
    given = []
    for v, memory, view in zip((x, y, z), memories, views):
        part = v[view]
        offset = part.__array_interface__["data"][0] - v.__array_interface__["data"][0]
        given.append(
            Interface(memory, part, offset=offset, strides=part.strides, shape=part.shape)
        )
    a, b, c = (hc.array(g, dtype=d) for g, d in zip(given, (hc.vec2, hc.vec2, hc.f64)))
    total = hc.zeros(1, hc.f64, device="cuda")
    launch = hc.record(gather_up, dim=n, at=hc.array(at, device="cuda"), x=a, y=b, z=c, e=total)
    for _ in range(2):
        launch.forward()
    px, expected = x[views[0]], [x, y.copy(), z.copy()]
    for _ in range(2):
        np.add.at(expected[1][views[1]], at, px * px[:, :1])
    expected[2][views[2]] = px[:, 1]
    driver.synchronize()
    for memory, wanted in zip(memories, expected):
        assert np.allclose(memory.get(float, wanted.shape), wanted, rtol=1e-14, atol=1e-14)
    assert np.isclose(total.numpy()[0], 2 * px[:, 0].sum(), rtol=1e-14)
    weights = rng.normal(size=(m, 2))
    seed = b.grad.__cuda_array_interface__  # C-contiguous, of its own
    assert seed["strides"] is None
    Memory.view(driver, seed["data"][0]).put(weights)
    driver.synchronize()
    launch.adjoint()
    w = weights[at]
    slope = np.stack([2 * px[:, 0] * w[:, 0] + px[:, 1] * w[:, 1], px[:, 0] * w[:, 1]], axis=1)
    assert np.allclose(a.grad.numpy(), slope, rtol=1e-13, atol=1e-13)


@pytest.mark.parametrize(
    "changes, why",
    [
        ({"stream": 0}, "its stream is 0"),
        ({"mask": np.zeros(3)}, "masked"),
        ({"strides": (8,)}, "1 strides for 2 dimensions"),
        ({"strides": (24, 4)}, "no multiple of the 8 bytes"),
        ({"typestr": ">f8"}, "other order"),
        ({"typestr": "<c16"}, "no arrays of '<c16'"),
        ({"shape": (2, 4)}, "reach from byte 0 to 64.*48 from it on"),
        ({"shape": (2, 3), "strides": (-24, 8)}, "reach from byte -24.*0 bytes before it"),
        ({"data": (0, False)}, "no memory"),
        ({"data": (64, False)}, "is none of a CUDA device"),
        ({"data": 7}, "no 'data' of"),
    ],
)
def test_what_is_refused_names_the_reason(changes, why):
    x = np.arange(6.0).reshape(2, 3)
    given = Interface(Memory(driver, x), x, **changes)
    for kind in (TypeError, ValueError, hc.ArgumentError):
        with pytest.raises(kind, match="object: .*" + why):
            hc.array(given)


def test_the_pointer_is_null_only_where_nothing_is():
    x = np.zeros((0, 3))
    a = hc.array(Interface(Memory(driver, x), x, data=(0, False)))
    assert a.size == 0 and a.numpy().shape == (0, 3)
    assert a.__cuda_array_interface__["data"][0] == 0
    one = np.float64(2.5)
    b = hc.array(Interface(Memory(driver, one), np.asarray(one)))
    assert b.shape == () and b.numpy() == 2.5


@pytest.mark.parametrize("seed", range(1, 6))
def test_the_owner_s_stream_is_waited_for(seed):
    """What the owner has put on the stream that it names comes first, in any order of the device."""
    driver.set(f"seed={seed}")
    x, stream = np.arange(5.0), driver.stream()
    memory = Memory(driver, np.zeros(5), stream)
    memory.put(x)  # put on the stream, and not done yet
    y = hc.zeros(5, precision="f64", device="cuda")
    launch = hc.record(scale, dim=5, x=Interface(memory, x, stream=stream), k=3.0, y=y)
    launch.forward()
    assert np.array_equal(y.numpy(), 3 * x)
    for default in (1, 2):
        hc.array(Interface(memory, x, stream=default))
    driver.set("")


def test_read_only_is_respected():
    x = np.arange(4.0)
    memory = Memory(driver, x)
    a = hc.array(Interface(memory, x, data=(memory.address, True)))
    assert a.read_only and a.__cuda_array_interface__["data"] == (memory.address, True)
    with pytest.raises(hc.Error, match="read only"):
        a.fill(1)
    with pytest.raises(ValueError, match="read only"):
        hc.record(scale, dim=4, x=hc.array(Interface(memory, x)), k=1.0, y=a)


def test_own_arrays_on_a_device():
    a = hc.zeros(4, hc.vec3, device="cuda:0")
    assert a.shape == (4, 3) and "device='cuda:0'" in repr(a) and np.all(a.numpy() == 0)
    said = a.__cuda_array_interface__
    assert said["version"] == 3 and said["typestr"] == "<f4" and said["shape"] == (4, 3)
    assert said["stream"] not in (None, 0)
    with pytest.raises(AttributeError):
        a.__array_interface__
    with pytest.raises(AttributeError):
        hc.zeros(3).__cuda_array_interface__
    a.fill(2)
    view = hc.array(a, dtype=hc.vec3)
    assert view is a
    # Another library's view of it, which comes back.
    back = hc.array(Interface(Memory.view(driver, said["data"][0]), a.numpy()), dtype=hc.vec3)
    assert np.all(back.numpy() == 2)
    with pytest.raises(ValueError, match="are bound to one array"):
        hc.record(twice, dim=4, x=a, y=back)


def test_from_host_to_device_and_back():
    x = np.arange(12.0).reshape(4, 3)[::-1]
    a = hc.array(x, dtype=hc.vec3, device="cuda")
    assert a.device is not None and np.array_equal(a.numpy(), x)
    with pytest.raises(ValueError, match="copy is forbidden"):
        hc.array(x, device="cuda", copy=False)
    b = hc.array([[1, 2, 3]], dtype=hc.vec3, precision="f64", device="cuda")
    assert np.array_equal(b.numpy(), [[1, 2, 3]])
    c = hc.array(a, device="cpu")
    assert c.device is None and np.array_equal(c.numpy(), x)
    with pytest.raises(ValueError, match="copy is forbidden"):
        hc.array(a, device="cpu", copy=False)
    d = hc.array(a, dtype=hc.vec3, copy=True)
    d.fill(7)
    assert d.device is not None and np.array_equal(a.numpy(), x)
    with pytest.raises(ValueError, match="there is no device 'abacus'"):
        hc.zeros(3, device="abacus")


def test_launches_are_where_their_arrays_are():
    a, b = hc.array(np.arange(3.0), device="cuda"), hc.zeros(3, precision="f64", device="cuda")
    hc.record(scale, dim=3, x=a, k=2.0, y=b).forward()
    assert b.numpy().tolist() == [0, 2, 4]
    with pytest.raises(ValueError, match="memory of CUDA device 0 is given, and the launch is on cpu"):
        hc.record(scale, dim=3, device="cpu", x=a, k=2.0, y=b)
    with pytest.raises(ValueError, match="is on the host, and the launch on a CUDA device"):
        hc.record(scale, dim=3, x=np.arange(3.0), k=2.0, y=b)


def test_indices_that_others_change_are_seen():
    at, x = np.array([0, 1, 2], np.int32), np.array([1.0, 2.0, 3.0])
    memory = Memory(driver, at)
    y = hc.zeros(3, precision="f64", device="cuda")
    launch = hc.record(pick, dim=3, at=Interface(memory, at), x=hc.array(x, device="cuda"), y=y)
    launch.forward()
    memory.put(at[::-1])
    driver.synchronize()
    launch.forward()
    assert y.numpy().tolist() == [4, 4, 4]


TWO_DEVICES = """
import ctypes
import numpy as np
import pytest
import hindcast as hc
from software_cuda import Driver, Interface, Memory
from test_cuda_arrays import scale

driver = Driver()
driver.enter(1)
x = np.arange(3.0)
there = hc.array(x, device="cuda:1")
assert there.__dlpack_device__() == (2, 1) and there.__cuda_array_interface__["version"] == 3
view = hc.array(Interface(Memory.view(driver, there.__cuda_array_interface__["data"][0]), x))
assert view.__dlpack_device__() == (2, 1) and np.array_equal(view.numpy(), x)  # by its address
y = hc.zeros(3, precision="f64", device="cuda:1")
hc.record(scale, dim=3, x=view, k=2.0, y=y).forward()
assert y.numpy().tolist() == [0, 2, 4]
here = hc.array(there, device="cuda:0")
assert here.__dlpack_device__() == (2, 0) and np.array_equal(here.numpy(), x)
with pytest.raises(ValueError, match="copy is forbidden"):
    hc.array(there, device="cuda:0", copy=False)
with pytest.raises(ValueError, match="memory of CUDA device 0 is given, and the launch is on cuda:1"):
    hc.record(scale, dim=3, x=here, k=2.0, y=y, device="cuda:1")
with pytest.raises(ValueError, match="is none of the device"):
    hc.record(scale, dim=3, x=there, k=2.0, y=y).on(hc.stream(device="cuda:0"))

# The context that another library has made current stays so.
driver.enter(0)
hc.device("cuda:1")
launch = hc.record(scale, dim=3, x=there, k=3.0, y=y)
stream = hc.stream(device="cuda:1")
launch.on(stream).forward()
stream.record()
stream.synchronize()
hc.array(there, copy=True), y.__dlpack__(stream=2), y.fill(1), y.numpy()
del launch, there, view, y, stream
current = ctypes.c_void_p()
driver("cuCtxGetCurrent", ctypes.byref(current))
assert current.value == driver.contexts[0].value
"""


def test_two_devices():
    folder = pathlib.Path(__file__).parent
    path = os.pathsep.join([str(folder), os.environ.get("PYTHONPATH", "")])
    environment = {**os.environ, "HINDCAST_SOFTWARE_CUDA": "devices=2", "PYTHONPATH": path}
    done = subprocess.run(
        [sys.executable, "-c", TWO_DEVICES], env=environment, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr


# ---- DLPack ------------------------------------------------------------------------------------


@pytest.mark.parametrize("versioned", [True, False])
def test_dlpack_is_taken(versioned):
    x = np.arange(12, dtype=np.float32).reshape(4, 3)
    given = Exporter(Memory(driver, x), x, versioned)
    a = hc.array(given)
    assert np.array_equal(a.numpy(), x) and not a.read_only
    assert given.asked["stream"] not in (None, 0)  # the owner orders its work before
    assert given.asked.get("max_version") == ((1, 0) if versioned else None)
    alive = len(Exporter.alive)
    del a, given
    gc.collect()
    assert len(Exporter.alive) == alive - 1
    turned = hc.array(Exporter(Memory(driver, x), x.T, versioned, strides=(1, 3)))
    assert np.array_equal(turned.numpy(), x.T)
    if versioned:
        assert hc.array(Exporter(Memory(driver, x), x, flags=1)).read_only
    with pytest.raises(ValueError, match="reach from byte 0 to 96"):
        hc.array(Exporter(Memory(driver, x), np.zeros((4, 6), np.float32), versioned))


def test_dlpack_is_given():
    a = hc.array(np.arange(6.0).reshape(2, 3), device="cuda")
    for options, version in [({}, None), ({"max_version": (1, 0)}, 1), ({"max_version": (0, 8)}, None)]:
        managed, end = consume(a.__dlpack__(**options))
        t = managed.tensor
        assert (t.device_type, t.device_id, t.ndim, t.code, t.bits) == (2, 0, 2, 2, 64)
        assert [t.shape[0], t.shape[1], t.strides[0], t.strides[1]] == [2, 3, 3, 1]
        assert t.data == a.__cuda_array_interface__["data"][0]
        assert getattr(managed, "major", None) == version
        end()
    a.__dlpack__()  # nobody takes it
    managed, end = consume(a.__dlpack__(max_version=(1, 0), copy=True, dl_device=(2, 0)))
    assert managed.flags == 2 and managed.tensor.data != a.__cuda_array_interface__["data"][0]
    end()
    on_host = np.from_dlpack(a, device="cpu")
    assert np.array_equal(on_host, a.numpy())
    frozen = hc.array(Exporter(Memory(driver, np.zeros(3)), np.zeros(3), flags=1))
    managed, end = consume(frozen.__dlpack__(max_version=(1, 0)))
    assert managed.flags == 1
    end()
    with pytest.raises(BufferError, match="read only"):
        frozen.__dlpack__()
    with pytest.raises(BufferError, match=r"device \(2, 1\) is asked for"):
        a.__dlpack__(dl_device=(2, 1))
    with pytest.raises(BufferError):
        a.__dlpack__(dl_device=(1, 0), copy=False)
    with pytest.raises(ValueError, match="stream: 0"):
        a.__dlpack__(stream=0)
    with pytest.raises(TypeError, match="no argument 'strem'"):
        a.__dlpack__(strem=1)


@pytest.mark.parametrize("seed", range(1, 6))
def test_the_consumer_s_stream_waits(seed):
    driver.set(f"seed={seed}")
    x, y = hc.array(np.arange(5.0), device="cuda"), hc.zeros(5, precision="f64", device="cuda")
    hc.record(scale, dim=5, x=x, k=3.0, y=y).on(hc.stream()).forward()  # not done yet
    for stream in (driver.stream(), 1, 2, None):
        managed, end = consume(y.__dlpack__(stream=stream))
        theirs = Memory.view(driver, managed.tensor.data, stream)
        assert np.array_equal(theirs.get(np.float64, 5), 3 * np.arange(5.0))
        end()
    managed, end = consume(y.__dlpack__(stream=-1))
    end()
    driver.set("")


def test_a_tape_keeps_owners_alive():
    x = np.arange(4.0)

    @hc.kernel
    def square(i: hc.Int, x: hc.ReadWrite[hc.real]):
        x[i] = x[i] * x[i]

    for place in ("host", "cuda"):
        owner = np.array(x) if place == "host" else None
        given = owner if place == "host" else Exporter(Memory(driver, x), x)
        alive = len(Exporter.alive)
        with hc.Tape() as tape:
            a = hc.array(given)
            hc.record(square, dim=4, x=a).forward()
        gradient = a.grad
        view = None if place == "host" else a.__cuda_array_interface__["data"][0]
        del a, given
        gc.collect()
        tape.forward()
        if place == "host":
            assert np.array_equal(owner, x**4)
        else:
            assert view is not None and len(Exporter.alive) == alive + 1
        del tape, gradient, owner
        gc.collect()
        assert len(Exporter.alive) == alive


def test_owners_live_as_long_as_needed_and_not_longer():
    x = np.arange(3.0)
    leaks = driver.count("leaks")
    for _ in range(20):
        memory = Memory(driver, x)
        a = hc.array(Interface(memory, x))
        y = hc.zeros(3, precision="f64", device="cuda")
        launch = hc.record(scale, dim=3, x=a, k=2.0, y=y).on(hc.stream())
        launch.forward()  # not waited for: the memory goes only behind it
        del memory, a, launch
        assert y.numpy().tolist() == [0, 2, 4]
    gc.collect()
    driver.synchronize()
    assert driver.count("leaks") <= leaks + 4


def test_threads_share_a_device():
    """Each with arrays and launches of its own, made, run and dropped while others do the same."""
    results = {}

    def work(number):
        for turn in range(100):
            x = np.arange(4000.0) + number + turn
            a = hc.array(x, device="cuda")
            y = hc.zeros(4000, precision="f64", device="cuda")
            launch = hc.record(scale, dim=4000, x=a, k=2.0 + number, y=y)
            if turn % 3 == 1:
                launch.on(hc.stream())
            launch.forward()
            results.setdefault(number, []).append(np.array_equal(y.numpy(), (2.0 + number) * x))

    threads = [threading.Thread(target=work, args=(k,)) for k in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert [results[k] for k in range(4)] == [[True] * 100] * 4


# ---- streams -----------------------------------------------------------------------------------


@pytest.mark.parametrize("seed", range(1, 6))
def test_launches_on_another_library_s_stream(seed):
    driver.set(f"seed={seed}")
    handle = driver.stream()
    x = np.arange(5.0)
    memory = Memory(driver, np.zeros(5), handle)
    result = Memory(driver, np.zeros(5), handle)
    launch = hc.record(
        scale, dim=5, x=Interface(memory, x), k=2.0, y=Interface(result, x)
    ).on(handle)
    memory.put(x)
    launch.forward()
    assert np.array_equal(result.get(x.dtype, x.shape), 2 * x)

    class CuPy:
        ptr, device_id = handle, 0

    class Torch:
        cuda_stream, device_index = handle, 0

    class Core:
        def __cuda_stream__(self):
            return (0, handle)

    for stream in (CuPy(), Torch(), Core(), hc.stream(handle)):
        assert hc.stream(stream).handle == handle
        memory.put(3 * x)
        assert launch.on(stream) is launch
        launch.forward()
        assert np.array_equal(result.get(x.dtype, x.shape), 6 * x)
    launch.on(None)
    launch.forward()
    driver.set("")


def test_events_order_streams():
    for seed in range(1, 9):
        driver.set(f"seed={seed}")
        x = hc.array(np.arange(4.0), device="cuda")
        y, z = (hc.zeros(4, precision="f64", device="cuda") for _ in range(2))
        a, b = hc.stream(), hc.stream(device="cuda")
        first = hc.record(scale, dim=4, x=x, k=2.0, y=y).on(a)
        second = hc.record(scale, dim=4, x=y, k=5.0, y=z).on(hc.stream(b.handle))
        first.forward()
        event = a.record()
        b.wait(event)
        second.forward()
        b.synchronize()
        assert event.done and z.numpy().tolist() == [0, 10, 20, 30]
    driver.set("")


def test_streams_by_the_letter():
    x, y = hc.zeros(2), hc.zeros(2)
    launch = hc.record(scale, dim=2, device="cpu", x=x, k=2.0, y=y)
    with pytest.raises(ValueError, match="the launch runs on cpu.*has no streams"):
        launch.on(1)
    with pytest.raises(ValueError, match="cpu.*has no streams"):
        hc.stream(device="cpu")
    with pytest.raises(ValueError, match="the stream 0 may be one of two"):
        hc.stream(0)
    with pytest.raises(TypeError, match="a handle or a stream of another library"):
        hc.stream("main")
    with pytest.raises(TypeError, match="a handle or a stream of another library"):
        hc.stream(True)
    with hc.Tape() as tape:
        launch.forward()
    with pytest.raises(ValueError, match="is none of the device .cpu"):
        tape.on(hc.stream())


def test_a_tape_on_a_stream():
    x = hc.array(np.arange(3.0), device="cuda")
    y, z = (hc.zeros(3, precision="f64", device="cuda") for _ in range(2))
    with hc.Tape().on(hc.stream()) as tape:
        hc.record(scale, dim=3, x=x, k=2.0, y=y).forward()
        hc.record(scale, dim=3, x=y, k=3.0, y=z).forward()
    z.grad.fill(1)
    tape.backward()
    assert z.numpy().tolist() == [0, 6, 12] and x.grad.numpy().tolist() == [6, 6, 6]
    tape.on(2).forward()
    tape.on(None).forward()
    assert z.numpy().tolist() == [0, 6, 12]


def test_a_launch_is_captured_by_the_owner_of_its_stream():
    import ctypes

    handle = driver.stream()
    x = hc.array(np.arange(3.0), device="cuda")
    y = hc.zeros(3, precision="f64", device="cuda")
    launch = hc.record(scale, dim=3, x=x, k=2.0, y=y).on(handle)
    driver.begin_capture(handle)
    with pytest.raises(hc.Error, match="run it once before the capture begins"):
        launch.forward()
    driver.end_capture(handle)
    launch.forward()
    driver.begin_capture(handle)
    allocations = driver.count("allocations")
    launch.forward()
    assert driver.count("allocations") == allocations
    graph = driver.instantiate(driver.end_capture(handle))
    x.fill(5)
    driver.synchronize()
    driver("cuGraphLaunch", graph, ctypes.c_void_p(handle))
    driver("cuStreamSynchronize", ctypes.c_void_p(handle))
    assert y.numpy().tolist() == [10, 10, 10]
