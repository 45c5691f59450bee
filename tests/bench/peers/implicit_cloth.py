"""implicit_cloth in NumPy, SciPy and CHOLMOD: what a straightforward program of this step is like.

Energies, gradients and Hessians are vectorized over triangles and written out by hand;
each iteration of Newton's method is one supernodal Cholesky factorization. The adjoint is by hand
as well. The definition is in workloads.py.
"""
import time

import numpy as np
from scipy.sparse import csc_matrix
from sksparse import cholmod

from workloads import ImplicitCloth as Define

G = np.array(Define.gravity)
K, NU, D, H = Define.warp_stiffness, Define.poisson_ratio, Define.bending_stiffness, Define.h
SHEAR = 1 / (2 * (1 + NU))  # g / k
PLANE = 1 / (1 - NU * NU)


def dot(a, b):
    return np.einsum("ei,ei->e", a, b)


def outer(a, b):
    return a[:, :, None] * b[:, None, :]


def clamped(elements):
    """Symmetric matrices with their negative eigenvalues as zero."""
    values, vectors = np.linalg.eigh(elements)
    return np.einsum("eij,ej,ekj->eik", vectors, np.maximum(values, 0), vectors)


class Cloth:
    def __init__(self):
        self.rest, self.triangles = Define.rest(), Define.triangles()
        self.patches, self.plate = self.plates(Define.patches())
        self.stiffness = np.full(len(self.triangles), K)
        corner = self.rest[self.triangles]
        edges = np.swapaxes(corner[:, 1:] - corner[:, :1], 1, 2)[:, :2]  # in the plane of the warp
        self.area = 0.5 * np.linalg.det(edges)
        inverse = np.linalg.inv(edges)
        # u = sum of a_k x_k, v = sum of b_k x_k
        self.a, self.b = (np.concatenate([-inverse[:, :, c].sum(axis=1)[:, None], inverse[:, :, c]],
                                         axis=1) for c in range(2))
        self.area_of_points = np.zeros(len(self.rest))
        np.add.at(self.area_of_points, self.triangles, self.area[:, None] / 3)
        self.set_density(Define.area_density)
        self.free = np.ones(len(self.rest), bool)
        self.free[list(Define.fixed)] = False
        self.moving = np.repeat(self.free, 3)
        self.unknown = np.cumsum(self.moving) - 1
        self.make_pattern()
        self.seconds = {"evaluate": 0.0, "factorize": 0.0, "solve": 0.0}
        self.iterations = 0

    def set_density(self, density):
        self.mass = density * self.area_of_points

    # ---- the sparse matrix

    def make_pattern(self):
        """Where each entry of the elements' Hessians goes: slots of the lower triangle, by columns."""
        n = int(self.moving.sum())
        rows, columns = [np.arange(n)], [np.arange(n)]
        self.kept = []
        for elements in (self.triangles, self.patches):
            dofs = (3 * elements[:, :, None] + np.arange(3)).reshape(len(elements), -1)
            i = np.broadcast_to(dofs[:, :, None], (*dofs.shape, dofs.shape[1])).ravel()
            j = np.broadcast_to(dofs[:, None, :], (*dofs.shape, dofs.shape[1])).ravel()
            kept = np.flatnonzero(self.moving[i] & self.moving[j] & (i >= j))
            rows.append(self.unknown[i[kept]])
            columns.append(self.unknown[j[kept]])
            self.kept.append(kept)
        keys, self.slots = np.unique(np.concatenate(columns) * n + np.concatenate(rows),
                                     return_inverse=True)
        starts = np.searchsorted(keys, np.arange(n + 1) * n)
        self.matrix = csc_matrix((np.ones(len(keys)), keys % n, starts), shape=(n, n))
        self.factor = cholmod.analyze(self.matrix, mode="supernodal", ordering_method="default")

    def assembled(self, elements, shift=0.0):
        diagonal = np.repeat(self.mass, 3)[self.moving] / H ** 2 + shift
        entries = [diagonal] + [e.ravel()[kept] for e, kept in zip(elements, self.kept)]
        self.matrix.data = np.bincount(self.slots, np.concatenate(entries), self.matrix.nnz)
        return self.matrix

    # ---- energies

    def strains(self, x):
        corner = x[self.triangles]
        u, v = (np.einsum("ek,eki->ei", c, corner) for c in (self.a, self.b))
        return u, v, (dot(u, u) - 1) / 2, (dot(v, v) - 1) / 2, dot(u, v) / 2

    def plates(self, patches):
        """The patches, and the matrix of each patch's bending energy x . P x / 2, for a component of
        x: D times the area times that of Kirchhoff's plate for the shape of second order through
        the six points."""
        place = self.rest[patches][:, :, :2]
        u, v = np.moveaxis(place - place[:, :1], 2, 0)
        shapes = np.stack([np.ones(u.shape), u, v, u * u / 2, v * v / 2, u * v], axis=2)
        second = np.linalg.inv(shapes)[:, 3:]
        plane = np.array([[1, NU, 0], [NU, 1, 0], [0, 0, 2 * (1 - NU)]])
        corner = place[:, :3]
        area = 0.5 * np.linalg.det(corner[:, 1:] - corner[:, :1])
        return patches, D * area[:, None, None] * np.einsum("eip,ij,ejq->epq", second, plane, second)

    def energies(self, x, target):
        _, _, along, across, shear = self.strains(x)
        membrane = self.stiffness * self.area * (
            PLANE / 2 * (along ** 2 + across ** 2 + 2 * NU * along * across)
            + 2 * SHEAR * shear ** 2)
        bent = x[self.patches]
        away = (x - target)[self.free]
        return np.array([(self.mass[self.free] * dot(away, away)).sum() / (2 * H ** 2),
                         -(self.mass[self.free] * (x[self.free] @ G)).sum(), membrane.sum(),
                         0.5 * np.einsum("epi,epq,eqi->", bent, self.plate, bent, optimize=True)])

    def membrane_slopes(self, x):
        """Gradient per unit of stiffness of each triangle, by corner."""
        u, v, along, across, shear = self.strains(x)
        by_u = PLANE * (along + NU * across)[:, None] * u + (2 * SHEAR * shear)[:, None] * v
        by_v = PLANE * (across + NU * along)[:, None] * v + (2 * SHEAR * shear)[:, None] * u
        return self.area[:, None, None] * (self.a[:, :, None] * by_u[:, None]
                                           + self.b[:, :, None] * by_v[:, None])

    def membrane_hessians(self, x):
        u, v, along, across, shear = self.strains(x)
        identity = np.eye(3)
        uu, vv = outer(u, u), outer(v, v)

        def scaled(factor):
            return factor[:, None, None] * identity

        by_uu = PLANE * uu + SHEAR * vv + scaled(PLANE * (along + NU * across))
        by_vv = PLANE * vv + SHEAR * uu + scaled(PLANE * (across + NU * along))
        by_uv = PLANE * NU * outer(u, v) + SHEAR * outer(v, u) + scaled(2 * SHEAR * shear)
        blocks = 0
        for c, d, block in ((self.a, self.a, by_uu), (self.b, self.b, by_vv),
                            (self.a, self.b, by_uv), (self.b, self.a, np.swapaxes(by_uv, 1, 2))):
            blocks = blocks + outer(c, d)[:, :, None, :, None] * block[:, None, :, None, :]
        factor = (self.stiffness * self.area)[:, None, None]
        return factor * blocks.reshape(-1, 9, 9)

    def gradient(self, x, target):
        total = self.mass[:, None] * ((x - target) / H ** 2 - G)
        np.add.at(total, self.triangles,
                  self.stiffness[:, None, None] * self.membrane_slopes(x))
        np.add.at(total, self.patches, self.plate @ x[self.patches])
        return total.ravel()[self.moving]

    def hessians(self, x):
        plate = self.plate[:, :, None, :, None] * np.eye(3)[:, None, :]
        return self.membrane_hessians(x), plate.reshape(-1, 18, 18)

    # ---- Newton's method

    def timed(self, what, call, *arguments):
        start = time.perf_counter()
        result = call(*arguments)
        self.seconds[what] += time.perf_counter() - start
        return result

    def factorized(self, matrix):
        """Whether the matrix is positive definite."""
        try:
            self.timed("factorize", self.factor.cholesky_inplace, matrix)
            return True
        except cholmod.CholmodNotPositiveDefiniteError:
            return False

    def minimum(self, x, target):
        """From x to the minimum, with one whole step after convergence."""
        scale, x = 0.0, x.copy()
        while True:
            self.iterations += 1
            terms = self.timed("evaluate", self.energies, x, target)
            scale = max(scale, np.abs(terms).sum())
            slope = self.timed("evaluate", self.gradient, x, target)
            elements = self.timed("evaluate", self.hessians, x)
            exact = self.factorized(self.timed("evaluate", self.assembled, elements))
            if not exact:
                elements = self.timed("evaluate", lambda: [clamped(e) for e in elements])
                if not self.factorized(self.timed("evaluate", self.assembled, elements)):
                    raise ArithmeticError("the projected Hessian is not positive definite")
            step = np.zeros(x.shape)
            step.ravel()[self.moving] = -self.timed("solve", self.factor.solve_A, slope)
            gain = -slope @ step.ravel()[self.moving] / 2
            if gain <= Define.tolerance * scale:
                if not exact:
                    raise ArithmeticError("this is not a minimum")
                return x + step
            for fraction in 0.5 ** np.arange(60):
                there = self.timed("evaluate", self.energies, x + fraction * step, target).sum()
                if there <= terms.sum() - 2e-4 * fraction * gain:
                    break
            else:
                raise ArithmeticError("no part of the step lowers the energy")
            x = x + fraction * step

    def run(self, start):
        """Positions after each step, the start first."""
        way, target = [start], start
        for _ in range(Define.steps):
            way.append(self.minimum(way[-1], target))
            target = 2 * way[-1] - way[-2]
        return way

    def gradients(self, way):
        """Of sum |x|^2 at the end: in area density, stiffness of each triangle, start."""
        bar = [np.zeros(self.rest.shape) for _ in way]
        bar[-1] = 2 * way[-1]
        mass_bar, stiffness_bar = np.zeros(len(self.rest)), np.zeros(len(self.triangles))
        for n in range(len(way) - 1, 0, -1):
            x, before, earlier = way[n], way[n - 1], way[max(n - 2, 0)]
            elements = self.timed("evaluate", self.hessians, x)
            if not self.factorized(self.timed("evaluate", self.assembled, elements)):
                raise ArithmeticError("this is not a minimum")
            l = np.zeros(x.shape)
            l.ravel()[self.moving] = self.timed("solve", self.factor.solve_A,
                                                bar[n].ravel()[self.moving])
            start = time.perf_counter()
            target = 2 * before - earlier
            mass_bar -= dot(l, (x - target) / H ** 2 - G)
            stiffness_bar -= np.einsum("eki,eki->e", self.membrane_slopes(x), l[self.triangles])
            # Fixed points stay; how they pull at the free ones goes back with them.
            held = bar[n] * ~self.free[:, None]
            pull = np.zeros(x.shape)
            for points, e in zip((self.triangles, self.patches), elements):
                np.add.at(pull, points, np.einsum("eij,ej->ei", e, l[points].reshape(len(e), -1))
                          .reshape(*points.shape, 3))
            bar[n - 1] += held - pull * ~self.free[:, None]
            target_bar = self.mass[:, None] / H ** 2 * l
            bar[n - 1] += 2 * target_bar
            bar[max(n - 2, 0)] -= target_bar
            self.seconds["evaluate"] += time.perf_counter() - start
        return {"density": np.array([mass_bar @ self.area_of_points]), "k": stiffness_bar,
                "x0": bar[0]}
