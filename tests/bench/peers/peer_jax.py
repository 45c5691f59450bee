#!/usr/bin/env python3
"""The workloads in JAX, compiled by XLA for the CPU. With --precision f64 it serves as a second
opinion on the reference values: its automatic differentiation shares nothing with reference.py."""
import measure
from workloads import ClothSprings, LaunchOverhead, SpringCage


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
    programs = []
    compile_s = measure.elapsed(lambda: programs.extend([
        compiled(jax, loss, *arguments),
        compiled(jax, jax.value_and_grad(loss, argnums=(0, 1)), *arguments)]))
    evaluate, differentiate = programs

    def results():
        value, (v0, stiffness) = differentiate(*arguments)
        return value, {"v0": v0, "K": stiffness}

    return measure.Program(
        version=jax.__version__, threads=options.threads, precision=options.precision,
        compile_s=compile_s, forward=lambda: evaluate(*arguments).block_until_ready(),
        forward_backward=lambda: jax.block_until_ready(differentiate(*arguments)), results=results)


if __name__ == "__main__":
    measure.main("jax", {"launch_overhead": launch_overhead, "spring_cage": spring_cage,
                         "cloth_springs": cloth_springs}, precisions=("f32", "f64"))
