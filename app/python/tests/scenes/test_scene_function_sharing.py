"""A value and a vjp at the same place share a forward run: no order of calls changes a bit."""

import hindcast as hc
import numpy as np
import pytest
from scene_tools import CAGE, SCENES


def function(scene, paths, outputs, steps=-1):
    return hc._core.SceneFunction("", str(scene), paths, outputs, None, "f64", steps)


@pytest.mark.parametrize(
    "scene, path, outputs, steps",
    [
        (CAGE, "cage.rest_length", ["loss"], -1),
        (CAGE, "cage.rest_length", ["loss", "final:position"], -1),
        (CAGE, "cage.rest_length", ["state:position"], -1),
        (SCENES / "hanging_net.json", "threads.stiffness", ["loss"], 2),
    ],
)
def test_any_order_of_calls(scene, path, outputs, steps):
    rng = np.random.default_rng(5)
    f = function(scene, [path], outputs, steps)
    x0 = np.array(f.scene_values)
    points = [x0 * (1 + 0.01 * k) for k in range(3)]
    cotangent = rng.normal(size=f.output_size)
    u = rng.normal(size=x0.size)

    def call(g, kind, x):
        operands = {"value": [x], "vjp": [x, cotangent], "jvp": [x, u], "hvp": [x, cotangent, u]}
        return g.rows(kind, *(row[None] for row in operands[kind]))[0]

    kinds = ["value", "vjp", "jvp", "hvp"]
    expected = {}
    for kind in kinds:
        for k, x in enumerate(points):  # one call, of a function that nothing was asked of before
            expected[kind, k] = call(function(scene, [path], outputs, steps), kind, x)
    for _ in range(60):
        kind = kinds[rng.choice(4, p=[0.45, 0.45, 0.05, 0.05])]
        k = rng.integers(3) if rng.random() < 0.4 else 0
        np.testing.assert_array_equal(call(f, kind, points[k]), expected[kind, k])


def test_zeros_of_both_signs_are_not_the_same_place():
    f = function(SCENES / "free_flight.json", ["ball.velocity"], ["final:velocity"])
    x = np.zeros((1, f.input_size))
    f.rows("vjp", x, np.ones((1, f.output_size)))
    plain = f.rows("value", x)
    f.rows("vjp", x, np.ones((1, f.output_size)))
    turned = f.rows("value", -x)
    fresh = function(SCENES / "free_flight.json", ["ball.velocity"], ["final:velocity"])
    np.testing.assert_array_equal(np.signbit(turned), np.signbit(fresh.rows("value", -x)))
    np.testing.assert_array_equal(plain, turned)


def test_a_diverging_run():
    f = function(CAGE, ["cage.stiffness"], ["loss"])
    good, bad = np.array([[100.0]]), np.array([[1e9]])
    one = np.ones((1, 1))
    expected = f.rows("value", good), f.rows("vjp", good, one)
    for _ in range(3):
        assert np.isnan(f.rows("value", bad)).all() and np.isnan(f.rows("vjp", bad, one)).all()
        assert np.isnan(f.rows("value", bad)).all()
        np.testing.assert_array_equal(f.rows("value", good), expected[0])
        np.testing.assert_array_equal(f.rows("vjp", good, one), expected[1])
