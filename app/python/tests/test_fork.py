"""A process that was forked after hindcast had been imported: an error at once, never a wait."""

import pathlib
import subprocess
import sys

import pytest

CAGE = pathlib.Path(__file__).resolve().parents[3] / "scenes" / "spring_cage.json"

PREAMBLE = f"""
import multiprocessing, os, sys, threading, time
import hindcast as hc, numpy as np

@hc.kernel
def double(i: hc.Int, x: hc.ReadWrite[hc.real]):
    x[i] = 2 * x[i]

def scene():
    return hc.load({str(CAGE)!r})

sim = scene()
sim.run()
envs = sim.batch(2)
x = np.ones(100_000)
launch = hc.record(double, dim=len(x), x=x)  # long enough for all threads
launch.forward()

def in_child(work):
    \"\"\"What a forked child prints, and its exit status.\"\"\"
    sys.stdout.flush()
    child = os.fork()
    if child == 0:
        try:
            work()
            status = 0
        except hc.Error as error:
            print(error, flush=True)
            status = 3
        except BaseException as error:
            print("another error:", repr(error), flush=True)
            status = 4
        # The whole end of a process, with everything that is destroyed in it.
        sys.exit(status)
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
"""


def python(text, timeout=120):
    done = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", PREAMBLE + text],
        capture_output=True,
        text=True,
        timeout=timeout,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


WAYS = {
    "a launch": "launch.forward()",
    "a new launch": "hc.record(double, dim=3, x=np.ones(3)).forward()",
    "a scene": "sim.run()",
    "a gradient": "sim.value_and_grad(['cage.stiffness'])",
    "a value": "sim['cage.stiffness']",
    "a batch": "envs.step()",
    "a new batch": "sim.batch(2)",
    "a new scene": "scene()",
    "a device": "hc.device('cpu', threads=2)",
}


def test_whatever_is_used_is_an_error():
    out = python(
        f"for name, way in {WAYS!r}.items():\n"
        "    print(name, in_child(lambda: eval(way)), flush=True)\n"
        "launch.forward(); sim.run()\n"
        "assert (x == 4).all()\n"
    )
    lines = out.splitlines()
    for name in WAYS:
        assert f"{name} 3" in lines
    errors = [line for line in lines if "forked after hindcast had been imported" in line]
    assert len(errors) == len(WAYS) and out.count("get_context('spawn')") == len(WAYS)


def test_children_that_use_nothing_of_it_are_undisturbed():
    out = python("""
def work():
    a = hc.array(x)  # memory alone may be looked at
    assert a.numpy()[0] == 2 and a.shape == (100_000,)
    hc.zeros(3, hc.vec3)

print(in_child(work), in_child(lambda: sum(range(1000))))
with multiprocessing.get_context("fork").Pool(2) as pool:
    print(pool.map(abs, range(-3, 0)))
""")
    assert out.splitlines() == ["0 0", "[3, 2, 1]"]


def test_a_fork_while_threads_are_at_work():
    """What they had locked stays locked in the child, which does not come that far."""
    out = python("""
stop = False
def run():
    while not stop:
        sim.run(); launch.forward()
threads = [threading.Thread(target=run) for _ in range(2)]
[t.start() for t in threads]
time.sleep(0.1)
print({in_child(lambda: sim.run()) for _ in range(10)})
stop = True
[t.join() for t in threads]
""")
    assert out.splitlines()[-1] == "{3}"


def test_spawned_processes_work(tmp_path):
    script = tmp_path / "spawned.py"
    script.write_text(f"""
import multiprocessing
import hindcast as hc

def loss(stiffness):
    sim = hc.load({str(CAGE)!r})
    sim["cage.stiffness"] = stiffness
    return sim.run()

if __name__ == "__main__":
    here = [loss(90.0), loss(110.0)]
    with multiprocessing.get_context("spawn").Pool(2) as pool:
        assert pool.map(loss, [90.0, 110.0]) == here
    print("done")
""")
    done = subprocess.run(
        [sys.executable, str(script)], capture_output=True, text=True, timeout=120
    )
    assert done.stdout == "done\n", done.stderr


def test_a_fork_before_the_import():
    done = subprocess.run(
        [
            sys.executable,
            "-c",
            "import os, sys\n"
            "child = os.fork()\n"
            "if child: sys.exit(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))\n"
            "import hindcast as hc\n"
            f"print(hc.load({str(CAGE)!r}).run() > 0)\n",
        ],
        capture_output=True,
        text=True,
        timeout=120,
    )
    assert done.returncode == 0 and done.stdout == "True\n", done.stderr


def test_jax_in_a_forked_child():
    pytest.importorskip("jax")
    out = python(f"""
import jax, hindcast.jax
jax.config.update("jax_enable_x64", True)
loss = hindcast.jax.simulation({str(CAGE)!r}, inputs=["cage.stiffness"], precision="f64")
print(in_child(lambda: loss._function.rows("value", np.ones((1, 1)))))
print(in_child(lambda: hindcast.jax.simulation({str(CAGE)!r}, inputs=["cage.stiffness"])))
""")
    assert [line for line in out.splitlines() if line.isdigit()] == ["3", "3"]
