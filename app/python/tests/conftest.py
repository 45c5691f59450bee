"""The last line of a test run, as tests/run counts it; the CUDA driver in software."""

import os
import pathlib
import signal

import hindcast

# A shell starts what runs in the background with it ignored, and Python leaves that as it is.
signal.signal(signal.SIGINT, signal.default_int_handler)

# Beside the module, where it was built with the tests. Read when CUDA is first asked for.
_driver = pathlib.Path(hindcast._core.__file__).parents[2] / "libhindcast_test_cuda_driver.so"
if _driver.exists():
    for _name in ("HINDCAST_CUDA_DRIVER", "HINDCAST_NVRTC"):
        os.environ.setdefault(_name, str(_driver))


def pytest_terminal_summary(terminalreporter):
    count = lambda *kinds: sum(len(terminalreporter.stats.get(kind, [])) for kind in kinds)
    terminalreporter.write_line(
        f"{count('passed', 'xpassed')} passed, {count('failed', 'error')} failed, "
        f"{count('skipped', 'xfailed')} skipped"
    )
    for report in terminalreporter.stats.get("skipped", []):
        terminalreporter.write_line(f"skipped: {report.nodeid}: {report.longrepr[2]}")
