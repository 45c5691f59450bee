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
    ("v0"; of row 0, which has none, it is zero) and in K. The gradient in K sums 78 million terms:
    added one by one in f32 it loses 5 %.

wave2d            A membrane: a stencil whose step is linear.
    512 x 512 nodes, dx = 1/512, wave speed 340, time step such that (c dt / dx)^2 = 1/3. Time level
    P[0](i, j) = .5 sin(.01 (512 i + j)) is the parameter ("p0"), P[1] = 0, and for 256 steps
        P[t+2] = 2 P[t+1] - P[t] + (1/3) (sum of the 4 neighbors - 4 P[t+1])
    at inner nodes, 0 on the border. Loss: the mean over all nodes of (P[257] - target)^2, with
    target exp(-((i - 256)^2 + (j - 256)^2) / 800) minus its mean.

tet_neohookean    An elastic cube of linear tetrahedra: arithmetic, and scatter by index.
    The unit cube in 16^3 cells, node (i, j, k) at (i, j, k)/16 with number (17 i + j) 17 + k: 4913
    nodes. Each cell is split around its diagonal into 6 tetrahedra, 24 576 in all: for the axis
    orders xyz xzy yxz yzx zxy zyx the corners are c, c + e_a, c + e_a + e_b, c + (1, 1, 1). Density
    1000, a quarter of a tetrahedron's mass at each corner. Deformation gradient F = D D0^-1 with
    the edges from the first corner as columns of D; first Piola stress
        P = mu (F - F^-T) + la log(det F) F^-T,   mu = la = 1e5;
    the forces on corners 1, 2, 3 are the columns of -V P D0^-T, corner 0 takes minus their sum.
    100 steps of dt = 5e-4 from X with v0 = (.5 X_x, -4 X_x (X_z - .5), 4 X_x (X_y - .5)):
        v <- v + dt (f / m + (0, -9.8, 0)),  x <- x + dt v;  nodes with i = 0 never move.
    Loss: the mean over the nodes of |x - X - X_x (.05, .1, 0)|^2; gradient in all initial
    velocities ("v0"; zero where i = 0), in mu and in la.

mpm2d             An elastic block of material points on a grid: gather and scatter by index.
    80 x 80 points of unit mass and volume, point 80 i + j at ((10 + i/2) dx, (25 + j/2) dx), on
    120 x 120 nodes, dx = 1/120, all with the velocity v = v0 = (0, 0), C = 0, F = I. For 1023 steps
    of dt = 3e-4, with b = trunc(x/dx - 1/2), f = x/dx - b and, per axis, the quadratic weights
    w = ((1.5 - f)^2 / 2, .75 - (f - 1)^2, (f - .5)^2 / 2):
        F <- F + dt C F,  A = -(4 dt / dx^2) (2 mu (F - R) F^T + la J (J - 1) I) + C
    with J = det F, R the rotation next to F, mu = la = 100; for i, j in 0, 1, 2 node b + (i, j)
    receives the mass w_i w_j and the momentum w_i w_j (v + A ((i, j) - f) dx). At nodes
        u = momentum / (mass + 1e-10) - dt (0, 9.8), with a component set to zero where it points
    out of the walls: below 0 at indices below 3, above 0 at indices above 117. Back at the points
        v <- sum w_i w_j u,  C <- (4 / dx) sum w_i w_j u ((i, j) - f)^T,  x <- x + dt v
    Loss |mean position - (.3, .6)|^2 / 2, gradient in v0. The walls make kinks, and rounding
    decides on which side of one a node is: gradients in f32 differ from f64 by up to 4e-3.

implicit_cloth    A hanging cloth in implicit steps: a sparse factorization decides.
    100 x 100 points, point 100 i + j at (i/99, j/99, 0), at rest; cells are cut into the triangles
    (a, b, c) and (a, c, d) with a = (i, j), b = (i+1, j), c = (i+1, j+1), d = (i, j+1). Points (0, 0)
    and (0, 99) are fixed. Area density .2, a third of a triangle's mass at each corner; gravity
    (0, 0, -9.81). With F = (u, v) and E = (F^T F - I)/2 a triangle of area A has the energy
        A (k/2 (E_uu^2 + E_vv^2 + 2 nu E_uu E_vv)/(1 - nu^2) + 2 g E_uv^2),  g = k/(2 (1 + nu)),
    k = 1000, nu = .3; an inner edge of length l between areas A, B, theta the angle between their
    normals, has D/2 l^2/(A + B) theta^2, D = 1e-5. 5 steps of implicit Euler, h = .01: each finds
    the minimum of these, m/(2 h^2) |x - 2 x_n + x_(n-1)|^2 and -m g.x over the free points. Newton's
    method from x_n, negative eigenvalues of elements as zero where the Hessian is not positive
    definite; halvings until a step gains 1e-4 of what its slope promises; when half the decrement
    squared is at most 1e-12 of the largest sum of the four energies' magnitudes, one more whole
    step. Loss: the sum of |x|^2 at the end; gradient in the area density ("density"), in k of each
    triangle ("k") and in all start positions ("x0"). What is compared as "end" is no gradient but
    the positions at the end. f64.
"""
import itertools
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


class Wave2d:
    side, steps = 512, 256
    n = side * side
    courant_squared = 1 / 3

    @staticmethod
    def inputs():
        """P[0] and the target, side x side."""
        side, middle = Wave2d.side, Wave2d.side // 2
        i, j = np.indices((side, side))
        hump = np.exp(-((i - middle) ** 2 + (j - middle) ** 2) / 800)
        return 0.5 * np.sin(0.01 * (side * i + j)), hump - hump.mean()


class TetNeohookean:
    cells, steps, dt = 16, 100, 5e-4
    nodes_per_side = cells + 1
    nodes = nodes_per_side ** 3
    fixed = nodes_per_side ** 2  # the first ones never move
    n = 6 * cells ** 3
    mu = la = 1e5
    density = 1000.0
    gravity = (0.0, -9.8, 0.0)
    volume = 1 / (6 * cells ** 3)

    @staticmethod
    def rest():
        """Positions of the nodes at rest, nodes x 3."""
        side = TetNeohookean.nodes_per_side
        return np.indices((side,) * 3).reshape(3, -1).T / TetNeohookean.cells

    @staticmethod
    def corners():
        """Node numbers of the corners, tetrahedra x 4."""
        side = TetNeohookean.nodes_per_side
        weight = np.array([side * side, side, 1])  # of a node's indices in its number
        lowest = np.indices((TetNeohookean.cells,) * 3).reshape(3, -1).T @ weight
        walks = []  # from the lowest corner of a cell to the highest, one axis at a time
        for order in itertools.permutations(range(3)):
            walks.append(np.concatenate([[0], np.cumsum(weight[list(order)])]))
        return (lowest[:, None, None] + np.array(walks)).reshape(-1, 4).astype(np.int32)

    @staticmethod
    def inverse_edges():
        """D0^-1, tetrahedra x 3 x 3."""
        corner = TetNeohookean.rest()[TetNeohookean.corners()]
        return np.linalg.inv(np.moveaxis(corner[:, 1:] - corner[:, :1], 1, 2))

    @staticmethod
    def masses():
        quarter = TetNeohookean.density * TetNeohookean.volume / 4
        return quarter * np.bincount(TetNeohookean.corners().ravel(),
                                     minlength=TetNeohookean.nodes)

    @staticmethod
    def velocities():
        x, y, z = TetNeohookean.rest().T
        return np.stack([0.5 * x, -4 * x * (z - 0.5), 4 * x * (y - 0.5)], axis=1)

    @staticmethod
    def target():
        rest = TetNeohookean.rest()
        return rest + rest[:, :1] * np.array([0.05, 0.1, 0])


class Mpm2d:
    nodes, side, steps, dt = 120, 80, 1023, 3e-4
    n = side * side
    dx = 1 / nodes
    mu = la = 100.0
    gravity = 9.8
    wall = 3  # nodes below this index, and from nodes - wall + 1 on
    empty = 1e-10
    target = (0.3, 0.6)

    @staticmethod
    def positions():
        """Points x 2."""
        i, j = np.indices((Mpm2d.side, Mpm2d.side)).reshape(2, -1)
        return np.stack([10 + i / 2, 25 + j / 2], axis=1) * Mpm2d.dx

    @staticmethod
    def offsets():
        """(i, j) of the nodes around a point, 9 x 2."""
        return np.indices((3, 3)).reshape(2, -1).T


class ImplicitCloth:
    side, steps = 100, 5
    n = side * side
    h = 0.01
    warp_stiffness, poisson_ratio, bending_stiffness, area_density = 1000.0, 0.3, 1e-5, 0.2
    gravity = (0.0, 0.0, -9.81)
    fixed = (0, 99)
    tolerance = 1e-12

    @staticmethod
    def rest():
        last = ImplicitCloth.side - 1
        i, j = np.indices((last + 1, last + 1)).reshape(2, -1)
        return np.stack([i / last, j / last, np.zeros(i.shape)], axis=1)

    @staticmethod
    def triangles():
        number = np.arange(ImplicitCloth.n).reshape(ImplicitCloth.side, -1)
        a, b, c, d = (number[:-1, :-1], number[1:, :-1], number[1:, 1:], number[:-1, 1:])
        return np.stack([a, b, c, a, c, d], axis=2).reshape(-1, 3)

    @staticmethod
    def patches():
        """Six points for each triangle, in the order of triangles(): a shape of second order through
        them is how it bends. Its corners and the points across its edges; at a border the next."""
        last = ImplicitCloth.side - 2
        lower = {(False, False): [(0, -1), (2, 1), (0, 1)], (True, False): [(2, 1), (0, 1), (2, 2)],
                 (False, True): [(0, -1), (0, 1), (-1, -1)], (True, True): [(0, 1), (1, 2), (-1, 0)]}
        upper = {(False, False): [(1, 0), (1, 2), (-1, 0)], (True, False): [(1, 0), (1, 2), (2, 1)],
                 (False, True): [(1, 0), (-1, 0), (0, -1)], (True, True): [(1, 0), (0, -1), (2, 1)]}
        rows = []
        for i in range(last + 1):
            for j in range(last + 1):
                for corners, others in (([(0, 0), (1, 0), (1, 1)], lower[j == 0, i == last]),
                                        ([(0, 0), (1, 1), (0, 1)], upper[i == 0, j == last])):
                    rows.append([(i + a) * ImplicitCloth.side + j + b for a, b in corners + others])
        return np.array(rows)


DEFINITIONS = {
    "launch_overhead": LaunchOverhead,
    "spring_cage": SpringCage,
    "cloth_springs": ClothSprings,
    "wave2d": Wave2d,
    "tet_neohookean": TetNeohookean,
    "mpm2d": Mpm2d,
    "implicit_cloth": ImplicitCloth,
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
