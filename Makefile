# Every target sets up what it needs in .venv; a second start takes under two seconds.

.DEFAULT_GOAL := help
.DELETE_ON_ERROR:
.PHONY: help setup demo test test-all check fix layers docs results wheel clean

VENV  := .venv
BIN   := $(VENV)/bin
READY := $(VENV)/.ready

# `make setup PYTHON=/path/to/python` uses that one. 3.11 is asked first: it is the version the pins are tested with.
PYTHON ?=
PYTHONS := $(or $(PYTHON),python3.11 python3.12 python3.13 python3 python)
SUITED  := import sys, venv, ensurepip; sys.exit(not (3, 11) <= sys.version_info[:2] < (3, 14))

# numba does not notice that a kernel called by a cached kernel has changed: one cache per state of the kernels.
KERNELS := $(shell cat src/cyclenet/topology/*.py 2>/dev/null | cksum | cut -d' ' -f1)
export NUMBA_CACHE_DIR := $(CURDIR)/$(VENV)/numba/$(KERNELS)

# The tables of docs/results.md, in the order of the paper's story.
TABLES := experiments/theorems.toml experiments/expressiveness.toml experiments/strongly_regular.toml experiments/cycle_properties.toml experiments/timing.toml

WORKERS ?= logical
PYTEST  := $(BIN)/python -m pytest -q

help:      ## this list
	@sed -n 's/^\([a-z-]*\):.*## \(.*\)/make \1@\2/p' $(MAKEFILE_LIST) | awk -F@ '{printf "%-16s %s\n", $$1, $$2}'

setup: $(READY)  ## .venv with the pinned packages, and the pre-commit hooks

$(READY): pyproject.toml constraints.txt
	@rm -f $@
	@if ! $(BIN)/python -c 'import pip; $(SUITED)' 2>/dev/null; then \
	    found=; \
	    for python in $(PYTHONS); do \
	        if "$$python" -c '$(SUITED)' >/dev/null 2>&1; then found=$$python; break; fi; \
	    done; \
	    if [ -z "$$found" ]; then \
	        echo "cyclenet needs Python 3.11, 3.12 or 3.13 with venv and pip, and found none;" \
	             "install one (Debian, Ubuntu: apt install python3 python3-venv)" \
	             "or name it: make $(or $(MAKECMDGOALS),setup) PYTHON=/path/to/python" >&2; \
	        exit 1; \
	    fi; \
	    echo "Creating $(VENV) with $$found"; \
	    "$$found" -m venv --clear $(VENV); \
	fi
	@echo "Installing into $(VENV) (about 2 GB, a minute or two on a good line)"
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check -c constraints.txt -e '.[dev,bench]'
	@if [ -e .git ] && [ -z "$$CI" ]; then \
	    $(BIN)/pre-commit install >/dev/null || echo "pre-commit hooks were not installed; \`make check\` runs the same checks"; \
	fi
	@touch $@

# Linear algebra on matrices as small as ours is slower with threads, and far slower beside other programs.
demo: $(READY)  ## the main job, ending with a page to look at
	@OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1 $(BIN)/cyclenet demo --out demo-output

test: $(READY)  ## the quick tests, the doctests and the README
	@$(PYTEST) -n $(WORKERS)

test-all: $(READY)  ## the slow tests and those for a GPU as well
	@$(PYTEST) -n $(WORKERS) -m "not download"

check: $(READY)  ## everything a change must pass; the tests come last
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/pyright
	@$(MAKE) --no-print-directory layers docs wheel
	@$(MAKE) --no-print-directory test

fix: $(READY)  ## format, and apply the safe fixes
	$(BIN)/ruff format .
	$(BIN)/ruff check --fix .

layers: $(READY)  ## who may import whom
	$(BIN)/lint-imports

docs: $(READY)  ## the documentation, into site/
	NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --strict --quiet

results: $(READY)  ## docs/results.md, from the records of runs
	$(BIN)/cyclenet table $(TABLES) > docs/results.md

wheel: $(READY)  ## build the wheel and try it in an empty environment
	$(BIN)/python -m pytest -q -m slow tests/test_house.py

clean:     ## remove everything the commands made, .venv too
	rm -rf $(VENV) build dist site demo-output .pytest_cache .ruff_cache .hypothesis .import_linter_cache
