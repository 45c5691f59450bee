"""What tests/gpu/run found, as rows of tables: kept while it runs, written as Markdown at the end."""
import re

import outcome
from outcome import Failed

SOFTWARE = "software device: not a measurement of any GPU"


class Part:
    """What one part found: rows of a table, and the counts."""

    def __init__(self, columns):
        self.columns, self.rows = columns, []
        self.passed = self.failed = self.skipped = 0
        self.reason, self.notes, self.seconds = "", [], 0.0

    def row(self, verdict, *cells):
        """verdict: True, False, or None for what could not run."""
        self.passed += verdict is True
        self.failed += verdict is False
        self.skipped += verdict is None
        self.rows.append([str(c) for c in cells])
        print("  " + "  ".join(self.rows[-1]), flush=True)

    def count(self, text, name):
        found = re.findall(r"(\d+) passed, (\d+) failed, (\d+) skipped", text)
        passed, failed, skipped = map(int, found[-1]) if found else (0, 1, 0)
        self.passed, self.failed = self.passed + passed, self.failed + failed
        self.skipped += skipped
        self.rows.append([name, str(passed), str(failed), str(skipped)])
        print("  " + "  ".join(self.rows[-1]), flush=True)

    def json(self):
        return {"state": "not measured" if self.reason else "measured", "reason": self.reason,
                "passed": self.passed, "failed": self.failed, "skipped": self.skipped,
                "seconds": round(self.seconds, 1), "notes": self.notes,
                "rows": [dict(zip(self.columns, row)) for row in self.rows]}


BENCH_COLUMNS = ["workload", "forward", "forward + backward", "GB/s forward",
                 "GB/s forward + backward", "share of copy", "host", "host by node", "launches",
                 "launch", "adjoint launch", "compile", "loss"]


def bench_cells(workload, line, copy):
    """One line of hindcast bench --json as a row; copy: bytes per second, or None."""
    steps = line.get("program_steps", line["steps"])  # "steps": as other programs count them
    forward = line.get("forward_bytes_per_step", 0) * steps
    both = forward + line.get("backward_bytes_per_step", 0) * steps
    rates = [forward / line["forward_s"] if line["forward_s"] else 0,
             both / line["forward_backward_s"] if line["forward_backward_s"] else 0]

    def micro(seconds):
        return "" if seconds is None else f"{seconds * 1e6:.2f} µs"

    host = line.get("host_s")
    put = [int(line.get(key, 0)) for key in ("host_launches", "host_graphs", "host_graph_nodes")]
    work = put[0] + put[2]
    return [f"{workload} {line['precision']}, n {line['n']}", f"{line['forward_s'] * 1e3:.4g} ms",
            f"{line['forward_backward_s'] * 1e3:.4g} ms",
            f"{rates[0] * 1e-9:.4g}" if forward else "", f"{rates[1] * 1e-9:.4g}" if forward else "",
            f"{100 * rates[0] / copy:.0f} %, {100 * rates[1] / copy:.0f} %"
            if forward and copy else "",
            micro(host), micro(host / work if host is not None and work else None),
            "" if host is None else f"{put[0]} + {put[2]} in {put[1]} graphs",
            micro(line.get("launch_s")), micro(line.get("adjoint_s")),
            f"{line['compile_s']:.3g} s", f"{line['loss']:.9g}"]


def ordinal_of(device):
    """cuda: 0, cuda:N: N."""
    index = device.partition(":")[2]
    return int(index) if index.isdigit() else 0


def smi():
    fields = "name,driver_version,memory.total,clocks.max.sm,clocks.max.memory"
    try:
        text = outcome.call(["nvidia-smi", f"--query-gpu={fields}", "--format=csv,noheader"], 60)
        return [dict(zip(fields.split(","), line.split(", "))) for line in text.splitlines()]
    except Failed as error:
        return f"not measured: nvidia-smi: {error}"


def markdown(report):
    lines = [f"# Hindcast on {report['device']}", ""]
    if report["software_device"]:
        lines += [f"**{SOFTWARE}.**", ""]
    lines += [f"- {report['date']}, build {report['commit']}", f"- driver {report['driver']}",
              f"- NVRTC {report['nvrtc']}", f"- nvidia-smi: {report['nvidia_smi']}",
              f"- {report['total']}", "", "| part | state | passed | failed | skipped | seconds |",
              "|---|---|---|---|---|---|"]
    for name, part in report["parts"].items():
        state = part["state"] + (f": {part['reason']}" if part["reason"] else "")
        lines.append(f"| {name} | {state} | {part['passed']} | {part['failed']} | "
                     f"{part['skipped']} | {part['seconds']} |")
    for name, part in report["parts"].items():
        if part["rows"]:
            lines += ["", f"## {name}", ""]
            columns = list(part["rows"][0])
            lines += ["| " + " | ".join(columns) + " |", "|---" * len(columns) + "|"]
            for row in part["rows"]:
                cells = (cell.replace("|", "/").replace("\n", " ") for cell in row.values())
                lines.append("| " + " | ".join(cells) + " |")
        if part["notes"]:
            lines += [""] + ["- " + note.replace("\n", "\n  ") for note in part["notes"]]
    return "\n".join(lines) + "\n"
