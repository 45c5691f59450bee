"""The library's kernels by name: each against its formula in NumPy, and its derivatives."""

import hindcast as hc
import numpy as np
import pytest
from built_in_cases import CASES, GRID
from kernel_checks import check, forward


@pytest.mark.parametrize("which", CASES)
def test_formula(which):
    name, options, f = CASES[which]
    kernel = hc.built_in(name, **options)
    dim, given, expected, _ = f(np.random.default_rng(5), **options)
    assert sorted(kernel.parameters) == sorted(given.keys() - {"precision"})
    found = forward(kernel, dim, list(expected), **given)
    if len(expected) == 1:
        found = {next(iter(expected)): found}
    for output, value in expected.items():
        np.testing.assert_allclose(found[output], value, rtol=1e-12, atol=1e-13, err_msg=output)


def derivatives_on_tape(kernel, dim, output, inputs, **arguments):
    """For a kernel that overwrites what its adjoint may need: the tape keeps it. Along the gradient's
    own direction, one input at a time."""
    seed = np.random.default_rng(1).standard_normal(arguments[output].shape)
    given = {k: hc.array(v.copy()) if isinstance(v, np.ndarray) else v
             for k, v in arguments.items()}
    launch = hc.record(kernel, dim, **given)
    with hc.Tape() as tape:
        launch.forward()
    launch[output].grad.numpy()[...] = seed
    tape.backward()
    for name in inputs:
        gradient = launch[name].grad.numpy().copy()
        direction = gradient / np.linalg.norm(gradient)
        ends = [forward(kernel, dim, [output],
                        **(arguments | {name: arguments[name] + s * 1e-5 * direction}))
                for s in (1, -1)]
        slope = np.sum(seed * (ends[0] - ends[1])) / 2e-5
        assert slope == pytest.approx(np.linalg.norm(gradient), rel=1e-7)


@pytest.mark.parametrize("which", [w for w, (_, o, f) in CASES.items()
                                   if f(np.random.default_rng(5), **o)[3]])
def test_derivatives(which):
    name, options, f = CASES[which]
    dim, given, expected, inputs = f(np.random.default_rng(5), **options)
    for output in expected:
        used = [n for n in inputs if (output, n) not in NO_INFLUENCE]
        kernel = hc.built_in(name, **options)
        kind = derivatives_on_tape if "ReadWrite" in kernel.signature else check
        kind(kernel, dim, output, used, **given)


NO_INFLUENCE = {("total", "x")}


def test_every_kernel_is_tested_and_described():
    references = hc.built_in_kernels()
    assert {name for name, _, _ in CASES.values()} == set(references)
    for name, options, _ in CASES.values():
        kernel = hc.built_in(name, **options)
        assert kernel.documentation == references[name]
        assert kernel.name.startswith(name)
        told = references[name].split("\n  parameters")[1].splitlines()
        for parameter in kernel.parameters:
            assert f"    {parameter}" in told
        for option in options:
            assert f"    {option}  (" in references[name]


def test_the_signature():
    assert hc.built_in("spring_force", dimension=2).signature == (
        "spring_force(ends: Read[ivec2], rest_length: Property[real], stiffness: Property[real], "
        "x: Read[vec2], force: Accumulate[vec2])")
    assert hc.built_in("particle_to_grid", **GRID).signature.endswith("grid: Sum[vec3])")

    @hc.kernel
    def scale(i: hc.Int, m: hc.Read[hc.mat3], n: hc.Param[hc.i32], y: hc.Write[hc.f32]):
        """A text.

            with more"""
        y[i] = m[i][0, 0] * hc.real(n)

    assert scale.signature == "scale(m: Read[mat3], n: Param[i32], y: Write[f32])"
    assert scale.documentation == "A text.\n\nwith more"


@pytest.mark.parametrize("name, options, words", [
    ("spring_forces", {}, "did you mean 'spring_force'"),
    ("spring_force", {"dimensions": 3}, "did you mean 'dimension'"),
    ("spring_force", {"dimension": 4}, "3"),
    ("spring_force", {"damped": 1}, "true or false"),
    ("spring_force", {"acts": "pulls"}, "did you mean 'pull'"),
    ("spring_force", {"type": "x"}, "no option 'type'"),
    ("spring_force", {"length_offset": -1}, "0"),
    ("spring_force", {"length_offset": {1}}, "set has no form in JSON"),
    ("wave_level", {"rows": 4}, "needs the option 'columns'"),
    ("position_update_impacts", {"surfaces": []}, "at least 1 item"),
    ("position_update_impacts", {"surfaces": ["plan"]}, "did you mean 'plane'"),
    ("drag_force", {"linear": False, "quadratic": False}, "no coefficient"),
])
def test_errors(name, options, words):
    with pytest.raises(hc.ArgumentError, match=words):
        hc.built_in(name, **options)


def test_a_name_is_a_text():
    with pytest.raises(hc.ArgumentError, match="name: .* int"):
        hc.built_in(3)


def test_under_jax():
    jax = pytest.importorskip("jax")
    jnp = jax.numpy
    jax.config.update("jax_enable_x64", True)
    ends = jnp.array([[0, 1], [1, 2]], jnp.int32)
    force = hc.jax.kernel(hc.built_in("spring_force", dimension=2), dim="ends",
                          outputs={"force": hc.jax.zeros(shape=(3, 2))})

    def ours(x, k):
        return jnp.sum(jnp.sin(force(ends=ends, rest_length=jnp.ones(2), stiffness=k, x=x)))

    def theirs(x, k):
        d = x[ends[:, 1]] - x[ends[:, 0]]
        f = (k * (1 - 1 / jnp.linalg.norm(d, axis=1)))[:, None] * d
        return jnp.sum(jnp.sin(jnp.zeros((3, 2)).at[ends[:, 0]].add(f).at[ends[:, 1]].add(-f)))

    x, k = jnp.array([[0.0, 0], [2, 1], [3, -1]]), jnp.array([2.0, 3])
    for a, b in zip(jax.grad(ours, (0, 1))(x, k), jax.grad(theirs, (0, 1))(x, k)):
        np.testing.assert_allclose(a, b, rtol=1e-12, atol=1e-13)
