#!/usr/bin/env python3
"""Tests of tests/gpu/run, which is used where nobody looks at it before.

    tests/gpu/test_prove.py          what it makes of figures and of what programs print
    tests/gpu/test_prove.py --run    also all of it on the driver in software, with two scenes

The last line is "N passed, N failed, N skipped".
"""
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

import outcome
import prove
import report

HERE = pathlib.Path(__file__).resolve().parent
BUILD = HERE.parents[1] / "build" / "release"
DRIVER = BUILD / "libhindcast_test_cuda_driver.so"

# 10 steps of 100 and 300 bytes, which other programs count as 20.
LINE = {"workload": "wave2d", "precision": "f32", "n": 4, "steps": 20, "program_steps": 10,
        "forward_s": 1e-6, "forward_backward_s": 4e-6, "compile_s": 0.5, "loss": 0.25,
        "forward_bytes_per_step": 100, "backward_bytes_per_step": 300, "host_s": 12e-6,
        "host_launches": 1, "host_graphs": 2, "host_graph_nodes": 5}


def cells(line, copy=2e9):
    return dict(zip(report.BENCH_COLUMNS, report.bench_cells("wave2d", line, copy)))


class Report(unittest.TestCase):
    def test_bandwidth_is_of_the_steps_that_run(self):
        row = cells(LINE)
        self.assertEqual(float(row["GB/s forward"]), 1)  # 10 * 100 bytes in 1 us
        self.assertEqual(float(row["GB/s forward + backward"]), 1)  # 10 * 400 bytes in 4 us
        self.assertEqual(row["share of copy"], "50 %, 50 %")
        self.assertEqual(cells(LINE, None)["share of copy"], "")

    def test_host_time(self):
        row = cells(LINE)
        self.assertEqual(row["host"], "12.00 µs")
        self.assertEqual(row["host by node"], "2.00 µs")  # of 1 + 5
        self.assertEqual(row["launches"], "1 + 5 in 2 graphs")
        row = cells({k: v for k, v in LINE.items() if not k.startswith("host")})
        self.assertEqual([row[k] for k in ("host", "host by node", "launches")], [""] * 3)

    def test_every_row_has_all_columns(self):
        self.assertEqual(len(report.bench_cells("w", LINE, None)), len(report.BENCH_COLUMNS))

    def test_ordinal(self):
        self.assertEqual([report.ordinal_of(d) for d in ("cuda", "cuda:0", "cuda:3")], [0, 0, 3])

    def test_rows_and_programs_are_counted(self):
        part = report.Part(["what"])
        for verdict in (True, True, False, None):
            part.row(verdict, "x")
        part.count("1 passed, 0 failed, 0 skipped\n7 passed, 2 failed, 1 skipped\n", "a program")
        part.count("ended early", "another")
        self.assertEqual((part.passed, part.failed, part.skipped), (9, 4, 2))

    def test_markdown(self):
        part = report.Part(["scene", "words"])
        part.row(False, "flag", "a | b\nc")
        part.notes.append("first\nsecond")
        text = report.markdown({
            "device": "D", "software_device": True, "date": "now", "commit": "c", "driver": "d",
            "nvrtc": "n", "nvidia_smi": "-", "total": "0 passed, 1 failed, 0 skipped",
            "parts": {"scenes": part.json()}})
        self.assertIn("| flag | a / b c |", text)
        self.assertIn("- first\n  second", text)
        self.assertIn(report.SOFTWARE, text)


class Places(unittest.TestCase):
    def test_first_difference(self):
        def npy(numbers, frames):
            header = f"{{'descr': '<f8', 'shape': ({frames}, {len(numbers) // frames}), }}".encode()
            import array
            return (b"\x93NUMPY\x01\x00" + len(header).to_bytes(2, "little") + header +
                    array.array("d", numbers).tobytes())
        with tempfile.TemporaryDirectory() as folder:
            here, there = pathlib.Path(folder, "a"), pathlib.Path(folder, "b")
            for where, numbers in ((here, [1, 2, 3, 4]), (there, [1, 2, 3.5, 6])):
                where.mkdir()
                (where / "x.npy").write_bytes(npy(numbers, 2))
            words = prove.difference(here, there)
            self.assertIn("x: 2 of 4 numbers, first in frame 1 at 0 (3, host 3.5), most 2", words)
            self.assertEqual(prove.difference(here, here), "the saved frames are equal")

    def test_what_is_sanitized_is_there(self):
        names = {s.stem for s in outcome.scenes(HERE.parents[1] / "scenes")}
        for chosen in (prove.SANITIZED, prove.DRAWN):
            self.assertLessEqual(set(chosen), names)


class Run(unittest.TestCase):
    """With the driver in software: no part but those that it can run, and all of them pass."""

    def test_run(self):
        with tempfile.TemporaryDirectory() as temporary:
            folder, results = pathlib.Path(temporary, "folder"), pathlib.Path(temporary, "results")
            scenes = ["--scenes", "spring_cage,thrown_ball"]
            prepared = subprocess.run(
                [sys.executable, HERE / "prepare.py", folder, *scenes, "--no-llvm", "--programs",
                 "hindcast"], text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
            self.assertEqual(prepared.returncode, 0, prepared.stdout)
            parts = ["scenes", "scripted", "sanitizer", "bench"]
            tool = pathlib.Path(temporary, "compute-sanitizer")  # --tool T --error-exitcode N ...
            tool.write_text('#!/bin/sh\nshift 4\n"$@" && echo "ERROR SUMMARY: 0 errors"\n')
            tool.chmod(0o755)
            done = subprocess.run(
                [HERE / "run", folder, *scenes, "--parts", ",".join(parts), "--workloads",
                 "launch_overhead,spring_cage", "--results", results], text=True,
                stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                env={**os.environ, "PATH": f"{temporary}:{os.environ['PATH']}",
                     "HINDCAST_CUDA_DRIVER": str(DRIVER),
                     "HINDCAST_NVRTC": str(DRIVER)})
            self.assertEqual(done.returncode, 0, done.stdout)
            made = json.loads(next(results.glob("*.json")).read_text())
            self.assertTrue(made["software_device"])
            for name, part in made["parts"].items():
                self.assertEqual(part["state"] == "measured", name in parts, name)
                self.assertEqual(part["failed"], 0, name)
                self.assertEqual(part["passed"] > 0, name in parts, name)
            self.assertEqual(len(made["parts"]["scenes"]["rows"]), 4)
            rows = made["parts"]["sanitizer"]["rows"]
            self.assertEqual([(r["scene"], r["tool"], r["verdict"]) for r in rows],
                             [(scene, tool, "clean") for scene in ("spring_cage", "thrown_ball")
                              for tool in ("memcheck", "racecheck")])
            rows = made["parts"]["bench"]["rows"]
            self.assertTrue(rows[0]["launch"] and rows[1]["host"] and rows[1]["host by node"])
            self.assertIn("## sanitizer", next(results.glob("*.md")).read_text())


def main():
    cases = [Report, Places] + ([Run] if "--run" in sys.argv[1:] else [])
    load = unittest.defaultTestLoader.loadTestsFromTestCase
    result = unittest.TextTestRunner(stream=sys.stdout, buffer=True).run(
        unittest.TestSuite(load(case) for case in cases))
    failed = len(result.failures) + len(result.errors)
    print(f"tests/gpu: {result.testsRun - failed - len(result.skipped)} passed, {failed} failed, "
          f"{len(result.skipped)} skipped")
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
