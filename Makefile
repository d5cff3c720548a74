# SPDX-License-Identifier: Apache-2.0
# A front end to meson and ninja. `make test` and `make run` work from a clean clone.
#
#   make            build into build/, without the tests
#   make run        build and run the tour; ARGS="info --json" runs something else
#   make test       all tests: plain, address + undefined, and thread sanitizers
#   make test-arm64 cross-compile for 64-bit ARM, and a sample of the tests under qemu: docs/arm64.md
#   make bench      measure; ARGS="device" chooses suites
#   make soak       the long tests: all cases, fuzzing, two hours of everything at once, faults put into the source
#   make docs       the API reference: build/docs/html/index.html, and a manual page for each function in build/docs/man
#   make install    PREFIX=/usr/local DESTDIR=
#   make setup      install what is missing on this machine
#   make format, make lint, make clean
#
# JOBS=1 builds and tests one thing at a time.

MESON := $(firstword $(wildcard /usr/bin/meson) meson)
PREFIX ?= /usr/local
ARGS ?=
JOBS ?=

# The first clang from 19 to 21: in PATH, or where Debian and Homebrew keep it. It compiles Objective-C and what is
# sanitized; on a Mac Apple's does. It is looked for when it is needed, because setup may have to install it first.
in_path = $(shell sh -c 'command -v $(1) >/dev/null 2>&1 && echo $(1)')
CLANG = $(firstword $(foreach v,19 20 21,$(call in_path,clang-$(v)) $(wildcard /usr/lib/llvm-$(v)/bin/clang \
	/opt/homebrew/opt/llvm@$(v)/bin/clang /usr/local/opt/llvm@$(v)/bin/clang)) clang)
FORMAT = $(firstword $(call in_path,clang-format-19) $(wildcard $(dir $(CLANG))clang-format) clang-format)
ifneq ($(shell uname -s),Darwin)
OBJECTIVE = OBJC=$(CLANG) OBJCXX=$(subst $(notdir $(CLANG)),$(patsubst clang%,clang++%,$(notdir $(CLANG))),$(CLANG))
SANITIZER = CC=$(CLANG)
endif

COMMON := -Dtests=true -Dprefix=$(abspath $(PREFIX))
# What is installed has no asserts and does not verify after each pass; the sanitized builds, which only test, do.
RELEASE := $(COMMON) -Dbuildtype=debugoptimized -Db_ndebug=true
SANITIZED := $(COMMON) -Dbuildtype=debug -Db_lundef=false -Dplain_build=$(abspath build)
TESTED := build build-asan build-tsan
TEST_LOGS := $(TESTED:%=%/meson-logs/testlog.json)
MESON_TEST := $(MESON) test --no-rebuild --print-errorlogs $(if $(JOBS),--num-processes $(JOBS))

ninja = ninja -C $(1) $(if $(JOBS),-j$(JOBS))

.PHONY: all setup product run test test-arm64 bench soak docs install format lint clean $(TESTED:%=compile-%)

all: product

setup:
	@scripts/setup

# Only the Makefile's own choices go in here: meson notices changes of meson.build itself.
build/build.ninja: | setup
	$(OBJECTIVE) $(MESON) setup build $(RELEASE)

build-asan/build.ninja: | setup
	$(SANITIZER) $(OBJECTIVE) $(MESON) setup build-asan $(SANITIZED) -Db_sanitize=address,undefined

build-tsan/build.ninja: | setup
	$(SANITIZER) $(OBJECTIVE) $(MESON) setup build-tsan $(SANITIZED) -Db_sanitize=thread

# Of the sanitized builds only what the tests use.
$(TESTED:%=compile-%): compile-%: %/build.ninja setup
	@$(call ninja,$*) $(if $(filter build,$*),,meson-test-prereq)

# All that is installed, without the tests.
product: build/build.ninja setup
	@$(call ninja,build) product

run: product
	build/cli/ingot $(if $(ARGS),$(ARGS),demo)

bench: product
	build/cli/ingot bench $(ARGS)

test: $(TESTED:%=compile-%)
	@rm -f $(TEST_LOGS); status=0; \
	for build in $(TESTED); do $(MESON_TEST) -C $$build --no-suite soak || status=1; done; \
	scripts/test-summary $(TEST_LOGS) || status=1; exit $$status

test-arm64: setup
	scripts/arm64 build
	scripts/arm64 test

# Debian on x86-64 can also run it for ARM.
CROSS := $(and $(filter x86_64,$(shell uname -m)),$(wildcard /usr/bin/apt-get))

soak: compile-build
	$(MESON_TEST) -C build --suite soak --timeout-multiplier 0 --verbose
	$(if $(CROSS),scripts/arm64 build && scripts/arm64 soak)

docs: setup
	scripts/reference.py . build/docs

install: product
	$(MESON) configure build -Dprefix=$(abspath $(PREFIX))
	@$(call ninja,build) product
	$(MESON) install -C build --no-rebuild $(if $(DESTDIR),--destdir $(abspath $(DESTDIR)))
	@pc=$$(find $(abspath $(DESTDIR)/$(abspath $(PREFIX))) -name ingot.pc | head -n 1); \
	echo "pkg-config finds it with PKG_CONFIG_PATH=$$(dirname "$$pc") if it does not look there by itself"

SOURCES = $(shell git ls-files --cached --others --exclude-standard '*.c' '*.h' '*.m' '*.mm')

format:
	$(FORMAT) -i $(SOURCES)

lint: compile-build
	scripts/lint . build src console cli tools bench tests

clean:
	rm -rf $(TESTED) build-arm64
