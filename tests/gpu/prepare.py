#!/usr/bin/env python3
"""Makes the folder that tests/gpu/run needs on the machine with the GPU:

    programs.tar.xz   the programs without symbols, and the libraries that they need there
    scenes/           the bundled scenes with their tests
    reference.json    what the CPU makes of each scene (outcome.py)

libc, the driver and NVRTC are that machine's own. LLVM goes along only if all stays below the
limit; the CUDA device needs none.
"""
import argparse
import datetime
import json
import pathlib
import platform
import re
import shutil
import subprocess
import tarfile
import tempfile

import outcome

ROOT = pathlib.Path(__file__).resolve().parents[2]
MIB = 1024 * 1024
PROGRAMS = ("hindcast", "hindcast_tests", "hindcast_bench", "libhindcast_test_cuda_driver.so")
# Parts of the system or of its GPU: never carried.
OWN = re.compile(r"(ld-linux.*|linux-vdso|libc|libm|libdl|librt|libpthread|libcuda|libnv.*)\.so")


def libraries(binaries):
    """name -> file of the shared libraries that the binaries need."""
    found = {}
    for binary in binaries:
        for line in outcome.call(["ldd", binary], 60).splitlines():
            match = re.match(r"\s*(\S+) => (/\S+)", line)
            if match and not OWN.match(match[1]):
                found[match[1]] = pathlib.Path(match[2])
            elif "not found" in line:
                raise SystemExit(f"tests/gpu/run: {binary}: {line.strip()}")
    return found


def llvm_of(info):
    match = re.search(r"^\s+LLVM \S+ \((.*)\)$", info, re.MULTILINE)
    return pathlib.Path(match[1]) if match else None


def archive(file, programs, shared):
    with tempfile.TemporaryDirectory() as temporary, tarfile.open(file, "w:xz", preset=3) as tar:
        for program in programs:
            copy = pathlib.Path(temporary, program.name)
            outcome.call(["strip", "-o", copy, program], 60)
            tar.add(copy, f"build/release/{program.name}")
        for name, library in sorted(shared.items()):
            tar.add(library.resolve(), f"lib/{name}")
    return file.stat().st_size


def references(hindcast, folder, patterns, limit):
    made = {}
    with tempfile.TemporaryDirectory() as temporary:
        for scene in outcome.scenes(folder, patterns):
            for precision in outcome.PRECISIONS:
                print(f"reference {scene.stem} {precision}", flush=True)
                output = pathlib.Path(temporary, "out")
                made.setdefault(scene.stem, {})[precision] = {
                    "run": outcome.simulated(hindcast, scene, precision, output / "run", limit),
                    "optimize": outcome.optimized(hindcast, scene, precision,
                                                  output / "optimize", limit),
                }
    return made


def commit():
    done = subprocess.run(["git", "-C", ROOT, "describe", "--always", "--dirty"], text=True,
                          stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
    return done.stdout.strip() or "unknown"


def main():
    parser = argparse.ArgumentParser(prog="tests/gpu/run --prepare", description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", nargs="?", type=pathlib.Path, default=ROOT / "build" / "gpu")
    parser.add_argument("--scenes", default="*", help="names of scenes, such as 'spring*,flag'")
    parser.add_argument("--no-llvm", action="store_true", help="leave LLVM out in any case")
    parser.add_argument("--most", type=float, default=60, help="largest size in MiB (60)")
    parser.add_argument("--limit", type=float, default=600, help="seconds for one command (600)")
    parser.add_argument("--programs", default=",".join(PROGRAMS), help="which go along (all)")
    options = parser.parse_args()

    build = ROOT / "build" / "release"
    programs = [build / name for name in options.programs.split(",") if (build / name).exists()]
    hindcast = build / "hindcast"
    folder = options.folder
    marker = folder / "reference.json"
    if folder.exists() and any(folder.iterdir()) and not marker.exists():
        raise SystemExit(f"tests/gpu/run: {folder} holds something else; name an empty folder")
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    shutil.copytree(ROOT / "scenes", folder / "scenes",
                    ignore=shutil.ignore_patterns("pictures"))

    scenes = references(hindcast, folder / "scenes", options.scenes.split(","), options.limit)
    marker.write_text(json.dumps({
        "commit": commit(), "made": datetime.datetime.now().isoformat(timespec="seconds"),
        "machine": platform.machine(), "source": str(ROOT), "iterations": outcome.ITERATIONS,
        "scenes": scenes}, indent=1))

    def total():
        return sum(f.stat().st_size for f in folder.rglob("*") if f.is_file())

    file, shared = folder / "programs.tar.xz", libraries(programs)
    llvm = None if options.no_llvm else llvm_of(outcome.call([hindcast, "info"], 60))
    if llvm:
        archive(file, programs, {**shared, **libraries([llvm]), llvm.name: llvm})
        if total() > options.most * MIB:
            print(f"LLVM does not fit: {total() / MIB:.1f} MiB with it")
            llvm = None
    if not llvm:
        archive(file, programs, shared)
    size = total() / MIB
    print(f"{folder}: {size:.1f} MiB, {len(scenes)} scenes, "
          f"{'with' if llvm else 'without'} LLVM")
    if size > options.most:
        raise SystemExit(f"tests/gpu/run: more than {options.most:g} MiB")


if __name__ == "__main__":
    main()
