# SPDX-License-Identifier: Apache-2.0
# The front door. `make help` lists what is here; the build itself is CMake's.
.DEFAULT_GOAL := help
.PHONY: help demo build test test-full test-asan test-tsan bench bench-table1 bench-sizes validation format docs fuzz coverage install clean \
        setup-build

help:            ## this list
	@sed -n 's/^\([a-z0-9-]*\):.*## /\1\t/p' Makefile | expand -t 16

demo: build      ## install what is missing, build, run the demo scene
	@tools/setup demo
	@tools/demo

build: setup-build    ## the program, build/tethys
	@test -f build/build.ninja || cmake --preset release
	@cmake --build build

setup-build:
	@tools/setup build

test: build      ## install, build, run the quick tests (about 10 minutes at most)
	@tools/setup test
	ctest --test-dir build -L quick --output-on-failure -j 2 --timeout 900

test-full: test  ## also the long tests, and all of them under the sanitizers
	ctest --test-dir build -L full --output-on-failure
	$(MAKE) test-asan test-tsan

test-asan: setup-build    ## the quick tests under the address and undefined-behaviour sanitizers
	cmake --preset asan && cmake --build build/asan
	ctest --test-dir build/asan -L quick --output-on-failure -j 2 --timeout 1800

test-tsan: setup-build    ## the quick tests under the thread sanitizer
	cmake --preset tsan && cmake --build build/tsan
	ctest --test-dir build/tsan -L quick --output-on-failure -j 2 --timeout 1800

bench: build     ## the tables of speed
	@tools/setup bench
	@cmake --preset release >/dev/null && cmake --build build
	@bench/run

bench-table1: build    ## the paper's table of times with ours beside it (ARGS="--size paper --frames 49")
	@tools/setup bench
	@python3 bench/table1.py $(ARGS)

bench-sizes: build    ## seconds and memory per tetrahedron, 50 thousand to 2 million (ARGS="--threads 1,2")
	@tools/setup bench
	@python3 bench/tet_sizes.py $(ARGS)

validation: build    ## remakes the validation pages
	@tools/setup bench
	@validation/run

format:          ## clang-format over everything
	@tools/setup format
	git ls-files '*.c' '*.h' '*.cpp' | xargs clang-format-14 -i

docs: build      ## remakes the generated pages
	build/tethys reference > docs/scene-reference.md
	build/tethys reference --json-schema > docs/scene.schema.json

fuzz: setup-build    ## every fuzzer for 60 seconds (SECONDS_EACH=n for another time)
	@tools/setup fuzz
	@tools/fuzz $(SECONDS_EACH)

coverage: setup-build    ## line coverage of the quick tests, build/coverage/index.html
	@tools/setup coverage
	cmake --preset coverage && cmake --build build/coverage
	ctest --test-dir build/coverage -L quick -j 2
	gcovr -r . --object-directory build/coverage --exclude '.*_test.c' --html build/coverage/index.html --print-summary

install: build   ## into PREFIX (default /usr/local)
	cmake --install build --prefix $(or $(PREFIX),/usr/local)

clean:           ## removes what was built
	rm -rf build
