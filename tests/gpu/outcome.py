"""What must be the same bits on every device: one scene in one precision, simulated and optimized
for a few iterations, as hashes and numbers. Standard library only.
"""
import csv
import fnmatch
import hashlib
import json
import pathlib
import subprocess

PRECISIONS = ("f32", "f64")
ITERATIONS = 2  # an optimizer's second update holds the gradients of both


class Failed(Exception):
    pass


def scenes(folder, patterns=("*",)):
    """The scene files of a folder whose names match one of the patterns."""
    files = sorted(pathlib.Path(folder).glob("*.json"))
    files = [f for f in files if not f.name.endswith((".test.json", ".schema.json"))]
    return [f for f in files if any(fnmatch.fnmatch(f.stem, p) for p in patterns)]


def call(command, limit, **keywords):
    """Output of a command; Failed with the end of its words if it fails or takes too long."""
    command = [str(word) for word in command]
    try:
        done = subprocess.run(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                              stderr=subprocess.STDOUT, text=True, errors="replace",
                              timeout=limit, **keywords)
    except subprocess.TimeoutExpired:
        raise Failed(f"longer than {limit:g} s") from None
    except OSError as error:
        raise Failed(str(error)) from None
    if done.returncode != 0:
        raise Failed(f"status {done.returncode}: {done.stdout.strip()[-2000:]}")
    return done.stdout


def sha256(content):
    return hashlib.sha256(content).hexdigest()[:32]


def simulated(hindcast, scene, precision, output, limit, arguments=(), **keywords):
    """The forward run: state hash, loss, and a hash of each array of frames."""
    call([hindcast, "run", scene, "--precision", precision, "--output", output, "--quiet",
          *arguments], limit, **keywords)
    summary = json.loads((output / "summary.json").read_text())
    frames = {name: sha256((output / name).read_bytes())
              for name in sorted(summary["states"]["files"])}
    return {"state_hash": summary["state_hash"], "loss": summary["loss"], "frames": frames}


def optimized(hindcast, scene, precision, output, limit, arguments=(), **keywords):
    """A few iterations: losses and norms of the gradients, and a hash of parameters and of what the
    optimizer keeps, which every component of the gradients went into."""
    call([hindcast, "optimize", scene, "--precision", precision, "--output", output, "--quiet",
          "--iterations", ITERATIONS, *arguments], limit, **keywords)
    summary = json.loads((output / "summary.json").read_text())
    resume = json.loads((output / "resume.json").read_text())
    with (output / "history.csv").open() as file:
        history = list(csv.DictReader(file))
    kept = json.dumps([history, resume["optimization"]], sort_keys=True)
    return {"state_hash": summary["state_hash"], "losses": [row["loss"] for row in history],
            "gradient_norms": [row["gradient_norm"] for row in history],
            "gradient_hash": sha256(kept.encode())}
