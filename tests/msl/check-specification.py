#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Compiles every entry of specification.txt: check-specification.py INGOT specification.txt DIRECTORY"""
import json
import pathlib
import re
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor

ingot, listing, directory = sys.argv[1], pathlib.Path(sys.argv[2]), pathlib.Path(sys.argv[3])
directory.mkdir(parents=True, exist_ok=True)
PARAMETERS = ("device float *f [[buffer(0)]], device int *i [[buffer(1)]], device uint *u [[buffer(2)]], device half *h "
              "[[buffer(3)]], device bfloat *b [[buffer(4)]], device atomic_uint *a [[buffer(5)]], "
              "uint id [[thread_position_in_grid]]")


def entries():
    for number, line in enumerate(listing.read_text().splitlines(), 1):
        if line and line[0] != "#":
            name, version, status, code = (part.strip() for part in line.split("|", 3))
            yield number, name, version, status, code


def source_of(number, code):
    """Its headers, and one line of declarations."""
    headers = re.findall(r"%([\w/.]+)%", code)
    code = re.sub(r"%[\w/.]+%", "", code).strip()
    if code.startswith("@"):
        return headers, re.sub(r"\bK([A-Z]?)\b", rf"k{number}\1", code[1:])
    return headers, f"kernel void k{number}({PARAMETERS}) {{ {code} }}"


def compile_source(name, version, headers, lines, *options):
    path = directory / f"{name}.metal"
    path.write_text("#include <metal_stdlib>\n" + "".join(f"#include <{h}>\n" for h in headers) +
                    "using namespace metal;\n" + "\n".join(lines) + "\n")
    done = subprocess.run([ingot, "compile", "--std", f"metal{version}", str(path), *options], capture_output=True, text=True)
    return done.returncode, done.stdout if options else done.stderr


def check_works(version, group):
    """All in one file; if that fails, its messages name the lines."""
    headers, lines = [], []
    for number, _, _, _, code in group:
        more, line = source_of(number, code)
        headers += [h for h in more if h not in headers]
        lines.append(line)
    code, messages = compile_source(f"works-{version}", version, headers, lines)
    return [f"said to work in {version}:\n{messages[:3000]}"] if code else []


def check_refused(entry):
    number, name, version, status, code = entry
    headers, line = source_of(number, code)
    result, messages = compile_source(f"refused-{number}", version, headers, [line])
    wanted = status[len("refused:"):].strip()
    if result == 0:
        return [f"line {number}: {name} is said to be refused, but compiles"]
    return [] if wanted in messages else [f"line {number}: {name} is refused without '{wanted}':\n{messages[:500]}"]


def check_listed(group):
    """All in one file, with a row for each that says what it is."""
    sources = [source_of(number, code) for number, _, _, _, code in group]
    headers = sorted({header for more, _ in sources for header in more})
    result, rows = compile_source("listed", "3.1", headers, [line for _, line in sources], "--json")
    if result:
        return [f"functions that are said to be listed do not compile:\n{rows[:3000]}"]
    rows = [json.loads(row) for row in rows.splitlines()]
    kinds = {row["function"]: row["kind"] for row in rows if "function" in row}
    return [f"line {number}: {name} is said to be listed as '{status[7:].strip()}', and is as '{kinds.get(f'k{number}')}'"
            for number, name, _, status, _ in group if kinds.get(f"k{number}") != status[7:].strip()]


known = list(entries())
problems = []
for version in sorted({e[2] for e in known if e[3] == "works"}):
    problems += check_works(version, [e for e in known if e[2] == version and e[3] == "works"])
problems += check_listed([e for e in known if e[3].startswith("listed:")])
with ThreadPoolExecutor(2) as pool:
    for found in pool.map(check_refused, [e for e in known if e[3].startswith("refused:")]):
        problems += found
for line in (e for e in known if e[3] != "works" and not e[3].startswith(("refused:", "listed:", "later:"))):
    problems.append(f"line {line[0]}: unknown status '{line[3]}'")
print(*problems, f"{len(known)} entries, {len(problems)} problems", sep="\n")
sys.exit(bool(problems))
