#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Runs the commands of a page of documentation, and compares their output with the page.

run-page.py PAGE.md: a block after a line that ends in a file's name, "`scale.metal`:", is written to that file. In a
console block each line after "$ " is run by sh in one temporary directory; the lines after it are what it prints. A line
"..." stands for any lines, "..." inside a line for any text.
"""
import re
import subprocess
import sys
import tempfile
from pathlib import Path

BLOCK = re.compile(r"^(?:[^\n]*`([\w.-]+)`[^`\n]*:\n\n)?```(\w+)\n(.*?)^```$", re.M | re.S)


def commands(block):
    """(command, expected lines) of a console block; a command goes on after a line that ends in a backslash."""
    lines = block.splitlines()
    while lines:
        command = lines.pop(0)
        while command.endswith("\\"):
            command = command[:-1] + lines.pop(0)
        expected = []
        while lines and not lines[0].startswith("$ "):
            expected.append(lines.pop(0))
        yield command.removeprefix("$ "), expected


def pattern(expected):
    parts = []
    for line in expected:
        parts.append(r"(?:[^\n]*\n)*?" if line == "..." else r"[^\n]*".join(map(re.escape, line.split("..."))) + r"\n")
    return "".join(parts)


def run(command, expected, directory):
    done = subprocess.run(command, shell=True, cwd=directory, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    if not re.fullmatch(pattern(expected), done.stdout):
        shown = "\n".join(expected)
        sys.exit(f"$ {command}\nprinted:\n{done.stdout}\nbut the page shows:\n{shown}")


def main():
    page = Path(sys.argv[1]).read_text()
    count = 0
    with tempfile.TemporaryDirectory() as directory:
        for name, language, block in BLOCK.findall(page):
            if name:
                Path(directory, name).write_text(block)
            if language != "console":
                continue
            for command, expected in commands(block):
                run(command, expected, directory)
                count += 1
    if not count:
        sys.exit(f"{sys.argv[1]} has no command to run")
    print(f"{count} commands did what the page says")


main()
