"""What is measured: the exact definition of every workload, and its inputs as f64 arrays (each
program rounds them to its own precision once).

launch_overhead   What one launch costs, kernel aside.
    y[i] = a x[i] + y0[i] over 8 elements, a = 1.5, x[i] = (i + 1) / 8, y0[i] = 1 / (i + 1).
    Adjoint: x'[i] += a y'[i] and y0'[i] += y'[i]. Loss: the sum of y, so every y'[i] is 1 and the
    gradient in x is 1.5 everywhere. Times are those of 20 000 launches (and 20 000 adjoints).

spring_cage       A scene so small that overhead decides. One unit mass on springs to 8 anchors.
    With d = anchor - x, l = |d|, u = d / l, each spring pulls with (k (l - r) - c (u . v)) u,
    k = 100, c = 10. Gravity (0, 0, -9.81), step h = 1/30, 30 steps from x = v = 0:
        v <- v + h (sum of the pulls + gravity),  x <- x + h v
    Loss |x - (.375, .125, .25)|^2 at the end; parameters are the eight rest lengths r, which start
    at the anchors' distances. "Forward + backward" is one iteration of gradient descent, its update
    r <- r - .5 gradient included. Loss and gradient are those of the first iteration.

cloth_springs     A net: bandwidth and reductions decide.
    256 x 256 particles of unit mass, particle 256 i + j at (i h, 0, j h), h = 1/255, with velocity
    (0, .3 sin(2 pi i h) cos(2 pi j h), 0); row i = 0 never moves, and its velocity is zero.
    Springs join (i, j) to (i, j) + o for o = (1,0) (0,1) (1,1) (1,-1) (2,0) (0,2) wherever both
    ends exist: 390 658. Rest length r = .97 h |o|: the sheet stays in tension, for buckling would
    amplify rounding. One stiffness K = 4e4 for all. 200 steps of dt = 1e-3:
        a = (0, -9.8, 0) + sum of K (1 - r / |d|) d,  d = other end - this end
        v <- exp(-dt) (v + dt a),  x <- x + dt v
    Loss |mean position - (.4, -.1, .5)|^2 over all particles; gradient in all initial velocities
    ("v0"; of row 0, which has none, it is zero) and in K. The gradient in K sums 78 million terms: added one by one in f32 it loses 5 %.
"""
import math

import numpy as np


class LaunchOverhead:
    n, steps = 8, 20000
    a = 1.5

    @staticmethod
    def inputs():
        """x and y0, 8 values each."""
        i = np.arange(8)
        return (i + 1) / 8, 1 / (i + 1)


class SpringCage:
    n, steps = 1, 30
    h = 1 / 30
    stiffness, damping = 100.0, 10.0
    gravity = (0.0, 0.0, -9.81)
    target = (0.375, 0.125, 0.25)
    rate = 0.5
    anchors = np.array([
        (0.2, -0.7, 0.8), (1.1, 0.0, 0.2), (-1.2, 0.1, 0.1), (0.4, 0.6, 0.4),
        (-0.2, 0.7, -0.9), (0.1, -0.8, -0.8), (-0.8, -0.9, 0.2), (-0.1, 1.0, 0.4),
    ])

    @staticmethod
    def rest_lengths():
        return np.linalg.norm(SpringCage.anchors, axis=1)


class ClothSprings:
    side, steps = 256, 200
    n = side * side
    h, dt = 1 / 255, 1e-3
    stiffness = 4e4
    gravity = (0.0, -9.8, 0.0)
    target = (0.4, -0.1, 0.5)
    decay = math.exp(-dt)
    offsets = ((1, 0), (0, 1), (1, 1), (1, -1), (2, 0), (0, 2))

    @staticmethod
    def rest_length(offset):
        return 0.97 * ClothSprings.h * math.hypot(*offset)

    @staticmethod
    def inputs():
        """Positions and velocities, side x side x 3."""
        i, j = np.indices((ClothSprings.side, ClothSprings.side))
        u, w, zero = i * ClothSprings.h, j * ClothSprings.h, np.zeros(i.shape)
        speed = 0.3 * np.sin(2 * np.pi * u) * np.cos(2 * np.pi * w)
        speed[0] = 0
        return np.stack([u, zero, w], axis=2), np.stack([zero, speed, zero], axis=2)

    @staticmethod
    def ends(offset):
        """Index pairs (rows, columns) of the first and the second ends of all springs of an offset:
        views of a side x side array, spring by spring in step."""
        di, dj = offset
        side = ClothSprings.side
        first = slice(0, side - di), slice(max(0, -dj), side - max(0, dj))
        second = slice(di, side), slice(max(0, dj), side + min(0, dj))
        return first, second

    @staticmethod
    def springs():
        """First end, second end (particle numbers) and rest length of every spring: offset by
        offset, and by the first end within one."""
        number = np.arange(ClothSprings.n, dtype=np.int32).reshape(ClothSprings.side, -1)
        parts = []
        for offset in ClothSprings.offsets:
            first, second = ClothSprings.ends(offset)
            a, b = number[first].ravel(), number[second].ravel()
            parts.append((a, b, np.full(a.size, ClothSprings.rest_length(offset))))
        return [np.concatenate(columns) for columns in zip(*parts)]


DEFINITIONS = {
    "launch_overhead": LaunchOverhead,
    "spring_cage": SpringCage,
    "cloth_springs": ClothSprings,
}

# Of a gradient with more components than SAMPLES, these are printed and compared, besides its norm:
# flat indices 0, 3001, 6002, ... (3001 is prime and not a multiple of 3: all of x, y, z occur).
SAMPLES, SAMPLE_STRIDE = 64, 3001


def digest(gradients):
    """The JSON fields that describe gradients (name -> array): norms of all, every component of
    the small ones, a sample of the large ones."""
    fields = {"grad_norm": {}, "grad": {}, "grad_sample": {}}
    for name, gradient in gradients.items():
        flat = np.asarray(gradient, np.float64).ravel()
        fields["grad_norm"][name] = float(np.linalg.norm(flat))
        if flat.size <= SAMPLES:
            fields["grad"][name] = flat.tolist()
        else:
            fields["grad_sample"][name] = flat[::SAMPLE_STRIDE][:SAMPLES].tolist()
    return fields
