#!/usr/bin/env python3
"""British spellings in comments, pages, names, strings and file names; spelling.toml is the list of words.

    tests/structure/spelling.py          the places
    tests/structure/spelling.py --fix    replaces all of them, renames files, and formats what has changed

A word is found as word, Word and WORD, within_names and withinNames too. Addresses (https://...) and the places that
spelling.toml keeps are left alone. `count --check` runs the self-test and counts the places.
"""
import argparse
import fnmatch
import functools
import pathlib
import re
import shutil
import subprocess
import sys
import tomllib

HERE = pathlib.Path(__file__).resolve().parent
TOPS = ("app", "ci", "engine", "kernels", "scenes", "shaders", "tests")
SKIPPED = {"__pycache__", "build", "node_modules"}
ADDRESS = re.compile(r"https?://[^\s)>\"'`]+")
LETTERS = re.compile(r"[A-Za-z]+")
GAP = re.compile(r"(?<=\S)   +(?=\S)")
NAMES = re.compile(r"[A-Za-z_]\w*")


class Spelling:
    """The list of words and kept places, as spelling.toml has it."""

    def __init__(self, table: dict):
        self.parts = table["parts"]
        self.words = table["words"]
        self.kept = table.get("kept", [])
        longest_first = sorted(self.parts, key=lambda part: (-len(part), part))
        self.pattern = re.compile(
            rf"(?P<part>{'|'.join(longest_first)})"
            rf"|(?P<root>{'|'.join(sorted(table['ise']['roots']))})is(?=e|ing|ation|abl)"
            rf"|(?P<word>{'|'.join(sorted(self.words))})",
            re.IGNORECASE,
        )
        # Runs of letters, true if the pattern is in them: it is slow, and the same words come again and again.
        self.known: dict[str, bool] = {}

    def matches(self, text: str):
        for run in LETTERS.finditer(text):
            if (found := self.known.get(run[0])) is None:
                found = self.known[run[0]] = self.pattern.search(run[0]) is not None
            if found:
                yield from self.pattern.finditer(text, run.start(), run.end())

    def american(self, text: str, match: re.Match) -> str | None:
        """The replacement for a match; None if it is no word of its own, or runs across the humps of camelCase."""
        found = match[0]
        if not (found.islower() or found.isupper() or found[0].isupper() and found[1:].islower()):
            return None
        if match["part"]:
            other = self.parts[found.lower()]
        elif match["root"]:
            other = found.lower()[:-1] + "z"
        else:
            before, after = text[: match.start()][-2:], text[match.end():][:1]
            begins = not before[-1:].isalpha() or before in ("\\n", "\\t") or found[0].isupper() and before[-1:].islower()
            if not begins or after.islower() or found.isupper() and after.isalpha():
                return None
            other = self.words[found.lower()]
        return other if found.islower() else other.upper() if found.isupper() else other.capitalize()

    def stays(self, file: str, text: str) -> list[tuple[int, int]]:
        """The ranges of the text that are left alone."""
        ranges = [match.span() for match in ADDRESS.finditer(text)]
        for place in self.kept:
            if not any(fnmatch.fnmatchcase(file, pattern) for pattern in place["files"]):
                continue
            if "text" not in place:
                return [(0, len(text))]
            ranges += [match.span() for match in re.finditer(re.escape(place["text"]), text)]
        return ranges

    def find(self, file: str, text: str):
        """Triples (begin, end, American word) in the order of the text."""
        stays = None
        for match in self.matches(text):
            if (other := self.american(text, match)) is None:
                continue
            stays = self.stays(file, text) if stays is None else stays
            if not any(begin < match.end() and match.start() < end for begin, end in stays):
                yield match.start(), match.end(), other

    def fixed(self, file: str, text: str) -> str:
        """The text with American words; a column after three or more spaces stays in its place."""
        parts, last, missing = [], 0, 0

        def take(begin: int, end: int) -> None:
            nonlocal missing
            stop = text.find("\n", begin, end)
            gap = GAP.search(text, begin, end if stop < 0 else stop) if missing > 0 else None
            if gap:
                parts.extend((text[begin:gap.start()], " " * missing))
                begin = gap.start()
            parts.append(text[begin:end])
            if gap or stop >= 0:
                missing = 0

        for begin, end, other in self.find(file, text):
            take(last, begin)
            parts.append(other)
            missing += end - begin - len(other)
            last = end
        take(last, len(text))
        return "".join(parts)


@functools.cache
def spelling() -> Spelling:
    return Spelling(tomllib.loads((HERE / "spelling.toml").read_text()))


def texts(root: pathlib.Path):
    """Pairs (file, text) of all files of the tree that are text, in order; files are relative to the root."""
    files = [path for path in root.iterdir() if path.is_file()]
    for top in TOPS:
        files += [path for path in (root / top).rglob("*") if path.is_file()]
    for path in sorted(files):
        file = path.relative_to(root)
        if path.is_symlink() or SKIPPED & set(file.parts):
            continue
        data = path.read_bytes()
        if b"\0" in data[:8192]:
            continue
        try:
            yield file.as_posix(), data.decode()
        except UnicodeDecodeError:
            continue


def british(root: pathlib.Path) -> list[str]:
    """"file:line: word" of the places; line 0 is the file's name."""
    found = []
    for file, text in texts(root):
        found += [f"{file}:0: {file[begin:end]}" for begin, end, _ in spelling().find(file, file)]
        found += [
            f"{file}:{text.count(chr(10), 0, begin) + 1}: {text[begin:end]}"
            for begin, end, _ in spelling().find(file, text)
        ]
    return found


def merged(file: str, before: str) -> list[str]:
    """Names of a file whose American form was another name of the file before."""
    names = set(NAMES.findall(before))
    return sorted(name for name in names if (other := spelling().fixed(file, name)) != name and other in names)


def fix(root: pathlib.Path) -> None:
    """Rewrites and renames; prints the names that two spellings shared in one file, to be looked at."""
    changed = []
    for file, text in list(texts(root)):
        new_text, new_file = spelling().fixed(file, text), spelling().fixed(file, file)
        if new_text != text:
            if file.endswith((".cpp", ".hpp", ".py", ".comp", ".vert", ".frag", ".glsl")) and (both := merged(file, text)):
                print(f"{file}: both spellings of {', '.join(both)}")
            (root / file).write_bytes(new_text.encode())
        if new_file != file:
            if (root / new_file).exists():
                sys.exit(f"{file}: {new_file} is there already")
            (root / new_file).parent.mkdir(parents=True, exist_ok=True)
            subprocess.run(["git", "-C", root, "mv", file, new_file], check=True)
        if new_text != text or new_file != file:
            changed.append(new_file)
    code = [file for file in changed if file.endswith((".cpp", ".hpp"))]
    if code and shutil.which("clang-format"):
        subprocess.run(["clang-format", "-i", *code], cwd=root, check=True)
    elif code:
        print("clang-format is not here: format the changed files before they are committed")
    print(f"{len(changed)} files changed")


# Made text: each is what becomes of the other.
CASES = (
    ("The colours of neighbouring cells, COLOUR_MAP, uncoloured, theColourOf, colour_map.hpp",
     "The colors of neighboring cells, COLOR_MAP, uncolored, theColorOf, color_map.hpp"),
    ("Optimise, optimiser_, isOptimised, OPTIMISATION, uninitialised, normalising, factorisable",
     "Optimize, optimizer_, isOptimized, OPTIMIZATION, uninitialized, normalizing, factorizable"),
    ("optimistic characteristics of realism; promise, precise, noise, likewise, otherwise, exercise",) * 2,
    ("centred at the centre, 3 millimetres from a Metre", "centered at the center, 3 millimeters from a Meter"),
    ("geometry, parameter, symmetric, permeable, incentre", "geometry, parameter, symmetric, permeable, incenter"),
    ("cancelled, cancellation, labelled, misspelt", "canceled, cancellation, labeled, misspelled"),
    ("step_towards(x); runTowards(y); \"\\nTowards z\"; backwards", "step_toward(x); runToward(y); \"\\nToward z\"; backwards"),
    ("afterwards a programme is programmed; maths, mathsy", "afterward a program is programmed; math, mathsy"),
    ("see https://example.org/colour/centre for a colour", "see https://example.org/colour/centre for a color"),
    ("a colour of colours   beside\n  colour   |\ncolour\n    f()", "a color of colors     beside\n  color    |\ncolor\n    f()"),
    ("bigRey, theGreYard", "bigRey, theGreYard"),
    ("kept: --colour-by colour", "kept: --colour-by color"),
)


def self_test() -> list[str]:
    """What is wrong in made text; empty if all is as it should be."""
    table = tomllib.loads((HERE / "spelling.toml").read_text())
    table["kept"] = [{"text": "--colour-by", "files": ["made.*"], "why": "a kept flag"},
                     {"files": ["whole/*"], "why": "a kept file"}]
    made, faults = Spelling(table), []
    for before, after in CASES:
        if (now := made.fixed("made.cpp", before)) != after:
            faults.append(f"spelling: '{before}' becomes '{now}'")
        if list(made.find("made.cpp", after)):
            faults.append(f"spelling: '{after}' is found again")
    if made.fixed("whole/file", "colour") != "colour" or made.fixed("other.cpp", "--colour-by") != "--color-by":
        faults.append("spelling: kept places are those of their files alone")
    for place in spelling().kept:
        if not place.get("why"):
            faults.append(f"spelling: {place} gives no reason")
    return faults


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--fix", action="store_true")
    parser.add_argument("--root", type=pathlib.Path, default=HERE.parents[1])
    options = parser.parse_args()
    root = options.root.resolve()
    if faults := self_test():
        print("\n".join(faults))
        return 1
    if options.fix:
        fix(root)
        return 0
    places = british(root)
    print("\n".join(places))
    return 1 if places else 0


if __name__ == "__main__":
    sys.exit(main())
