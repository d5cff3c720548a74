#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Turns the plain comments of a public header into Doxygen's: filter.py HEADER.h > filtered.

A comment directly before a declaration, or at the end of its line, describes it. A comment before several functions
without blank lines between them describes them all. `// ---- Title ----` begins a section. Lists (X macros) are
expanded: an entry is described by the text in its row, or by its line in lists.txt. Line numbers stay as they are.
"""
import re
import sys
from pathlib import Path

LABELS = {"pre": "Precondition", "post": "Postcondition", "owns": "Ownership", "note": "Note"}
LABEL = re.compile(r"(?:^|(?<=[.;:)] ))(pre|post|owns|errors|threads|Ownership|Errors|Threads|Processes)( \([^)]*\))?: ")
CONVENTIONS = {
    "retain": "Adds a reference and returns the object.",
    "release": "Gives up a reference; the object is freed with the last one. NULL is allowed and does nothing.",
}


class Markup:
    """Text of comments as Doxygen's markup: names become links, everything else is literal."""

    def __init__(self, statuses):
        self.status = re.compile(r"(?<![\w#])(" + "|".join(statuses) + r")\b")

    def words(self, text):
        pieces = re.split(r"(`[^`]*`|\"[^\"]*\")", text)
        for i, piece in enumerate(pieces):
            escaped = re.sub(r"([\\@<>#&$%])", r"\\\1", piece)
            plain = escaped.replace("*", "&lowast;")
            if re.match(r"`.*\.\W", piece):
                pieces[i] = plain[1:-1]  # to Doxygen this dot ends the brief description, which must not end inside a tag
            elif piece.startswith("`"):
                pieces[i] = f"<code>{escaped[1:-1]}</code>"
            elif piece.startswith('"'):
                pieces[i] = plain
            else:
                linked = re.sub(r"\b(ig_\w+|IG_\w+)\b(?!\.[a-z])", r"#\1", plain)
                pieces[i] = self.status.sub(r'@ref IG_STATUS_\1 "\1"', linked)
        return "".join(pieces)

    def line(self, text):
        """`errors: NOT_FOUND` becomes a paragraph with a heading, still on its line."""
        parts = LABEL.split(text)
        result = self.words(parts[0])
        for name, detail, rest in zip(parts[1::3], parts[2::3], parts[3::3]):
            heading = LABELS.get(name, name.capitalize()) + (detail or "")
            result += f"{'<br>' if result else ''}<b>{heading}:</b> {self.words(rest)}"
        return result

    def block(self, lines):
        """The lines of a comment; what is indented in it is an example."""
        out, in_code = [], False
        for text in lines:
            is_code = text.startswith("    ")
            out.append(("@code " if is_code and not in_code else "") + (text[4:] if is_code else self.line(text.strip())))
            if in_code and not is_code:
                out[-2] += " @endcode"
            in_code = is_code
        if in_code:
            out[-1] += " @endcode"
        return "/** " + "\n * ".join(out) + " */"


def comment_text(lines):
    """The text after the `// ` of each line."""
    return [line.strip()[3:] for line in lines]


class Lists:
    """X macros: what rows each list has, and what each macro makes of a row."""

    def __init__(self, text, meanings):
        self.meanings = meanings
        joined = re.sub(r"\\\n\s*", " ", text)
        self.rows, self.macros = {}, {}
        for name, body in re.findall(r"^#define (\w+_LIST)\(X\) (.*)$", joined, re.M):
            parts = [self.rows[nested] for nested in re.findall(r"(\w+_LIST)\(X\)", body)]
            self.rows[name] = sum(parts, []) or re.findall(r"X\(((?:\"[^\"]*\"|[^()\"])*)\)", body)
        for name, parameters, body in re.findall(r"^#define (IG_\w+)\(([^)]*)\) +(.*)$", joined, re.M):
            self.macros[name] = parameters.split(", "), body

    def expand(self, name, macro):
        """(declaration, description) for each row."""
        parameters, body = self.macros[macro]
        for row in self.rows[name]:
            values = dict(zip(parameters, re.split(r", (?![^\"]*\"$)", row)))
            text = re.sub(r"##(\w+)", lambda match: values[match.group(1)], body)
            yield text, self.meaning(row, text)

    def meaning(self, row, text):
        quoted = re.search(r'"(.*)"', row)
        if quoted:
            return quoted.group(1)[0].upper() + quoted.group(1)[1:] + "."
        names = [re.match(r"\w+", text).group(), *row.split(", ")]
        return next((self.meanings[name] for name in names if name in self.meanings), "")


def pieces(lines):
    """(kind, lines) in order: blank, section, comment, directive, list (LIST(MACRO)) and declaration."""
    at = 0
    while at < len(lines):
        start, line = at, lines[at]
        at += 1
        if not line.strip():
            kind = "blank"
        elif line.startswith("// ----"):
            kind = "section"
        elif line.startswith("//"):
            kind = "comment"
            while at < len(lines) and lines[at].startswith("//") and not lines[at].startswith("// ----"):
                at += 1
        elif line.startswith("#"):
            kind = "directive"
            while lines[at - 1].endswith("\\"):
                at += 1
        elif re.match(r"\w+_LIST\(\w+\)$", line):
            kind = "list"
        else:
            kind = "declaration"
            while not complete(lines[start:at]):
                at += 1
        yield kind, lines[start:at]


def complete(lines):
    code = re.sub(r"//.*|/\*.*?\*/", "", "\n".join(lines))
    return code.count("{") == code.count("}") and (code.rstrip().endswith(";") or code.rstrip().endswith("}"))


class Header:
    def __init__(self, path, text, markup, meanings):
        self.name = path.name
        self.group = re.sub(r"\W", "_", path.stem)
        # Lines for C++ and for the linker are of no interest to readers.
        text = re.sub(r'#ifdef __cplusplus\n(extern "C" {|})\n#endif', "\n\n", text)
        self.lists = Lists(text, meanings)
        self.lines = text.splitlines()
        self.markup = markup
        self.out = []
        self.comment = None   # lines of a comment whose declaration has not come yet
        self.shared = None    # the comment of the functions in this paragraph
        self.of_list = []     # the comment before a macro that a list is about to be given to
        self.in_section = False

    def run(self):
        for kind, lines in pieces(self.lines):
            if kind == "comment":
                self.comment = lines
            else:
                getattr(self, kind)(lines)
        self.out.append("/** @} */" if self.in_section else "")
        return "\n".join(self.out) + "\n"

    def blank(self, lines):
        self.drop_comment()
        self.shared = None
        self.out.append("")

    def drop_comment(self):
        """A comment that belongs to no declaration: remarks between sections."""
        if self.comment:
            self.out += [""] * len(self.comment)
        self.comment = None

    def section(self, lines):
        self.drop_comment()
        title = re.match(r"// ---- (.*?)(?: ----)?$", lines[0]).group(1)
        close = "@} */ /** " if self.in_section else ""
        self.in_section = True
        identifier = re.sub(r"\W+", "_", f"{self.group}_{title}".lower())
        self.out.append(f"/** {close}@addtogroup {identifier} {self.markup.words(title)} @ingroup {self.group} @{{ */")
        self.out[-1] = self.out[-1].replace(" @ingroup", "\n@ingroup").replace(" @{", "\n@{")

    def directive(self, lines):
        if lines[0].startswith("#ifndef INGOT_"):
            self.head()
        macro = re.match(r"#define (IG_\w+)", lines[0])
        if macro and macro.group(1).endswith("_LIST"):  # its rows are shown by what they make
            self.described([lines[0].split("(X)")[0] + "(X)", *[""] * (len(lines) - 1)])
            return
        if not macro or re.search(r"_ENUM\(|IG_DECLARE", lines[0]):
            self.of_list = comment_text(self.comment or [])
            self.drop_comment()
            self.out += [""] * len(lines)
            return
        self.described(lines)

    def head(self):
        """The comment at the top of the file describes the header, as a group of sections."""
        text = [line for line in comment_text(self.comment) if "SPDX" not in line]
        title = re.split(r"[.:;](?: |$)", text[0])[0]
        self.out.append(f"/** @file\n@defgroup {self.group} ingot/{self.name}: {self.markup.words(title)}")
        self.out += self.markup.block(text)[4:].split("\n")
        self.comment = None

    def list(self, lines):
        name, macro = re.match(r"(\w+)\((\w+)\)", lines[0]).groups()
        text = re.sub(r"^ig_\w+\(.*?\) and so on for \w+_LIST\.", "", " ".join(self.of_list)).strip()
        shared = self.markup.line(text)
        made = [f"/** {self.markup.words(note)} {shared} */ {text}" for text, note in self.lists.expand(name, macro)]
        self.out.append(" ".join(made))

    def declaration(self, lines):
        self.described([self.fields(lines)] if "{" in lines[0] and len(lines) > 1 else lines)

    def fields(self, lines):
        """A struct or an enum, whose lines have their own comments. An enum's list is expanded."""
        out, leading, at = [lines[0]], [], 1
        while at < len(lines):
            line = lines[at]
            at += 1
            applied = re.match(r"\s*(\w+_LIST)\((\w+)\)$", line)
            trailing = re.match(r"(.*\S)\s*// (.*)$", line)
            if applied:
                values = self.lists.expand(*applied.groups())
                line = " ".join(f"{text} /**< {self.markup.words(note)} */" for text, note in values)
            elif line.startswith("#"):
                line = ""
            elif line.strip().startswith("//"):
                leading.append(line)
                continue
            elif trailing:
                text = [trailing.group(2)]
                while at < len(lines) and lines[at].strip().startswith("//") and lines[at].index("//") > 8:
                    text.append(lines[at].strip()[3:])
                    at += 1
                line = f"{trailing.group(1)} /**< {' '.join(map(self.markup.line, text))} */" + "\n" * (len(text) - 1)
            elif re.match(r"\s*IG_\w+_COUNT,?$", line):
                line += " /**< How many there are; not one of them. */"
            if leading and not line.strip().startswith("}"):
                out += self.markup.block(comment_text(leading)).split("\n")
            elif leading:
                out += [""] * len(leading)
            leading = []
            out.append(line)
        return "\n".join(out)

    def described(self, lines):
        """A declaration with the comment that describes it: before it, after it, by convention, or its paragraph's."""
        text = "\n".join(lines)
        function = re.match(r"(?!typedef|#|enum)[^{;]*?\b(ig_\w+)\(", text)
        trailing = re.match(r"(.*\S)\s*// (.*)$", lines[-1])
        if trailing:
            self.shared = None
            note = f"/**< {self.markup.line(trailing.group(2))} */"
            constant = re.match(r"enum { (.*) };$", trailing.group(1))
            lines = [*lines[:-1], f"enum {{ {constant.group(1)} {note} }};" if constant else f"{trailing.group(1)} {note}"]
        elif function and not self.comment:
            note = CONVENTIONS.get(function.group(1).rsplit("_")[-1]) if text.count(",") == 0 else None
            self.shared = None if note else self.shared
            if note or self.shared:
                lines[0] = (f"/** {note} */ " if note else self.shared.replace("\n *", " ") + " ") + lines[0]
        if self.comment:
            block = self.markup.block(comment_text(self.comment))
            self.shared = block if function else None
            self.out += block.split("\n")
            self.comment = None
        self.out += lines


def main():
    path = Path(sys.argv[1])
    statuses = re.findall(r'^    X\((\w+), "', (path.parent / "status.h").read_text(), re.M)
    markup = Markup([name for name in statuses if len(name) > 2])
    meanings = dict(re.findall(r"^(\w+)  (.*)$", Path(__file__).with_name("lists.txt").read_text(), re.M))
    sys.stdout.write(Header(path, path.read_text(), markup, meanings).run())


main()
