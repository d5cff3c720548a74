#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Folders use only those below them, in includes and at link time, and docs/architecture.md says which.

Folders outside of src/ may also use the public API.

check-layers.py SOURCE_ROOT BUILD_ROOT [--print]
"""
import json
import re
import subprocess
import sys
from pathlib import Path

root, build = Path(sys.argv[1]).resolve(), Path(sys.argv[2]).resolve()
SOURCES = (".c", ".h", ".m", ".mm")
BESIDE_SRC = ("console", "cli", "tools", "bench", "compat", "examples")


def folder_of(path):
    """src/simt/widen.c is simt's; cli/run.c is cli's."""
    parts = path.relative_to(root).parts
    return parts[1] if parts[0] == "src" else parts[0]


def is_folder(name):
    return name in BESIDE_SRC or (root / "src" / name).is_dir()


def table():
    """{folder: folders it uses} in the order of the page, which is from the bottom up."""
    page = (root / "docs/architecture.md").read_text()
    rows = re.search(r"\| folder \| uses \|.*\n\|---.*\n((?:\|.*\n)+)", page).group(1)
    return {name: set(re.findall(r"\w+", uses)) for name, uses in re.findall(r"^\| (\w+) \|(.*)\|$", rows, re.M)}


def include_edges():
    edges = {}
    for top in ("src", *BESIDE_SRC):
        for path in (root / top).rglob("*"):
            if path.suffix not in SOURCES:
                continue
            for name in re.findall(r'^\s*#\s*include "([\w-]+)/[^"]*"', path.read_text(), re.M):
                if is_folder(name):
                    edges.setdefault((folder_of(path), name), f"{path.relative_to(root)} includes from it")
    return edges


def built_objects(folders):
    """{object: folder of its source}."""
    objects = {}
    for command in json.loads((build / "compile_commands.json").read_text()):
        source, output = (build / command["file"]).resolve(), build / command["output"]
        if source.is_relative_to(root) and not source.is_relative_to(build) and output.exists():
            if (folder := folder_of(source)) in folders:
                objects[str(output)] = folder
    return objects


def symbols(objects, *flags):
    """(object, symbol) for every symbol that `nm` lists."""
    command = ["nm", "-A", "-P", *flags, *objects]
    output = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    for line in output.splitlines():
        path, name = line.split()[:2]
        if name != "main" and not name.startswith("__"):  # compilers and sanitizers add those
            yield path.rstrip(":"), name


def link_edges(folders):
    objects = built_objects(folders)
    # What compat defines is Apple's API, which src/device/metal calls on a Mac as well.
    ours = [path for path, folder in objects.items() if folder != "compat"]
    home = {name: objects[path] for path, name in symbols(ours, "-g", "--defined-only")}
    edges = {}
    for path, name in symbols(objects, "-u"):
        public = name.startswith("ig_") and objects[path] in BESIDE_SRC
        if name in home and not public:
            edges.setdefault((objects[path], home[name]), f"{Path(path).name} calls {name}")
    return edges


folders = table()
edges = {**link_edges(folders), **include_edges()}
edges = {edge: why for edge, why in edges.items() if edge[0] != edge[1]}
if "--print" in sys.argv:
    for name in folders:
        print(f"| {name} | {', '.join(f for f in folders if (name, f) in edges)} |")
order = list(folders)
problems = []
for (user, used), why in sorted(edges.items()):
    if user not in folders or used not in folders:
        problems.append(f"docs/architecture.md does not list {user if user not in folders else used} ({why})")
    elif order.index(used) > order.index(user):
        problems.append(f"{user} points up to {used}: {why}")
    elif used not in folders[user]:
        problems.append(f"docs/architecture.md does not say that {user} uses {used}: {why}")
for user, uses in folders.items():
    problems += [f"docs/architecture.md says that {user} uses {used}, which it does not" for used in uses
                 if (user, used) not in edges]
if problems:
    sys.exit("\n".join(problems))
