"""Control flow of kernels written in Python: what names mean behind regions, and the errors where
that cannot be told."""

import hindcast as hc
import numpy as np
import pytest
from kernel_checks import check, forward, line_of


def run(kernel, x, n=None, dim=None):
    arguments = {"x": np.asarray(x, float), "y": np.zeros(len(x))}
    if n is not None:
        arguments["n"] = np.asarray(n, np.int32)
    return forward(kernel, dim or len(x), ["y"], **arguments)


def refused(kernel, *words, error=hc.Error):
    """Recording raises; the text has the words."""
    arguments = {"x": np.ones(3), "y": np.zeros(3)}
    if "n" in kernel.parameters:
        arguments["n"] = np.ones(3, np.int32)
    with pytest.raises(error) as raised:
        hc.record(kernel, 3, **arguments)
    for word in words:
        assert str(word) in str(raised.value), str(raised.value)


X = [-2.0, -0.5, 0.75, 1.5, 3.0]
N = [0, 1, 2, 5, 12]


# ---- if and else -------------------------------------------------------------------------------


def test_if_changes_a_name():
    @hc.kernel
    def f(i: hc.Int, x: hc.Read[hc.real], y: hc.Write[hc.real]):
        a = x[i]
        b = a
        with hc.if_(a < 1):
            a = a * a
            b -= a
        y[i] = a + 10 * b

    y = run(f, X)
    assert np.array_equal(y, [x * x + 10 * (x - x * x) if x < 1 else 11 * x for x in X])
    check(f, 5, "y", ["x"], x=np.array(X), y=np.zeros(5))


def test_else_starts_from_the_old_value():
    @hc.kernel
    def f(i: hc.Int, x: hc.Read[hc.real], y: hc.Write[hc.real]):
        a, b, c, d = x[i], x[i] + 1, 0.0, hc.real(5)
        with hc.if_(x[i] > 0):
            a = a * 3
            b = a + b
            c = a - 1
            made = b * 2
        with hc.else_():
            d = a + c
            a = b - a * 2
            made = -a
        y[i] = a + 10 * b + 100 * c + 1000 * d + 1e4 * made

    def reference(x):
        a, b, c, d = x, x + 1, 0.0, 5
        if x > 0:
            a = a * 3
            b = a + b
            c = a - 1
            made = b * 2
        else:
            d = a + c
            a = b - a * 2
            made = -a
        return a + 10 * b + 100 * c + 1000 * d + 1e4 * made

    assert np.allclose(run(f, X), [reference(x) for x in X], rtol=1e-14)
    check(f, 5, "y", ["x"], x=np.array(X), y=np.zeros(5))


def test_branches_nest_and_stores_may_be_conditional():
    @hc.kernel
    def f(i: hc.Int, x: hc.Read[hc.real], y: hc.Write[hc.real]):
        a = x[i]
        with hc.if_(a > 0):
            with hc.if_(a > 1):
                a = 2 * a
                with hc.if_(a > 5):
                    a = a - 100
            with hc.else_():
                a = a + 7
            y[i] = a
        with hc.else_():
            y[i] = 3 * a

    expected = [(2 * x - 100 * (2 * x > 5) if x > 1 else x + 7) if x > 0 else 3 * x for x in X]
    assert np.array_equal(run(f, X), expected)
    check(f, 5, "y", ["x"], x=np.array(X), y=np.zeros(5))


def test_numbers_and_lists_before_an_if():
    @hc.kernel
    def f(i: hc.Int, x: hc.Read[hc.real], y: hc.Write[hc.real]):
        count, values, by_name = 1, [x[i], 2 * x[i]], {"s": hc.real(1)}
        with hc.if_(x[i] > 0):
            count = i
            values[1] = values[0] + values[1]
            by_name["s"] += 3
        with hc.if_(x[i] > 1):
            late = 2.0
        with hc.else_():
            late = x[i] * 2
        y[i] = hc.real(count) + 10 * values[0] + 100 * values[1] + 1e4 * by_name["s"] + 1e6 * late

    expected = [(k if x > 0 else 1) + 10 * x + 100 * (3 * x if x > 0 else 2 * x)
                + 1e4 * (4 if x > 0 else 1) + 1e6 * (2 if x > 1 else 2 * x)
                for k, x in enumerate(X)]  # fmt: skip
    assert np.allclose(run(f, X), expected, rtol=1e-15)


def test_components_change_in_branches_and_loops():
    @hc.kernel
    def f(i: hc.Int, x: hc.Read[hc.real], y: hc.Write[hc.real]):
        v = hc.vec2(x[i], 1)
        with hc.if_(x[i] > 0):
            v.x = v.x * v.y + 2
        with hc.else_():
            v.y -= v.x
        with hc.for_(9):
            v.x, v.y = v.y, v.x * 0.5
        y[i] = v.x + 3 * v.y

    def reference(x):
        a, b = (x + 2, 1) if x > 0 else (x, 1 - x)
        for _ in range(9):
            a, b = b, a * 0.5
        return a + 3 * b

    assert np.array_equal(run(f, X), [reference(x) for x in X])
    check(f, 5, "y", ["x"], x=np.array(X), y=np.zeros(5))


# ---- loops -------------------------------------------------------------------------------------


def test_loops_hand_their_values_on():
    @hc.kernel
    def f(i: hc.Int, x: hc.Read[hc.real], n: hc.Read[hc.i32], y: hc.Write[hc.real]):
        a, b, kept = hc.real(1), x[i], x[i]
        with hc.for_(n[i], max_trips=20) as k:
            a, b = b, a * 0.5 + hc.sin(b) + kept * hc.real(k)
        y[i] = a + 10 * b

    def reference(x, n):
        a, b = 1, x
        for k in range(n):
            a, b = b, a * 0.5 + np.sin(b) + x * k
        return a + 10 * b

    assert np.allclose(run(f, X, N), [reference(x, n) for x, n in zip(X, N)], rtol=1e-14)
    check(f, 5, "y", ["x"], x=np.array(X), n=np.array(N, np.int32), y=np.zeros(5))


@pytest.mark.parametrize("bounds", [(3,), (2, 11), (10, -3, -2), (5, 5), (0, 40, 7)])
def test_for_counts_like_range(bounds):
    @hc.kernel
    def f(i: hc.Int, x: hc.Read[hc.real], n: hc.Read[hc.i32], y: hc.Write[hc.real]):
        s, t = x[i], hc.real(0)
        with hc.for_(*bounds) as k:
            s = 0.5 * s + hc.real(k)
        with hc.for_(*(b * n[i] for b in bounds)) as k:
            t = 0.5 * t + hc.real(k)
        y[i] = s + 1000 * t

    def reference(x):
        s, t = x, 0
        for k in range(*bounds):
            s, t = 0.5 * s + k, 0.5 * t + k
        return s + 1000 * t

    assert np.allclose(run(f, X, [1] * 5), [reference(x) for x in X], rtol=1e-14)


def test_nested_loops_and_branches():
    @hc.kernel
    def f(i: hc.Int, x: hc.Read[hc.real], n: hc.Read[hc.i32], y: hc.Write[hc.real]):
        total, last = hc.real(0), x[i]
        with hc.for_(n[i], max_trips=12) as j:
            inner = last
            with hc.for_(j + 1, max_trips=12) as k:
                with hc.if_((j + k) % 2 == 0):
                    inner = inner * 0.5 + x[i]
                with hc.else_():
                    inner, last = last, inner
            total += inner
        y[i] = total + last

    def reference(x, n):
        total, last = 0, x
        for j in range(n):
            inner = last
            for k in range(j + 1):
                if (j + k) % 2 == 0:
                    inner = inner * 0.5 + x
                else:
                    inner, last = last, inner
            total += inner
        return total + last

    assert np.allclose(run(f, X, N), [reference(x, n) for x, n in zip(X, N)], rtol=1e-14)
    check(f, 5, "y", ["x"], x=np.array(X), n=np.array(N, np.int32), y=np.zeros(5))


def test_while():
    @hc.kernel
    def root(i: hc.Int, x: hc.Read[hc.real], y: hc.Write[hc.real]):
        a = x[i] * x[i] + 2
        r, steps = hc.copy(a), hc.i32(0)
        with hc.while_(lambda: (hc.abs(r * r - a) > 1e-9) & (steps < 40), max_trips=50):
            r = (r + a / r) / 2
            steps += 1
        y[i] = r

    assert np.allclose(run(root, X), np.sqrt(np.array(X) ** 2 + 2), rtol=1e-12)
    check(root, 5, "y", ["x"], x=np.array(X), y=np.zeros(5))


def test_while_raises_beyond_its_trips():
    @hc.kernel
    def f(i: hc.Int, x: hc.Read[hc.real], y: hc.Write[hc.real]):
        a = x[i]
        with hc.while_(lambda: a > 0, max_trips=3):
            a = a - 1
        y[i] = a

    assert np.array_equal(run(f, [3, 0.5]), [0, -0.5])
    with pytest.raises(hc.Error, match="max_trips|trips"):
        run(f, [4, 0.5])


def test_helpers_closures_and_host_loops():
    def power(base, n):
        result = hc.real(1)
        with hc.for_(n):
            result *= base
        return result

    class Sum:
        def __init__(self):
            self.total = hc.real(0)

        def add(self, value):
            with hc.if_(value > 0):
                self.total = self.total + value

    @hc.kernel
    def f(i: hc.Int, x: hc.Read[hc.real], y: hc.Write[hc.real]):
        a, s = x[i], Sum()

        def double():
            nonlocal a
            a = a * 2

        for k in range(3):
            s.add(power(a, k + 9))
            with hc.if_(a < 1):
                double()
        y[i] = a + s.total

    def reference(x):
        a, s = x, 0
        for k in range(3):
            s += max(a ** (k + 9), 0)
            a = a * 2 if a < 1 else a
        return a + s

    assert np.allclose(run(f, X), [reference(x) for x in X], rtol=1e-13)


def test_a_helper_may_change_its_argument_in_a_loop():
    def halved(v):
        with hc.for_(9):
            v = v * 0.5
        return v

    @hc.kernel
    def f(i: hc.Int, x: hc.Read[hc.real], y: hc.Write[hc.real]):
        a = x[i]
        b = halved(a)
        y[i] = a + b

    assert np.array_equal(run(f, X), [x + x / 512 for x in X])


def test_grad_of_a_function_with_a_loop():
    @hc.kernel
    def f(i: hc.Int, x: hc.Read[hc.real], y: hc.Write[hc.real]):
        def energy(p):
            e = hc.real(0)
            with hc.for_(10) as k:
                e = e * p + hc.real(k)
            return e

        y[i] = hc.grad(energy, x[i])

    c = np.polyder(np.arange(10.0))
    assert np.allclose(run(f, X), np.polyval(c, X), rtol=1e-12)


def test_names_for_one_number_part():
    @hc.kernel
    def f(i: hc.Int, x: hc.Read[hc.real], y: hc.Write[hc.real]):
        a = b = x[i]
        best, at = hc.real(100), hc.i32(-1)
        with hc.for_(20) as k:
            a = a + b
            d = hc.abs(a - 7)
            with hc.if_(d < best):
                best = d
                at = k
            first = second = d
            with hc.if_(d > 30):
                a = 0.5
                first, second = second, first * 2
            b = first = first * 0.25
        y[i] = a + 10 * b + 100 * best + 1000 * hc.real(at)

    def reference(x):
        a = b = x
        best, at = 100, -1
        for k in range(20):
            a = a + b
            d = abs(a - 7)
            if d < best:
                best, at = d, k
            first = d
            if d > 30:
                a = 0.5
            b = first * 0.25
        return a + 10 * b + 100 * best + 1000 * at

    assert np.allclose(run(f, X), [reference(x) for x in X], rtol=1e-12)


# ---- what cannot be right is an error ----------------------------------------------------------


def test_two_names_for_one_vector():
    @hc.kernel
    def f(i: hc.Int, x: hc.Read[hc.real], y: hc.Write[hc.real]):
        a = b = hc.vec2(x[i], 1)
        with hc.for_(20):
            a = a + b
        y[i] = a.x

    line = line_of(test_two_names_for_one_vector, "for_(20)")
    refused(f, f"{__file__}:{line}", "'a' and 'b'", "b = hc.copy(b)")

    @hc.kernel
    def g(i: hc.Int, x: hc.Read[hc.real], y: hc.Write[hc.real]):
        a, b = hc.vec2(x[i], 1), hc.vec2(1, x[i])
        with hc.if_(x[i] > 0):
            a = b
        y[i] = a.x

    refused(g, "a = hc.copy(b)")

    @hc.kernel
    def good(i: hc.Int, x: hc.Read[hc.real], y: hc.Write[hc.real]):
        a = hc.vec2(x[i], 1)
        b = hc.copy(a)
        with hc.for_(20):
            a = a + b
        with hc.if_(a.x > 0):
            a = hc.copy(b)
        y[i] = a.x

    assert np.allclose(run(good, X), [x if x > 0 else 21 * x for x in X])


def test_values_made_inside_are_not_used_behind():
    @hc.kernel
    def f(i: hc.Int, x: hc.Read[hc.real], y: hc.Write[hc.real]):
        with hc.if_(x[i] > 0):
            t = x[i] * 2
        y[i] = t

    refused(f, "inside the if_ at test_kernel_regions.py:", "behind it", "hc.real(0)")

    @hc.kernel
    def g(i: hc.Int, x: hc.Read[hc.real], y: hc.Write[hc.real]):
        a, kept = x[i], []
        box = [None]
        with hc.for_(20) as k:
            before = a
            a = a * 2
        y[i] = before

    refused(g, "inside the for_")

    @hc.kernel
    def h(i: hc.Int, x: hc.Read[hc.real], y: hc.Write[hc.real]):
        with hc.for_(20) as k:
            pass
        y[i] = hc.real(k)

    refused(h, "inside the for_")


def test_numbers_that_a_region_changes():
    @hc.kernel
    def f(i: hc.Int, x: hc.Read[hc.real], y: hc.Write[hc.real]):
        s = 0.0
        with hc.for_(20):
            s = s + x[i]
        y[i] = s

    refused(f, "'s' is 0.0 before the for_", "s = hc.real(0.0)")

    @hc.kernel
    def g(i: hc.Int, x: hc.Read[hc.real], y: hc.Write[hc.real]):
        count = 0
        with hc.if_(x[i] > 0):
            count += 1
        y[i] = count

    refused(g, "'count' is 0 before the if_ and 1 at its end")

    @hc.kernel
    def h(i: hc.Int, x: hc.Read[hc.real], y: hc.Write[hc.real]):
        s = [x[i]]
        with hc.if_(s[0] > 0):
            s[0] = 0.0
        y[i] = s[0]

    refused(h, "'s[0]' is a traced real before the if_ and a number at its end", "hc.real(0.0)")

    @hc.kernel
    def k(i: hc.Int, x: hc.Read[hc.real], y: hc.Write[hc.real]):
        with hc.if_(x[i] > 0):
            s = x[i]
        with hc.else_():
            s = 0.0
        y[i] = s

    refused(k, "'s' is a traced value in one branch and 0.0 in the other")

    @hc.kernel
    def m(i: hc.Int, x: hc.Read[hc.real], y: hc.Write[hc.real]):
        best = None
        with hc.for_(20):
            best = x[i] if best is None else hc.min(best, x[i])
        y[i] = best

    refused(m, "'best' is None before the for_")

    @hc.kernel
    def lists(i: hc.Int, x: hc.Read[hc.real], y: hc.Write[hc.real]):
        values = [x[i]]
        with hc.for_(20):
            values.append(x[i] + 1)
        y[i] = values[-1]

    refused(lists, "'values' changes its length")


def test_types_that_differ():
    @hc.kernel
    def f(i: hc.Int, x: hc.Read[hc.real], y: hc.Write[hc.real]):
        s = x[i]
        with hc.if_(s > 0):
            s = hc.vec2(s, s)
        y[i] = 1

    refused(f, "'s' is a real before the if_ and a vec2 at its end")


def test_leaving_a_region():
    @hc.kernel
    def early(i: hc.Int, x: hc.Read[hc.real], y: hc.Write[hc.real]):
        y[i] = 0
        with hc.if_(x[i] > 0):
            return
        y[i] = 1

    refused(early, "`return`", "leaves the if_")

    @hc.kernel
    def cut(i: hc.Int, x: hc.Read[hc.real], y: hc.Write[hc.real]):
        y[i] = 0
        for _ in range(3):
            with hc.if_(x[i] > 0):
                if i is not None:
                    break

    refused(cut, "`break`", "leaves the if_")

    @hc.kernel
    def caught(i: hc.Int, x: hc.Read[hc.real], y: hc.Write[hc.real]):
        y[i] = 0
        try:
            with hc.if_(x[i] > 0):
                raise KeyError
        except KeyError:
            pass

    refused(caught, "an exception left the if_ at")

    @hc.kernel
    def fine(i: hc.Int, x: hc.Read[hc.real], y: hc.Write[hc.real]):
        s = hc.real(0)
        with hc.if_(x[i] > 0):
            for k in range(5):
                if k == 2:
                    break
                s += 1
        y[i] = s

    assert np.array_equal(run(fine, X), 2.0 * (np.array(X) > 0))


def test_else_belongs_to_the_if_before_it():
    @hc.kernel
    def f(i: hc.Int, x: hc.Read[hc.real], y: hc.Write[hc.real]):
        a = x[i]
        with hc.if_(a > 0):
            a = a + 1
        b = a
        with hc.else_():
            a = a - 1
        y[i] = a + b

    refused(f, "else_ does not follow an if_")


def test_python_conditions_on_traced_values():
    @hc.kernel
    def f(i: hc.Int, x: hc.Read[hc.real], y: hc.Write[hc.real]):
        y[i] = 0
        if x[i] > 0:
            y[i] = 1

    refused(f, "hc.if_", "hc.select", "test_kernel_regions.py", error=TypeError)

    @hc.kernel
    def g(i: hc.Int, x: hc.Read[hc.real], n: hc.Read[hc.i32], y: hc.Write[hc.real]):
        for k in range(n[i]):
            y[i] = k

    refused(g, "hc.for_", error=TypeError)

    @hc.kernel
    def h(i: hc.Int, x: hc.Read[hc.real], y: hc.Write[hc.real]):
        with hc.if_(True):
            y[i] = 1

    refused(h, "known while tracing", error=TypeError)


def test_conditional_stores_name_file_and_line():
    @hc.kernel
    def f(i: hc.Int, x: hc.Read[hc.real], y: hc.Write[hc.real]):
        with hc.if_(x[i] > 0):
            y[i] = 1

    line = line_of(test_conditional_stores_name_file_and_line, "with hc.if_(x[i] > 0)")
    refused(f, f"{__file__}:{line}", "kernel 'f'", "stored on every path", "ReadWrite")

    @hc.kernel
    def g(i: hc.Int, x: hc.Read[hc.real], y: hc.Write[hc.real]):
        y[i] = y[i] + 1

    line = line_of(test_conditional_stores_name_file_and_line, "y[i] = y[i] + 1")
    refused(g, f"{__file__}:{line}", "read before it is stored")


def test_exceptions_of_the_function_pass_through():
    @hc.kernel
    def f(i: hc.Int, x: hc.Read[hc.real], y: hc.Write[hc.real]):
        {}["missing"]

    with pytest.raises(KeyError, match="missing") as raised:
        hc.record(f, 1, x=np.ones(1), y=np.ones(1))
    line = line_of(test_exceptions_of_the_function_pass_through, '{}["missing"]')
    assert (raised.traceback[-1].lineno + 1, str(raised.traceback[-1].path)) == (line, __file__)
