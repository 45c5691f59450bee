#!/usr/bin/env python3
"""Loss and gradients of every workload in f64, by NumPy with adjoints written by hand; each adjoint
is checked here against central differences of the same forward pass (mpm2d, whose walls make kinks:
against complex steps, which stay on the same side of each).

    reference.py [WORKLOAD...]            computes them and compares with reference.json
    reference.py [WORKLOAD...] --write    computes them and writes reference.json

implicit_cloth is that of its peer, and needs scikit-sparse.

`compare` reads reference.json, so that measuring needs neither NumPy nor the minute this takes.
"""
import argparse
import json
import pathlib
import sys

import numpy as np

from workloads import (DEFINITIONS, ClothSprings, ImplicitCloth, LaunchOverhead, Mpm2d, SpringCage,
                       TetNeohookean, Wave2d, digest)

FILE = pathlib.Path(__file__).with_name("reference.json")


def launch_overhead():
    """Linear: the gradient is the coefficient."""
    x, y0 = LaunchOverhead.inputs()

    def loss(x):
        return (LaunchOverhead.a * x + y0).sum()

    gradient = np.full(8, LaunchOverhead.a)
    differences = [(loss(x + e) - loss(x - e)) / 2 for e in np.eye(8)]
    return loss(x), {"x": gradient}, {"x": relative(gradient, differences)}


def spring_cage():
    k, c, h = SpringCage.stiffness, SpringCage.damping, SpringCage.h
    gravity, target = np.array(SpringCage.gravity), np.array(SpringCage.target)

    def springs(x, v, rest):
        d = SpringCage.anchors - x
        length = np.linalg.norm(d, axis=1)
        u = d / length[:, None]
        return u, length, k * (length - rest) - c * (u @ v)

    def roll_out(rest):
        x, v = np.zeros(3), np.zeros(3)
        states = [(x, v)]
        for _ in range(SpringCage.steps):
            u, _, pull = springs(x, v, rest)
            v = v + h * (pull @ u + gravity)
            x = x + h * v
            states.append((x, v))
        return ((x - target) ** 2).sum(), states

    def gradient_at(rest):
        _, states = roll_out(rest)
        x_bar, v_bar, rest_bar = 2 * (states[-1][0] - target), np.zeros(3), np.zeros(8)
        for x, v in reversed(states[:-1]):
            u, length, pull = springs(x, v, rest)
            v_bar = v_bar + h * x_bar
            force_bar = h * v_bar
            pull_bar = u @ force_bar
            rest_bar -= k * pull_bar
            v_bar = v_bar - c * (pull_bar @ u)
            u_bar = np.outer(pull, force_bar) - c * np.outer(pull_bar, v)
            along = (u * u_bar).sum(axis=1)
            d_bar = (u_bar - along[:, None] * u) / length[:, None] + (k * pull_bar)[:, None] * u
            x_bar = x_bar - d_bar.sum(axis=0)
        return rest_bar

    rest = SpringCage.rest_lengths()
    gradient = gradient_at(rest)
    differences = [(roll_out(rest + e)[0] - roll_out(rest - e)[0]) / 2e-5 for e in 1e-5 * np.eye(8)]
    return roll_out(rest)[0], {"rest": gradient}, {"rest": relative(gradient, differences)}


def cloth_springs():
    """Arrays are 3 x side x side here: one component is contiguous."""
    dt, decay = ClothSprings.dt, ClothSprings.decay
    target = np.array(ClothSprings.target)
    gravity = np.array(ClothSprings.gravity)[:, None, None]
    x0, v0 = (np.ascontiguousarray(np.moveaxis(a, 2, 0)) for a in ClothSprings.inputs())
    families = []
    for offset in ClothSprings.offsets:
        first, second = ClothSprings.ends(offset)
        families.append(((slice(None), *first), (slice(None), *second),
                         ClothSprings.rest_length(offset)))

    def stretched(x):
        """Per family: its ends, d and r / |d|."""
        for first, second, rest in families:
            d = x[second] - x[first]
            yield first, second, d, rest / np.sqrt(np.einsum("cij,cij->ij", d, d))

    def roll_out(v, stiffness, history=None):
        x = x0
        for _ in range(ClothSprings.steps):
            if history is not None:
                history.append(x)
            a = np.broadcast_to(gravity, x.shape).copy()
            for first, second, d, ratio in stretched(x):
                pull = (stiffness * (1 - ratio)) * d
                a[first] += pull
                a[second] -= pull
            v = decay * (v + dt * a)
            v[:, 0] = 0
            x = x + dt * v
        return x.mean(axis=(1, 2)) - target

    def gradient_at(v, stiffness):
        history = []
        miss = roll_out(v, stiffness, history)
        x_bar = np.broadcast_to((2 * miss / ClothSprings.n)[:, None, None], x0.shape).copy()
        v_bar, stiffness_bar = np.zeros(x0.shape), 0.0
        for x in reversed(history):
            v_bar = decay * (v_bar + dt * x_bar)
            v_bar[:, 0] = 0
            a_bar = dt * v_bar
            for first, second, d, ratio in stretched(x):
                pull_bar = a_bar[first] - a_bar[second]
                along = np.einsum("cij,cij->ij", d, pull_bar)
                stiffness_bar += ((1 - ratio) * along).sum()
                squared = np.einsum("cij,cij->ij", d, d)
                d_bar = stiffness * ((1 - ratio) * pull_bar + (ratio * along / squared) * d)
                x_bar[first] -= d_bar
                x_bar[second] += d_bar
        return (miss ** 2).sum(), v_bar, stiffness_bar

    stiffness = ClothSprings.stiffness
    loss, v_bar, stiffness_bar = gradient_at(v0, stiffness)

    def difference(direction, step):
        return sum(sign * (roll_out(v0 + sign * step * direction[0],
                                    stiffness + sign * step * direction[1]) ** 2).sum()
                   for sign in (1, -1)) / (2 * step)

    # A slow wave: a fast one would almost cancel against the smooth gradient.
    wave = np.sin(2e-4 * np.arange(v0.size) + 0.3).reshape(v0.shape)
    checks = {"v0": relative((v_bar * wave).sum(), difference((wave, 0.0), 1e-5)),
              "K": relative(stiffness_bar, difference((0.0, 1.0), 1.0))}
    return loss, {"v0": np.moveaxis(v_bar, 0, 2), "K": stiffness_bar}, checks


def wave2d():
    p0, target = Wave2d.inputs()

    def stencil(u):
        """2 u + k (sum of the neighbors - 4 u), with zero beyond the grid."""
        around = -4 * u
        around[1:] += u[:-1]
        around[:-1] += u[1:]
        around[:, 1:] += u[:, :-1]
        around[:, :-1] += u[:, 1:]
        return 2 * u + Wave2d.courant_squared * around

    def inside(u):
        inner = np.zeros(u.shape)
        inner[1:-1, 1:-1] = u[1:-1, 1:-1]
        return inner

    def miss(p0):
        older, newer = p0, np.zeros(p0.shape)
        for _ in range(Wave2d.steps):
            older, newer = newer, inside(stencil(newer) - older)
        return newer - target

    # The stencil is symmetric: its transpose is itself.
    end = miss(p0)
    older_bar, newer_bar = np.zeros(p0.shape), 2 * end / Wave2d.n
    for _ in range(Wave2d.steps):
        made = inside(newer_bar)
        older_bar, newer_bar = -made, older_bar + stencil(made)

    wave = np.sin(2e-4 * np.arange(p0.size) + 0.3).reshape(p0.shape)
    step = 1e-2
    difference = ((miss(p0 + step * wave) ** 2).mean()
                  - (miss(p0 - step * wave) ** 2).mean()) / (2 * step)
    checks = {"p0": relative((older_bar * wave).sum(), difference)}
    return (end ** 2).mean(), {"p0": older_bar}, checks


def tet_neohookean():
    rest, corners, target = TetNeohookean.rest(), TetNeohookean.corners(), TetNeohookean.target()
    inverse, masses = TetNeohookean.inverse_edges(), TetNeohookean.masses()[:, None]
    gravity, dt, volume = np.array(TetNeohookean.gravity), TetNeohookean.dt, TetNeohookean.volume
    free = (np.arange(len(rest)) >= TetNeohookean.fixed)[:, None]

    def deformation(x):
        """F, F^-T and log det F."""
        corner = x[corners]
        F = np.moveaxis(corner[:, 1:] - corner[:, :1], 1, 2) @ inverse
        return F, np.swapaxes(np.linalg.inv(F), 1, 2), np.log(np.linalg.det(F))[:, None, None]

    def spread(edges):
        """Columns that belong to corners 1, 2, 3, and minus their sum to corner 0: onto nodes."""
        values = np.concatenate([-edges.sum(axis=2, keepdims=True), edges], axis=2)
        total = np.zeros(rest.shape)
        np.add.at(total, corners, np.swapaxes(values, 1, 2))
        return total

    def end(v, mu, la, history=None):
        x = rest
        for _ in range(TetNeohookean.steps):
            if history is not None:
                history.append(x)
            F, G, log_J = deformation(x)
            P = mu * (F - G) + la * log_J * G
            force = spread(-volume * P @ np.swapaxes(inverse, 1, 2))
            v = free * (v + dt * (force / masses + gravity))
            x = x + dt * v
        return x - target

    def loss(v, mu, la):
        return (end(v, mu, la) ** 2).sum() / len(rest)

    mu, la, v0 = TetNeohookean.mu, TetNeohookean.la, TetNeohookean.velocities()
    history = []
    miss = end(v0, mu, la, history)
    x_bar, v_bar, mu_bar, la_bar = 2 * miss / len(rest), np.zeros(rest.shape), 0.0, 0.0
    for x in reversed(history):
        v_bar = free * (v_bar + dt * x_bar)
        corner_bar = (dt * v_bar / masses)[corners]
        H_bar = np.moveaxis(corner_bar[:, 1:] - corner_bar[:, :1], 1, 2)
        P_bar = -volume * H_bar @ inverse
        F, G, log_J = deformation(x)
        mu_bar += (P_bar * (F - G)).sum()
        la_bar += (P_bar * G * log_J).sum()
        # dP/dF is symmetric, being a second derivative of the energy.
        F_bar = (mu * P_bar + (mu - la * log_J) * (G @ np.swapaxes(P_bar, 1, 2) @ G)
                 + la * (G * P_bar).sum(axis=(1, 2), keepdims=True) * G)
        x_bar = x_bar + spread(F_bar @ np.swapaxes(inverse, 1, 2))

    wave = free * np.sin(2e-3 * np.arange(v0.size) + 0.3).reshape(v0.shape)
    checks = {
        "v0": relative((v_bar * wave).sum(),
                       (loss(v0 + 1e-3 * wave, mu, la) - loss(v0 - 1e-3 * wave, mu, la)) / 2e-3),
        "mu": relative(mu_bar, (loss(v0, mu + 10, la) - loss(v0, mu - 10, la)) / 20),
        "la": relative(la_bar, (loss(v0, mu, la + 10) - loss(v0, mu, la - 10)) / 20),
    }
    value = (miss ** 2).sum() / len(rest)
    return value, {"v0": v_bar, "mu": mu_bar, "la": la_bar}, checks


class MaterialPoints:
    """One step of mpm2d and its adjoint. Arrays of 2 x 2 matrices are points x 2 x 2; the 9 nodes
    around a point lie along the second axis."""

    def __init__(self):
        nodes = Mpm2d.nodes
        index = np.indices((nodes, nodes)).reshape(2, -1).T
        self.low, self.high = index < Mpm2d.wall, index > nodes - Mpm2d.wall
        self.offsets = Mpm2d.offsets()
        self.fall = Mpm2d.dt * np.array([0, Mpm2d.gravity])

    @staticmethod
    def onto_nodes(number, values):
        """Sums of values (points x 9 x channels) per node."""
        def sums(channel):
            return np.bincount(number.ravel(), channel.ravel(), Mpm2d.nodes ** 2)
        channels = np.moveaxis(values, 2, 0)
        if np.iscomplexobj(values):
            return np.stack([sums(c.real) + 1j * sums(c.imag) for c in channels], axis=1)
        return np.stack([sums(c) for c in channels], axis=1)

    def weights(self, x):
        """Node numbers, (i, j) - f, and the weights per axis, points x 3 x 2."""
        scaled = x / Mpm2d.dx
        base = np.trunc(scaled.real - 0.5).astype(int)
        f = scaled - base
        w = np.stack([(1.5 - f) ** 2 / 2, 0.75 - (f - 1) ** 2, (f - 0.5) ** 2 / 2], axis=1)
        number = ((base[:, :1] + self.offsets[:, 0]) * Mpm2d.nodes
                  + base[:, 1:] + self.offsets[:, 1])
        return number, self.offsets - f[:, None], w, f

    def product(self, w):
        return w[:, self.offsets[:, 0], 0] * w[:, self.offsets[:, 1], 1]

    @staticmethod
    def stretch(C, F):
        """F at the end of the step, its determinant, its rotation, and what that was divided by."""
        F = F + Mpm2d.dt * C @ F
        J = F[:, 0, 0] * F[:, 1, 1] - F[:, 0, 1] * F[:, 1, 0]
        p, q = F[:, 0, 0] + F[:, 1, 1], F[:, 1, 0] - F[:, 0, 1]
        r = np.sqrt(p * p + q * q)
        c, s = p / r, q / r
        return F, J, np.stack([c, -s, s, c], axis=1).reshape(-1, 2, 2), r

    @staticmethod
    def affine(C, F, J, R):
        pressure = (Mpm2d.la * J * (J - 1))[:, None, None] * np.eye(2)
        stress = 2 * Mpm2d.mu * (F - R) @ np.swapaxes(F, 1, 2) + pressure
        return -4 * Mpm2d.dt / Mpm2d.dx ** 2 * stress + C

    def grid(self, number, weight, v, A, away):
        """Momentum and mass, and the nodes' velocities with where they are free."""
        momentum = weight[:, :, None] * (
            v[:, None] + Mpm2d.dx * np.einsum("nab,nkb->nka", A, away))
        sums = self.onto_nodes(number, np.concatenate([momentum, weight[:, :, None]], axis=2))
        u = sums[:, :2] / (sums[:, 2:] + Mpm2d.empty) - self.fall
        free = ~((self.low & (u.real < 0)) | (self.high & (u.real > 0)))
        return sums, free * u, free

    def step(self, x, v, C, F):
        number, away, w, _ = self.weights(x)
        weight = self.product(w)
        F, J, R, _ = self.stretch(C, F)
        _, u, _ = self.grid(number, weight, v, self.affine(C, F, J, R), away)
        around = weight[:, :, None] * u[number]
        v = around.sum(axis=1)
        C = 4 / Mpm2d.dx * np.einsum("nka,nkb->nab", around, away)
        return x + Mpm2d.dt * v, v, C, F

    def step_adjoint(self, state, adjoint):
        """From the adjoints of the state after the step to those before it."""
        x, v, C, F = state
        x_bar, v_bar, C_bar, F_bar = adjoint
        dt, dx, mu, la = Mpm2d.dt, Mpm2d.dx, Mpm2d.mu, Mpm2d.la
        number, away, w, f = self.weights(x)
        weight = self.product(w)
        moved, J, R, r = self.stretch(C, F)
        A = self.affine(C, moved, J, R)
        sums, u, free = self.grid(number, weight, v, A, away)

        # Gather: v, C and x of the points from u.
        v_bar = v_bar + dt * x_bar
        pull = v_bar[:, None] + 4 / dx * np.einsum("nab,nkb->nka", C_bar, away)
        u_bar = free * self.onto_nodes(number, weight[:, :, None] * pull)
        weight_bar = (u[number] * pull).sum(axis=2)
        away_bar = 4 / dx * weight[:, :, None] * np.einsum("nab,nka->nkb", C_bar, u[number])
        # Nodes: u from momentum and mass.
        mass = sums[:, 2:] + Mpm2d.empty
        momentum_bar = u_bar / mass
        mass_bar = -(momentum_bar * sums[:, :2] / mass).sum(axis=1)
        # Scatter: momentum and mass from v, A and the weights.
        momentum_bar = momentum_bar[number]
        carried = v[:, None] + dx * np.einsum("nab,nkb->nka", A, away)
        weight_bar += (momentum_bar * carried).sum(axis=2) + mass_bar[number]
        carried_bar = weight[:, :, None] * momentum_bar
        v_bar = carried_bar.sum(axis=1)
        A_bar = dx * np.einsum("nka,nkb->nab", carried_bar, away)
        away_bar += dx * np.einsum("nab,nka->nkb", A, carried_bar)
        # Weights and (i, j) - f from x.
        slopes = np.stack([f - 1.5, 2 - 2 * f, f - 0.5], axis=1)
        i, j = self.offsets.T
        f_bar = np.stack([(weight_bar * slopes[:, i, 0] * w[:, j, 1]).sum(axis=1),
                          (weight_bar * w[:, i, 0] * slopes[:, j, 1]).sum(axis=1)], axis=1)
        x_bar = x_bar + (f_bar - away_bar.sum(axis=1)) / dx
        # A from C and the moved F.
        S_bar = -4 * dt / dx ** 2 * A_bar
        moved_bar = F_bar + 2 * mu * (S_bar @ moved + np.swapaxes(S_bar, 1, 2) @ (moved - R))
        J_bar = la * (2 * J - 1) * (S_bar[:, 0, 0] + S_bar[:, 1, 1])
        cofactors = np.stack([moved[:, 1, 1], -moved[:, 1, 0], -moved[:, 0, 1], moved[:, 0, 0]],
                             axis=1).reshape(-1, 2, 2)
        moved_bar += J_bar[:, None, None] * cofactors
        R_bar = -2 * mu * S_bar @ moved
        c, s = R[:, 0, 0], R[:, 1, 0]
        turn = ((R_bar[:, 0, 0] + R_bar[:, 1, 1]) * s - (R_bar[:, 1, 0] - R_bar[:, 0, 1]) * c) / r
        moved_bar += np.stack([s * turn, c * turn, -c * turn, s * turn],
                              axis=1).reshape(-1, 2, 2)
        C_bar = A_bar + dt * moved_bar @ np.swapaxes(F, 1, 2)
        F_bar = moved_bar + dt * np.swapaxes(C, 1, 2) @ moved_bar
        return x_bar, v_bar, C_bar, F_bar


def mpm2d():
    points, target = MaterialPoints(), np.array(Mpm2d.target)

    def miss(v0, history=None):
        matrices = np.zeros((Mpm2d.n, 2, 2))
        state = (Mpm2d.positions(), np.broadcast_to(v0, (Mpm2d.n, 2)), matrices,
                 matrices + np.eye(2))
        for _ in range(Mpm2d.steps):
            if history is not None:
                history.append(state)
            state = points.step(*state)
        return state[0].mean(axis=0) - target

    history = []
    end = miss(np.zeros(2), history)
    matrices = np.zeros((Mpm2d.n, 2, 2))
    adjoint = (np.broadcast_to(end / Mpm2d.n, (Mpm2d.n, 2)), np.zeros((Mpm2d.n, 2)), matrices,
               matrices)
    while history:
        adjoint = points.step_adjoint(history.pop(), adjoint)
    gradient = adjoint[1].sum(axis=0)

    # The imaginary part of the loss over the step is the derivative: nothing is subtracted.
    step = 1e-30
    slopes = [((miss(direction) ** 2).sum() / 2).imag / step
              for direction in 1j * step * np.eye(2)]
    return (end ** 2).sum() / 2, {"v0": gradient}, {"v0": relative(gradient, slopes)}


def implicit_cloth():
    from implicit_cloth import Cloth

    cloth = Cloth()

    def loss(density=0.0, stiffness=0.0, start=0.0):
        cloth.set_density(ImplicitCloth.area_density + density)
        cloth.stiffness = ImplicitCloth.warp_stiffness + stiffness * np.ones(len(cloth.triangles))
        return (cloth.run(cloth.rest + start)[-1] ** 2).sum()

    def difference(name, step):
        return (loss(**{name: step}) - loss(**{name: -step})) / 2

    way = cloth.run(cloth.rest)
    gradients = cloth.gradients(way)
    wave = np.sin(1.3 * np.arange(len(cloth.triangles)) + 0.3)
    sway = np.sin(2e-3 * np.arange(cloth.rest.size) + 0.3).reshape(cloth.rest.shape)
    checks = {
        "density": relative(gradients["density"][0], difference("density", 1e-5) / 1e-5),
        "k": relative(gradients["k"] @ wave, difference("stiffness", 0.1 * wave) / 0.1),
        "x0": relative((gradients["x0"] * sway).sum(), difference("start", 1e-6 * sway) / 1e-6),
    }
    return (way[-1] ** 2).sum(), {**gradients, "end": way[-1]}, checks


def relative(value, expected):
    value, expected = np.asarray(value), np.asarray(expected)
    return float(np.linalg.norm(value - expected) / np.linalg.norm(expected))


def compute(workload):
    loss, gradients, checks = globals()[workload]()
    return {"steps": DEFINITIONS[workload].steps, "loss": float(loss), **digest(gradients),
            "difference_error": checks}


def numbers(entry):
    """All loss and gradient values of an entry in one vector."""
    values = [entry["loss"], *entry["grad_norm"].values()]
    for field in ("grad", "grad_sample"):
        for components in entry[field].values():
            values += components
    return np.array(values)


def main():
    parser = argparse.ArgumentParser(description="Reference values of the workloads in f64.")
    parser.add_argument("workloads", nargs="*", metavar="WORKLOAD", help=", ".join(DEFINITIONS))
    parser.add_argument("--write", action="store_true")
    options = parser.parse_args()
    unknown = sorted(set(options.workloads) - set(DEFINITIONS))
    if unknown:
        parser.error(f"no workload {', '.join(unknown)}; there are {', '.join(DEFINITIONS)}")
    stored = json.loads(FILE.read_text()) if FILE.exists() else {}
    status = 0
    for workload in options.workloads or DEFINITIONS:
        entry = compute(workload)
        checks = entry["difference_error"]
        described = ", ".join(f"{name} {error:.1e}" for name, error in checks.items())
        print(f"{workload}: loss {entry['loss']:.12g}; adjoint against differences: "
              f"{described}")
        if max(checks.values()) > 1e-6:
            print(f"{workload}: the adjoint disagrees with differences")
            status = 1
        if options.write:
            stored[workload] = entry
        elif workload not in stored:
            print(f"{workload}: not in {FILE.name}; run with --write")
            status = 1
        else:
            now, before = numbers(entry), numbers(stored[workload])
            if now.shape != before.shape or not np.allclose(now, before, rtol=1e-9, atol=1e-18):
                print(f"{workload}: {FILE.name} differs")
                status = 1
            else:
                print(f"{workload}: agrees with {FILE.name}")
    if options.write and status == 0:
        FILE.write_text(json.dumps(stored, indent=1) + "\n")
    sys.exit(status)


if __name__ == "__main__":
    main()
