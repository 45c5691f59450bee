#!/usr/bin/env python3
"""The workloads in JAX, compiled by XLA for the CPU. With --precision f64 it serves as a second
opinion on the reference values: its automatic differentiation shares nothing with reference.py."""
import measure
from workloads import ClothSprings, LaunchOverhead, Mpm2d, SpringCage, TetNeohookean, Wave2d


def load(options):
    """jax, jax.numpy and the real type, after the process was told how many cores to see."""
    measure.restrict_to(options.threads)
    import jax
    if options.precision == "f64":
        jax.config.update("jax_enable_x64", True)
    import jax.numpy as jnp
    return jax, jnp, jnp.dtype("float" + options.precision[1:]).type


def compiled(jax, function, *arguments):
    return jax.jit(function).lower(*arguments).compile()


def launch_overhead(variant, options):
    jax, jnp, real = load(options)
    a = real(LaunchOverhead.a)
    x, y0 = (jnp.asarray(values, real) for values in LaunchOverhead.inputs())
    ones = jnp.ones_like(x)

    def axpy(a, x, y0):
        return a * x + y0

    def pull_back(a, x, y0, y_adjoint):
        return jax.vjp(axpy, a, x, y0)[1](y_adjoint)

    # A jitted function is called as users call it; its results are awaited after the last call.
    call, call_adjoint = jax.jit(axpy), jax.jit(pull_back)

    def first_calls():
        jax.block_until_ready((call(a, x, y0), call_adjoint(a, x, y0, ones)))

    def forward():
        for _ in range(LaunchOverhead.steps):
            y = call(a, x, y0)
        y.block_until_ready()

    def adjoint():
        for _ in range(LaunchOverhead.steps):
            gradients = call_adjoint(a, x, y0, ones)
        jax.block_until_ready(gradients)

    def results():
        return call(a, x, y0).sum(), {"x": call_adjoint(a, x, y0, ones)[1]}

    return measure.Program(
        version=jax.__version__, threads=options.threads, precision=options.precision,
        compile_s=measure.elapsed(first_calls), forward=forward, adjoint=adjoint,
        forward_backward=lambda: (forward(), adjoint()), results=results)


def differentiated(jax, options, loss, arguments, names):
    """The Program of a loss: its gradient in all arguments, named in their order."""
    programs = []
    compile_s = measure.elapsed(lambda: programs.extend([
        compiled(jax, loss, *arguments),
        compiled(jax, jax.value_and_grad(loss, argnums=tuple(range(len(names)))), *arguments)]))
    evaluate, differentiate = programs

    def results():
        value, gradients = differentiate(*arguments)
        return value, dict(zip(names, gradients))

    return measure.Program(
        version=jax.__version__, threads=options.threads, precision=options.precision,
        compile_s=compile_s, forward=lambda: evaluate(*arguments).block_until_ready(),
        forward_backward=lambda: jax.block_until_ready(differentiate(*arguments)), results=results)


def spring_cage(variant, options):
    jax, jnp, real = load(options)
    anchors = jnp.asarray(SpringCage.anchors, real)
    gravity, target = jnp.asarray(SpringCage.gravity, real), jnp.asarray(SpringCage.target, real)
    h, rate = real(SpringCage.h), real(SpringCage.rate)

    def loss(rest):
        def step(state, _):
            x, v = state
            d = anchors - x
            length = jnp.sqrt((d * d).sum(axis=1))
            u = d / length[:, None]
            pull = SpringCage.stiffness * (length - rest) - SpringCage.damping * (u @ v)
            v = v + h * ((pull[:, None] * u).sum(axis=0) + gravity)
            return (x + h * v, v), None

        zero = jnp.zeros(3, real)
        (x, _), _ = jax.lax.scan(step, (zero, zero), None, length=SpringCage.steps)
        return ((x - target) ** 2).sum()

    def descend(rest):
        value, gradient = jax.value_and_grad(loss)(rest)
        return value, gradient, rest - rate * gradient

    start = jnp.asarray(SpringCage.rest_lengths(), real)
    programs = []
    compile_s = measure.elapsed(
        lambda: programs.extend([compiled(jax, loss, start), compiled(jax, descend, start)]))
    evaluate, iterate = programs
    state = {"rest": start}

    def iteration():
        value, _, state["rest"] = iterate(state["rest"])
        value.block_until_ready()

    def results():
        value, gradient, _ = iterate(start)
        return value, {"rest": gradient}

    return measure.Program(
        version=jax.__version__, threads=options.threads, precision=options.precision,
        compile_s=compile_s, forward=lambda: evaluate(start).block_until_ready(),
        forward_backward=iteration, results=results, calls=100,
        restart=lambda: state.update(rest=start))


def cloth_springs(variant, options):
    """The springs of one offset are slices of the grid: no index lists, no scatter by index. The
    body of the scan is checkpointed, which is both faster and smaller than keeping residuals."""
    jax, jnp, real = load(options)
    positions, velocities = (jnp.asarray(values, real) for values in ClothSprings.inputs())
    gravity = jnp.asarray(ClothSprings.gravity, real)
    target = jnp.asarray(ClothSprings.target, real)
    free = jnp.ones((ClothSprings.side, 1, 1), real).at[0].set(0)
    dt, decay = real(ClothSprings.dt), real(ClothSprings.decay)

    def loss(v0, stiffness):
        @jax.checkpoint
        def step(state, _):
            x, v = state
            a = jnp.broadcast_to(gravity, x.shape)
            for offset in ClothSprings.offsets:
                first, second = ClothSprings.ends(offset)
                d = x[second] - x[first]
                length = jnp.sqrt((d * d).sum(axis=2, keepdims=True))
                pull = (stiffness * (1 - real(ClothSprings.rest_length(offset)) / length)) * d
                a = a.at[first].add(pull).at[second].add(-pull)
            v = free * (decay * (v + dt * a))
            return (x + dt * v, v), None

        (x, _), _ = jax.lax.scan(step, (positions, v0), None, length=ClothSprings.steps)
        return ((x.mean(axis=(0, 1)) - target) ** 2).sum()

    arguments = velocities, real(ClothSprings.stiffness)
    return differentiated(jax, options, loss, arguments, ("v0", "K"))


def wave2d(variant, options):
    jax, jnp, real = load(options)
    first, target = (jnp.asarray(values, real) for values in Wave2d.inputs())
    k = real(Wave2d.courant_squared)

    def loss(p0):
        def step(levels, _):
            older, newer = levels
            middle = newer[1:-1, 1:-1]
            around = (newer[:-2, 1:-1] + newer[2:, 1:-1] + newer[1:-1, :-2] + newer[1:-1, 2:]
                      - 4 * middle)
            inner = 2 * middle - older[1:-1, 1:-1] + k * around
            return (newer, jnp.pad(inner, 1)), None

        (_, last), _ = jax.lax.scan(step, (p0, jnp.zeros_like(p0)), None, length=Wave2d.steps)
        return ((last - target) ** 2).mean()

    return differentiated(jax, options, loss, (first,), ("p0",))


def tet_neohookean(variant, options):
    """The body of the scan is checkpointed: only positions and velocities are kept per step."""
    jax, jnp, real = load(options)
    define = TetNeohookean
    corners = jnp.asarray(define.corners())
    rest, target, inverse = (jnp.asarray(values, real) for values in
                             (define.rest(), define.target(), define.inverse_edges()))
    gravity, dt, volume = jnp.asarray(define.gravity, real), real(define.dt), real(define.volume)
    inverse_mass = jnp.asarray(1 / define.masses()[:, None], real)
    free = jnp.ones((define.nodes, 1), real).at[:define.fixed].set(0)

    def stress(F, mu, la):
        """First Piola stress of F, given as its three columns, as three columns."""
        a, b, c = F
        cofactors = jnp.cross(b, c), jnp.cross(c, a), jnp.cross(a, b)
        J = (a * cofactors[0]).sum(axis=1, keepdims=True)
        slope = (la * jnp.log(J) - mu) / J
        return [mu * column + slope * cofactor for column, cofactor in zip(F, cofactors)]

    def loss(v0, mu, la):
        @jax.checkpoint
        def step(state, _):
            x, v = state
            corner = [x[corners[:, k]] for k in range(4)]
            edges = [corner[k] - corner[0] for k in (1, 2, 3)]
            F = [sum(edges[k] * inverse[:, k, c:c + 1] for k in range(3)) for c in range(3)]
            P = stress(F, mu, la)
            pull = [-volume * sum(P[c] * inverse[:, k, c:c + 1] for c in range(3))
                    for k in range(3)]
            forces = jnp.stack([-(pull[0] + pull[1] + pull[2]), *pull], axis=1)
            force = jnp.zeros_like(x).at[corners].add(forces)
            v = free * (v + dt * (force * inverse_mass + gravity))
            return (x + dt * v, v), None

        (x, _), _ = jax.lax.scan(step, (rest, v0), None, length=define.steps)
        return ((x - target) ** 2).sum() / define.nodes

    arguments = jnp.asarray(define.velocities(), real), real(define.mu), real(define.la)
    return differentiated(jax, options, loss, arguments, ("v0", "mu", "la"))


def mpm2d(variant, options):
    """The body of the scan is checkpointed: only what points carry is kept per step."""
    jax, jnp, real = load(options)
    nodes, dx, dt = Mpm2d.nodes, real(Mpm2d.dx), real(Mpm2d.dt)
    start, offsets = jnp.asarray(Mpm2d.positions(), real), jnp.asarray(Mpm2d.offsets())
    target, identity = jnp.asarray(Mpm2d.target, real), jnp.eye(2, dtype=real)
    gravity = jnp.asarray((0, Mpm2d.gravity), real)
    index = jnp.indices((nodes, nodes)).reshape(2, -1).T
    low, high = index < Mpm2d.wall, index > nodes - Mpm2d.wall

    def rotation(F):
        p, q = F[:, 0, 0] + F[:, 1, 1], F[:, 1, 0] - F[:, 0, 1]
        r = 1 / jnp.sqrt(p * p + q * q)
        c, s = p * r, q * r
        return jnp.stack([jnp.stack([c, -s], axis=1), jnp.stack([s, c], axis=1)], axis=1)

    def affine(F, C):
        J = F[:, 0, 0] * F[:, 1, 1] - F[:, 0, 1] * F[:, 1, 0]
        stress = (2 * Mpm2d.mu * jnp.einsum("nab,ncb->nac", F - rotation(F), F)
                  + (Mpm2d.la * J * (J - 1))[:, None, None] * identity)
        return real(-4 * Mpm2d.dt * nodes ** 2) * stress + C

    @jax.checkpoint
    def step(state, _):
        x, v, C, F = state
        scaled = x * nodes
        base = (scaled - real(0.5)).astype(jnp.int32)
        f = scaled - base.astype(real)
        w = jnp.stack([(1.5 - f) ** 2 / 2, 0.75 - (f - 1) ** 2, (f - 0.5) ** 2 / 2], axis=1)
        weight = (w[:, offsets[:, 0], 0] * w[:, offsets[:, 1], 1])[:, :, None]
        away = offsets.astype(real)[None] - f[:, None]
        number = (base[:, :1] + offsets[:, 0]) * nodes + base[:, 1:] + offsets[:, 1]
        F = F + dt * C @ F
        momentum = weight * (v[:, None] + dx * jnp.einsum("nab,nkb->nka", affine(F, C), away))
        grid = jnp.zeros((nodes * nodes, 3), real).at[number].add(
            jnp.concatenate([momentum, weight], axis=2), mode="promise_in_bounds")
        u = grid[:, :2] / (grid[:, 2:] + real(Mpm2d.empty)) - dt * gravity
        u = jnp.where((low & (u < 0)) | (high & (u > 0)), 0, u)
        around = weight * u.at[number].get(mode="promise_in_bounds")
        v = around.sum(axis=1)
        C = 4 * nodes * jnp.einsum("nka,nkb->nab", around, away)
        return (x + dt * v, v, C, F), None

    def loss(v0):
        zero = jnp.zeros((Mpm2d.n, 2, 2), real)
        state = start, jnp.broadcast_to(v0, start.shape), zero, zero + identity
        (x, *_), _ = jax.lax.scan(step, state, None, length=Mpm2d.steps)
        return ((x.mean(axis=0) - target) ** 2).sum() / 2

    return differentiated(jax, options, loss, (jnp.zeros(2, real),), ("v0",))


if __name__ == "__main__":
    measure.main("jax", {"launch_overhead": launch_overhead, "spring_cage": spring_cage,
                         "cloth_springs": cloth_springs, "wave2d": wave2d,
                         "tet_neohookean": tet_neohookean, "mpm2d": mpm2d},
                 precisions=("f32", "f64"))
