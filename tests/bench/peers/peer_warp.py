#!/usr/bin/env python3
"""The workloads in Warp on its CPU back end, which runs kernels on one thread. A recorded launch
(record_cmd) is replayed from Python one by one; a CPU graph is a captured sequence of launches,
replayed by one call without Python in between.

The kernels are compiled into WARP_CACHE_PATH where it is set, else into a folder of this process,
so that compile_s is the time of a cold cache.
"""
import functools
import os
import tempfile

import measure
from workloads import ClothSprings, LaunchOverhead, Mpm2d, SpringCage, TetNeohookean, Wave2d

import numpy as np


def load():
    import warp as wp
    wp.config.log_level = wp.LOG_ERROR
    if "WARP_CACHE_PATH" not in os.environ:
        load.cache = tempfile.TemporaryDirectory(prefix="warp-cache-")  # gone with the process
        wp.config.kernel_cache_dir = load.cache.name
    wp.init()
    wp.set_device("cpu")
    return wp


def compile_seconds(wp):
    """Compiles the kernels defined so far."""
    return measure.elapsed(lambda: wp.load_module(__name__, device="cpu"))


def captured(wp, function):
    """function's launches as one CPU graph, ready to be called."""
    with wp.ScopedCapture() as capture:
        function()
    return functools.partial(wp.capture_launch, capture.graph)


class Recipe:
    """A fixed list of launches (kernel, size, inputs, outputs) that ends in a scalar loss."""

    def __init__(self, wp, launches, loss, summed, differentiated):
        self.wp, self.launches, self.loss = wp, launches, loss
        self.summed = summed  # arrays that launches add to: zeroed first
        self.differentiated = differentiated

    def forward(self):
        for array in self.summed:
            array.zero_()
        for kernel, size, inputs, outputs in self.launches:
            self.wp.launch(kernel, size, inputs, outputs)

    def forward_backward(self):
        for array in self.differentiated:
            array.grad.zero_()
        tape = self.wp.Tape()
        with tape:
            self.forward()
        tape.backward(self.loss)


def launch_overhead(variant, options):
    wp = load()

    @wp.kernel
    def axpy(a: float, x: wp.array(dtype=float), y0: wp.array(dtype=float),
             y: wp.array(dtype=float)):
        i = wp.tid()
        y[i] = a * x[i] + y0[i]

    a, steps = LaunchOverhead.a, LaunchOverhead.steps
    x, y0 = (wp.array(values, dtype=float, requires_grad=True)
             for values in LaunchOverhead.inputs())
    y = wp.zeros(8, dtype=float, requires_grad=True)
    compile_s = compile_seconds(wp)
    launch = functools.partial(wp.launch, axpy, 8, [a, x, y0], [y])
    launch_adjoint = functools.partial(launch, adj_inputs=[0.0, x.grad, y0.grad],
                                       adj_outputs=[y.grad], adjoint=True)

    def many(call):
        def loop():
            for _ in range(steps):
                call()
        return loop

    graph = {"recorded-launch": False, "cpu-graph": True}[variant]
    if graph:
        forward, adjoint = captured(wp, many(launch)), captured(wp, many(launch_adjoint))
    else:
        forward = many(launch(record_cmd=True).launch)
        adjoint = many(launch_adjoint(record_cmd=True).launch)

    def results():
        y.grad.fill_(1.0)
        for array in (x, y0):
            array.grad.zero_()
        launch()
        launch_adjoint()
        return y.numpy().sum(), {"x": x.grad.numpy().copy()}

    return measure.Program(
        version=wp.config.version, threads=1, compile_s=compile_s, forward=forward,
        adjoint=adjoint, forward_backward=lambda: (forward(), adjoint()), results=results)


def spring_cage(variant, options):
    """step-kernel: one launch per step. unrolled-kernel: the whole roll-out in one launch, its loop
    over steps unrolled by the compiler: Warp's adjoint of a loop that stays a loop is not right
    when its body is non-linear in what it carries (see "Dynamic Loops" in Warp's manual)."""
    wp = load()
    unrolled = {"step-kernel-cpu-graph": False, "unrolled-kernel-cpu-graph": True}[variant]
    STEPS, H, RATE = SpringCage.steps, wp.constant(SpringCage.h), wp.constant(SpringCage.rate)
    K, C = wp.constant(SpringCage.stiffness), wp.constant(SpringCage.damping)
    GRAVITY = wp.constant(wp.vec3(*SpringCage.gravity))
    TARGET = wp.constant(wp.vec3(*SpringCage.target))
    vectors, floats = wp.array(dtype=wp.vec3), wp.array(dtype=float)

    @wp.func
    def acceleration(anchors: vectors, rest: floats, x: wp.vec3, v: wp.vec3):
        total = GRAVITY
        for k in range(8):
            d = anchors[k] - x
            length = wp.length(d)
            u = d / length
            total = total + (K * (length - rest[k]) - C * wp.dot(u, v)) * u
        return total

    @wp.kernel
    def evaluate(x: vectors, loss: floats):
        d = x[0] - TARGET
        loss[0] = wp.dot(d, d)

    @wp.kernel
    def descend(rest: floats, gradient: floats):
        k = wp.tid()
        rest[k] = rest[k] - RATE * gradient[k]

    def states():
        return wp.zeros((STEPS + 1, 1), dtype=wp.vec3, requires_grad=True)

    anchors = wp.array(SpringCage.anchors, dtype=wp.vec3)
    start = wp.array(SpringCage.rest_lengths(), dtype=float)
    rest = wp.clone(start, requires_grad=True)
    x, v = states(), states()
    loss = wp.zeros(1, dtype=float, requires_grad=True)

    if unrolled:
        wp.set_module_options({"max_unroll": STEPS})

        @wp.kernel
        def roll_out(anchors: vectors, rest: floats, x_end: vectors):
            x = wp.vec3(0.0, 0.0, 0.0)
            v = wp.vec3(0.0, 0.0, 0.0)
            for t in range(STEPS):
                v = v + H * acceleration(anchors, rest, x, v)
                x = x + H * v
            x_end[0] = x

        launches = [(roll_out, 1, [anchors, rest], [x[STEPS]])]
    else:
        @wp.kernel
        def step(anchors: vectors, rest: floats, x: vectors, v: vectors,
                 x_next: vectors, v_next: vectors):
            moved = v[0] + H * acceleration(anchors, rest, x[0], v[0])
            v_next[0] = moved
            x_next[0] = x[0] + H * moved

        launches = [(step, 1, [anchors, rest, x[t], v[t]], [x[t + 1], v[t + 1]])
                    for t in range(STEPS)]
    launches.append((evaluate, 1, [x[STEPS]], [loss]))
    recipe = Recipe(wp, launches, loss, summed=[], differentiated=[x, v, rest, loss])

    def iterate():
        recipe.forward_backward()
        wp.launch(descend, 8, [rest, rest.grad], record_tape=False)

    compile_s = compile_seconds(wp)
    forward, iteration = captured(wp, recipe.forward), captured(wp, iterate)

    def restart():
        wp.copy(rest, start)

    def results():
        restart()
        iteration()
        return loss.numpy()[0], {"rest": rest.grad.numpy().copy()}

    return measure.Program(
        version=wp.config.version, threads=1, compile_s=compile_s, forward=forward,
        forward_backward=iteration, results=results, calls=50, restart=restart)


def cloth_springs(variant, options):
    """One launch over the springs that adds to both ends, one over the particles. springs-tape
    records and plays back from Python; springs-cpu-graph replays the same launches as graphs."""
    wp = load()
    graph = {"springs-tape": False, "springs-cpu-graph": True}[variant]
    side, n, steps = ClothSprings.side, ClothSprings.n, ClothSprings.steps
    SIDE, COUNT = wp.constant(side), wp.constant(float(n))
    DT, DECAY = wp.constant(ClothSprings.dt), wp.constant(ClothSprings.decay)
    GRAVITY = wp.constant(wp.vec3(*ClothSprings.gravity))
    TARGET = wp.constant(wp.vec3(*ClothSprings.target))
    vectors, floats, ints = (wp.array(dtype=kind) for kind in (wp.vec3, float, int))

    @wp.kernel
    def add_springs(stiffness: floats, first: ints, second: ints, rest: floats, x: vectors,
                    force: vectors):
        s = wp.tid()
        a = first[s]
        b = second[s]
        d = x[b] - x[a]
        pull = (stiffness[0] * (1.0 - rest[s] / wp.length(d))) * d
        wp.atomic_add(force, a, pull)
        wp.atomic_sub(force, b, pull)

    @wp.kernel
    def move(x: vectors, v: vectors, force: vectors, x_next: vectors, v_next: vectors):
        p = wp.tid()
        if p < SIDE:
            v_next[p] = wp.vec3(0.0, 0.0, 0.0)
            x_next[p] = x[p]
        else:
            moved = DECAY * (v[p] + DT * (force[p] + GRAVITY))
            v_next[p] = moved
            x_next[p] = x[p] + DT * moved

    # The mean in two levels: 65 536 terms added into one float would lose digits.
    @wp.kernel
    def add_rows(x: vectors, rows: vectors):
        p = wp.tid()
        wp.atomic_add(rows, p / SIDE, x[p])

    @wp.kernel
    def average(rows: vectors, mean: vectors):
        wp.atomic_add(mean, 0, rows[wp.tid()] / COUNT)

    @wp.kernel
    def evaluate(mean: vectors, loss: floats):
        d = mean[0] - TARGET
        loss[0] = wp.dot(d, d)

    def zeros(*shape, kind=wp.vec3):
        return wp.zeros(shape, dtype=kind, requires_grad=True)

    x, v, force = zeros(steps + 1, n), zeros(steps + 1, n), zeros(steps, n)
    rows, mean, loss = zeros(side), zeros(1), zeros(1, kind=float)
    stiffness = wp.array([ClothSprings.stiffness], dtype=float, requires_grad=True)
    x.numpy()[0], v.numpy()[0] = (values.reshape(n, 3) for values in ClothSprings.inputs())
    first, second, lengths = ClothSprings.springs()
    count = lengths.size
    first, second = wp.array(first, dtype=int), wp.array(second, dtype=int)
    rest = wp.array(lengths, dtype=float)

    launches = []
    for t in range(steps):
        launches += [
            (add_springs, count, [stiffness, first, second, rest, x[t]], [force[t]]),
            (move, n, [x[t], v[t], force[t]], [x[t + 1], v[t + 1]]),
        ]
    launches += [(add_rows, n, [x[steps]], [rows]), (average, side, [rows], [mean]),
                 (evaluate, 1, [mean], [loss])]
    recipe = Recipe(wp, launches, loss, summed=[force, rows, mean],
                    differentiated=[x, v, force, rows, mean, loss, stiffness])
    compile_s = compile_seconds(wp)
    forward, forward_backward = recipe.forward, recipe.forward_backward
    if graph:
        forward, forward_backward = captured(wp, forward), captured(wp, forward_backward)

    def results():
        forward_backward()
        return loss.numpy()[0], {"v0": v.grad.numpy()[0].copy(), "K": stiffness.grad.numpy().copy()}

    return measure.Program(
        version=wp.config.version, threads=1, compile_s=compile_s, forward=forward,
        forward_backward=forward_backward, results=results)


def graphs_of(wp, recipe, compile_s, results):
    """The Program that replays a recipe as CPU graphs."""
    forward, forward_backward = captured(wp, recipe.forward), captured(wp, recipe.forward_backward)

    def values():
        forward_backward()
        return results()

    return measure.Program(
        version=wp.config.version, threads=1, compile_s=compile_s, forward=forward,
        forward_backward=forward_backward, results=values)


def wave2d(variant, options):
    wp = load()
    side, steps = Wave2d.side, Wave2d.steps
    SIDE, K, COUNT = wp.constant(side), wp.constant(Wave2d.courant_squared), wp.constant(
        float(Wave2d.n))
    grids = wp.array2d(dtype=float)

    @wp.kernel
    def advance(older: grids, newer: grids, made: grids):
        i, j = wp.tid()
        if i > 0 and j > 0 and i < SIDE - 1 and j < SIDE - 1:
            middle = newer[i, j]
            around = newer[i - 1, j] + newer[i + 1, j] + newer[i, j - 1] + newer[i, j + 1]
            made[i, j] = 2.0 * middle - older[i, j] + K * (around - 4.0 * middle)

    # The mean in two levels: 262 144 terms added into one float would lose digits.
    @wp.kernel
    def add_rows(last: grids, target: grids, rows: wp.array(dtype=float)):
        i, j = wp.tid()
        miss = last[i, j] - target[i, j]
        wp.atomic_add(rows, i, miss * miss)

    @wp.kernel
    def average(rows: wp.array(dtype=float), loss: wp.array(dtype=float)):
        wp.atomic_add(loss, 0, rows[wp.tid()] / COUNT)

    levels = wp.zeros((steps + 2, side, side), dtype=float, requires_grad=True)
    rows, loss = (wp.zeros(size, dtype=float, requires_grad=True) for size in (side, 1))
    first, wanted = Wave2d.inputs()
    levels.numpy()[0] = first
    target = wp.array(wanted, dtype=float)
    launches = [(advance, (side, side), [levels[t], levels[t + 1]], [levels[t + 2]])
                for t in range(steps)]
    launches += [(add_rows, (side, side), [levels[steps + 1], target], [rows]),
                 (average, side, [rows], [loss])]
    recipe = Recipe(wp, launches, loss, summed=[rows, loss], differentiated=[levels, rows, loss])
    return graphs_of(wp, recipe, compile_seconds(wp),
                     lambda: (loss.numpy()[0], {"p0": levels.grad.numpy()[0].copy()}))


def tet_neohookean(variant, options):
    wp = load()
    define = TetNeohookean
    steps, nodes = define.steps, define.nodes
    DT, VOLUME, FIXED = (wp.constant(define.dt), wp.constant(define.volume),
                         wp.constant(define.fixed))
    COUNT, GRAVITY = wp.constant(float(nodes)), wp.constant(wp.vec3(*define.gravity))
    vectors, floats = wp.array(dtype=wp.vec3), wp.array(dtype=float)

    @wp.kernel
    def add_stress(moduli: floats, corners: wp.array(dtype=wp.vec4i),
                   inverse: wp.array(dtype=wp.mat33), x: vectors, force: vectors):
        e = wp.tid()
        c = corners[e]
        start = x[c[0]]
        edges = wp.matrix_from_cols(x[c[1]] - start, x[c[2]] - start, x[c[3]] - start)
        F = edges * inverse[e]
        G = wp.transpose(wp.inverse(F))
        P = moduli[0] * (F - G) + (moduli[1] * wp.log(wp.determinant(F))) * G
        pull = (-VOLUME) * (inverse[e] * wp.transpose(P))  # row k belongs to corner k + 1
        wp.atomic_add(force, c[1], pull[0])
        wp.atomic_add(force, c[2], pull[1])
        wp.atomic_add(force, c[3], pull[2])
        wp.atomic_sub(force, c[0], pull[0] + pull[1] + pull[2])

    @wp.kernel
    def move(inverse_mass: floats, x: vectors, v: vectors, force: vectors, x_next: vectors,
             v_next: vectors):
        p = wp.tid()
        if p < FIXED:
            v_next[p] = wp.vec3(0.0, 0.0, 0.0)
            x_next[p] = x[p]
        else:
            moved = v[p] + DT * (inverse_mass[p] * force[p] + GRAVITY)
            v_next[p] = moved
            x_next[p] = x[p] + DT * moved

    @wp.kernel
    def evaluate(x: vectors, target: vectors, loss: floats):
        miss = x[wp.tid()] - target[wp.tid()]
        wp.atomic_add(loss, 0, wp.dot(miss, miss) / COUNT)

    def zeros(*shape, kind=wp.vec3):
        return wp.zeros(shape, dtype=kind, requires_grad=True)

    x, v, force = zeros(steps + 1, nodes), zeros(steps + 1, nodes), zeros(steps, nodes)
    loss = zeros(1, kind=float)
    moduli = wp.array([define.mu, define.la], dtype=float, requires_grad=True)
    x.numpy()[0], v.numpy()[0] = define.rest(), define.velocities()
    corners = wp.array(define.corners(), dtype=wp.vec4i)
    inverse = wp.array(define.inverse_edges().astype(np.float32), dtype=wp.mat33)
    inverse_mass = wp.array(1 / define.masses(), dtype=float)
    target = wp.array(define.target(), dtype=wp.vec3)
    launches = []
    for t in range(steps):
        launches += [
            (add_stress, define.n, [moduli, corners, inverse, x[t]], [force[t]]),
            (move, nodes, [inverse_mass, x[t], v[t], force[t]], [x[t + 1], v[t + 1]]),
        ]
    launches.append((evaluate, nodes, [x[steps], target], [loss]))
    recipe = Recipe(wp, launches, loss, summed=[force, loss],
                    differentiated=[x, v, force, loss, moduli])

    def results():
        mu, la = moduli.grad.numpy()
        return loss.numpy()[0], {"v0": v.grad.numpy()[0].copy(), "mu": mu, "la": la}

    return graphs_of(wp, recipe, compile_seconds(wp), results)


def mpm2d(variant, options):
    """Every step has places of its own for points and grid."""
    wp = load()
    side, n, steps, nodes = Mpm2d.side, Mpm2d.n, Mpm2d.steps, Mpm2d.nodes
    SIDE, COUNT, NODES, SCALE = (wp.constant(value) for value in (
        side, float(n), nodes, float(nodes)))
    DT, DX, FALL = (wp.constant(value) for value in (
        Mpm2d.dt, Mpm2d.dx, Mpm2d.dt * Mpm2d.gravity))
    TWO_MU, LA, STRESS = (wp.constant(value) for value in (
        2 * Mpm2d.mu, Mpm2d.la, -4 * Mpm2d.dt * nodes ** 2))
    EMPTY, WALL = wp.constant(Mpm2d.empty), wp.constant(Mpm2d.wall)
    TARGET = wp.constant(wp.vec2(*Mpm2d.target))
    vectors, matrices = wp.array(dtype=wp.vec2), wp.array(dtype=wp.mat22)
    sums, velocities = wp.array2d(dtype=wp.vec3), wp.array2d(dtype=wp.vec2)

    @wp.func
    def weights(f: wp.vec2):
        """The weights of nodes 0, 1, 2 as columns."""
        a = wp.vec2(1.5, 1.5) - f
        b = f - wp.vec2(1.0, 1.0)
        c = f - wp.vec2(0.5, 0.5)
        return wp.matrix_from_cols(0.5 * wp.cw_mul(a, a),
                                   wp.vec2(0.75, 0.75) - wp.cw_mul(b, b),
                                   0.5 * wp.cw_mul(c, c))

    @wp.kernel
    def start(v0: vectors, v: vectors):
        v[wp.tid()] = v0[0]

    @wp.kernel
    def to_grid(x: vectors, v: vectors, C: matrices, F: matrices, F_next: matrices, grid: sums):
        p = wp.tid()
        scaled = x[p] * SCALE
        i0 = int(scaled[0] - 0.5)
        j0 = int(scaled[1] - 0.5)
        f = wp.vec2(scaled[0] - float(i0), scaled[1] - float(j0))
        w = weights(f)
        moved = F[p] + DT * (C[p] * F[p])
        F_next[p] = moved
        J = wp.determinant(moved)
        a = moved[0, 0] + moved[1, 1]
        b = moved[1, 0] - moved[0, 1]
        r = 1.0 / wp.sqrt(a * a + b * b)
        R = wp.mat22(a * r, -b * r, b * r, a * r)
        stress = (TWO_MU * ((moved - R) * wp.transpose(moved))
                  + wp.mat22(1.0, 0.0, 0.0, 1.0) * (LA * J * (J - 1.0)))
        A = STRESS * stress + C[p]
        for i in range(3):
            for j in range(3):
                weight = w[0, i] * w[1, j]
                momentum = weight * (v[p] + A * ((wp.vec2(float(i), float(j)) - f) * DX))
                wp.atomic_add(grid, i0 + i, j0 + j, wp.vec3(momentum[0], momentum[1], weight))

    @wp.kernel
    def update_grid(grid: sums, u: velocities):
        i, j = wp.tid()
        node = grid[i, j]
        inverse = 1.0 / (node[2] + EMPTY)
        a = node[0] * inverse
        b = node[1] * inverse - FALL
        if i < WALL and a < 0.0:
            a = 0.0
        if i > NODES - WALL and a > 0.0:
            a = 0.0
        if j < WALL and b < 0.0:
            b = 0.0
        if j > NODES - WALL and b > 0.0:
            b = 0.0
        u[i, j] = wp.vec2(a, b)

    @wp.kernel
    def to_points(x: vectors, u: velocities, x_next: vectors, v_next: vectors, C_next: matrices):
        p = wp.tid()
        scaled = x[p] * SCALE
        i0 = int(scaled[0] - 0.5)
        j0 = int(scaled[1] - 0.5)
        f = wp.vec2(scaled[0] - float(i0), scaled[1] - float(j0))
        w = weights(f)
        velocity = wp.vec2(0.0, 0.0)
        gradient = wp.mat22(0.0, 0.0, 0.0, 0.0)
        for i in range(3):
            for j in range(3):
                around = (w[0, i] * w[1, j]) * u[i0 + i, j0 + j]
                velocity += around
                gradient += wp.outer(around, wp.vec2(float(i), float(j)) - f)
        v_next[p] = velocity
        C_next[p] = (4.0 * SCALE) * gradient
        x_next[p] = x[p] + DT * velocity

    # The mean in two levels: 6400 terms added into one float would lose digits.
    @wp.kernel
    def add_rows(x: vectors, rows: vectors):
        p = wp.tid()
        wp.atomic_add(rows, p / SIDE, x[p])

    @wp.kernel
    def average(rows: vectors, mean: vectors):
        wp.atomic_add(mean, 0, rows[wp.tid()] / COUNT)

    @wp.kernel
    def evaluate(mean: vectors, loss: wp.array(dtype=float)):
        d = mean[0] - TARGET
        loss[0] = 0.5 * wp.dot(d, d)

    def zeros(*shape, kind=wp.vec2):
        return wp.zeros(shape, dtype=kind, requires_grad=True)

    x, v = zeros(steps + 1, n), zeros(steps + 1, n)
    C, F = zeros(steps + 1, n, kind=wp.mat22), zeros(steps + 1, n, kind=wp.mat22)
    grid, u = zeros(steps, nodes, nodes, kind=wp.vec3), zeros(steps, nodes, nodes)
    v0, rows, mean, loss = zeros(1), zeros(side), zeros(1), zeros(1, kind=float)
    x.numpy()[0], F.numpy()[0] = Mpm2d.positions(), np.eye(2)

    launches = [(start, n, [v0], [v[0]])]
    for t in range(steps):
        launches += [
            (to_grid, n, [x[t], v[t], C[t], F[t]], [F[t + 1], grid[t]]),
            (update_grid, (nodes, nodes), [grid[t]], [u[t]]),
            (to_points, n, [x[t], u[t]], [x[t + 1], v[t + 1], C[t + 1]]),
        ]
    launches += [(add_rows, n, [x[steps]], [rows]), (average, side, [rows], [mean]),
                 (evaluate, 1, [mean], [loss])]
    recipe = Recipe(wp, launches, loss, summed=[grid, rows, mean],
                    differentiated=[x, v, C, F, grid, u, v0, rows, mean, loss])
    return graphs_of(wp, recipe, compile_seconds(wp),
                     lambda: (loss.numpy()[0], {"v0": v0.grad.numpy()[0].copy()}))


if __name__ == "__main__":
    measure.main("warp", {"launch_overhead": launch_overhead, "spring_cage": spring_cage,
                          "cloth_springs": cloth_springs, "wave2d": wave2d,
                          "tet_neohookean": tet_neohookean, "mpm2d": mpm2d})
