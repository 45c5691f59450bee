"""Pictures of scenes: what is where in them, against the program's and against what must be seen."""

import json
import math
import struct
import subprocess
import threading
import zlib

import hindcast as hc
import numpy as np
import pytest
from scene_tools import CAGE, SCENES, program

pytestmark = pytest.mark.skipif(
    not hasattr(hc._core, "render_scene"), reason="the module is built without the renderer"
)


def read_png(data):
    """uint8 [height, width, channels], by the letter of the format."""
    assert data[:8] == b"\x89PNG\r\n\x1a\n"
    at, packed = 8, b""
    while at < len(data):
        (size,), name = struct.unpack(">I", data[at : at + 4]), data[at + 4 : at + 8]
        body = data[at + 8 : at + 8 + size]
        assert struct.unpack(">I", data[at + 8 + size : at + 12 + size]) == (
            zlib.crc32(name + body),
        )
        if name == b"IHDR":
            width, height, depth, color, _, _, interlaced = struct.unpack(">IIBBBBB", body)
            assert depth == 8 and interlaced == 0
        elif name == b"IDAT":
            packed += body
        at += 12 + size
    channels = {0: 1, 2: 3, 6: 4}[color]
    lines = np.frombuffer(zlib.decompress(packed), np.uint8).reshape(height, 1 + width * channels)
    result = np.zeros((height, width * channels), np.uint8)
    for y, line in enumerate(lines):
        kind, raw = line[0], line[1:].astype(int)
        up = result[y - 1].astype(int) if y else np.zeros(width * channels, int)
        row = np.zeros(width * channels, int)
        for x in range(width * channels):
            left = row[x - channels] if x >= channels else 0
            corner = up[x - channels] if x >= channels else 0
            p = left + up[x] - corner
            nearest = min((left, up[x], corner), key=lambda q: abs(p - q))
            row[x] = (raw[x] + [0, left, up[x], (left + up[x]) // 2, nearest][kind]) & 255
        result[y] = row
    return result.reshape(height, width, channels)


@pytest.mark.parametrize("channels", [0, 3, 4])
def test_png_files(channels):
    rng = np.random.default_rng(3)
    shape = (13, 7, channels) if channels else (13, 7)
    picture = rng.integers(0, 256, shape, dtype=np.uint8)
    picture[4:9] = picture[3]
    np.testing.assert_array_equal(read_png(hc.png(picture)).reshape(shape), picture)
    for wrong in (picture.astype(float), picture[:0], picture.reshape(-1)):
        with pytest.raises(hc.ArgumentError, match="picture: "):
            hc.png(wrong)


def test_the_program_draws_the_same(tmp_path):
    file = tmp_path / "cage.png"
    subprocess.run(
        [program(), "render", str(CAGE), "-o", str(file), "--step", "12", "--size", "160x120"]
        + ["--precision", "f32", "--no-color-bar", "--quiet"],
        check=True,
    )
    picture = hc.load(CAGE, precision="f32").render(12, 160, 120)
    assert picture.dtype == np.uint8 and picture.shape == (120, 160, 4)
    assert (picture[..., 3] == 255).all()
    np.testing.assert_array_equal(read_png(file.read_bytes())[..., :3], picture[..., :3])


def middle_of_ball(sim, frame):
    """Where the picture differs from one with nothing in it: pixels from the left and the top."""
    look = {"eye": [0, -10, 1], "target": [0, 0, 1], "orthographic": False, "field_of_view": 40}
    picture = sim.render(frame, 200, 200, look, floor=False, color_by="")
    background = np.median(picture[..., :3].astype(int), axis=1, keepdims=True)
    seen = np.abs(picture[..., :3].astype(int) - background).sum(axis=2) > 60
    rows, columns = np.nonzero(seen)
    assert 4 < len(rows) < 20000
    return columns.mean() + 0.5, rows.mean() + 0.5


def test_a_ball_is_where_the_state_says():
    document = {
        "format": 1,
        "time": {"step": 0.1, "steps": 10},
        "gravity": [0, 0, 0],
        "bodies": [
            {"type": "particles", "name": "ball", "positions": [[-1, 0, 1]], "velocity": [2, 0, 1]}
        ],
    }
    sim = hc.scene(document)
    sim.run(keep="position")
    focal = 100 / np.tan(np.radians(20))  # pixels, of half the height and half the angle
    for frame in (0, 5, 10):
        x, y, z = sim.state("position")[frame, 0]
        found = middle_of_ball(sim, frame)
        np.testing.assert_allclose(
            found, (100 + focal * x / 10, 100 - focal * (z - 1) / 10), atol=1.5
        )


def test_values_that_change_are_seen():
    sim = hc.load(CAGE)
    first = sim.render(width=96, height=72)
    np.testing.assert_array_equal(sim.render(width=96, height=72), first)
    sim["gravity"] = [0, 0, -30.0]
    assert np.any(sim.render(width=96, height=72) != first)
    sim["gravity"] = [0, 0, -9.81]
    np.testing.assert_array_equal(sim.render(width=96, height=72), first)
    assert np.any(sim.render(0, 96, 72) != first)
    assert np.any(sim.render(width=96, height=72, camera="top") != first)
    assert np.any(sim.render(width=96, height=72, dark=False) != first)


def test_fields():
    sim = hc.load(SCENES / "wave_image.json", precision="f32", steps=20)
    flat, solid = sim.render(5, 80, 60), sim.render(5, 80, 60, heights=True)
    assert flat.std() > 1 and np.any(flat != solid)


def test_heights(tmp_path):
    scene = json.loads((SCENES / "wave_image.json").read_text())
    scene["bodies"][0]["level_0"] = {"formula": "exp(-((x-1/2)^2+(y-1/2)^2)/0.02)"}
    (tmp_path / "flat.json").write_text(json.dumps(scene))
    scene["view"]["heights"] = 0.5
    (tmp_path / "high.json").write_text(json.dumps(scene))
    flat, high = (hc.load(tmp_path / f"{name}.json", steps=20) for name in ("flat", "high"))
    image, solid = flat.render(5, 80, 60), high.render(5, 80, 60)
    assert np.any(image != solid)
    np.testing.assert_array_equal(flat.render(5, 80, 60, heights=0.5), solid)
    np.testing.assert_array_equal(high.render(5, 80, 60, heights=True), solid)
    np.testing.assert_array_equal(high.render(5, 80, 60, heights=False), image)
    np.testing.assert_array_equal(
        flat.render(5, 80, 60, heights=True), high.render(5, 80, 60, heights=1)
    )
    assert np.any(flat.render(5, 80, 60, heights=True) != solid)
    for wrong in (-1, 0, math.inf, "high", [1, 2]):
        with pytest.raises(hc.ArgumentError, match="heights"):
            flat.render(5, 80, 60, heights=wrong)


def test_several_threads():
    expected = hc.load(CAGE).render(7, 64, 48)
    found = []

    def one():
        found.append(hc.load(CAGE).render(7, 64, 48))

    threads = [threading.Thread(target=one) for _ in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    for picture in found:
        np.testing.assert_array_equal(picture, expected)
    assert len(found) == 3


WRONG = [
    (dict(frame=31), "frame: 31 is after the last step, 30"),
    (dict(frame=-1), "frame: -1"),
    (dict(width=0), "width: 0"),
    (dict(height=2.5), "height: 2.5"),
    (dict(camera="above"), "camera: 'above' is none of"),
    (dict(camera={"eyes": 1}), "camera: 'eyes' is none of"),
    (dict(camera={"eye": [1, 2]}), "camera: 'eye': has the shape"),
    (dict(camera={"closer": 0}), "camera: 'closer' is from"),
    (dict(color_by="sped"), "color_by: this scene has no 'sped'"),
    (dict(colour_by="sped"), "color_by: this scene has no 'sped'"),
    (dict(color_by="speed", colour_by="speed"), "colour_by: color_by is given as well"),
    (dict(arrows="wind"), "arrows: this scene has no 'wind'"),
]


@pytest.mark.parametrize("wrong, message", WRONG, ids=[message for _, message in WRONG])
def test_wrong_uses(wrong, message):
    sim = hc.load(CAGE)
    with pytest.raises(hc.ArgumentError, match=message):
        sim.render(**wrong)


def test_without_the_renderer(monkeypatch):
    monkeypatch.delattr(hc._core, "render_scene")
    with pytest.raises(hc.Error, match="no renderer; build it with one.*HINDCAST_PYTHON_RENDER=ON"):
        hc.load(CAGE).render()
    monkeypatch.setattr(hc._core, "_renderer_needs", "libglm-dev glslang-tools", raising=False)
    with pytest.raises(
        hc.Error, match="apt-get install libglm-dev glslang-tools, then pip install .*=ON"
    ):
        hc.load(CAGE).render()


def test_without_vulkan(monkeypatch):
    monkeypatch.setenv("HINDCAST_VULKAN_LIBRARY", "/nowhere/libvulkan.so.1")
    sim = hc.scene(json.loads(CAGE.read_text()))
    with pytest.raises(hc.Error, match="Vulkan"):
        sim.render(width=32, height=32)
    assert np.isfinite(sim.run())
