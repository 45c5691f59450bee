"""What `hindcast run --export usd` writes, read by OpenUSD: places and transforms in closed form."""

import json
import math
import subprocess

import numpy as np
import pytest

pxr = pytest.importorskip("pxr", reason="OpenUSD (usd-core) is not installed")
from pxr import Usd, UsdGeom, UsdValidation  # noqa: E402
from scene_tools import SCENES, program  # noqa: E402


# Two free points and a triangle of cloth without forces, which fly straight on; a box that moves and
# turns, a ball that moves, a plane, a frame and targets.
scene = {
    "format": 1,
    "name": 'thrown "things"',
    "time": {"step": "1/50", "steps": 25, "integrator": "implicit_euler"},
    "gravity": [0, 0, 0],
    "bodies": [
        {
            "type": "particles",
            "name": "free points",
            "mass": 1,
            "positions": [[5, 0, 0], [6, 0, 0]],
            "velocity": [1, 2, -3],
        },
        {"type": "particles", "name": "ends", "mass": 1, "positions": [[8, 0, 0], [9, 0, 1]]},
    ],
    "forces": [
        {"type": "springs", "name": "line", "connect": [["ends", 0, "ends", 1]], "stiffness": 10}
    ],
    "colliders": [
        {
            "type": "box",
            "name": "door",
            "center": [0, 0, -50],
            "half_extents": [1, 2, 0.5],
            "velocity": [0.5, 0, 0],
            "angular_velocity": [0, 0, 2],
            "stiffness": 10,
            "distance": 0.25,
        },
        {
            "type": "sphere",
            "name": "ball",
            "center": [0, 30, -50],
            "radius": 2,
            "velocity": [0, 0, 1.5],
            "response": "barrier",
            "stiffness": 10,
            "distance": 0.25,
        },
        {
            "type": "plane",
            "name": "9th floor",
            "normal": [0, 0, 2],
            "offset": -50,
            "response": "barrier",
            "stiffness": 10,
            "distance": 0.25,
        },
    ],
}


def exported(folder, file, *options):
    """The scene of the file, run and exported into the folder."""
    subprocess.run(
        [program(), "run", str(file), "--export", "usd", "--output", str(folder), "--quiet", *options],
        check=True,
        capture_output=True,
    )
    return Usd.Stage.Open(str(folder / "export" / f"{file.stem}.usda"))


@pytest.fixture
def things_file(tmp_path):
    file = tmp_path / "things.json"
    file.write_text(json.dumps(scene))
    return file


def faults(stage):
    """What OpenUSD's own validators find."""
    validators = UsdValidation.ValidationRegistry().GetOrLoadAllValidators()
    assert len(validators) > 10
    context = UsdValidation.ValidationContext(validators)
    return [error.GetMessage() for error in context.Validate(stage)]


def test_things_that_fly_and_turn(tmp_path, things_file):
    stage = exported(tmp_path / "out", things_file, "--export-every", "10")
    assert UsdGeom.GetStageUpAxis(stage) == "Z"
    assert UsdGeom.GetStageMetersPerUnit(stage) == 1
    assert stage.GetTimeCodesPerSecond() == pytest.approx(5)
    assert stage.GetRootLayer().documentation == 'thrown "things"'
    # Frames at 0, 10 and 20 steps, and the end.
    codes = [0, 1, 2, 2.5]
    assert stage.GetEndTimeCode() == 2.5
    things = {prim.GetName(): prim for prim in stage.GetDefaultPrim().GetChildren()}
    assert set(things) == {"free_points", "ends", "line", "door", "ball", "_9th_floor"}
    assert things["free_points"].GetDisplayName() == "free points"

    points = UsdGeom.Points(things["free_points"])
    assert points.GetPointsAttr().GetTimeSamples() == codes
    for code in codes:
        t = code / 5
        start = np.array([[5, 0, 0], [6, 0, 0]])
        flown = start + t * np.array([1, 2, -3])
        np.testing.assert_allclose(points.GetPointsAttr().Get(code), flown, rtol=1e-5)
        velocities = points.GetVelocitiesAttr().Get(code)
        np.testing.assert_allclose(velocities, [[1, 2, -3]] * 2, rtol=1e-5)
        width = points.GetWidthsAttr().Get()[0]
        low, high = points.GetExtentAttr().Get(code)
        np.testing.assert_allclose(low, flown.min(axis=0) - width / 2, rtol=1e-5)
        np.testing.assert_allclose(high, flown.max(axis=0) + width / 2, rtol=1e-5)
        # A point of the box that is at (1, 2, 0.5) from its center.
        transform = UsdGeom.Xformable(things["door"]).ComputeLocalToWorldTransform(code)
        corner = transform.Transform((1, 2, 0.5))
        c, s = math.cos(2 * t), math.sin(2 * t)
        expected = [0.5 * t + c - 2 * s, s + 2 * c, -49.5]
        np.testing.assert_allclose(corner, expected, atol=1e-9)
        ball = UsdGeom.Xformable(things["ball"]).ComputeLocalToWorldTransform(code)
        np.testing.assert_allclose(ball.ExtractTranslation(), [0, 30, -50 + 1.5 * t], atol=1e-6)
    assert UsdGeom.Sphere(things["ball"]).GetRadiusAttr().Get() == 2
    curve = UsdGeom.BasisCurves(things["line"])
    assert list(curve.GetCurveVertexCountsAttr().Get()) == [2]
    assert curve.GetTypeAttr().Get() == "linear"
    # All of the plane lies at z = -50.
    floor = UsdGeom.Mesh(things["_9th_floor"])
    assert {p[2] for p in floor.GetPointsAttr().Get()} == {-50.0}

    assert faults(stage) == []


def test_a_box_is_closed_and_seen_from_outside(tmp_path, things_file):
    stage = exported(tmp_path / "out", things_file)
    mesh = UsdGeom.Mesh(stage.GetPrimAtPath("/scene/door"))
    counts = mesh.GetFaceVertexCountsAttr().Get()
    assert set(counts) == {3}
    points = np.array(mesh.GetPointsAttr().Get(), dtype=float)
    assert len(points) == 8
    corners = points[np.array(mesh.GetFaceVertexIndicesAttr().Get())].reshape(-1, 3, 3)
    volume = np.einsum("fi,fi->", corners[:, 0], np.cross(corners[:, 1], corners[:, 2])) / 6
    assert volume == pytest.approx(2 * 4 * 1)


def test_bodies_of_a_robot_have_its_names(tmp_path):
    stage = exported(tmp_path / "out", SCENES / "robots/boules.json", "--steps", "2")
    for name in "boules_thrown", "boules_struck":
        assert stage.GetPrimAtPath(f"/scene/{name}").GetTypeName() == "Mesh"
    assert faults(stage) == []


@pytest.mark.parametrize("name", ["cloth_over_ball", "wave_image", "mpm_launch"])
def test_bundled_scenes_have_the_states_of_the_run(tmp_path, name):
    out, file = tmp_path / "out", SCENES / f"{name}.json"
    stage = exported(out, file, "--steps", "20", "--export-every", "10")
    assert stage.GetEndTimeCode() == 2
    document = json.loads(file.read_text())
    body = UsdGeom.Imageable(stage.GetPrimAtPath("/scene/" + document["bodies"][0]["name"]))
    prim = body.GetPrim()
    if name == "wave_image":
        assert UsdGeom.GetStageUpAxis(stage) == "Y"
        field = UsdGeom.PrimvarsAPI(prim).GetPrimvar("value")
        assert field.GetInterpolation() == "vertex"
        states = next((out / "states").glob("*.npy"))
        last = np.load(states)[-1].ravel()
        assert np.isin(np.array(field.Get(2), dtype=np.float32), last.astype(np.float32)).all()
    else:
        points = np.array(UsdGeom.PointBased(prim).GetPointsAttr().Get(2))
        last = np.load(out / "states/position.npy")[-1]
        # In a mesh each point once, in the order of the run.
        np.testing.assert_array_equal(points[:, : last.shape[1]], last[: len(points)])
    assert faults(stage) == []
