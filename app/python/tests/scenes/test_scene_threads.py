"""Scenes on several threads, their interruption, and what they leave behind."""

import gc
import json
import os
import signal
import threading
import weakref

import hindcast as hc
import numpy as np
import pytest
from scene_tools import CAGE, flat


def test_threads_have_the_bits_of_one_after_the_other():
    def work(stiffness):
        sim = hc.load(CAGE)
        sim["cage.stiffness"] = stiffness
        loss, gradient = sim.value_and_grad(["cage.rest_length", "gravity"])
        history = sim.optimize(iterations=5).history
        return loss, flat(gradient).tolist(), history.tolist()

    values = [60.0, 90.0, 120.0, 150.0]
    alone = [work(value) for value in values]
    together = [None] * len(values)

    def one(k):
        together[k] = work(values[k])

    threads = [threading.Thread(target=one, args=(k,)) for k in range(len(values))]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert together == alone


def test_one_simulation_on_several_threads():
    sim = hc.load(CAGE)
    expected = sim.value_and_grad()
    found = []

    def one():
        for _ in range(20):
            loss, gradient = sim.value_and_grad()
            found.append(loss == expected[0] and np.array_equal(flat(gradient), flat(expected[1])))

    threads = [threading.Thread(target=one) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert found == [True] * 80


@pytest.mark.parametrize("what", ["run", "gradient", "hvp", "jvp", "optimize", "check"])
def test_an_interrupt_is_raised_and_the_simulation_stays_usable(what):
    sim = hc.load(CAGE)
    expected = sim.value_and_grad()
    document = json.loads(CAGE.read_text())
    document["time"]["steps"] = 3_000_000
    document["gradients"] = {"memory": "1 GiB"}
    long = hc.scene(document) if what != "check" else sim
    u = {"cage.rest_length": np.ones(8)}
    call = {
        "run": long.run,
        "gradient": long.value_and_grad,
        "hvp": lambda: long.hvp(None, u),
        "jvp": lambda: long.jvp(None, u),
        "optimize": long.optimize,
        "check": lambda: long.check(directions=100_000),
    }[what]
    timer = threading.Timer(0.3, os.kill, (os.getpid(), signal.SIGINT))
    timer.start()
    with pytest.raises(KeyboardInterrupt):
        call()
    timer.join()
    if what != "check":
        with pytest.raises(hc.Error, match="nothing has been run"):
            long.loss
        long["time.steps"] = 30
    loss, gradient = long.value_and_grad()
    assert loss == expected[0]
    assert flat(gradient).tolist() == flat(expected[1]).tolist()


def test_an_interrupt_on_the_way_back():
    """Also where the way forward was not interrupted."""
    document = json.loads(CAGE.read_text())
    document["time"]["steps"] = 400
    sim = hc.scene(document)
    expected = sim.value_and_grad()
    sim._core.patience = 0.0
    asked = []

    def handler(number, frame):
        asked.append(number)
        raise KeyboardInterrupt

    before = signal.signal(signal.SIGALRM, handler)
    try:
        for delay in (0.001, 0.002, 0.004, 0.008, 0.016, 0.032):
            try:  # the alarm may also come once the run is over, as late as it is being put off
                try:
                    signal.setitimer(signal.ITIMER_REAL, delay)
                    sim.value_and_grad()
                finally:
                    signal.setitimer(signal.ITIMER_REAL, 0)
            except KeyboardInterrupt:
                pass
            again = sim.value_and_grad()
            assert again[0] == expected[0]
            assert flat(again[1]).tolist() == flat(expected[1]).tolist()
    finally:
        signal.signal(signal.SIGALRM, before)


def resident():
    with open("/proc/self/statm") as file:
        return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")


def test_loads_leave_nothing_behind():
    def one():
        sim = hc.load(CAGE)
        sim.run(keep="position")
        sim.value_and_grad(["cage.stiffness"])
        return weakref.ref(sim), sim.state("position")

    for _ in range(20):
        one()
    gc.collect()
    before = resident()
    for _ in range(200):
        gone, state = one()
        assert gone() is None
        assert state.shape == (31, 9, 3)
    gc.collect()
    assert resident() - before < 16 << 20


def test_the_callback_is_let_go():
    class Callback:
        def __call__(self, iteration, loss):
            return None

    callback = Callback()
    gone = weakref.ref(callback)
    sim = hc.load(CAGE)
    sim.optimize(iterations=2, callback=callback)
    del callback
    assert gone() is None
