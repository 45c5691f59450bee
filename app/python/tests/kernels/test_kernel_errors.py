"""Wrong uses of kernels written in Python: each error names the place and the remedy."""

import gc
import weakref

import hindcast as hc
import numpy as np
import pytest
from kernel_checks import DEVICES, line_of


@hc.kernel
def scale3(i: hc.Int, x: hc.Read[hc.vec3], k: hc.Param[hc.real], y: hc.Write[hc.vec3]):
    y[i] = x[i] * k


def declared(*words, **annotations):
    """Making a kernel of a function with these annotations raises; the text has the words."""

    def wrong(i, x, y):
        y[i] = x[i]

    wrong.__annotations__ = annotations
    with pytest.raises((TypeError, hc.ArgumentError)) as raised:
        hc.kernel(wrong)
    for word in (*words, "kernel 'wrong'"):
        assert word in str(raised.value), str(raised.value)


def test_wrong_declarations():
    x, y = hc.Read[hc.real], hc.Write[hc.real]
    declared("'y' has no annotation", "hc.Read[hc.vec3]", i=hc.Int, x=x)
    declared("'i' has no annotation", "i: hc.Int", x=x, y=y)
    declared("the first parameter 'i' is the work item", i=x, x=x, y=y)
    declared("'x' is a second work item", "hc.Param[hc.i32]", i=hc.Int, x=hc.Int, y=y)
    declared("'x' is annotated with <class 'float'>", i=hc.Int, x=float, y=y)
    declared("'x' does not say what it holds", "hc.Read[hc.real]", i=hc.Int, x=hc.Read, y=y)
    declared("'x' does not say how it is used", "hc.Read[hc.vec3]", i=hc.Int, x=hc.vec3, y=y)
    declared("'x' holds hc.f64", "hc.real", i=hc.Int, x=hc.Read[hc.f64], y=y)
    declared("'y' reduces i32", "Atomic", i=hc.Int, x=x, y=hc.Reduce[hc.i32])
    declared("'y' is Atomic of real", "Accumulate", i=hc.Int, x=x, y=hc.Atomic[hc.real])
    declared("the annotation 'nothing' of 'y'", i=hc.Int, x=x, y="nothing")
    with pytest.raises(hc.ArgumentError, match=r"hc.Read\[...\] takes a type"):
        hc.Read[float]
    with pytest.raises(TypeError, match="stands in annotations"):
        hc.Read()
    with pytest.raises(hc.ArgumentError, match="stands above a function"):
        hc.kernel(3)


def test_wrong_parameters():
    def default(i: hc.Int, x: hc.Read[hc.real] = None):
        pass

    def several(i: hc.Int, *x: hc.Read[hc.real]):
        pass

    def keyword(i: hc.Int, *, x: hc.Read[hc.real]):
        pass

    def reserved(i: hc.Int, dim: hc.Param[hc.i32]):
        pass

    def generator(i: hc.Int):
        yield

    def none():
        pass

    for function, word in ((default, "'x' has a default value"), (several, "'[*]x'"),
                           (keyword, "behind [*]"), (reserved, "'dim'"), (none, "no parameters"),
                           (generator, "generator")):  # fmt: skip
        with pytest.raises(hc.ArgumentError, match=word):
            hc.kernel(function)


def test_a_kernel_is_not_called():
    with pytest.raises(TypeError, match=r"'scale3' is not called .*hc.record\(scale3"):
        scale3(1, 2)


def test_outside_of_kernels():
    for use in (lambda: hc.sqrt(2), lambda: hc.vec3(1, 2, 3), lambda: hc.if_(True)):
        with pytest.raises(hc.Error, match="no kernel is being traced"):
            use()
    kept = []

    @hc.kernel
    def f(i: hc.Int, y: hc.Write[hc.real]):
        kept.append(hc.real(1))
        y[i] = kept[0]

    hc.record(f, 1, y=np.zeros(1))
    with pytest.raises(hc.Error):
        kept[0] + 1

    @hc.kernel
    def g(i: hc.Int, y: hc.Write[hc.real]):
        y[i] = kept[0]

    with pytest.raises(hc.Error, match="another kernel"):
        hc.record(g, 1, y=np.zeros(1))


def attempt(statement):
    @hc.kernel
    def wrong(i: hc.Int, x: hc.Read[hc.vec3], n: hc.Read[hc.i32], s: hc.Read[hc.f32],
              f: hc.Accumulate[hc.vec3], w: hc.Write[hc.vec3], u: hc.WriteSlice[hc.real],
              e: hc.Reduce[hc.real], c: hc.Atomic[hc.i32]):  # fmt: skip
        w[i] = x[i]
        statement(i, x, n, s, f, w, u, e, c)

    v, m = np.ones((2, 3)), np.ones(2, np.int32)
    hc.record(wrong, 2, x=v, n=m, s=np.ones(2, np.float32), f=v.copy(), w=v.copy(), u=np.ones(2),
              e=np.ones(1), c=m.copy())  # fmt: skip


def assign(target, key, value):
    target[key] = value


def add_to(target, key, value):
    target[key] += value


@pytest.mark.parametrize(
    "statement, words",
    [
        (lambda i, x, n, *_: x[i] + n[i], "vec3 + i32 mixes kinds; convert one"),
        (lambda i, x, *_: x[i] + 1, "vec3 + real is not defined"),
        (lambda i, x, *_: x[i] * x[i], "hc.dot(a, b)"),
        (lambda i, x, n, *_: n[i] / 2, "write // for the floor"),
        (lambda i, x, n, *_: n[i] + 0.5, "convert the other operand with hc.real(i)"),
        (lambda i, x, n, *_: n[i] + 2**40, "does not fit into i32"),
        (lambda i, x, *_: x[i].x // 2, "write hc.floor(a / b)"),
        (lambda i, x, *_: x[i].x % 2, "write a - hc.floor(a / b) * b"),
        (lambda i, x, n, s, *_: s[i] + s[i], "hc.real(x)"),
        (lambda i, x, *_: x[i].w, "has no component 'w'"),
        (lambda i, x, *_: x[i][3], "has no component 3"),
        (lambda i, x, *_: x[-1], "indices count from 0"),
        (lambda i, x, *_: x[i, 0], "x[i].x or x[i][0]"),
        (lambda i, x, *_: x[x[i].x], "the index of 'x' is a real, where an i32 is expected"),
        (lambda i, x, *_: x[i] < x[i], "only scalars are compared"),
        (lambda i, x, *_: (x[i].x < 1) + 1, "hc.select(c, 1, 0)"),
        (lambda i, x, *_: float(x[i].x), "is not a number of Python"),
        (lambda i, x, *_: [v for v in x], "not iterable"),
        (lambda i, x, *_: hc.vec3(1, 2), "takes 3 components, but 2 are given"),
        (lambda i, x, n, *_: hc.vec2(n[i], 1), "where a real is expected; convert it: hc.real(x)"),
        (lambda i, x, *_: hc.f64(1), "hc.real has the precision of the launch"),
        (lambda i, x, *_: hc.sqrt(x[i]), "is a vec3, where a real is expected"),
        (lambda i, x, *_: assign(x, i, x[i]), "'x' is declared Read, so its elements are not"),
        (lambda i, x, n, s, f, *_: f[i] + x[i], "'f' is declared Accumulate"),
        (lambda i, x, n, s, f, *_: f[i].x * 2, "its elements are not read"),
        (lambda i, x, n, s, f, *_: assign(f, i, x[i]), "take += and -= and nothing else"),
        (lambda i, x, n, s, f, *_: assign(f, i, f[0]), "take += and -= and nothing else"),
        (lambda i, x, n, s, f, *_: add_to(f, i, x[i].x), "what 'f' takes is a real"),
        (lambda i, x, n, s, f, w, *_: assign(w, 0, x[i]), "not the item's own"),
        (lambda i, x, n, s, f, w, *_: assign(w, i, 1.0), "where a vec3 is expected"),
        (lambda i, x, n, s, f, w, u, *_: assign(u, i, 1), "u.store_once(j, value)"),
        (lambda i, x, n, s, f, w, u, *_: u[i], "'u' is declared WriteSlice"),
        (lambda i, x, n, s, f, w, u, e, c: e[0], "write e += value"),
        (lambda i, x, n, s, f, w, u, e, c: e + 1, "it takes += and -="),
        (lambda i, x, n, s, f, w, u, e, c: add_to(c, 0, 1), "write c[j].add(value)"),
        (lambda i, x, n, s, f, w, u, e, c: c[0].add(1.5), "convert"),
    ],
)
def test_wrong_statements(statement, words):
    errors = (TypeError, OverflowError, IndexError, AttributeError, hc.Error)
    with pytest.raises(errors) as raised:
        attempt(statement)
    text = str(raised.value)
    assert words in text, text
    if "iterable" not in words:
        assert "test_kernel_errors.py:" in text and "in kernel 'wrong'" in text, text


def test_a_component_of_a_result_is_not_assigned():
    @hc.kernel
    def f(i: hc.Int, x: hc.Read[hc.vec2], y: hc.Write[hc.vec2]):
        y[i] = x[i]
        x[i].x = 1

    with pytest.raises(hc.Error, match="without a name"):
        hc.record(f, 1, x=np.ones((1, 2)), y=np.ones((1, 2)))


def test_a_kept_element_is_a_value():
    @hc.kernel
    def f(i: hc.Int, x: hc.ReadWrite[hc.vec2]):
        row = x[i]
        row.x = 1

    with pytest.raises(hc.Error, match=r"row = hc.copy\(x\[i\]\)"):
        hc.record(f, 1, x=np.ones((1, 2)))


def test_faults_at_run_time_name_the_line():
    @hc.kernel
    def f(i: hc.Int, x: hc.Read[hc.real], y: hc.Write[hc.real]):
        far = x[hc.i32(x[i]) + 7]
        y[i] = far

    line = line_of(test_faults_at_run_time_name_the_line, "far = x[hc.i32(x[i]) + 7]")
    for device in DEVICES.values():
        launch = hc.record(f, 2, x=np.ones(3), y=np.ones(2), device=device)
        with pytest.raises(hc.Error, match=f"test_kernel_errors.py:{line}: .*index 8 is out of range"):
            launch.forward()


def test_dropped_kernels_are_freed():
    def made():
        @hc.kernel
        def f(i: hc.Int, x: hc.Read[hc.real], y: hc.Write[hc.real]):
            y[i] = x[i] if own is f else 0

        own, big = f, np.zeros(1000)
        kept = lambda: big  # noqa: E731
        f.__class__, kept
        return weakref.ref(big), f

    for traced in (False, True):
        alive, f = made()
        if traced:
            hc.record(f, 1, x=np.ones(1), y=np.ones(1)).forward()
        del f
        gc.collect()
        assert alive() is None
