"""Quoted names of physics modules outside kernels/, where nothing is to name one (engine/README.md)."""
import pathlib
import re

# A module registers its types as rows: {Section::forces, "springs", "Springs between points", ...}.
ROW = re.compile(r'Section::(?:bodies|forces|colliders|controllers|objective),\s*"(\w+)",\s*"')
COMMENT = re.compile(r"//.*")
QUOTED = re.compile(r'"(\w+)"')
# The workloads of `hindcast bench` are scenes.
SCENES = ("app/cli/bench/",)


def types(root: pathlib.Path) -> set[str]:
    """Names of the types that modules register."""
    return {name for file in (root / "kernels").rglob("*.cpp") for name in ROW.findall(file.read_text())}


def named(root: pathlib.Path, files: list[str]) -> dict[str, list[str]]:
    """By file, "line: name" of each such name. A word that means something else there counts too."""
    known = types(root)
    places = {}
    for file in files:
        if file.startswith(("kernels/", *SCENES)):
            continue
        for number, line in enumerate((root / file).read_text(errors="replace").splitlines(), 1):
            for name in QUOTED.findall(COMMENT.sub("", line)):
                if name in known:
                    places.setdefault(file, []).append(f"{number}: {name}")
    return places
