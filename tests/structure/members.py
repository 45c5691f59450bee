"""Members of the types of the program, by clang's AST: data and functions of a type, without constructors,
destructors and operators of assignment, and of the types that it keeps to itself."""
import collections
import pathlib
import re
import subprocess

from clang import cindex

from includes import TOPS

Kind = cindex.CursorKind
TYPES = (Kind.CLASS_DECL, Kind.STRUCT_DECL, Kind.CLASS_TEMPLATE)
MEMBERS = (Kind.FIELD_DECL, Kind.VAR_DECL, Kind.CXX_METHOD, Kind.FUNCTION_TEMPLATE, Kind.CONVERSION_FUNCTION)
# Libraries whose headers ours include, as app/build.sh puts them (provide_external).
LIBRARIES = (
    "imgui/imgui",
    "imgui/imgui/backends",
    "imgui/imgui/misc/cpp",
    "implot/implot",
    "ImGuizmo/ImGuizmo/src",
    "ImGuiColorTextEdit/ImGuiColorTextEdit",
    "glfw/glfw/include",
)
# A type in a source that has at least so many lines like members is counted too.
LONG = 30
BODY = re.compile(r"^(?:struct|class) [^;{]*\{.*?^\};", re.S | re.M)
MEMBER = re.compile(r"^    [^ /}].*[;{]$", re.M)


class Counted(dict):
    """Members by the type's name with its namespaces, and where each is."""

    def __init__(self):
        super().__init__()
        self.places = {}


def arguments(root: pathlib.Path, libraries: pathlib.Path) -> list[str]:
    own = [subprocess.run(["gcc", f"-print-file-name={name}"], capture_output=True, text=True, check=True).stdout.strip()
           for name in ("include", "include-fixed")]
    # Intrinsics are GCC's there; none is needed.
    words = ["-std=c++20", "-DGLFW_INCLUDE_NONE", "-DHINDCAST_JAX", "-D_IMMINTRIN_H_INCLUDED",
             "-D_X86GPRINTRIN_H_INCLUDED", "-D_X86INTRIN_H_INCLUDED", f"-I{root}", f"-I{root}/engine/public"]
    for folder in own + ["/usr/include/eigen3"] + [str(libraries / library) for library in LIBRARIES]:
        words += ["-isystem", folder]
    return words


def count(root: pathlib.Path, files: list[str], libraries: pathlib.Path) -> Counted:
    """All headers in one piece, and sources that hold a long type, each with function bodies left out."""
    words = arguments(root, libraries)
    counted = Counted()
    index = cindex.Index.create()

    def parse(included: list[str]):
        name = str(root / "structure.cpp")
        text = "".join(f'#include "{file}"\n' for file in included)
        unit = index.parse(name, args=words, unsaved_files=[(name, text)],
                           options=cindex.TranslationUnit.PARSE_SKIP_FUNCTION_BODIES)
        errors = [d for d in unit.diagnostics if d.severity >= cindex.Diagnostic.Error]
        if errors:
            raise RuntimeError(f"{included[0]} and others: {errors[0]}")
        visit(unit.cursor)

    def visit(cursor):
        for child in cursor.get_children():
            file = child.location.file
            if file is None or not str(file).startswith(tuple(f"{root}/{top}/" for top in TOPS)):
                continue
            if child.kind in (Kind.NAMESPACE, Kind.LINKAGE_SPEC):
                visit(child)
            elif child.kind in TYPES and child.is_definition():
                add(child)

    def add(cursor) -> int:
        members = 0
        for child in cursor.get_children():
            if child.kind in MEMBERS and child.spelling != "operator=":
                members += 1
            elif child.kind in TYPES and child.is_definition():
                nested = add(child)
                if child.access_specifier == cindex.AccessSpecifier.PRIVATE:
                    members += nested
        name, above = cursor.spelling, cursor.semantic_parent
        while above is not None and above.kind != Kind.TRANSLATION_UNIT:
            name, above = (f"{above.spelling}::{name}" if above.spelling else name), above.semantic_parent
        name = name.removeprefix("hindcast::")
        counted[name] = members
        counted.places[name] = f"{pathlib.Path(str(cursor.location.file)).relative_to(root)}:{cursor.location.line}"
        return members

    # The Python module's headers want Python's and nanobind's; its types are small.
    files = [file for file in files if not file.startswith("app/python/")]
    parse([file for file in files if file.endswith(".hpp")])
    for file in files:
        if file.endswith(".cpp"):
            bodies = BODY.findall((root / file).read_text())
            if any(len(MEMBER.findall(body)) > LONG for body in bodies):
                parse([file])
    return counted
