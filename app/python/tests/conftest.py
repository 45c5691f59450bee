"""The last line of a test run, as tests/run counts it."""


def pytest_terminal_summary(terminalreporter):
    count = lambda *kinds: sum(len(terminalreporter.stats.get(kind, [])) for kind in kinds)
    terminalreporter.write_line(
        f"{count('passed', 'xpassed')} passed, {count('failed', 'error')} failed, "
        f"{count('skipped', 'xfailed')} skipped"
    )
    for report in terminalreporter.stats.get("skipped", []):
        terminalreporter.write_line(f"skipped: {report.nodeid}: {report.longrepr[2]}")
