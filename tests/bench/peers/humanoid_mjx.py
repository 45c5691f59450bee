#!/usr/bin/env python3
"""The workload humanoid (app/cli/bench/robots.cpp) by MJX: 200 steps, and their derivative by all controls and
the 14 masses, both in f32, which is all that MJX can in a loop. Our program and this one take turns.

    python3 humanoid_mjx.py [--steps 200] [--rounds 2] [--program ../../../build/release/hindcast]

It needs the packages mujoco, mujoco-mjx and jax, and HINDCAST_MUJOCO as our program does. Reverse mode is tried
first, and what it says is printed; forward mode costs one direction at a time, so one direction is measured and
the gradient's time is its time by the number of parameters.
"""
import argparse
import json
import os
import pathlib
import subprocess
import time

os.environ.setdefault("XLA_FLAGS", "--xla_cpu_multi_thread_eigen=false intra_op_parallelism_threads=1")

import jax
import jax.numpy as jp
import mujoco
from mujoco import mjx

HERE = pathlib.Path(__file__).resolve().parent


def timed(function, *arguments):
    """Seconds to compile, and of the faster of two runs."""
    begin = time.perf_counter()
    jax.block_until_ready(function(*arguments))
    first = time.perf_counter() - begin
    least = first
    for _ in range(2):
        begin = time.perf_counter()
        jax.block_until_ready(function(*arguments))
        least = min(least, time.perf_counter() - begin)
    return first - least, least


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--program", default=HERE.parents[2] / "build/release/hindcast")
    parser.add_argument("--steps", type=int, default=200)
    parser.add_argument("--rounds", type=int, default=2)
    options = parser.parse_args()
    model = mujoco.MjModel.from_xml_path(str(HERE.parents[2] / "scenes/robots/humanoid.xml"))
    model.opt.timestep = 0.005
    on_device = mjx.put_model(model)
    start = mjx.put_data(model, mujoco.MjData(model))

    def run(controls, masses):
        moved = on_device.replace(body_mass=on_device.body_mass.at[1:].multiply(masses))

        def step(data, control):
            return mjx.step(moved, data.replace(ctrl=control)), None

        end, _ = jax.lax.scan(step, start, controls)
        return jp.sum(jp.square(end.qpos)) + jp.sum(jp.square(end.qvel))

    controls = jp.zeros((options.steps, model.nu))
    masses = jp.ones(model.nbody - 1)
    count = controls.size + masses.size
    direction = (jp.ones_like(controls), jp.ones_like(masses))
    forward = jax.jit(run)
    along = jax.jit(lambda c, m: jax.jvp(run, (c, m), direction))
    try:
        jax.block_until_ready(jax.jit(jax.grad(run, (0, 1)))(controls, masses))
        print("reverse mode: works")
    except Exception as error:  # its solver's loop has no reverse mode
        print("reverse mode:", str(error).strip().splitlines()[0])
    ours, theirs, tangents = [], [], []
    for _ in range(options.rounds):
        text = subprocess.run(
            [options.program, "bench", "humanoid", "--precision", "f32", "--json"],
            check=True, capture_output=True, text=True).stdout
        ours.append(json.loads(text.strip().splitlines()[-1]))
        theirs.append(timed(forward, controls, masses))
        tangents.append(timed(along, controls, masses))
    steps = options.steps / 200
    mine = min(line["forward_s"] for line in ours) * steps
    gradient = min(line["forward_backward_s"] for line in ours) * steps
    mjx_forward = min(t for _, t in theirs)
    mjx_tangent = min(t for _, t in tangents)
    print(f"MJX compiled in {theirs[0][0]:.0f} s, with the derivative in {tangents[0][0]:.0f} s")
    print(f"{options.steps} steps           hindcast {1e3 * mine:9.2f} ms   MJX {1e3 * mjx_forward:9.1f} ms   "
          f"{mjx_forward / mine:.0f} times as long")
    print(f"one direction       MJX {1e3 * mjx_tangent:9.1f} ms")
    print(f"{count} derivatives    hindcast {1e3 * gradient:9.2f} ms   MJX {mjx_tangent * count:9.1f} s    "
          f"{mjx_tangent * count / gradient:.0f} times as long")


if __name__ == "__main__":
    main()
