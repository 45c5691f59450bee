"""The barrier and the distance to a plane against ipctk, where it has the same formula.

ipctk's barriers are of squared distances; hindcast's is the same function of the distance itself.
"""

import numpy as np
import pytest

import hindcast as hc

ipctk = pytest.importorskip("ipctk", reason="ipctk is not installed: it could not be downloaded")

STIFFNESS, REACH = 3.0, 0.2
rng = np.random.default_rng(3)
# From near the surface to beyond the barrier. Nearer, rounding of the places counts for more than the
# tolerance: 1e-16 m of a distance d is 2e-16/d of the second derivative.
DISTANCES = np.concatenate([np.geomspace(2e-5, 0.19, 40), [0.1999, 0.2, 0.21, 0.5]])
PLACES = rng.standard_normal((len(DISTANCES), 3))


def plane():
    """A plane's normal and offset, points at the distances from it and the derivatives there of the
    distance and of ipctk's squared distance."""
    normal = rng.standard_normal(3)
    unit, offset = normal / np.linalg.norm(normal), 0.3
    x = PLACES + (DISTANCES + offset - PLACES @ unit)[:, None] * unit
    return dict(normal=tuple(normal), offset=offset, stiffness=STIFFNESS, reach=REACH), unit, x


def close(found, expected):
    """Relative to the largest entry of each pair."""
    scale = np.max(np.abs(expected))
    assert np.max(np.abs(found - expected)) <= 1e-10 * scale if scale > 0 else not np.any(found)


def test_value_gradient_and_hessian_of_point_and_plane():
    given, unit, x = plane()
    origin = given["offset"] * unit
    barrier = ipctk.ClampedLogBarrier()
    for p in x:
        # Distance and derivatives from ipctk's squared ones: d = sqrt(s).
        squared = ipctk.point_plane_distance(p, origin, unit)
        d = np.sqrt(squared)
        by_x = np.asarray(ipctk.point_plane_distance_gradient(p, origin, unit)) / (2 * d)
        twice = (np.asarray(ipctk.point_plane_distance_hessian(p, origin, unit)) / 2
                 - np.outer(by_x, by_x)) / d
        value, first, second = (STIFFNESS * f(d, REACH) for f in (
            barrier, barrier.first_derivative, barrier.second_derivative))

        energy = hc.record(hc.built_in("barrier_energy", dimension=3, surface="plane"), 1,
                           x=hc.array(p[None].copy()), scale=1.0, value=hc.array(np.zeros(1)),
                           **given)
        energy.forward()
        close(energy["value"].numpy(), np.array([value]))
        force = hc.record(hc.built_in("barrier_force", dimension=3, surface="plane"), 1,
                          x=hc.array(p[None].copy()), force=hc.array(np.zeros((1, 3))), **given)
        force.forward()
        close(-force["force"].numpy()[0], first * by_x)
        hessian = np.zeros((3, 3))
        for k in range(3):
            force["x"].tangent.numpy()[...] = np.eye(3)[k]
            force["force"].tangent.numpy()[...] = 0
            force.tangent()
            hessian[:, k] = -force["force"].tangent.numpy()[0]
        close(hessian, second * np.outer(by_x, by_x) + first * twice)
