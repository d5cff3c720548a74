#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Puts small faults into a copy of the source, one at a time, and runs the tests that should detect them.

Each block of faults.txt is one fault:

    name
    file: src/core/hash.c
    tests: hash cache
    - the text as it is, which must be there exactly once
    + the text with the fault

Lines that begin with - and + may repeat; together they are the old and the new text. Tests are named as in
`meson test --list`; one that runs a program with other arguments than the first does so here too.

The copy and its build stay in the work directory, so that the next run only rebuilds what changed. The last line says
how many faults were noticed. The exit status is 1 when fewer than 95 % were, when a fault's text is no longer in its
file, does not compile, or when a test fails without any fault.
"""
import argparse
import json
import os
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent.parent
ENOUGH = 95  # per cent


class Fault:
    def __init__(self, name):
        self.name, self.file, self.tests, self.old, self.new = name, None, [], [], []

    def texts(self):
        return "\n".join(self.old), "\n".join(self.new)


def read_faults(path):
    faults = []
    for number, line in enumerate(path.read_text().splitlines(), 1):
        if not line.strip() or line.startswith("#"):
            continue
        key, _, rest = line.partition(" ")
        if key == "file:":
            faults[-1].file = rest.strip()
        elif key == "tests:":
            faults[-1].tests = rest.split()
        elif line[0] == "-":
            faults[-1].old.append(line[2:])
        elif line[0] == "+":
            faults[-1].new.append(line[2:])
        elif " " not in line:
            faults.append(Fault(line))
        else:
            sys.exit(f"{path}:{number}: neither a name, file:, tests:, - nor +: {line}")
    return faults


def complaint(fault, root):
    """Why the fault cannot be put in, or None."""
    path = root / (fault.file or "")
    if not fault.file or not path.is_file():
        return f"there is no file {fault.file}"
    if not fault.tests or not fault.old:
        return "it names no tests or no text"
    old, new = fault.texts()
    found = path.read_text().count(old)
    if old == new:
        return "the text stays the same"
    return None if found == 1 else f"its text is in {fault.file} {found} times, not once"


def copy_tree(source, target):
    """Copies what git knows or would add, leaving alone what is the same already, so that little is rebuilt."""
    names = subprocess.run(["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"], cwd=source,
                           check=True, stdout=subprocess.PIPE).stdout.decode().split("\0")
    wanted = {name for name in names if name and (source / name).is_file()}
    for name in wanted:
        old, new = source / name, target / name
        if new.is_file() and new.read_bytes() == old.read_bytes():
            continue
        new.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(old, new)
    for path in target.rglob("*"):
        if path.is_file() and str(path.relative_to(target)) not in wanted:
            path.unlink()


class Build:
    def __init__(self, work, jobs):
        self.source, self.directory, self.jobs = work / "source", work / "build", jobs
        self.log = open(work / "log", "a")

    def call(self, *command, seconds=None):
        """Exit status, or None after this many seconds."""
        process = subprocess.Popen(command, stdout=self.log, stderr=self.log, stdin=subprocess.DEVNULL,
                                   start_new_session=True, env=dict(os.environ, CCACHE_NOHASHDIR="1"))
        try:
            return process.wait(timeout=seconds)
        except subprocess.TimeoutExpired:
            return None
        finally:
            if process.poll() is None:
                os.killpg(process.pid, signal.SIGKILL)
                process.wait()

    def set_up(self):
        if not (self.directory / "build.ninja").is_file():
            if self.call("meson", "setup", str(self.directory), str(self.source), "-Dtests=true",
                         "-Dbuildtype=debugoptimized", "-Dbuiltin_kernels=false") != 0:
                sys.exit(f"meson setup failed; see {self.log.name}")
        elif self.call("ninja", "-C", str(self.directory), "build.ninja") != 0:
            sys.exit(f"meson failed; see {self.log.name}")
        self.tests = {test["name"]: test for test in self.introspect("--tests")}
        self.files = {target["id"]: [os.path.relpath(name, self.directory) for name in target["filename"]]
                      for target in self.introspect("--targets")}

    def introspect(self, what):
        return json.loads(subprocess.run(["meson", "introspect", what, str(self.directory)], check=True,
                                         stdout=subprocess.PIPE).stdout)

    def targets_of(self, tests):
        return sorted({name for test in tests for target in self.tests[test]["depends"] for name in self.files[target]})

    def make(self, tests):
        jobs = ["-j", str(self.jobs)] if self.jobs else []
        return self.call("ninja", "-C", str(self.directory), *jobs, *self.targets_of(tests)) == 0

    def passes(self, test, seconds):
        """Whether it passes; one that hangs does not."""
        self.log.write(f"---- {test}\n")
        self.log.flush()
        return self.call("meson", "test", "-C", str(self.directory), "--no-rebuild", "--print-errorlogs",
                         "--timeout-multiplier", "0", test, seconds=seconds) == 0


def run_fault(build, fault, seconds):
    """The test that detected it, None if none did, or an error as an exception."""
    path = build.source / fault.file
    whole = path.read_text()
    old, new = fault.texts()
    path.write_text(whole.replace(old, new))
    try:
        build.log.write(f"==== {fault.name}\n")
        if not build.make(fault.tests):
            raise RuntimeError("it does not compile")
        return next((test for test in fault.tests if not build.passes(test, seconds)), None)
    finally:
        path.write_text(whole)


def check_all(faults, root, tests=None):
    wrong = [(fault, complaint(fault, root)) for fault in faults]
    for fault in faults:
        for test in fault.tests if tests is not None else []:
            if test not in tests:
                wrong.append((fault, f"there is no test '{test}'"))
    wrong = [(fault, why) for fault, why in wrong if why]
    for fault, why in wrong:
        print(f"error     {fault.name}: {why}")
    return not wrong


def main():
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))  # children are ended, the text is put back
    parser = argparse.ArgumentParser(description="Puts small faults into a copy of the source; the tests must notice.")
    parser.add_argument("--work", type=Path, default=ROOT / "build-mutation", help="where the copy lives")
    parser.add_argument("--seconds", type=float, default=3600, help="no new fault is begun after this time")
    parser.add_argument("--test-seconds", type=float, default=300, help="a test that takes longer hangs")
    parser.add_argument("--jobs", type=int, help="how many things ninja builds at once")
    parser.add_argument("--check", action="store_true", help="only look whether all faults can be put in")
    parser.add_argument("names", nargs="*", help="faults to run; all without")
    options = parser.parse_args()
    faults = read_faults(HERE / "faults.txt")
    if len({fault.name for fault in faults}) != len(faults):
        sys.exit("two faults have one name")
    if options.names:
        unknown = set(options.names) - {fault.name for fault in faults}
        if unknown:
            sys.exit(f"there are no faults {', '.join(sorted(unknown))}")
        faults = [fault for fault in faults if fault.name in options.names]
    if not check_all(faults, ROOT):
        return 1
    if options.check:
        print(f"mutation: {len(faults)} faults can be put in")
        return 0
    return run_all(faults, options)


def run_all(faults, options):
    started = time.monotonic()
    work = options.work.resolve()
    (work / "source").mkdir(parents=True, exist_ok=True)
    copy_tree(ROOT, work / "source")
    build = Build(work, options.jobs)
    build.set_up()
    if not check_all(faults, work / "source", build.tests):
        return 1
    killed, survived, errors, sound = [], [], [], {}
    for fault in faults:
        if time.monotonic() - started > options.seconds:
            break
        begin = time.monotonic()
        # Without a fault the tests must pass; otherwise their failure would prove nothing.
        todo = [test for test in fault.tests if test not in sound]
        if todo and not build.make(todo):
            sys.exit(f"the source does not compile; see {build.log.name}")
        for test in todo:
            sound[test] = build.passes(test, options.test_seconds)
        broken = [test for test in fault.tests if not sound[test]]
        try:
            if broken:
                raise RuntimeError(f"without it '{broken[0]}' fails too")
            noticed = run_fault(build, fault, options.test_seconds)
        except RuntimeError as why:
            errors.append(fault)
            print(f"error     {fault.name}: {why}", flush=True)
            continue
        (killed if noticed else survived).append(fault)
        seconds = time.monotonic() - begin
        print(f"{'killed  ' if noticed else 'SURVIVED'}  {fault.name} ({fault.file})"
              + (f" by {noticed}" if noticed else "") + f", {seconds:.0f} s", flush=True)
    ran = len(killed) + len(survived)
    left = len(faults) - ran - len(errors)
    share = 100 * len(killed) / ran if ran else 0
    print(f"mutation: {len(killed)} of {ran} faults killed ({share:.1f} %), {len(survived)} survived, "
          f"{len(errors)} errors, {left} not run for lack of time")
    return 0 if share >= ENOUGH and not errors else 1


if __name__ == "__main__":
    sys.exit(main())
