#!/usr/bin/env python3
"""The workloads in Taichi on its CPU back end: fields with gradients, the gradient kernels called
one by one in reverse order (cheaper than ti.ad.Tape)."""
import measure
from workloads import ClothSprings, Mpm2d, SpringCage, TetNeohookean, Wave2d

import numpy as np


def load(options):
    import taichi as ti
    ti.init(arch=ti.cpu, default_fp=ti.f32, cpu_max_num_threads=options.threads,
            offline_cache=False, log_level=ti.ERROR)
    return ti, ".".join(map(str, ti.__version__))


def spring_cage(variant, options):
    """The whole roll-out is one kernel; every state has a place of its own in x and v."""
    ti, version = load(options)
    steps, h, rate = SpringCage.steps, SpringCage.h, SpringCage.rate
    stiffness, damping = SpringCage.stiffness, SpringCage.damping
    gravity, target = ti.Vector(SpringCage.gravity), ti.Vector(SpringCage.target)
    x, v = (ti.Vector.field(3, ti.f32, shape=steps + 1, needs_grad=True) for _ in range(2))
    rest = ti.field(ti.f32, shape=8, needs_grad=True)
    loss = ti.field(ti.f32, shape=(), needs_grad=True)
    anchors, start = ti.Vector.field(3, ti.f32, shape=8), ti.field(ti.f32, shape=8)
    anchors.from_numpy(SpringCage.anchors.astype(np.float32))
    start.from_numpy(SpringCage.rest_lengths().astype(np.float32))

    @ti.kernel
    def roll_out():
        ti.loop_config(serialize=True)
        for _ in range(1):
            for t in range(steps):
                force = gravity
                for k in ti.static(range(8)):
                    d = anchors[k] - x[t]
                    length = d.norm()
                    u = d / length
                    force += (stiffness * (length - rest[k]) - damping * u.dot(v[t])) * u
                v[t + 1] = v[t] + h * force
                x[t + 1] = x[t] + h * (v[t] + h * force)

    @ti.kernel
    def evaluate():
        d = x[steps] - target
        loss[None] = d.dot(d)

    @ti.kernel
    def clear_gradients():
        ti.loop_config(serialize=True)
        for t in range(steps + 1):
            x.grad[t] = [0.0, 0.0, 0.0]
            v.grad[t] = [0.0, 0.0, 0.0]
        ti.loop_config(serialize=True)
        for k in range(8):
            rest.grad[k] = 0.0
        loss.grad[None] = 1.0

    @ti.kernel
    def descend():
        ti.loop_config(serialize=True)
        for k in range(8):
            rest[k] -= rate * rest.grad[k]

    def forward():
        roll_out()
        evaluate()

    def iteration():
        clear_gradients()
        forward()
        evaluate.grad()
        roll_out.grad()
        descend()

    def restart():
        rest.copy_from(start)

    def results():
        restart()
        iteration()
        return loss[None], {"rest": rest.grad.to_numpy()}

    restart()
    compile_s = measure.elapsed(iteration)
    return measure.Program(
        version=version, threads=options.threads, compile_s=compile_s, forward=forward,
        forward_backward=iteration, results=results, calls=50, restart=restart)


def cloth_springs(variant, options):
    """particles: one loop over particles that visits the springs at both ends, nothing scattered in
    the forward pass. springs-serial: one loop over the springs that adds to both ends; serialized,
    because on this back end atomic additions by several threads are slower than one thread."""
    ti, version = load(options)
    by_springs = {"particles": False, "springs-serial": True}[variant]
    side, n, steps = ClothSprings.side, ClothSprings.n, ClothSprings.steps
    dt, decay = ClothSprings.dt, ClothSprings.decay
    gravity, target = ti.Vector(ClothSprings.gravity), ti.Vector(ClothSprings.target)
    states = (steps + 1, side, side)
    x, v = (ti.Vector.field(3, ti.f32, shape=states, needs_grad=True) for _ in range(2))
    stiffness, loss = (ti.field(ti.f32, shape=(), needs_grad=True) for _ in range(2))
    mean = ti.Vector.field(3, ti.f32, shape=(), needs_grad=True)
    differentiated = [x, v, stiffness, mean, loss]

    @ti.func
    def move(t, i, j, force):
        if i == 0:
            v[t + 1, i, j] = [0.0, 0.0, 0.0]
            x[t + 1, i, j] = x[t, i, j]
        else:
            moved = decay * (v[t, i, j] + dt * (force + gravity))
            v[t + 1, i, j] = moved
            x[t + 1, i, j] = x[t, i, j] + dt * moved

    if by_springs:
        first_end, second_end, lengths = ClothSprings.springs()
        count = lengths.size
        ends = ti.Vector.field(4, ti.i32, shape=count)  # rows and columns of both ends
        rest = ti.field(ti.f32, shape=count)
        ends.from_numpy(np.stack([first_end // side, first_end % side,
                                  second_end // side, second_end % side], axis=1))
        rest.from_numpy(lengths.astype(np.float32))
        force = ti.Vector.field(3, ti.f32, shape=(steps, side, side), needs_grad=True)
        differentiated.append(force)

        @ti.kernel
        def add_springs(t: ti.i32):
            ti.loop_config(serialize=True)
            for s in range(count):
                e = ends[s]
                d = x[t, e[2], e[3]] - x[t, e[0], e[1]]
                pull = (stiffness[None] * (1.0 - rest[s] / d.norm())) * d
                force[t, e[0], e[1]] += pull
                force[t, e[2], e[3]] -= pull

        @ti.kernel
        def move_all(t: ti.i32):
            ti.loop_config(serialize=True)
            for i, j in ti.ndrange(side, side):
                move(t, i, j, force[t, i, j])

        kernels_of_step = [add_springs, move_all]
    else:
        around = [((sign * di, sign * dj), ClothSprings.rest_length((di, dj)))
                  for di, dj in ClothSprings.offsets for sign in (1, -1)]

        @ti.kernel
        def step(t: ti.i32):
            for i, j in ti.ndrange(side, side):
                pull = ti.Vector([0.0, 0.0, 0.0])
                for offset, length in ti.static(around):
                    a, b = i + offset[0], j + offset[1]
                    if 0 <= a and a < side and 0 <= b and b < side:
                        d = x[t, a, b] - x[t, i, j]
                        pull += (1.0 - length / d.norm()) * d
                move(t, i, j, stiffness[None] * pull)

        kernels_of_step = [step]

    @ti.kernel
    def average():
        if ti.static(by_springs):
            ti.loop_config(serialize=True)
        for i, j in ti.ndrange(side, side):
            mean[None] += x[steps, i, j] / n

    @ti.kernel
    def evaluate():
        d = mean[None] - target
        loss[None] = d.dot(d)

    def launch_forward():
        mean.fill(0)
        if by_springs:
            force.fill(0)
        for t in range(steps):
            for kernel in kernels_of_step:
                kernel(t)
        average()
        evaluate()

    def forward():
        launch_forward()
        ti.sync()

    def forward_backward():
        for field in differentiated:
            field.grad.fill(0)
        launch_forward()
        loss.grad[None] = 1.0
        evaluate.grad()
        average.grad()
        for t in reversed(range(steps)):
            for kernel in reversed(kernels_of_step):
                kernel.grad(t)
        ti.sync()

    @ti.kernel
    def set_first_state(x0: ti.types.ndarray(), v0: ti.types.ndarray()):
        for i, j in ti.ndrange(side, side):
            for c in ti.static(range(3)):
                x[0, i, j][c] = x0[i, j, c]
                v[0, i, j][c] = v0[i, j, c]

    @ti.kernel
    def get_gradient(v0: ti.types.ndarray()):
        for i, j in ti.ndrange(side, side):
            for c in ti.static(range(3)):
                v0[i, j, c] = v.grad[0, i, j][c]

    def results():
        forward_backward()
        gradient = np.zeros((side, side, 3), np.float32)
        get_gradient(gradient)
        return loss[None], {"v0": gradient, "K": stiffness.grad[None]}

    set_first_state(*(values.astype(np.float32) for values in ClothSprings.inputs()))
    stiffness[None] = ClothSprings.stiffness
    compile_s = measure.elapsed(forward_backward) - measure.elapsed(forward_backward)
    return measure.Program(
        version=version, threads=options.threads, compile_s=max(compile_s, 0.0), forward=forward,
        forward_backward=forward_backward, results=results)


def rolled_out(ti, version, options, steps, clear, kernels_of_step, kernels_at_end, loss,
               differentiated, results):
    """The Program that calls kernels_of_step(t) for every step, then kernels_at_end()."""
    def launch_forward():
        for field in clear:
            field.fill(0)
        for t in range(steps):
            for kernel in kernels_of_step:
                kernel(t)
        for kernel in kernels_at_end:
            kernel()

    def forward():
        launch_forward()
        ti.sync()

    def forward_backward():
        for field in differentiated:
            field.grad.fill(0)
        launch_forward()
        loss.grad[None] = 1.0
        for kernel in reversed(kernels_at_end):
            kernel.grad()
        for t in reversed(range(steps)):
            for kernel in reversed(kernels_of_step):
                kernel.grad(t)
        ti.sync()

    def values():
        forward_backward()
        return results()

    compile_s = measure.elapsed(forward_backward) - measure.elapsed(forward_backward)
    return measure.Program(
        version=version, threads=options.threads, compile_s=max(compile_s, 0.0), forward=forward,
        forward_backward=forward_backward, results=values)


def wave2d(variant, options):
    ti, version = load(options)
    serial = {"parallel": False, "serial": True}[variant]
    side, steps, n, k = Wave2d.side, Wave2d.steps, Wave2d.n, Wave2d.courant_squared
    level = ti.field(ti.f32, shape=(steps + 2, side, side), needs_grad=True)
    loss = ti.field(ti.f32, shape=(), needs_grad=True)
    target = ti.field(ti.f32, shape=(side, side))

    @ti.kernel
    def advance(t: ti.i32):
        if ti.static(serial):
            ti.loop_config(serialize=True)
        for i, j in ti.ndrange((1, side - 1), (1, side - 1)):
            middle = level[t + 1, i, j]
            around = (level[t + 1, i - 1, j] + level[t + 1, i + 1, j]
                      + level[t + 1, i, j - 1] + level[t + 1, i, j + 1])
            level[t + 2, i, j] = 2 * middle - level[t, i, j] + k * (around - 4 * middle)

    @ti.kernel
    def evaluate():
        if ti.static(serial):
            ti.loop_config(serialize=True)
        for i, j in ti.ndrange(side, side):
            loss[None] += (level[steps + 1, i, j] - target[i, j]) ** 2 / n

    @ti.kernel
    def set_first_level(values: ti.types.ndarray()):
        for i, j in ti.ndrange(side, side):
            level[0, i, j] = values[i, j]

    @ti.kernel
    def get_gradient(values: ti.types.ndarray()):
        for i, j in ti.ndrange(side, side):
            values[i, j] = level.grad[0, i, j]

    def results():
        gradient = np.zeros((side, side), np.float32)
        get_gradient(gradient)
        return loss[None], {"p0": gradient}

    first, wanted = Wave2d.inputs()
    set_first_level(first.astype(np.float32))
    target.from_numpy(wanted.astype(np.float32))
    return rolled_out(ti, version, options, steps, [loss], [advance], [evaluate], loss,
                      [level, loss], results)


def tet_neohookean(variant, options):
    ti, version = load(options)
    serial = {"parallel": False, "serial": True}[variant]
    define = TetNeohookean
    steps, nodes, n, fixed = define.steps, define.nodes, define.n, define.fixed
    dt, volume, gravity = define.dt, define.volume, ti.Vector(define.gravity)
    x, v, force = (ti.Vector.field(3, ti.f32, shape=(count, nodes), needs_grad=True)
                   for count in (steps + 1, steps + 1, steps))
    mu, la, loss = (ti.field(ti.f32, shape=(), needs_grad=True) for _ in range(3))
    corners, inverse = (ti.Vector.field(4, ti.i32, shape=n),
                        ti.Matrix.field(3, 3, ti.f32, shape=n))
    inverse_mass, target = ti.field(ti.f32, shape=nodes), ti.Vector.field(3, ti.f32, shape=nodes)
    corners.from_numpy(define.corners())
    inverse.from_numpy(define.inverse_edges().astype(np.float32))
    inverse_mass.from_numpy((1 / define.masses()).astype(np.float32))
    target.from_numpy(define.target().astype(np.float32))
    mu[None], la[None] = define.mu, define.la

    @ti.kernel
    def add_stress(t: ti.i32):
        if ti.static(serial):
            ti.loop_config(serialize=True)
        for e in range(n):
            c = corners[e]
            start = x[t, c[0]]
            edges = ti.Matrix.cols([x[t, c[1]] - start, x[t, c[2]] - start, x[t, c[3]] - start])
            F = edges @ inverse[e]
            G = F.inverse().transpose()
            P = mu[None] * (F - G) + la[None] * ti.log(F.determinant()) * G
            pull = -volume * (P @ inverse[e].transpose())  # column k belongs to corner k + 1
            for k in ti.static(range(3)):
                part = ti.Vector([pull[0, k], pull[1, k], pull[2, k]])
                force[t, c[k + 1]] += part
                force[t, c[0]] -= part

    @ti.kernel
    def move(t: ti.i32):
        if ti.static(serial):
            ti.loop_config(serialize=True)
        for p in range(nodes):
            if p < fixed:
                v[t + 1, p] = [0.0, 0.0, 0.0]
                x[t + 1, p] = x[t, p]
            else:
                moved = v[t, p] + dt * (force[t, p] * inverse_mass[p] + gravity)
                v[t + 1, p] = moved
                x[t + 1, p] = x[t, p] + dt * moved

    @ti.kernel
    def evaluate():
        if ti.static(serial):
            ti.loop_config(serialize=True)
        for p in range(nodes):
            miss = x[steps, p] - target[p]
            loss[None] += miss.dot(miss) / nodes

    @ti.kernel
    def set_first_state(x0: ti.types.ndarray(), v0: ti.types.ndarray()):
        for p in range(nodes):
            for c in ti.static(range(3)):
                x[0, p][c] = x0[p, c]
                v[0, p][c] = v0[p, c]

    @ti.kernel
    def get_gradient(v0: ti.types.ndarray()):
        for p in range(nodes):
            for c in ti.static(range(3)):
                v0[p, c] = v.grad[0, p][c]

    def results():
        gradient = np.zeros((nodes, 3), np.float32)
        get_gradient(gradient)
        return loss[None], {"v0": gradient, "mu": mu.grad[None], "la": la.grad[None]}

    set_first_state(*(values.astype(np.float32) for values in (define.rest(), define.velocities())))
    return rolled_out(ti, version, options, steps, [force, loss], [add_stress, move], [evaluate],
                      loss, [x, v, force, mu, la, loss], results)


def mpm2d(variant, options):
    """Points keep every step; there is one grid, which the backward pass makes again from them."""
    ti, version = load(options)
    serial = {"parallel": False, "serial": True}[variant]
    steps, n, nodes, wall = Mpm2d.steps, Mpm2d.n, Mpm2d.nodes, Mpm2d.wall
    dt, dx, mu, la, empty = Mpm2d.dt, Mpm2d.dx, Mpm2d.mu, Mpm2d.la, Mpm2d.empty
    fall, target = dt * Mpm2d.gravity, ti.Vector(Mpm2d.target)
    x, v = (ti.Vector.field(2, ti.f32, shape=(steps + 1, n), needs_grad=True) for _ in range(2))
    C, F = (ti.Matrix.field(2, 2, ti.f32, shape=(steps + 1, n), needs_grad=True)
            for _ in range(2))
    grid = ti.Vector.field(3, ti.f32, shape=(nodes, nodes), needs_grad=True)  # momentum, mass
    u = ti.Vector.field(2, ti.f32, shape=(nodes, nodes), needs_grad=True)
    v0, mean = (ti.Vector.field(2, ti.f32, shape=(), needs_grad=True) for _ in range(2))
    loss = ti.field(ti.f32, shape=(), needs_grad=True)

    @ti.func
    def weights(f):
        return [0.5 * (1.5 - f) ** 2, 0.75 - (f - 1.0) ** 2, 0.5 * (f - 0.5) ** 2]

    @ti.kernel
    def start():
        if ti.static(serial):
            ti.loop_config(serialize=True)
        for p in range(n):
            v[0, p] = v0[None]

    @ti.kernel
    def clear():
        if ti.static(serial):
            ti.loop_config(serialize=True)
        for i, j in ti.ndrange(nodes, nodes):
            grid[i, j] = [0.0, 0.0, 0.0]
            grid.grad[i, j] = [0.0, 0.0, 0.0]
            u.grad[i, j] = [0.0, 0.0]

    @ti.kernel
    def to_grid(t: ti.i32):
        if ti.static(serial):
            ti.loop_config(serialize=True)
        for p in range(n):
            scaled = x[t, p] * nodes
            base = ti.cast(scaled - 0.5, ti.i32)
            f = scaled - ti.cast(base, ti.f32)
            w = weights(f)
            moved = F[t, p] + dt * C[t, p] @ F[t, p]
            F[t + 1, p] = moved
            J = moved.determinant()
            a, b = moved[0, 0] + moved[1, 1], moved[1, 0] - moved[0, 1]
            r = 1.0 / ti.sqrt(a * a + b * b)
            R = ti.Matrix([[a * r, -b * r], [b * r, a * r]])
            stress = (2 * mu * (moved - R) @ moved.transpose()
                      + ti.Matrix.identity(ti.f32, 2) * (la * J * (J - 1)))
            A = -(4 * dt * nodes * nodes) * stress + C[t, p]
            for i, j in ti.static(ti.ndrange(3, 3)):
                away = (ti.Vector([float(i), float(j)]) - f) * dx
                weight = w[i][0] * w[j][1]
                momentum = weight * (v[t, p] + A @ away)
                grid[base[0] + i, base[1] + j] += ti.Vector([momentum[0], momentum[1], weight])

    @ti.kernel
    def update_grid():
        if ti.static(serial):
            ti.loop_config(serialize=True)
        for i, j in ti.ndrange(nodes, nodes):
            inverse = 1.0 / (grid[i, j][2] + empty)
            a = inverse * grid[i, j][0]
            b = inverse * grid[i, j][1] - fall
            if i < wall and a < 0:
                a = 0.0
            if i > nodes - wall and a > 0:
                a = 0.0
            if j < wall and b < 0:
                b = 0.0
            if j > nodes - wall and b > 0:
                b = 0.0
            u[i, j] = [a, b]

    @ti.kernel
    def to_points(t: ti.i32):
        if ti.static(serial):
            ti.loop_config(serialize=True)
        for p in range(n):
            scaled = x[t, p] * nodes
            base = ti.cast(scaled - 0.5, ti.i32)
            f = scaled - ti.cast(base, ti.f32)
            w = weights(f)
            velocity = ti.Vector([0.0, 0.0])
            gradient = ti.Matrix([[0.0, 0.0], [0.0, 0.0]])
            for i, j in ti.static(ti.ndrange(3, 3)):
                around = (w[i][0] * w[j][1]) * u[base[0] + i, base[1] + j]
                velocity += around
                gradient += around.outer_product(ti.Vector([float(i), float(j)]) - f)
            v[t + 1, p] = velocity
            C[t + 1, p] = (4.0 * nodes) * gradient
            x[t + 1, p] = x[t, p] + dt * velocity

    @ti.kernel
    def average():
        if ti.static(serial):
            ti.loop_config(serialize=True)
        for p in range(n):
            mean[None] += x[steps, p] / n

    @ti.kernel
    def evaluate():
        d = mean[None] - target
        loss[None] = 0.5 * d.dot(d)

    def make_grid(t):
        clear()
        to_grid(t)
        update_grid()

    def launch_forward():
        mean[None] = [0.0, 0.0]
        start()
        for t in range(steps):
            make_grid(t)
            to_points(t)
        average()
        evaluate()

    def forward():
        launch_forward()
        ti.sync()

    def forward_backward():
        for field in (x, v, C, F, v0, mean, loss):
            field.grad.fill(0)
        launch_forward()
        loss.grad[None] = 1.0
        evaluate.grad()
        average.grad()
        for t in reversed(range(steps)):
            if t < steps - 1:
                make_grid(t)
            to_points.grad(t)
            update_grid.grad()
            to_grid.grad(t)
        start.grad()
        ti.sync()

    @ti.kernel
    def set_first_state(positions: ti.types.ndarray()):
        for p in range(n):
            x[0, p] = [positions[p, 0], positions[p, 1]]
            F[0, p] = [[1.0, 0.0], [0.0, 1.0]]

    def results():
        forward_backward()
        return loss[None], {"v0": v0.grad.to_numpy()}

    set_first_state(Mpm2d.positions().astype(np.float32))
    compile_s = measure.elapsed(forward_backward) - measure.elapsed(forward_backward)
    return measure.Program(
        version=version, threads=options.threads, compile_s=max(compile_s, 0.0), forward=forward,
        forward_backward=forward_backward, results=results)


if __name__ == "__main__":
    measure.main("taichi", {"spring_cage": spring_cage, "cloth_springs": cloth_springs,
                            "wave2d": wave2d, "tet_neohookean": tet_neohookean,
                            "mpm2d": mpm2d})
