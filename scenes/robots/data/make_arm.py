#!/usr/bin/env python3
"""Writes arm.csv: an arm with a payload, its joints and motors measured at 50 Hz for 3 s, made up.

MuJoCo simulates arm_payload.xml with a payload of other numbers than the file's. Servos follow sums of sines,
from rest in the pose where these begin. They are told a new angle every 4 ms: what lies in the middle of these
on the line between rows. A row's torques are those of the 4 ms that begin there. Positions have noise of 1 mrad,
torques of 0.2 N m, 0.05 N m at the wrist.

    python3 make_arm.py > arm.csv          (needs the packages mujoco and numpy)
"""
import math
import pathlib
import random

import mujoco

JOINTS = ["turn", "shoulder", "elbow", "roll", "bend", "twist"]
MASS, CENTER, MOMENTS = 2.3, (0.032, -0.018, 0.071), (0.006, 0.013, 0.015)
POSE = [0.2, 0.5, 0.9, 0.1, 0.7, 0.0]
SIZES = [0.5, 0.25, 0.35, 0.8, 0.6, 1.0]
RATE, ROWS, NOISE = 50, 151, 0.001
TORQUE_NOISE = [0.2, 0.2, 0.2, 0.05, 0.05, 0.05]


def main():
    draw = random.Random(5)
    sines = [[(draw.uniform(0.3, 0.6), draw.uniform(0.3, 1.2)) for _ in range(3)] for _ in JOINTS]
    told = [
        [round(POSE[j] + SIZES[j] * sum(a * math.sin(2 * math.pi * f * k / RATE) for a, f in sines[j]), 5)
            for j in range(6)]
        for k in range(ROWS)
    ]
    path = pathlib.Path(__file__).resolve().parent.parent / "arm_payload.xml"
    model = mujoco.MjModel.from_xml_path(str(path))
    payload = model.body("payload").id
    model.body_mass[payload] = MASS
    model.body_ipos[payload] = CENTER
    model.body_inertia[payload] = MOMENTS
    data = mujoco.MjData(model)
    mujoco.mj_setConst(model, data)
    data.qpos[:] = POSE
    parts = round(1 / RATE / model.opt.timestep)
    print("# made up by make_arm.py: s, rad, N m")
    print("time," + ",".join(f"{j}_told" for j in JOINTS) + "," + ",".join(JOINTS) + ","
          + ",".join(f"{j}_torque" for j in JOINTS))
    for k in range(ROWS):
        after = told[min(k + 1, ROWS - 1)]

        def tell(part):
            data.ctrl[:] = [a + (b - a) * (part + 0.5) / parts for a, b in zip(told[k], after)]

        tell(0)
        mujoco.mj_forward(model, data)
        row = [f"{k / RATE:.2f}"] + [f"{x:.5f}" for x in told[k]]
        row += [f"{q + draw.gauss(0, NOISE):.5f}" for q in data.qpos]
        row += [f"{f + draw.gauss(0, s):.4f}" for f, s in zip(data.actuator_force, TORQUE_NOISE)]
        print(",".join(row))
        for part in range(parts if k + 1 < ROWS else 0):
            tell(part)
            mujoco.mj_step(model, data)


if __name__ == "__main__":
    main()
