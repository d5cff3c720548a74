#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Links of the pages lead somewhere, and files and functions that they name exist: check-links.py SOURCE_ROOT."""
import re
import sys
from pathlib import Path

root = Path(sys.argv[1])
PAGES = [root / "README.md", root / "CONTRIBUTING.md", *sorted((root / "docs").rglob("*.md"))]
TOP = "src|include|cli|bench|compat|tests|examples|docs|man|scripts"


def anchors(page):
    """The anchors of a page's headings, as GitHub makes them."""
    titles = re.findall(r"^#+ (.*)$", page.read_text(), re.M)
    return {re.sub(r"[^\w\- ]", "", title.lower()).replace(" ", "-") for title in titles}


def bad_links(page, text):
    for target in re.findall(r"\]\(([^)\s]+)\)", text):
        path, _, anchor = target.partition("#")
        if re.match(r"https?:", target):
            continue
        file = (page.parent / path).resolve() if path else page
        if not file.exists():
            yield f"the link {target} leads nowhere"
        elif anchor and file.suffix == ".md" and anchor not in anchors(file):
            yield f"the link {target} names a heading that is not there"


def bad_paths(text):
    """Paths in backquotes, from the root of the sources."""
    for path in re.findall(rf"`((?:{TOP})/[\w./-]+)`", text):
        if "NAME" not in path and not (root / path).exists() and not list(root.glob(path.rstrip("/") + "*")):
            yield f"there is no {path}"


HEADERS = "".join(path.read_text() for path in (root / "include/ingot").glob("*.h"))
OPS = set(re.findall(r"X\(\w+, (\w+), \w+\)", HEADERS))
# Enumerators are made from lists: IG_STATUS_, IG_OP_, IG_WEIGHT_ and IG_GGUF_ with a row's first word.
ROWS = set(re.findall(r"X\((\w+), ", HEADERS))
EXAMPLES = {"ig_tensor_mish"}  # CONTRIBUTING.md adds it


def bad_names(text):
    """Public names, or beginnings of them, that no header has."""
    for name in sorted(set(re.findall(r"\b(?:ig|IG)_\w*[a-zA-Z0-9]", text))):
        listed = name.removeprefix("ig_tensor_") in OPS or re.sub(r"^IG_(STATUS|OP|WEIGHT|GGUF)_", "", name) in ROWS
        if not listed and name not in EXAMPLES and not re.search(rf"\b{name}", HEADERS):
            yield f"there is no {name}"


problems = []
for page in PAGES:
    text = re.sub(r"^```.*?^```$", "", page.read_text(), flags=re.M | re.S)
    problems += [f"{page.relative_to(root)}: {problem}" for problem in [*bad_links(page, text), *bad_paths(text)]]
    problems += [f"{page.relative_to(root)}: {problem}" for problem in bad_names(page.read_text())]
for page in sorted((root / "man").glob("*.[13]")):
    problems += [f"{page.relative_to(root)}: {problem}" for problem in bad_names(page.read_text())]
if problems:
    sys.exit("\n".join(problems))
