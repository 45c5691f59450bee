"""Warnings about scenes, as Python's own."""

import warnings

import hindcast as hc
import pytest

TWO_BALLS = {
    "format": 1,
    "time": {"step": "1/100", "steps": 100},
    "gravity": [0, 0, 0],
    "bodies": [
        {
            "type": "particles",
            "name": "left",
            "positions": [[0, 0, 0]],
            "velocity": [1, 0, 0],
            "radius": 0.1,
        },
        {"type": "particles", "name": "right", "positions": [[1, 0, 0]], "radius": 0.1},
    ],
}


def test_a_scene_that_lets_things_pass_warns_once_at_the_callers_line():
    with pytest.warns(hc.PhysicsWarning) as found:
        sim = hc.scene(TWO_BALLS, precision="f64")
        sim.run()
        sim.run()
    assert [w.message.identifier for w in found] == ["contact_pairs", "bodies_overlap"]
    assert {w.filename for w in found} == {__file__}
    first, second = (w.message for w in found)
    assert "'left' and 'right'" in str(first)
    assert first.numbers == {"pairs": 1} and first.step is None and first.pointer == ""
    # The surfaces meet after (1 - 0.2) m at 1 m/s: 0.8 s, give or take the rounding of one step.
    assert abs(second.step - 80) <= 1 and second.pointer == "/bodies/0"
    assert "particle_contact" in second.remedy
    assert [w.identifier for w in sim.warnings] == ["contact_pairs", "bodies_overlap"]


def test_a_filter_makes_it_an_error():
    with warnings.catch_warnings():
        warnings.simplefilter("error", hc.PhysicsWarning)
        with pytest.raises(hc.PhysicsWarning, match="nothing keeps these apart"):
            hc.scene(TWO_BALLS)


def test_a_scene_accepts_it():
    with warnings.catch_warnings():
        warnings.simplefilter("error", hc.PhysicsWarning)
        sim = hc.scene({**TWO_BALLS, "contact": {"exceptions": [["left", "right"]]}})
        sim.run()
        assert sim.warnings == []
