#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Installs the build into a directory of its own and uses it as a stranger would: every public header compiles alone, an
example builds by pkg-config and runs, projects made for a Mac build by the toolchain file for CMake or by their Makefile and
run, and so does the command.

    check-install.py SOURCE_ROOT BUILD_ROOT MESON
"""
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

SOURCE, BUILD, MESON = Path(sys.argv[1]), Path(sys.argv[2]), sys.argv[3]


def run(*command, env=None):
    done = subprocess.run([str(c) for c in command], env=env, text=True, capture_output=True)
    if done.returncode:
        sys.exit(f"{' '.join(map(str, command))}\n{done.stdout}{done.stderr}")
    return done.stdout


# Where Mach-O is the format of libraries, both are called differently.
LIBRARY, SEARCH_PATH = (("libingot.dylib", "DYLD_LIBRARY_PATH") if sys.platform == "darwin" else
                        ("libingot.so", "LD_LIBRARY_PATH"))


def find(root, name):
    found = sorted(root.rglob(name))
    if not found:
        sys.exit(f"{name} was not installed")
    return found[0]


def check_headers(root, flags, scratch):
    installed = {path.name for path in find(root, "ingot.h").parent.glob("*.h")}
    for header in sorted((SOURCE / "include/ingot").glob("*.h")):
        if header.name not in installed:
            # The MPI headers are installed where MPI is.
            if header.name.endswith("-mpi.h"):
                continue
            sys.exit(f"include/ingot/{header.name} is not installed")
        if header.name.endswith("-mpi.h"):
            continue
        unit = scratch / "unit.c"
        unit.write_text(f"#include <ingot/{header.name}>\nint main(void) {{ return 0; }}\n")
        run("cc", "-std=c11", "-Wall", "-Werror", *flags, "-fsyntax-only", unit)


def check_example(root, flags, scratch, env):
    program = scratch / "square"
    run("cc", SOURCE / "examples/square.c", *flags, "-o", program)
    if not run(program, env=env).strip():
        sys.exit("examples/square.c printed nothing")


def build_project(name, toolchain, scratch, env, *options, folder="examples"):
    """Builds a copy of a project by the toolchain file, without warnings. Returns the copy and the build."""
    source, build = scratch / name, scratch / f"{name}-build"
    shutil.copytree(SOURCE / folder / name, source)
    run("cmake", "-S", source, "-B", build, "--toolchain", toolchain, *options, env=env)
    log = run("cmake", "--build", build, env=env)
    if "warning" in log:
        sys.exit(f"{folder}/{name} builds with warnings:\n{log}")
    return source, build


def expect(program, env, text):
    output = run(program, env=env)
    if text not in output:
        sys.exit(f"{program} printed {output}, not {text}")


def check_cmake(root, scratch, env):
    toolchain = sorted(root.rglob("ingot-metal.cmake"))
    if not toolchain or not shutil.which("cmake"):
        return  # Metal for Linux was not built
    _, build = build_project("metal-cmake", toolchain[0], scratch, env)
    expect(build / "sample", env, "are right")
    _, build = build_project("darwin", toolchain[0], scratch, env, "-DINGOT_METAL_DARWIN=ON", folder="tests/install")
    expect(build / "sample", env, "both parts")
    # Kernels that xcrun compiles when the project is built, and again when a header that they include has changed.
    for generator in ["Unix Makefiles", "Ninja"]:
        shutil.rmtree(scratch / "metal-library", ignore_errors=True)
        shutil.rmtree(scratch / "metal-library-build", ignore_errors=True)
        source, build = build_project("metal-library", toolchain[0], scratch, env, "-G", generator)
        expect(build / "sample", env, "6 8 10 12 14")
        if "Compiling" in run("cmake", "--build", build, env=env):
            sys.exit("examples/metal-library compiles its kernels again though nothing has changed")
        header = source / "numbers.h"
        header.write_text(header.read_text().replace("step = 2", "step = 3"))
        run("cmake", "--build", build, env=env)
        expect(build / "sample", env, "12 15 18 21 24")


# A Makefile that calls clang itself finds Ingot's in PATH.
def check_makefile(root, scratch, env):
    tools = sorted(root.rglob("xcode/clang"))
    if not tools:
        return
    source = scratch / "makefile"
    shutil.copytree(SOURCE / "tests/install/makefile", source)
    env = dict(env, PATH=f"{tools[0].parent}:{env['PATH']}")
    run("make", "-C", source, env=env)
    expect(source / "sample", env, "twice 21 is 42")
    # On a Mac GCC's names are clang's, too.
    for name in ["gcc", "g++"]:
        if "clang" not in run(name, "--version", env=env):
            sys.exit(f"{name} is not clang")
    # What is not there is said, and nothing is linked.
    refused = subprocess.run(["clang", source / "plain.o", "-framework", "Accelerate"], env=env, text=True, capture_output=True)
    if not refused.returncode or "framework 'Accelerate' not found" not in refused.stderr:
        sys.exit(f"a framework that does not exist: {refused.returncode} {refused.stderr}")
    plain = scratch / "plain-main.c"
    plain.write_text("int main(void) { return 0; }\n")
    run("cc", plain, "-o", scratch / "plain-main", env=env)
    if "libMetal" in run("readelf", "-d", scratch / "plain-main"):
        sys.exit("a program that does not use Metal is linked to it")


# Bindings link libraries under the names that these have on other systems.
def check_bindings(root, scratch, env):
    stands_for = sorted(root.rglob("libBlocksRuntime.so"))
    if not stands_for:
        return
    program, folder = scratch / "bindings", stands_for[0].parent
    run("cc", SOURCE / "tests/install/bindings.c", "-o", program, "-L", folder, "-L", folder.parent, "-lBlocksRuntime", "-lobjc", env=env)
    expect(program, env, "com.apple.main-thread\n42\n32768\n")


# C files are compiled with the same flags as Objective-C, and must not warn about them.
def check_metal_flags(root, scratch, env):
    if not sorted(root.rglob("ingot-metal.pc")):
        return
    flags = run("pkg-config", "--cflags", "ingot-metal", env=env).split()
    compiler = run("pkg-config", "--variable", "compiler", "ingot-metal", env=env).strip()
    for name, text in {
            "plain.c": "#include <Availability.h>\nint main(void) { return 0; }\n",
            "nil.m": "#import <Metal/Metal.h>\n"
                     "BOOL absent(void (^block)(void), NSString *text) { return block == nil || text == nil; }\n"
                     "struct thing *nothing(void) { return nil; }\n",
            "nil.mm": "#import <Metal/Metal.h>\n"
                      "BOOL absent(void (^block)(void), NSString *text) { return block == nil || text == nil; }\n"}.items():
        unit = scratch / name
        unit.write_text(text)
        run(compiler, "-Wall", "-Werror", *flags, "-c", unit, "-o", scratch / "unit.o")


# A damaged header is not used: kernels compile all the same, with one that is made in its place.
def check_damaged_header(root, scratch, env):
    headers = find(root, "headers-fast.pch")
    whole = headers.read_bytes()
    if not whole:
        return  # clang was missing when Ingot was built
    source = scratch / "damaged.metal"
    source.write_text("#include <metal_stdlib>\nkernel void one(device float *x) { x[0] = metal::sin(1.0f); }\n")
    middle = len(whole) // 2
    for name, bytes in {"cut": whole[:middle], "changed": whole[:middle] + b"\xff" * 64 + whole[middle + 64:]}.items():
        headers.write_bytes(bytes)
        cache = scratch / f"cache-{name}"
        run(find(root, "bin") / "ingot", "compile", source, env=dict(env, INGOT_CACHE_DIR=str(cache)))
        if not list(cache.rglob("*-310-fast.pch")):
            sys.exit(f"a precompiled header that was {name} is used as if it were whole")
    headers.write_bytes(whole)
    cache = scratch / "cache-whole"
    run(find(root, "bin") / "ingot", "compile", source, env=dict(env, INGOT_CACHE_DIR=str(cache)))
    if list(cache.rglob("*.pch")):
        sys.exit("the precompiled header that is installed is not used")


def main():
    with tempfile.TemporaryDirectory() as name:
        scratch = Path(name)
        root = scratch / "root"
        run(MESON, "install", "-C", BUILD, "--no-rebuild", "--quiet", "--destdir", root)
        env = dict(os.environ, PKG_CONFIG_SYSROOT_DIR=str(root), PKG_CONFIG_PATH=str(find(root, "ingot.pc").parent),
                   **{SEARCH_PATH: str(find(root, LIBRARY).parent)}, INGOT_CACHE_DIR=str(scratch / "cache"))
        flags = run("pkg-config", "--cflags", "--libs", "ingot", env=env).split()
        check_headers(root, flags, scratch)
        check_example(root, flags, scratch, env)
        check_metal_flags(root, scratch, env)
        check_cmake(root, scratch, env)
        check_makefile(root, scratch, env)
        check_bindings(root, scratch, env)
        check_damaged_header(root, scratch, env)
        run(find(root, "bin") / "ingot", "--version", env=env)


main()
