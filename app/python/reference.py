"""Writes REFERENCE.md: every public name with its signature and docstring.

    PYTHONPATH=build/release/python python3 app/python/reference.py

It reads texts alone, the package's files and the stub of the compiled module (_core.pyi), so that it
needs neither JAX nor PyTorch. What has no docstring is an error.
"""

import ast
import inspect
import pathlib
import sys

HERE = pathlib.Path(__file__).resolve().parent
PACKAGE = HERE / "hindcast"
# Chapters, and the modules whose names they have; what comes from _core is listed by name.
CHAPTERS = {
    "Arrays": ("Array", "array", "zeros", "DataType"),
    "Devices": ("Device", "device"),
    "Kernels": ("kernel", "Kernel", "built_in", "built_in_kernels", "hindcast.kernels", "hindcast._regions"),
    "Functions in kernels": ("hindcast._functions", "hindcast._values"),
    "Launches": ("record", "Launch", "Tape", "hindcast._core"),
    "How outputs under JAX begin": ("hindcast._starts",),
    "Scenes": ("load", "scene", "Simulation", "hindcast.scenes"),
    "Batches": ("Batch", "hindcast.batches"),
    "Pictures": ("png", "hindcast.pictures"),
    "Errors": ("Error", "hindcast._errors"),
    "Other": (),
}
DOORS = ("jax", "torch")
SPECIAL = ("__getitem__", "__setitem__", "__call__", "__enter__", "__len__")


def stub_file():
    for folder in sys.path:
        file = pathlib.Path(folder) / "hindcast" / "_core.pyi"
        if file.is_file():
            return file
    raise SystemExit("reference.py: _core.pyi is not here; build the module, and set PYTHONPATH")


class Texts:
    """Modules as syntax trees."""

    def __init__(self, stub):
        self.stub, self.trees, self.sources = stub, {}, {}

    def tree(self, module):
        if module not in self.trees:
            name = module.removeprefix("hindcast").lstrip(".")
            file = self.stub if name == "_core" else PACKAGE / f"{name or '__init__'}.py"
            self.sources[module] = file.read_text()
            self.trees[module] = ast.parse(self.sources[module])
        return self.trees[module]

    def lines(self, module):
        self.tree(module)
        return self.sources[module].splitlines()

    def find(self, module, name):
        """Where a name is defined, and how: definitions, or an assignment."""
        nodes = []
        for node in self.tree(module).body:
            if isinstance(node, (ast.FunctionDef, ast.ClassDef)) and node.name == name:
                nodes.append(node)
            elif isinstance(node, ast.ImportFrom) and (node.module or "").startswith("hindcast"):
                for alias in node.names:
                    if (alias.asname or alias.name) == name:
                        return self.find(node.module, alias.name)
            elif isinstance(node, (ast.Assign, ast.AnnAssign)):
                targets = node.targets if isinstance(node, ast.Assign) else [node.target]
                if any(isinstance(t, ast.Name) and t.id == name for t in targets):
                    nodes.append(node)
        return module, nodes

    def public(self, module):
        """The names that a module offers."""
        listed, found = None, []
        for node in self.tree(module).body:
            if isinstance(node, ast.Assign) and getattr(node.targets[0], "id", "") == "__all__":
                # A list with those of other modules says less than the imports.
                if not any(isinstance(part, ast.Starred) for part in ast.walk(node.value)):
                    listed = list(all_names(node.value))
            elif isinstance(node, (ast.FunctionDef, ast.ClassDef)):
                found.append(node.name)
            elif isinstance(node, ast.ImportFrom) and (node.module or "").startswith("hindcast."):
                for alias in node.names:
                    if alias.name == "*":
                        found += self.public(node.module)
                    else:
                        found.append(alias.asname or alias.name)
        names = found if listed is None else listed
        return list(dict.fromkeys(name for name in names if not name.startswith("_")))


def all_names(value):
    """The strings in what is assigned to __all__."""
    return (node.value for node in ast.walk(value) if isinstance(node, ast.Constant))


def signature(node, name, method):
    arguments = ast.parse(ast.unparse(node.args).join(["def f(", "): pass"])).body[0].args
    for argument in (*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs):
        argument.annotation = readable(argument.annotation)
    static = any(getattr(d, "id", "") == "staticmethod" for d in node.decorator_list)
    if method and not static:
        first = arguments.posonlyargs or arguments.args
        del first[0]
    text = ast.unparse(arguments).lstrip("/, ").replace(", /", "")
    result = readable(node.returns)
    result = f" -> {ast.unparse(result)}" if result is not None else ""
    return f"{name}({text}){'' if result == ' -> None' else result}"


def readable(annotation):
    """Types without the modules that they come from."""

    class Short(ast.NodeTransformer):
        def visit_Attribute(self, node):
            return ast.Name(node.attr)

    return None if annotation is None else Short().visit(annotation)


class Reference:
    def __init__(self, stub):
        self.texts, self.missing = Texts(stub), []

    def doc(self, node, name):
        text = ast.get_docstring(node)
        if not text:
            self.missing.append(name)
            return ""
        return inspect.cleandoc(text)

    def entry(self, prefix, name, module, nodes):
        """The text of a name, or None for a constant."""
        full = f"{prefix}.{name}"
        definitions = [n for n in nodes if isinstance(n, (ast.FunctionDef, ast.ClassDef))]
        if not definitions:
            return self.made_function(full, nodes)
        node = definitions[0]
        if isinstance(node, ast.ClassDef):
            return self.of_class(full, node, self.texts.lines(module))
        return self.of_function(full, definitions)

    def made_function(self, full, nodes):
        """name = _unary(code, docstring), and constants."""
        value = nodes[0].value if nodes else None
        if isinstance(value, ast.Call) and getattr(value.func, "id", "").startswith("_"):
            texts = [a.value for a in value.args if isinstance(a, ast.Constant)]
            return f"### `{full}(x)`\n\n{texts[-1]}\n"
        return None

    def of_function(self, full, nodes):
        docs = [self.doc(n, full) for n in nodes if ast.get_docstring(n)]
        doc = docs[0] if docs else self.doc(nodes[0], full)
        heads = dict.fromkeys(f"### `{signature(n, full, False)}`" for n in nodes)
        return "\n".join(heads) + f"\n\n{doc}\n"

    def of_class(self, full, node, lines):
        bases = [b for b in map(ast.unparse, node.bases) if b not in ("object", "_Access")]
        about = f" ({', '.join(b.rsplit('.', 1)[-1] for b in bases)})" if bases else ""
        text = f"### class `{full}`{about}\n\n{self.doc(node, full)}\n"
        short = full.rsplit(".", 1)[1]
        items, members = [], {}
        for part in node.body:
            if isinstance(part, ast.FunctionDef) and (part.name[0] != "_" or part.name in SPECIAL):
                members.setdefault(part.name, []).append(part)
            elif isinstance(part, ast.AnnAssign):
                comment = lines[part.lineno - 1].partition("  # ")[2]
                items.append((f"{part.target.id}: {ast.unparse(readable(part.annotation))}", comment))
        for name, parts in members.items():
            doc = next((ast.get_docstring(p) for p in parts if ast.get_docstring(p)), None)
            if doc is None:
                self.missing.append(f"{short}.{name}")
            if any(getattr(d, "id", "") == "property" for d in parts[0].decorator_list):
                kind = readable(parts[0].returns)
                head = name if kind is None else f"{name}: {ast.unparse(kind)}"
            else:
                head = signature(parts[0], name, True)
            items.append((head, doc or ""))
        for head, doc in items:
            text += f"\n- `{head}`" + (":\n" if doc else "")
            text += "\n".join(f"  {line}".rstrip() for line in doc.splitlines())
        return text.rstrip("\n") + "\n"

    def text(self):
        chapters = {title: [] for title in CHAPTERS}
        constants = []
        for name in self.texts.public("hindcast"):
            module, nodes = self.texts.find("hindcast", name)
            if module == "hindcast":
                for other in ("hindcast._functions", "hindcast.kernels"):
                    if not nodes:
                        module, nodes = self.texts.find(other, name)
            entry = self.entry("hc", name, module, nodes)
            if entry is None:
                constants.append(name)
                continue
            titles = [t for t, names in CHAPTERS.items() if name in names]
            titles += [t for t, names in CHAPTERS.items() if module in names]
            chapters[titles[0] if titles else "Other"].append(entry)
        parts = [HEAD]
        for title, entries in chapters.items():
            if not entries:
                continue
            parts.append(f"## {title}\n")
            if title == "Arrays":
                parts.append(f"Types of numbers and elements: {', '.join(f'`hc.{c}`' for c in constants)}.\n")
            parts += entries
        for door in DOORS:
            module = f"hindcast.{door}"
            parts.append(f"## {module}\n")
            parts.append(inspect.cleandoc(ast.get_docstring(self.texts.tree(module))) + "\n")
            for name in self.texts.public(module):
                where, nodes = self.texts.find(module, name)
                if where not in ("hindcast._errors", "hindcast") and nodes:
                    entry = self.entry(module, name, where, nodes)
                    if entry:
                        parts.append(entry)
        return "\n".join(parts)


HEAD = """# Reference of the Python package

Written by `app/python/reference.py` from the docstrings; [README.md](README.md) is where to start. `hc` is
`hindcast`. What a call refuses is a `hc.ArgumentError`, a `TypeError` and a `ValueError`, that names the argument
and the remedy.
"""


def generate(stub=None):
    """The text, and the names that have no docstring."""
    reference = Reference(stub or stub_file())
    return reference.text(), reference.missing


if __name__ == "__main__":
    text, missing = generate()
    if missing:
        sys.exit("reference.py: these have no docstring: " + ", ".join(missing))
    (HERE / "REFERENCE.md").write_text(text)
