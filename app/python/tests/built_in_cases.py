"""The library's kernels as formulas in NumPy, each with arguments to try it on."""

import numpy as np

CASES = {}


def case(*variants):
    """Registers a test of a kernel: f(rng, **options) gives dim, arguments, expected outputs, and
    the inputs to differentiate by."""

    def register(f):
        for options in variants or ({},):
            text = ",".join(f"{k}={v}" for k, v in options.items())
            CASES[f"{f.__name__}({text})"] = (f.__name__, options, f)
        return f

    return register


def dimensions(**options):
    return [{"dimension": d, **options} for d in (2, 3)]


def springs(rng, d):
    ends = np.array([[0, 1], [1, 2], [3, 0], [2, 4]], np.int32)
    x, v = rng.standard_normal((5, d)), rng.standard_normal((5, d))
    return ends, x, v, rng.uniform(0.5, 2, 4), rng.uniform(5, 9, 4), rng.uniform(0.1, 0.3, 4)


def acting(acts, stretch):
    return {"both": stretch == stretch, "pull": stretch > 0, "push": stretch < 0}[acts]


@case(*dimensions(), *dimensions(damped=True, length_offset=0.25),
      {"dimension": 3, "acts": "pull"}, {"dimension": 2, "acts": "push", "adds": "to_zero"})
def spring_force(rng, dimension, damped=False, length_offset=0.0, acts="both",
                 adds="to_what_is_there"):
    ends, x, v, rest, k, c = springs(rng, dimension)
    force = rng.standard_normal((5, dimension))
    expected = np.zeros_like(force) if adds == "to_zero" else force.copy()
    d = x[ends[:, 1]] - x[ends[:, 0]]
    length = np.linalg.norm(d, axis=1) + length_offset
    u = d / length[:, None]
    f = k * (length - rest)
    if damped:
        f = f + c * np.sum((v[ends[:, 1]] - v[ends[:, 0]]) * u, axis=1)
    f = np.where(acting(acts, length - rest), f, 0)[:, None] * u
    np.add.at(expected, ends[:, 0], f)
    np.subtract.at(expected, ends[:, 1], f)
    given = dict(ends=ends, rest_length=rest, stiffness=k, x=x, force=force)
    if damped:
        given.update(damping=c, v=v)
    return 4, given, {"force": expected}, ["rest_length", "stiffness", "x"]


@case(*dimensions(), {"dimension": 3, "acts": "pull", "length_offset": 0.1})
def spring_energy(rng, dimension, acts="both", length_offset=0.0):
    ends, x, _, rest, k, _ = springs(rng, dimension)
    stretch = np.linalg.norm(x[ends[:, 1]] - x[ends[:, 0]], axis=1) + length_offset - rest
    energy = np.sum(np.where(acting(acts, stretch), k / 2 * stretch**2, 0))
    given = dict(ends=ends, rest_length=rest, stiffness=k, x=x, scale=0.5, value=np.array([3.0]))
    return 4, given, {"value": [3 + 0.5 * energy]}, ["rest_length", "stiffness", "x"]


@case(*dimensions(), *dimensions(forced=False))
def velocity_update(rng, dimension, forced=True):
    w = np.array([1.0, 0, 2])
    v, force, g = (rng.standard_normal(s) for s in ((3, dimension), (3, dimension), dimension))
    a = g + (force * w[:, None] if forced else 0)
    expected = np.where(w[:, None] > 0, v + 0.1 * a, v)
    given = dict(w=w, gravity=tuple(g), h=0.1, v=v)
    if forced:
        given["force"] = force
    return 3, given, {"v": expected}, ["force"] if forced else []


@case(*dimensions())
def position_update(rng, dimension):
    x, v = rng.standard_normal((2, 4, dimension))
    return 4, dict(v=v, h=0.1, x=x), {"x": x + 0.1 * v}, ["v"]


@case(*dimensions(), {"dimension": 3, "kinetic": False}, {"dimension": 2, "gravitational": False})
def point_energy(rng, dimension, kinetic=True, gravitational=True):
    x, v = rng.standard_normal((2, 5, dimension))
    m, g = rng.uniform(1, 2, 5), rng.standard_normal(dimension)
    each = kinetic * np.sum(v**2, axis=1) / 2 - gravitational * x @ g
    given = dict(mass=m, first=2, scale=2.0, value=np.zeros(1))
    inputs = ["mass"]
    if kinetic:
        given["v"], inputs = v, [*inputs, "v"]
    if gravitational:
        given.update(x=x, gravity=tuple(g))
        inputs = [*inputs, "x"]
    return 3, given, {"value": [2 * np.sum((m * each)[2:])]}, inputs


@case(*dimensions())
def velocity_decay(rng, dimension):
    v, w, rate = rng.standard_normal((3, dimension)), np.array([1.0, 0, 2]), rng.uniform(1, 2, 3)
    factor = np.where(w > 0, np.exp(-rate * 0.1), 1)
    return 3, dict(rate=rate, h=0.1, w=w, v=v), {"v": factor[:, None] * v}, ["rate", "v"]


@case(*dimensions())
def kick(rng, dimension):
    v, change = rng.standard_normal((2, 3, dimension))
    w = np.array([1.0, 0, 2])
    return 3, dict(change=change, w=w, v=v), {"v": v + (w > 0)[:, None] * change}, ["change"]


@case(*dimensions(), *dimensions(gusts=True), {"dimension": 3, "linear": False},
      {"dimension": 2, "quadratic": False, "adds": "to_zero"})
def drag_force(rng, dimension, linear=True, quadratic=True, gusts=False, adds="to_what_is_there"):
    v, force = rng.standard_normal((2, 4, dimension))
    a, b = rng.uniform(1, 2, (2, 4))
    wind, amplitude = rng.standard_normal((2, dimension))
    u = wind + gusts * amplitude * np.sin(2 * np.pi * 0.7 * 5 * 0.1 + 0.3) - v
    factor = linear * a + quadratic * b * np.linalg.norm(u, axis=1)
    expected = (0 if adds == "to_zero" else force) + factor[:, None] * u
    given = dict(wind=tuple(wind), v=v, force=force)
    if linear:
        given["linear"] = a
    if quadratic:
        given["quadratic"] = b
    if gusts:
        given.update(amplitude=tuple(amplitude), frequency=0.7, phase=0.3, step=5, h=0.1)
    return 4, given, {"force": expected}, ["v", "linear" if linear else "quadratic"]


@case(*dimensions())
def pull_force(rng, dimension):
    places, (x, v, force) = (rng.standard_normal((4, dimension)),
                             rng.standard_normal((3, 2, dimension)))
    expected = force.copy()
    expected[1] += 3.0 * (places[2] - x[1]) - 0.5 * v[1]
    given = dict(places=places, stiffness=3.0, damping=0.5, substep=7, substeps=2, begin=1,
                 point=1, x=x, v=v, force=force)
    return 4, given, {"force": expected}, ["places", "x", "v"]


def selected(listed):
    if listed:
        index = np.array([4, 0, 2], np.int32)
        return index, {"index": index}
    return np.arange(1, 4), {"first": 1}


@case(*dimensions(), *dimensions(listed=True))
def center_of_mass_moments(rng, dimension, listed=False):
    j, which = selected(listed)
    x, m, target = rng.standard_normal((5, dimension)), rng.uniform(1, 2, 5), rng.standard_normal(
        dimension)
    given = dict(x=x, mass=m, target=tuple(target), moment=np.zeros((1, dimension)),
                 total=np.zeros(1), **which)
    expected = {"moment": [np.sum(m[j, None] * (x[j] - target), axis=0)], "total": [m[j].sum()]}
    return 3, given, expected, ["x", "mass"]


@case(*dimensions())
def center_of_mass_distance(rng, dimension):
    moment = rng.standard_normal(dimension)
    given = dict(moment=tuple(moment), total=2.0, scale=0.5, value=np.zeros(1),
                 precision="f64")
    return 1, given, {"value": [0.5 * np.sum((moment / 2) ** 2)]}, []


@case(*dimensions(), *dimensions(listed=True))
def squared_distance(rng, dimension, listed=False):
    j, which = selected(listed)
    x, target = rng.standard_normal((5, dimension)), rng.standard_normal((7, dimension))
    given = dict(x=x, target=target, row=2, scale=0.5, value=np.zeros(1), **which)
    return 3, given, {"value": [0.5 * np.sum((x[j] - target[2:5]) ** 2)]}, ["x", "target"]


@case({"points": 4}, {"points": 3, "listed": True})
def area(rng, points, listed=False):
    x = rng.standard_normal((5, 2))
    j, which = selected(listed) if listed else (np.arange(1, 5), {"first": 1})
    a, b = x[j], np.roll(x[j], -1, axis=0)
    found = np.sum(a[:, 0] * b[:, 1] - a[:, 1] * b[:, 0]) / 2
    given = dict(x=x, target=0.25, scale=2.0, value=np.zeros(1), **which)
    return 1, given, {"value": [2 * (found - 0.25) ** 2]}, ["x"]


@case({"triangles": 4})
def volume(rng, triangles):
    x = np.eye(4, 3) + 0.1 * rng.standard_normal((4, 3))
    corners = np.array([[0, 1, 2], [0, 3, 1], [1, 3, 2], [2, 3, 0]], np.int32)
    found = abs(np.linalg.det(x[:3] - x[3])) / 6
    given = dict(x=x, target=0.1, corners=corners, scale=2.0, value=np.zeros(1))
    return 1, given, {"value": [2 * (found - 0.1) ** 2]}, ["x"]


@case({}, {"components": 2}, {"components": 3})
def regularization(rng, components=1):
    p, reference = rng.standard_normal((2, 4) + ((components,) if components > 1 else ()))
    given = dict(p=p, reference=reference, scale=0.5, value=np.zeros(1))
    return 4, given, {"value": [0.5 * np.sum((p - reference) ** 2)]}, ["p", "reference"]


def tetrahedra(rng):
    rest = np.array([[0, 0, 0], [1, 0, 0], [0, 1, 0], [0, 0, 1], [1, 1, 1]], float)
    corners = np.array([[0, 1, 2, 3], [1, 2, 3, 4]], np.int32)
    edges = [(rest[c[1:]] - rest[c[0]]).T for c in corners]
    inverse = np.array([np.linalg.inv(e) for e in edges])
    return (corners, inverse, np.abs([np.linalg.det(e) / 6 for e in edges]),
            rest + 0.1 * rng.standard_normal(rest.shape))


def neo_hookean(corners, inverse, volume, mu, lam, x):
    """Energies and forces, with the first Piola stress as textbooks have it."""
    energy, force = 0, np.zeros_like(x)
    for c, i, v, m, n in zip(corners, inverse, volume, mu, lam):
        F = (x[c[1:]] - x[c[0]]).T @ i
        log_j = np.log(np.linalg.det(F))
        energy += v * (m / 2 * (np.sum(F * F) - 3) - m * log_j + n / 2 * log_j**2)
        P = m * (F - np.linalg.inv(F).T) + n * log_j * np.linalg.inv(F).T
        H = v * P @ i.T
        force[c[1:]] -= H.T
        force[c[0]] += H.sum(axis=1)
    return energy, force


def material(options, e, nu):
    if options == "lame":
        return e, nu, e, nu
    return e, nu, e / (2 * (1 + nu)), e * nu / ((1 + nu) * (1 - 2 * nu))


@case({}, {"material": "engineering", "adds": "to_zero"})
def neo_hookean_force(rng, material="lame", adds="to_what_is_there"):
    corners, inverse, volume, x = tetrahedra(rng)
    first, second, mu, lam = globals()["material"](material, np.array([2.0, 3]),
                                                   np.array([0.2, 0.4]))
    force = rng.standard_normal(x.shape)
    expected = (0 if adds == "to_zero" else force) + neo_hookean(corners, inverse, volume, mu, lam,
                                                                 x)[1]
    names = ["mu", "lambda"] if material == "lame" else ["young_modulus", "poisson_ratio"]
    given = dict(corners=corners, inverse=inverse, volume=volume, x=x, force=force)
    given.update(zip(names, (first, second)))
    return 2, given, {"force": expected}, ["x", *names]


@case({}, {"material": "engineering"})
def neo_hookean_energy(rng, material="lame"):
    corners, inverse, volume, x = tetrahedra(rng)
    first, second, mu, lam = globals()["material"](material, np.array([2.0, 3]),
                                                   np.array([0.2, 0.4]))
    given = dict(corners=corners, inverse=inverse, volume=volume, first=first, second=second, x=x,
                 scale=0.5, value=np.zeros(1))
    energy = neo_hookean(corners, inverse, volume, mu, lam, x)[0]
    return 2, given, {"value": [0.5 * energy]}, ["x", "first", "second"]


@case()
def solid_lumped_mass(rng):
    corners, _, volume, x = tetrahedra(rng)
    density, m = rng.uniform(1, 2, 2), rng.uniform(1, 2, 5)
    expected = m.copy()
    np.add.at(expected, corners, (density * volume / 4)[:, None])
    return 2, dict(corners=corners, volume=volume, density=density, m=m), {"m": expected}, [
        "density", "volume"]


def neighbors(u):
    p = np.pad(u, 1)
    return p[:-2, 1:-1] + p[2:, 1:-1] + p[1:-1, :-2] + p[1:-1, 2:]


@case({"rows": 4, "columns": 5}, {"rows": 3, "columns": 4, "damped": True})
def wave_level(rng, rows, columns, damped=False):
    u, older = rng.standard_normal((2, rows, columns))
    speed, damping = rng.uniform(0.5, 1, (2, rows, columns))
    k, a = (0.5 * speed) ** 2, damped * damping * 0.05
    expected = (2 * u - (1 - a) * older + k * (neighbors(u) - 4 * u)) / (1 + a)
    given = dict(speed=speed.ravel(), ratio=0.5, u=u.ravel(), older=older.ravel())
    if damped:
        given.update(damping=damping.ravel(), half_step=0.05)
    return rows * columns, given, {"older": expected.ravel()}, (
        ["speed", "damping", "u", "older"] if damped else ["speed", "u"])


@case({"rows": 4, "columns": 3})
def wave_energy(rng, rows, columns):
    u, w = rng.standard_normal((2, rows, columns))
    speed = rng.uniform(0.5, 1, (rows, columns))
    k = (0.5 * speed) ** 2
    energy = np.sum((u - w) ** 2 / k + u * (4 * w - neighbors(w))) / 2
    given = dict(speed=speed.ravel(), ratio=0.5, u=u.ravel(), w=w.ravel(), scale=2.0,
                 value=np.zeros(1))
    return rows * columns, given, {"value": [2 * energy]}, ["speed", "u", "w"]


@case()
def field_squared_miss(rng):
    u, target = rng.standard_normal((2, 6))
    given = dict(u=u, target=target, scale=0.5, value=np.zeros(1))
    return 6, given, {"value": [0.5 * np.sum((u - target) ** 2)]}, ["u", "target"]


def surface_of(rng, surface, d):
    """Arguments, and distances and normals of points that are inside and outside."""
    x, v = 0.3 * rng.standard_normal((6, d)), rng.standard_normal((6, d))
    if surface == "plane":
        n = rng.standard_normal(d)
        unit = n / np.linalg.norm(n)
        return dict(normal=tuple(n), offset=0.1), x, v, x @ unit - 0.1, np.tile(unit, (6, 1))
    center = 0.1 * rng.standard_normal(d)
    away = x - center
    distance = np.linalg.norm(away, axis=1)
    return (dict(center=tuple(center), radius=0.4), x, v, distance - 0.4,
            away / distance[:, None])


SURFACES = [o for s in ("plane", "sphere") for o in dimensions(surface=s)]


@case(*SURFACES, *({**o, "damping": True, "friction": True} for o in SURFACES),
      {**SURFACES[0], "adds": "to_zero"})
def contact_penalty(rng, dimension, surface, damping=False, friction=False,
                    adds="to_what_is_there"):
    given, x, v, phi, n = surface_of(rng, surface, dimension)
    force = rng.standard_normal(x.shape)
    normal_speed = np.sum(v * n, axis=1)
    push = np.maximum(0, -50 * phi - damping * 2 * normal_speed) * (phi < 0)
    tangential = v - normal_speed[:, None] * n
    speed = np.maximum(np.linalg.norm(tangential, axis=1), 0.3)
    f = push[:, None] * (n - friction * 0.4 * tangential / speed[:, None])
    given.update(stiffness=50.0, x=x, force=force)
    if damping or friction:
        given["v"] = v
    if damping:
        given["damping"] = 2.0
    if friction:
        given.update(friction=0.4, slip_speed=0.3)
    return 6, given, {"force": (0 if adds == "to_zero" else force) + f}, ["x"]


@case(*SURFACES)
def contact_energy(rng, dimension, surface):
    given, x, _, phi, _ = surface_of(rng, surface, dimension)
    given.update(stiffness=50.0, x=x, scale=2.0, value=np.zeros(1))
    return 6, given, {"value": [2 * np.sum(25 * phi**2 * (phi < 0))]}, ["x"]


def barrier(rng, dimension, surface):
    """As contact_energy(), where all points are outside; d, and the derivative of the barrier."""
    given, x, _, phi, n = surface_of(rng, surface, dimension)
    d = np.maximum(phi, 0.05 + 0.1 * np.arange(6))
    given.update(stiffness=50.0, reach=0.4, x=x + (d - phi)[:, None] * n)
    return given, d, n, d < 0.4


@case(*SURFACES)
def barrier_energy(rng, dimension, surface):
    given, d, _, near = barrier(rng, dimension, surface)
    given.update(scale=2.0, value=np.zeros(1))
    return 6, given, {"value": [-100 * np.sum((near * (d - 0.4) ** 2 * np.log(d / 0.4)))]}, ["x"]


@case(*SURFACES, {**SURFACES[0], "adds": "to_zero"})
def barrier_force(rng, dimension, surface, adds="to_what_is_there"):
    given, d, n, near = barrier(rng, dimension, surface)
    force = rng.standard_normal(n.shape)
    slope = -2 * (d - 0.4) * np.log(d / 0.4) - (d - 0.4) ** 2 / d
    given["force"] = force
    return 6, given, {"force": (0 if adds == "to_zero" else force)
                      - (50 * near * slope)[:, None] * n}, ["x"]


def rebound(rng, dimension, surface, restitution, friction):
    given, x, v, phi, n = surface_of(rng, surface, dimension)
    v = v - n  # most approach
    w = np.array([1.0, 1, 0, 1, 2, 1])
    e, mu = restitution * 0.6, friction * 0.2
    normal_speed = np.sum(v * n, axis=1)
    tangential = v - normal_speed[:, None] * n
    speed = np.linalg.norm(tangential, axis=1)
    left = np.maximum(0, 1 - mu * (1 + e) * np.abs(normal_speed) / speed)
    after = left[:, None] * tangential - (e * normal_speed)[:, None] * n
    meets = (phi <= 0) & (normal_speed < 0) & (w > 0)
    assert meets.any() and not meets.all()
    given.update(w=w, x=x, v=v)
    if restitution:
        given["restitution"] = 0.6
    if friction:
        given["friction"] = 0.2
    return 6, given, {"v": np.where(meets[:, None], after, v)}, []


@case(*SURFACES, *({**o, "restitution": True, "friction": True} for o in SURFACES))
def contact_impulse(rng, dimension, surface, restitution=False, friction=False):
    return rebound(rng, dimension, surface, restitution, friction)


@case(*SURFACES, *({**o, "restitution": True, "friction": True} for o in SURFACES))
def contact_projection(rng, dimension, surface, restitution=False, friction=False):
    return rebound(rng, dimension, surface, restitution, friction)


@case({"dimension": 2, "surfaces": ["plane"]}, {"dimension": 3, "surfaces": ["plane", "sphere"]})
def position_update_impacts(rng, dimension, surfaces):
    # Balls that drop onto the floor y = 0, in closed form; the ball is far away.
    h, e = 0.1, 0.5
    y, speed = np.array([0.05, 0.4, 0.02]), np.array([-2.0, -2, -1])
    x, v = np.zeros((2, 3, dimension))
    x[:, 1], x[:, 0], v[:, 1], v[:, 0] = y, [0, 1, 2], speed, 0.5
    places, numbers = np.zeros((len(surfaces), dimension)), np.zeros((len(surfaces), 4))
    places[0, 1], numbers[0, 1] = 1, e
    if len(surfaces) > 1:
        places[1], numbers[1, 0] = 100, 1
    s = np.where(y + speed * h < 0, -y / speed, h)  # without gravity
    end_y = y + speed * s - e * speed * (h - s)
    end_v = np.where(s < h, -e * speed, speed)
    x1, v1 = x.copy(), v.copy()
    x1[:, 0] += h * 0.5
    x1[:, 1], v1[:, 1] = end_y, end_v
    given = dict(w=np.ones(3), gravity=(0.0,) * dimension, h=h, places=places, numbers=numbers,
                 v=v, x=x)
    return 3, given, {"x": x1, "v": v1}, []


# One step of material points on a grid, as in Hu et al. 2018, node by node.
GRID = {"nodes_x": 7, "nodes_y": 6}
DX, ORIGIN = 0.5, np.array([-1.0, -0.5])


def weights(x):
    f = (x - ORIGIN) / DX
    base = np.floor(f - 0.5).astype(int)
    f = f - base
    w = [0.5 * (1.5 - f) ** 2, 0.75 - (f - 1) ** 2, 0.5 * (f - 0.5) ** 2]
    for i in range(3):
        for j in range(3):
            node = base + (i, j)
            yield tuple(node), w[i][0] * w[j][1], (np.array([i, j]) - f) * DX


def rotation(F):
    u, _, vt = np.linalg.svd(F)
    return u @ vt


def material_points(rng):
    x = ORIGIN + rng.uniform(1, 1.8, (4, 2))
    F = np.eye(2) + 0.1 * rng.standard_normal((4, 2, 2))
    mass, volume, mu, lam = rng.uniform(1, 2, (4, 4))
    return x, rng.standard_normal((4, 2)), rng.standard_normal((4, 2, 2)), F, mass, volume, mu, lam


@case(GRID)
def particle_to_grid(rng, nodes_x, nodes_y):
    x, v, C, F, mass, volume, mu, lam = material_points(rng)
    h = 0.01
    nodes = np.zeros((nodes_x, nodes_y, 3))
    for p in range(4):
        J = np.linalg.det(F[p])
        tau = 2 * mu[p] * (F[p] - rotation(F[p])) @ F[p].T + lam[p] * J * (J - 1) * np.eye(2)
        A = mass[p] * C[p] - 4 * h / DX**2 * volume[p] * tau
        for node, w, d in weights(x[p]):
            nodes[node] += w * np.array([*(mass[p] * v[p] + A @ d), mass[p]])
    given = dict(x=x, v=v, C=C, F=F, mass=mass, volume=volume, mu=mu, origin=tuple(ORIGIN),
                 inverse_spacing=1 / DX, stress_factor=-4 * h / DX**2,
                 grid=np.ones((nodes_x * nodes_y, 3)))
    given["lambda"] = lam
    return 4, given, {"grid": nodes.reshape(-1, 3)}, ["x", "F", "mu"]


@case(GRID, {**GRID, "walls": "slip", "wall_nodes": 2}, {**GRID, "walls": "stick"})
def grid_update(rng, nodes_x, nodes_y, walls="none", wall_nodes=3):
    grid = rng.standard_normal((nodes_x, nodes_y, 3))
    grid[..., 2] = rng.uniform(1, 2, (nodes_x, nodes_y))
    g = np.array([0.0, -9.8])
    u = grid[..., :2] / (grid[..., 2:] + 1e-3) + 0.01 * g
    if walls != "none":
        for axis, size in enumerate((nodes_x, nodes_y)):
            at = np.arange(size).reshape((-1, 1) if axis == 0 else (1, -1))
            out = ((at < wall_nodes) & (u[..., axis] < 0)) | ((at > size - wall_nodes) &
                                                              (u[..., axis] > 0))
            if walls == "stick":
                u = np.where(out[..., None], 0, u)
            else:
                u[..., axis] = np.where(out, 0, u[..., axis])
    given = dict(grid=grid.reshape(-1, 3), gravity=tuple(g), h=0.01, mass_floor=1e-3,
                 u=np.zeros((nodes_x * nodes_y, 2)))
    return nodes_x * nodes_y, given, {"u": u.reshape(-1, 2)}, ["grid"]


@case(GRID)
def grid_to_particle(rng, nodes_x, nodes_y):
    x, v, C, F, *_ = material_points(rng)
    u, h = rng.standard_normal((nodes_x, nodes_y, 2)), 0.01
    x1, v1, C1, F1 = x.copy(), np.zeros_like(v), np.zeros_like(C), F.copy()
    for p in range(4):
        for node, w, d in weights(x[p]):
            v1[p] += w * u[node]
            C1[p] += 4 / DX**2 * w * np.outer(u[node], d)
        x1[p] += h * v1[p]
        F1[p] += h * C1[p] @ F[p]
    given = dict(u=u.reshape(-1, 2), origin=tuple(ORIGIN), inverse_spacing=1 / DX, h=h, x=x,
                 v=v, C=C, F=F)
    return 4, given, {"x": x1, "v": v1, "C": C1, "F": F1}, ["u"]


@case()
def material_points_energy(rng):
    _, _, _, F, _, volume, mu, lam = material_points(rng)
    energy = sum(
        volume[p] * (mu[p] * np.sum((F[p] - rotation(F[p])) ** 2)
                     + lam[p] / 2 * (np.linalg.det(F[p]) - 1) ** 2) for p in range(1, 4))
    given = dict(F=F, volume=volume, mu=mu, first=1, scale=0.5, value=np.zeros(1))
    given["lambda"] = lam
    return 3, given, {"value": [0.5 * energy]}, ["F", "mu", "volume"]
