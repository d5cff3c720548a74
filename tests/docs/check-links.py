#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Links of the pages lead somewhere, and files that they name exist: check-links.py SOURCE_ROOT."""
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


problems = []
for page in PAGES:
    text = re.sub(r"^```.*?^```$", "", page.read_text(), flags=re.M | re.S)
    problems += [f"{page.relative_to(root)}: {problem}" for problem in [*bad_links(page, text), *bad_paths(text)]]
if problems:
    sys.exit("\n".join(problems))
