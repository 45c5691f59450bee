"""Against Warp, JAX and the program itself, in one run: python app/python/bench/peers.py

Each row's figures are taken in turn, round by round, and are the least of their rounds, so that a
machine that others use as well treats all of them alike. Losses and gradients are compared first: a
row whose contestants disagree is an error. Peers run as fast as they can here: JAX jitted; Warp with
forward and backward pass captured as one CPU graph. Everything is f32 on the host.
"""

import argparse
import functools
import itertools
import json
import os
import pathlib
import tempfile
import time

import hindcast as hc
import hindcast.jax
import jax
import jax.numpy as jnp
import numpy as np

SCENES = pathlib.Path(__file__).resolve().parents[3] / "scenes"


def in_turn(works, rounds, calls=1):
    """The least seconds of one call of each."""
    for work in works:
        work()
    best = [float("inf")] * len(works)
    for _ in range(rounds):
        for k, work in enumerate(works):
            begin = time.perf_counter()
            for _ in range(calls):
                work()
            best[k] = min(best[k], (time.perf_counter() - begin) / calls)
    return best


def text(seconds):
    for unit, size in (("s", 1), ("ms", 1e-3), ("us", 1e-6)):
        if seconds >= size:
            return f"{seconds / size:.3g} {unit}"
    return f"{seconds * 1e9:.0f} ns"


def row(what, *cells):
    print("| " + " | ".join((what, *cells)) + " |", flush=True)


def same(found, expected, what, tolerance=2e-3):
    for name, (a, b) in {"loss": (found[0], expected[0]), "gradient": (found[1], expected[1])}.items():
        error = np.linalg.norm(np.ravel(a) - np.ravel(b)) / np.linalg.norm(np.ravel(b))
        if not error < tolerance:
            raise SystemExit(f"{what}: the {name} differs by {error:.1e} of itself")


# ---------------------------------------------------------------- launches


@hc.kernel
def scale(i: hc.Int, x: hc.Read[hc.real], k: hc.Param[hc.real], y: hc.Write[hc.real]):
    y[i] = x[i] * k


def launches(wp):
    x = np.arange(8, dtype=np.float32)
    ours = hc.record(scale, dim=8, x=x, k=2.0, y=np.zeros(8, np.float32))

    @wp.kernel
    def warp_scale(x: wp.array(dtype=float), k: float, y: wp.array(dtype=float)):
        i = wp.tid()
        y[i] = x[i] * k

    to = wp.zeros(8, dtype=float)
    theirs = wp.launch(warp_scale, 8, [wp.array(x, dtype=float), 2.0], [to], record_cmd=True)
    a, b = in_turn([ours.forward, theirs.launch], 15, 5000)
    np.testing.assert_array_equal(to.numpy(), 2 * x)
    row("a recorded launch over 8 items, from Python", text(a), text(b), "")


def kernels_in_jax(wp):
    @wp.kernel
    def warp_double(x: wp.array(dtype=float), y: wp.array(dtype=float)):
        i = wp.tid()
        y[i] = x[i] * 2.0

    @hc.kernel
    def double(i: hc.Int, x: hc.Read[hc.real], y: hc.Write[hc.real]):
        y[i] = x[i] * 2.0

    x = jnp.arange(8, dtype=jnp.float32)
    ours = hindcast.jax.kernel(double, dim=8, outputs={"y": hc.written()})
    theirs = wp.jax_kernel(warp_double)

    def loop(f):
        many = jax.jit(lambda v: jax.lax.fori_loop(0, 1000, lambda _, s: f(s) * 0.5, v))
        return lambda: jax.block_until_ready(many(x))

    a, b, c = in_turn([loop(lambda v: ours(x=v)), loop(lambda v: theirs(v)[0]), loop(lambda v: v * 2.0)], 9)
    row("a kernel over 8 items in a jitted loop, a call", *(text(t / 1000) for t in (a, b, c)))


# ---------------------------------------------------------------- scenes in JAX


def cage_in_jax(scene):
    anchors = jnp.array(scene["bodies"][1]["positions"], jnp.float32)
    target = jnp.array(scene["objective"][0]["target"], jnp.float32)

    def loss(rest):
        def step(state, _):
            x, v = state
            d = anchors - x
            length = jnp.sqrt((d * d).sum(axis=1))
            u = d / length[:, None]
            pull = 100 * (length - rest) - 10 * (u @ v)
            v = v + ((pull[:, None] * u).sum(axis=0) + jnp.array([0, 0, -9.81])) / 30
            return (x + v / 30, v), None

        (x, _), _ = jax.lax.scan(step, (jnp.zeros(3), jnp.zeros(3)), None, length=30)
        return ((x - target) ** 2).sum()

    return loss


OFFSETS = ((1, 0), (0, 1), (1, 1), (1, -1))
SIDE, STEPS, H, MASS, REST = 64, 400, 1 / 1200, 0.001, 1 / 63


def parts(offset):
    """Both ends of the springs of one offset: slices of the grid, without an index list."""
    first, second = [], []
    for o in offset:
        first.append(slice(max(-o, 0), SIDE - max(o, 0)))
        second.append(slice(max(o, 0), SIDE - max(-o, 0)))
    return tuple(first), tuple(second)


def net_positions():
    i, j = np.meshgrid(np.arange(SIDE), np.arange(SIDE), indexing="ij")
    x = np.stack([i * REST - 0.5, j * REST - 0.5, np.zeros((SIDE, SIDE))], axis=2)
    free = np.ones((SIDE, SIDE, 1))
    free[[0, 0, -1, -1], [0, -1, 0, -1]] = 0
    return x.astype(np.float32), free.astype(np.float32)


def net_in_jax():
    start, free = (jnp.asarray(array) for array in net_positions())
    gravity, target = jnp.array([0, 0, -9.81]), jnp.array([0, 0, -0.36])

    def loss(stiffness, v0):
        @jax.checkpoint
        def step(state, _):
            x, v = state
            force = jnp.zeros_like(x)
            for offset in OFFSETS:
                first, second = parts(offset)
                d, w = x[second] - x[first], v[second] - v[first]
                length = jnp.sqrt((d * d).sum(axis=2, keepdims=True))
                u = d / length
                rest = REST * np.hypot(*offset)
                pull = stiffness * (length - rest) + 0.02 * (w * u).sum(axis=2, keepdims=True)
                force = force.at[first].add(pull * u).at[second].add(-pull * u)
            decayed = jnp.exp(-H) * v + H * (gravity + force / MASS)
            v = jnp.where(free > 0, decayed, v)
            return (x + H * v, v), None

        (x, _), _ = jax.lax.scan(step, (start, v0.reshape(start.shape)), None, length=STEPS)
        return ((x.mean(axis=(0, 1)) - target) ** 2).sum()

    return loss


# ---------------------------------------------------------------- scenes in Warp


def cage_in_warp(wp, scene, rest):
    vectors, floats = wp.array(dtype=wp.vec3), wp.array(dtype=float)
    gravity, target = wp.constant(wp.vec3(0.0, 0.0, -9.81)), scene["objective"][0]["target"]
    goal, h = wp.constant(wp.vec3(*target)), wp.constant(1 / 30)

    @wp.kernel
    def step(anchors: vectors, rest: floats, x: vectors, v: vectors, nx: vectors, nv: vectors):
        total = gravity
        for k in range(8):
            d = anchors[k] - x[0]
            length = wp.length(d)
            u = d / length
            total = total + (100.0 * (length - rest[k]) - 10.0 * wp.dot(u, v[0])) * u
        w = v[0] + h * total
        nv[0] = w
        nx[0] = x[0] + h * w

    @wp.kernel
    def miss(x: vectors, loss: floats):
        d = x[0] - goal
        loss[0] = wp.dot(d, d)

    anchors = wp.array(np.array(scene["bodies"][1]["positions"], np.float32), dtype=wp.vec3)
    lengths = wp.array(rest, dtype=float, requires_grad=True)
    x, v = ([wp.zeros(1, dtype=wp.vec3, requires_grad=True) for _ in range(31)] for _ in range(2))
    loss = wp.zeros(1, dtype=float, requires_grad=True)

    def forward():
        for t in range(30):
            wp.launch(step, 1, [anchors, lengths, x[t], v[t]], [x[t + 1], v[t + 1]])
        wp.launch(miss, 1, [x[30]], [loss])

    wp.load_module(__name__, device="cpu")

    def both():
        for array in (*x, *v, lengths, loss):
            array.grad.zero_()
        tape = wp.Tape()
        with tape:
            forward()
        tape.backward(loss)

    with wp.ScopedCapture(device="cpu") as capture:
        both()
    run = functools.partial(wp.capture_launch, capture.graph)
    return run, lambda: (loss.numpy()[0], lengths.grad.numpy())


def net_in_warp(wp):
    vectors, floats = wp.array(dtype=wp.vec3), wp.array(dtype=float)
    gravity, decay = wp.constant(wp.vec3(0.0, 0.0, -9.81)), wp.constant(float(np.exp(-H)))
    h, mass, count = wp.constant(H), wp.constant(MASS), wp.constant(float(SIDE * SIDE))
    goal = wp.constant(wp.vec3(0.0, 0.0, -0.36))

    @wp.kernel
    def pull(ends: wp.array(dtype=wp.vec2i), rest: floats, stiffness: floats, x: vectors,
             v: vectors, force: vectors):
        s = wp.tid()
        a, b = ends[s][0], ends[s][1]
        d = x[b] - x[a]
        length = wp.length(d)
        u = d / length
        f = (stiffness[0] * (length - rest[s]) + 0.02 * wp.dot(v[b] - v[a], u)) * u
        wp.atomic_add(force, a, f)
        wp.atomic_sub(force, b, f)

    @wp.kernel
    def move(free: floats, x: vectors, v: vectors, force: vectors, nx: vectors, nv: vectors):
        i = wp.tid()
        w = v[i]
        if free[i] > 0.0:
            w = decay * v[i] + h * (gravity + force[i] / mass)
        nv[i] = w
        nx[i] = x[i] + h * w

    @wp.kernel
    def center(x: vectors, c: vectors):
        wp.atomic_add(c, 0, x[wp.tid()] / count)

    @wp.kernel
    def miss(c: vectors, loss: floats):
        d = c[0] - goal
        loss[0] = wp.dot(d, d)

    start, free = net_positions()
    number = np.arange(SIDE * SIDE).reshape(SIDE, SIDE)
    ends, rests = [], []
    for offset in OFFSETS:
        first, second = parts(offset)
        pairs = np.stack([number[first].ravel(), number[second].ravel()], axis=1)
        ends.append(pairs)
        rests.append(np.full(len(pairs), REST * np.hypot(*offset)))
    ends = wp.array(np.concatenate(ends).astype(np.int32), dtype=wp.vec2i)
    rests = wp.array(np.concatenate(rests).astype(np.float32), dtype=float)
    free = wp.array(free.ravel(), dtype=float)
    n = SIDE * SIDE

    def states(count):
        return [wp.zeros(n, dtype=wp.vec3, requires_grad=True) for _ in range(count)]

    x, v, force = states(STEPS + 1), states(STEPS + 1), states(STEPS)
    x[0].assign(start.reshape(-1, 3))
    stiffness = wp.array([100.0], dtype=float, requires_grad=True)
    c = wp.zeros(1, dtype=wp.vec3, requires_grad=True)
    loss = wp.zeros(1, dtype=float, requires_grad=True)

    def both():
        for array in (*force, c):
            array.zero_()
        for array in (*x, *v, *force, c, stiffness, loss):
            array.grad.zero_()
        tape = wp.Tape()
        with tape:
            for t in range(STEPS):
                wp.launch(pull, len(ends), [ends, rests, stiffness, x[t], v[t]], [force[t]])
                wp.launch(move, n, [free, x[t], v[t], force[t]], [x[t + 1], v[t + 1]])
            wp.launch(center, n, [x[STEPS]], [c])
            wp.launch(miss, 1, [c], [loss])
        tape.backward(loss)

    wp.load_module(__name__, device="cpu")
    with wp.ScopedCapture(device="cpu") as capture:
        both()
    run = functools.partial(wp.capture_launch, capture.graph)
    return run, lambda: (loss.numpy()[0], stiffness.grad.numpy()[0])


# ---------------------------------------------------------------- scenes


def of_jax(f, *arguments):
    """Its value and gradient, nowhere twice in a row at the same place: what was found there before
    is of no use. The first call is at the arguments."""
    both = jax.jit(jax.value_and_grad(f, argnums=tuple(range(len(arguments)))))
    places = [[a * (1 + 1e-6 * k) for a in map(jnp.asarray, arguments)] for k in range(8)]
    turn = itertools.cycle(places)
    return lambda: jax.block_until_ready(both(*next(turn)))


def scenes(wp):
    file = SCENES / "spring_cage.json"
    sim = hc.load(file, precision="f32")
    rest = np.asarray(sim["cage.rest_length"], np.float32)
    ours = lambda: sim.value_and_grad(["cage.rest_length"])
    loss, gradient = ours()
    expected = loss, gradient["cage.rest_length"]
    simulation = hindcast.jax.simulation(file, inputs=["cage.rest_length"], precision="f32")
    scene = json.loads(file.read_text())
    through, plain = of_jax(simulation, *simulation.initial()), of_jax(cage_in_jax(scene), rest)
    warp, results = cage_in_warp(wp, scene, rest)
    warp()
    for name, found in (("hindcast.jax", through()), ("JAX", plain())):
        same((found[0], found[1][0]), expected, name)
    same(results(), expected, "Warp")
    times = in_turn([ours, through, plain, warp], 25, 50)
    row("spring_cage, 30 steps: value and gradient", *map(text, times))

    file = SCENES / "hanging_net.json"
    paths = ["threads.stiffness", "net.velocity"]
    scene = json.loads(file.read_text())
    scene["bodies"][0]["velocity"] = [[0, 0, 0]] * SIDE**2
    sim = hc.scene(scene, precision="f32")
    ours = lambda: sim.value_and_grad(paths)
    loss, gradient = ours()
    simulation = hindcast.jax.simulation(scene, inputs=paths, precision="f32")
    through = of_jax(simulation, *simulation.initial())
    plain = of_jax(net_in_jax(), jnp.float32(100), jnp.zeros((SIDE * SIDE, 3)))
    warp, results = net_in_warp(wp)
    warp()
    expected = loss, gradient["threads.stiffness"]
    # Near the least loss its slope is a small difference of large numbers.
    for name, found in (("hindcast.jax", through()), ("JAX", plain())):
        same((found[0], found[1][0]), expected, name, 3e-2)
    same(results(), expected, "Warp", 3e-2)
    times = in_turn([ours, through, plain, warp], 7)
    row("hanging_net, 64 x 64 knots, 400 substeps: value and gradient", *map(text, times))


def overheads():
    print("\n| what | sim | jax or the program | measured | asked |\n|---|---|---|---|---|")
    for name, path, rounds, calls in (
        ("spring_cage", "cage.rest_length", 25, 50),
        ("hanging_net", "net.velocity", 9, 1),
        ("soft_beam", "beam.young_modulus", 9, 1),
    ):
        file = SCENES / f"{name}.json"
        sim = hc.load(file, precision="f32")
        f = hindcast.jax.simulation(file, inputs=[path], precision="f32")
        both = of_jax(f, *f.initial())
        a, b = in_turn([lambda: sim.value_and_grad([path]), both], rounds, calls)
        row(f"`jax.value_and_grad` of {name}", text(a), text(b), f"{b / a:.2f} x", "1.4 x")
    cloth = json.loads((SCENES / "hanging_net.json").read_text())
    cloth["bodies"][0]["positions"]["grid"].update(counts=[256, 256, 1], spacing="1/255")
    cloth["bodies"][0]["fixed"] = [0, 255, 65280, 65535]
    cloth["forces"][0]["connect"].update(counts=[256, 256], patterns=["structural", "shear", "bend"])
    cloth["time"] = {"step": 0.001, "steps": 200}
    cloth["bodies"][0]["mass"] = 1.0
    for name, scene, path, rounds in (
        ("spring_cage", SCENES / "spring_cage.json", "cage.rest_length", 2000),
        ("a cloth of 65 536 knots and 390 658 springs", cloth, "threads.stiffness", 11),
    ):
        sim = (hc.scene if isinstance(scene, dict) else hc.load)(scene, precision="f32")
        call = lambda: sim.value_and_grad([path])
        call()
        ours, own = [], []
        for _ in range(rounds):
            begin = time.perf_counter()
            call()
            ours.append(time.perf_counter() - begin)
            own.append(sim._core.seconds_of_gradient([path]))
        more = min(ours) - min(own)
        row(
            f"`sim.value_and_grad` of {name} against the program's own call",
            text(min(ours)),
            text(min(own)),
            f"{more * 1e3:+.3f} ms",
            "0.3 ms",
        )


def main():
    argparse.ArgumentParser(description=__doc__.splitlines()[0]).parse_args()
    import warp as wp

    wp.config.log_level = wp.LOG_ERROR
    with tempfile.TemporaryDirectory() as cache:
        wp.config.kernel_cache_dir = cache
        wp.init()
        wp.set_device("cpu")
        print(
            f"Warp {wp.config.version}, JAX {jax.__version__}, hindcast {hc.__version__}, "
            f"{os.cpu_count()} processors\n"
        )
        row("what", "Hindcast", "Warp", "XLA alone")
        print("|---|---|---|---|")
        launches(wp)
        kernels_in_jax(wp)
        print()
        row("what", "Hindcast", "Hindcast in JAX", "pure JAX", "Warp")
        print("|---|---|---|---|---|")
        scenes(wp)
    overheads()


if __name__ == "__main__":
    main()
