#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Compares what src/device/metal uses of Apple's API with what Apple publishes.

apple-api.txt lists every selector, enumerator and structure. The test takes what the sources use from clang's syntax
tree, and asks that all of it is listed and that the headers it compiles against give the listed values:

    check-api.py TABLE -- CLANG FLAGS... SOURCES...

The list itself is checked against metal-cpp, which Apple generates from its own headers (and, for Foundation, against
GNUstep's headers), by hand when it changes; --write replaces it by what was found:

    check-api.py TABLE --metal-cpp DIRECTORY [--foundation DIRECTORY] [--bindings FILE...] [--write] -- CLANG FLAGS...
        SOURCES...

Metal Performance Shaders are not in metal-cpp. Bindings of other languages, made from Apple's headers as well, tell
their selectors (Export attributes of .NET's metalperformanceshaders.cs) and values (_metadata.py of PyObjC).
"""
import argparse
import os
import pathlib
import re
import subprocess
import sys

STRUCTS = ("MTLSize", "NSRange")
# Clang's dump of its syntax tree: a message, and a use of an enumerator.
MESSAGE = re.compile(r"ObjCMessageExpr .*selector=(\S+)")
ENUMERATOR = re.compile(r"DeclRefExpr .* EnumConstant 0x[0-9a-f]+ '((?:MTL|MPS)\w+)'")


def used_by(command, source):
    """Selectors and enumerators in the bodies of one source file."""
    # ccache would give what it kept of an earlier run, which lacks the dump.
    dump = subprocess.run([*command, "-fsyntax-only", "-Xclang", "-ast-dump", "-fno-color-diagnostics", source],
                          capture_output=True, text=True, env=os.environ | {"CCACHE_DISABLE": "1"})
    if dump.returncode != 0:
        sys.exit(f"{source} does not compile:\n{dump.stderr}")
    return set(MESSAGE.findall(dump.stdout)), set(ENUMERATOR.findall(dump.stdout))


def read_table(path):
    table = {"selector": set(), "value": {}, "struct": {}}
    for line in path.read_text().splitlines():
        words = line.split()
        if not words or words[0].startswith("#"):
            continue
        if words[0] == "selector":
            table["selector"].add(words[1])
        elif words[0] == "value":
            table["value"][words[1]] = int(words[2])
        else:
            table["struct"][words[1]] = words[2:]
    return table


def holds(command, table):
    """Whether the headers of this machine agree with every value and layout, by asking the compiler."""
    lines = ["#import <MetalPerformanceShaders/MetalPerformanceShaders.h>", "#include <stddef.h>"]
    for name, value in table["value"].items():
        lines.append(f'_Static_assert((long long){name} == {value}, "{name} is not {value}");')
    for name, fields in table["struct"].items():
        lines.append(f'_Static_assert(sizeof({name}) == {8 * len(fields)}, "{name} has another size");')
        for i, field in enumerate(fields):
            lines.append(f'_Static_assert(offsetof({name}, {field}) == {8 * i}, "{name}.{field} is elsewhere");')
    result = subprocess.run([*command, "-x", "objective-c", "-fsyntax-only", "-"], input="\n".join(lines),
                            capture_output=True, text=True)
    sys.stderr.write(result.stderr)
    return result.returncode == 0


# ---- metal-cpp ----

def published_selectors(directory):
    text = "".join(path.read_text() for path in directory.glob("*/*HeaderBridge.hpp"))
    text += "".join(path.read_text() for path in directory.glob("*/*Private.hpp"))
    return set(re.findall(r'_PRIVATE_DEF_SEL\(\s*\w+,\s*"([^"]+)"\)', text))


def published_values(directory):
    values = {}
    for path in sorted((directory / "Metal").glob("*.hpp")):
        for name, text in re.findall(r"^\s*(\w+) = (-?\w+),$", path.read_text(), re.M):
            if re.fullmatch(r"-?(0x[0-9a-fA-F]+|\d+)[uUlL]*", text):
                values["MTL" + name] = int(re.sub(r"[uUlL]+$", "", text), 0)
            elif "MTL" + text in values:
                values["MTL" + name] = values["MTL" + text]
    return values


def published_fields(directory, name):
    """Members of a structure made of NS::UInteger alone, which are eight bytes each."""
    for path in directory.glob("*/*.hpp"):
        match = re.search(r"^struct " + name[3 if name.startswith("MTL") else 2:] + r"\n\{(.*?)^\}", path.read_text(),
                          re.M | re.S)
        if match:
            return re.findall(r"^\s*(?:NS::)?UInteger\s+(\w+);", match.group(1), re.M)
    return []


def declared_selectors(directory):
    """Selectors of the methods and properties in Objective-C headers."""
    found = set()
    for path in directory.rglob("*.h"):
        text = re.sub(r"/\*.*?\*/|//[^\n]*", "", path.read_text(errors="replace"), flags=re.S)
        for method in re.findall(r"^[-+]\s*\([^;{]*?;", text, re.M):
            body = re.sub(r"\([^()]*(?:\([^()]*\)[^()]*)*\)", " ", method[1:])
            parts = re.findall(r"(\w+)\s*:", body)
            found.add("".join(part + ":" for part in parts) if parts else body.split()[0].rstrip(";"))
    return found


def bound(files):
    """Selectors and values in the bindings of other languages."""
    text = "".join(path.read_text() for path in files)
    return set(re.findall(r'Export \("([^"]+)"', text)), {name: int(value) for name, value in
                                                          re.findall(r"(MPS\w+)@(-?\d+)", text)}


def publish(arguments, selectors, enumerators):
    """The table as metal-cpp and Foundation's headers have it, and what they lack."""
    published, values = published_selectors(arguments.metal_cpp), published_values(arguments.metal_cpp)
    foundation = declared_selectors(arguments.foundation) if arguments.foundation else set()
    bindings, bound_values = bound(arguments.bindings)
    places = {"metal-cpp": published, "Foundation": foundation, "bindings": bindings}
    values |= bound_values
    lines, lacking = [], []
    for selector in sorted(selectors):
        where = next((place for place, there in places.items() if selector in there), None)
        (lines if where else lacking).append(f"selector {selector}")
        print(f"{where or 'NOT FOUND':10} selector {selector}")
    for name in sorted(enumerators):
        (lines if name in values else lacking).append(f"value {name} {values.get(name, '')}".rstrip())
        where = "bindings" if name in bound_values else "metal-cpp" if name in values else "NOT FOUND"
        print(f"{where:10} value {name} {values.get(name, '')}")
    for name in STRUCTS:
        fields = published_fields(arguments.metal_cpp, name)
        (lines if fields else lacking).append(f"struct {name} {' '.join(fields)}")
        print(f"{'metal-cpp' if fields else 'NOT FOUND':10} struct {name} {' '.join(fields)}")
    return lines, lacking


HEADING = """# SPDX-License-Identifier: Apache-2.0
# What src/device/metal uses of Apple's API. Written by check-api.py --write, from metal-cpp; see there.
"""


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("table", type=pathlib.Path)
    parser.add_argument("--metal-cpp", type=pathlib.Path)
    parser.add_argument("--foundation", type=pathlib.Path)
    parser.add_argument("--bindings", type=pathlib.Path, nargs="*", default=[])
    parser.add_argument("--write", action="store_true")
    split = sys.argv.index("--")
    arguments = parser.parse_args(sys.argv[1:split])
    command = [word for word in sys.argv[split + 1:] if not word.endswith(".m")]
    sources = [word for word in sys.argv[split + 1:] if word.endswith(".m")]
    selectors, enumerators = set(), set()
    for source in sources:
        sent, named = used_by(command, source)
        selectors |= sent
        enumerators |= {name for name in named if name in pathlib.Path(source).read_text()}
    failed = False
    if arguments.metal_cpp:
        lines, lacking = publish(arguments, selectors, enumerators)
        for line in lacking:
            print(f"not published: {line}", file=sys.stderr)
        failed = bool(lacking)
        if arguments.write and not failed:
            arguments.table.write_text(HEADING + "\n".join(lines) + "\n")
    table = read_table(arguments.table)
    for name in sorted(selectors - table["selector"]) + sorted(enumerators - table["value"].keys()):
        print(f"{name} is used, but not in {arguments.table.name}", file=sys.stderr)
        failed = True
    failed = not holds(command, table) or failed
    print(f"{len(selectors)} selectors, {len(enumerators)} values, {len(table['struct'])} structures")
    sys.exit(failed)


main()
