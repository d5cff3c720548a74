#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Compiles the sources for macOS, as far as that is possible without a Mac.

clang only checks them (-fsyntax-only), for the target of Apple's machines, against the headers in include/: our own
declarations of what macOS has. A call, constant or header of Linux that is used without a guard is therefore an error.
Metal's declarations are those of compat/. No file of Apple is involved.

    check-apple.py CLANG SOURCE_ROOT BUILD_ROOT FOLDER_OR_FILE...

Flags come from the build's compile_commands.json, without what Meson found on this machine (IGI_HAS_...). Before the
sources, the check tries itself: every file of refused/ must be refused, for the reason in its first line. Files that
compiled are remembered in the build directory until they, a header or their flags change.
"""
import concurrent.futures
import hashlib
import json
import os
import pathlib
import re
import shlex
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
ARM, INTEL = "arm64-apple-macos14", "x86_64-apple-macos14"
# MPI's own headers describe the system they were installed on. The plugin, and what tests it, is how other systems get
# Metal.
LEFT_OUT = ("src/mpi/", "src/device/metal/plugin.m", "tests/compat/", "tests/metal/")
# What compiles, but must not be used: the word, in which folder, but for one file, and why.
BANNED = (
    ("MTLPipelineOptionArgumentInfo", "", None, "is deprecated; use MTLPipelineOptionBindingInfo"),
    ("stringWithUTF8String", "src/device/metal/", "src/device/metal/strings.m",
     "may give nil; use igi_metal_string or igi_metal_file"),
)
# What Meson finds on a Mac of all that it looks for.
FEATURES = ("-DIGI_HAS_PTHREAD_COND_TIMEDWAIT_RELATIVE_NP", "-DIGI_HAS_ST_MTIMESPEC", "-DIGI_HAS_SYSCTLBYNAME")
# Libraries that Homebrew has, too: their headers are the same everywhere.
PORTABLE = ("cmocka.h", "cmocka_version.h", "xxhash.h", "zconf.h", "zlib.h", "png.h", "pngconf.h", "pnglibconf.h", "libpng16")
STRICT = ("-Wall", "-Wextra", "-Wno-unused-parameter", "-Wno-missing-field-initializers", "-Werror", "-Werror=implicit-function-declaration",
          "-Werror=nullable-to-nonnull-conversion", "-Werror=deprecated-declarations", "-Werror=unguarded-availability")


def clang_headers(clang):
    found = subprocess.run([clang, "-print-resource-dir"], capture_output=True, text=True, check=True)
    return found.stdout.strip() + "/include"


def link_portable(directory):
    for name in PORTABLE:
        header = pathlib.Path("/usr/include") / name
        if header.exists():
            (pathlib.Path(directory) / name).symlink_to(header)


def kept_flags(command, build):
    """Definitions and our own include directories; the machine's stay out."""
    flags = []
    for word in shlex.split(command):
        if word.startswith("-D") and not word.startswith(("-DIGI_HAS_", "-DGNU", "-D_NATIVE_OBJC")):
            flags.append(word)
        elif word.startswith("-I") and not word.startswith("-I/"):
            flags.append("-I" + os.path.normpath(build / word[2:]))
        elif word.startswith("-isystem") and "llvm" in word:
            flags.append(word)
        elif word.startswith("-m"):
            flags.append(word)
    return flags


def jobs_of(root, build, wanted):
    """Target, file and flags, each once: a file that this machine compiles for several processors has several."""
    jobs = {}
    for entry in json.loads((build / "compile_commands.json").read_text()):
        path = pathlib.Path(os.path.normpath(pathlib.Path(entry["directory"]) / entry["file"]))
        name = str(path.relative_to(root)) if path.is_relative_to(root) else ""
        inside = name in wanted or any(name.startswith(folder + "/") for folder in wanted)
        if not inside or name.startswith(LEFT_OUT) or path.is_relative_to(build):
            continue
        flags = kept_flags(entry["command"], build)
        special = any(flag.startswith("-m") for flag in flags)
        if special or "__x86_64__" in path.read_text():
            jobs[INTEL, path, *(flag for flag in flags if flag.startswith("-m"))] = flags
        if not special:
            jobs[ARM, path] = flags
    return [(key[0], key[1], flags) for key, flags in jobs.items()]


class Check:
    def __init__(self, clang, root, scratch):
        self.clang = clang
        compat = root / "compat"
        self.system = [f"-isystem{path}" for path in (HERE / "include", clang_headers(clang), scratch)]
        self.metal = [f"-isystem{compat / part}/include" for part in ("metal", "mps", "dispatch", "blocks", "darwin")]

    def run(self, target, path, flags):
        """What clang has to say about one file."""
        objective = path.suffix == ".m"
        own = [flag for flag in flags if not objective or "/compat" not in flag]
        language = ["-fblocks", *self.metal] if objective else []
        command = [self.clang, "-target", target, "-fsyntax-only", "-nostdinc", "-std=gnu17", *STRICT, *FEATURES, *self.system,
                   *own, *language, path]
        done = subprocess.run(command, capture_output=True, text=True, env=os.environ | {"CCACHE_DISABLE": "1"})
        return done.returncode, done.stderr


class Memory:
    """What has compiled before. Any change of a header, of the compiler or of this script forgets everything."""

    def __init__(self, clang, root, build, wanted):
        self.path = build / f"portability-apple-{'-'.join(wanted).replace('/', '+')}.txt"
        self.known = set(self.path.read_text().split()) if self.path.exists() else set()
        places = (HERE, root / "src", root / "include", root / "console", root / "cli", root / "bench", root / "tests",
                  root / "compat", build / "src")
        common = hashlib.sha256(subprocess.run([clang, "--version"], capture_output=True, check=True).stdout)
        for header in sorted(path for place in places for path in place.rglob("*.h")):
            common.update(str(header).encode() + header.read_bytes())
        common.update(pathlib.Path(__file__).read_bytes())
        self.common = common.digest()

    def key(self, target, path, flags):
        return hashlib.sha256(repr((self.common, target, str(path), flags)).encode() + path.read_bytes()).hexdigest()

    def write(self, keys):
        self.path.write_text("\n".join(sorted(keys)) + "\n")


def tries_itself(check):
    """Whether each file of refused/ is refused, for the reason that its first line names."""
    good = True
    for path in sorted((HERE / "refused").iterdir()):
        reason = re.search(r"refused: (.*?)( \*/)?$", path.read_text().splitlines()[0]).group(1)
        code, said = check.run(INTEL if path.name.startswith("intel-") else ARM, path, [])
        if code == 0 or reason not in said:
            print(f"{path.name}: clang should refuse it with «{reason}», but said:\n{said or 'nothing'}")
            good = False
    return good


def banned_words(root, path):
    text, name = path.read_text(), str(path.relative_to(root))
    return [f"{name}: {word} {why}" for word, folder, allowed, why in BANNED
            if name.startswith(folder) and name != allowed and word in text]


def main():
    clang, root, build = sys.argv[1], *(pathlib.Path(path).resolve() for path in sys.argv[2:4])
    with tempfile.TemporaryDirectory() as scratch, concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        link_portable(scratch)
        check = Check(clang, root, scratch)
        good = tries_itself(check)
        jobs = jobs_of(root, build, sys.argv[4:])
        memory = Memory(clang, root, build, sys.argv[4:])
        fresh = [job for job in jobs if memory.key(*job) not in memory.known]
        compiled = {memory.key(*job) for job in jobs} & memory.known
        failed = 0
        for job, (code, said) in zip(fresh, pool.map(lambda job: check.run(*job), fresh)):
            if code == 0:
                compiled.add(memory.key(*job))
            else:
                failed += 1
                print(f"---- {job[1].relative_to(root)} ({job[0]})\n{said}")
        memory.write(compiled)
        for complaint in sorted(line for _, path, _ in jobs for line in banned_words(root, path)):
            failed += 1
            print(complaint)
        print(f"{len(jobs)} files checked, {len(jobs) - len(fresh)} of them before, {failed} do not compile for macOS")
        return 0 if good and jobs and not failed else 1


if __name__ == "__main__":
    sys.exit(main())
