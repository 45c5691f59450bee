"""What Python's users are told: arguments, words, NumPy's functions, numbers that changed."""

import math
import pathlib
import re

import hindcast as hc
import numpy as np
import pytest

SCENES = pathlib.Path(__file__).resolve().parents[4] / "scenes"
offset = 2.0


@hc.kernel
def scale(i: hc.Int, x: hc.Read[hc.vec3], k: hc.Param[hc.real], y: hc.Write[hc.vec3]):
    y[i] = x[i] * k


def test_arguments_of_record():
    x, y = np.ones((2, 3)), np.zeros((2, 3))
    cases = {
        r"dim: a number of work items is needed, not \(2, 3\); .*give len\(x\)": lambda: hc.record(
            scale, dim=x.shape, x=x, k=2.0, y=y),
        r"dim: a number of work items is needed, not 2.0": lambda: hc.record(scale, 2.0, x=x, k=2.0, y=y),
        r"dim: a number of work items is needed, not True": lambda: hc.record(scale, True, x=x, k=2.0, y=y),
        r"5 arguments are given by position.*hc.record\(scale, dim, x=..., k=..., y=...\)": lambda: hc.record(
            scale, 2, x, 2.0, y),
        r"dim: it is not given": lambda: hc.record(scale, x=x, k=2.0, y=y),
        r"dim: it is given twice": lambda: hc.record(scale, 2, dim=2, x=x, k=2.0, y=y),
        r"kernel: it is not given": lambda: hc.record(dim=2, x=x, k=2.0, y=y),
        r"kernel: a function with @hc.kernel .* is needed, not function": lambda: hc.record(
            lambda i: None, 2, x=x),
    }  # fmt: skip
    for words, wrong in cases.items():
        with pytest.raises(hc.ArgumentError, match=words):
            wrong()
    for dim in (2, np.int64(2)):
        hc.record(scale, dim, x=x, k=2.0, y=y).forward()
        hc.record(kernel=scale, dim=dim, x=x, k=2.0, y=y).forward()
    assert (y == 2).all()
    for wrong in (lambda: hc.zeros("four"), lambda: hc.zeros((2, 1.5)), lambda: hc.zeros(1.5)):
        with pytest.raises(hc.ArgumentError, match="shape: a whole number or a tuple of them"):
            wrong()


def test_lists_have_the_types_of_their_parameters():
    @hc.kernel
    def add(i: hc.Int, ends: hc.Read[hc.ivec2], x: hc.Read[hc.real], e: hc.Reduce[hc.real]):
        a, b = ends[i]
        e += x[b] - x[a]

    for x in (np.array([1.0, 4, 9]), np.array([1, 4, 9], np.float32)):
        launch = hc.record(add, 2, ends=[[0, 1], [1, 2]], x=x, e=[0.0])
        launch.forward()
        assert launch["e"].numpy().tolist() == [8] and launch["e"].dtype == "f64"
    launch = hc.record(scale, 1, x=[[1, 2, 3]], k=0.5, y=np.zeros((1, 3)))
    assert launch["x"].dtype == "f64"  # as the others
    with pytest.raises(hc.ArgumentError, match="ends: 1.5 does not fit into i32"):
        hc.record(add, 2, ends=[[0, 1.5], [1, 2]], x=np.ones(3), e=[0.0])


def test_reals_of_lists_have_one_precision():
    assert hc.array([1.0, 2.0]).dtype == hc.zeros(2).dtype == "f32"
    assert hc.array([1.0], precision="f64").dtype == "f64"
    assert hc.array([1, 2]).dtype == "i64" and hc.array(np.ones(2)).dtype == "f64"


def test_whole_numbers_are_not_cut_off():
    for wrong, word in (([1.5], "1.5"), ([2.0, np.nan], "nan"), ([-1.0, 0.5], "0.5"),
                        ([3e9], "3000000000.0"), ([2**40], str(2**40))):  # fmt: skip
        with pytest.raises(hc.ArgumentError, match=f"object: {word} does not fit into i32; round"):
            hc.array(wrong, dtype=hc.i32)
    with pytest.raises(hc.ArgumentError, match="-1 does not fit into u32"):
        hc.array([-1], dtype=hc.u32)
    assert hc.array([1.0, -3.0], dtype=hc.i32).numpy().tolist() == [1, -3]
    assert hc.array([2**31 - 1, -(2**31)], dtype=hc.i32).numpy().tolist() == [2**31 - 1, -(2**31)]


class Interface:
    def __init__(self, **parts):
        x = self.x = np.ones(3)
        self.__array_interface__ = {**x.__array_interface__, **parts}


def test_parts_of_an_interface_that_are_of_another_type():
    for parts, word in (({"typestr": 5}, "'typestr' that is no text: 5"),
                        ({"shape": 3}, "'shape' that is no tuple of whole numbers: 3"),
                        ({"shape": ("a",)}, "'shape' that is no tuple of whole numbers: 'a'"),
                        ({"strides": 8}, "'strides' that is no tuple"),
                        ({"data": ("x", False)}, "'data' that is no address: 'x'"),
                        ({"data": (1,)}, "no 'data' of")):  # fmt: skip
        with pytest.raises(hc.ArgumentError, match=word):
            hc.array(Interface(**parts))
    wrong = Interface()
    wrong.__array_interface__ = 7
    with pytest.raises(hc.ArgumentError, match="'__array_interface__' that is no dict: 7"):
        hc.array(wrong)


def traced(statement, kind=(TypeError, hc.Error)):
    @hc.kernel
    def wrong(i: hc.Int, x: hc.Read[hc.vec3], y: hc.Write[hc.vec3]):
        y[i] = x[i]
        statement(i, x[i])

    with pytest.raises(kind) as error:
        hc.record(wrong, 1, x=np.ones((1, 3)), y=np.ones((1, 3)))
    text = str(error.value)
    assert "in kernel 'wrong'" in text and "test_kernel_words.py" in text
    return text


def test_functions_of_numpy_name_those_of_hindcast():
    for wrong, words in (
        (lambda i, v: np.linalg.norm(v), "np.linalg.norm does not take a traced vec3.*write hc.norm"),
        (lambda i, v: np.dot(v, v), "np.dot does not take a traced vec3.*write hc.dot"),
        (lambda i, v: np.sqrt(v.x), "np.sqrt does not take a traced real.*write hc.sqrt"),
        (lambda i, v: np.arctan2(v.x, v.y), "write hc.atan2"),
        (lambda i, v: np.asarray(v), "NumPy does not take a traced vec3"),
        (lambda i, v: np.ones(3) * v, "array of NumPy and a traced vec3 are not combined"),
        (lambda i, v: math.sqrt(v.x), "hc.sqrt"),
    ):
        assert re.search(words, traced(wrong)), words


def test_numbers_of_numpy_take_part():
    @hc.kernel
    def mixed(i: hc.Int, x: hc.Read[hc.real], y: hc.Write[hc.real]):
        s = np.float64(2) * x[i] + np.float32(0.5) - x[i] / np.int64(4)
        y[i] = hc.select(np.float64(1) < x[i], s, np.abs(-x[i]))

    x, y = np.array([0.5, 4.0]), np.zeros(2)
    hc.record(mixed, 2, x=x, y=y).forward()
    assert y.tolist() == [0.5, 7.5]


def test_regions_without_with():
    for wrong, word in ((lambda i, v: hc.if_(v.x > 0), "hc.if_ stands without `with`"),
                        (lambda i, v: hc.for_(i), "hc.for_ stands without `with`"),
                        (lambda i, v: hc.while_(lambda: v.x > 0, max_trips=2), "hc.while_ stands"),
                        (lambda i, v: bool(hc.if_(v.x > 0)), "write `with hc.if_"),
                        (lambda i, v: list(hc.for_(i)), r"write `with hc.for_(...) as k:`")):  # fmt: skip
        assert word in traced(wrong)


class Settings:
    rate = 3.0


settings, table = Settings(), [1.0, 2.0]


def doubled(x):
    return x * offset * 2


@pytest.mark.parametrize("change", ["global", "attribute", "list", "helper", "closure", "none"])
def test_numbers_from_outside_that_changed_are_an_error(change, monkeypatch):
    inner = 5.0

    @hc.kernel
    def use(i: hc.Int, x: hc.Read[hc.real], y: hc.Write[hc.real]):
        y[i] = doubled(x[i]) + settings.rate + table[1] + inner

    def record():
        y = np.zeros(1)
        hc.record(use, 1, x=np.ones(1), y=y).forward()
        return y[0]

    assert record() == 4 + 3 + 2 + 5
    words = {"global": "offset = 2.0, which is 7.0 now", "attribute": "settings.rate = 3.0, which is 4.0",
             "list": r"table\[1\] = 2.0, which is 9.0", "helper": "doubled = the function of line",
             "closure": "inner = 5.0, which is 6.0"}  # fmt: skip
    if change == "global":
        monkeypatch.setitem(globals(), "offset", 7.0)
    elif change == "attribute":
        monkeypatch.setattr(settings, "rate", 4.0, raising=False)
    elif change == "list":
        monkeypatch.setitem(globals(), "table", [1.0, 9.0])
    elif change == "helper":
        monkeypatch.setitem(globals(), "doubled", lambda x: x)
    elif change == "closure":
        inner = 6.0
    else:
        assert record() == 14
        return
    with pytest.raises(hc.Error, match="kernel 'use' was made with " + words[change]) as error:
        record()
    assert "hc.Param[hc.real]" in str(error.value)


def test_words_are_those_of_python():
    @hc.kernel
    def double(i: hc.Int, y: hc.ReadWrite[hc.real]):
        y[i] = y[i] * y[i]

    launch = hc.record(double, 1, y=np.ones(1))
    launch.forward()
    with pytest.raises(hc.Error, match="record the launch on a Tape, which keeps the old values"):
        launch.adjoint()
    launch = hc.record(scale, 1, x=np.ones((1, 3)), k=2.0, y=np.ones((1, 3)))
    with pytest.raises(hc.ArgumentError, match=r"its gradient is an array, too: launch\['x'\].grad"):
        launch.grad("x")
    with pytest.raises(hc.Error) as error:
        hc.device("cuda", checked=True)
    assert "--" not in str(error.value) and "device='cpu'" in str(error.value)
    sim = hc.load(SCENES / "spring_cage.json")
    with pytest.raises(hc.Error, match="^the value of cage.stiffness:1:1: at /forces/0/stiffness"):
        sim["cage.stiffness"] = "text"
