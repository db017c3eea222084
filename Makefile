# `make` alone says what there is.

VENV := .venv
BIN := $(VENV)/bin
STATE := $(VENV)/setup

# Two numerical libraries that each start a thread per core slow one another down.
export OMP_NUM_THREADS ?= 1
export OPENBLAS_NUM_THREADS ?= 1
export MPLBACKEND ?= Agg
# Compilations are shared by the processes of a test run, and with the next run.
export JAX_COMPILATION_CACHE_DIR ?= $(abspath $(VENV))/jax-cache
export JAX_PERSISTENT_CACHE_MIN_COMPILE_TIME_SECS ?= 0
# Else its keys contain its own path, and it is of no use in another clone.
export JAX_PERSISTENT_CACHE_ENABLE_XLA_CACHES ?= none
# So is Python's byte code, which some containers switch off: each process would make it again.
export PYTHONDONTWRITEBYTECODE =
# One process of tests more than cores: tests of servers and of R wait for a fifth of their time.
export PYTEST_XDIST_AUTO_NUM_WORKERS ?= $(shell expr $$(nproc) + 1)
# Lets the R package find its Python wherever R is started from.
export UCVTEST_PYTHON ?= $(abspath $(BIN)/python)

# More for pytest: make test PYTEST_ARGS='-x -k ridge'.
PYTEST_ARGS ?=
# Seconds of processor that the tests of a command may take together: twice what they take where
# nothing is compiled yet, because the same work costs more on other machines and beside other work.
CORE_SECONDS ?= 1000
FULL_SECONDS ?= 3000
# `make check CORE=` is for whoever has just run `make test`.
CORE ?= tests/core

R_SOURCES := $(shell find r_bridge/ucvtest -type f ! -name '*.o' ! -name '*.so' 2>/dev/null)

.DEFAULT_GOAL := help
.DELETE_ON_ERROR:
.PHONY: help setup demo test check nightly mutants with-data lint style docs dist reproduce
.PHONY: reproduce-full benchmarks FORCE

help: ## Show this list
	@sed -n 's/^\([a-z-]*\):.*## \(.*\)/make \1\t\2/p' Makefile | expand -t 22

setup: $(STATE)/python $(STATE)/r-package ## Create .venv with everything in it; R too where allowed

demo: $(STATE)/demo ## Compare two learners on real data, log the result to a local MLflow store
	$(BIN)/python examples/demo.py

# A file's tests stay in one process, which compiles and fits for them once; files start in the order
# in which they are collected, because their number of tests says nothing about their length.
PYTEST := $(BIN)/pytest -n auto --dist loadfile --no-loadscope-reorder
DOCTESTS := --doctest-modules ucvtest mlflow_plugin/ucvtest_mlflow r_bridge/ucvtest_r

test: style ## Check style and import rules, run the tests of numbers, promises and every door
	UCVTEST_CPU_SECONDS=$(CORE_SECONDS) $(PYTEST) tests/core $(PYTEST_ARGS)

# Types are checked beside the tests, and what is found about them is shown last.
check: style ## The same, and types, processes, files, servers, R CMD check, pages, examples, doctests
	$(BIN)/python .ci/lint
	@$(BIN)/mypy >$(STATE)/types.txt 2>&1 & types=$$!; \
	UCVTEST_CPU_SECONDS=$(FULL_SECONDS) $(PYTEST) $(DOCTESTS) $(CORE) tests/full $(PYTEST_ARGS); \
	passed=$$?; wait $$types; typed=$$?; cat $(STATE)/types.txt; [ $$passed = 0 ] && [ $$typed = 0 ]

nightly: setup ## Run what is too long for every change: studies, every cell of grids, mutants
	UCVTEST_CELLS=all $(PYTEST) $(DOCTESTS) tests/core tests/full tests/nightly $(PYTEST_ARGS)
	$(BIN)/python -m tests.nightly.mutants

# Only some: make mutants MUTANTS='Wald jackknife'.
mutants: setup ## Plant faults in a copy of the package, one by one: each has to be noticed by a test
	$(BIN)/python -m tests.nightly.mutants $(MUTANTS)

with-data: setup ## Run the tests of data sets that are not part of the project (UCVTEST_DATA)
	$(PYTEST) -m 'requires_data and not slow' tests/core tests/full $(PYTEST_ARGS)

lint: style ## Check style, import rules, words, names and types, without any test
	$(BIN)/python .ci/lint
	$(BIN)/mypy

style: setup
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/lint-imports --no-cache

docs: setup $(STATE)/docs ## Build the documentation into docs/_build/html, try its links and search
	$(BIN)/sphinx-build -q -W --keep-going -b html docs docs/_build/html
	$(BIN)/python docs/check_links.py docs/_build/html
	$(BIN)/python docs/check_search.py docs/_build/html
	@echo "docs/_build/html/index.html"

dist: setup ## Build wheel and sdist into build/dist, and try them in empty environments
	$(BIN)/pip --disable-pip-version-check install --quiet --group release
	rm -rf build/dist
	$(BIN)/python -m build --outdir build/dist
	$(BIN)/python .ci/try_distributions.py build/dist

reproduce: setup ## Print again what the pages of reproductions show (an hour on two cores)
	$(BIN)/python docs/print_again.py --all
	R_LIBS=$(abspath $(VENV))/lib/R $(BIN)/python docs/print_blocks.py
	git --no-pager diff --stat docs README.md

reproduce-full: setup ## Everything at the papers' own sizes, and the tests marked slow (days)
	$(BIN)/pytest -m slow -s
	$(BIN)/python studies/calibration/run.py
	$(BIN)/python studies/reproductions/polynomials.py --n-jobs 2
	# 1000 splits of trees take days; the pages have 100.
	$(BIN)/python studies/reproductions/permutation.py --permutations 1000 --n-jobs 2

benchmarks: setup ## Measure how fast it is, and write it into docs/validation/speed.md (ten minutes)
	$(BIN)/python studies/benchmarks/report.py

# Looked at every time, because R may come and go; the file changes only if R did.
$(STATE)/r: FORCE
	@mkdir -p $(STATE)
	@.ci/setup-r $@

$(STATE)/demo: pyproject.toml .ci/setup-python
	@mkdir -p $(STATE)
	@echo "Installing ucvtest into $(VENV)"
	@.ci/setup-python $(VENV) demo
	@touch $@

$(STATE)/python: $(STATE)/demo $(STATE)/r
	@echo "Installing the tools of tests into $(VENV)"
	@.ci/setup-python $(VENV) tests $(STATE)/r
	@touch $@

# What only the documentation needs; nothing is fetched where it is there.
$(STATE)/docs: $(STATE)/python pyproject.toml
	@$(BIN)/pip --disable-pip-version-check install --quiet --group docs
	@touch $@

$(STATE)/r-package: $(STATE)/r $(STATE)/python .ci/setup-r-package $(R_SOURCES)
	@.ci/setup-r-package $(abspath $(BIN)/python) $(STATE)/r
	@touch $@

FORCE:
