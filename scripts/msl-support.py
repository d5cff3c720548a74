#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes the list in docs/msl-support.md from tests/msl/specification.txt; with --check, says whether it is up to date."""
import pathlib
import sys
import textwrap

root = pathlib.Path(__file__).resolve().parent.parent
page = root / "docs/msl-support.md"
BEGIN, END = "<!-- made by scripts/msl-support.py -->\n", "<!-- end -->\n"


def sections():
    title, entries = None, []
    for line in (root / "tests/msl/specification.txt").read_text().splitlines():
        if line.startswith("## "):
            if title:
                yield title, entries
            title, entries = line[3:], []
        elif line and line[0] != "#":
            entries.append([part.strip() for part in line.split("|", 3)][:3])
    yield title, entries


def listed(entries, status, suffix=lambda entry: ""):
    return ", ".join(f"{name}{suffix((name, version, state))}" for name, version, state in entries
                     if state.split(":")[0] == status)


def newer(entry):
    return f" ({entry[1]})" if entry[1] > "3.1" else ""


def paragraphs():
    for title, entries in sections():
        yield f"### {title}"
        for status, word, suffix in (("works", "Works", newer), ("refused", "Refused, as in MSL or with a reason", newer),
                                     ("listed", "Compiled and listed, not run", newer),
                                     ("later", "Later", lambda e: f" ({e[2].split(':', 1)[1].strip()})")):
            names = listed(entries, status, suffix)
            if names:
                yield textwrap.fill(f"{word}: {names}.", 120, break_long_words=False, break_on_hyphens=False)


text = page.read_text()
start, end = text.index(BEGIN) + len(BEGIN), text.index(END)
made = text[:start] + "\n" + "\n\n".join(paragraphs()) + "\n\n" + text[end:]
if "--check" in sys.argv:
    sys.exit(made != text and "docs/msl-support.md is not up to date: run scripts/msl-support.py")
page.write_text(made)
