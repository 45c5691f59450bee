"""Random programs of kernels: with hc.if_, for_ and while_ they compute what the same text computes
with if, for and while of Python, bit for bit (products are by powers of two)."""

import importlib.util
import random

import hindcast as hc
import numpy as np
from kernel_checks import forward

SCALARS, VECTORS = "abcd", "uv"


class Program:
    def __init__(self, seed):
        self.random, self.loops, self.lines = random.Random(seed), 0, []
        self.block(2, [], 1)
        self.block(3, [], 1)

    def pick(self, *choices):
        return self.random.choice(choices)

    def scalar(self, indices):
        s, t, v = self.pick(*SCALARS), self.pick(*SCALARS), self.pick(*VECTORS)
        forms = [f"{s} * 0.5 + {t}", f"{s} - {t} * 0.25", f"{v}.x * 0.5", f"least({s}, {v}.y)", s, t]
        if indices:
            forms.append(f"{s} * 0.5 + whole({self.pick(*indices)})")
        return self.pick(*forms)

    def vector(self):
        s, v, w = self.pick(*SCALARS), self.pick(*VECTORS), self.pick(*VECTORS)
        return self.pick(f"{v} * 0.5 + {w}", f"pair({s}, {v}.x)", f"{v} - {w} * 0.25", f"own({v})")

    def condition(self, indices):
        if indices and self.random.random() < 0.4:
            return f"({self.pick(*indices)} % 2) == {self.pick(0, 1)}"
        return f"{self.scalar([])} < {self.scalar([])}"

    def statement(self, indices):
        s, t = self.random.sample(SCALARS, 2)
        v, w = self.random.sample(VECTORS, 2)
        return self.pick(
            f"{s} = {self.scalar(indices)}", f"{s} += {t} * 0.125", f"{s}, {t} = {t}, {s}",
            f"{s} = {t} = {self.scalar(indices)}", f"{s} = {t}", f"{v} = {self.vector()}",
            f"{v}.x = {self.scalar(indices)}", f"{v}.y += {self.scalar(indices)}",
            f"{v}, {w} = {w}, {v}", f"held[0] = {self.scalar(indices)}", f"{s} = held[0] * 0.5",
        )  # fmt: skip

    def block(self, depth, indices, level):
        for _ in range(self.random.randint(1, 4)):
            kind, pad = self.random.random(), "    " * level
            if depth == 0 or kind < 0.5:
                self.lines.append(pad + self.statement(indices))
            elif kind < 0.75:
                self.lines.append(f"{pad}IF {self.condition(indices)}")
                self.block(depth - 1, indices, level + 1)
                if self.random.random() < 0.5:
                    self.lines.append(f"{pad}ELSE")
                    self.block(depth - 1, indices, level + 1)
            elif kind < 0.92:
                self.loops += 1
                self.lines.append(f"{pad}FOR k{self.loops} {self.pick('3', '11', 'n', 'n + 1')}")
                self.block(depth - 1, [*indices, f"k{self.loops}"], level + 1)
            else:
                self.loops += 1
                t = f"t{self.loops}"
                self.lines.append(f"{pad}{t} = number(0)")
                self.lines.append(f"{pad}WHILE ({self.condition([])}) & ({t} < 9)")
                self.lines.append(f"{pad}    {t} += 1")
                self.block(depth - 1, [*indices, t], level + 1)

    def text(self, traced):
        forms = (
            {"IF": "with hc.if_({}):", "ELSE": "with hc.else_():",
             "FOR": "with hc.for_({1}, max_trips=40) as {0}:",
             "WHILE": "with hc.while_(lambda: {}, max_trips=10):"}
            if traced
            else {"IF": "if {}:", "ELSE": "else:", "FOR": "for {0} in range({1}):",
                  "WHILE": "while {}:"}
        )  # fmt: skip
        lines = []
        for line in self.lines:
            text = line.lstrip()
            word, _, rest = text.partition(" ")
            if word in forms:
                parts = rest.split(" ", 1) if word == "FOR" else [rest]
                line = line[: len(line) - len(text)] + forms[word].format(*parts)
            lines.append("    " + line)
        return "\n".join(lines)


class Pair:
    def __init__(self, x, y):
        self.x, self.y = x, y

    def __add__(self, other):
        return Pair(self.x + other.x, self.y + other.y)

    def __sub__(self, other):
        return Pair(self.x - other.x, self.y - other.y)

    def __mul__(self, s):
        return Pair(self.x * s, self.y * s)


MODULE = """import hindcast as hc

def kernel():
    least, whole, pair, own, number = hc.min, hc.real, hc.vec2, hc.copy, hc.i32

    @hc.kernel
    def program(i: hc.Int, x: hc.Read[hc.real], n_: hc.Read[hc.i32], y: hc.WriteSlice[hc.real]):
        n = n_[i]
        a, b, c, d, held = x[i], x[i] * 2, hc.real(1), x[i] - 1, [hc.real(3)]
        u, v = hc.vec2(a, 1), hc.vec2(0.5, d)
{traced}
        for k, value in enumerate((a, b, c, d, held[0], *u, *v)):
            y.store_once(i * 9 + k, value)

    return program

def reference(x, n, pair, own):
        least, whole, number = (lambda p, q: q if q < p else p), float, int
        a, b, c, d, held = x, x * 2, 1.0, x - 1, [3.0]
        u, v = pair(a, 1.0), pair(0.5, d)
{plain}
        return a, b, c, d, held[0], u.x, u.y, v.x, v.y
"""


def meaning(seed, folder):
    program = Program(seed)
    path = folder / f"program{seed}.py"
    path.write_text(MODULE.format(traced=program.text(True), plain=program.text(False)))
    spec = importlib.util.spec_from_file_location(path.stem, path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    x, n = np.array([-1.5, 0.25, 2.0, 0.875]), np.array([0, 1, 3, 12], np.int32)
    expected = [
        module.reference(float(p), int(q), Pair, lambda v: Pair(v.x, v.y)) for p, q in zip(x, n)
    ]
    return module.kernel(), {"x": x, "n_": n, "y": np.zeros(36)}, np.ravel(expected)


def test_random_programs(tmp_path):
    right = 0
    for seed in range(60):
        kernel, arguments, expected = meaning(seed, tmp_path)
        try:
            y = forward(kernel, 4, ["y"], **arguments)
        except hc.Error as error:
            # The one thing that these programs do and kernels refuse: two names for one vector.
            assert "hc.copy" in str(error), error
            continue
        assert np.array_equal(y, expected), seed
        right += 1
    assert right > 50
