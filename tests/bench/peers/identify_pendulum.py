#!/usr/bin/env python3
"""The workload identify_pendulum (app/cli/bench/identification.cpp) by others: SciPy's Levenberg-Marquardt
(MINPACK) with finite differences by MuJoCo, whose rollouts run in C. Our program and this one take turns.

    python3 identify_pendulum.py [--rounds 3] [--program ../../../build/release/hindcast]

It needs the packages mujoco, numpy and scipy, and HINDCAST_MUJOCO as our program does. Ends with 1 if the two
do not come to the same numbers.
"""
import argparse
import json
import math
import pathlib
import subprocess
import sys
import time

import mujoco
import numpy as np
from mujoco import rollout
from scipy.optimize import least_squares

MODEL = """<mujoco><option timestep="0.0033333333333333335" integrator="RK4"/>
<worldbody><body name="link"><joint name="motor" axis="0 -1 0" armature="0.1" damping="0.1"/>
<inertial pos="0 0 -0.001" mass="60" diaginertia="1e-9 1e-9 1e-9"/></body></worldbody>
<actuator><motor name="motor" joint="motor"/></actuator></mujoco>"""
ROWS, PARTS, RATE, STEPS = 201, 30, 100, 600
NAMES = ["armature", "mass", "damping", "torque"]
START = np.array([0.1, 60, 0.1, 0])


def torque(t):
    terms = [(0.9, 0.6, 0), (0.7, 1.1, 1), (0.5, 1.7, 2), (0.4, 2.9, 3)]
    return sum(a * math.sin(2 * math.pi * f * t + p) for a, f, p in terms)


def recording():
    """Torques, and rows of angle and speed."""
    mass, arm, h = 102.2, 1e-3, 1 / RATE / PARTS
    told = [torque(k / RATE) for k in range(ROWS + 1)]

    def rate(s, pull):
        force = pull + 0.076 - mass * arm * 9.81 * math.sin(s[0]) - 0.05 * s[1]
        return np.array([s[1], force / (0.0625 + mass * arm * arm + 1e-9)])

    s, rows = np.zeros(2), []
    for k in range(ROWS):
        rows.append(s + [0.014 * math.sin(k * k), 0.14 * math.sin(k * k + 1)])
        for p in range(PARTS):
            pull = [told[k] + (told[k + 1] - told[k]) * (p + x) / PARTS for x in (0, 0.5, 1)]
            a = rate(s, pull[0])
            b = rate(s + h / 2 * a, pull[1])
            c = rate(s + h / 2 * b, pull[1])
            s = s + h / 6 * (a + 2 * b + 2 * c + rate(s + h * c, pull[2]))
    return np.array(told[:ROWS]), np.array(rows)


class Problem:
    def __init__(self):
        self.model = mujoco.MjModel.from_xml_string(MODEL)
        self.data = mujoco.MjData(self.model)
        told, self.rows = recording()
        self.told = np.interp((np.arange(STEPS) + 0.5) / 300, np.arange(ROWS) / RATE, told)
        self.start = np.zeros((1, mujoco.mj_stateSize(self.model, mujoco.mjtState.mjSTATE_FULLPHYSICS)))

    def residuals(self, x):
        m = self.model
        m.dof_armature[0], m.body_mass[1], m.dof_damping[0] = x[:3]
        mujoco.mj_setConst(m, self.data)
        control = (self.told + x[3]).reshape(1, STEPS, 1)
        states, _ = rollout.rollout(m, self.data, self.start, control)
        states = states[0][2::3, 1:3]  # time, angle, speed; every third step is a row
        r = (np.vstack([[0, 0], states]) - self.rows) / [0.01, 0.1]
        return r.ravel()

    def fit(self):
        return least_squares(self.residuals, START, method="lm", x_scale=[0.1, 60, 0.1, 0.1],
                             ftol=1e-10, xtol=1e-10, gtol=1e-10)


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    here = pathlib.Path(__file__).resolve().parent
    parser.add_argument("--program", default=here.parents[2] / "build/release/hindcast")
    parser.add_argument("--rounds", type=int, default=3)
    options = parser.parse_args()
    problem = Problem()
    ours, theirs = [], []
    for _ in range(options.rounds):
        text = subprocess.run([options.program, "bench", "identify_pendulum", "--json"], check=True,
                              capture_output=True, text=True).stdout
        ours.append(json.loads(text.strip().splitlines()[-1]))
        seconds = []
        for _ in range(5):
            begin = time.perf_counter()
            result = problem.fit()
            seconds.append(time.perf_counter() - begin)
        theirs.append(min(seconds))
    mine = min(line["fit_s"] for line in ours)
    print(f"hindcast            {1e3 * mine:9.2f} ms   {ours[0]['fit_iterations']:.0f} iterations, exact Jacobians")
    print(f"SciPy with MuJoCo   {1e3 * min(theirs):9.2f} ms   {result.nfev} evaluations beside those of Jacobians, "
          f"{min(theirs) / mine:.2f} times as long")
    agree = True
    print(f"{'cost':10} {ours[0]['loss']:14.9g} {result.cost:14.9g}")
    for name, value in zip(NAMES, result.x):
        print(f"{name:10} {ours[0][name]:14.9g} {value:14.9g}")
        agree = agree and abs(ours[0][name] - value) <= 1e-4 * abs(value)
    sys.exit(0 if agree else "the estimates differ")


if __name__ == "__main__":
    main()
