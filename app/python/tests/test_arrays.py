"""Arrays: memory shared with NumPy, DLPack and the array interfaces, and who keeps it."""

import array as buffers
import gc
import sys
import weakref

import hindcast as hc
import numpy as np
import pytest

TYPES = {
    "float32": hc.f32,
    "float64": hc.f64,
    "int32": hc.i32,
    "uint32": hc.u32,
    "int64": hc.i64,
    "uint64": hc.u64,
}


@pytest.mark.parametrize("name", TYPES)
def test_shares_memory_with_numpy(name):
    x = np.arange(5).astype(name)
    a = hc.array(x)
    assert a.shape == (5,) and a.ndim == 1 and a.size == 5 and len(a) == 5
    view = a.numpy()
    assert view.dtype == x.dtype and np.shares_memory(view, x)
    x[2] = 77
    assert view[2] == 77
    view[3] = 9
    assert x[3] == 9
    assert hc.array(x, dtype=TYPES[name], copy=False).strides == x.strides


@pytest.mark.parametrize(
    "view",
    [
        lambda x: x[::2],
        lambda x: x[::-1],
        lambda x: x[:, 1],
        lambda x: x[::-2, ::-1],
        lambda x: x.T,
        lambda x: x[:0],
        lambda x: x[3],
        lambda x: x[3, 2],
        lambda x: np.broadcast_to(x[0], (4, 3)),
    ],
)
def test_strides_are_honored(view):
    x = np.arange(21.0).reshape(7, 3)
    wanted = view(x)
    a = hc.array(wanted)
    assert a.shape == wanted.shape
    back = a.numpy()
    assert back.strides == np.asarray(wanted).strides or wanted.size == 0
    assert np.array_equal(back, wanted)


def test_zero_dimensions():
    a = hc.array(np.float64(2.5))
    assert a.shape == () and a.size == 1
    assert a.numpy() == 2.5
    with pytest.raises(TypeError, match="zero-dimensional"):
        len(a)


def test_lists_are_copied_unless_that_is_forbidden():
    a = hc.array([[1, 2, 3], [4, 5, 6]], dtype=hc.vec3)
    assert a.shape == (2, 3)
    b = hc.array([1, 2], dtype=hc.i32)
    assert b.numpy().dtype == np.int32
    with pytest.raises(ValueError, match="no memory to share"):
        hc.array([1, 2], copy=False)
    with pytest.raises(TypeError, match="object: no array can be made of it"):
        hc.array([1, "x"], dtype=hc.i32)


def test_copy():
    x = np.arange(6.0)[::-2]
    a = hc.array(x, copy=True)
    assert not np.shares_memory(a.numpy(), x) and np.array_equal(a.numpy(), x)
    b = hc.array(a)
    assert b is a
    c = hc.array(a, copy=True)
    c.numpy()[0] = -1
    assert a.numpy()[0] == 5


def test_read_only_is_respected():
    x = np.arange(4.0)
    x.flags.writeable = False
    a = hc.array(x)
    assert a.read_only and not a.numpy().flags.writeable
    with pytest.raises(hc.Error, match="read only"):
        a.fill(1)
    overlapping = np.lib.stride_tricks.as_strided(np.arange(4.0), (3, 2), (8, 8))
    assert hc.array(overlapping, dtype=hc.vec2).read_only


@pytest.mark.parametrize(
    "bad, why",
    [
        (np.zeros(3, ">f4"), "other order"),
        (np.zeros(3, complex), "no arrays of '<c16'"),
        (np.zeros(3, bool), "no arrays of '|b1'"),
        (np.zeros(3, np.float16), "no arrays of '<f2'"),
        (np.ma.array([1.0, 2.0], mask=[0, 1]), "masked"),
        (np.frombuffer(bytes(33), np.uint8)[1:].view("<f8"), "not aligned"),
        (np.zeros(4, "f8,i4")["f0"], "no multiple of"),
        (object(), "no array of numbers"),
    ],
)
def test_what_cannot_be_taken_is_an_error(bad, why):
    for kind in (TypeError, ValueError, hc.ArgumentError):
        with pytest.raises(kind, match=why.replace("|", r"\|")):
            hc.array(bad)


def test_wrong_dtype_names_both():
    with pytest.raises(TypeError, match="it holds f64, where f32 is asked for"):
        hc.array(np.zeros(3), dtype=hc.f32)
    with pytest.raises(TypeError, match="it holds i64, where reals are asked for"):
        hc.array(np.zeros(3, int), dtype=hc.real)
    with pytest.raises(ValueError, match=r"must be \(3\)"):
        hc.array(np.zeros((4, 2)), dtype=hc.vec3)
    with pytest.raises(ValueError, match="unequal distances"):
        hc.array(np.zeros((4, 5))[:, :4], dtype=hc.f64)


class Interface:
    """An object with nothing but the array interface."""

    def __init__(self, owner, **changes):
        self.owner = owner
        self.__array_interface__ = {**owner.__array_interface__, **changes}


def test_array_interface_by_the_letter():
    x = np.arange(6, dtype=np.float32).reshape(2, 3)
    plain = dict(x.__array_interface__)
    assert plain["strides"] is None
    assert np.array_equal(hc.array(Interface(x)).numpy(), x)
    missing = Interface(x)
    del missing.__array_interface__["strides"]
    assert np.array_equal(hc.array(missing).numpy(), x)
    given = hc.array(Interface(x, strides=(4, 8), shape=(2, 3)))
    assert np.array_equal(given.numpy(), x.ravel().reshape(3, 2).T)
    backwards = hc.array(
        Interface(x, strides=(-12, -4), data=(x.ctypes.data + 20, False), shape=(2, 3))
    )
    assert np.array_equal(backwards.numpy(), x[::-1, ::-1])
    assert hc.array(Interface(x, data=(x.ctypes.data, True))).read_only
    with pytest.raises(ValueError, match="no memory"):
        hc.array(Interface(x, data=(0, False)))
    assert hc.array(Interface(x, data=(0, False), shape=(0, 3))).size == 0
    with pytest.raises(ValueError, match="masked"):
        hc.array(Interface(x, mask=x))
    with pytest.raises(ValueError, match="1 strides for 2 dimensions"):
        hc.array(Interface(x, strides=(4,)))


def test_own_interfaces():
    a = hc.zeros(4, hc.vec3)
    assert a.shape == (4, 3) and a.dtype == "f32" and np.all(a.numpy() == 0)
    assert hc.zeros((2, 5), hc.mat2, precision="f64").shape == (2, 5, 2, 2)
    other = np.from_dlpack(a)
    other[1, 2] = 3
    assert a.numpy()[1, 2] == 3
    assert np.asarray(a).base is not None and np.shares_memory(np.asarray(a), other)
    assert np.asarray(a, dtype=np.float64).dtype == np.float64
    assert a.__dlpack_device__() == (1, 0)
    with pytest.raises(ValueError, match="neither 'f32' nor 'f64'"):
        hc.zeros(3, precision="f16")
    with pytest.raises(ValueError, match="extent -1"):
        hc.zeros(-1)


def test_buffers_and_jax():
    jnp = pytest.importorskip("jax.numpy")
    b = buffers.array("d", [1, 2, 3])
    a = hc.array(b)
    a.numpy()[0] = 9
    assert b[0] == 9
    j = hc.array(jnp.arange(3.0))
    assert j.read_only and np.array_equal(j.numpy(), [0, 1, 2])
    assert np.array_equal(jnp.asarray(hc.array(np.arange(3.0, dtype=np.float32))), [0, 1, 2])


def test_owners_live_as_long_as_needed_and_not_longer():
    class Owner(np.ndarray):
        pass

    x = np.arange(3.0).view(Owner)
    seen = weakref.ref(x)
    a = hc.array(x)
    view = a.numpy()
    del x, a
    gc.collect()
    assert seen() is not None and view[1] == 1  # the view keeps it
    del view
    gc.collect()
    assert seen() is None
    b = buffers.array("d", [1, 2, 3])
    count = sys.getrefcount(b)
    for _ in range(50):
        hc.array(b)
    gc.collect()
    assert sys.getrefcount(b) == count
    b.append(4)  # nobody exports it any more
