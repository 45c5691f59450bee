#!/usr/bin/env python3
"""Distances and normals of shapes by coal 3.0.3 (PyPI), the independent implementation that tests of
engine/geometry compare with. Writes distances.json beside this file:

    PYTHONPATH=build/pinocchio/cmeel.prefix/lib/python3.11/site-packages python3 tests/geometry/make_distances.py

A pair: two shapes with the sizes of engine/geometry/contact.hpp, their places and quaternions
(w, x, y, z); their distance and the normal from the first to the second. Points: a kind of obstacle with
its sizes, a point in its axes, its distance and the normal there.
"""
import itertools
import json
import pathlib

import coal
import numpy as np

KINDS = ("sphere", "capsule", "cylinder", "ellipsoid", "box")
random = np.random.default_rng(20261129)


def shape(kind, s):
    return {
        "sphere": lambda: coal.Sphere(s[0]),
        "capsule": lambda: coal.Capsule(s[0], 2 * s[1]),
        "cylinder": lambda: coal.Cylinder(s[0], 2 * s[1]),
        "cone": lambda: coal.Cone(s[0], 2 * s[1]),
        "ellipsoid": lambda: coal.Ellipsoid(*s),
        "box": lambda: coal.Box(*(2 * np.array(s))),
    }[kind]()


def sizes():
    return [round(float(x), 3) for x in random.uniform(0.1, 0.4, 3)]


def quaternion():
    q = random.normal(size=4)
    return [float(x) for x in q / np.linalg.norm(q)]


def transform(place, q):
    w, x, y, z = q
    turn = np.array([
        [1 - 2 * (y * y + z * z), 2 * (x * y - w * z), 2 * (x * z + w * y)],
        [2 * (x * y + w * z), 1 - 2 * (x * x + z * z), 2 * (y * z - w * x)],
        [2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y)],
    ])
    return coal.Transform3s(turn, np.array(place))


def measured(one, at_one, two, at_two):
    request, result = coal.DistanceRequest(), coal.DistanceResult()
    request.gjk_tolerance = 1e-10
    request.gjk_max_iterations = 5000
    distance = coal.distance(one, at_one, two, at_two, request, result)
    return float(distance), [float(x) for x in result.normal]


def pairs():
    for first, second in itertools.combinations_with_replacement(KINDS, 2):
        made = 0
        while made < 8:
            one, two = sizes(), sizes()
            way = random.normal(size=3)
            place = [float(x) for x in way / np.linalg.norm(way) * random.uniform(0.5, 1.2)]
            turns = quaternion(), quaternion()
            distance, normal = measured(shape(first, one), transform([0, 0, 0], turns[0]),
                                        shape(second, two), transform(place, turns[1]))
            if distance < 0.02:  # where they overlap coal's depth is that of a polytope
                continue
            made += 1
            yield {"first": first, "second": second, "sizes": [one, two], "place": place,
                   "turns": list(turns), "distance": distance, "normal": normal}


def points():
    small = 1e-3  # a point is a ball of this radius
    for kind in (*KINDS, "cone"):
        if kind == "ellipsoid":  # no obstacle is one
            continue
        made = 0
        while made < 40:
            s = sizes()
            p = [float(x) for x in random.uniform(-0.8, 0.8, 3)]
            distance, normal = measured(shape(kind, s), transform([0, 0, 0], [1, 0, 0, 0]),
                                        coal.Sphere(small), transform(p, [1, 0, 0, 0]))
            if distance < 0.01:
                continue
            made += 1
            yield {"kind": kind, "size": s, "point": p, "distance": distance + small, "normal": normal}


if __name__ == "__main__":
    lines = [json.dumps(row) for row in pairs()], [json.dumps(row) for row in points()]
    text = '{"pairs": [\n%s\n], "points": [\n%s\n]}\n' % tuple(",\n".join(part) for part in lines)
    pathlib.Path(__file__).with_name("distances.json").write_text(text)
