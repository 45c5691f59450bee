"""Indices out of range on a CUDA device, in software: every index that is not the item is checked by
the kernel."""

import hindcast as hc
import numpy as np
import pytest
import software_cuda
from test_index_checks import dynamic, gather, raised

software_cuda.needs_cuda()


@hc.kernel
def spread(i: hc.Int, j: hc.Read[hc.i32], x: hc.Read[hc.real], f: hc.Accumulate[hc.real],
           n: hc.Atomic[hc.i32]):
    f[j[i]] += x[i]
    n[j[i]].add(1)


def there(values):
    return hc.array(np.asarray(values), device="cuda")


@pytest.mark.parametrize("kernel", [gather, dynamic])
def test_gathers(kernel):
    x, y = there([1.0, 2, 3]), there(np.zeros(4))
    for j, words in (([0, 2, 2**20, -1], "item 2: index 1048576 is out of range: 'x' has 3 elements"),
                     ([0, 2, 1, -1], "item 3: index -1 is out of range")):  # fmt: skip
        launch = hc.record(kernel, 4, j=there(np.array(j, np.int32)), x=x, y=y)
        for direction in ("forward", "adjoint", "tangent"):
            assert words.split(":")[1] in raised(launch, direction)
        assert words in raised(launch)
    launch.set("j", there(np.array([0, 2, 1, 2], np.int32)))
    launch.forward()
    assert y.numpy().tolist() == [1, 3, 2, 3]
    y.grad.fill(1)
    launch.adjoint()
    if kernel is gather:
        assert x.grad.numpy().tolist() == [1, 1, 2]
    free = hc.record(kernel.unchecked(), 4, j=launch["j"], x=x, y=there(np.zeros(4)))
    free.forward()
    assert free["y"].numpy().tolist() == [1, 3, 2, 3]


def test_sums_and_counters():
    f, n = there(np.zeros(3)), there(np.zeros(3, np.int32))
    j = there(np.array([1, 3, 0], np.int32))
    launch = hc.record(spread, 3, j=j, x=there([1.0, 2, 4]), f=f, n=n)
    assert "item 1: index 3 is out of range" in raised(launch)
    f.fill(0)
    n.fill(0)
    launch.set("j", there(np.array([1, 1, 0], np.int32)))
    launch.forward()
    assert f.numpy().tolist() == [4, 3, 0] and n.numpy().tolist() == [1, 2, 0]


def test_lengths():
    @hc.kernel
    def copy(i: hc.Int, x: hc.Read[hc.real], y: hc.Write[hc.real]):
        y[i] = x[i]

    with pytest.raises(hc.ArgumentError, match="'x' is read at the item's own index, but has 3"):
        hc.record(copy, 8, x=there(np.zeros(3)), y=there(np.zeros(8)))
