"""hindcast.torch against the same springs written in PyTorch: every composition of transformations.

Where PyTorch comes from: tests/run --full (app/build.sh).
"""

import gc
import json
import pathlib
import warnings

import numpy as np
import pytest

torch = pytest.importorskip("torch", reason="PyTorch is not installed; tests/run --full has it")

import hindcast as hc
import hindcast.torch
import torch.autograd.forward_ad as forward_ad
from torch.func import grad, hessian, jacfwd, jacrev, jvp, linearize, vjp, vmap

SCENES = pathlib.Path(__file__).resolve().parents[3] / "scenes"
CAGE = SCENES / "spring_cage.json"
INPUTS = ["cage.rest_length", "cage.stiffness", "ball.velocity"]
# PyTorch speaks of its own parts that are to be replaced.
pytestmark = pytest.mark.filterwarnings("ignore")

_scene = json.loads(CAGE.read_text())
ANCHORS = torch.tensor(_scene["bodies"][1]["positions"], dtype=torch.float64)
TARGET = torch.tensor(_scene["objective"][0]["target"], dtype=torch.float64)
STEP, STEPS = 1 / 30, 30


def trajectory(rest, stiffness, velocity, steps=STEPS):
    """A ball of 1 kg on eight damped springs, by the symplectic Euler rule."""
    gravity = torch.tensor([0, 0, -9.81], dtype=rest.dtype)
    anchors = ANCHORS.to(rest.dtype)
    x, v = torch.zeros(3, dtype=rest.dtype), velocity
    positions = [x]
    for _ in range(steps):
        d = anchors - x
        length = (d * d).sum(1).sqrt()
        along = d / length[:, None]
        rate = -(along * v).sum(1)
        pull = stiffness * (length - rest) + 10.0 * rate
        v = v + STEP * ((pull[:, None] * along).sum(0) + gravity)
        x = x + STEP * v
        positions.append(x)
    return torch.stack(positions), v


def reference(rest, stiffness, velocity, steps=STEPS):
    x = trajectory(rest, stiffness, velocity, steps)[0][-1]
    return ((x - TARGET.to(x.dtype)) ** 2).sum()


@pytest.fixture(scope="module")
def loss():
    return hc.torch.simulation(CAGE, inputs=INPUTS, precision="f64")


@pytest.fixture(scope="module")
def point(loss):
    rest, stiffness, velocity = loss.initial()
    return rest * 1.05, stiffness * 0.9, velocity + torch.tensor([0.3, -0.2, 0.5]).double()


def leaves(tree):
    if isinstance(tree, torch.Tensor):
        return [tree]
    return [leaf for part in (tree.values() if isinstance(tree, dict) else tree) for leaf in leaves(part)]


def close(a, b, tolerance=1e-12):
    a, b = leaves(a), leaves(b)
    assert len(a) == len(b)
    for x, y in zip(a, b):
        assert x.shape == y.shape and x.dtype == y.dtype
        assert float((x - y).norm()) <= tolerance * max(float(y.norm()), 1e-300)


ALL = (0, 1, 2)
DIRECTION = (
    torch.linspace(-1, 1, 8, dtype=torch.float64),
    torch.tensor(2.0, dtype=torch.float64),
    torch.tensor([0.3, -1.0, 0.7], dtype=torch.float64),
)


def dot(a, b):
    return sum((x * y).sum() for x, y in zip(a, b))


def required(p):
    return [x.clone().requires_grad_() for x in p]


def backward(f, p):
    p = required(p)
    f(*p).backward()
    return [x.grad for x in p]


def double_backward(f, p):
    p = required(p)
    first = torch.autograd.grad(f(*p), p, create_graph=True)
    return torch.autograd.grad(dot(first, DIRECTION), p)


def dual_numbers(f, p):
    with forward_ad.dual_level():
        dual = f(*(forward_ad.make_dual(x, t) for x, t in zip(p, DIRECTION)))
        return tuple(forward_ad.unpack_dual(dual))


def forward_over_backward(f, p):
    p = required(p)
    with forward_ad.dual_level():
        first = torch.autograd.grad(
            f(*(forward_ad.make_dual(x, t) for x, t in zip(p, DIRECTION))), p, create_graph=True
        )
        return [forward_ad.unpack_dual(g).tangent for g in first]


def stack(x):
    return torch.stack([x, x * 1.1])


COMPOSITIONS = {
    "value": lambda f, p: f(*p),
    "backward": backward,
    "double backward, second order": double_backward,
    "forward_ad": dual_numbers,
    "forward_ad over backward, second order": forward_over_backward,
    "grad": lambda f, p: grad(f, ALL)(*p),
    "vjp": lambda f, p: vjp(f, *p)[1](torch.tensor(2.5, dtype=torch.float64)),
    "jvp": lambda f, p: jvp(f, p, DIRECTION),
    "linearize": lambda f, p: linearize(f, *p)[1](*DIRECTION),
    "jacfwd": lambda f, p: jacfwd(f, ALL)(*p),
    "jacrev": lambda f, p: jacrev(f, ALL)(*p),
    "hessian, second order": lambda f, p: hessian(f, ALL)(*p),
    "jacfwd of jacfwd, second order": lambda f, p: jacfwd(jacfwd(f, ALL), ALL)(*p),
    "jacfwd of jacrev, second order": lambda f, p: jacfwd(jacrev(f, ALL), ALL)(*p),
    "jacrev of jacfwd, second order": lambda f, p: jacrev(jacfwd(f, ALL), ALL)(*p),
    "jacrev of jacrev, second order": lambda f, p: jacrev(jacrev(f, ALL), ALL)(*p),
    "jvp of grad, second order": lambda f, p: jvp(grad(f, ALL), p, DIRECTION)[1],
    "grad of grad, second order": lambda f, p: grad(
        lambda *q: dot(grad(f, ALL)(*q), DIRECTION), ALL
    )(*p),
    "grad of jvp, second order": lambda f, p: grad(lambda *q: jvp(f, q, DIRECTION)[1], ALL)(*p),
    "jvp of jvp, second order": lambda f, p: jvp(
        lambda *q: jvp(f, q, DIRECTION)[1], p, DIRECTION
    )[1],
    "vmap": lambda f, p: vmap(f, (0, None, None))(stack(p[0]), *p[1:]),
    "vmap of an inner axis": lambda f, p: vmap(f, (1, None, None))(stack(p[0]).T, *p[1:]),
    "vmap of vmap": lambda f, p: vmap(vmap(f, (None, 0, None)), (0, None, None))(
        stack(p[0]), torch.tensor([80.0, 90, 100]).double(), p[2]
    ),
    "vmap of grad": lambda f, p: vmap(grad(f, ALL), (None, 0, None))(
        p[0], torch.tensor([80.0, 90, 100]).double(), p[2]
    ),
    "vmap of hessian, second order": lambda f, p: vmap(hessian(f), (0, None, None))(
        stack(p[0]), *p[1:]
    ),
    "vmap of jvp by tangents": lambda f, p: vmap(
        lambda t: jvp(lambda r: f(r, *p[1:]), (p[0],), (t,))[1]
    )(torch.eye(8, dtype=torch.float64)),
    "grad of vmap": lambda f, p: grad(
        lambda r: (vmap(f, (0, None, None))(r, *p[1:]) ** 2).sum()
    )(stack(p[0])),
    "grad of a loop": lambda f, p: grad(
        lambda r: f(r * (1 + 0.1 * f(r, *p[1:])), *p[1:])
    )(p[0]),
    "grad through other work": lambda f, p: grad(
        lambda a: f(p[0] * torch.sin(a), p[1] * a, p[2]) ** 2
    )(torch.tensor(1.1, dtype=torch.float64)),
    "checkpoint": lambda f, p: backward(
        lambda *q: torch.utils.checkpoint.checkpoint(f, *q, use_reentrant=False), p
    ),
}


@pytest.mark.parametrize("name", COMPOSITIONS)
def test_composition(loss, point, name):
    # The Hessian of a sum of squares of numbers near 1 has entries of 1e-2: rounding counts there.
    tolerance = 1e-11 if "second order" in name else 1e-12
    close(COMPOSITIONS[name](loss, point), COMPOSITIONS[name](reference, point), tolerance)


@pytest.mark.parametrize("backend", ["eager", "aot_eager"])
@pytest.mark.parametrize(
    "name", ["value", "backward", "grad", "jvp", "vmap", "vmap of vmap", "hessian, second order"]
)
def test_compiled(loss, point, backend, name):
    torch._dynamo.reset()
    around = lambda f: lambda r, s, v: 2 * f(torch.sin(r), s * s / 100, v)
    work = COMPOSITIONS[name]
    if name == "backward":
        compiled = backward(torch.compile(around(loss), backend=backend, fullgraph=True), point)
    else:
        compiled = torch.compile(
            lambda *p: work(around(loss), p), backend=backend, fullgraph=True
        )(*point)
    tolerance = 1e-11 if "second order" in name else 1e-12
    close(compiled, work(around(reference), point), tolerance)


def test_compiled_once_for_several_simulations(loss, point):
    torch._dynamo.reset()
    other = hc.torch.simulation(CAGE, inputs=INPUTS, precision="f64", steps=10)
    compiled = torch.compile(lambda f, *p: f(*p) + 1, backend="aot_eager", fullgraph=True)
    for f in (loss, other, loss):
        assert compiled(f, *point) == f(*point) + 1


def test_gradcheck(loss, point):
    scaled = lambda r, s, v: loss(r, 100 * s, v)
    p = required((point[0], point[1] / 100, point[2]))
    # A batch of them is asked for by PyTorch's old vmap, which takes no functions of others.
    assert torch.autograd.gradcheck(
        scaled, p, check_forward_ad=True, check_batched_grad=False, eps=1e-6
    )
    assert torch.autograd.gradgradcheck(
        scaled, p, check_fwd_over_rev=True, check_rev_over_rev=True, atol=1e-4
    )


def test_the_gradient_has_the_bits_of_the_simulation(loss, point):
    sim = hc.load(CAGE, precision="f64")
    for path, value in zip(INPUTS, point):
        sim[path] = value.numpy()
    value, gradient = sim.value_and_grad(INPUTS)
    assert float(loss(*point)) == value
    for path, ours in zip(INPUTS, backward(loss, point)):
        assert np.array_equal(gradient[path], ours.numpy())


def test_a_batch_is_one_call_with_the_bits_of_its_members(loss, point):
    calls = []

    def watched(kind, *operands):
        calls.append((kind, len(operands[0])))
        return run(kind, *operands)

    rests = torch.stack([point[0] * (1 + 0.01 * k) for k in range(33)])
    run, loss._held.run = loss._held.run, watched
    try:
        values = vmap(loss, (0, None, None))(rests, *point[1:])
        gradients = vmap(grad(loss), (0, None, None))(rests, *point[1:])
    finally:
        loss._held.run = run
    assert calls == [("value", 33), ("value", 33), ("vjp", 33)]
    for k in (0, 7, 32):
        assert values[k] == loss(rests[k], *point[1:])
        assert torch.equal(gradients[k], grad(loss)(rests[k], *point[1:]))


def test_outputs_are_the_states(point):
    names = ["loss", "final:velocity", "state:position"]
    steps, ball = 10, 0
    f = hc.torch.simulation(CAGE, inputs=INPUTS, outputs=names, precision="f64", steps=steps)

    def ours(*p):
        y = f(*p)
        return y["loss"], y["final:velocity"][ball], y["state:position"][:, ball]

    def theirs(*p):
        positions, velocity = trajectory(*p, steps)
        return reference(*p, steps), velocity, positions

    y = f(*point)
    assert list(y) == names
    assert y["loss"].shape == () and y["state:position"].shape == (steps + 1, 9, 3)
    close(ours(*point), theirs(*point))
    close(jacfwd(ours, ALL)(*point), jacfwd(theirs, ALL)(*point))
    close(jacrev(ours, ALL)(*point), jacrev(theirs, ALL)(*point))

    def weighed(g):
        def sum_of(*p):
            loss, velocity, positions = g(*p)
            return loss * (velocity**2).sum() + (positions**3).sum()

        return sum_of

    close(hessian(weighed(ours), ALL)(*point), hessian(weighed(theirs), ALL)(*point), 1e-11)


def test_one_output_is_a_tensor(point):
    f = hc.torch.simulation(CAGE, inputs=INPUTS, outputs=["final:position"], precision="f64")
    close(f(*point)[0], trajectory(*point)[0][-1])


def test_dict_of_inputs(loss, point):
    tree = dict(zip(INPUTS, point))
    close(grad(loss)(tree), dict(zip(INPUTS, grad(reference, ALL)(*point))))
    with pytest.raises(TypeError, match="the inputs are cage.rest_length"):
        loss({"cage.rest_length": point[0]})


def test_numbers_and_arrays_are_taken(loss, point):
    close(loss(point[0].numpy(), float(point[1]), point[2].tolist()), loss(*point), 0)


def test_third_derivatives_are_an_error(loss, point):
    with pytest.raises(NotImplementedError, match="third derivatives"):
        jacfwd(hessian(loss))(*point)
    with pytest.raises(NotImplementedError, match="third derivatives"):
        jacrev(jacrev(jacrev(loss)))(*point)
    rest = point[0].clone().requires_grad_()
    (first,) = torch.autograd.grad(loss(rest, *point[1:]), rest, create_graph=True)
    (second,) = torch.autograd.grad(first.sum(), rest, create_graph=True)
    with pytest.raises(NotImplementedError, match="third derivatives"):
        second.sum().backward()


def test_what_is_linear_in_a_second_derivative_has_its_own(loss, point):
    """A Hessian product can be differentiated by its direction, although x needs a gradient, too."""

    def by_direction(f):
        rest = point[0].clone().requires_grad_()
        direction = DIRECTION[0].clone().requires_grad_()
        (first,) = torch.autograd.grad(f(rest, *point[1:]), rest, create_graph=True)
        (second,) = torch.autograd.grad((first * direction).sum(), rest, create_graph=True)
        return torch.autograd.grad((second * direction).sum(), direction)[0]

    close(by_direction(loss), by_direction(reference), 1e-11)


def test_single_precision(point):
    f = hc.torch.simulation(CAGE, inputs=INPUTS)
    single = [x.float() for x in point]
    gradient = grad(f)(*single)
    assert f(*single).dtype == gradient.dtype == torch.float32
    close(gradient.double(), grad(reference)(*point), 1e-4)
    assert all(x.dtype == torch.float32 for x in f.initial())


def test_what_is_refused(loss, point):
    make = lambda **k: hc.torch.simulation(**{"scene": CAGE, "inputs": INPUTS, **k})
    with pytest.raises(hc.Error, match="final:color"):
        make(outputs=["final:color"])
    with pytest.raises(ValueError, match="neither 'f32' nor 'f64'"):
        make(precision="f16")
    with pytest.raises(TypeError, match="a list of paths"):
        make(inputs="cage.stiffness")
    with pytest.raises(TypeError, match="a list of names"):
        make(outputs="loss")
    with pytest.raises(TypeError, match="scene: a file, or its text or dict"):
        make(scene=3)
    with pytest.raises(hc.Error, match="cage.color"):
        make(inputs=["cage.color"])
    with pytest.raises(ValueError, match=r"the shape is \(7,\), but the scene's value has \(8,\)"):
        loss(point[0][:7], *point[1:])
    with pytest.raises(ValueError, match="2 values are given"):
        loss(*point[:2])
    with pytest.raises(TypeError, match=r"cage.stiffness: the tensor holds torch.float32, .*x.to\("):
        loss(point[0], point[1].float(), point[2])
    with pytest.raises(TypeError, match="holds torch.complex128"):
        loss(point[0] * 1j, *point[1:])
    with pytest.raises(TypeError, match=r"ball.velocity: the tensor is on 'meta'.*x.cpu\(\)"):
        loss(point[0], point[1], point[2].to("meta"))


def test_training_converges(loss):
    """Newton's method by torch.func and a gradient descent find the scene's optimum."""
    rest, stiffness, velocity = loss.initial()
    rest = torch.nn.Parameter(rest.clone())
    optimizer = torch.optim.Adam([rest], 0.05)
    for _ in range(60):
        optimizer.zero_grad()
        value = loss(rest, stiffness, velocity)
        value.backward()
        optimizer.step()
    assert value < 1e-3 * loss(*loss.initial())


def test_dropped_functions_are_gone(point):
    gc.collect()
    before = hc._core._scene_functions()
    f = hc.torch.simulation(CAGE, inputs=INPUTS, precision="f64")
    rest = point[0].clone().requires_grad_()
    value = f(rest, *point[1:])
    del f
    gc.collect()
    value.backward()  # the graph keeps it
    close(rest.grad, grad(reference)(*point))
    del value
    gc.collect()
    assert hc._core._scene_functions() == before


# ---- arrays ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64, torch.int32, torch.int64])
def test_arrays_share_the_memory_of_tensors(dtype):
    x = torch.arange(12).reshape(4, 3).to(dtype)
    a = hc.array(x)
    assert a.shape == (4, 3) and a.numpy().ctypes.data == x.data_ptr()
    x[1, 2] = 50
    assert a.numpy()[1, 2] == 50
    a.numpy()[3, 0] = 60
    assert x[3, 0] == 60


def test_strided_tensors_are_taken_as_they_are():
    x = torch.arange(24, dtype=torch.float64).reshape(4, 6)
    a = hc.array(x.T[::2])
    assert a.shape == (3, 4) and np.array_equal(a.numpy(), x.numpy().T[::2])
    assert a.numpy().ctypes.data == x.data_ptr()


def test_tensors_share_the_memory_of_arrays():
    a = hc.zeros(4, hc.vec3)
    x = torch.from_dlpack(a)
    assert x.shape == (4, 3) and x.data_ptr() == a.numpy().ctypes.data
    x[2] = 7
    assert a.numpy()[2].tolist() == [7, 7, 7]
    del a
    gc.collect()
    assert x[2, 0] == 7  # the memory lives with the tensor


def test_launches_run_over_tensors():
    @hc.kernel
    def scale(i: hc.Int, x: hc.Read[hc.real], k: hc.Param[hc.real], y: hc.Write[hc.real]):
        y[i] = k * x[i] * x[i]

    x, y = torch.tensor([1.0, 2, 3]), torch.zeros(3)
    launch = hc.record(scale, dim=3, x=x, k=2.0, y=y)
    launch.forward()
    assert y.tolist() == [2, 8, 18]


def test_tensors_that_need_a_gradient_are_refused():
    x = torch.ones(3, requires_grad=True)
    with pytest.raises(Exception, match="detach"):
        hc.array(x)


# ---- memory ----------------------------------------------------------------------------------------------


def test_calls_and_dropped_functions_leave_memory_as_it_was():
    from test_memory import BALL, MIB, PATHS, growth

    functions = hc._core._scene_functions()
    make = lambda: hc.torch.simulation(BALL, inputs=PATHS, precision="f64")
    loss = make()
    velocity = torch.zeros(3, dtype=torch.float64, requires_grad=True)

    def once():
        velocity.grad = None
        loss(velocity).backward()

    assert growth(once, 10_000, 1_000) < 2 * MIB
    assert growth(lambda: make()(velocity).backward(), 500, 100) < 2 * MIB
    second = lambda: hessian(loss)(velocity.detach())
    assert growth(second, 500, 100) < 2 * MIB
    del loss, once, second
    gc.collect()
    assert hc._core._scene_functions() == functions
