#!/usr/bin/env python3
"""Writes what Hindcast knows of MuJoCo's structs: where each field lies, and the numbers of enums.

    engine/robot/layout/generate.py WHEEL [--output FOLDER]

WHEEL is the folder in which PyPI's mujoco-core is unpacked (build/mujoco after tests/run). Its
headers are compiled (c++) with a program that prints offsetof of the fields of mjModel, mjOption
and mjStatistic, and of what is read of a model before it is compiled (mjSpec); model_layout.cpp, model_enums.hpp and model_enums.cpp are written from that, into
this folder unless another one is named. A test runs this and compares.
"""

import argparse
import pathlib
import re
import subprocess
import sys
import tempfile

# Fields of looks, of deformables, and of MuJoCo's own bookkeeping are not read.
LEFT_OUT = re.compile(
    r"light_|flex_|flexedge_|efm0_|efmC_|skin_|tex_|mat_|oct_|text_|tuple_|names|paths|mesh_oct"
    r"|mesh_texcoord|mesh_facetexcoord|plugin|.*_pathadr$|.*_matid$"
)
KEPT = {"names", "geom_matid", "mat_rgba"}

# MuJoCo's enum, its prefix, our name.
ENUMS = [
    ("mjtDisableBit", "mjDSBL_", "DisableFlag"),
    ("mjtEnableBit", "mjENBL_", "EnableFlag"),
    ("mjtJoint", "mjJNT_", "JointType"),
    ("mjtGeom", "mjGEOM_", "GeomType"),
    ("mjtIntegrator", "mjINT_", "IntegratorType"),
    ("mjtCone", "mjCONE_", "ConeType"),
    ("mjtJacobian", "mjJAC_", "JacobianType"),
    ("mjtSolver", "mjSOL_", "SolverType"),
    ("mjtEq", "mjEQ_", "EqualityType"),
    ("mjtTendon", "mjTENDON_", "TendonType"),
    ("mjtWrap", "mjWRAP_", "WrapType"),
    ("mjtTrn", "mjTRN_", "TransmissionType"),
    ("mjtDyn", "mjDYN_", "DynamicsType"),
    ("mjtGain", "mjGAIN_", "GainType"),
    ("mjtBias", "mjBIAS_", "BiasType"),
    ("mjtCtrlInput", "mjINPUT_", "ControlInput"),
    ("mjtObj", "mjOBJ_", "ObjectType"),
    ("mjtSensor", "mjSENS_", "SensorType"),
    ("mjtMeshInertia", "mjMESH_INERTIA_", "MeshInertia"),
    ("mjtInertiaFromGeom", "mjINERTIAFROMGEOM_", "InertiaFromGeom"),
]
# A model as it is written: its structs, and the members that are read.
WRITTEN = [
    ("mjSpec", ["compiler.inertiafromgeom", "compiler.inertiagrouprange"]),
    ("mjsBody", ["explicitinertial"]),
    ("mjsGeom", ["mass", "density", "typeinertia"]),
    ("mjsMesh", ["inertia"]),
]
# Words of C++.
RENAMED = {"auto": "auto_", "default": "default_", "true": "true_", "false": "false_"}

ELEMENTS = {
    "mjtNum": "real64",
    "double": "real64",
    "float": "real32",
    "int": "int32",
    "mjtByte": "byte",
    "mjtBool": "byte",
    "char": "byte",
    "mjtSize": "int64",
}

PROGRAM = r"""
#include <cstddef>
#include <cstdio>
#include <mujoco/mujoco.h>
#include <mujoco/mjxmacro.h>
#define TEXT_OF(x) #x
#define TEXT(x) TEXT_OF(x)
#define OPT static_cast<size_t>(offsetof(mjModel, opt))
#define STAT static_cast<size_t>(offsetof(mjModel, stat))
int main() {
    std::printf("version %d\n", mjVERSION_HEADER);
#define X(name) std::printf("size " #name " %zu\n", offsetof(mjModel, name));
    MJMODEL_SIZES
#undef X
#define X(type, name, n) \
    std::printf("inline opt." #name " %zu " #type " " TEXT(n) "\n", OPT + offsetof(mjOption, name));
#define XVEC X
    MJOPTION_FIELDS
#undef X
#define X(name, n) \
    std::printf("inline stat." #name " %zu mjtNum " TEXT(n) "\n", STAT + offsetof(mjStatistic, name));
    MJSTATISTIC_FIELDS
#undef X
#define XNV X
#define X(type, name, rows, columns) \
    std::printf("array " #name " %zu " #type " " TEXT(rows) " " TEXT(columns) "\n", \
                offsetof(mjModel, name));
    MJMODEL_POINTERS
#undef X
WRITTEN_OFFSETS
ENUMERATORS
}
"""

NOTICE = "// Written by engine/robot/layout/generate.py from MuJoCo's headers; not to be edited.\n"


def enumerators(header):
    """(our enum, enumerator, text that C++ evaluates) of each enum of the list."""
    rows = []
    for theirs, prefix, ours in ENUMS:
        body = re.search(r"typedef enum %s {(.*?)} %s;" % (theirs, theirs), header, re.S).group(1)
        for name in re.findall(r"^\s*(%s\w+)" % prefix, body, re.M):
            rows.append((ours, name[len(prefix) :].lower(), name))
    return rows


def facts_of(include):
    """The lines that the program prints."""
    header = "".join((include / "mujoco" / name).read_text() for name in ("mjtype.h", "mjspec.h"))
    written = [
        'std::printf("written %s.%s %%zu\\n", offsetof(%s, %s));' % (struct, member, struct, member)
        for struct, members in WRITTEN
        for member in members
    ]
    lines = [
        'std::printf("enum %s %s %%d\\n", static_cast<int>(%s));' % row
        for row in enumerators(header)
    ]
    with tempfile.TemporaryDirectory() as folder:
        source = pathlib.Path(folder) / "facts.cpp"
        source.write_text(
            PROGRAM.replace("WRITTEN_OFFSETS", "\n".join(written)).replace(
                "ENUMERATORS", "\n".join(lines)
            )
        )
        program = pathlib.Path(folder) / "facts"
        subprocess.run(
            ["c++", "-std=c++17", "-w", "-I", include, source, "-o", program], check=True
        )
        return subprocess.run([program], check=True, stdout=subprocess.PIPE, text=True).stdout


def columns_of(text):
    """("nq", 1) of "nq", ("", 3) of "3", ("nmocap", 4) of "nmocap*4"."""
    if text.isdigit():
        return "", int(text)
    name, _, factor = text.partition("*")
    return name, int(factor or 1)


def layout_text(facts):
    version, sizes, inline, arrays, written = 0, [], [], [], []
    row = '    {"%s", %s, Element::%s, "%s", "%s", %s},'
    for line in facts.splitlines():
        kind, *words = line.split()
        if kind == "version":
            version = int(words[0])
        elif kind == "size":
            sizes.append('    {"%s", %s},' % tuple(words))
        elif kind == "written":
            written.append('    {"%s", %s},' % tuple(words))
        elif kind == "inline":
            name, offset, element, columns = words
            inline.append(row % (name, offset, ELEMENTS[element], "", "", columns))
        elif kind == "array":
            name, offset, element, rows, columns = words
            if LEFT_OUT.match(name) and name not in KEPT:
                continue
            by, factor = columns_of(columns)
            arrays.append(row % (name, offset, ELEMENTS[element], rows, by, factor))
    return (
        NOTICE
        + '#include "engine/robot/layout/model_layout.hpp"\n\nnamespace hindcast::robot {\n\n'
        + "namespace {\n\n// clang-format off\nconstexpr SizeField size_rows[] = {\n"
        + "\n".join(sizes)
        + "\n};\n\nconstexpr ModelField inline_rows[] = {\n"
        + "\n".join(inline)
        + "\n};\n\nconstexpr ModelField array_rows[] = {\n"
        + "\n".join(arrays)
        + "\n};\n\nconstexpr WrittenField written_rows[] = {\n"
        + "\n".join(written)
        + "\n};\n// clang-format on\n\n}  // namespace\n\n"
        + "int layout_version() { return %d; }\n" % version
        + "std::span<const SizeField> size_fields() { return size_rows; }\n"
        + "std::span<const ModelField> inline_fields() { return inline_rows; }\n"
        + "std::span<const ModelField> array_fields() { return array_rows; }\n"
        + "std::span<const WrittenField> written_fields() { return written_rows; }\n\n"
        + "}  // namespace hindcast::robot\n"
    )


def enum_texts(facts):
    enums = {}
    for line in facts.splitlines():
        if line.startswith("enum "):
            _, ours, name, value = line.split()
            enums.setdefault(ours, []).append((name, int(value)))
    header = NOTICE + (
        "//\n// The numbers that stand in mjModel's fields of types and flags, with MuJoCo's names.\n"
        "#pragma once\n\n#include <string_view>\n\nnamespace hindcast::robot {\n\n"
        "// clang-format off\n"
    )
    source = NOTICE + (
        '#include "engine/robot/layout/model_enums.hpp"\n\nnamespace hindcast::robot {\n\n'
        "// clang-format off\n"
    )
    for ours, rows in enums.items():
        body = ""
        for name, value in rows:
            entry = "%s = %d," % (RENAMED.get(name, name), value)
            if len(body.rpartition("\n")[2]) + len(entry) + 5 > 96:
                body += "\n"
            body += (" " if body and not body.endswith("\n") else "    ") + entry
        header += "enum class %s : int {\n%s\n};\n" % (ours, body)
        source += "std::string_view name_of(%s value) {\n    switch (value) {\n" % ours
        for name, _ in rows:
            source += '        case %s::%s: return "%s";\n' % (ours, RENAMED.get(name, name), name)
        source += "    }\n    return {};\n}\n"
    header += "\n// The name of a number, empty where MuJoCo has none for it.\n"
    for ours in enums:
        header += "std::string_view name_of(%s value);\n" % ours
    end = "// clang-format on\n\n}  // namespace hindcast::robot\n"
    return header + end, source + end


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("wheel", type=pathlib.Path)
    parser.add_argument("--output", type=pathlib.Path, default=pathlib.Path(__file__).parent)
    arguments = parser.parse_args()
    include = arguments.wheel / "mujoco/include"
    if not (include / "mujoco/mujoco.h").exists():
        sys.exit(
            "generate.py: %s has no mujoco/include/mujoco/mujoco.h: name the folder in which "
            "mujoco-core is unpacked" % arguments.wheel
        )
    facts = facts_of(include)
    header, source = enum_texts(facts)
    (arguments.output / "model_layout.cpp").write_text(layout_text(facts))
    (arguments.output / "model_enums.hpp").write_text(header)
    (arguments.output / "model_enums.cpp").write_text(source)


if __name__ == "__main__":
    main()
