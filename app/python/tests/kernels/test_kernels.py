"""Kernels written in Python: values and derivatives."""

import threading

import hindcast as hc
import numpy as np
import pytest
from kernel_checks import check, forward, gradients


@pytest.fixture(params=[np.float32, np.float64])
def real(request):
    return request.param


# ---- the documentation's examples --------------------------------------------------------------


def test_example_of_the_names():
    @hc.kernel
    def scale(i: hc.Int, a: hc.Read[hc.i32], b: hc.Accumulate[hc.i32]):
        b[0] += a[i]

    a, b = hc.array([1, 2, 3], dtype=hc.i32), hc.array([10], dtype=hc.i32)
    launch = hc.record(scale, dim=3, a=a, b=b)
    launch.forward()
    assert b.numpy() == [16]


@hc.kernel
def scale3(i: hc.Int, x: hc.Read[hc.vec3], k: hc.Param[hc.real], y: hc.Write[hc.vec3]):
    y[i] = x[i] * k


def test_vectors_times_a_number(real):
    x = np.arange(12, dtype=real).reshape(4, 3)
    y = forward(scale3, 4, ["y"], x=x, k=2.5, y=np.zeros_like(x))
    assert y.dtype == real and np.array_equal(y, x * real(2.5))
    gx, gk = gradients(scale3, 4, "y", ["x", "k"], np.ones((4, 3)), x=x, k=2.5, y=np.zeros_like(x))
    assert np.array_equal(gx, np.full((4, 3), 2.5)) and gk == x.sum()


def test_the_function_runs_once():
    runs = []

    @hc.kernel
    def twice(i: hc.Int, x: hc.Read[hc.real], y: hc.Write[hc.real]):
        runs.append(i)
        y[i] = 2 * x[i]

    for real in (np.float32, np.float64, np.float32):
        y = np.zeros(2, real)
        hc.record(twice, 2, x=np.array([1, 2], real), y=y).forward()
        assert list(y) == [2, 4]
    assert len(runs) == 1
    assert twice.name == "twice" and twice.parameters == ["x", "y"]


# ---- values ------------------------------------------------------------------------------------


def test_arithmetic_of_reals(real):
    @hc.kernel
    def f(i: hc.Int, a: hc.Read[hc.real], b: hc.Read[hc.real], y: hc.WriteSlice[hc.real]):
        p, q = a[i], b[i]
        values = [p + q, p - q, p * q, p / q, -p, +p, abs(p), 1 + p, 2 - p, 3 * p, 4 / q, p + 1,
                  p - 0.5, p / 4, p**2, q**3, 2.0**p, q**p, hc.min(p, q), hc.max(p, q),
                  hc.clamp(p, -0.5, 0.5), hc.select(p < q, p, 7), hc.abs(p), hc.sign(p)]
        for k, value in enumerate(values):
            y.store_once(i * 24 + k, value)

    p = np.array([0.25, -1.5, 3, 0], real)
    q = np.array([2, 0.5, 0.75, 1.25], real)
    y = forward(f, 4, ["y"], a=p, b=q, y=np.zeros(4 * 24, real)).reshape(4, 24).T
    with np.errstate(all="ignore"):
        expected = [p + q, p - q, p * q, p / q, -p, p, abs(p), 1 + p, 2 - p, 3 * p, 4 / q, p + 1,
                    p - real(0.5), p / 4, p * p, q**3, real(2) ** p, q**p, np.minimum(p, q),
                    np.maximum(p, q), np.clip(p, -0.5, 0.5), np.where(p < q, p, 7), abs(p),
                    np.sign(p)]
    for k, e in enumerate(expected):
        assert np.allclose(y[k], e, rtol=4 * np.finfo(real).eps, atol=0), k


def test_functions_of_reals(real):
    names = ["sqrt", "exp", "log", "sin", "cos", "tan", "asin", "acos", "atan", "sinh", "cosh",
             "tanh", "expm1", "log1p", "cbrt", "floor", "ceil", "trunc", "round"]

    @hc.kernel
    def f(i: hc.Int, x: hc.Read[hc.real], y: hc.WriteSlice[hc.real]):
        for k, name in enumerate(names):
            y.store_once(len(names) * i + k, getattr(hc, name)(x[i]))

    x = np.array([0.1, 0.5, 0.9], real)
    y = forward(f, 3, ["y"], x=x, y=np.zeros(3 * len(names), real)).reshape(3, -1).T
    numpy_names = {"asin": "arcsin", "acos": "arccos", "atan": "arctan"}
    for k, name in enumerate(names):
        expected = getattr(np, numpy_names.get(name, name))(x.astype(np.float64))
        assert np.allclose(y[k], expected, rtol=8 * np.finfo(real).eps), name


def test_derivatives_of_functions():
    @hc.kernel
    def f(i: hc.Int, x: hc.Read[hc.real], y: hc.Write[hc.real]):
        p, q = x[i], x[i + 1]
        s = hc.sqrt(p) + hc.exp(q) * hc.log(p) + hc.sin(p) * hc.cos(q) + hc.tan(p * q)
        s = s + hc.asin(p / 2) * hc.acos(q / 3) + hc.atan(p) + hc.atan2(p, q) + hc.tanh(p - q)
        s += hc.pow(p, q) + p**1.5 + q**2 + hc.cbrt(q) + hc.fma(p, q, p)
        y[i] = s

    check(f, 1, "y", ["x"], x=np.array([0.6, 0.8]), y=np.zeros(1))


def test_integers_divide_as_in_python():
    @hc.kernel
    def f(i: hc.Int, a: hc.Read[hc.i32], b: hc.Read[hc.i32], q: hc.Write[hc.i32],
          r: hc.Write[hc.i32], s: hc.Write[hc.i32]):  # fmt: skip
        q[i] = a[i] // b[i]
        r[i] = a[i] % b[i]
        s[i] = ((a[i] << 2) | 1) ^ (b[i] & 3) + a[i] ** 3

    a = np.array([7, -7, 7, -7, 6, -6, 0], np.int32)
    b = np.array([2, 2, -2, -2, 3, 3, 5], np.int32)
    z = np.zeros_like(a)
    y = forward(f, 7, ["q", "r", "s"], a=a, b=b, q=z, r=z, s=z)
    assert np.array_equal(y["q"], a // b) and np.array_equal(y["r"], a % b)
    assert np.array_equal(y["s"], ((a << 2) | 1) ^ (b & 3) + a**3)


@pytest.mark.parametrize("dtype", ["u32", "i64", "u64"])
def test_other_integers(dtype):
    numpy_type = {"u32": np.uint32, "i64": np.int64, "u64": np.uint64}[dtype]
    largest = int(np.iinfo(numpy_type).max)

    def body(i, x, y):
        y[i] = hc.max(x[i] // 3, largest - 1)

    body.__annotations__ = {"i": hc.Int, "x": hc.Read[getattr(hc, dtype)],
                            "y": hc.Write[getattr(hc, dtype)]}
    x = np.array([largest, 5], numpy_type)
    y = forward(hc.kernel(body), 2, ["y"], x=x, y=np.zeros_like(x))
    assert y.dtype == numpy_type and list(y) == [largest - 1] * 2


def test_conversions_and_conditions(real):
    @hc.kernel
    def f(i: hc.Int, x: hc.Read[hc.real], n: hc.Write[hc.ivec3], y: hc.Write[hc.vec2]):
        a = (x[i] > 0) & (x[i] <= 2) | ~(x[i] != -3)
        n[i] = hc.ivec3(hc.i32(x[i]), hc.i32(a), hc.select(a, i, -i))
        y[i] = hc.vec2(hc.real(i) / 2, hc.real(x[i] == 2))

    x = np.array([-3, -0.5, 1.75, 2, 2.5], real)
    out = forward(f, 5, ["n", "y"], x=x, n=np.zeros((5, 3), np.int32), y=np.zeros((5, 2), real))
    truth = ((x > 0) & (x <= 2)) | (x == -3)
    i = np.arange(5)
    assert np.array_equal(out["n"], np.stack([x.astype(int), truth, np.where(truth, i, -i)], 1))
    assert np.array_equal(out["y"], np.stack([i / 2, x == 2], 1))


def test_vectors_and_matrices():
    @hc.kernel
    def f(i: hc.Int, a: hc.Read[hc.vec3], m: hc.Read[hc.mat3], y: hc.WriteSlice[hc.real]):
        u, v = a[0], a[1]
        x, *_ = u
        parts = [hc.dot(u, v), hc.norm(u), *hc.normalize(v), *hc.cross(u, v), x, u.y, v[-1],
                 *(m[0] @ u), hc.determinant(m[0]), hc.trace(m[0]), hc.sum(u), *(2 * u - v / 4),
                 *hc.min(u, v), *hc.cwise_product(u, v), *hc.select(u.x < 0, u, v)]
        inverse = hc.inverse(m[0]) @ hc.transpose(m[0]) + hc.outer(u, v) - hc.identity(3) * u.x
        for k in range(9):
            parts.append(inverse[k // 3, k % 3])
        for k, part in enumerate(parts):
            y.store_once(k, part)

    rng = np.random.default_rng(3)
    a, m = rng.standard_normal((2, 3)), rng.standard_normal((1, 3, 3)) + 2 * np.eye(3)
    u, v = a
    expected = np.concatenate([
        [u @ v, np.linalg.norm(u)], v / np.linalg.norm(v), np.cross(u, v), [u[0], u[1], v[2]],
        m[0] @ u, [np.linalg.det(m[0]), np.trace(m[0]), u.sum()], 2 * u - v / 4, np.minimum(u, v),
        u * v, u if u[0] < 0 else v,
        (np.linalg.inv(m[0]) @ m[0].T + np.outer(u, v) - np.eye(3) * u[0]).ravel(),
    ])  # fmt: skip
    y = forward(f, 1, ["y"], a=a, m=m, y=np.zeros(len(expected)))
    assert np.allclose(y, expected, rtol=1e-13)
    check(f, 1, "y", ["a", "m"], a=a, m=m, y=np.zeros(len(expected)))


def test_small_and_large_shapes():
    @hc.kernel
    def f(i: hc.Int, a: hc.Read[hc.mat2], b: hc.Read[hc.mat4], v: hc.Read[hc.vec4],
          y: hc.Write[hc.vec4], z: hc.Write[hc.mat2]):  # fmt: skip
        y[i] = b[i] @ v[i] * hc.norm(v[i]) + hc.normalize(v[i])
        z[i] = a[i] @ hc.inverse(a[i]) + a[i] * hc.cross(hc.vec2(v[i].x, v[i].y), hc.vec2(2))

    rng = np.random.default_rng(4)
    a, b, v = (rng.standard_normal(s) for s in ((1, 2, 2), (1, 4, 4), (1, 4)))
    y = forward(f, 1, ["y", "z"], a=a, b=b, v=v, y=np.zeros((1, 4)), z=np.zeros((1, 2, 2)))
    n = np.linalg.norm(v[0])
    assert np.allclose(y["y"][0], b[0] @ v[0] * n + v[0] / n)
    assert np.allclose(y["z"][0], np.eye(2) + a[0] * 2 * (v[0, 0] - v[0, 1]))


# ---- every access ------------------------------------------------------------------------------


def test_read_write_keeps_what_is_not_stored(real):
    @hc.kernel
    def step(i: hc.Int, x: hc.ReadWrite[hc.vec3], k: hc.Param[hc.vec3]):
        x[i].y = x[i].x * 2
        x[i][2] += k.z
        old = x[i]
        x[i][-1] *= 2
        x[i].x -= old.z

    x = np.array([[1, 2, 3], [4, 5, 6]], real)
    y = forward(step, 2, ["x"], x=x, k=(0, 0, 1))
    assert np.array_equal(y, [[1 - 4, 2, 8], [4 - 7, 8, 14]])


def test_components_of_stored_elements_have_exact_gradients():
    @hc.kernel
    def f(i: hc.Int, x: hc.Read[hc.vec3], y: hc.Write[hc.vec3]):
        y[i] = x[i]
        y[i].x = y[i].x * y[i].y
        y[i][1] += hc.sin(y[i].x)
        y[i].z *= y[i][1] * y[i].z
        y[i].x = 2 * y[i].z

    x = np.array([[0.5, 1.5, -0.7], [1.1, -0.4, 0.3]])
    check(f, 2, "y", ["x"], x=x, y=np.zeros((2, 3)))

    @hc.kernel
    def product(i: hc.Int, x: hc.Read[hc.vec2], y: hc.Write[hc.vec2]):
        y[i] = x[i]
        y[i].x *= y[i].y
        y[i].y = 3 * y[i].x

    (g,) = gradients(product, 1, "y", ["x"], [[1, 10]], x=np.array([[5.0, 7.0]]),
                     y=np.zeros((1, 2)))  # fmt: skip
    assert np.array_equal(g, [[31 * 7, 31 * 5]])  # y = (x0 x1, 3 x0 x1)


def test_components_of_local_vectors_and_matrices():
    @hc.kernel
    def f(i: hc.Int, x: hc.Read[hc.vec3], m: hc.Read[hc.mat2], n: hc.Read[hc.i32],
          y: hc.Write[hc.vec3], z: hc.Write[hc.mat2]):  # fmt: skip
        v = x[i]
        w = hc.copy(v)
        v.x = v.y * v.z
        v[1] += w.x
        v[n[i]] *= 2.0 + v[n[i]]
        a = m[i]
        a[0, 1] = a[1, 0] * a[0, 1]
        a[1, -1] += v.z
        y[i], z[i] = v + w, a

    x, m = np.array([[2.0, 3, 5], [1, -2, 4]]), np.array([[[1.0, 2], [3, 4]], [[5, 6], [7, 8]]])
    n = np.array([0, 2], np.int32)
    zeros = {"y": np.zeros((2, 3)), "z": np.zeros((2, 2, 2))}
    out = forward(f, 2, ["y", "z"], x=x, m=m, n=n, **zeros)
    v = np.array([[15 * 17, 3 + 2, 5], [-8, -2 + 1, 4 * 6]])
    assert np.array_equal(out["y"], v + x)
    assert np.array_equal(out["z"], [[[1, 6], [3, 4 + 5]], [[5, 42], [7, 8 + 24]]])
    check(f, 2, "y", ["x"], x=x, m=m, n=n, **zeros)
    check(f, 2, "z", ["x", "m"], x=x, m=m, n=n, **zeros)


def test_accumulate_and_sum(real):
    @hc.kernel
    def spread(i: hc.Int, j: hc.Read[hc.ivec2], x: hc.Read[hc.vec2], f: hc.Accumulate[hc.vec2],
               g: hc.Sum[hc.real]):  # fmt: skip
        f[j[i].x] += x[i]
        f[j[i].y] -= x[i] * 2
        f[0].y += 1.5
        f[0][0] -= x[i].x
        g[1] += x[i].x

    j = np.array([[0, 1], [1, 2], [2, 0]], np.int32)
    x = np.array([[1, 2], [3, 4], [5, 6]], real)
    out = forward(spread, 3, ["f", "g"], j=j, x=x, f=np.full((3, 2), 100, real),
                  g=np.full(2, 9, real))  # fmt: skip
    f = np.full((3, 2), 100.0)
    for i in range(3):
        f[j[i, 0]] += x[i]
        f[j[i, 1]] -= 2 * x[i]
        f[0] += [-x[i, 0], 1.5]
    assert np.array_equal(out["f"], f) and np.array_equal(out["g"], [0, 9])
    seed = np.array([[1, 2], [3, 4], [5, 6]], real)
    (gx,) = gradients(spread, 3, "f", ["x"], seed, j=j, x=x, f=np.zeros((3, 2), real),
                      g=np.zeros(2, real))  # fmt: skip
    expected = [seed[j[i, 0]] - 2 * seed[j[i, 1]] - [seed[0, 0], 0] for i in range(3)]
    assert np.array_equal(gx, expected)


def test_reduce_atomic_and_property():
    @hc.kernel
    def f(i: hc.Int, x: hc.Read[hc.real], p: hc.Property[hc.real], n: hc.Atomic[hc.i32],
          least: hc.Atomic[hc.i32], e: hc.Reduce[hc.real]):  # fmt: skip
        e += x[i] * p[i]
        e -= 1
        n[0].add(i)
        n[1].max(i * 2)
        least[0].min(-i)

    x = np.array([1.0, 2, 3])
    zero = np.zeros(2, np.int32)
    for p, sum_ in ((2.0, 12 - 3), (np.array([1.0, 10, 100]), 321 - 3)):
        out = forward(f, 3, ["n", "least", "e"], x=x, p=p, n=zero, least=zero, e=np.zeros(1))
        assert list(out["n"]) == [3, 4] and out["least"][0] == -2 and out["e"][0] == sum_


def test_f32_buffers_beside_the_reals():
    @hc.kernel
    def f(i: hc.Int, x: hc.Read[hc.f32], y: hc.Write[hc.real], z: hc.Write[hc.f32]):
        y[i] = hc.real(x[i]) / 3
        z[i] = hc.f32(y[i])

    x = np.array([1, 2], np.float32)
    out = forward(f, 2, ["y", "z"], x=x, y=np.zeros(2), z=np.zeros(2, np.float32))
    assert np.array_equal(out["y"], np.array([1, 2]) / 3)
    assert np.array_equal(out["z"], (np.array([1, 2]) / 3).astype(np.float32))


def test_gradient_inside_a_kernel():
    @hc.kernel
    def force(i: hc.Int, x: hc.Read[hc.vec2], k: hc.Read[hc.real], f: hc.Write[hc.vec2],
              g: hc.Write[hc.real]):  # fmt: skip
        f[i], g[i] = hc.grad(lambda p, s: s * hc.dot(p, p) * p.x, x[i], k[i])

    x, k = np.array([[2.0, 3.0]]), np.array([5.0])
    zeros = {"f": np.zeros((1, 2)), "g": np.zeros(1)}
    out = forward(force, 1, ["f", "g"], x=x, k=k, **zeros)
    assert np.allclose(out["f"], [[5 * (3 * 4 + 9), 5 * 2 * 3 * 2]]) and out["g"][0] == 26
    check(force, 1, "f", ["x", "k"], x=x, k=k, **zeros)


def test_annotations_as_text():
    names = {}
    source = (
        "from __future__ import annotations\nimport hindcast as hc\n"
        "def make():\n"
        "    vector = hc.vec2\n"
        "    @hc.kernel\n"
        "    def f(i: hc.Int, x: hc.Read[vector], y: hc.Write[hc.real]):\n"
        "        y[i] = x[i].x + x[i].y\n"
        "    return f\n"
    )
    exec(source, names)
    y = forward(names["make"](), 1, ["y"], x=np.array([[3.0, 4.0]]), y=np.zeros(1))
    assert y[0] == 7


def test_kernels_are_traced_on_other_threads():
    @hc.kernel
    def f(i: hc.Int, x: hc.Read[hc.real], y: hc.Write[hc.real]):
        y[i] = x[i] + 1

    found = []

    def work():
        found.append(forward(f, 1, ["y"], x=np.ones(1), y=np.zeros(1))[0])

    threads = [threading.Thread(target=work) for _ in range(4)]
    [t.start() for t in threads], [t.join() for t in threads]
    assert found == [2] * 4
