"""Comment sentences that do not begin with their noun: those whose first word is What, Of or Whether."""
import io
import pathlib
import re
import tokenize

FOLDERS = ("engine", "kernels", "app", "shaders")
ENDINGS = (".hpp", ".cpp", ".py", ".vert", ".frag", ".comp", ".glsl")
BEGIN = re.compile(r"(What|Of|Whether)\b")
LITERAL = re.compile(r""""(?:\\.|[^"\\])*"|'(?:\\.|[^'\\])'""")
END = re.compile(r"(?<=[.:!?])\s+(?=[A-Z`])")


def comments(text: str, python: bool):
    """Triples (line, column, words) of the comments, one for each line of the text."""
    if python:
        for token in tokenize.generate_tokens(io.StringIO(text).readline):
            if token.type == tokenize.COMMENT:
                yield token.start[0], token.start[1], token.string.lstrip("#").strip()
        return
    for number, line in enumerate(text.splitlines(), 1):
        column = LITERAL.sub(lambda s: "_" * len(s[0]), line).find("//")
        if column >= 0:
            yield number, column, line[column:].lstrip("/!<").strip()


def blocks(text: str, python: bool):
    """Pairs (line of the begin, words) of comments that go on from line to line in one column."""
    block, last = None, None
    for number, column, words in comments(text, python):
        if block and last == (number - 1, column):
            block[1].append(words)
        else:
            if block:
                yield block[0], " ".join(block[1])
            block = number, [words]
        last = number, column
    if block:
        yield block[0], " ".join(block[1])


def headless(root: pathlib.Path, files: list[str]) -> list[str]:
    """"file:line: sentence" of those sentences; the line is that at which the comment begins."""
    return [
        f"{file}:{line}: {sentence[:80]}"
        for file in files
        for line, words in blocks((root / file).read_text(errors="replace"), file.endswith(".py"))
        for sentence in END.split(words)
        if BEGIN.match(sentence)
    ]
