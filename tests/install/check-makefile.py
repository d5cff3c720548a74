#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""On a machine without clang, make uses the clang that `scripts/setup` has just installed.

    check-makefile.py SOURCE_ROOT
"""
import pathlib
import shutil
import subprocess
import sys
import tempfile

SETUP = "#!/bin/sh\nmkdir -p bin; printf '#!/bin/sh\\n' > bin/clang-19; chmod +x bin/clang-19\n"
MESON = '#!/bin/sh\necho "$CC $OBJC $OBJCXX"\n'


def executable(path, text):
    path.parent.mkdir(exist_ok=True)
    path.write_text(text)
    path.chmod(0o755)


def main():
    make = shutil.which("make")
    with tempfile.TemporaryDirectory() as name:
        fresh = pathlib.Path(name)
        shutil.copy(pathlib.Path(sys.argv[1]) / "Makefile", fresh)
        executable(fresh / "scripts/setup", SETUP)
        executable(fresh / "bin/meson", MESON)
        for tool in ("sh", "uname", "mkdir", "chmod"):
            (fresh / "bin" / tool).symlink_to(shutil.which(tool))
        run = subprocess.run([make, "-s", f"MESON={fresh}/bin/meson", "build-asan/build.ninja"], cwd=fresh,
                             env={"PATH": str(fresh / "bin")}, capture_output=True, text=True)
    expected = "clang-19 clang-19 clang++-19"
    if run.stdout.strip() != expected:
        sys.exit(f"make chose '{run.stdout.strip()}' instead of '{expected}'\n{run.stderr}")


main()
