#!/usr/bin/env python3
"""Writes pendulum.csv: a motor with a link, measured at 100 Hz for 4 s, made up.

    J q'' + m c g sin q + Fv q' + Fc atan(100 q') + offset = torque

with a rough torque that is known exactly, and noise on position and velocity. Integrated by the classical
Runge-Kutta method with 30 steps between rows, the torque along the line between them.

    python3 make_pendulum.py > pendulum.csv
"""
import math
import random

J, MC, FV, FC, OFFSET, G = 0.06259, 0.1022, 0.04707, 0.1839, -0.07586, 9.81
RATE, ROWS, PARTS = 100, 401, 30
NOISE_POSITION, NOISE_VELOCITY = 0.01, 0.1


def acceleration(q, v, torque):
    return (torque - OFFSET - MC * G * math.sin(q) - FV * v - FC * math.atan(100 * v)) / J


def main():
    draw = random.Random(2)
    phases = [draw.uniform(0, 2 * math.pi) for _ in range(4)]
    torques = [
        round(sum(a * math.sin(2 * math.pi * f * k / RATE + p)
            for a, f, p in zip((0.9, 0.7, 0.5, 0.4), (0.6, 1.1, 1.7, 2.9), phases)) + draw.gauss(0, 0.3), 5)
        for k in range(ROWS)
    ]
    print("# made up by make_pendulum.py: rad, rad/s, N m")
    print("time,position,velocity,torque")
    q, v, h = 0.0, 0.0, 1 / RATE / PARTS
    for k in range(ROWS):
        print(f"{k / RATE:.2f},{q + draw.gauss(0, NOISE_POSITION):.5f},"
              f"{v + draw.gauss(0, NOISE_VELOCITY):.4f},{torques[k]:.5f}")
        for part in range(PARTS if k + 1 < ROWS else 0):
            at = [torques[k] + (torques[k + 1] - torques[k]) * (part + x) / PARTS for x in (0, 0.5, 1)]
            q1, v1 = v, acceleration(q, v, at[0])
            q2, v2 = v + h / 2 * v1, acceleration(q + h / 2 * q1, v + h / 2 * v1, at[1])
            q3, v3 = v + h / 2 * v2, acceleration(q + h / 2 * q2, v + h / 2 * v2, at[1])
            q4, v4 = v + h * v3, acceleration(q + h * q3, v + h * v3, at[2])
            q += h / 6 * (q1 + 2 * q2 + 2 * q3 + q4)
            v += h / 6 * (v1 + 2 * v2 + 2 * v3 + v4)


if __name__ == "__main__":
    main()
