#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Makes the API reference from the public headers with Doxygen: reference.py SOURCE_ROOT OUTPUT.

OUTPUT/html/index.html is the reference; OUTPUT/man/man3 has a manual page for each function.
"""
import re
import subprocess
import sys
import xml.etree.ElementTree as xml
from pathlib import Path


def doxygen(root, output, **settings):
    """Runs Doxygen and returns its warnings."""
    output.mkdir(parents=True, exist_ok=True)
    filters = f'*.h="{sys.executable} {root}/docs/reference/filter.py"'
    main_page = root / "docs/reference/README.md"
    settings = {"INPUT": f"{root}/include/ingot {main_page}", "USE_MDFILE_AS_MAINPAGE": main_page,
                "FILTER_PATTERNS": filters, "OUTPUT_DIRECTORY": output, **settings}
    lines = [(root / "docs/reference/Doxyfile").read_text(), *(f"{name} = {value}" for name, value in settings.items())]
    done = subprocess.run(["doxygen", "-"], input="\n".join(lines), capture_output=True, text=True, check=False)
    return done.stderr + ("" if done.returncode == 0 else f"doxygen ended with {done.returncode}\n")


def compounds(output):
    """Every header, section and struct of the reference."""
    for path in sorted((output / "xml").glob("*.xml")):
        if path.name not in ("index.xml", "Doxyfile.xml"):
            yield from xml.parse(path).iter("compounddef")


def roff(text):
    """Text in which nothing is an instruction to the formatter."""
    text = text.replace("\\", "\\e").replace("-", "\\-")
    return "\n".join("\\&" + line if line.startswith((".", "'")) else line for line in text.splitlines())


def text_of(node):
    """A description as plain text; paragraphs and line breaks are new lines."""
    return "".join(flatten(node)).strip()


def flatten(node):
    yield "\n" if node.tag in ("linebreak", "para") else ""
    yield node.text or ""
    for child in node:
        yield from flatten(child)
        yield child.tail or ""


def manual_page(function, header, others):
    name = function.findtext("name")
    brief, detail = (text_of(function.find(tag)) for tag in ("briefdescription", "detaileddescription"))
    synopsis = f"{function.findtext('definition')}{function.findtext('argsstring')};"
    paragraphs = "\n.PP\n".join(roff(text) for text in re.split(r"\n+", f"{brief}\n{detail}".strip()))
    related = "\n".join(f".BR {other} (3)" + "," * (other != "libingot") for other in [*others, "libingot"])
    return f""".TH {name} 3 "" "Ingot" "Ingot"
.SH NAME
{name} \\- {roff(brief.rstrip('.').replace(chr(10), ' '))}
.SH SYNOPSIS
.nf
.B #include <ingot/{header}>
.PP
.B "{roff(synopsis).replace('"', '')}"
.fi
.SH DESCRIPTION
{paragraphs}
.SH SEE ALSO
{related}
"""


def manual_pages(output):
    """A page for each function, which names the others of its section."""
    folder = output / "man/man3"
    folder.mkdir(parents=True, exist_ok=True)
    for old in folder.glob("*.3"):
        old.unlink()
    for compound in sorted(compounds(output), key=lambda compound: compound.get("kind") == "group"):  # sections win
        functions = [member for member in compound.iter("memberdef") if member.get("kind") == "function"]
        names = [function.findtext("name") for function in functions]
        for function, name in zip(functions, names):
            header = Path(function.find("location").get("file")).name
            others = [other for other in names if other != name][:12]
            (folder / f"{name}.3").write_text(manual_page(function, header, others))


def main():
    root, output = Path(sys.argv[1]).resolve(), Path(sys.argv[2])
    warnings = doxygen(root, output)
    if warnings:
        sys.exit(warnings)
    manual_pages(output)
    print(f"{output}/html/index.html")


if __name__ == "__main__":
    main()
