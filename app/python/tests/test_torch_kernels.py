"""hindcast.torch.kernel against the same functions written in PyTorch, and against differences."""

import copy
import gc
import pickle

import numpy as np
import pytest

torch = pytest.importorskip("torch", reason="PyTorch is not installed; tests/run --full has it")

import hindcast as hc
import hindcast.torch
from rod_kernels import kick, move, pull
from torch.func import functional_call, grad, hessian, jacfwd, jacrev, jvp, vjp, vmap

pytestmark = pytest.mark.filterwarnings("ignore")

f64 = lambda *numbers: torch.tensor(numbers, dtype=torch.float64)


@hc.kernel
def mix(i: hc.Int, x: hc.Read[hc.real], j: hc.Read[hc.i32], k: hc.Param[hc.real],
        w: hc.Property[hc.real], n: hc.Param[hc.i32], y: hc.Write[hc.real],
        z: hc.Accumulate[hc.real], e: hc.Reduce[hc.real], count: hc.Atomic[hc.i32]):
    y[i] = hc.sin(x[i]) * k + x[j[i]] * x[i] * w[i]
    z[j[i]] += x[i] * x[i] * x[i] * k * hc.real(n)
    e += hc.exp(x[i] * k) * w[i]
    count[j[i]].add(n)


J = torch.tensor([2, 0, 2, 1, 4], dtype=torch.int32)
N = 3
X, K, W = f64(0.3, -1.2, 0.7, 2.1, -0.4), torch.tensor(0.8).double(), f64(1.0, -0.5, 2.0, 0.3, 0.9)
POINT = X, K, W

_mix = hc.torch.kernel(
    mix,
    dim="x",
    outputs={
        "y": hc.written(),
        "z": hc.torch.zeros(shape=lambda x: x),
        "e": None,
        "count": hc.torch.zeros(shape=5),
    },
)


def mixed(x, k, w):
    found = _mix(x=x, j=J, k=k, w=w, n=N)
    return found["y"], found["z"], found["e"]


def mixed_of_torch(x, k, w):
    at = J.long()
    return (
        torch.sin(x) * k + x[at] * x * w,
        torch.zeros_like(x).index_add(0, at, x**3 * k * N),
        (torch.exp(x * k) * w).sum(),
    )


# ---- a rod of points on springs, several launches on arrays that they change ----------------------------

ENDS = torch.tensor([[0, 1], [1, 2], [2, 3], [0, 2]], dtype=torch.int32)
ROD = (
    f64([0.0, 0, 0], [1.1, 0.2, 0], [2.0, -0.1, 0.3], [3.2, 0, 0.1]),
    f64([0.1, 0, 0.2], [0, 0.3, 0], [-0.2, 0, 0.1], [0, 0.1, -0.3]),
    f64(1.0, 0.9, 1.1, 2.0),
)
_step = [hc.call(pull, dim="ends"), hc.call(kick, dim=4), hc.call(move, dim=4)]
_rod = hc.torch.callable(
    _step * 2,
    inputs=["x", "v", "rest", "stiffness", "ends", "h"],
    outputs={"x": hc.copy_of("x"), "v": hc.in_out("v")},
    temporaries={"force": lambda x: x},
)


def rod(x, v, rest):
    found = _rod(x, v, rest, 3.0, ENDS, 0.1)
    return found["x"], found["v"]


def rod_of_torch(x, v, rest):
    for _ in range(2):
        a, b = ENDS[:, 0].long(), ENDS[:, 1].long()
        d = x[b] - x[a]
        length = (d * d).sum(1).sqrt()
        f = d / length[:, None] * (3.0 * (length - rest))[:, None]
        force = torch.zeros_like(x).index_add(0, a, f).index_add(0, b, -f)
        v = v * (1.0 - 0.1 * (v * v).sum(1))[:, None] + force * 0.1
        x = x + v * 0.1
    return x, v


PROBLEMS = {"mix": (mixed, mixed_of_torch, POINT), "rod": (rod, rod_of_torch, ROD)}
problems = pytest.mark.parametrize("name", PROBLEMS)


def leaves(tree):
    if isinstance(tree, torch.Tensor):
        return [tree]
    return [leaf for part in tree for leaf in leaves(part)]


def close(a, b, tolerance=1e-12):
    a, b = leaves(a), leaves(b)
    assert len(a) == len(b)
    size = sum(float((y * y).sum()) for y in b) ** 0.5
    for x, y in zip(a, b):
        assert x.shape == y.shape and x.dtype == y.dtype
        assert float((x - y).detach().norm()) <= tolerance * size


def scalar(f):
    return lambda *p: sum((torch.sin(r) * r).sum() for r in f(*p))


def directions(point):
    return tuple(torch.cos(torch.arange(p.numel()).double() + 1).reshape(p.shape) for p in point)


def stacked(point):
    return tuple(torch.stack([p, p * 1.1, p * 0.9]) for p in point)


ALL = (0, 1, 2)
COMPOSITIONS = {
    "value": lambda f, p: f(*p),
    "grad": lambda f, p: grad(scalar(f), ALL)(*p),
    "jvp": lambda f, p: jvp(f, p, directions(p)),
    "jvp of one": lambda f, p: jvp(lambda x: f(x, *p[1:]), p[:1], directions(p)[:1]),
    "vjp": lambda f, p: vjp(f, *p)[1](tuple(torch.cos(r) for r in f(*p))),
    "jacfwd": lambda f, p: jacfwd(f, ALL)(*p),
    "jacrev": lambda f, p: jacrev(f, ALL)(*p),
    "hessian": lambda f, p: hessian(scalar(f), ALL)(*p),
    "jacrev of jacrev": lambda f, p: jacrev(jacrev(scalar(f), ALL), ALL)(*p),
    "jacrev of jacfwd": lambda f, p: jacrev(jacfwd(scalar(f), ALL), ALL)(*p),
    "jacfwd of jacfwd": lambda f, p: jacfwd(jacfwd(scalar(f), ALL), ALL)(*p),
    "forward over reverse": lambda f, p: jvp(grad(scalar(f), ALL), p, directions(p))[1],
    "vmap": lambda f, p: vmap(f)(*stacked(p)),
    "vmap of one": lambda f, p: vmap(f, (0, None, None))(stacked(p)[0], *p[1:]),
    "vmap of vmap": lambda f, p: vmap(vmap(f, (None, 0, None)), (0, None, None))(
        stacked(p)[0], stacked(p)[1], p[2]
    ),
    "vmap of grad": lambda f, p: vmap(grad(scalar(f), ALL))(*stacked(p)),
    "vmap of hessian": lambda f, p: vmap(hessian(scalar(f)), (0, None, None))(stacked(p)[0], *p[1:]),
    "grad of vmap": lambda f, p: grad(
        lambda k: scalar(lambda *q: vmap(f, (0, None, None))(*q))(stacked(p)[0], k, p[2])
    )(p[1]),
}


@pytest.mark.parametrize("composition", COMPOSITIONS)
@problems
def test_composition(name, composition):
    f, plain, point = PROBLEMS[name]
    compose = COMPOSITIONS[composition]
    close(compose(f, point), compose(plain, point), 1e-11)


@problems
def test_gradcheck(name):
    f, _, point = PROBLEMS[name]
    point = [p.clone().requires_grad_() for p in point]
    assert torch.autograd.gradcheck(f, point, check_forward_ad=True)
    assert torch.autograd.gradgradcheck(f, point, check_fwd_over_rev=True)


def test_backward_through_other_work_and_outputs_that_are_not_used():
    def losses(f):
        x, k = X.clone().requires_grad_(), K.clone().requires_grad_()
        y, z, _ = f(torch.sin(x), k * 2, W)
        (y.sum() * k + z[2]).backward()
        return x.grad, k.grad

    close(losses(mixed), losses(mixed_of_torch))


def test_integers_have_no_derivative():
    x = X.clone().requires_grad_()
    found = _mix(x=x, j=J, k=K, w=W, n=N)
    assert found["count"].dtype == torch.int32 and not found["count"].requires_grad
    assert found["count"].tolist() == [3, 3, 6, 0, 3] and found["y"].requires_grad
    with torch.no_grad():
        assert not _mix(x=x, j=J, k=K, w=W, n=N)["y"].requires_grad


def test_single_precision_numbers_lists_and_numpy():
    @hc.kernel
    def scale(i: hc.Int, x: hc.Read[hc.real], k: hc.Param[hc.real], y: hc.Write[hc.real]):
        y[i] = x[i] * k

    f = hc.torch.kernel(scale, dim="x", outputs={"y": hc.written()})
    y = f(x=torch.tensor([1.0, 2.0]), k=2)
    assert y.dtype == torch.float32 and y.tolist() == [2, 4]
    assert f([1, 2], 0.5).dtype == torch.get_default_dtype()
    assert f(np.array([1.0, 2.0]), 0.5).dtype == torch.float64
    assert hc.torch.kernel(scale, dim="x", outputs={"y": None}, precision="f64")([1.0], 3).tolist() == [3]


def test_inputs_stay_as_they_are():
    x, v = ROD[0].clone(), ROD[1].clone()
    _rod(x, v, ROD[2], 3.0, ENDS, 0.1)
    assert torch.equal(x, ROD[0]) and torch.equal(v, ROD[1])


def test_strides_and_views():
    wide = torch.stack([X, X * 2], 1)
    close(mixed(wide[:, 0], K, W.flip(0)), mixed_of_torch(wide[:, 0], K, W.flip(0)))


def test_third_derivatives_are_an_error():
    with pytest.raises(NotImplementedError, match="third derivatives of a kernel"):
        jacrev(hessian(scalar(mixed)))(*POINT)


def test_a_module_of_parameters():
    class Rod(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.rest = torch.nn.Parameter(ROD[2].clone())

        def forward(self, x):
            return scalar(rod)(x, ROD[1], self.rest)

    module = Rod()
    optimizer = torch.optim.SGD(module.parameters(), lr=1e-2)
    losses = []
    for _ in range(5):
        optimizer.zero_grad()
        loss = module(ROD[0])
        loss.backward()
        optimizer.step()
        losses.append(float(loss.detach()))
    assert losses == sorted(losses, reverse=True)
    parameters = {"rest": ROD[2]}
    close(
        grad(lambda p: functional_call(module, p, (ROD[0],)))(parameters)["rest"],
        grad(scalar(rod_of_torch), 2)(*ROD),
    )


def test_compiled():
    f = torch.compile(lambda x: scalar(mixed)(torch.sin(x), K, W) * 2, backend="aot_eager")
    x, y = X.clone().requires_grad_(), X.clone().requires_grad_()
    a, b = f(x), scalar(mixed_of_torch)(torch.sin(y), K, W) * 2
    a.backward(), b.backward()
    close((a, x.grad), (b, y.grad))


def test_pickled_and_copied():
    for other in (pickle.loads(pickle.dumps(_step)), copy.deepcopy(_step)):
        again = hc.torch.callable(
            other * 2, inputs=["x", "v", "rest", "stiffness", "ends", "h"],
            outputs={"x": hc.copy_of("x"), "v": hc.copy_of("v")}, temporaries={"force": (4, 3)},
        )  # fmt: skip
        again = pickle.loads(pickle.dumps(again))
        assert torch.equal(again(*ROD, 3.0, ENDS, 0.1)["x"], rod(*ROD)[0])


def test_what_is_refused():
    with pytest.raises(hc.ArgumentError, match="k: it holds float64, but 'x' holds float32"):
        _mix(x=X.float(), j=J, k=K, w=W, n=N)
    with pytest.raises(hc.ArgumentError, match=r"j: it holds int64, .* takes i32; convert it: j.to\(torch.int32"):
        _mix(x=X, j=J.long(), k=K, w=W, n=N)
    with pytest.raises(hc.ArgumentError, match="x: it holds int32, where .* takes reals"):
        _mix(x=J, j=J, k=K, w=W, n=N)
    with pytest.raises(hc.ArgumentError, match="x: it holds torch.float16"):
        _mix(x=X.half(), j=J, k=K, w=W, n=N)
    with pytest.raises(hc.ArgumentError, match="the tensor is on 'meta', and kernels take tensors on the host"):
        _mix(x=X.to("meta"), j=J, k=K, w=W, n=N)
    with pytest.raises(hc.ArgumentError, match="'w' is not given"):
        _mix(x=X, j=J, k=K, n=N)
    with pytest.raises(hc.ArgumentError, match="hc.torch.zeros"):
        hc.torch.kernel(mix, dim="x", outputs={"z": hc.torch.zeros(), "y": None, "e": None, "count": None})(
            x=X, j=J, k=K, w=W, n=N
        )
    checked = hc.torch.kernel(
        mix, dim="x", outputs={"y": None, "z": np.zeros(5), "e": None, "count": np.zeros(5, int)},
        device=hc.device("cpu", checked=True),
    )  # fmt: skip
    with pytest.raises(hc.Error, match="index 7 is out of range"):
        checked(x=X, j=torch.tensor([0, 1, 7, 0, 0], dtype=torch.int32), k=K, w=W, n=N)


def test_functions_go_with_their_last_graph():
    gc.collect()
    before = hc._core._kernel_functions()[1]
    f = hc.torch.kernel(mix, dim="x", outputs={"y": None, "z": np.zeros(5), "e": None, "count": np.zeros(5, int)})
    x = X.clone().requires_grad_()
    loss = f(x=x, j=J, k=K, w=W, n=N)["y"].sum()
    del f
    loss.backward()
    del loss
    gc.collect()
    assert hc._core._kernel_functions()[1] == before
    close(x.grad, grad(lambda x: mixed_of_torch(x, K, W)[0].sum())(X))


def test_values_that_a_scene_refuses():
    from test_torch import CAGE

    f = hc.torch.simulation(CAGE, inputs=["cage.stiffness"], precision="f64")
    sim = hc.load(CAGE)
    with pytest.raises(ValueError, match="cage.stiffness cannot be -3") as refused:
        sim["cage.stiffness"] = -3.0
    words = str(refused.value).removeprefix("value: ")
    for compute in (f, grad(f), lambda x: vmap(f)(torch.stack([x, -x]))):
        with pytest.raises(hc.Error) as raised:
            compute(f64(-3.0)[0])
        assert words in str(raised.value)
