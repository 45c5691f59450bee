"""Accelerations of robots, and their derivatives by state, actuator forces and inertias, against Pinocchio's.

Of MuJoCo's and our free joint the velocity is (linear in the world's axes, angular in the body's), of
Pinocchio's both in the body's. With R the body's orientation and A = diag(R, 1) on the free joint, 1
on all others:

    v_ours = A v        f_ours = A f        q̈_ours = A (q̈ + g),  g = (ω × v_linear, 0)

Pinocchio's tangent of positions turns and moves the body by (δx, δθ) in its own axes; ours is the four
numbers of the quaternion, normalized where they are read, and the place in the world:

    δplace = R δx       δquaternion = ½ quaternion ⊗ (0, δθ)

Pinocchio's derivative by q holds its velocity, ours holds A times it: where the body turns by δθ and
ours stays, v_linear changes by v_linear × δθ (which comes to nothing where all else moves along with the
free joint, as here). By f only those of actuated joints are ours.

Inertias of Pinocchio are ten numbers of each joint: mass, mass times center, and inertia about the
joint; with Y its regressor, q̈ changes by -M^-1 Y δ. Ours are of each body: mass, center of mass,
principal moments, and their axes as a quaternion, normalized where it is read. Bodies without a joint
count for the one that carries them.
"""

import json
import os
import pathlib
import sys
from xml.etree import ElementTree

import numpy as np
import pytest

root = pathlib.Path(__file__).resolve().parents[4]
robots = root / "build/robot_models/robots/cmeel.prefix/share/example-robot-data/robots"
pinocchio_place = root / "build/pinocchio/cmeel.prefix/lib/python3.11/site-packages"

if not pinocchio_place.exists():
    pytest.skip("build/pinocchio is not there", allow_module_level=True)
sys.path.append(str(pinocchio_place))
sys.path.append(str(root / "build/mujoco"))
pinocchio = pytest.importorskip("pinocchio", exc_type=ImportError)
mujoco = pytest.importorskip("mujoco", exc_type=ImportError)
jax = pytest.importorskip("jax")
jax.config.update("jax_enable_x64", True)

import hindcast as hc
import hindcast.jax

TOLERANCE = 1e-9  # relative to the largest entry of a matrix
STATES = 5
STEP = 1.0  # s: a large one, so that little is lost where the velocity before it is taken off
INERTIAS = ["body_mass", "body_inertia", "body_ipos", "body_iquat"]
# Their files, and whether the base moves.
ROBOTS = {
    "double_pendulum": ("double_pendulum_description/urdf/double_pendulum.urdf", False),
    "panda": ("panda_description/urdf/panda.urdf", False),
    "solo12": ("solo_description/robots/solo12.urdf", True),
    "go2": ("go2_description/urdf/go2.urdf", True),
    "simple_humanoid": ("simple_humanoid_description/urdf/simple_humanoid.urdf", True),
    "talos": ("talos_data/robots/talos_full_v2.urdf", True),
}
# LLVM takes minutes for derivatives of the large ones, the interpreter, whose bits are the same, seconds.
CASES = [(name, "interpreter") for name in ROBOTS]
CASES += [(name, "cpu") for name in (ROBOTS if os.environ.get("HINDCAST_FULL") == "1" else ["panda"])]


def cross_matrix(v):
    return np.array([[0, -v[2], v[1]], [v[2], 0, -v[0]], [-v[1], v[0], 0]])


def product_matrix(q):
    """Of r in q ⊗ r, quaternions as w, x, y, z."""
    matrix = q[0] * np.eye(4)
    matrix[0, 1:], matrix[1:, 0] = -q[1:], q[1:]
    matrix[1:, 1:] += cross_matrix(q[1:])
    return matrix


def rotation(q):
    q = q / np.linalg.norm(q)
    return np.eye(3) + 2 * q[0] * cross_matrix(q[1:]) + 2 * cross_matrix(q[1:]) @ cross_matrix(q[1:])


def close(found, expected, what):
    scale = np.max(np.abs(expected))
    assert scale > 0, what
    error = np.max(np.abs(np.asarray(found) - expected)) / scale
    assert error <= TOLERANCE, f"{what}: {error:.1e} of the largest entry, {scale:.3g}"


class Robot:
    """One robot as a scene of ours and as a model of Pinocchio's, and which joint is which."""

    def __init__(self, folder, file, free, device):
        # Joints and inertias only: shapes weigh nothing.
        description = ElementTree.fromstring(file.read_bytes())
        for link in description.iter("link"):
            for shape in [*link.findall("visual"), *link.findall("collision")]:
                link.remove(shape)
        text = ElementTree.tostring(description, encoding="unicode")
        (folder / "robot.urdf").write_text(text)
        links = [link.get("name") for link in description.findall("link")]
        joints = description.findall("joint")
        (base,) = set(links) - {joint.find("child").get("link") for joint in joints}
        attached = f'<attach model="robot" body="{base}" prefix="r/"/>'
        if free:
            attached = f"<body><freejoint/>{attached}</body>"
        motors = "".join(
            f'<motor joint="r/{joint.get("name")}"/>'
            for joint in joints if joint.get("type") != "fixed")
        # Without the implicit damping of MuJoCo's Euler method a step adds just the accelerations.
        (folder / "robot.xml").write_text(
            '<mujoco><option><flag constraint="disable" eulerdamp="disable"/></option>'
            f'<asset><model name="robot" file="robot.urdf"/></asset>'
            f"<worldbody>{attached}</worldbody><actuator>{motors}</actuator></mujoco>")
        scene = {
            "format": 1, "dimension": 3, "time": {"step": STEP, "steps": 1},
            "bodies": [{"type": "articulated", "name": "robot", "model": "robot.xml"}]}
        (folder / "robot.json").write_text(json.dumps(scene))

        self.free = free
        self.compiled = mujoco.MjModel.from_xml_path(str(folder / "robot.xml"))
        self.simulation = hc.load(folder / "robot.json", device=device)
        self.inputs = ["qpos", "qvel", "ctrl", *INERTIAS]
        self.velocity = hindcast.jax.simulation(
            folder / "robot.json", inputs=[f"robot.{name}" for name in self.inputs],
            outputs=["final:robot.qvel"], precision="f64", device=device)
        every = tuple(range(len(self.inputs)))
        self.by_adjoint = jax.jit(jax.jacrev(self.velocity, argnums=every))
        self.by_tangent = jax.jit(jax.jacfwd(self.velocity, argnums=every))

        arguments = (pinocchio.JointModelFreeFlyer(),) if free else ()
        self.model = pinocchio.buildModelFromXML(text, *arguments)
        self.data = self.model.createData()
        # Of each joint of ours its number in Pinocchio; of each degree of freedom, too.
        m = self.compiled
        self.joint = [
            self.model.getJointId(m.joint(k).name.removeprefix("r/")) if m.joint(k).name else 1
            for k in range(m.njnt)]
        self.dof = np.concatenate([
            np.arange(self.model.nvs[j]) + self.model.idx_vs[j] for j in self.joint])
        assert sorted(self.dof) == list(range(self.model.nv)) and len(self.dof) == m.nv
        assert [m.jnt_dofadr[k] for k in range(m.njnt)] == list(
            np.cumsum([0, *(self.model.nvs[j] for j in self.joint)])[:-1])
        self.damping = np.zeros(self.model.nv)
        self.damping[self.dof] = self.simulation["robot.dof_damping"]
        self.motor_dof = [m.jnt_dofadr[k] for k in m.actuator_trnid[:, 0]]

    def states(self, count):
        """Random positions, velocities, controls and inertias, as ours are: the scene's values by name."""
        random = np.random.default_rng(5)
        m = self.compiled
        joints = m.actuator_trnid[:, 0]
        # Pinocchio knows no limit of a motor's force.
        strongest = np.where(
            m.jnt_actfrclimited[joints], np.minimum(5, 0.9 * m.jnt_actfrcrange[joints, 1]), 5)
        for _ in range(count):
            qpos = random.uniform(-2, 2, m.nq)
            if self.free:
                qpos[3:7] /= np.linalg.norm(qpos[3:7])
            yield dict(
                qpos=qpos, qvel=random.uniform(-2, 2, m.nv), ctrl=random.uniform(-1, 1, m.nu) * strongest,
                body_mass=m.body_mass * random.uniform(0.5, 1.5, m.nbody),
                body_inertia=m.body_inertia * random.uniform(0.5, 1.5, (m.nbody, 3)),
                body_ipos=m.body_ipos + random.uniform(-0.02, 0.02, (m.nbody, 3)),
                body_iquat=m.body_iquat + random.uniform(-0.4, 0.4, (m.nbody, 4)))

    def positions(self, qpos):
        """The same positions as Pinocchio has them."""
        q = pinocchio.neutral(self.model)
        for k, j in enumerate(self.joint):
            at, to = self.compiled.jnt_qposadr[k], self.model.idx_qs[j]
            if self.compiled.jnt_type[k] == mujoco.mjtJoint.mjJNT_FREE:
                q[to:to + 7] = qpos[at + np.array([0, 1, 2, 4, 5, 6, 3])]
            elif self.model.nqs[j] == 2:  # a joint without limits: cosine and sine
                q[to:to + 2] = np.cos(qpos[at]), np.sin(qpos[at])
            else:
                q[to] = qpos[at]
        return q

    def tangents(self, qpos):
        """nq × nv: qpos's change for each of Pinocchio's tangents, these in our order."""
        m = self.compiled
        matrix = np.zeros((m.nq, m.nv))
        for k in range(m.njnt):
            at, dof = m.jnt_qposadr[k], m.jnt_dofadr[k]
            if m.jnt_type[k] == mujoco.mjtJoint.mjJNT_FREE:
                matrix[at:at + 3, dof:dof + 3] = rotation(qpos[at + 3:at + 7])
                matrix[at + 3:at + 7, dof + 3:dof + 6] = product_matrix(qpos[at + 3:at + 7])[:, 1:] / 2
            else:
                matrix[at, dof] = 1
        return matrix

    def inertias(self, mass, moments, center, axes):
        """What the bodies' masses, moments, centers and axes are in Pinocchio's ten numbers of each
        joint, and the derivatives: arrays 10 (joints - 1) × numbers of all bodies, by name."""
        m, size = self.compiled, 10 * (self.model.njoints - 1)
        ten = np.zeros(size)
        by = {name: np.zeros((size, m.nbody, n)) for name, n in zip(INERTIAS, (1, 3, 3, 4))}
        # Rows and columns of Pinocchio's six numbers of an inertia.
        rows, columns = np.array([0, 0, 1, 0, 1, 2]), np.array([0, 1, 1, 2, 2, 2])
        for body in range(1, m.nbody):
            carrier = m.body_weldid[body]
            if carrier == 0:
                continue  # fixed to the world
            # Its place in the frame of the body that carries it.
            place, turn, b = np.zeros(3), np.eye(3), body
            while b != carrier:
                place = m.body_pos[b] + rotation(m.body_quat[b]) @ place
                turn = rotation(m.body_quat[b]) @ turn
                b = m.body_parentid[b]
            c = place + turn @ center[body]
            principal = turn @ rotation(axes[body])
            diagonal = np.diag(moments[body])
            shift = c @ c * np.eye(3) - np.outer(c, c)
            j = self.joint[m.body_jntadr[carrier]]
            part = slice(10 * (j - 1), 10 * j)

            def entries(total, moment, inertia):
                return np.array([total, *moment, *inertia[rows, columns]])

            ten[part] += entries(
                mass[body], mass[body] * c, principal @ diagonal @ principal.T + mass[body] * shift)
            by["body_mass"][part, body, 0] = entries(1, c, shift)
            for k in range(3):
                by["body_inertia"][part, body, k] = entries(
                    0, np.zeros(3), np.outer(principal[:, k], principal[:, k]))
                d = turn[:, k]
                by["body_ipos"][part, body, k] = mass[body] * entries(
                    0, d, 2 * c @ d * np.eye(3) - np.outer(c, d) - np.outer(d, c))
            quaternion = axes[body]
            backward = quaternion * [1, -1, -1, -1] / (quaternion @ quaternion)
            for k in range(4):
                spin = cross_matrix(2 * (product_matrix(backward) @ np.eye(4)[k])[1:])
                by["body_iquat"][part, body, k] = entries(
                    0, np.zeros(3), principal @ (spin @ diagonal - diagonal @ spin) @ principal.T)
        return ten, {name: matrix.reshape(size, -1) for name, matrix in by.items()}


@pytest.fixture(scope="module", params=CASES, ids="-".join)
def robot(request, tmp_path_factory):
    name, device = request.param
    file, free = ROBOTS[name]
    if not (robots / file).exists():
        pytest.skip(f"{pathlib.Path(file).name} is not there")
    folder = tmp_path_factory.mktemp(name)
    before = pathlib.Path.cwd()
    os.chdir(folder)  # MuJoCo's package writes a log into the working folder
    yield Robot(folder, robots / file, free, device)
    os.chdir(before)


def test_inertias_are_pinocchios(robot):
    ten, _ = robot.inertias(*(robot.simulation[f"robot.{name}"] for name in INERTIAS))
    theirs = np.concatenate([np.asarray(i.toDynamicParameters()) for i in robot.model.inertias[1:]])
    close(ten, theirs, "inertias")


class Expected:
    """Of one state, by Pinocchio, in our frames and order."""

    def __init__(self, robot, qpos, qvel, ctrl, **inertias):
        model, data, dof = robot.model.copy(), robot.data, robot.dof
        ten, by_inertias = robot.inertias(*(inertias[name] for name in INERTIAS))
        for j in range(1, model.njoints):
            model.inertias[j] = pinocchio.Inertia.FromDynamicParameters(ten[10 * (j - 1):10 * j])
        q = robot.positions(qpos)
        turn, turning = np.eye(model.nv), np.zeros((model.nv, model.nv))
        by_velocity, by_turn = np.zeros_like(turn), np.zeros_like(turn)
        if robot.free:
            turn[:3, :3] = rotation(qpos[3:7])
        ours = turn.T @ qvel  # Pinocchio's frames, our order, as all below but what it gives
        g = np.zeros(model.nv)
        if robot.free:
            linear, angular = ours[:3], ours[3:6]
            g[:3] = np.cross(angular, linear)
            by_velocity[:3, :6] = np.hstack([cross_matrix(angular), -cross_matrix(linear)])
            by_turn[:3, 3:6] = cross_matrix(linear)
        v, motors, tau = np.zeros(model.nv), np.zeros(model.nv), np.zeros(model.nv)
        v[dof] = ours
        motors[robot.motor_dof] = ctrl
        tau[dof] = motors
        tau -= robot.damping * v  # dampers are no part of Pinocchio's equations

        acceleration = pinocchio.aba(model, data, q, v, tau)[dof]
        inertia = np.tril(pinocchio.crba(model, data, q).T)
        inertia = (inertia + np.tril(inertia, -1).T)[np.ix_(dof, dof)]
        bias = pinocchio.nonLinearEffects(model, data, q, v)[dof]
        self.acceleration = turn @ (acceleration + g)
        self.inertia = turn @ inertia @ turn.T
        self.bias = turn @ (bias - inertia @ g)

        dq, dv, inverse = (
            np.array(x) for x in pinocchio.computeABADerivatives(model, data, q, v, tau))
        inverse = np.triu(inverse) + np.triu(inverse, 1).T
        dv -= inverse * robot.damping
        dq, dv, inverse = (x[np.ix_(dof, dof)] for x in (dq, dv, inverse))
        if robot.free:
            turning[:3, 3:6] = -rotation(qpos[3:7]) @ cross_matrix((acceleration + g)[:3])
        self.by_tangent = turning + turn @ (dq + (dv + by_velocity) @ by_turn)
        self.by_qvel = turn @ (dv + by_velocity) @ turn.T
        self.by_ctrl = (turn @ inverse)[:, robot.motor_dof]
        a = np.zeros(model.nv)
        a[dof] = acceleration
        regressor = pinocchio.computeJointTorqueRegressor(model, data, q, v, a)[dof]
        by_ten = -turn @ inverse @ regressor
        self.by_inertias = {name: by_ten @ matrix for name, matrix in by_inertias.items()}


def test_accelerations_and_derivatives_are_pinocchios(robot):
    for state in robot.states(STATES):
        expected = Expected(robot, **state)
        qpos, qvel = state["qpos"], state["qvel"]
        for name, value in state.items():
            robot.simulation[f"robot.{name}"] = value
        robot.simulation.run()
        nv = len(qvel)
        lower = robot.simulation.final("robot.inertia").reshape(nv, nv)
        close(np.tril(lower), np.tril(expected.inertia), "inertia matrix")
        close(robot.simulation.final("robot.bias").ravel(), expected.bias, "bias force")
        close(robot.simulation.final("robot.qacc").ravel(), expected.acceleration, "acceleration")

        inputs = [state[name] for name in robot.inputs]
        after = robot.velocity(*inputs)
        close((after - qvel) / STEP, expected.acceleration, "change of velocity")
        for mode, derivatives in (
                ("adjoint", robot.by_adjoint(*inputs)), ("tangent", robot.by_tangent(*inputs))):
            by = {name: np.asarray(d).reshape(nv, -1) / STEP
                  for name, d in zip(robot.inputs, derivatives)}
            close(by["qpos"] @ robot.tangents(qpos), expected.by_tangent, f"by positions, {mode}")
            if robot.free:  # nothing depends on the quaternion's length
                along = by["qpos"][:, 3:7] @ qpos[3:7]
                assert np.max(np.abs(along)) <= TOLERANCE * np.max(np.abs(expected.by_tangent))
            close(by["qvel"] - np.eye(nv) / STEP, expected.by_qvel, f"by velocities, {mode}")
            close(by["ctrl"], expected.by_ctrl, f"by forces of actuators, {mode}")
            for name in INERTIAS:
                close(by[name], expected.by_inertias[name], f"by {name}, {mode}")
