#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""test-identity.py IDENTITY.PY: whatever goes into a build changes its name, and nothing else does."""
import os
import shutil
import subprocess
import sys
import tempfile

script = os.path.abspath(sys.argv[1])
FILES = {
    "src/part/main.c": '#include "beside.h"\n#include <stdio.h>\n#include "generated.h"\nint main;\n',
    "src/part/beside.h": '  #  include "other/deep.h"\n#include "beside.h"\n',
    "src/other/deep.h": "#include <project/public.h>\nint deep;\n",
    "include/project/public.h": "int public;\n",
    "src/other/unrelated.h": "int unrelated;\n",
}


def write(root, name, text):
    path = os.path.join(root, name)
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, "w") as file:
        file.write(text)


def identity(root, version="1"):
    source = os.path.join(root, "src")
    arguments = ["out.h", "out.d", "NAME", version, source, os.path.join(source, "part/main.c")]
    subprocess.run([sys.executable, script, *arguments], cwd=root, check=True)
    with open(os.path.join(root, "out.h")) as header, open(os.path.join(root, "out.d")) as depfile:
        return header.read(), depfile.read()


with tempfile.TemporaryDirectory() as directory:
    root, copy = os.path.join(directory, "one"), os.path.join(directory, "two")
    for name, text in FILES.items():
        write(root, name, text)
    first, depfile = identity(root)
    assert first.startswith('#define NAME "'), first
    assert identity(root)[0] == first
    assert identity(root, "2")[0] != first
    shutil.copytree(root, copy)
    assert identity(copy)[0] == first, "it depends on where the project lies"
    for name, text in FILES.items():
        write(root, name, text + "// edited\n")
        changed = identity(root)[0] != first
        assert changed == ("unrelated" not in name), f"{name}: changed {changed}"
        assert (os.path.join(root, name) in depfile) == changed, f"{name} in {depfile}"
        write(root, name, text)
    assert identity(root)[0] == first
