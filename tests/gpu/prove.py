#!/usr/bin/env python3
"""Runs on the machine with the GPU what proves the CUDA path there, from the folder that
tests/gpu/run --prepare made, and writes one JSON and one Markdown file.

    scenes     every scene in both precisions: states, losses and gradients have the CPU's bits
    scripted   the scripted tests of the scenes on the device
    parity     the test program's cases about CUDA, with the machine's driver and NVRTC
    sanitizer  compute-sanitizer (memcheck, racecheck) over a few small scenes
    draw       pictures from memory that Vulkan and CUDA share are those of staged copies; a
               million particles (headless Vulkan on the same GPU)
    bench      hindcast bench: times, and traffic against the bandwidth of a copy on the device
    warp       the same workloads in NVIDIA Warp, its launches captured as graphs
    jax        scenes under JAX on the device: the host's bits, and arrays without copies
    suite      all of the test program, the device among its devices (only with --parts)

A part that cannot run is reported as "not measured" with the reason, and counts as one skipped.
"""
import argparse
import array
import ctypes
import datetime
import json
import os
import pathlib
import platform
import re
import shutil
import sys
import tarfile
import tempfile
import time

import outcome
from outcome import Failed
from report import (BENCH_COLUMNS, SOFTWARE, Part, bench_cells, markdown, ordinal_of, smi)

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parents[1]
PARTS = ("scenes", "scripted", "parity", "draw", "sanitizer", "bench", "warp", "jax", "suite")
BY_DEFAULT = PARTS[:-1]
WITHOUT_GPU = PARTS[:3]  # what the driver in software can show
WORKLOADS = ("launch_overhead", "spring_cage", "cloth_springs", "springs_1m", "wave2d",
             "tet_neohookean", "mpm2d", "mpm_million", "ensemble")
DRAWN = ("spring_cage", "hanging_net", "soft_beam", "wave_image")
JAX_SCENES = ("free_flight", "spring_cage", "hanging_net")
# For compute-sanitizer, with what is added to the command: a few steps are enough, and it is slow.
# Graphs come with the second iteration.
SHORT = ("--set", "time.steps=3")
SANITIZED = {"spring_cage": (), "thrown_ball": (), "hanging_net": (), "mass_spring_simple": (),
             "mpm_launch": SHORT, "soft_beam": (), "wave_image": SHORT}
MIB = 1024 * 1024


class NotMeasured(Exception):
    """The reason why a part, or one row of it, could not run."""


class Place:
    """The unpacked folder, laid out like the source tree that the programs were built in."""

    def __init__(self, folder, temporary, options):
        self.options = options
        self.reference = json.loads((folder / "reference.json").read_text())
        if self.reference["machine"] != platform.machine():
            raise SystemExit(f"tests/gpu/run: made for {self.reference['machine']}, "
                             f"this machine is {platform.machine()}")
        self.root = pathlib.Path(temporary, "hindcast")
        shutil.copytree(folder / "scenes", self.root / "scenes")
        with tarfile.open(folder / "programs.tar.xz") as tar:
            tar.extractall(self.root)
        self.programs = self.root / "build" / "release"
        self.hindcast = self.programs / "hindcast"
        self.work = pathlib.Path(temporary, "work")
        self.work.mkdir()
        self.environment = {**os.environ, "LD_LIBRARY_PATH": f"{self.root / 'lib'}:" +
                            os.environ.get("LD_LIBRARY_PATH", ""),
                            "HINDCAST_CACHE": str(pathlib.Path(temporary, "cache"))}
        self.ordinal = ordinal_of(options.device)
        self.scenes = outcome.scenes(self.root / "scenes", options.scenes.split(","))
        self.info = self.call([self.hindcast, "info"])
        self.driver = self.found("driver")
        self.nvrtc = self.found("NVRTC")
        lines = self.info.splitlines()
        first = next((k for k, line in enumerate(lines) if line.startswith("  driver")), 0)
        self.devices = []
        for line in lines[first + 1:]:
            if not line.startswith("      "):
                break
            self.devices.append(line.strip())
        # The library in software has the same name everywhere, and so have its devices.
        self.software = "hindcast_test_cuda_driver" in self.driver + self.nvrtc or any(
            d.startswith("software device") for d in self.devices)

    def found(self, what):
        match = re.search(rf"^  {what} +(.*)$", self.info, re.MULTILINE)
        return match[1] if match else ""

    def path(self, text):
        match = re.search(r"\((/.*)\)$", text)
        return match[1] if match else None

    def call(self, command, **keywords):
        environment = {**self.environment, **keywords.pop("environment", {})}
        return outcome.call(command, keywords.pop("limit", self.options.limit), env=environment,
                            **keywords)

    def at_source(self):
        """The test program knows its scenes and the program by the path it was built in: a link
        there for as long as this runs. What is there already stays."""
        source = pathlib.Path(self.reference["source"])
        if source.exists():
            return None
        made = [p for p in [*reversed(source.parents)] if not p.exists()]
        try:
            source.parent.mkdir(parents=True, exist_ok=True)
            source.symlink_to(self.root)
        except OSError as error:
            raise NotMeasured(f"the tests look for {source}: {error}") from None

        def undo():
            source.unlink(missing_ok=True)
            for folder in reversed(made):
                folder.rmdir()
        return undo


def doubles(file):
    """The numbers of a .npy file and how many there are in a frame."""
    content = file.read_bytes()
    size = int.from_bytes(content[8:10], "little")
    header = content[10:10 + size].decode("latin-1")
    kind = re.search(r"'descr': '<(f[48])'", header)
    shape = [int(n) for n in re.search(r"'shape': \(([^)]*)\)", header)[1].split(",") if n.strip()]
    if not kind:
        return [], 1
    numbers = array.array("f" if kind[1] == "f4" else "d")
    numbers.frombytes(content[10 + size:])
    return numbers, max(1, len(numbers) // max(1, shape[0] if shape else 1))


def difference(here, there):
    """Where the arrays of two folders differ first, in words."""
    words = []
    for file in sorted(here.glob("*.npy")):
        a, frame = doubles(file)
        b, _ = doubles(there / file.name)
        unequal = [k for k in range(min(len(a), len(b))) if a[k] != b[k]]
        if unequal:
            k = unequal[0]
            most = max(abs(a[k] - b[k]) for k in unequal)
            words.append(f"{file.stem}: {len(unequal)} of {len(a)} numbers, first in frame "
                         f"{k // frame} at {k % frame} ({a[k]:.9g}, host {b[k]:.9g}), "
                         f"most {most:.3g}")
    return "; ".join(words) or "the saved frames are equal"


def keep_arrays(place, scene, precision, output):
    """Keeps the device's arrays and, made here, the host's; says where they differ first."""
    folder = place.options.results / "arrays" / f"{scene.stem}-{precision}"
    shutil.rmtree(folder, ignore_errors=True)
    shutil.copytree(output, folder / "device")
    device = "cpu" if re.search(r"^\s+LLVM \d", place.info, re.MULTILINE) else "interpreter"
    words = []
    for make in (outcome.simulated, outcome.optimized):
        name = "run" if make is outcome.simulated else "optimize"
        host = folder / "host" / name
        try:
            make(place.hindcast, scene, precision, host, place.options.limit,
                 ["--device", device], env=place.environment)
            for there in sorted((folder / "device").glob(name + "*")):
                words.append(f"{there.name}: {difference(there / 'states', host / 'states')}")
        except (Failed, OSError) as error:
            words.append(f"{name}: no comparison with the {device}: {error}")
    return f"{scene.stem} {precision}: {'; '.join(words)}; arrays in {folder}"


def scenes(place):
    part = Part(["scene", "precision", "verdict", "state hash", "loss", "differs", "seconds"])
    for scene in place.scenes:
        for precision in outcome.PRECISIONS:
            cells = [scene.stem, precision]
            expected = place.reference["scenes"].get(scene.stem, {}).get(precision)
            if expected is None:
                part.row(None, *cells, "not measured: no reference was carried", "", "", "", "")
                continue
            output = place.work / f"{scene.stem}-{precision}"
            start, failure = time.monotonic(), ""
            # One compiled program for the whole roll-out must have the same bits as launches.
            runs = [("run", outcome.simulated, "run", [])] + [
                (f"optimize-whole-program-{mode}", outcome.optimized, "optimize",
                 ["--whole-program", mode]) for mode in ("always", "never")]
            differs = []
            for name, make, key, arguments in runs:
                try:
                    got = make(place.hindcast, scene, precision, output / name, place.options.limit,
                               ["--device", place.options.device, *arguments],
                               env=place.environment)
                    differs += [f"{name}: {what}" for what in got
                                if got[what] != expected[key][what]]
                except Failed as error:
                    failure = f"{name}: {error}"
                    break
            seconds = f"{time.monotonic() - start:.1f}"
            state, loss = expected["run"]["state_hash"], expected["run"]["loss"]
            if failure:
                part.row(False, *cells, "failed", state, loss, failure.splitlines()[0], seconds)
                part.notes.append(f"{scene.stem} {precision}: {failure}")
            elif differs:
                part.row(False, *cells, "differs", state, loss, ", ".join(differs), seconds)
                part.notes.append(keep_arrays(place, scene, precision, output))
            else:
                part.row(True, *cells, "same bits", state, loss, "", seconds)
            shutil.rmtree(output, ignore_errors=True)
    return part


def scripted(place):
    part = Part(["scene", "passed", "failed", "skipped"])
    for scene in place.scenes:
        if not scene.with_suffix(".test.json").exists():
            continue
        try:
            text = place.call([place.hindcast, "test", scene, "--device", place.options.device])
        except Failed as error:
            text = str(error)
            part.notes.append(f"{scene.stem}: {text}")
        part.count(text, scene.stem)
    return part


def test_program(place, part, name, arguments):
    undo = place.at_source()
    # The test program takes the driver in software unless both are named.
    environment = {"HINDCAST_CUDA_DRIVER": os.environ.get("HINDCAST_CUDA_DRIVER", "libcuda.so.1")}
    nvrtc = os.environ.get("HINDCAST_NVRTC") or place.path(place.nvrtc)
    if nvrtc is None:
        raise NotMeasured(f"NVRTC: {place.nvrtc}")
    environment["HINDCAST_NVRTC"] = nvrtc
    try:
        text = place.call([place.programs / "hindcast_tests", *arguments],
                          environment=environment, cwd=place.root)
    except Failed as error:
        text = str(error)
        part.notes.append(text)
    finally:
        if undo:
            undo()
    part.notes += re.findall(r"^skipped: .*$", text, re.MULTILINE)
    part.count(text, name)


def parity(place):
    part = Part(["tests", "passed", "failed", "skipped"])
    for cases in ("CUDA:*", "CUDA text:*"):
        test_program(place, part, cases, [f"--test-case={cases}"])
    return part


def suite(place):
    part = Part(["tests", "passed", "failed", "skipped"])
    # These are about the driver in software itself.
    test_program(place, part, "all", ["--test-case-exclude=Software CUDA:*,CUDA driver:*"])
    return part


def sanitizer(place):
    tool = shutil.which("compute-sanitizer")
    for folder in ("/usr/local/cuda/bin", "/usr/local/cuda/compute-sanitizer"):
        tool = tool or shutil.which("compute-sanitizer", path=folder)
    if tool is None:
        raise NotMeasured("compute-sanitizer is not in the path or /usr/local/cuda")
    part = Part(["scene", "tool", "verdict", "words"])
    for scene in [s for s in place.scenes if s.stem in SANITIZED]:
        for check in ("memcheck", "racecheck"):
            sanitize(place, part, [tool, "--tool", check, "--error-exitcode", 99], scene,
                     [scene.stem, check], SANITIZED[scene.stem])
    return part


def sanitize(place, part, tool, scene, cells, arguments):
    output = place.work / "sanitizer"
    summaries = r"(?:ERROR|RACECHECK) SUMMARY: .*"
    try:
        text = place.call([*tool, place.hindcast, "optimize", scene, "--iterations", 3, "--device",
                           place.options.device, "--output", output, "--quiet", *arguments])
        summary = re.findall(summaries, text)
        if summary:
            part.row(True, *cells, "clean", summary[-1])
        else:
            part.row(None, *cells, "not measured: it printed no summary", text.strip()[-200:])
    except Failed as error:
        summary = re.findall(summaries, str(error))
        if summary:
            part.row(False, *cells, "errors", summary[-1])
            part.notes.append(f"{' '.join(cells)}: {error}")
        else:  # the tool itself: too slow, or it refuses the device
            part.row(None, *cells, "not measured", str(error)[-300:])
    shutil.rmtree(output, ignore_errors=True)


def draw(place):
    part = Part(["what", "transport", "verdict", "words"])
    for scene in [s for s in place.scenes if s.stem in DRAWN]:
        pictures = {}
        for transport in ("staging", "auto", "exported"):
            picture = place.work / f"{scene.stem}-{transport}.png"
            try:
                words = place.call([place.hindcast, "render", scene, "--size", "640x400",
                                    "--device", place.options.device, "--transport", transport,
                                    "--output", picture]).strip()
            except Failed as error:
                if "there is no Vulkan" in str(error):
                    raise NotMeasured(str(error)) from None
                part.row(False, scene.stem, transport, "failed", str(error)[-300:])
                continue
            pictures[transport] = picture.read_bytes()
            same = pictures[transport] == pictures.get("staging")
            verdict = "the same" if same else "differs"
            if "wait for the device instead" in words:  # CUDA and Vulkan share no semaphore
                same, verdict = False, verdict + ", without a semaphore"
            part.row(same, scene.stem, transport, verdict, words)
    if place.software:
        part.row(None, "draw_million", "", f"not measured: {SOFTWARE}", "")
        return part
    text = place.call([place.hindcast, "bench", "draw_million", "--json", "--device",
                       place.options.device])
    figures = json.loads(text.strip().splitlines()[-1])
    kind = next((k[10:] for k in figures if k.startswith("transport_")), "?")
    part.row(kind == "exported" and figures["host_bytes"] == 0, "draw_million", kind,
             f"{figures['pictures_per_second']:.1f} pictures per second",
             f"{figures['device_ms']:.2f} ms of the device each, "
             f"{figures['host_bytes']:.0f} bytes by way of the host")
    return part


def copy_bandwidth(library, ordinal, size=512 * MIB, repeats=20):
    """Bytes read and written per second by copies within the device, by the driver itself."""
    cuda = ctypes.CDLL(library)
    address, handle = ctypes.c_uint64, ctypes.c_void_p
    device, context, blocks = ctypes.c_int(), handle(), [address(), address()]

    def check(status):
        if status != 0:
            raise Failed(f"the driver's result {status}")

    check(cuda.cuInit(0))
    check(cuda.cuDeviceGet(ctypes.byref(device), ordinal))
    check(cuda.cuDevicePrimaryCtxRetain(ctypes.byref(context), device))
    check(cuda.cuCtxSetCurrent(context))
    for block in blocks:
        check(cuda.cuMemAlloc_v2(ctypes.byref(block), ctypes.c_size_t(size)))
        check(cuda.cuMemsetD8_v2(block, ctypes.c_ubyte(1), ctypes.c_size_t(size)))
    best = float("inf")
    for _ in range(3):  # the first warms up
        check(cuda.cuCtxSynchronize())
        start = time.perf_counter()
        for _ in range(repeats):
            check(cuda.cuMemcpyDtoDAsync_v2(blocks[0], blocks[1], ctypes.c_size_t(size), None))
        check(cuda.cuCtxSynchronize())
        best = min(best, time.perf_counter() - start)
    for block in blocks:
        cuda.cuMemFree_v2(block)
    return 2 * size * repeats / best


def bench(place):
    part = Part(BENCH_COLUMNS)
    part.lines = []
    try:
        copy = copy_bandwidth(os.environ.get("HINDCAST_CUDA_DRIVER", "libcuda.so.1"),
                              place.ordinal)
        part.notes.append(f"a copy within the device: {copy * 1e-9:.1f} GB/s, read and written")
    except (Failed, OSError, AttributeError, ctypes.ArgumentError) as error:
        copy = None
        part.notes.append(f"a copy within the device: not measured: {error}")
    wanted = place.options.workloads.split(",") if place.options.workloads else WORKLOADS
    for workload in wanted:
        try:
            text = place.call([place.hindcast, "bench", workload, "--device", place.options.device,
                               "--json"])
            lines = [json.loads(line) for line in text.splitlines() if line.startswith("{")]
        except (Failed, json.JSONDecodeError) as error:
            slow = str(error).startswith("longer than")
            part.row(None if slow else False, workload,
                     f"{'not measured' if slow else 'failed'}: {str(error)[-300:]}",
                     *[""] * (len(BENCH_COLUMNS) - 2))
            continue
        for line in lines:
            line["copy_gb_s"] = copy and copy * 1e-9
            part.row(True, *bench_cells(workload, line, copy))
        part.lines += lines
    part.notes.append("GB/s: the traffic that the launches of a step imply, by the time")
    part.notes.append("host: how long the calls of one iteration keep the host busy, without "
                      "waiting for the device; by each launch, or node of a graph, that they put "
                      "there. An iteration ends with the loss or the gradient on the host.")
    return part


def warp(place):
    python = place.options.python
    try:
        place.call([python, "-c", "import warp"], environment={"LD_LIBRARY_PATH": ""})
    except Failed:
        raise NotMeasured(f"{python} has no Warp (import warp)") from None
    part = Part(["workload", "variant", "forward", "forward + backward", "Warp by ours", "loss"])
    part.lines = []
    ours = {line["workload"]: line for line in place.bench_lines if line["precision"] == "f32"}
    sys.path.insert(0, str(ROOT / "tests" / "bench" / "peers"))
    from runs import RUNS
    for run in [r for r in RUNS if r.peer == "warp"]:
        cells = [run.workload, run.variant]
        try:
            text = place.call([python, HERE / "warp_on_gpu.py", run.workload, run.variant],
                              environment={"LD_LIBRARY_PATH": ""})
            line = json.loads(text.splitlines()[-1])
        except (Failed, json.JSONDecodeError, IndexError) as error:
            part.row(None, *cells, f"not measured: {str(error)[-300:]}", "", "", "")
            continue
        mine = ours.get(run.workload)
        if mine and abs(line["loss"] - mine["loss"]) > 1e-3 * abs(mine["loss"]):
            part.row(None, *cells, "not measured: another loss than ours", "", "", line["loss"])
            continue
        ratio = f"{line['forward_backward_s'] / mine['forward_backward_s']:.2f}×" if mine else ""
        part.row(True, *cells, f"{line['forward_s'] * 1e3:.4g} ms",
                 f"{line['forward_backward_s'] * 1e3:.4g} ms", ratio, line["loss"])
        part.lines.append(line)
    return part


def jax(place):
    python = place.options.python
    try:
        place.call([python, "-c", "import jax, hindcast.jax; jax.devices('cuda')"],
                   environment={"LD_LIBRARY_PATH": ""})
    except Failed:
        raise NotMeasured(f"{python} has no hindcast with JAX on CUDA (pip install ./app/python "
                          "'jax[cuda13]')") from None
    part = Part(["scene", "same bits as on the host", "value and gradient"])
    files = [place.root / "scenes" / f"{name}.json" for name in JAX_SCENES]
    text = place.call([python, HERE / "jax_on_gpu.py", *files], environment={"LD_LIBRARY_PATH": ""})
    for line in map(json.loads, text.splitlines()):
        part.row(line["same"], line["scene"], "yes" if line["same"] else "no",
                 f"{line['seconds'] * 1e3:.4g} ms")
    return part


def main():
    parser = argparse.ArgumentParser(prog="tests/gpu/run", description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", nargs="?", type=pathlib.Path, default=ROOT / "build" / "gpu")
    parser.add_argument("--parts", help="such as scenes,bench (default: all but suite)")
    parser.add_argument("--scenes", default="*", help="names of scenes, such as 'spring*,flag'")
    parser.add_argument("--workloads", help="of hindcast bench, such as spring_cage,wave2d")
    parser.add_argument("--device", default="cuda", help="cuda or cuda:N")
    parser.add_argument("--limit", type=float, default=300, help="seconds for one command (300)")
    parser.add_argument("--python", default=sys.executable, help="the one that may have Warp")
    parser.add_argument("--results", type=pathlib.Path, help="folder (default tests/gpu/results)")
    options = parser.parse_args()
    unknown = set((options.parts or "scenes").split(",")) - set(PARTS)
    if unknown:
        parser.error(f"no part {', '.join(sorted(unknown))}; there are {', '.join(PARTS)}")
    if not (options.folder / "reference.json").exists():
        parser.error(f"{options.folder} was not made by tests/gpu/run --prepare")
    in_repository = options.results is None
    options.results = (options.results or HERE / "results").resolve()

    with tempfile.TemporaryDirectory(prefix="hindcast-gpu-") as temporary:
        place = Place(options.folder, temporary, options)
        place.bench_lines = []
        if place.software and in_repository:
            raise SystemExit(f"tests/gpu/run: {SOFTWARE}; name a folder with --results")
        report, failed = prove(place)
        device = re.sub(r"[^a-z0-9]+", "-", report["device"].split(":")[0].lower()).strip("-")
        if place.devices:
            options.results.mkdir(parents=True, exist_ok=True)
            for suffix, text in (("json", json.dumps(report, indent=1) + "\n"),
                                 ("md", markdown(report))):
                (options.results / f"{device}.{suffix}").write_text(text)
                print(f"wrote {options.results / device}.{suffix}")
    print(report["total"])
    sys.exit(1 if failed or not place.devices else 0)


def prove(place):
    chosen = place.options.parts.split(",") if place.options.parts else BY_DEFAULT
    device = place.devices[0] if place.devices else "no device"
    if place.ordinal < len(place.devices):
        device = place.devices[place.ordinal]
    print(f"{device}\ndriver {place.driver}\nNVRTC {place.nvrtc}")
    if place.software:
        print(SOFTWARE)
    parts = {}
    for name in PARTS:
        start = time.monotonic()
        try:
            print(f"== {name}", flush=True)
            if name not in chosen:
                raise NotMeasured("not asked for (--parts)")
            if not place.devices:
                raise NotMeasured(f"no CUDA device: {place.driver}")
            if place.software and not place.options.parts and name not in WITHOUT_GPU:
                raise NotMeasured("software device")
            part = globals()[name](place)
            if not part.rows:
                raise NotMeasured("none of the scenes chosen is one of this part's")
            if name == "bench":
                place.bench_lines = part.lines
        except NotMeasured as reason:
            part = Part([])
            part.reason, part.skipped = str(reason), 1
            print(f"not measured: {reason}")
        part.seconds = time.monotonic() - start
        parts[name] = part
    sums = [sum(getattr(p, k) for p in parts.values()) for k in ("passed", "failed", "skipped")]
    report = {
        "device": device, "software_device": place.software,
        "date": datetime.datetime.now().isoformat(timespec="seconds"),
        "commit": place.reference["commit"], "driver": place.driver, "nvrtc": place.nvrtc,
        "nvidia_smi": smi() if not place.software else "not measured: " + SOFTWARE,
        "total": f"{sums[0]} passed, {sums[1]} failed, {sums[2]} skipped",
        "parts": {name: {**part.json(), **({"lines": part.lines} if hasattr(part, "lines") else {})}
                  for name, part in parts.items()},
    }
    return report, sums[1]


if __name__ == "__main__":
    main()
